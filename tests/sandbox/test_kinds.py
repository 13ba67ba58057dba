"""Without a sandbox there is at least order."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.errors import ConfigError, SandboxError
from chatdev.sandbox.base import Binding, SandboxJob
from chatdev.sandbox.kinds import Unconfined, find_sandbox
from tests.sandbox.conftest import RunPython, processes_with, runner


@pytest.fixture
def run_plainly(tmp_path: Path) -> RunPython:
    return runner(Unconfined(), tmp_path)


def test_the_environment_is_scrubbed_and_the_home_is_new(run_plainly: RunPython,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    done = run_plainly("import os; print('OPENAI_API_KEY' in os.environ, os.listdir(os.environ['HOME']), os.getcwd())")
    assert done.stdout.startswith("False [] ")
    assert done.stdout.endswith("software\n")


def test_memory_is_limited(run_plainly: RunPython) -> None:
    assert "MemoryError" in run_plainly("bytearray(1 << 30)", memory=200 << 20).stderr


def test_the_group_is_killed_at_the_limit(run_plainly: RunPython) -> None:
    done = run_plainly("import subprocess, time; subprocess.Popen(['sleep', '95.4321']); time.sleep(60)", seconds=0.5)
    assert done.timed_out
    assert processes_with("95.4321") == []


def test_a_child_that_keeps_the_pipe_does_not_keep_us(run_plainly: RunPython) -> None:
    done = run_plainly("import subprocess; print('x', flush=True); "
                       "subprocess.Popen(['sleep', '4'], start_new_session=True)")
    assert (done.exit_status, done.stdout) == (0, "x\n")
    assert done.seconds < 4


def test_a_program_that_closes_its_output_is_still_waited_for(run_plainly: RunPython) -> None:
    done = run_plainly("import os, time; os.close(1); os.close(2); time.sleep(0.2); os._exit(5)")
    assert done.exit_status == 5


def test_a_missing_folder_cannot_start(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="cannot start"):
        Unconfined().run(SandboxJob(["true"], tmp_path / "gone"))


def test_moved_bindings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="only where they are"):
        Unconfined().run(SandboxJob(["true"], tmp_path, bindings=[Binding(tmp_path, "/elsewhere")]))


def test_none_is_chosen_by_name_only_and_unknown_names_are_refused() -> None:
    assert find_sandbox("none").name == "none"
    with pytest.raises(ConfigError, match="'jail'.*bubblewrap, docker, none"):
        find_sandbox("jail")


def test_a_machine_without_bubblewrap_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from chatdev.sandbox.bubblewrap import why_not

    why_not.cache_clear()
    monkeypatch.setenv("PATH", str(tmp_path))
    try:
        with pytest.raises(SandboxError, match="bwrap.*apt-get install bubblewrap.*--sandbox none"):
            find_sandbox("bubblewrap")
    finally:
        why_not.cache_clear()
