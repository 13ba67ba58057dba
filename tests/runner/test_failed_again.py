"""A tool that fails as it did when that ended the run has its result: no run waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company, Run
from chatdev.errors import MissingProgram, ToolError
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.base import tool as decorate
from tests.engine.studio import CHECK, WRITE, Studio
from tests.support.chat_server import ChatServer
from tests.support.shop import HELLO

Ways = list[BaseException]


@pytest.fixture
def studio(here: Path, chat_server: ChatServer) -> Studio:
    chat_server.route(lambda _: HELLO)
    return Studio(here, chat_server)


def failing(*ways: BaseException | None) -> tuple[Callable[..., Any], list[int]]:
    """A tool that fails in these ways, one after another and then as in the last one, and its calls."""
    calls = [0]

    def look(ctx: ToolContext) -> Verdict:
        """Look at it."""
        calls[0] += 1
        way = ways[min(calls[0], len(ways)) - 1]
        if way is not None:
            raise way
        return Verdict(True, "fine")

    return look, calls


def begin(studio: Studio, tool: Any, chain: list[Any], **write: Any) -> Run:
    company = studio.company({"write": {**WRITE, **write}}, chain, success="test.passed")
    return Company.load(company, tools=[tool]).run("TASK", model="m", base_url=studio.server.url, sandbox="none",
                                                   warehouse="warehouse")


def go_on(studio: Studio, run: Run, tool: Any) -> Run:
    return chatdev.resume(run.folder, tools=[tool], model="m", base_url=studio.server.url, sandbox="none")


LOOK = {"tool": "mine.look", "writes": "seen"}
SAME = ToolError("no good: 10000 words in /tmp/chatdev-a1/x")
ALIKE = ToolError("no good: 10001 words in /tmp/chatdev-b2/x")


@pytest.mark.parametrize("ways", [(SAME,), (SAME, ALIKE), (ValueError("a mistake"),)])
def test_the_second_time_the_chain_goes_on(studio: Studio, ways: Ways) -> None:
    tool, calls = failing(*ways)
    stopped = begin(studio, tool, [{"phase": "write"}, LOOK, CHECK])
    assert stopped.status == "error"
    asked = len(studio.server.requests)
    resumed = go_on(studio, stopped, tool)
    seen = resumed.values["seen"]
    assert (resumed.status, seen["passed"], seen["judged"]) == ("success", False, False)
    assert str(ways[-1]) in seen["report"]
    assert "(to try it again: --from mine.look#1)" in (resumed.folder / "run" / "report.md").read_text(encoding="utf-8")
    assert (calls, len(studio.server.requests)) == ([2], asked)
    replayed = chatdev.replay(resumed.folder, tools=[tool])
    assert (replayed.status, dict(replayed.values)) == (resumed.status, dict(resumed.values))
    assert go_on(studio, resumed, tool).status == "success"
    assert calls == [2], "it is on record"
    again = chatdev.resume(resumed.folder, since="mine.look#1", tools=[failing(None)[0]], model="m",
                           base_url=studio.server.url, sandbox="none")
    assert again.values["seen"]["passed"]


@pytest.mark.parametrize("ways", [(SAME, ToolError("something else")), (MissingProgram("install it"),)])
def test_another_failure_or_a_missing_program_stops_again(studio: Studio, ways: Ways) -> None:
    tool, _ = failing(*ways)
    stopped = begin(studio, tool, [{"phase": "write"}, LOOK, CHECK])
    assert go_on(studio, stopped, tool).status == "error"
    assert go_on(studio, stopped, failing(None)[0]).success


@pytest.mark.parametrize("way", ["feedback", "guard"])
def test_the_pair_of_a_phase_reads_what_failed(studio: Studio, way: str) -> None:
    tool, calls = failing(SAME)
    phase = {way: "mine.look", "rounds": 1, "concludes": "either"}
    stopped = begin(studio, tool, [{"phase": "write"}, CHECK], **phase)
    assert stopped.status == "error"
    runs = [stopped]
    while runs[-1].status == "error" and len(runs) < 9:
        runs.append(go_on(studio, stopped, tool))
    assert runs[-1].success, runs[-1].reason
    assert calls[0] <= 2 * len(runs)
    replayed = chatdev.replay(stopped.folder, tools=[tool])
    assert dict(replayed.software) == dict(runs[-1].software)


def test_a_tool_that_writes_the_software_leaves_it_as_it_is(studio: Studio) -> None:
    tool, _ = failing(SAME)
    made = decorate(writes_files=True, name="mine.look")(tool)
    stopped = begin(studio, made, [{"phase": "write"}, {"tool": "mine.look", "writes": "software"}, CHECK])
    resumed = go_on(studio, stopped, made)
    assert resumed.success, resumed.reason
    assert resumed.software.text("main.py") == "print('hello')\n"
