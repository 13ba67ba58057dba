"""A reply cut by the length limit is joined with its continuation."""

from typing import Any

import pytest

from chatdev.replies.utterance import cut_circles, drop_new_thought, goes_in_circles, join_continuation, strip_thoughts
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import Scripted


@pytest.mark.parametrize(("start", "rest", "whole"), [
    ("main.py\n```python\nprint(", "'hi')\n```\n", "main.py\n```python\nprint('hi')\n```\n"),
    ("main.py\n```python\nx = 1\n", "```python\ny = 2\n```\n", "main.py\n```python\nx = 1\ny = 2\n```\n"),
    ("main.py\n```python\ndef save(self):\n    return self", "    return self.items\n```",
     "main.py\n```python\ndef save(self):\n    return self.items\n```"),
    ("A sentence that", " goes on.", "A sentence that goes on."),
    ("main.py\n```python\nx = 1\n", "```\nDone.\n", "main.py\n```python\nx = 1\n```\nDone.\n"),
    ("main.py\n```python\nx = 1\n", "```\ny = 2\n```\n", "main.py\n```python\nx = 1\ny = 2\n```\n"),
    ('main.py\n```python\ndef f():\n    """Do.\n```\nf()\n', '```python\n```\n    """\n```\n',
     'main.py\n```python\ndef f():\n    """Do.\n```\nf()\n```\n    """\n```\n'),
    ("README.md\n```markdown\n# X\n", "```bash\nls\n```\n```\n",
     "README.md\n```markdown\n# X\n```bash\nls\n```\n```\n"),
    ("Done:\n```python\nx\n```\nand then", "```python\ny\n```", "Done:\n```python\nx\n```\nand then```python\ny\n```"),
])
def test_what_the_model_repeats_or_opens_again_is_left_out(start: str, rest: str, whole: str) -> None:
    assert join_continuation(start, rest) == whole


CODE = "main.py\n```python\nprint("


@pytest.mark.parametrize(("start", "rest", "whole"), [
    (f"<think>plan</think>{CODE}", "<think>I go on.</think>'b')\n```\n", f"{CODE}'b')\n```"),
    (f"<think>plan</think>{CODE}\n", "<think>\nI go on.\n</think>\n\n    'b')\n```\n", f"{CODE}\n    'b')\n```"),
    (f"plan</think>{CODE}", "I go on.\n</think>\n\n'b')\n```\n", f"{CODE}'b')\n```"),
    ("<think>a long", " plan</think>Ada", "Ada"),
    ("<think>a long", "<think> plan</think>Ada", "Ada"),
    ("a long", " plan</think>Ada", "Ada"),
    (f"<think>plan</think>{CODE}", "<think>I go on, and on", CODE.strip()),
    (f"{CODE}'</think>', ", "'<p>', '</think>')\n```", f"{CODE}'</think>', '<p>', '</think>')\n```"),
    ("One.", "\n\nTwo.", "One.\n\nTwo."),
])
def test_what_a_model_thinks_before_it_goes_on_is_no_part_of_its_reply(start: str, rest: str, whole: str) -> None:
    assert strip_thoughts(join_continuation(start, drop_new_thought(start, rest))) == whole


def test_a_model_that_thinks_each_time_may_be_cut_within_a_file(studio: Studio) -> None:
    start, thought = f"<think>plan</think><SOLUTION>\n{CODE}", "<think>Where was I?</think>\n"
    run = studio.run(studio.company({"write": WRITE}), {
        "write#1/round-1/assistant": Scripted(start, finish_reason="length"),
        "write#1/round-1/assistant/more-1": Scripted(f"{thought}'b'", finish_reason="length"),
        "write#1/round-1/assistant/more-2": f"{thought}, 'c')\n```\n"})
    assert run.software.text("main.py") == "print('b', 'c')\n"


SMALL = {"name": "qwen2.5-coder-1.5b-instruct"}


@pytest.mark.parametrize(("model", "limit", "places"), [
    (SMALL, 400, []), ({}, None, ["write#1/round-2/instructor/more-1"]),
])
def test_an_instruction_with_a_limit_of_its_model_is_not_continued(
        studio: Studio, model: dict[str, Any], limit: int | None, places: list[str]) -> None:
    cut = Scripted("Name the function. It has to count, and", finish_reason="length")
    studio.run(studio.company({"write": {**WRITE, "model": model}}), {
        "write#1/round-1/assistant": program(), "write#1/round-2/instructor": cut,
        "write#1/round-2/instructor/more-1": "And so on.",
        "write#1/round-2/assistant": f"<SOLUTION>\n{program('print(2)')}"})
    assert studio.request("write#1/round-2/instructor").body.get("max_tokens") == limit
    assert [place for place in studio.places if "/more-" in place] == places
    assert "Name the function." in studio.said("write#1/round-2/assistant")


LINE = "- And this line of the manual is said once more, word for word.\n"
CIRCLES = Scripted("<SOLUTION>\n" + program() + LINE * 9, finish_reason="length")


def test_a_reply_that_goes_in_circles_is_asked_for_afresh_and_warmer(studio: Studio) -> None:
    run = studio.run(studio.company({"write": {**WRITE, "model": {"temperature": 0.2}}}), {
        "write#1/round-1/assistant": CIRCLES, "write#1/round-1/assistant/again-1": CIRCLES,
        "write#1/round-1/assistant/again-2": f"<SOLUTION>\n{program('print(2)')}"})
    assert studio.places == ["write#1/round-1/assistant", *(f"write#1/round-1/assistant/again-{n}" for n in (1, 2))]
    assert [studio.request(place).body["temperature"] for place in studio.places] == [0.2, 0.6, 1.0]
    assert "said once more" not in studio.said("write#1/round-1/assistant/again-2")
    assert run.software.text("main.py") == "print(2)\n"


def test_circles_are_left_out_of_a_reply_that_never_gets_out_of_them(studio: Studio) -> None:
    run = studio.run(studio.company({"write": WRITE}), {
        "write#1/round-1/assistant": CIRCLES, "write#1/round-1/assistant/again-1": CIRCLES,
        "write#1/round-1/assistant/again-2": CIRCLES})
    assert run.software
    assert len(studio.places) == 3
    assert cut_circles(LINE * 9) == LINE
    assert not goes_in_circles("Four words, said once. " * 2)


TABLE = "".join(f"    ({number}, {number * number}, {number ** 3}),\n" for number in range(40))


def test_a_reply_that_counts_on_is_asked_for_afresh_once_and_then_meant(studio: Studio) -> None:
    cut = Scripted(f"<SOLUTION>\nmain.py\n```python\nPOWERS = [\n{TABLE}", finish_reason="length")
    run = studio.run(studio.company({"write": WRITE}), {
        "write#1/round-1/assistant": cut, "write#1/round-1/assistant/again-1": cut,
        "write#1/round-1/assistant/more-1": "]\n```\n"})
    assert studio.places == [f"write#1/round-1/assistant{more}" for more in ("", "/again-1", "/more-1")]
    assert run.software.text("main.py") == f"POWERS = [\n{TABLE}]\n"


def test_a_reply_that_still_counts_on_is_not_continued_any_more(studio: Studio) -> None:
    cut, rest = (Scripted(text, finish_reason="length") for text in (f"<SOLUTION>\n{program()}{TABLE}", TABLE))
    studio.run(studio.company({"write": WRITE}), {
        "write#1/round-1/assistant": cut, "write#1/round-1/assistant/again-1": cut,
        "write#1/round-1/assistant/more-1": rest})
    assert studio.places == [f"write#1/round-1/assistant{more}" for more in ("", "/again-1", "/more-1")]
