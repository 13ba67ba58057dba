"""The kinds of sandbox: finding one that works on this machine, and the one that people consent to with `--sandbox
none`, plain child processes."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from chatdev.errors import ConfigError, SandboxError
from chatdev.sandbox import bubblewrap, docker
from chatdev.sandbox.base import Execution, Sandbox, SandboxJob, prlimit_command, variables_of
from chatdev.sandbox.children import Children
from chatdev.sandbox.interactive import run_interactively

SANDBOXES = ("bubblewrap", "docker", "none")


def find_sandbox(name: str = "bubblewrap") -> Sandbox:
    """The sandbox called `name`. Raises SandboxError, with what to do, when it does not work on this machine, and
    ConfigError when there is none of this name."""
    if name not in SANDBOXES:
        raise ConfigError(f"there is no sandbox {name!r}; there are: {', '.join(SANDBOXES)}")
    if name == "none":
        return Unconfined()
    if name == "docker":
        return _make_working(docker.Docker, docker.why_not(), other="bubblewrap")
    return _make_working(bubblewrap.Bubblewrap, bubblewrap.why_not(), other="docker")


def _make_working(make: Callable[[], Sandbox], reason: str | None, *, other: str) -> Sandbox:
    """A sandbox, unless there is a reason why it does not work here."""
    if reason:
        raise SandboxError(f"no sandbox for the programs that models write: {reason}; or take another one (--sandbox "
                           f"{other}), or accept that they run with your rights: --sandbox none")
    return make()


class Unconfined:
    """`Sandbox` that only tidies: scrubbed environment, home of its own, memory and file limits, group kill.

    It hides neither files nor network, cannot limit the number of processes, and a descendant that starts a session
    of its own outlives the time limit.
    """

    name = "none"

    def __init__(self) -> None:
        self._children = Children()

    def run(self, job: SandboxJob) -> Execution:
        """Run `job` in `job.folder` as the present user; raises SandboxError when it cannot start."""
        if moved := [str(binding.source) for binding in job.bindings if binding.target]:
            raise SandboxError(f"without a sandbox a program sees {', '.join(moved)} only where they are")
        with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as home:
            variables = variables_of(job, home)
            limits = prlimit_command(job.limits, count_processes=False) if shutil.which("prlimit") else []
            command = [*limits, *job.argv]
            folder = Path(job.folder).resolve()
            if job.interactive:
                return run_interactively(command, env=variables, cwd=folder)
            return self._children.run(command, job, env=variables, cwd=folder)

    def stop_all(self) -> None:
        """Kill whatever is still running, and run nothing any more; safe from any thread."""
        self._children.stop_all()
