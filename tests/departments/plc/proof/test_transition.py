"""Programs as transition relations."""

from __future__ import annotations

import pytest
import z3

from chatdev.departments.plc.proof.symbolic_values import TooLarge
from chatdev.departments.plc.proof.transition import Transition, build_transition, is_constant
from chatdev.departments.plc.st.reading import read_program


def transition_of(source: str) -> Transition:
    program = read_program(source).program
    assert program is not None
    return build_transition(program)


def block(variables: str, body: str) -> str:
    return f"FUNCTION_BLOCK fb\n{variables}\n{body}\nEND_FUNCTION_BLOCK\n"


def test_what_is_never_assigned_is_constant() -> None:
    found = transition_of(block("VAR size : INT := 4; last : INT; a : ARRAY[1..4] OF INT; END_VAR",
                                "FOR last := 1 TO size DO a[last] := a[last] + last; END_FOR;"))
    assert is_constant(found, "size")
    assert set(found.states) == {"last", "a[1]", "a[2]", "a[3]", "a[4]"}
    assert found.obligations == ()
    assert found.end["last"] == 5


def test_a_loop_ends_where_the_index_would_leave_the_array() -> None:
    found = transition_of(block("VAR_INPUT n : INT; END_VAR VAR i : INT; a : ARRAY[0..2] OF INT; END_VAR",
                                "FOR i := 0 TO n DO a[i] := i; END_FOR;"))
    (owed,) = found.obligations
    assert (owed.kind, owed.text, owed.span.line) == ("index", "0..2", 3)


def test_a_loop_that_may_go_on_is_an_obligation() -> None:
    found = transition_of(block("VAR_INPUT go : BOOL; END_VAR VAR n : DINT; END_VAR",
                                "WHILE go DO n := n + 1; END_WHILE;"))
    assert [(owed.kind, owed.text) for owed in found.obligations] == [("loop", "10000")]


def test_divisors_and_asserts_are_obligations() -> None:
    found = transition_of(block("VAR_INPUT x : INT; END_VAR VAR y : INT; END_VAR",
                                "IF x <> 1 THEN y := 10 / (x - 1); END_IF;\n//#ASSERT y <= 10 : small"))
    assert [(owed.kind, owed.text) for owed in found.obligations] == [("division", ""), ("assertion", "small")]


def test_an_input_of_an_enumeration_is_one_of_its_values() -> None:
    """They may begin anywhere, and have gaps."""
    found = transition_of("TYPE Level : (Low := 2, Middle, High := 7); END_TYPE\n" + block(
        "VAR_INPUT x : Level; END_VAR VAR y : Level; END_VAR", "y := x;"))
    limits = [z3.substitute(limit, (found.end["y"], z3.BitVecVal(number, 16))) for limit in found.limits[-1:]
              for number in range(10)]
    assert [number for number, limit in enumerate(limits) if z3.is_true(z3.simplify(limit))] == [2, 3, 7]


def test_too_much_data_is_refused_at_once() -> None:
    with pytest.raises(TooLarge, match="make its arrays smaller"):
        transition_of(block("VAR a : ARRAY[1..300] OF ARRAY[1..300] OF INT; END_VAR", "a[1][1] := 1;"))
