"""Whatever a text does to the child that reads it, and whoever ends the child, its parent goes on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chatdev.errors import SandboxError
from chatdev.isolation import parent
from chatdev.replies.python.reader import NotPython, fault, read
from chatdev.workspace.python_errors import syntax_errors
from tests.isolation.hostile import DIES, SPINS, SWELLS, WORKS, reader_of

memory_of = parent._memory_of
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[parent.Reader]:
    with reader_of(monkeypatch) as reader:
        yield reader


def children() -> set[int]:
    return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def child_of(reader: parent.Reader) -> int:
    """The process that reads."""
    read("x = 1")
    assert reader._child is not None
    return reader._child._process.pid


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def is_gone(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] == "Z"


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(("word", "why"), [(SWELLS, "too deeply"), (DIES, "makes the parser crash")])
def test_a_text_that_takes_the_child_down_is_a_syntax_error(word: str, why: str) -> None:
    """CPython 3.11 takes gigabytes for a few dozen nested blocks with `finally`, each of which it compiles twice."""
    found = syntax_errors({"main.py": f"x = 1  # {word}\n".encode()})
    assert [(error.path, error.line) for error in found] == [("main.py", 1)]
    assert why in found[0].message
    assert not syntax_errors({"main.py": b"print(1)\n"})


def test_a_text_that_takes_too_long_is_refused_and_not_tried_again(reader: parent.Reader) -> None:
    assert fault(f"# {SPINS}") == "the source takes more time than it may, 1 s of a processor"
    assert reader._child is None
    assert fault(f"# {SPINS}") == "the source takes more time than it may, 1 s of a processor"
    assert reader._child is None, "it is known"
    assert fault("x = 1") is None


def test_a_text_of_too_many_bytes_is_refused(reader: parent.Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "LONGEST", 1000)
    assert "the source has more than" in str(fault(f"x = '{'a' * 1000}'"))
    assert reader._child is None


def test_an_answer_of_too_many_bytes_is_refused(reader: parent.Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parent, "_LONGEST_ANSWER", 1000)
    with pytest.raises(NotPython, match="what is read from it more than"):
        read("a;" * 1000)
    assert read("x = 1").statements


def test_a_child_that_was_killed_while_it_waited_is_replaced(reader: parent.Reader) -> None:
    os.kill(child_of(reader), signal.SIGKILL)
    assert read("x = 1").statements[0].name == "x"


def test_a_child_serves_a_large_parent_for_long(reader: parent.Reader) -> None:
    held = b"x" * (512 << 20)
    first = child_of(reader)
    assert child_of(reader) == first, f"beside {len(held)} bytes of its parent's"


@pytest.mark.parametrize(("signals", "why"), [(1, None), (2, "killed, twice")])
def test_a_child_killed_at_work_is_tried_once_more(reader: parent.Reader, signals: int, why: str | None) -> None:
    text = f"x = 1  # {WORKS}"

    def kill() -> None:
        before = 0
        for _ in range(signals):
            wait_until(lambda: reader._child is not None and reader._child._process.pid != before)  # noqa: B023
            before = reader._child._process.pid if reader._child else 0
            wait_until(lambda: is_at_work(before))  # noqa: B023
            os.kill(before, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    found = fault(text)
    killer.join()
    assert found is None if why is None else why in str(found)
    assert fault("x = 1") is None


def is_at_work(pid: int) -> bool:
    """Whether it has used a processor for longer than its start takes."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12]) > 0.15 * os.sysconf("SC_CLK_TCK") and fields[0] == "R"


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("answer", [
    b"+\0\0\0\x04null", b"+\0\0\0\x02\xff\xff", b"+\0\0\0\x0b[\"value\",1]", b"+\xff\xff\xff\xff", b"?",
    b'+\0\0\0\x12["error",7,["no"]]', b'+\0\0\0\x13["error",0,[1,2,3]]', b'+\0\0\0\x13["value",[["x"],[]]]',
    b"+\0\0\0\0", b"+\0\0\0\x02[]",
])
def test_a_child_that_answers_something_else_is_not_believed(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    program = f"import os; os.write(0, b'+' + bytes(4)); os.read(0, 99999); os.write(0, {answer!r})"
    monkeypatch.setattr(parent, "_START", program)
    with pytest.raises(NotPython):
        read("x = 1")


@pytest.mark.usefixtures("reader")
def test_an_unexpected_error_in_the_child_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    program = ("import os; os.write(0, b'+' + bytes(4)); os.read(0, 99999); "
               "os.write(0, b'+\\0\\0\\0\\x1d[\"error\",null,\"KeyError: oh\"]')")
    monkeypatch.setattr(parent, "_START", program)
    with pytest.raises(NotPython, match="KeyError: oh"):
        read("x = 1")


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize("start", ["1/0", "import os; os.write(0, b'+')"])
def test_a_child_that_does_not_start_says_how_to_look(monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    monkeypatch.setattr(parent, "_START", start)
    with pytest.raises(SandboxError, match="does not start"):
        read("x = 1")
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SandboxError, match="no process can be started"):
        read("x = 1")


def test_threads_read_one_after_the_other(reader: parent.Reader) -> None:
    def name(number: int) -> str:
        return read(f"name_{number} = 1").statements[0].name

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(name, range(100))] == [f"name_{number}" for number in range(100)]
    assert reader._child is not None


def test_ctrl_c_while_it_reads_leaves_no_answer_behind(reader: parent.Reader) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    pid, before = child_of(reader), signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            fault(f"# {SPINS}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert is_gone(pid)
    assert read("x = 1").statements[0].name == "x"


@pytest.mark.skipif(shutil.which("ps") is None, reason="no ps")
def test_where_no_limit_holds_memory_is_watched(reader: parent.Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    read("x = 1")
    monkeypatch.setattr(parent, "_WATCHED", True)
    monkeypatch.setattr(parent, "_memory_of", lambda pid: memory_of(pid) + (192 << 20))
    assert "takes more memory" in str(fault(f"# {SPINS}"))
    assert reader._child is None


@LINUX
def test_a_forked_process_has_a_child_of_its_own() -> None:
    first = read("x = 1")
    pid = os.fork()
    if pid == 0:  # no test may run on in it
        os._exit(0 if read("x = 1") == first and read("y = 2").statements[0].name == "y" else 1)
    assert read("z = 3").statements[0].name == "z"
    assert os.waitpid(pid, 0)[1] == 0


@LINUX
def test_the_child_ends_with_its_parent() -> None:
    program = ("from chatdev.isolation import parent; from chatdev.replies.python.reader import read; import time\n"
               "read('x = 1'); print(parent._reader._child._process.pid, flush=True); time.sleep(60)")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        assert not is_gone(pid)
        process.kill()
    wait_until(lambda: is_gone(pid))


@LINUX
def test_the_child_has_neither_secrets_nor_files_nor_our_terminal(reader: parent.Reader,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-for-the-child")
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)  # cv2 sets it in a process that imports it; the child keeps it
    with Path(os.devnull).open() as other:
        os.set_inheritable(other.fileno(), True)
        proc = Path(f"/proc/{child_of(reader)}")
    assert set((proc / "environ").read_bytes().split(b"\0")) <= {b"MALLOC_ARENA_MAX=1", b"LC_CTYPE=C.UTF-8", b""}
    assert sorted(path.name for path in (proc / "fd").iterdir()) == ["0", "1", "2"]
    assert (proc / "cwd").readlink() == Path("/")
    assert os.getsid(int(proc.name)) == int(proc.name)
    limits = {line[:25].strip(): line[26:].split()[:2] for line in (proc / "limits").read_text().splitlines()}
    assert [limits[name] for name in ("Max file size", "Max core file size", "Max processes")] == [["0", "0"]] * 3
    assert int(limits["Max address space"][0]) < 600 << 20
    assert (proc / "oom_score_adj").read_text().strip() == "1000"


@LINUX
def test_children_are_no_more_after_many_deaths_than_before(reader: parent.Reader) -> None:
    read("x = 1")
    before = len(children())
    for _ in range(3):
        os.kill(child_of(reader), signal.SIGKILL)
        read("x = 1")
    assert len(children()) == before
