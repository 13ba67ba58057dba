"""Programs that start as copies are as those that Python starts."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.copies import run_module, start_module
from tests.support.processes import start_program

pytestmark = pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="copies are of Linux")


@pytest.mark.parametrize("arguments", [["--version"], ["companies"], ["check", "nowhere"], ["no such command"]])
def test_a_copy_says_what_a_program_says_and_ends_as_it_does(here: Path, arguments: list[str]) -> None:
    copied = run_module("chatdev", *arguments)
    started = subprocess.run([sys.executable, "-m", "chatdev", *arguments], capture_output=True, text=True, check=False)
    assert (copied.returncode, copied.stdout, copied.stderr) == (started.returncode, started.stdout, started.stderr)


def test_a_copy_is_a_child_of_the_tests_with_all_that_is_its_own(here: Path) -> None:
    (here / "told.py").write_text(
        "import os, sys, tempfile, threading\nprint(os.getppid(), os.getpid(), sys.argv[1:], os.getcwd(), "
        "os.environ['OWN'], threading.get_native_id(), input(), os.getsid(0), tempfile.gettempdir())")
    with start_module("told", "a", "b c", env={**os.environ, "OWN": "x", "TMPDIR": str(here)}, text=True,
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as copy:
        said, _ = copy.communicate("typed\n", timeout=60)
    assert type(copy).__name__ == "_Copy", "with the variables of the tests it is no start of Python"
    assert said == f"{os.getpid()} {copy.pid} ['a', 'b c'] {here} x {copy.pid} typed {copy.pid} {here}\n"


@pytest.mark.parametrize("is_copy", [True, False])
def test_ctrl_c_ends_a_copy_as_it_ends_a_program(here: Path, is_copy: bool) -> None:
    (here / "waits.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with (start_module("waits", **streams) if is_copy
          else start_program([sys.executable, "-m", "waits"], **streams)) as program:
        assert program.stdout
        assert program.stdout.readline() == "begun\n"
        program.send_signal(signal.SIGINT)
        _, told = program.communicate(timeout=60)
    assert (program.returncode, told.strip().endswith("KeyboardInterrupt")) == (-signal.SIGINT, True)
