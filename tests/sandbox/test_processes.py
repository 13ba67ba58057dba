"""What an ordinary user is told of processes that would rather not be seen."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from chatdev.sandbox.watch import size_of_nameless_files
from tests.sandbox.conftest import PYTHON, as_user

pytestmark = pytest.mark.tool

_LIMIT = 1 << 30
_HIDDEN = """
import ctypes
call = ctypes.CDLL(None).prctl
{preparation}
call(4, 0)  # PR_SET_DUMPABLE
print('up', flush=True)
input()
"""


@pytest.mark.parametrize(("preparation", "counts"), [
    ("call(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS", True),
    ("", False),
], ids=["in a sandbox", "one that may have other reasons, without a sandbox"])
def test_a_process_that_hides_its_files_has_too_many(preparation: str, counts: bool) -> None:
    def look() -> None:
        with subprocess.Popen([PYTHON, "-c", _HIDDEN.format(preparation=preparation)], cwd="/", stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as child:
            assert child.stdout
            child.stdout.readline()
            found = size_of_nameless_files([child.pid], Path(tempfile.gettempdir()).stat().st_dev, _LIMIT)
            child.kill()
        assert (found > _LIMIT) == counts

    as_user(look)


def test_a_process_that_has_ended_hides_nothing() -> None:
    def look() -> None:
        with subprocess.Popen(["/bin/true"], cwd="/") as child:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            assert size_of_nameless_files([child.pid], 0, _LIMIT) == 0

    as_user(look)
