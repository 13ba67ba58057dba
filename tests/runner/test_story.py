"""What a run's events tell a person: names of steps, their endings, and errors with their places."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.events import (
    DeliveryApplied,
    DeliveryRefused,
    DraftJudged,
    Event,
    ModelCalled,
    PersonAnswered,
    PersonAsked,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunStarted,
    ToolCalled,
    Uttered,
)
from chatdev.runner.story import (
    RunStory,
    StepStory,
    describe_attempts,
    describe_ending,
    located_error,
    news_of,
    title_of,
)
from chatdev.safe_text import describe_value

AT = "coding#1/round-1/assistant"


@pytest.mark.parametrize(("place", "title"), [
    ("code_review#1", "Code review"), ("DemandAnalysis#1", "Demand analysis"), ("software.use#2", "Use"),
    ("coding#2", "Coding, again"), ("coding#3", "Coding, time 3"),
    ("repeat#1/pass-2/locate_fault#1", "Locate fault, pass 2"),
    ("repeat#1/pass-1/check#1", "Check"), ("foreach#1/item-mux/coding#1", "Coding, mux"),
    ("parallel#1/branch-2/manual#1/round-1/assistant", "Manual"), ("own_test", "Own test"),
    ("FSMDesign#1", "FSM design"),
    ("写#1", "写"), ("", "")])
def test_a_step_has_a_name_that_can_be_read(place: str, title: str) -> None:
    assert title_of(place) == title


@pytest.mark.parametrize(("report", "error"), [
    ("It crashed.\nWhere it happened:\n  main.py:2 in <module>\n      import x\n  ImportError: no x\nfoo",
     "main.py:2  ImportError: no x"),
    ('Traceback (most recent call last):\n  File "main.py", line 9, in <module>\n    run()\n  File "app/run.py", '
     "line 3, in run\n    1 / 0\nZeroDivisionError: division by zero",
     "app/run.py:3  ZeroDivisionError: division by zero"),
    ('  File "main.py", line 1\n    def (\n        ^\nSyntaxError: invalid syntax',
     "main.py:1  SyntaxError: invalid syntax"),
    ("main.c:1:25: error: \u2018x\u2019 undeclared", "main.c:1  error: \u2018x\u2019 undeclared"),
    ("It does not compile.\n\ntop.sv:3: syntax error\nI give up.", "top.sv:3  syntax error"),
    ("/app/main.js:3\n  throw new TypeError('x')\n\nTypeError: x\n    at foo (/app/main.js:3:5)",
     "/app/main.js:3  TypeError: x"),
    ('Exception in thread "main" java.lang.ArithmeticException: / by zero\n\tat Main.main(Main.java:3)',
     "Main.java:3  java.lang.ArithmeticException: / by zero"),
    ("asyncio.exceptions.CancelledError", "asyncio.exceptions.CancelledError"),
    ("2112 of 16362 samples do not match.\nOutput `busy`: 718 mismatches", ""), ("", ""), ("It starts at 10:30.", "")])
def test_an_error_is_told_with_its_place(report: str, error: str) -> None:
    assert located_error(report) == error


def test_without_an_error_the_next_paragraph_is_the_news() -> None:
    assert news_of("It fails.\n\n$ python main.py\nwanted: 1\nseen: 2\n\n$ more") == (
        "It fails.", "$ python main.py\nwanted: 1\nseen: 2")
    assert news_of("main.py was mended:\nadded: import sys\nand so on") == (
        "main.py was mended: added: import sys", "and so on")
    assert news_of("") == ("", "")
    assert news_of("main.c:1:25: error: no x") == ("main.c:1:25: error: no x", "main.c:1  error: no x")


@given(st.text(alphabet=st.sampled_from(list("a.:/ \\n\t1\"'File line,ErorException<>-^()é\u202e")), max_size=300))
def test_no_report_is_too_odd_to_be_read(report: str) -> None:
    head, more = news_of(report)
    assert len(head) + len(more) <= 2 * len(report) + 20


def test_a_hostile_report_costs_no_time() -> None:
    began = time.monotonic()
    for text in ("a." * 200_000, "A" * 500_000 + "Error", (" " * 900 + "x\n") * 5000, ("a/" * 400 + ":1\n") * 5000):
        located_error(text)
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(("value", "name", "told"), [
    ("Python\nmore", "", "Python"), ([], "x", "none"), ([1], "commands", "1 entry"), ([1, 2], "commands", "2 commands"),
    ([1, 2], "test_plan", "2 entries"), ({"a": 1, "tasks": [1, 2], "on": True}, "", "a: 1, 2 tasks, on: true"),
    (None, "", "null"), ("x" * 500, "", "x" * 118 + " …"), ("\n \n", "", "")])
def test_a_value_is_told_in_a_few_words(value: object, name: str, told: str) -> None:
    assert describe_value(value, name) == told


def story_of(*events: Event) -> tuple[RunStory, StepStory]:
    story = RunStory()
    for event in (RunStarted("", "c", "n", "f", {}, ("plan", "coding")),
                  PhaseStarted("coding#1", "coding", "Write.", "Chief", "Programmer", 3), *events):
        story.add(event)
    return story, story.told[-1]


def test_a_phase_tells_what_it_left_and_what_it_took() -> None:
    story, step = story_of(
        ModelCalled(AT, "programmer", "m", 10, 5, 1.5, cost=0.25, replayed=True),
        DeliveryApplied(AT, ("main.py", "old.py"), lines=(4, 2)),
        DeliveryApplied(AT, ("main.py",), ("old.py",), lines=(6,)),
        PhaseFinished("coding#1", "coding", "rounds", 1, 1))
    assert (step.what, step.who, step.number, step.usage.calls, step.usage.seconds) == (
        "main.py 6  −old.py", "Programmer", 2, 1, 1.5)
    assert (story.steps, story.open) == ([step], {})
    assert describe_ending(step) == "done"


def test_what_is_not_kept_has_no_verdict_that_counts() -> None:
    guard = f"{AT}/guard"
    _, refused = story_of(ToolCalled("coding#1/guard-0", "t", 1, True, "fine"),
                          ToolCalled(guard, "t", 1, False, "worse"),
                          DeliveryRefused(AT, "worse"), PhaseFinished("coding#1", "coding", "consensus", 2, 2))
    assert refused.passed is None
    _, drafts = story_of(
        ToolCalled(guard, "t", 1, True, "first"), DraftJudged(AT, 1, 2, 1.0, True, chosen=True),
        ToolCalled(f"{AT}/draft-2/guard", "t", 1, False, "second"), DraftJudged(f"{AT}/draft-2", 2, 2, 0.0, False),
        PhaseFinished("coding#1", "coding", "delivered", 1, 2))
    assert drafts.passed is not False
    assert list(describe_attempts([drafts])) == ["Coding (2 drafts)"]


def test_an_agreement_that_a_check_refuses_is_none() -> None:
    _, step = story_of(ToolCalled(f"{AT}/feedback", "t", 1, False, "crash"),
                       PhaseFinished("coding#1", "coding", "consensus", 2, 2))
    assert describe_ending(step) == "the check still fails after 2 rounds"


def test_a_run_that_breaks_off_failed_in_the_step_under_way() -> None:
    story, step = story_of(Uttered(f"{AT}/x", "instruction", "instructor", "Chief", "Do it.", 1),
                           RunFinished("", "error", "no model", 1.0))
    assert story.failed_step is step
    assert describe_ending(step) == "not finished"
    assert step.who == "Chief → Programmer"


def test_who_waits_for_a_person_says_so() -> None:
    _, step = story_of(PersonAsked(AT, "1"))
    assert step.waits
    _, step = story_of(PersonAsked(AT, "1"), PersonAnswered(AT, "1"))
    assert not step.waits
