"""The README keeps its word: its example runs, its links lead somewhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from chatdev.cli.app import EXIT_CODES
from chatdev.cli.run_commands import run
from tests.support.chat_server import ChatServer, Received
from tests.support.checkout import README, ROOT

REPLIES = {
    "demand_analysis": "<SOLUTION> Command-line application",
    "language_choice": "<SOLUTION> Python",
    "coding": "main.py\n```python\nprint('nothing to do')\n```\n",
    "test_plan": "- python main.py",
    "code_review": "<SOLUTION>",
    "environment_doc": "<SOLUTION>\n# none\n",
    "manual": "<SOLUTION>\n# To-do list\n\nRun `python main.py`.\n",
}


def the_company_answers(request: Received) -> str | None:
    return REPLIES.get(request.headers["X-ChatDev-Phase"])


@pytest.mark.tool
@pytest.mark.skipif(not shutil.which("bwrap"), reason="bubblewrap is not installed")
def test_the_library_example_runs(chat_server: ChatServer, here: Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    chat_server.route(the_company_answers)
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(example.strip().splitlines()) <= 12
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "coding" in printed
    assert "True" in printed
    assert "nothing to do" in printed


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/durable-runs.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text):
        assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


def test_the_exit_codes_are_those_of_the_command() -> None:
    section = README.split("## Exit codes")[1].split("\n## ")[0]
    assert re.findall(r"^\| (\d+) ", section, re.MULTILINE) == re.findall(r"^  (\d+) ", EXIT_CODES, re.MULTILINE)


def test_every_flag_of_the_configuration_is_there() -> None:
    section = README.split("## Configuration")[1].split("\n## ")[0]
    known = {option for parameter in run.params for option in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", section)) <= known
