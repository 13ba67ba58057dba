"""Installing packages into a folder, all or none of them."""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from chatdev.packages import known_modules, pip_script
from chatdev.packages.gateway import open_gateway
from chatdev.packages.index import Index
from chatdev.packages.interpreter import Interpreter
from chatdev.packages.sources import Fetcher, pip_folder, sources
from chatdev.safe_text import scrub
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.job_folder import remove_folder, take_back
from chatdev.workspace.file_tree import explain_os_errors

_LIMITS = ProcessLimits(file_size=2 << 30, disk=8 << 30, open_files=1024)
_PIP = ("--isolated", "--quiet", "--no-input", "--no-color", "--disable-pip-version-check", "--no-cache-dir",
        "--retries=1", "--timeout=30", "--only-binary=:all:", "--no-warn-script-location", "--target=target")
_GATEWAY = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]+/")


def install(distributions: Collection[str], folder: Path, python: Interpreter, sandbox: Sandbox,
            seconds: float) -> str | None:
    """Install the distributions and what they need into the new `folder`: None, or why that cannot be (then there is no
    such folder).

    pip works in the sandbox, on wheels alone, so nothing of a package runs outside it or at all. Raises SandboxError
    when the sandbox fails or is stopped, MissingProgram without pip, WorkspaceError when the disk refuses.
    """
    with _workplace(folder.parent) as work, _index() as (index, fetcher), open_gateway(index, fetcher) as gateway:
        execution = sandbox.run(_job(distributions, work, gateway, python, seconds))
        if execution.exit_status != 0:
            return _reason(execution, index)
        take_back(work)
        (work / "target").rename(folder)
    return None


@contextlib.contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    with explain_os_errors("install packages in", parent):
        parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=parent, prefix=".installing-"))
        try:
            yield work
        finally:
            remove_folder(work)


@contextlib.contextmanager
def _index() -> Iterator[tuple[Index, Fetcher]]:
    found = sources()
    with contextlib.closing(Fetcher(found)) as fetcher:
        yield Index(found, fetcher), fetcher


def _job(distributions: Collection[str], work: Path, gateway: Path, python: Interpreter, seconds: float) -> SandboxJob:
    pip = pip_folder()
    script = Path(pip_script.__file__).read_text(encoding="utf-8")
    argv = [str(python.executable), "-I", "-S", "-c", script, str(gateway), str(pip.parent), *_PIP, "--",
            *sorted(distributions)]
    return SandboxJob(argv, work, replace(_LIMITS, seconds=seconds),
               bindings=(Binding(python.prefix), Binding(pip), Binding(gateway)))


def _reason(execution: Execution, index: Index) -> str:
    """Why it did not work, without what differs from run to run."""
    if execution.timed_out:
        return known_modules.refusal("late")
    if execution.exceeded:  # never its command line: that is ours
        return f"it takes too much {execution.exceeded}"
    if index.problems:
        return scrub(index.problems[0])
    lines = execution.stderr.splitlines()
    errors = [line for line in lines if line.startswith("ERROR")] or lines or [f"exit status {execution.exit_status}"]
    return scrub(_GATEWAY.sub("", errors[-1].removeprefix("ERROR: ")))[:300]
