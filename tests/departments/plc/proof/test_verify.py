"""Verdicts, from the source and the properties to the replayed run."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.proof.outcomes import Outcome
from chatdev.departments.plc.proof.properties import PropertyError, read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.st.core import Program
from chatdev.departments.plc.st.reading import read_program

STEPS = """FUNCTION_BLOCK Steps
VAR_INPUT Go : BOOL; Divisor : INT; END_VAR
VAR_OUTPUT Run : BOOL; Half : INT; END_VAR
VAR State : INT; Left : INT := 5; Done : INT; Timer : TON; END_VAR
CASE State OF
0: IF Go THEN State := 1; Run := TRUE; END_IF;
1: IF Left > 0 THEN Left := Left - 1; Done := Done + 1;
   ELSE State := 2; Run := FALSE; END_IF;
END_CASE;
Timer(IN := Run, PT := T#1s);
IF Divisor > 9 THEN Half := 100 / (Divisor - 12); END_IF;
//#ASSERT Done <= 5 : enough
END_FUNCTION_BLOCK
"""


def program_of(source: str) -> Program:
    program = read_program(source).program
    assert program is not None
    return program


def pattern(name: str, *texts: str) -> dict[str, object]:
    return {"property": {"job_req": "pattern", "pattern_id": f"pattern-{name}",
                         "pattern_params": {str(number): text for number, text in enumerate(texts)}}}


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    asked = [pattern("invariant", "instance.Left + instance.Done = 5"), pattern("implication", "Run", "State = 1"),
             pattern("implication", "State = 7", "Run"), pattern("invariant", "Left = Left"),
             pattern("reachability", "Timer.Q AND State == 1"), pattern("reachability", "Done > 5"),
             pattern("forbidden", "State = 2"), pattern("statechange-duringcycle", "State = 0 AND Go", "Run"),
             pattern("statechange-betweencycles", "State = 2", "TRUE", "State != 2 --> Run"),
             pattern("leadsto-trigger", "State = 2", "Run", "NOT Run"), pattern("repeatability", "Run"),
             pattern("invariant", "Nowhere"), {"job_req": "assertion"}]
    return verify(STEPS, None, read_properties(asked), cycle_ms=None)


def test_verdicts(outcomes: list[Outcome]) -> None:
    assert [one.verdict for one in outcomes] == [
        "PROVED", "PROVED", "PROVED", "PROVED", "PROVED", "VIOLATED", "VIOLATED", "PROVED", "PROVED", "PROVED",
        "UNKNOWN", "UNKNOWN", "PROVED", "VIOLATED", "PROVED"]


def test_what_proves_nothing_is_said(outcomes: list[Outcome]) -> None:
    assert [one.vacuous for one in outcomes[:4]] == [
        "", "", "what it is about never comes up in any run", "it holds whatever the program does"]


def test_a_condition_that_cannot_be_read_is_named(outcomes: list[Outcome]) -> None:
    assert "Nowhere" in outcomes[11].reason


def test_a_counterexample_tells_what_changed_and_ran(outcomes: list[Outcome]) -> None:
    reached = outcomes[6].cycles
    assert len(reached) == 7
    assert dict(reached[0].changed)["State"] == "1"
    assert dict(reached[-1].changed)["State"] == "2"
    assert 8 in reached[-1].lines
    assert 8 not in reached[1].lines


def test_a_division_by_zero_is_found(outcomes: list[Outcome]) -> None:
    division = outcomes[13]
    assert division.asked.parameters[0] == "division"
    assert division.cycles[-1].fault == "division by zero"
    assert dict(division.cycles[-1].changed)["Divisor"] == "12"


def test_an_assertion_of_constants_is_listed_with_its_verdict() -> None:
    source = ("FUNCTION f : INT\n//#ASSERT f = 7 : unused\nf := 1;\nEND_FUNCTION\nPROGRAM p\nVAR x : INT; END_VAR\n"
              "x := 1;\n//#ASSERT x = 1 : one\n//#ASSERT x = 2 : two\nIF FALSE THEN\n//#ASSERT x = 3 : dead\n"
              "x := 3; END_IF;\nEND_PROGRAM\n")
    whole, *found = verify(source, None, read_properties([{"job_req": "assertion"}]))
    assert {one.asked.parameters[2]: (one.verdict, one.vacuous) for one in found} == {
        "one": ("PROVED", ""), "two": ("VIOLATED", ""), "unused": ("PROVED", "no run comes to it"),
        "dead": ("PROVED", "no run comes to it")}
    assert whole.verdict == "VIOLATED"
    first, *_ = verify(source.replace("//#ASSERT x = 2 : two", ""), None, read_properties([{"job_req": "assertion"}]))
    assert (first.verdict, first.vacuous) == ("PROVED", "")


def test_an_assertion_without_a_name_is_called_by_its_condition() -> None:
    source = ("PROGRAM p\nVAR_INPUT d : TIME_OF_DAY; END_VAR\nVAR x : INT; END_VAR\nx := 1;\n//#ASSERT x < 1\n"
              "//#ASSERT d >= TOD#12:00:00 OR d < TOD#12:00:00\n//#ASSERT d < TOD#12:00:00 : morning\n"
              "//#ASSERT x = 1 :\nEND_PROGRAM\n")
    _, *found = verify(source, None, read_properties([{"job_req": "assertion"}]))
    assert {one.asked.parameters[2]: one.verdict for one in found} == {
        "x < 1": "VIOLATED", "d >= TOD#12:00:00 OR d < TOD#12:00:00": "PROVED", "morning": "VIOLATED",
        "x = 1": "PROVED"}


def test_all_checks_together_take_twenty_times_as_long_as_one_may() -> None:
    source = "FUNCTION_BLOCK fb\nVAR_INPUT a, b, c : LINT; END_VAR\nEND_FUNCTION_BLOCK\n"
    hard = [pattern("invariant", f"a * a * b + c * c * a <> {number}") for number in range(1_000_003, 1_000_063)]
    found = verify(source, None, read_properties(hard), seconds=0.05)
    assert found[0].reason != found[-1].reason
    assert "left no time for it" in found[-1].reason


@pytest.mark.parametrize(("given", "message"), [
    ("{", "no JSON"), ({}, "list of objects"), ([3], "property 1 is an object"),
    ([{"job_req": "pattern", "pattern_id": "pattern-never"}], "there is no pattern_id 'pattern-never'"),
    ([pattern("implication", "A")], "takes 2 pattern_params, not 1"),
    ([pattern("invariant") | {"pattern_id": "pattern-invariant"}], "not 0")])
def test_bad_properties_are_refused_clearly(given: object, message: str) -> None:
    with pytest.raises(PropertyError, match=message):
        read_properties(given)
