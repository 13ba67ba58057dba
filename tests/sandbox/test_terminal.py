"""Interactive programs, with a real pseudo-terminal as the user's."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import running_program

pytestmark = pytest.mark.tool

_START = """
import sys
from pathlib import Path
from chatdev.sandbox.base import SandboxJob
from chatdev.sandbox.kinds import find_sandbox
program = "import sys; name = input('name? '); print('hello', name, sys.stdin.isatty()); sys.exit(4)"
job = SandboxJob(["/usr/bin/python3", "-c", program], Path(sys.argv[2]), interactive=True)
done = find_sandbox(sys.argv[1]).run(job)
print("ended", done.exit_status)
"""


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_program_talks_to_the_user_at_the_terminal(sandbox: str, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with running_program([sys.executable, "-c", _START, sandbox, str(tmp_path)], stdin=theirs, stdout=theirs,
                         stderr=theirs, start_new_session=True) as child:
        os.close(theirs)
        said = b""
        while b"name? " not in said:
            said += os.read(ours, 1000)
        os.write(ours, b"Ada\n")
        while b"ended 4" not in said:
            said += os.read(ours, 1000)
        child.wait(timeout=10)
    os.close(ours)
    assert b"hello Ada True" in said


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_without_a_terminal_the_streams_are_handed_through(sandbox: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _START, sandbox, str(tmp_path)], input="Ada\n", capture_output=True,
                          text=True, check=True)
    assert done.stdout == "name? hello Ada False\nended 4\n"
