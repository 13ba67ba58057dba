"""What is read from journals: who says how much code, what reviewers name, what tests show."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.evaluation.plots import (
    errors_in_tests,
    issues_in_reviews,
    kind_of_issue,
    newest_session,
    speech,
    transitions,
)


def said(place: str, text: str, utterance: str = "response") -> dict[str, Any]:
    return {"kind": "Uttered", "place": place, "utterance": utterance, "text": text}


def judged(place: str, passed: bool, report: str = "", rule: str = "failed_status") -> dict[str, Any]:
    return {"kind": "Activity", "place": place, "request": {"tool": "software.use"},
            "result": {"value": {"passed": passed, "report": report, "rule": rule}}}


def test_code_is_what_stands_in_fences() -> None:
    records = [said("coding#1/round-1/assistant", "Here:\n```python\nprint(1)\n```\nDone."),
               said("coding#1/round-2/assistant", "~~~~\ncut off"), said("coding#1", "no part of it", "opening")]
    found = speech(records)["coding"]
    assert (found.code, found.language) == (len("print(1)\n") + len("cut off"),
                                            len("Here:\n```python\n```\nDone.") + len("~~~~\n"))
    assert 0 < (found.share_of_language or 0) < 1
    assert speech([]) == {}


@pytest.mark.parametrize(("text", "kind"), [
    ("<SOLUTION>", "no further issue"), ("The module `json` is not imported.", "missing import"),
    ("The function `remove` is missing.", "method not implemented"),
    ("`draw_board` is never called.", "unused or uncalled"),
    ("It does not handle an unknown unit.", "wrong input not handled"),
    ("`mark` should print [x] in front of the task.", "wrong result"),
    ("Add a docstring.", "missing comments"), ("Make it nicer.", "other"),
])
def test_kinds_of_what_reviewers_name(text: str, kind: str) -> None:
    assert kind_of_issue(text) == kind


def test_issues_and_their_transitions_by_execution_of_the_phase() -> None:
    place = "repeat#1/pass-{}/code_review#1/round-{}/instructor"
    records = [said(place.format(1, 1), "The function `f` is missing.", "instruction"),
               said(place.format(1, 2), "<SOLUTION>", "instruction"), said(place.format(1, 2), "not I"),
               said(place.format(2, 1), "Add comments.", "instruction")]
    found = issues_in_reviews(records, "code_review")
    assert found == [["method not implemented", "no further issue"], ["missing comments"]]
    assert transitions(found) == {("method not implemented", "no further issue"): 1}


def test_errors_are_named_by_exception_or_rule() -> None:
    report = "It crashed.\n  main.py:3 in <module>\n  NameError: name 'C' is not defined"
    records = [judged("system_test#1/feedback-0", False, report), judged("system_test#1/round-1", False),
               judged("system_test#1/round-2", True), judged("software.use#2", False, report)]
    assert errors_in_tests(records, "system_test") == [["NameError", "failed_status", "passed"]]


def test_what_is_said_is_counted_for_the_phase_of_its_place() -> None:
    places = ("system_test#1/round-2/assistant", "parallel#1/branch-2/manual#1/round-1/assistant", "")
    assert list(speech([said(place, "Hello.") for place in places])) == ["system_test", "manual", ""]


def test_only_the_newest_session_counts() -> None:
    old, new = said("coding#1/round-1/assistant", "old"), said("coding#1/round-1/assistant", "new")
    assert newest_session([{"kind": "RunStarted"}, old, {"kind": "RunStarted"}, new])[1:] == [new]
