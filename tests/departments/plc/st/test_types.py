"""Operands of different types meet in one that holds both, and numbers without a type take the one that is needed."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.plc import standard
from benchmarks.plc.conformance import refuses
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.st.core import IEC, Assign, Dialect, Scalar
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.departments.plc.st.functions import SCALARS, unite
from chatdev.departments.plc.st.reading import read_program

COUNTED = [*standard.SIGNED, *standard.UNSIGNED, *standard.BITS]
VARIABLES = """VAR raw, i, j : INT := 7; d : DINT := 100000; u : UINT := 40000; us : USINT; ul : ULINT; r : REAL := 2.0;
l : LREAL; w : WORD := 16#FFFF; b : BOOL; t : TIME := T#2s; ud : UDINT := 3000000000; END_VAR
VAR CONSTANT N : DINT := 4; M : INT := -1; BIG : DINT := 40000; END_VAR
"""


def said(body: str) -> tuple[Diagnostic, ...]:
    return read_program(f"PROGRAM P\n{VARIABLES}{body}\nEND_PROGRAM").diagnostics


def value_of(body: str, name: str, dialect: Dialect = IEC) -> Any:
    """A variable's value after one scan of a program of which nothing bad is said."""
    reading = read_program(f"PROGRAM P\n{VARIABLES}{body}\nEND_PROGRAM", None, dialect)
    assert reading.program, reading.diagnostics
    assert [one for one in reading.diagnostics if one.code != "real-equality"] == []
    return Machine(reading.program).scan({})[name]


@pytest.mark.parametrize("left", COUNTED)
@pytest.mark.parametrize("right", COUNTED)
def test_two_types_meet_where_the_standard_says(left: str, right: str) -> None:
    met = unite(SCALARS[left.lower()], SCALARS[right.lower()])
    try:
        expected = standard.common(left, right)
    except standard.Refused:
        assert met is None
        assert refuses(f"VAR a : {left}; b : {right}; c : BOOL; END_VAR", "c := a < b;")
        return
    assert met == SCALARS[expected.lower()]


@pytest.mark.parametrize(("body", "name", "expected"), [
    ("b := M < u;", "b", True), ("d := M + u;", "d", 39999), ("d := u - 70000;", "d", -30000),
    ("b := w = M;", "b", False),
    ("b := u > -1;", "b", True), ("d := us - 300;", "d", -300), ("i := MAX(M, us);", "i", 0),
    ("d := SEL(TRUE, M, u);", "d", 40000),
    ("d := LIMIT(M, u, 50000);", "d", 40000), ("b := i < w;", "b", True), ("t := T#24d / ud;", "t", 0),
    ("t := t / u;", "t", 0), ("b := ul > 18446744073709551614;", "b", False), ("i := LIMIT(10, 5, 0);", "i", 0),
    ("i := LIMIT(MX := 3, IN := 5, MN := 0);", "i", 3)])
def test_signs_are_kept(body: str, name: str, expected: object) -> None:
    assert value_of(body, name) == expected


@pytest.mark.parametrize(("body", "name", "expected"), [
    ("r := raw / 2.5;", "r", 2.799999952316284), ("l := raw / 2.5;", "l", 2.8), ("r := -(raw * 0.5) + 1.5;", "r", -2.0),
    ("r := SEL(b, 0.5, 1.5);", "r", 0.5), ("r := MAX(raw, 7.5);", "r", 7.5), ("r := SQRT(2.25);", "r", 1.5),
    ("u := SEL(TRUE, 0, 40000);", "u", 40000), ("u := MIN(50000, MAX(1, 60000));", "u", 50000),
    ("r := 2 ** 3;", "r", 8.0),
    ("r := raw ** 2.0;", "r", 49.0), ("b := raw * 0.5 = 3.5;", "b", True), ("i := REAL_TO_INT(raw / 2.0);", "i", 4),
    ("r := N * 0.5;", "r", 2.0), ("t := t * 0.5;", "t", 1000),
    ("b := 18446744073709551615 > 1;", "b", True), ("d := -SEL(b, 3, 4);", "d", -3),
    ("FOR i := 0 TO N DO j := i; END_FOR;", "j", 4), ("FOR i := N TO M BY M DO j := i; END_FOR;", "j", -1),
    ("FOR u := M + 1 TO N DO ; END_FOR;", "u", 5),
    ("CASE u OF BIG: j := 1; END_CASE;", "j", 1)])
def test_a_number_takes_the_type_that_is_needed(body: str, name: str, expected: object) -> None:
    assert value_of(body, name) == expected


@pytest.mark.parametrize(("body", "codes"), [
    ("i := raw * 2.5;", "type-mismatch"), ("r := d * 2.5;", "risky-conversion"), ("r := r * d;", "risky-conversion"),
    ("b := ul < i;", "wrong-operands"), ("d := w + w;", "bits-arithmetic"), ("d := w + 1;", "bits-arithmetic"),
    ("u := SEL(b, 0, -1);", "out-of-range"), ("r := SEL(b, 0.0, 1E39);", "out-of-range"),
    ("w := w AND i;", "wrong-operands"),
    ("FOR i := 0 TO BIG DO ; END_FOR;", "out-of-range"), ("FOR i := 0 TO d DO ; END_FOR;", "type-mismatch"),
    ("CASE u OF M: ; END_CASE;", "out-of-range"), ("i := N;", "type-mismatch"), ("i := u;", "risky-conversion")])
def test_what_does_not_fit_is_said(body: str, codes: str) -> None:
    assert " ".join(dict.fromkeys(one.code for one in said(body))) == codes


def test_every_expression_has_a_type_in_the_end() -> None:
    reading = read_program(f"PROGRAM P\n{VARIABLES}l := raw / 2.5 + SEL(b, 1, 2) * 0.5;\nEND_PROGRAM")
    assert reading.program is not None
    (assign,) = reading.program.entry.body
    waiting: list[Any] = [assign.value] if isinstance(assign, Assign) else []
    while waiting:
        one = waiting.pop()
        assert isinstance(one.type, Scalar)
        assert one.type.bits > 0
        waiting += [*getattr(one, "operands", ()), *([one.operand] if hasattr(one, "operand") else [])]


@pytest.mark.parametrize(("dialect", "first"), [(Dialect(), True), (Dialect("codesys"), False)])
def test_a_falling_edge_in_the_first_call(dialect: Dialect, first: bool) -> None:
    reading = read_program("PROGRAM P\nVAR_INPUT a : BOOL; END_VAR\nVAR f : F_TRIG; END_VAR\nf(CLK := a);\nEND_PROGRAM",
                           None, dialect)
    assert reading.program is not None
    machine = Machine(reading.program)
    assert [machine.scan({"a": a})["f"]["q"] for a in (False, False, True, False)] == [first, False, False, True]


@pytest.mark.parametrize(("body", "expected"), [("i := 7 MOD us;", 0), ("i := MOD(raw, us);", 0), ("i := -7 MOD 0;", 0),
                                                ("i := -7 MOD 4;", -3)])
def test_what_is_left_of_a_division_by_zero_may_be_zero(body: str, expected: int) -> None:
    assert value_of(body, "i", Dialect(mod_zero="zero")) == expected


def test_a_name_that_is_defined_is_a_name() -> None:
    with pytest.raises(ValueError, match="'A=1' is no name"):
        Dialect(defines=("SIM", "A=1"))


def test_values_written_at_a_variable_are_those_of_its_block_first() -> None:
    named = "TYPE One : (Idle, Busy); END_TYPE\nTYPE Two : (Busy, Idle); END_TYPE\n"
    block = "FUNCTION_BLOCK {0}\nVAR_OUTPUT n : INT; END_VAR\nVAR s : {1}; END_VAR\n{2}n := 1;\nEND_FUNCTION_BLOCK\n"
    member = "METHOD M : BOOL\nM := s = Busy;\nEND_METHOD\n"
    inline = block.format("A", "(Idle, Busy)", f"{member}IF s = Idle THEN s := Busy; END_IF\n")
    other = block.format("B", "ARRAY[0..1] OF (Busy, Idle)", "IF s[1] = Busy THEN s[0] := Idle; END_IF\n")
    assert [one.code for one in read_program(named + inline + other, "A").diagnostics] == []
    machine = Machine(read_program(inline + other, "B").program or pytest.fail("it is refused"))
    assert machine.scan({})["s"] == [1, 0]
    unclear = named + block.format("C", "One", "IF s = Idle THEN s := Busy; END_IF\n")
    assert {one.code for one in read_program(unclear, "C").diagnostics} == {"ambiguous-value"}
