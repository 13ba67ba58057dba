"""The studies behind docs/plc.md, on little: what they count is what there is."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.plc import (
    agreement,
    conformance,
    containers,
    libraries,
    loops,
    mutation,
    public_loops,
    references,
    standard,
)
from benchmarks.plc.constructs import constructs
from benchmarks.plc.corpus import Subject, read_references, reference_of
from benchmarks.plc.mutants import write_mutants
from benchmarks.plc.public_files import REPOSITORIES
from benchmarks.plc.random_runs import run_randomly, shows_again
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome, Property
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.st.core import Program
from chatdev.departments.plc.st.reading import read_program

LATCH = """FUNCTION_BLOCK Latch
VAR_INPUT Start, Stop : BOOL; Share : INT; END_VAR
VAR_OUTPUT Run : BOOL; Left : INT; END_VAR
VAR Wait : TON; END_VAR
Wait(IN := Start, PT := T#2s);
IF Wait.Q THEN Run := TRUE; END_IF;
IF Stop OR NOT Start THEN Run := FALSE; END_IF;
Left := 100 / (Share + 3);
END_FUNCTION_BLOCK
"""
SAFE, WRONG = Property("pattern-forbidden", ("Run AND Stop",)), Property("pattern-invariant", ("NOT Run",))

LATE = Property("pattern-implication", ("Run", "Wait.ET >= T#2s"))


def program_of(source: str) -> Program:
    program = read_program(source).program
    assert program is not None
    return program


def test_random_runs_see_harm_and_faults_and_nothing_else() -> None:
    seen = run_randomly(program_of(LATCH), [SAFE, WRONG], scans=3000)
    assert (list(seen.harmed), [kind for kind, _ in seen.faults]) == ([1], ["division"])
    assert run_randomly(program_of(LATCH), [SAFE], seconds=0.05).scans > 10


def test_a_counterexample_is_run_again_from_what_is_told() -> None:
    violated, duty = verify(LATCH, None, [WRONG])
    assert (violated.verdict, duty.asked.pattern, duty.verdict) == ("VIOLATED", RUN_TIME, "VIOLATED")
    program = program_of(LATCH)
    assert [shows_again(program, one) for one in (violated, duty)] == [True, True]
    shorter = Outcome(WRONG, "VIOLATED", cycles=violated.cycles[:-1])
    assert not shows_again(program, shorter)


def test_a_false_proof_would_be_seen() -> None:
    duty = Property(RUN_TIME, ("division", "8:9"))
    told = [Outcome(asked, "PROVED") for asked in (SAFE, WRONG, duty)]
    found = references.find_contradictions(program_of(LATCH), Subject("latch", LATCH, [SAFE, WRONG]), told, 3000)
    assert [text.split()[0] for text in found] == ["pattern-invariant", RUN_TIME]


@pytest.mark.parametrize(("operator", "change"), [
    ("negated condition", "IF Wait.Q THEN Run := TRUE; END_IF; → IF NOT (Wait.Q) THEN Run := TRUE; END_IF;"),
    ("dropped statement", "Left := 100 / (Share + 3); → (nothing)"),
    ("dropped NOT", "IF Stop OR NOT Start THEN Run := FALSE; END_IF; → IF Stop OR  Start THEN Run := FALSE; END_IF;"),
    ("operator", "Left := 100 / (Share + 3); → Left := 100 / (Share - 3);"),
    ("constant", "Left := 100 / (Share + 3); → Left := 100 / (Share + 4);"),
    ("time", "Wait(IN := Start, PT := T#2s); → Wait(IN := Start, PT := T#4s);"),
    ("variable", "IF Stop OR NOT Start THEN Run := FALSE; END_IF; → IF Run OR NOT Start THEN Run := FALSE; END_IF;"),
    ("standard block", "VAR Wait : TON; END_VAR → VAR Wait : TOF; END_VAR"),
])
def test_an_operator_makes_its_mistake(operator: str, change: str) -> None:
    assert change in [one.change for one in write_mutants(LATCH, 99) if one.operator == operator]


def test_mutants_are_different_programs_that_can_be_read() -> None:
    found = write_mutants(LATCH, 99)
    assert len({one.source for one in found} | {LATCH}) == len(found) + 1
    assert all(read_program(one.source).program for one in found)


def test_mutants_of_a_program_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mutation.MOST, "sheet", 3)
    rows = mutation.rows_of("sheet", Subject("latch", LATCH, [SAFE, LATE]))
    assert len(rows) == 3
    assert [row.operator for row in rows if row.killed] == ["standard block"]
    assert all(row.scans for row in rows)
    results = {"rows": [asdict(row) for row in rows], "date": "today", "machine": "this"}
    assert "| all | 3 | 33.3 % |" in mutation.told(results)


@pytest.mark.parametrize("subject", [*constructs()], ids=lambda one: one.name)
def test_a_mistake_beside_a_newer_construct_is_caught(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    reading = read_program(subject.source)
    if reading.gaps:
        pytest.skip("the construct has no meaning here yet")
    assert {one.verdict for one in verify(subject.source, None, subject.asked)} == {"PROVED"}
    monkeypatch.setitem(mutation.MOST, "construct", 3)
    rows = mutation.rows_of("construct", subject)
    assert any(row.killed for row in rows)
    assert [row.change for row in rows if row.killed_by_chance and not row.killed] == []


def test_a_reference_is_studied_as_a_whole() -> None:
    task = next(one for one in read_references() if one["id"].startswith("214"))
    row = references.study_task(task, cycles=300)
    assert (row["properties"], row["test cases"], row["contradictions"]) == (10, {"agrees": 10}, [])
    violated = [one for one in row["outcomes"] if one["verdict"] == "VIOLATED"]
    assert [one["cycles"] for one in violated] == [1]
    results = {"tasks": [row], "own": [], "cycles": 300, "date": "today", "machine": "this"}
    assert "| 214_DayOfYearCalculator | 10 | 9 | 1 | 0 | 0 |" in references.told(results)


def test_a_study_of_agreement_tells_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "is_same", lambda one, other: one == other and one != 2)
    results = agreement.study([0], 3, processes=1)
    assert len(results["differences"]) == 1
    assert "| 1 |" in agreement.told(results)


def test_all_pairs_of_types_are_reckoned_as_the_standard_says() -> None:
    found = conformance.pairs((*standard.SIGNED, *standard.UNSIGNED, *standard.BITS), random.Random(7))
    assert found.differences == []
    assert (found.values > 100_000, found.refused) == (True, 560)


def test_functions_blocks_and_expressions_are_as_the_standard_says() -> None:
    dice = random.Random(7)
    found = [conformance.functions(dice), conformance.conversions(dice), conformance.blocks(dice, 100),
             conformance.expressions(range(900, 960))]
    assert [one.differences for one in found] == [[], [], [], []]
    assert all(one.values > 1000 for one in found[:3])


@pytest.mark.parametrize(("rule", "wrong"), [
    ("limit", lambda low, value, high: low if value < low else min(value, high)),
    ("truncate", lambda value: round(value)), ("select", lambda chooses, first, second: first if chooses else second)])
def test_a_rule_that_is_broken_would_be_seen(monkeypatch: pytest.MonkeyPatch, rule: str, wrong: object) -> None:
    monkeypatch.setattr(standard, rule, wrong)
    assert conformance.functions(random.Random(7)).differences


def test_a_study_of_loops_sees_a_false_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    row = loops.study_program(3, 200)
    assert row.wrong == []
    assert row.verdicts["properties"]["PROVED"]
    monkeypatch.setattr(loops, "verify", lambda source, entry, asked, **_: [Outcome(one, "PROVED") for one in asked])
    assert any(loops.study_program(seed, 400).wrong for seed in range(12))


COUNT = """FUNCTION Count : INT
VAR_INPUT Most : INT (0..5); END_VAR
VAR i : INT; END_VAR
FOR i := 1 TO Most DO Count := Count + 2; END_FOR;
END_FUNCTION
"""


def test_public_loops_are_asked_what_random_runs_suggest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "count.st").write_text(COUNT)
    monkeypatch.setattr(public_loops, "extract_files", lambda *_: [tmp_path / "count.st"])
    monkeypatch.setattr(public_loops, "find_clone", lambda *_: tmp_path)
    monkeypatch.setattr("tempfile.TemporaryDirectory", lambda: nullcontext(str(tmp_path)))
    half = public_loops.half_of("count.st")
    [subject] = public_loops.subjects_of(REPOSITORIES[0], tmp_path, half)
    row = public_loops.study_subject(subject)
    assert row is not None
    assert (row.subject.loops, row.wrong) == (("FOR",), [])
    assert row.verdicts["observed"]["PROVED"]
    assert row.verdicts["known wrong"]["VIOLATED"]
    monkeypatch.setattr(public_loops, "verify", lambda source, entry, asked, **_: [Outcome(one, "PROVED")
                                                                                  for one in asked])
    false = public_loops.study_subject(subject)
    assert false is not None
    assert false.wrong


def test_all_references_are_there() -> None:
    tasks = read_references()
    assert (len(tasks), sum(len(reference_of(task).asked) for task in tasks),
            sum(len(task["test_cases"]) for task in tasks)) == (14, 73, 85)


def test_mutants_in_containers_have_the_verdicts_of_the_plain_text(tmp_path: Path) -> None:
    rows = containers.compare("example", Subject("latch", LATCH, [SAFE, WRONG]))
    assert {row["form"] for row in rows} == {*containers.FORMS}
    assert all(row["same"] for row in rows)
    assert all(row["line"] and row["column"] for row in rows if row["what"] == "misspelling")
    told = containers.told({"rows": rows, "date": "today", "machine": "this"})
    assert "| TwinCAT project | 4 |" in told


@pytest.mark.parametrize("form", libraries.FORMS)
def test_libraries_of_all_forms_are_read(tmp_path: Path, form: str) -> None:
    libraries.write_library(form, 20, tmp_path)
    assert libraries.measure(tmp_path)["seconds"] < 5
