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
    "architecture": "main.py prints.",
    "checks": "[]",
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
    assert "/software" in printed
    assert "nothing to do" in printed


PAGES = [page.relative_to(ROOT).as_posix()
         for pattern in ("*.md", "docs/**/*.md", "srdd/*.md", "company_config/**/*.md", "chatdev/**/*.md")
         for page in sorted(ROOT.glob(pattern))]


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for path, heading in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", _without_code(ROOT / page)):
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page} links to {path}"
        assert not heading or heading in _anchors(target), f"{page} links to the heading {heading} of {path or page}"


def _anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.*)$", _without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


def _without_code(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_exit_codes_are_those_of_the_command() -> None:
    section = README.split("## Exit codes")[1].split("\n## ")[0]
    assert re.findall(r"^\| (\d+) ", section, re.MULTILINE) == re.findall(r"^  (\d+) ", EXIT_CODES, re.MULTILINE)


def test_every_flag_of_the_configuration_is_there() -> None:
    section = README.split("## Configuration")[1].split("\n## ")[0]
    known = {option for parameter in run.params for option in parameter.opts}
    assert set(re.findall(r"`(--[a-z-]+)", section)) <= known
