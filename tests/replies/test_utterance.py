"""Markers and thoughts in the shapes that models send."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.phases import QUESTION_MARKER, SOLUTION_MARKER
from chatdev.replies import Marked, read_marker, strip_thoughts


@pytest.mark.parametrize("text", [
    "<SOLUTION> Application",
    "<SOLUTION>Application",
    "<OLUTION>\nApplication",
    "< SOLUTION > Application",
    "<solution>\nApplication",
    "\n\n  <SOLUTION> Application",
    "- <SOLUTION> Application",
    "1. <SOLUTION> Application",
    "**<SOLUTION>** Application",
    "**<SOLUTION>**: Application",
    "**<SOLUTION>:** Application",
    "**<SOLUTION> Application**",
    "`<SOLUTION>` Application",
    "## <SOLUTION>\n\nApplication",
    "<SOLUTION>: Application",
    "<SOLUTION>：Application",
    "＜SOLUTION＞ Application",
    "《SOLUTION》Application",
    "<SOLUTION>Application</SOLUTION>",
    "<SOLUTION>\nApplication\n</SOLUTION>\n",
    "< SOLUTION> Application</ SOLUTION>",
    "<SOLUTION/> Application",
    "<SOLUTION> Application </solution> because it is asked for",
    "We talked about it.\n\n<SOLUTION> Application",
    "We talked about it.\n**<SOLUTION>** Application\n",
    "Application\n<SOLUTION>",
    "Application\n\n<SOLUTION>\n\n",
])
def test_the_solution_marker_is_read_leniently(text: str) -> None:
    assert read_marker(text) == Marked("solution", "Application")


@pytest.mark.parametrize("text", ["<QUESTION> JSON or SQLite?", "** < question > ** JSON or SQLite?",
                                  "<QUESTION>\nJSON or SQLite?\n</QUESTION>"])
def test_the_question_marker_is_read_leniently(text: str) -> None:
    assert read_marker(text) == Marked("question", "JSON or SQLite?")


@pytest.mark.parametrize("text", [
    "",
    "Application",
    "I would say <SOLUTION> Application is right",
    "Here it comes:\n<SOLUTION> Application\nor so",
    "Some lead-in\n<QUESTION> JSON or SQLite?",
    "```\n<SOLUTION> Application\n```",
    "Send it as\n```\nmain.py\n<SOLUTION>",
    "<SOLUTIONS> Application",
    "SOLUTION Application",
    "Solution",
])
def test_other_texts_carry_no_marker_and_stay_as_they_are(text: str) -> None:
    assert read_marker(text) == Marked(None, text)


@pytest.mark.parametrize("text", ["<SOLUTION>", "SOLUTION", "**SOLUTION**\n", " [SOLUTION]", "SOLUTION."])
def test_a_lone_marker_accepts_what_stands(text: str) -> None:
    assert read_marker(text) == Marked("solution", "")


def test_emphasis_after_the_marker_belongs_to_the_body() -> None:
    assert read_marker("<SOLUTION> **main.py**\n```python\nx\n```").body == "**main.py**\n```python\nx\n```"
    assert read_marker("<SOLUTION>\n```python\nx\n```").body == "```python\nx\n```"


def test_files_before_a_marker_on_the_last_line_are_the_solution() -> None:
    files = "main.py\n```python\nx = 1\n```"
    assert read_marker(f"{files}\n<SOLUTION> Finished").body == f"{files}\nFinished"


def test_a_closing_tag_in_code_stays() -> None:
    body = "main.py\n```python\nprint('</SOLUTION>')\n```"
    assert read_marker(f"<SOLUTION>\n{body}\n</SOLUTION>") == Marked("solution", body)


OTHER_THOUGHTS = [
    ("[THINK]hm[/THINK]yes", "yes"), ("<thought>hm\n</thought>\nyes", "yes"),
    ("\n<seed:think>hm</seed:think>yes", "yes"), ("◁think▷hm◁/think▷yes", "yes"), ("[THINK]hm", ""),
    ("say [THINK]hm[/THINK]", "say [THINK]hm[/THINK]"),
    ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>", "yes"),
    ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>commentary to=functions.look<|message|>{}",
     "<|channel|>commentary to=functions.look<|message|>{}")]


@pytest.mark.parametrize(("text", "answer"), OTHER_THOUGHTS)
def test_thoughts_in_the_tags_of_other_models_are_taken_away(text: str, answer: str) -> None:
    assert strip_thoughts(text) == answer
    assert strip_thoughts(text, semantics=6) == text, "as in a run that began before"


@pytest.mark.parametrize(("text", "answer"), [
    ("<think>hm</think>Yes", "Yes"),
    ("<think>\nhm\n```python\nx\n```\n</think>\n\nYes", "Yes"),
    ("<thinking>hm</thinking>\nYes", "Yes"),
    ("<THINK>hm</THINK>\nYes", "Yes"),
    ("<think></think><think>b</think> Yes", "Yes"),
    ("hm, let me see\n</think>\nYes", "Yes"),
    ("<think>never finished", ""),
    ("Yes\n<think>was that right?</think>\nand more", "Yes\n\nand more"),
])
def test_thoughts_are_removed(text: str, answer: str) -> None:
    assert strip_thoughts(text) == answer


@pytest.mark.parametrize("text", [
    "Use the `<think>` tag, then `</think>`.",
    "main.py\n```python\nprint('<think>')\n# </think>\n```\n",
    "main.py\n```python\n<think>\n</think>\n```\n",
    "plain",
])
def test_tags_in_code_and_plain_texts_stay(text: str) -> None:
    assert strip_thoughts(text).strip() == text.strip()


@given(st.text(alphabet="<>/thinkSOLUTION `\n*:a"))
def test_no_text_makes_them_fail(text: str) -> None:
    read_marker(strip_thoughts(text))


@given(st.sampled_from([SOLUTION_MARKER, QUESTION_MARKER]), st.text(alphabet="abc .,\n", min_size=1))
def test_what_follows_a_marker_is_the_body(marker: str, body: str) -> None:
    assert read_marker(f"{marker} {body}").body == body.strip()
