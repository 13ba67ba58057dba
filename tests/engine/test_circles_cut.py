"""A reply that goes in circles is cut while it streams: where the model's profile or the user says that it does."""

from __future__ import annotations

from typing import Any

import pytest

import chatdev
from chatdev.events import ModelCalled, TextStreamed
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import Scripted

SMALL = {**WRITE, "model": {"name": "qwen2.5-coder-1.5b-instruct", "temperature": 0.2}}
LINE = "- And this line of the manual is said once more, word for word.\n"
COUNTED = "- {}. And this line of the manual is said once more, and nothing else is new in it.\n"
CIRCLES = Scripted(f"<SOLUTION>\n{program()}{LINE * 120}", finish_reason="length", usage=(7, 2048))
COUNTS = Scripted(program() + "".join(COUNTED.format(n) for n in range(200)), finish_reason="length", usage=(7, 2048))
DONE = f"<SOLUTION>\n{program('print(2)')}"
FIRST = "write#1/round-1/assistant"


def calls(studio: Studio) -> list[ModelCalled]:
    return [event for event in studio.events if isinstance(event, ModelCalled)]


def test_it_is_cut_counted_and_asked_for_afresh(studio: Studio) -> None:
    run = studio.run(studio.company({"write": SMALL}), {FIRST: CIRCLES, f"{FIRST}/again-1": DONE})
    assert run.software.text("main.py") == "print(2)\n"
    cut, whole = calls(studio)
    assert 100 < cut.completion_tokens < 300
    assert (cut.estimated, whole.estimated) == (True, False)
    assert studio.request(FIRST).body["stream"]
    assert not [event for event in studio.events if isinstance(event, TextStreamed)], "nobody asked to see it"


def test_the_circles_are_left_out_when_it_never_gets_out_of_them(studio: Studio) -> None:
    run = studio.run(studio.company({"write": SMALL}),
                     {FIRST: CIRCLES, f"{FIRST}/again-1": CIRCLES, f"{FIRST}/again-2": CIRCLES})
    assert run.software.text("main.py") == "print('hello')\n"
    assert len(studio.places) == 3


def test_a_count_without_an_end_is_cut_too_and_goes_its_way(studio: Studio) -> None:
    places = [FIRST, f"{FIRST}/again-1", f"{FIRST}/more-1"]
    run = studio.run(studio.company({"write": {**SMALL, "instructor": None}}), dict.fromkeys(places, COUNTS))
    assert run.software
    assert studio.places == places
    assert all(call.completion_tokens < 1000 for call in calls(studio))


@pytest.mark.parametrize("shown", [False, True])
def test_of_another_model_it_is_read_to_its_end_unless_it_is_shown(studio: Studio, shown: bool) -> None:
    run = studio.run(studio.company({"write": {**WRITE, "instructor": None}}),
                     {FIRST: CIRCLES, f"{FIRST}/again-1": DONE}, stream=shown)
    assert run.software.text("main.py") == "print(2)\n"
    assert ("stream" in studio.request(FIRST).body) == shown
    assert (calls(studio)[0].completion_tokens == 2048, calls(studio)[0].estimated) == (not shown, shown)


def test_what_is_shown_is_cut_too(studio: Studio) -> None:
    studio.run(studio.company({"write": SMALL}), {FIRST: CIRCLES, f"{FIRST}/again-1": DONE}, stream=True)
    pieces = "".join(event.text for event in studio.events if isinstance(event, TextStreamed))
    assert 5 < pieces.count(LINE) < 20


@pytest.mark.parametrize("limits", [{"max_tokens": 1500}, {"max_calls": 4}])
def test_a_budget_is_not_blamed_for_the_cut(studio: Studio, limits: dict[str, Any]) -> None:
    run = studio.run(studio.company({"write": SMALL}), {FIRST: CIRCLES, f"{FIRST}/again-1": DONE}, **limits)
    assert run.status == "success", run.reason


def test_a_replay_and_a_resumed_run_have_the_cut_reply(studio: Studio) -> None:
    company = studio.company({"write": SMALL})
    stopped = studio.run(company, {FIRST: CIRCLES, f"{FIRST}/again-1": DONE}, max_calls=1)
    assert stopped.status == "stopped"
    run = chatdev.resume(stopped.folder, keep_budget=False, base_url=studio.server.url, sandbox="none")
    assert run.success
    assert studio.places == [FIRST, f"{FIRST}/again-1"]
    assert chatdev.replay(run.folder).software == run.software
