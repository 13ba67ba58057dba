"""What /proc tells of processes: what they take together, and what an ordinary user is told of those that would rather
not be seen."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from chatdev.sandbox.watch import MemoryOfProcesses, kernel_memory, process_tree, size_of_nameless_files
from tests.sandbox.conftest import PYTHON, as_user

pytestmark = pytest.mark.tool

_LIMIT = 1 << 30
_FAMILY = """
import os
data = bytes(40 << 20).replace(b'\\0', b'x')
for _ in range(5):
    if os.fork() == 0: input()
print('up', flush=True)
os.wait()
"""
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


@pytest.mark.parametrize(("limit", "least", "most"), [(_LIMIT, 240, 300), (100 << 20, 40, 90)],
                         ids=["once for each, which is quick", "once for all, where the limit is near"])
def test_what_processes_share_is_counted(limit: int, least: int, most: int) -> None:
    with subprocess.Popen([PYTHON, "-c", _FAMILY], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        memory, tree = MemoryOfProcesses(limit), process_tree(child.pid)
        found = [memory.measure(tree), memory.measure(tree)]
    assert len(tree) == 6
    assert all(least << 20 <= taken <= most << 20 for taken in found)


def test_without_a_sandbox_the_kernel_holds_nothing_for_it() -> None:
    assert kernel_memory([os.getpid()], 0) == 0


def test_processes_that_have_ended_take_nothing() -> None:
    with subprocess.Popen(["/bin/true"], cwd="/") as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert kernel_memory([child.pid], 0) == 0
        assert MemoryOfProcesses(_LIMIT).measure([child.pid]) < 1 << 20
