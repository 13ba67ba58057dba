"""`run/report.md`: everything a person wants to know of a run, from its events."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatdev.engine.budget import money
from chatdev.events import (
    DeliveryApplied,
    DeliveryRefused,
    DraftJudged,
    Event,
    ModelCalled,
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunStarted,
    StepFinished,
    StepSkipped,
    StepStarted,
    ToolCalled,
    Uttered,
)
from chatdev.runner.report import Run, phase_rows, report_markdown
from chatdev.runner.story import RunUsage
from chatdev.workspace.file_tree import Software
from tests.support.chat_server import Scripted
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Shop


def call(place: str, prompt: int, completion: int, cost: float | None = 0.25) -> ModelCalled:
    return ModelCalled(place, "programmer", "m", prompt, completion, 1.5, cost=cost)


def finished(status: str = "success", **fields: object) -> Run:
    run = Run(Path("warehouse/Todo-20260101120000"), Software({"main.py": b"print(1)\nprint(2)\n", "a.bin": b"\0"}))
    run.reason = "the final test passed"
    for name, value in {"status": status, **fields}.items():
        setattr(run, name, value)
    return run


def test_calls_are_counted_for_the_phase_they_were_made_in() -> None:
    events: list[Event] = [
        call("coding#1/round-1/assistant", 10, 1), call("coding#1/round-2/assistant/ask-1", 20, 2),
        PhaseFinished("coding#1", "coding", "consensus", 2, 2),
        call("repeat#1/pass-2/review#3/round-1/instructor", 30, 3),
        PhaseFinished("repeat#1/pass-2/review#3", "review", "rounds", 1, 1),
        call("test#1/reflection-1", 40, 4)]
    rows = phase_rows(events)
    assert {place: (row.usage.calls, row.usage.prompt_tokens, row.ending) for place, row in rows.items()} == {
        "coding#1": (2, 30, "consensus"), "repeat#1/pass-2/review#3": (1, 30, "rounds"),
        "test#1": (1, 40, "unfinished")}


def test_one_unknown_price_makes_the_cost_unknown() -> None:
    usage = RunUsage()
    for cost in (0.25, None, 0.25):
        usage.add(call("a#1/round-1/assistant", 1, 1, cost))
    assert usage.cost is None
    assert money(usage.cost) == "cost unknown"
    assert money(0.5) == "$0.5000"


def test_the_report_tells_the_whole_run() -> None:
    events: list[Event] = [
        RunStarted("", "chatdev", "Todo", "folder", {"task": "a to-do list"}),
        Noted("", "git is not installed", "warning"),
        PhaseStarted("coding#1", "coding", "Write.", None, "Programmer", 3), call("coding#1/round-1/assistant", 10, 1),
        DeliveryRefused("coding#1/round-1/assistant", "it no longer\nstarts"),
        PhaseFinished("coding#1", "coding", "rounds", 3, 1),
        StepSkipped("review#1", "phase", "`not test.passed` does not hold"),
        ToolCalled("software.run#1", "software.run", 1.0, False, "old"),
        ToolCalled("software.run#2", "software.run", 1.0, True, "starts\nwithout a traceback")]
    report = report_markdown(events, finished(values={"title": "Todo", "test": {"passed": True}}))
    for shown in ("# Todo-20260101120000", "Company: chatdev", "> a to-do list", "**success**: the final test passed",
                  "chatdev play warehouse/Todo-20260101120000",
                  "| coding#1 | all rounds are used | 3 | 1 | 10 | 1 | 1.5 |",
                  "## Skipped steps\n\n- review#1: `not test.passed` does not hold", "| main.py | 2 |",
                  "### software.run: passed (software.run#2)", "> starts\n> without a traceback",
                  "- git is not installed", "a delivery was not kept: it no longer starts", "### title\n\n> Todo",
                  "### test\n\n- passed: true"):
        assert shown in report
    assert "> old" not in report


def failed_test() -> list[Event]:
    """The events of a run whose last test finds an error."""
    crash = "It crashed.\n  main.py:2 in <module>\n      import x\n  ImportError: no x\n" + "more\n" * 500
    return [RunStarted("", "chatdev", "Todo", "folder", {"task": "a to-do list"}),
            StepSkipped("plan#1", "phase", "`False` does not hold"),
            PhaseStarted("repair#1", "repair", "Repair.", "Tester", "Programmer", 3),
            Uttered("repair#1/round-1/instructor", "instruction", "instructor", "Tester", "There is no x.", 1),
            Uttered("repair#1/round-1/assistant", "response", "assistant", "Programmer", "Here it is.", 1),
            DeliveryApplied("repair#1/round-1/assistant", ("main.py",), lines=(2,)),
            PhaseFinished("repair#1", "repair", "rounds", 1, 2), StepStarted("software.run#1", "tool", "software.run"),
            ToolCalled("software.run#1", "software.run", 1.0, False, crash), StepFinished("software.run#1", "tool")]


def test_a_report_begins_with_what_failed_then_files_then_how_to_go_on() -> None:
    report = report_markdown(failed_test(), finished(status="failure", reason="the final test did not pass"))
    order = ["**failure**: the final test did not pass", "## What failed",
             "> It crashed.\n> main.py:2  ImportError: no x",
             "Tried: Repair.", "## Software", "| main.py | 2 |", "## How to go on", "--from 'repair#1'`",
             "--model NAME`",
             "## Dialogue of repair#1", "**Tester** (round 1):\n\n> There is no x.", "**Programmer** (round 1):",
             "## Last verdicts", "(the rest is in `run/journal.jsonl`)", "## Skipped steps", "- plan#1: "]
    assert [words for words in order if words not in report] == []
    assert sorted(order, key=report.index) == order
    assert "chatdev play" not in report


def test_the_dialogue_of_a_phase_without_a_solution_is_in_the_report(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: "I cannot do that.", "change#1/reflection-1": "Really not.",
                "change#1/reflection-2": "No."})
    outcome = shop.run("--set", "phases.change.rounds=1", "--set", "phases.change.solution.retries=0")
    assert outcome.status == 1, outcome.out + outcome.err
    assert "look at its dialogue in the report" in outcome.err
    assert "## Dialogue of change#1\n\n**Maker** (round 1):\n\n> I cannot do that." in outcome.report
    assert "**Maker**, reflection (round 1):\n\n> Really not." in outcome.report
    assert f"resume {outcome.folder} --from 'change#1' --model NAME" in outcome.out


def test_values_are_lists_of_what_is_in_them() -> None:
    value = {"passed": True, "report": "a\nb", "cases": [{"x": 1}] * 3, "by": {"name": {"deep": [1, 2]}}}
    report = report_markdown([], finished(values={"trial": value, "many": list(range(50)), "no": []}))
    for shown in ("- passed: true\n- report: a\n- 3 cases\n- by: name: deep: 2 entries", "- 19\n- … and 30 more",
                  "### no\n\n> none"):
        assert shown in report
    assert "\\n" not in report
    assert "\\[" not in report


def test_what_others_wrote_cannot_become_part_of_the_report() -> None:
    task = "# Not a heading\n\n| no | table |"
    report = report_markdown([RunStarted("", "chatdev", "x", "y", {"task": task})], finished(values={"a": "## no\n"}))
    lines = report.splitlines()
    assert "# Not a heading" not in lines
    assert "> # Not a heading" in lines
    assert "## no" not in lines


HOSTILE = ("<img src=https://evil.example/x.png onerror=alert(1)>", "![see](https://evil.example/x.png)",
           "</td><script>", "[here](javascript:alert(1))", "<https://evil.example>",
           "https://evil.example/?a=b", "www.evil.example",
           "[a]: https://evil.example", "&lt;b&gt;", "\\<b>", "`<b>`", "|a|\n<!--", "```\n</code><b>\n")
ACTIVE = re.compile(r"(?<!\\)(?:\\\\)*(?:[<\[\]&]|https?:/|www\.)")
"""What a reader of Markdown would act on, unless an odd number of backslashes stands before it."""


@pytest.mark.parametrize("words", HOSTILE)
def test_nothing_that_others_wrote_is_html_a_picture_or_a_link(words: str) -> None:
    events: list[Event] = [
        RunStarted("", words, "Todo", "folder", {"task": words}), Noted(words, words, "warning"),
        PhaseFinished(words, words, words, 3, 1), DeliveryRefused(words, words),
        DraftJudged(words, 1, 2, problem=words), StepSkipped(words, "phase", words),
        *failed_test(), PhaseStarted("said#1", "said", words, words, words, 3),
        Uttered("said#1/round-1/assistant", "response", "assistant", words, words, 1),
        DeliveryApplied("said#1/round-1/assistant", (words,), (words,), gist=words),
        ToolCalled(words, words, 1.0, False, words)]
    run = finished(values={words: words, "nested": [{words: words}]}, software=Software({words: b"x"}), reason=words)
    report = report_markdown(events, run)
    assert ACTIVE.findall(report) == [], report


def test_a_file_name_cannot_break_the_table() -> None:
    report = report_markdown([], finished(software=Software({"a|b.py": b"", "x`y.py": b""})))
    assert "| a\\|b.py | 0 |" in report


def test_long_values_are_cut() -> None:
    report = report_markdown([], finished(values={"essay": "word " * 10_000}))
    assert len(report) < 3_000
    assert " …" in report


def test_a_run_without_files_says_so() -> None:
    report = report_markdown([], finished(software=Software({})))
    assert "No files." in report
    assert "chatdev play" not in report


def test_a_real_run_is_reported_with_its_retries_and_estimates(shop: Shop) -> None:
    shop.route({FIRST: HELLO, SECOND: [Scripted(status=503), Scripted(BETTER, usage=None)]})
    outcome = shop.run("--model", "a-model-without-a-price")
    outcome.assert_succeeded()
    assert "2 calls (failed attempts: 1), " in outcome.report
    assert "| write#1 | done | 1 | 1 | 7 | 5 |" in outcome.report
    assert "### software.complete: passed (software.complete#1)" in outcome.report
    assert "(partly estimated), cost unknown" in outcome.report
    assert " tokens (partly estimated) · cost unknown" in outcome.out


def test_pictures_that_tools_drew_are_shown_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "waves.svg").write_text("<svg/>")
    given = {"drawn": {"pictures": {"Waveforms": "waves.svg", "Gone": "gone.svg", "Far": "http://x/a.svg",
                                    "Out": "../run/waves.svg", "Number": 3}},
             "odd": {"pictures": ["waves.svg"]}, "text": "pictures"}
    report = report_markdown([], finished(folder=tmp_path, values=given))
    assert [line for line in report.splitlines() if line.startswith("![")] == ["![Waveforms](waves.svg)"]
    assert "## Pictures" not in report_markdown([], finished(folder=tmp_path, values={"odd": given["odd"]}))
