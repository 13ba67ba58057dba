"""Right programs pass the trial that is made from their own request, and those whose example goes wrong do not."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.software.trial_cases import STUDY, Subject, subjects, try_program
from benchmarks.study import ROOT
from chatdev.departments.software.cases.wording import wording
from chatdev.departments.software.evaluation.srdd import NO_EXAMPLE
from chatdev.sandbox.kinds import find_sandbox

TRIED = {  # one of each way: arguments, input, a file, files that are written, memory; nothing but a request
    "egg-cartons": ("if rest:", "if not rest:"), "harvest-bars": ('"#"', '"="'),
    "guest-fees": ('"child": 5', '"child": 6'), "hours-report": ('total: {total}', 'total = {total}'),
    "honey-log": ("hives.get(hive, 0) +", ""), "two-jugs": ("else moves)", "else moves + 1)"),
}


@pytest.fixture(scope="module")
def tried() -> dict[str, Subject]:
    return {subject.name: subject for subject in subjects() if subject.name in TRIED}


@pytest.mark.tool
@pytest.mark.parametrize(("name", "fault"), TRIED.items(), ids=TRIED)
def test_a_right_program_passes_and_a_faulty_one_does_not(tried: dict[str, Subject], name: str,
                                                          fault: tuple[str, str]) -> None:
    subject, sandbox = tried[name], find_sandbox()
    right = try_program(subject, subject.program, sandbox)
    assert right.passed, right.report
    assert right.examples
    assert right.examples[0] == right.examples[1]
    assert subject.program.count(fault[0]) >= 1
    wrong = try_program(subject, subject.program.replace(*fault), sandbox)
    assert not wrong.passed
    assert wrong.examples != right.examples


def test_the_study_covers_every_right_program_and_a_hundred_faults() -> None:
    rows = STUDY.read()["rows"]
    assert {row["task"] for row in rows} == {subject.name for subject in subjects()}
    assert [row["task"] for row in rows if not row["passes"]] == []
    kinds = sum((Counter(row["mutants"]) for row in rows), Counter[str]())
    assert kinds["example rejected"] >= 100
    assert kinds["example passed"] == 0
    assert [row["task"] for row in rows if row["layout"] == NO_EXAMPLE and row["examples"]] == []


def test_the_samples_that_prompts_show_are_known() -> None:
    company = (ROOT / "company_config" / "chatdev" / "company.yaml").read_text(encoding="utf-8")
    for sample in wording()["samples"]:
        assert sample in company.replace('"', "")


