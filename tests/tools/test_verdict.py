"""A verdict can be written as plain JSON values and read again."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ToolError
from chatdev.tools.base import Verdict

FIELDS = {"passed", "report", "score", "judged", "examples"}
PLAIN = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                     lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
VERDICTS = st.builds(
    Verdict, passed=st.booleans(), report=st.text(), score=st.floats(allow_nan=False) | st.integers(),
    evidence=st.dictionaries(st.text().filter(lambda name: name not in FIELDS), PLAIN, max_size=4),
    judged=st.booleans(),
    examples=st.none() | st.integers(1, 9).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))


@given(VERDICTS)
def test_a_verdict_survives_being_written_as_json_and_read(verdict: Verdict) -> None:
    written = json.dumps(verdict.to_dict())
    read = Verdict.from_value(json.loads(written))
    assert read == verdict
    assert json.dumps(read.to_dict()) == written  # the order and the kinds of the values, too


@given(PLAIN)
def test_any_plain_value_is_a_verdict_or_a_tool_error(value: object) -> None:
    try:
        verdict = Verdict.from_value(value)
    except ToolError:
        return
    assert isinstance(value, dict)
    assert verdict.to_dict().items() >= value.items()


@pytest.mark.parametrize(("passed", "score"), [(True, 1.0), (False, 0.0)])
def test_a_verdict_without_score_is_worth_whether_it_passed(passed: bool, score: float) -> None:
    verdict = Verdict.from_value({"passed": passed, "report": "text", "errors": 2})
    assert verdict == Verdict(passed, "text", score, {"errors": 2}, judged=True)


def test_a_verdict_counts_the_examples_only_where_there_are_some() -> None:
    assert Verdict(True, "").to_dict().keys() == {"passed", "report", "score", "judged"}
    assert Verdict(True, "", examples=(1, 3)).to_dict()["examples"] == {"passed": 1, "of": 3}


def test_reading_leaves_the_value_as_it_was() -> None:
    value = {"passed": True, "report": "", "score": 1, "judged": True, "rule": "ok"}
    Verdict.from_value(value)
    assert value == {"passed": True, "report": "", "score": 1, "judged": True, "rule": "ok"}


@pytest.mark.parametrize(("value", "text"), [
    ("fine", "a verdict is needed, with `passed` and `report`; the tool returned 'fine'"),
    (None, "a verdict is needed, with `passed` and `report`; the tool returned None"),
    ({}, "a verdict needs `passed` (true or false), and the tool returned one without it"),
    ({"result": 3}, "a verdict needs `passed` (true or false), and the tool returned one without it"),
    ({"passed": True, "score": 1}, "a verdict needs `report` (a text), and the tool returned one without it"),
    ({"passed": 1, "report": ""}, "`passed` of a verdict is true or false; the tool returned 1"),
    ({"passed": True, "report": None}, "`report` of a verdict is a text; the tool returned None"),
    ({"passed": True, "report": "", "score": "high"}, "`score` of a verdict is a number; the tool returned 'high'"),
    ({"passed": True, "report": "", "score": True}, "`score` of a verdict is a number; the tool returned True"),
    ({"passed": True, "report": "", "examples": 3},
     "`examples` of a verdict is how many hold, of how many: {passed: 2, of: 3}; the tool returned 3"),
    ({"passed": True, "report": "", "examples": {"passed": 4, "of": 3}},
     "`examples` of a verdict is how many hold, of how many: {passed: 2, of: 3}; "
     "the tool returned {'passed': 4, 'of': 3}"),
    ({"passed": True, "report": "", "judged": "no"}, "`judged` of a verdict is true or false; the tool returned 'no'"),
])
def test_what_is_no_verdict_is_refused_and_named(value: object, text: str) -> None:
    with pytest.raises(ToolError) as error:
        Verdict.from_value(value)
    assert str(error.value) == text
