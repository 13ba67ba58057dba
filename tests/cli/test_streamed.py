"""`--stream`: what a person reads of replies while they are written."""

from __future__ import annotations

import json
import textwrap

from tests.engine.studio import ROLES, TALK, WRITE, Studio, program
from tests.support.chat_server import Scripted
from tests.support.shop import BETTER, FIRST, SECOND, Shop

CIRCLES = Scripted("<SOLUTION>\n" + program() + "- This line of the manual is said once more, word for word.\n" * 9,
                   finish_reason="length")
ACTION = '```json\n{"tool": "software.complete", "arguments": {}}\n```'
AFRESH = "\n  (this reply is not used; asking again)\n"


def indent(shown: str) -> str:
    """What is shown of a reply, with the indentation that its lines get behind the speaker's."""
    speaker, text = shown.split("Maker\n")
    return f"{speaker}Maker\n{textwrap.indent(text, '    ')}"


def test_streamed_text_is_printed_once(shop: Shop) -> None:
    shop.replies(second="<SOLUTION>\nThis is better than it was before.\n" + BETTER)
    outcome = shop.run("--stream")
    outcome.assert_succeeded()
    assert outcome.out.count("This is better than it was before.") == 1
    assert outcome.out.count("print('hello')") == 1
    assert all(request.body["stream"] for request in shop.server.requests)


def test_a_streamed_text_that_broke_off_is_said_to_begin_anew(shop: Shop) -> None:
    whole = "<SOLUTION>\nThis is better than it was before.\n" + BETTER
    shop.replies(second=[Scripted(whole, cut=900), whole])
    outcome = shop.run("--stream")
    outcome.assert_succeeded()
    before, after = outcome.out.split("\n  (the connection broke; asking again)\n")
    heard = before.rpartition("  Maker\n")[2].replace("\n    ", "\n").strip()
    assert heard
    assert whole.startswith(heard)
    assert "print('better')" not in before
    assert after.count("  Maker\n    <SOLUTION>\n    This is better than it was before.") == 1


def test_pieces_that_are_void_are_marked_for_machines(shop: Shop) -> None:
    shop.replies(second=[Scripted(BETTER, cut=900), BETTER])
    outcome = shop.run("--stream", "--json")
    pieces = [event for event in map(json.loads, outcome.out.splitlines()) if event["kind"] == "TextStreamed"]
    (void,) = [n for n, piece in enumerate(pieces) if piece["again"]]
    assert "".join(piece["text"] for piece in pieces[void:]) == BETTER
    assert pieces[void]["place"] == SECOND


def test_a_reply_in_circles_is_called_unused_and_the_real_one_is_shown(shop: Shop) -> None:
    shop.company = Studio(shop.folder, shop.server).company({"write": WRITE})
    shop.route({FIRST: CIRCLES, f"{FIRST}/again-1": CIRCLES, f"{FIRST}/again-2": BETTER})
    outcome = shop.run("--stream")
    outcome.assert_succeeded()
    *unused, used = outcome.out.split(AFRESH)
    assert ["said once more" in text for text in unused] == [True, True]
    assert used.startswith(indent(f"\n  Maker\n{BETTER}"))
    assert used.count("print('better')") == 1


def test_a_continuation_follows_what_it_continues(shop: Shop) -> None:
    shop.company = Studio(shop.folder, shop.server).company({"write": WRITE})
    cut = Scripted(BETTER[:40], finish_reason="length")
    shop.route({FIRST: CIRCLES, f"{FIRST}/again-1": cut, f"{FIRST}/more-1": BETTER[40:]})
    outcome = shop.run("--stream")
    outcome.assert_succeeded()
    _, used = outcome.out.split(AFRESH)
    assert used.startswith(indent(f"\n  Maker\n{BETTER}"))


def test_the_answer_of_one_who_called_a_tool_instead_is_shown(shop: Shop) -> None:
    roles = {**ROLES, "maker": {**ROLES["maker"], "tools": ["software.complete"]}}
    shop.company = Studio(shop.folder, shop.server).company({"talk": {**TALK, "tool_calls": 1}}, roles=roles)
    at = "talk#1/round-1/assistant"
    shop.route({at: ACTION, f"{at}/act-1": f"Once more. {ACTION}", f"{at}/act-1/answer": "<SOLUTION> Ada Lovelace"})
    outcome = shop.run("--stream")
    assert f"{AFRESH}\n  Maker\n    <SOLUTION> Ada Lovelace\n" in outcome.out
    assert outcome.out.count("Ada Lovelace") == 2, "as it is said, and as what the step leaves"
    assert outcome.out.index("Once more.") < outcome.out.index(AFRESH)
