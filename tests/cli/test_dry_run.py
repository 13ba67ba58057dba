"""`--dry-run` of a run and of a study: a screenful, its prompts, JSON, one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from chatdev.cli.app import command_line

TRACKER = "Develop an expense tracker for the terminal with categories and monthly reports"


def invoke(*arguments: str) -> str:
    done = CliRunner().invoke(command_line, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def dry(*more: str) -> str:
    return invoke("run", "--dry-run", "--model", "gpt-4o", *more, TRACKER)


def test_a_dry_run_is_one_screen_of_eighty_columns(here: Path) -> None:
    shown = dry()
    lines = shown.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert "a typical run of chatdev with gpt-4o: 8 calls, " in shown
    assert "\n  code_review             reviewer ⇄ programmer      3 " in shown
    assert "\n  redraft                 when not trial.passed and not given" in shown
    assert "at most " in shown
    assert list(here.iterdir()) == []


def test_one_line_is_left_of_a_quiet_one(here: Path) -> None:
    (line,) = dry("--quiet").splitlines()
    assert line.startswith("a typical run of chatdev with gpt-4o: 8 calls, ")


def test_the_prompts_are_those_that_are_sent_and_those_that_may_be(here: Path) -> None:
    shown = dry("--verbose")
    assert "── coding: programmer (assistant)\n[system]\nYou are the Programmer." in shown
    assert "── system_test: tester (instructor), if it comes to it" in shown
    assert "software.try: " in shown  # native tools, as the model gets them
    assert "You may use these tools" not in shown
    assert "Write documents in English." in shown
    assert "── extension" not in shown
    assert "── test_plan" not in shown
    assert "{%" not in shown


def test_a_program_reads_everything_as_json(here: Path) -> None:
    found = json.loads(dry("--json"))
    assert (found["company"], found["model"], found["typical"]["calls"]) == ("chatdev", "gpt-4o", 8)
    assert sum(one["calls"] for one in found["phases"]) == 8
    assert found["phases"][0]["prompts"]["assistant"]["messages"][0]["role"] == "system"
    assert {one["phase"] for one in found["possible"]} >= {"system_test", "redraft"}
    assert found["most"]["calls"] > 100


@pytest.mark.parametrize("company", ["top", "agents4plc", "verilogcoder", "pipeline"])
def test_the_other_companies_have_their_screen_too(here: Path, company: str) -> None:
    lines = dry("--company", company).splitlines()
    assert max(map(len, lines)) <= 82
    assert len(lines) <= 40


def test_a_study_says_what_it_may_cost_and_runs_nothing(here: Path) -> None:
    shown = invoke("eval", "srdd", "--dry-run", "--limit", "3", "--repeats", "2", "--companies", "single,chatdev",
                   "--model", "gpt-4o")
    assert "12 runs: 3 tasks × 2 variants × 2 repeats" in shown
    assert "\n  single · gpt-4o         6 calls" in shown
    assert "if every check passes at once" in shown
    assert list(here.iterdir()) == []
