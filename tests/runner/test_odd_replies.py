"""Replies that are no failure of the server but no good either: what was asked is got from them, or nothing is."""

from __future__ import annotations

import pytest

from tests.engine.studio import program
from tests.support.chat_server import Scripted
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Shop

HALF = "main.py\n```python\ndef greet():\n    print('bet"
REST = "ter')\n\ngreet()\n```\n"


def test_half_a_code_block_is_continued_when_the_length_limit_cut_it(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: Scripted("<SOLUTION>\n" + HALF, finish_reason="length"),
                f"{SECOND}/more-1": REST})
    outcome = shop.run()
    outcome.assert_succeeded()
    assert outcome.software.text("main.py") == "def greet():\n    print('better')\n\ngreet()\n"


def test_half_a_code_block_is_never_stored(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: "<SOLUTION>\n" + HALF, f"{SECOND}/retry-1": BETTER})
    outcome = shop.run()
    outcome.assert_succeeded()
    assert outcome.software.text("main.py") == "print('better')\n"


def test_two_megabytes_of_chatter_are_no_solution_but_the_next_reply_is(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: "word " * 400_000, f"{SECOND}/retry-1": BETTER})
    outcome = shop.run()
    outcome.assert_succeeded()
    assert outcome.software.text("main.py") == "print('better')\n"
    assert len(outcome.out) < 20_000


def test_two_megabytes_of_program_are_too_much_and_the_assistant_is_told(shop: Shop) -> None:
    huge = program("print('better')\n" + "# filler\n" * 220_000)
    shop.route({FIRST: HELLO, SECOND: "<SOLUTION>\n" + huge, f"{SECOND}/retry-1": BETTER})
    outcome = shop.run("--dialogue")
    outcome.assert_succeeded()
    assert "larger than 1024 KiB" in outcome.out
    assert outcome.software.text("main.py") == "print('better')\n"


MARKERS = ["< solution >", "**<SOLUTION>**", "  <Solution>", "＜SOLUTION＞", "<SOLUTION></SOLUTION>"]


@pytest.mark.parametrize("marker", MARKERS)
def test_markers_that_are_nearly_right_conclude(shop: Shop, marker: str) -> None:
    shop.route({FIRST: HELLO, SECOND: f"{marker}\n{program('print(1)')}"})
    outcome = shop.run()
    outcome.assert_succeeded()
    assert outcome.events("PhaseFinished")[-1]["ending"] == "consensus"


def test_without_any_marker_the_rounds_end_the_phase(shop: Shop) -> None:
    shop.server.route(lambda request: HELLO if request.headers["X-ChatDev-Phase"] == "write" else program(
        f"print({len(shop.server.requests)})") if request.headers["X-ChatDev-Role"] == "maker" else "Make it better.")
    outcome = shop.run("--set", "phases.change.rounds=3")
    outcome.assert_succeeded()
    assert outcome.events("PhaseFinished")[-1]["ending"] == "rounds"
    assert outcome.events("PhaseFinished")[-1]["rounds"] == 3


def test_talk_without_a_solution_ends_the_run_without_success(shop: Shop) -> None:
    shop.server.route(lambda request: HELLO if request.headers["X-ChatDev-Phase"] == "write" else "Nice weather.")
    outcome = shop.run("--set", "phases.change.rounds=2", "--set", "phases.change.on_no_solution=fail")
    outcome.assert_stopped(1, "change#1", "ended without a solution")


def test_thoughts_are_kept_in_the_journal_and_seen_by_nobody_else(shop: Shop) -> None:
    thought = "<think>secretly\n<SOLUTION>\n" + program("print('no')") + "</think>"
    shop.route({FIRST: HELLO, SECOND: thought + BETTER})
    outcome = shop.run()
    outcome.assert_succeeded()
    assert outcome.software.text("main.py") == "print('better')\n"
    assert "secretly" not in outcome.out + outcome.report
    (activity,) = [record for record in outcome.events("Activity") if record["place"] == SECOND]
    assert "secretly" in activity["result"]["text"]


def test_half_a_character_does_not_stop_the_run(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: "see \ud800", f"{SECOND}/retry-1": BETTER})
    shop.run().assert_succeeded()
