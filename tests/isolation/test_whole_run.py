"""A program that takes a parser down, delivered in a whole run: the run goes on, and the pair reads why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev import Company
from tests.companies.test_chatdev import GOOD, HAPPY
from tests.isolation.hostile import nested_finally, reader_of
from tests.support.chat_server import ChatServer, Received

MENDED = GOOD + "\nprint(add(3, 4))" * 40  # shorter ones would look like fragments of what was there


@pytest.mark.tool
def test_a_bomb_is_a_failing_verdict_of_the_run(chat_server: ChatServer, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [nested_finally(24)]

    def answer(request: Received) -> Any:
        phase = request.headers["X-ChatDev-Phase"]
        if request.headers["X-ChatDev-Activity"].endswith("coding#1/round-2/instructor"):
            return "Mend what the compiler says."
        if phase == "coding":
            return f"<SOLUTION>\nmain.py\n```python\n{programs.pop() if programs else MENDED}\n```"
        return HAPPY.get(phase)

    chat_server.route(answer)
    with reader_of(monkeypatch):
        run = Company.load("chatdev").run("Add two numbers.", model="m", base_url=chat_server.url, warehouse=tmp_path)
    assert run.success, run.reason
    assert run.software.text("main.py").strip() == MENDED.strip()
    asked = [(request.headers["X-ChatDev-Activity"], str(request.body["messages"])) for request in chat_server.requests]
    told = [place for place, text in asked if "takes too much memory to compile" in text]
    assert told == ["coding#1/round-2/instructor", "coding#1/round-2/assistant"]
