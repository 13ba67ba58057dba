"""What a program takes too much of, and how that is told; in bubblewrap."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.sandbox.base import Execution
from tests.sandbox.conftest import RunPython, processes_with

pytestmark = pytest.mark.tool

_MANY = "import subprocess, sys, time\nfor _ in range({count}): subprocess.Popen([sys.executable, '-c', {source!r}])\n"


def _in_processes(count: int, source: str) -> str:
    return _MANY.format(count=count, source=source) + "time.sleep(60)"


def test_the_memory_of_all_processes_together_is_limited(run_python: RunPython) -> None:
    hog = "import time; data = bytearray(60 << 20); print('up', flush=True); time.sleep(60)"
    done = run_python(_in_processes(6, hog), memory=200 << 20, seconds=20)
    assert _ended_for(done, "memory")
    assert done.seconds < 10
    assert processes_with("bytearray(60 << 20)") == []


def test_memory_that_processes_share_counts_once(run_python: RunPython) -> None:
    source = ("import os, time\ndata = bytes(80 << 20).replace(b'\\0', b'x')\n"
              "for _ in range(5):\n  if not os.fork(): time.sleep(1); os._exit(0)\ntime.sleep(1)")
    done = run_python(source, memory=300 << 20)
    assert (done.exit_status, done.exceeded) == (0, None)


def test_one_process_is_refused_more_than_its_address_space(run_python: RunPython) -> None:
    assert "MemoryError" in run_python("bytearray(1 << 30)", memory=200 << 20).stderr


def test_address_space_that_is_not_used_may_be_larger_than_memory(run_python: RunPython) -> None:
    reserving = "import mmap; space = mmap.mmap(-1, 1 << 30); space[0] = 1; print('ok')"
    assert run_python(reserving, memory=200 << 20, address_space=4 << 30).stdout == "ok\n"


@pytest.mark.parametrize(("what", "source"), [
    ("many large files", "for n in range(30): open(f'{n}', 'wb').write(bytes(4 << 20))"),
    ("empty files", "import os\nfor n in range(12_000): open(f'{n}', 'w').close()"),
    ("deleted but open", "files = []\nfor n in range(30):\n  file = open('x', 'wb'); file.write(bytes(4 << 20))\n"
                         "  file.flush(); import os; os.unlink('x'); files.append(file)\nimport time; time.sleep(60)"),
    ("deleted but mapped", "import mmap, os, time\nmaps = []\nfor n in range(30):\n  with open('x', 'wb+') as file:\n"
                           "    file.write(bytes(4 << 20)); file.flush(); maps.append(mmap.mmap(file.fileno(), 0))\n"
                           "  os.unlink('x')\ntime.sleep(60)"),
    ("hidden in the depth", "import os\nfor n in range(100): os.mkdir('d'); os.chdir('d')"),
])
def test_all_that_lies_in_the_folder_is_limited(run_python: RunPython, what: str, source: str) -> None:
    done = run_python(source, disk=40 << 20, seconds=20)
    assert _ended_for(done, "disk"), what
    assert done.seconds < 10


def test_what_was_in_the_folder_before_counts_too(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "software").mkdir(exist_ok=True)
    (tmp_path / "software" / "large").write_bytes(b"x" * (8 << 20))
    assert _ended_for(run_python("", disk=4 << 20), "disk")


def test_a_flood_of_output_is_ended(run_python: RunPython) -> None:
    done = run_python("while True: print('x' * 10_000)", written=20 << 20, seconds=30)
    assert _ended_for(done, "output")
    assert done.stdout.startswith("xxx")
    assert done.seconds < 15


def test_a_program_within_its_limits_exceeds_none(run_python: RunPython) -> None:
    done = run_python("open('x', 'w').write('x'); print('x' * 100_000)")
    assert (done.exit_status, done.exceeded, done.timed_out) == (0, None, False)


def _ended_for(done: Execution, limit: str) -> bool:
    return (done.exceeded, done.exit_status, done.signal, done.timed_out) == (limit, None, 9, False)
