"""RETAIN and PERSISTENT: what a restart of the controller leaves, and what it gives its initial value."""

from __future__ import annotations

import pytest

from benchmarks.plc.c_source import emit_c
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.source_run import simulate_source
from chatdev.departments.plc.st.core import IEC, Dialect
from chatdev.departments.plc.st.reading import read_program

TOGETHER = """PROGRAM p
VAR_INPUT go : BOOL; END_VAR
VAR {words} n : INT; END_VAR
VAR m : INT; END_VAR
IF go AND n < 100 THEN n := n + 1; m := m + 1; END_IF
//#ASSERT n = m : together
END_PROGRAM
"""
PARTS = """TYPE R : STRUCT a : INT := 3; b : ARRAY[1..2] OF INT := [1, 2]; END_STRUCT END_TYPE
FUNCTION_BLOCK Meter
VAR_INPUT up : BOOL; END_VAR
VAR_OUTPUT RETAIN n : INT; END_VAR
VAR_OUTPUT m : INT := 2; END_VAR
IF up AND n < 50 THEN n := n + 1; m := m + 1; END_IF
END_FUNCTION_BLOCK
PROGRAM p
VAR_INPUT u : BOOL; END_VAR
VAR ms : ARRAY[1..2] OF Meter; r : R; rr : R := (a := 9); t : TON; k : INT; lost : INT; END_VAR
VAR RETAIN kept : Meter; kr : R; END_VAR
IF u AND r.a < 20 THEN
  r.a := r.a + 1; r.b[2] := r.b[2] + 1; rr.b[1] := rr.b[1] + 1; kr.a := kr.a + 1; lost := lost + 1;
END_IF
ms[1](up := u); ms[2](up := u); kept(up := u);
k := MIN(k + 1, 5);
t(IN := u, PT := T#2s);
//#ASSERT r.a >= 3 AND rr.a = 9 : initial
//#ASSERT r.a - 3 = r.b[2] - 2 AND r.a - 3 = rr.b[1] - 1 AND lost = r.a - 3 : lost_together
//#ASSERT kept.n = kept.m - 2 AND ms[1].n = ms[2].n : kept_together
//#ASSERT NOT t.Q OR k >= 3 : timer_anew
//#ASSERT ms[1].n = ms[1].m - 2 : part_of_an_instance
//#ASSERT kr.a = r.a : structure
END_PROGRAM
"""
HIGHEST = """PROGRAM p
VAR_INPUT v : INT; END_VAR
VAR RETAIN highest : INT; END_VAR
VAR last : INT; END_VAR
IF v > highest THEN highest := v; END_IF
last := v;
//#ASSERT highest >= last
END_PROGRAM
"""


def verdicts(source: str, dialect: Dialect = IEC) -> dict[str, str]:
    _, *found = verify(source, None, read_properties([{"job_req": "assertion"}]), dialect=dialect)
    return {one.asked.parameters[2]: one.verdict for one in found}


@pytest.mark.parametrize(("words", "verdict"), [
    ("RETAIN", "VIOLATED"), ("PERSISTENT", "VIOLATED"), ("RETAIN PERSISTENT", "VIOLATED"), ("", "PROVED"),
    ("NON_RETAIN", "PROVED")])
def test_what_is_kept_and_what_is_lost_do_not_stay_together(words: str, verdict: str) -> None:
    assert verdicts(TOGETHER.format(words=words), Dialect("codesys")) == {"together": verdict}


def test_what_is_kept_together_or_lost_together_stays_together() -> None:
    assert verdicts(PARTS) == {
        "initial": "PROVED", "lost_together": "PROVED", "kept_together": "PROVED", "timer_anew": "PROVED",
        "part_of_an_instance": "VIOLATED", "structure": "VIOLATED"}
    assert verdicts(HIGHEST) == {"highest >= last": "PROVED"}


def test_globals_are_kept_and_lost_as_well() -> None:
    source = ("VAR_GLOBAL RETAIN g : INT; END_VAR\nVAR_GLOBAL h : INT; END_VAR\n"
              "PROGRAM p\nVAR_EXTERNAL g, h : INT; END_VAR\n"
              "IF g < 9 THEN g := g + 1; h := h + 1; END_IF\n//#ASSERT g = h\n//#ASSERT g >= h\nEND_PROGRAM\n")
    assert verdicts(source) == {"g = h": "VIOLATED", "g >= h": "PROVED"}


def test_a_run_restarts_where_its_table_says_so() -> None:
    done = simulate_source(TOGETHER.format(words="RETAIN"), inputs="go,RESTART()\n1,0\n1,0\n1,1\n1,0\n")
    assert [line.split(",")[2:] for line in done.csv.splitlines()] == [
        ["n", "m"], ["1", "1"], ["2", "2"], ["3", "1"], ["4", "2"]]


def test_parts_of_an_instance_begin_anew() -> None:
    program = read_program(PARTS).program
    assert program is not None
    machine = Machine(program)
    for restart in (False, True, False):
        machine.scan({"u": True, "restart()": restart}, 100)
    assert (machine.state["ms"][0]["n"], machine.state["ms"][0]["m"]) == (3, 4)
    assert "restart" in emit_c(program)


def test_a_program_that_keeps_nothing_has_no_such_input() -> None:
    program = read_program(TOGETHER.format(words="")).program
    assert program is not None
    assert [one.written for one in program.entry.variables if one.section == "input"] == ["go"]
    with_it = read_program(TOGETHER.format(words="RETAIN")).program
    assert with_it is not None
    assert [one.written for one in with_it.entry.variables if one.section == "input"] == ["go", "RESTART()"]


def test_invariants_of_restarts_can_be_asked_for_by_pattern() -> None:
    asked = [Property("pattern-invariant", ("n >= m",)), Property("pattern-invariant", ("n <= m",))]
    kept, lost, *_ = verify(TOGETHER.format(words="RETAIN"), None, asked)
    assert (kept.verdict, lost.verdict) == ("PROVED", "VIOLATED")
