"""What a program in bubblewrap cannot do, see or leave behind; the real thing."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chatdev.errors import SandboxError
from chatdev.sandbox import bubblewrap as bwrap
from chatdev.sandbox import watch
from chatdev.sandbox.base import Binding, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.bubblewrap import command_line
from chatdev.sandbox.kinds import find_sandbox
from chatdev.sandbox.watch import Group
from tests.sandbox.conftest import PYTHON, RunPython, processes_with

pytestmark = pytest.mark.tool


def test_it_works_here() -> None:
    assert bwrap.why_not() is None


def test_root_who_may_not_become_somebody_else_gets_no_sandbox() -> None:
    source = "from chatdev.sandbox.bubblewrap import why_not; print(why_not())"
    done = subprocess.run(["bwrap", "--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL",
                           "--dev-bind", "/", "/", sys.executable, "-c", source],
                          capture_output=True, text=True, check=True)
    assert ("does not limit root's processes" in done.stdout) == (os.geteuid() == 0)


def test_the_network_is_off(run_python: RunPython) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = run_python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)")
    assert "Connection refused" in done.stderr


def test_the_network_is_there_when_asked_for(run_python: RunPython) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = run_python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)", network=True)
    assert done.exit_status == 0


def test_keys_and_the_rest_of_the_environment_are_unseen(run_python: RunPython,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    done = run_python("import os; print(sorted(os.environ), os.environ['GIVEN'])", env={"GIVEN": "yes"})
    assert "OPENAI_API_KEY" not in done.stdout
    assert done.stdout.endswith("yes\n")
    assert "sk-secret" not in run_python("print(open('/proc/1/environ').read())").stdout


def test_the_home_and_other_folders_of_the_host_are_unseen(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("key")
    done = run_python(f"import os; print(os.listdir('/')); print(os.path.exists({str(tmp_path)!r}), "
                      f"os.path.exists({str(Path.home() / '.bashrc')!r}), os.path.exists('/etc/passwd'))")
    assert done.stdout.endswith("False False False\n")


def test_processes_of_the_host_are_unseen(run_python: RunPython) -> None:
    done = run_python("import os; print(len([p for p in os.listdir('/proc') if p.isdigit()]))")
    assert int(done.stdout) <= 3


@pytest.mark.parametrize("path", ["/x", "/usr/x", "/etc/x", "/dev/x", "/home/x"])
def test_writing_outside_fails(run_python: RunPython, path: str) -> None:
    assert "Error" in run_python(f"open({path!r}, 'w')").stderr


def test_the_folder_the_home_and_tmp_can_be_written(run_python: RunPython, tmp_path: Path) -> None:
    done = run_python("import os, tempfile, multiprocessing\n"
                      "open('made.txt', 'w').write('x'); open(os.path.expanduser('~/x'), 'w')\n"
                      "tempfile.TemporaryFile(); multiprocessing.Lock()")
    assert (done.exit_status, done.stderr) == (0, "")
    assert (tmp_path / "software" / "made.txt").read_text() == "x"


def test_a_program_cannot_become_root_or_keep_capabilities(run_python: RunPython) -> None:
    status = run_python("print(open('/proc/self/status').read())").stdout
    assert "CapEff:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert "Uid:\t0\t" not in status


def test_a_fork_bomb_is_bounded(run_python: RunPython) -> None:
    done = run_python("import os, time\nn = 0\ntry:\n  while n < 500:\n"
                      "    if not os.fork(): time.sleep(9)\n    n += 1\n"
                      "except BlockingIOError: print('stopped after', n)", processes=40, seconds=8)
    assert done.stdout.startswith("stopped after ")
    assert int(done.stdout.split()[-1]) <= 40


def test_a_program_runs_where_there_are_no_more_control_groups(run_python: RunPython, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "parent", lambda: Group(tmp_path / "gone"))
    assert run_python("print('ran')").stdout == "ran\n"


def test_a_memory_bomb_is_bounded(run_python: RunPython) -> None:
    assert "MemoryError" in run_python("bytearray(1 << 30)", memory=200 << 20).stderr


def test_a_large_file_is_bounded(run_python: RunPython) -> None:
    assert "File too large" in run_python("open('x', 'wb').write(bytes(2 << 20))", file_size=1 << 20).stderr


def test_the_processors_time_is_limited_apart_from_the_clock(run_python: RunPython) -> None:
    ended = run_python("while True: pass", cpu=1, seconds=300)
    assert (ended.signal, ended.timed_out) == (signal.SIGXCPU, False)


def test_the_scratch_folders_are_bounded(run_python: RunPython) -> None:
    done = run_python("import os\nfor n in range(9): open(os.path.expanduser(f'~/{n}'), 'wb').write(bytes(20 << 20))")
    assert "No space left on device" in done.stderr


def test_a_flood_of_output_keeps_head_and_tail(run_python: RunPython) -> None:
    done = run_python("print('first'); print('x' * 5_000_000); print('last')", output=1000)
    assert done.exit_status == 0
    assert done.truncated
    assert done.stdout.startswith("first\n")
    assert done.stdout.endswith("last\n")
    assert "bytes left out" in done.stdout
    assert len(done.stdout) < 1100


def test_the_whole_tree_is_gone_after_the_limit(run_python: RunPython) -> None:
    done = run_python("import signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                      "for _ in range(3): subprocess.Popen(['sleep', '98.7654'], start_new_session=True)\n"
                      "print('up', flush=True); time.sleep(60)", seconds=1.0)
    assert done.timed_out
    assert (done.exit_status, done.stdout) == (None, "up\n")
    assert done.seconds < 3
    assert processes_with("98.7654") == []


def test_children_left_behind_are_gone_when_the_program_ends(run_python: RunPython) -> None:
    done = run_python("import subprocess; subprocess.Popen(['sleep', '97.6543'], start_new_session=True)")
    assert (done.exit_status, done.timed_out) == (0, False)
    assert done.seconds < 2
    assert processes_with("97.6543") == []


def test_stdin_is_closed_or_what_was_given(run_python: RunPython) -> None:
    assert "EOFError" in run_python("input()").stderr
    assert run_python("print(input())", stdin="grüß\n").stdout == "grüß\n"


def test_a_signal_is_told_apart_from_an_exit_status(run_python: RunPython) -> None:
    ended = run_python("import os; os.kill(os.getpid(), 11)")
    assert (ended.exit_status, ended.signal) == (None, 11)
    assert run_python("raise SystemExit(3)").exit_status == 3


def test_output_that_is_no_utf8_is_replaced(run_python: RunPython) -> None:
    assert run_python("import os; os.write(1, b'a\\xff')").stdout == "a\ufffd"


def test_a_missing_program_says_so(bubblewrap: Sandbox, tmp_path: Path) -> None:
    done = bubblewrap.run(SandboxJob(["nothing-of-that-name"], tmp_path))
    assert done.exit_status == 127
    assert "nothing-of-that-name" in done.stderr


def test_a_missing_folder_is_an_error_of_ours(bubblewrap: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="gone"):
        bubblewrap.run(SandboxJob(["true"], tmp_path / "gone"))


def test_bindings_are_seen_but_not_written(run_python: RunPython, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    (tmp_path / "data" / "x").write_text("content")
    bindings = [Binding(tmp_path / "data"), Binding(tmp_path / "data", "/data")]
    done = run_python(f"print(open('/data/x').read(), open({str(tmp_path / 'data' / 'x')!r}).read())\n"
                      "open('/data/x', 'w')", bindings=bindings)
    assert done.stdout == "content content\n"
    assert "Read-only file system" in done.stderr


def test_stop_all_ends_a_program_that_another_thread_waits_for(bubblewrap: Sandbox, tmp_path: Path) -> None:
    raised: list[SandboxError] = []

    def run() -> None:
        try:
            bubblewrap.run(SandboxJob(["sleep", "96.5432"], tmp_path, ProcessLimits(seconds=30)))
        except SandboxError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    deadline = time.monotonic() + 5
    while not processes_with("sleep 96.5432") and time.monotonic() < deadline:
        time.sleep(0.02)
    bubblewrap.stop_all()
    thread.join(timeout=5)
    assert "stopped" in str(raised[0])
    assert processes_with("sleep 96.5432") == []


def test_a_stop_while_a_program_is_just_starting_leaves_nothing_behind(tmp_path: Path) -> None:
    def run(sandbox: Sandbox) -> None:
        with pytest.raises(SandboxError, match="stopped"):
            sandbox.run(SandboxJob(["sleep", "94.3210"], tmp_path, ProcessLimits(seconds=30)))

    for milliseconds in range(20):
        sandbox = find_sandbox("bubblewrap")
        thread = threading.Thread(target=run, args=(sandbox,))
        thread.start()
        time.sleep(milliseconds / 1000)
        sandbox.stop_all()
        thread.join(timeout=5)
        assert not thread.is_alive()
        assert processes_with("94.3210") == []


def test_an_ordinary_user_gets_the_same_by_a_user_namespace(tmp_path: Path) -> None:
    """The line for users without root, which root may run as well."""
    source = "import os; open('x', 'w'); print(os.getuid(), os.environ['HOME'], os.listdir('/home'))"
    job = SandboxJob([PYTHON, "-c", source], tmp_path)
    done = subprocess.run(command_line(job, None), capture_output=True, text=True, check=True, env={})
    assert done.stdout == "1000 /home/user ['user']\n"
    assert (tmp_path / "x").stat().st_uid == os.getuid()
