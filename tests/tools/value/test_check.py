"""`value.check`: a company that writes no software can say what success is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ToolError
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict
from chatdev.tools.value.check import check


def judge(least_words: Any = None, **values: Any) -> Verdict:
    inputs = {"least_words": least_words}
    verdict = check.call(ToolContext({}, values, inputs, find_sandbox("none"), Path(), Path()), {})
    assert isinstance(verdict, Verdict)
    return verdict


@pytest.mark.parametrize(("values", "report"), [
    ({"slogan": "Sleep on it."}, "`slogan` is there (3 words)."),
    ({"name": "Glow"}, "`name` is there (1 word)."),
    ({"names": ["Glow", "Ember light"]}, "`names` is there (3 words)."),
    ({"plan": {"first": "think", "then": ["do", ""]}}, "`plan` is there (2 words)."),
    ({"count": 0}, "`count` is there (1 word)."),
    ({"agreed": False}, "`agreed` is there (1 word)."),
    ({"slogan": "Sleep on it.", "least_words": "3"}, "`slogan` is there (3 words)."),
    ({"slogan": "Sleep on it.", "least_words": 2}, "`slogan` is there (3 words)."),
    ({"slogan": "Sleep on it.", "least_words": None, "options": None}, "`slogan` is there (3 words)."),
    ({"colour": " green ", "options": ["red", "green"]}, "`colour` is there (1 word)."),
])
def test_a_value_that_is_there_passes(values: dict[str, Any], report: str) -> None:
    verdict = judge(**values)
    assert (verdict.passed, verdict.judged, verdict.score, verdict.report) == (True, True, 1.0, report)


@pytest.mark.parametrize(("values", "report"), [
    ({}, "There is no value to check: no step has written what this step reads."),
    ({"least_words": "3"}, "There is no value to check: no step has written what this step reads."),
    ({"slogan": " \n"}, "`slogan` is empty."),
    ({"slogan": None}, "`slogan` is empty."),
    ({"names": []}, "`names` is empty."),
    ({"names": ["", " "]}, "`names` is empty."),
    ({"plan": {"first": ""}}, "`plan` is empty."),
    ({"slogan": "Sleep on it.", "least_words": "4"}, "`slogan` has 3 words and needs at least 4."),
    ({"colour": "blue", "options": ["red", "green"]}, "`colour` is 'blue', which is none of: red, green."),
    ({"colour": "Green", "options": ["red", "green"]}, "`colour` is 'Green', which is none of: red, green."),
    ({"colour": "blue", "options": []}, "`colour` is 'blue', which is none of: ."),
])
def test_a_value_that_is_missing_or_too_little_fails(values: dict[str, Any], report: str) -> None:
    verdict = judge(**values)
    assert (verdict.passed, verdict.judged, verdict.report) == (False, True, report)
    assert verdict.score < 1


def test_a_number_of_words_in_long_term_memory_counts_before_the_input() -> None:
    values, inputs = {"text": "one two", "least_words": 3}, {"least_words": "1"}
    context = ToolContext({}, values, inputs, find_sandbox("none"), Path(), Path())
    assert not check.call(context, {}).passed


def test_more_words_are_nearer_to_enough() -> None:
    scores = [judge(text=" ".join(["word"] * words), least_words=3).score for words in range(1, 4)]
    assert scores == sorted(set(scores))


PASSED = Verdict(True, "fine", 1.0).to_dict()
FAILED = Verdict(False, "`slogan` is empty.").to_dict()
UNJUDGED = Verdict(True, "no toolchain", judged=False).to_dict()


@pytest.mark.parametrize(("verdicts", "passed", "judged", "report"), [
    ({"named": PASSED, "described": PASSED}, True, True, "named: fine\ndescribed: fine"),
    ({"named": PASSED, "described": FAILED}, False, True, "named: fine\ndescribed: `slogan` is empty."),
    ({"named": PASSED, "ran": UNJUDGED}, True, False, "named: fine\nran: no toolchain"),
    ({"ran": UNJUDGED, "described": FAILED}, False, True, "ran: no toolchain\ndescribed: `slogan` is empty."),
    ({"named": FAILED}, False, True, "named: `slogan` is empty."),
])
def test_of_several_verdicts_all_must_have_passed(verdicts: dict[str, Any], passed: bool, judged: bool,
                                                  report: str) -> None:
    verdict = judge(**verdicts)
    assert (verdict.passed, verdict.judged, verdict.report) == (passed, judged, report)


@pytest.mark.parametrize(("values", "text"), [
    ({"name": "Glow", "slogan": "Sleep on it."}, "checks one value, or several verdicts; this step reads name, slogan"),
    ({"name": "Glow", "tested": PASSED}, "Give each value a step of its own"),
    ({"name": "Glow", "least_words": "many"}, "`least_words` is 'many'; it must be a number"),
    ({"name": "Glow", "options": "red, green"}, "`options` is 'red, green'; it must be a list"),
])
def test_what_it_cannot_check_is_refused_with_the_fix(values: dict[str, Any], text: str) -> None:
    with pytest.raises(ToolError, match=text):
        judge(**values)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8))
def test_any_plain_value_is_judged(value: object) -> None:
    verdict = judge(value=value)
    assert verdict.passed or "empty" in verdict.report
