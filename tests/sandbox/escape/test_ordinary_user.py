"""The same programs where an ordinary user starts them: in a user namespace, and without control groups."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from chatdev.sandbox import bubblewrap, watch
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.bubblewrap import Bubblewrap
from tests.sandbox.conftest import NOBODY, PYTHON, as_user
from tests.sandbox.escape.host import ESCAPED, KEY, PROGRAMS, Host, limits_of, opened

pytestmark = pytest.mark.tool

_QUIET = ("read", "write", "network", "process", "kernel")
_ONE_AFTER_THE_OTHER = """
import json, os, sys, traceback
for name, code in json.load(open("programs.json")).items():
    if os.fork() == 0:
        os.setsid()  # a kill of its whole group must not end the others
        status = 1
        try:
            exec(compile(code, name, "exec"), {"__name__": "__main__"})
            status = 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush(); sys.stderr.flush()
        os._exit(status)
    print(name, os.wait()[1], flush=True)
"""


@pytest.fixture
def folder(bubblewrap: Sandbox) -> Iterator[Path]:
    """A folder of an ordinary user, where that user may go."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def run_as_user(scratch: Path, files: dict[str, str], limits: ProcessLimits) -> Execution:
    """Run `main.py` among the files, in a sandbox that an ordinary user started."""
    box, result = scratch / "box", scratch / "result.json"
    box.mkdir(parents=True)
    for name, text in files.items():
        (box / name).write_text(text)
    result.touch()
    if os.geteuid() == 0:
        shutil.chown(box, NOBODY)
        shutil.chown(result, NOBODY)

    def run() -> None:
        for known in (bubblewrap.is_root, bubblewrap.why_not, watch.parent):
            known.cache_clear()
        done = Bubblewrap().run(SandboxJob([PYTHON, "main.py"], box, limits))
        result.write_text(json.dumps({name: getattr(done, name) for name in Execution.__slots__}))

    as_user(run)
    execution = Execution(**json.loads(result.read_text()))
    shutil.rmtree(box)
    result.unlink()
    return execution


@pytest.fixture
def host(folder: Path, bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with opened(folder, bubblewrap) as host:
        yield host


def _of(kinds: tuple[str, ...], wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    return [program for program in PROGRAMS if program["kind"] in kinds and wanted(program)]


def test_what_an_ordinary_user_starts_gets_nothing_either(host: Host) -> None:
    quiet = _of(_QUIET, lambda program: program.get("rule") != "started" and "seconds" not in program)
    sources = {program["name"]: host.source(program) for program in quiet}
    found: list[Execution] = []

    def run() -> None:
        files = {"main.py": _ONE_AFTER_THE_OTHER, "programs.json": json.dumps(sources)}
        found.append(run_as_user(host.folder / "scratch", files, ProcessLimits(seconds=60, processes=32)))

    host.run_apart(run, "all of them")
    assert ESCAPED not in found[0].stdout + found[0].stderr
    assert KEY not in found[0].stdout + found[0].stderr
    assert [name for name in sources if f"{name} " not in found[0].stdout] == []


@pytest.mark.parametrize("program", _of(("memory",), lambda program: "root" not in program),
                         ids=lambda program: program["name"])
def test_what_an_ordinary_user_starts_takes_no_more(host: Host, program: dict[str, Any]) -> None:
    limits = limits_of(program, ProcessLimits())
    done = run_as_user(host.folder / "scratch", {"main.py": host.source(program)}, limits)
    assert ESCAPED not in done.stdout + done.stderr
    assert done.exceeded or done.exit_status == ("clean_exit" not in program.get("rule", "clean_exit")), done
