"""The baselines: what they ask, and that nobody in them talks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev import Company
from chatdev.config.load import load_company
from chatdev.config.profiles import Sizes
from chatdev.config.templates import render
from chatdev.paths import settings_file
from tests.engine.studio import program
from tests.support.chat_server import ChatServer, Received

pytestmark = pytest.mark.tool


def work(company: str, server: ChatServer, tmp_path: Path, replies: dict[str, str]) -> list[Received]:
    """The requests of a run whose replies are given by phase."""
    server.route(lambda request: replies[request.headers["X-ChatDev-Phase"]])
    run = Company.load(company).run("A greeting: `python main.py` prints `hello`.", model="m",
                                    base_url=server.url, warehouse=tmp_path)
    assert run.success, run.reason
    assert run.software.text("main.py") == "print('hello')\n"
    return server.requests


def draw_one_draft_at_a_time() -> None:
    """By the profile of the model `m`."""
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text("models: [{match: [m], drafts_at_once: 1}]", encoding="utf-8")


def test_single_is_one_call(chat_server: ChatServer, tmp_path: Path) -> None:
    requests = work("single", chat_server, tmp_path, {"coding": program()})
    assert len(requests) == 1
    assert "A greeting" in requests[0].body["messages"][-1]["content"]


def test_single_drafts_keeps_the_first_draft_that_works(chat_server: ChatServer, tmp_path: Path) -> None:
    draw_one_draft_at_a_time()
    replies = iter([program("print(1 / 0)"), program("print('hi')"), program(), program("print('never asked for')")])
    chat_server.route(lambda request: next(replies))
    run = Company.load("single_drafts").run("A greeting: `python main.py` prints `hello`.", model="m",
                                            base_url=chat_server.url, warehouse=tmp_path)
    assert run.success, run.reason
    assert run.software.text("main.py") == "print('hello')\n"
    assert len(chat_server.requests) == 3


@pytest.mark.parametrize("company", ["chatdev", "single_drafts"])
def test_the_drafts_of_both_are_mended_by_the_same_tool(chat_server: ChatServer, tmp_path: Path, company: str) -> None:
    draw_one_draft_at_a_time()
    replies = {"coding": program("print(sys.argv[1])"), "test_plan": "- python main.py x", "code_review": "<SOLUTION>"}
    chat_server.route(lambda request: replies.get(request.headers["X-ChatDev-Phase"], "# Manual"))
    run = Company.load(company).run("A command-line program: `python main.py ox` prints `ox`.", model="m",
                                    base_url=chat_server.url, warehouse=tmp_path)
    assert run.success, run.reason
    assert run.software.text("main.py") == "import sys\nprint(sys.argv[1])\n"
    assert [request.headers["X-ChatDev-Phase"] for request in chat_server.requests].count("coding") == 1


def test_pipeline_mends_what_its_trial_shows(chat_server: ChatServer, tmp_path: Path) -> None:
    requests = work("pipeline", chat_server, tmp_path, {
        "requirements": "R", "design": "D", "tasks": "T", "coding": program("print(1 / 0)"), "review": "<SOLUTION>",
        "debugging": program()})
    assert [request.headers["X-ChatDev-Phase"] for request in requests][-2:] == ["review", "debugging"]
    assert "ZeroDivisionError" in requests[-1].body["messages"][1]["content"]


def test_pipeline_is_one_call_a_specialist_who_reads_documents_only(chat_server: ChatServer, tmp_path: Path) -> None:
    requests = work("pipeline", chat_server, tmp_path, {
        "requirements": "THE REQUIREMENTS", "design": "THE DESIGN", "tasks": "THE TASKS", "coding": program(),
        "review": "<SOLUTION>"})
    assert len(requests) == 5
    texts = {request.headers["X-ChatDev-Phase"]: request.body["messages"] for request in requests}
    assert list(texts) == ["requirements", "design", "tasks", "coding", "review"]
    for phase, read in {"design": ["REQUIREMENTS"], "tasks": ["REQUIREMENTS", "DESIGN"],
                        "coding": ["REQUIREMENTS", "DESIGN", "TASKS"], "review": ["REQUIREMENTS"]}.items():
        opening = texts[phase][1]["content"]
        assert [word for word in ("REQUIREMENTS", "DESIGN", "TASKS") if f"THE {word}" in opening] == read
    assert all([message["role"] for message in messages][:2] == ["system", "user"] for messages in texts.values())


def test_the_chain_and_one_call_are_asked_the_same() -> None:
    """So that the chain's first draft is no worse than one call: words of its own cost it files and typed lines."""
    values: dict[str, Any] = {"task": "Count.", "language": "Python", "modality": "Command-line application",
                              "design": None, "interface": None, "trial": None, "commands": [], "promised": [],
                              "given": None, "software": {}, "sizes": Sizes(program="small")}
    asked = {render(load_company(company).phases["coding"].opening, values, company).strip()
             for company in ("chatdev", "single")}
    assert len(asked) == 1
