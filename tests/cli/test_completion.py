"""`chatdev completion`: what a shell completes with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from chatdev.cli.app import command_line


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(shell: str) -> None:
    done = CliRunner().invoke(command_line, ["completion", shell])
    assert done.exit_code == 0, done.output
    assert f"_CHATDEV_COMPLETE={shell}_complete" in done.output


def test_another_shell_is_refused_with_those_there_are() -> None:
    done = CliRunner().invoke(command_line, ["completion", "tcsh"])
    assert done.exit_code == 2
    assert "'bash', 'zsh', 'fish'" in done.output


def completed(words: str) -> list[str]:
    """What bash is told to offer for the last word."""
    environment = {**os.environ, "_CHATDEV_COMPLETE": "bash_complete", "COMP_WORDS": words,
                   "COMP_CWORD": str(len(words.split()) - 1)}
    done = subprocess.run([sys.executable, "-c", "from chatdev.cli.app import main; main()"], env=environment,
                          capture_output=True, text=True, check=True)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


def test_commands_and_options_are_completed() -> None:
    assert {"resume", "replay"} <= set(completed("chatdev re"))
    assert "--dry-run" in completed("chatdev run --dr")
    assert completed("chatdev run --sandbox b") == ["bubblewrap"]


def test_companies_are_completed_by_name(here: Path) -> None:
    (here / "company_config" / "topical").mkdir(parents=True)
    (here / "company_config" / "topical" / "company.yaml").touch()
    assert completed("chatdev run --company top") == ["topical", "top", "top"]  # the last is for files
    assert completed("chatdev check verilog")[0] == "verilogcoder"


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_takes_the_script() -> None:
    script = CliRunner().invoke(command_line, ["completion", "bash"]).output
    done = subprocess.run(["bash", "-c", 'eval "$SCRIPT"; complete -p chatdev'], env={**os.environ, "SCRIPT": script},
                          capture_output=True, text=True, check=True)
    assert "_chatdev_completion" in done.stdout
