"""What constructs become in the core."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.st.core import Assign, Branch, Constant, Convert, Loop, Operation, Program, Statement
from chatdev.departments.plc.st.functions import FUNCTIONS, SCALARS
from chatdev.departments.plc.st.reading import read_program

DIALECT = """
TYPE Color : (Red, Green, Blue := 7, Last) := Green; END_TYPE
TYPE "Point" STRUCT x : INT := 3; y : REAL; END_STRUCT END_TYPE
VAR_GLOBAL CONSTANT N : INT := 4; END_VAR
VAR_GLOBAL Total : DINT; END_VAR
FUNCTION_BLOCK "My Block"
VERSION : 0.1
{ S7_Optimized_Access := 'TRUE' }
VAR_INPUT RETAIN "a b" : Bool; END_VAR
VAR CONSTANT Z : INT := N - 1; END_VAR
VAR c : Color; p : Point := (y := 2.5); a : ARRAY[1..2, 0..Z] OF INT := [1, 2, 2(4)]; END_VAR
BEGIN /* begins */
IF #"a b" THEN Total := Total + 1; END_IF; // counts
c := Color#Blue; c := Color.Last; c := Red; A[2, 1] := INT#16#10;
END_FUNCTION_BLOCK;
PROGRAM Main
VAR f : "My Block"; t : TON := (PT := T#1m30s); x AT %QX0.0 : BOOL;
s : STRING[20] := 'a$'b'; w : WORD := W#16#8001; END_VAR
f("a b" := TRUE); t(IN := x, Q => x); w := SHL(w, 2) AND 16#00FF; x := w.3 XOR w.%X15 & TRUE;
END_PROGRAM
"""


def body_of(statements: str) -> tuple[Statement, ...]:
    source = f"PROGRAM P\nVAR i, j : INT; d : DINT; r : REAL; t : TIME; b : BOOL; END_VAR\n{statements}\nEND_PROGRAM"
    reading = read_program(source)
    assert reading.program is not None, reading.diagnostics
    return reading.program.entry.body


@pytest.fixture(scope="module", name="dialect")
def _dialect() -> Program:
    reading = read_program(DIALECT)
    assert reading.diagnostics == ()
    assert reading.program is not None
    return reading.program


def test_values_begin_as_they_are_written(dialect: Program) -> None:
    initial = {one.name: one.initial for one in dialect.routines["my block"].variables}
    assert initial["c"] == 1
    assert initial["p"] == {"x": 3, "y": 2.5}
    assert initial["a"] == [[1, 2, 4, 4], [0, 0, 0, 0]]
    entry = {one.name: one.initial for one in dialect.entry.variables}
    assert (entry["t"]["pt"], entry["s"], entry["w"]) == (90_000, "a'b", 0x8001)


def test_a_global_is_the_entrys_and_bound_by_others(dialect: Program) -> None:
    assert [one.name for one in dialect.routines["my block"].of_section("in_out")] == ["total"]
    assert dialect.entry.of_section("in_out") == ()
    assert {"total", "n"} <= {one.name for one in dialect.entry.variables}


def test_numbers_take_the_type_of_their_place() -> None:
    real, long, power = body_of("r := r * 2 + 1; d := i * 3 + d; r := i ** 2;")
    assert isinstance(real, Assign)
    assert isinstance(real.value, Operation)
    assert real.value.operands[1] == Constant(1.0, SCALARS["real"], real.value.operands[1].span)
    assert isinstance(long, Assign)
    assert isinstance(long.value, Operation)
    assert isinstance(long.value.operands[0], Convert), "INT * INT is reckoned in INT"
    assert isinstance(power, Assign)
    assert power.value.type == SCALARS["real"]


def test_constants_are_reckoned_exactly() -> None:
    (assign,) = body_of("d := (7 - 1) / 4 * 30000 * 2;")
    assert isinstance(assign, Assign)
    assert isinstance(assign.value, Constant)
    assert assign.value.value == 60_000


def test_a_duration_by_a_number_is_reckoned_in_milliseconds() -> None:
    (assign,) = body_of("t := t * 2;")
    assert isinstance(assign, Assign)
    assert isinstance(assign.value, Convert)
    assert assign.value.operand.type == SCALARS["dint"]


def test_case_is_a_chain_of_tests() -> None:
    (branch,) = body_of("CASE i OF 1, 2: j := 1; 3..5: j := 2; ELSE j := 3; END_CASE;")
    assert isinstance(branch, Branch)
    assert isinstance(branch.condition, Operation)
    assert branch.condition.operator == "or"
    (second,) = branch.otherwise
    assert isinstance(second, Branch)
    assert isinstance(second.condition, Operation)
    assert second.condition.operator == "and"
    assert len(second.otherwise) == 1


def test_loops_have_one_form() -> None:
    _, down, repeat = body_of("FOR i := 9 TO 1 BY -1 DO ; END_FOR; REPEAT j := j + 1; UNTIL j > 5 END_REPEAT;")
    assert isinstance(down, Loop)
    assert isinstance(down.condition, Operation)
    assert (down.condition.operator, len(down.after)) == (">=", 1)
    assert isinstance(repeat, Loop)
    assert isinstance(repeat.condition, Operation)
    assert (repeat.condition.operator, repeat.tests_first) == ("not", False)


@pytest.mark.parametrize(("name", "type_name", "values", "result"), [
    ("ABS", "INT", (-32768,), -32768), ("MIN", "INT", (3, 1, 2), 1), ("MAX", "REAL", (1.0, 2.5), 2.5),
    ("LIMIT", "INT", (0, 7, 5), 5), ("SEL", "INT", (True, 1, 2), 2), ("MUX", "INT", (9, 1, 2, 3), 3),
    ("SHL", "BYTE", (0x81, 1), 2), ("SHR", "BYTE", (0x81, 1), 0x40), ("SHL", "WORD", (1, 16), 0),
    ("ROL", "BYTE", (0x81, 1), 3), ("ROR", "BYTE", (0x81, 9), 0xC0), ("TRUNC", "DINT", (-2.7,), -2),
    ("ROUND", "DINT", (2.5,), 2), ("TRUNC", "DINT", (float("nan"),), 0), ("SQRT", "REAL", (2.0,), 1.4142135381698608),
])
def test_a_standard_function(name: str, type_name: str, values: tuple[object, ...], result: object) -> None:
    assert FUNCTIONS[name].compute(SCALARS[type_name.lower()], values) == result
