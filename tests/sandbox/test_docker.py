"""Programs in containers of docker: how they end, what is left, and what docker itself may do wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chatdev.errors import SandboxError
from chatdev.sandbox import kinds as module
from chatdev.sandbox.base import Binding, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.kinds import find_sandbox
from tests.sandbox.conftest import PYTHON, RunPython, runner

pytestmark = [pytest.mark.tool, pytest.mark.xdist_group("docker")]


@pytest.fixture
def run(docker: Sandbox, tmp_path: Path) -> RunPython:
    return runner(docker, tmp_path)


def test_home_and_temporary_folders_may_be_written_and_are_gone_later(run: RunPython) -> None:
    source = "for folder in ('/tmp', '/home/user', '/dev/shm'): open(f'{folder}/x', 'x')"
    assert [run(source).exit_status for _ in range(2)] == [0, 0]


def containers() -> str:
    return subprocess.run(["docker", "ps", "--all", "--quiet"], capture_output=True, text=True, check=True).stdout


def test_streams_input_folder_and_user(run: RunPython, tmp_path: Path) -> None:
    done = run("import os, sys; print(input()); print(os.getcwd(), os.environ['HOME'], os.getuid(), file=sys.stderr)\n"
               "open('made', 'w').write('x')", stdin="typed\n")
    assert (done.exit_status, done.stdout) == (0, "typed\n")
    cwd, home, user = done.stderr.split()
    assert (cwd, home) == ("/box", "/home/user")
    assert int(user) == (tmp_path / "software" / "made").stat().st_uid != 0
    assert containers() == ""


@pytest.mark.parametrize(("source", "status", "signal"), [
    ("raise SystemExit(3)", 3, None), ("raise SystemExit(125)", 125, None),
    ("import os; os.kill(os.getpid(), 11)", None, 11),
])
def test_how_a_program_ends(run: RunPython, source: str, status: int | None, signal: int | None) -> None:
    done = run(source)
    assert (done.exit_status, done.signal) == (status, signal)


def test_time_memory_and_processes_are_held_and_nothing_runs_on(run: RunPython) -> None:
    late = run("import time; time.sleep(60)", seconds=1)
    assert late.timed_out
    large = run("x = []\nwhile True: x.append(b'x' * (32 << 20))", memory=256 << 20, address_space=8 << 30, seconds=20)
    assert large.exceeded == "memory"
    many = run("import os, time\nn = 0\ntry:\n    while True:\n        if os.fork() == 0: time.sleep(60)\n"
               "        n += 1\nexcept OSError: print(n < 20)", processes=20)
    assert many.stdout == "True\n"
    assert containers() == ""


def test_bindings_are_seen_where_they_were_wished_and_not_written(docker: Sandbox, tmp_path: Path) -> None:
    shown, folder = tmp_path / "with, comma", tmp_path / "software"
    shown.mkdir()
    folder.mkdir()
    (shown / "a.txt").write_text("seen")
    source = f"print(open('/tmp/there/a.txt').read(), open({str(shown / 'a.txt')!r}).read()); open('/tmp/there/b', 'w')"
    bindings = [Binding(shown), Binding(shown, "/tmp/there")]
    done = docker.run(SandboxJob([PYTHON, "-c", source], folder, bindings=bindings))
    assert done.stdout == "seen seen\n"
    assert "Read-only file system" in done.stderr


def test_stop_all_removes_what_another_thread_waits_for(docker: Sandbox, tmp_path: Path) -> None:
    sandbox, problems = module.Docker(), []

    def wait() -> None:
        try:
            sandbox.run(SandboxJob(["sleep", "60"], tmp_path, ProcessLimits(seconds=60)))
        except SandboxError as error:
            problems.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    while not containers():
        time.sleep(0.05)
    sandbox.stop_all()
    thread.join(timeout=20)
    assert not thread.is_alive()
    assert "stopped" in problems[0]
    assert containers() == ""


def test_a_program_of_the_machine_is_judged_in_it(docker: Sandbox, tmp_path: Path) -> None:
    bindings = [Binding(Path(sys.base_prefix)), Binding(Path(sys.prefix))]
    done = docker.run(SandboxJob([sys.executable, "-c", "print('ours')"], tmp_path, bindings=bindings))
    assert done.stdout == "ours\n"


def test_a_service_that_does_not_answer_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nothing.sock")
    module.why_not.cache_clear()
    with pytest.raises(SandboxError, match="systemctl start docker.*--sandbox bubblewrap"):
        find_sandbox("docker")
    module.why_not.cache_clear()


def test_a_machine_without_docker_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    module.why_not.cache_clear()
    with pytest.raises(SandboxError, match=r"apt-get install docker\.io"):
        find_sandbox("docker")
    module.why_not.cache_clear()


def test_keys_do_not_reach_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-docker-at-all")
    assert not set(module.docker_environment()) & {"OPENAI_API_KEY"}
    assert os.environ["OPENAI_API_KEY"]


def test_a_container_that_did_not_begin_in_time_is_no_running_program(docker: Sandbox, tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="could not start sleep: it took too long"):
        docker.run(SandboxJob(["sleep", "60"], tmp_path, ProcessLimits(seconds=0.001)))
    assert containers() == ""


def test_a_container_ends_by_itself_when_nobody_is_left_to_remove_it(docker: Sandbox, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    job = SandboxJob(["sleep", "60"], tmp_path, ProcessLimits(seconds=1 - module._GRACE))
    done = subprocess.run(module.command_line(job, "chatdev-left-alone", 65000), capture_output=True, check=False,
                          timeout=30)
    subprocess.run(["docker", "rm", "chatdev-left-alone"], capture_output=True, check=True)
    assert done.returncode == 128 + 9


def test_a_service_that_cannot_show_our_files_is_refused(docker: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 65001)  # as where docker knows our user by another number
    module.why_not.cache_clear()
    with pytest.raises(SandboxError, match="cannot use files of ours.*Permission denied.*as root"):
        find_sandbox("docker")
    module.why_not.cache_clear()
