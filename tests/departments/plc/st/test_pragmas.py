"""Conditional pragmas choose one branch, comments and pragmas nest, and foreign code is never passed over."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.diagnostics import Diagnostic
from chatdev.departments.plc.st.reading import read_program


def read(body: str, *defines: str) -> tuple[int | None, tuple[Diagnostic, ...]]:
    """What `x` is after a scan, if the program can be read, and what is said of it."""
    reading = read_program(f"PROGRAM P\nVAR x, y : INT; END_VAR\n{body}\nEND_PROGRAM", None, Dialect(defines=defines))
    return (Machine(reading.program).scan({})["x"] if reading.program else None), reading.diagnostics


@pytest.mark.parametrize(("body", "defines", "expected"), [
    ("{IF defined (SIM)} x := 1; {ELSE} x := 2; {END_IF}", (), 2),
    ("{IF defined (SIM)} x := 1; {ELSE} x := 2; {END_IF}", ("sim",), 1),
    ("{if NOT defined(SIM)} x := 1; {else} x := 2; {end_if}", (), 1),
    ("{IF defined (A)} x := 1; {ELSIF defined (B)} x := 2; {ELSIF defined (C)} x := 3; {ELSE} x := 4; {END_IF}",
     ("B", "C"), 2),
    ("{IF defined (A) OR defined (B) AND defined (C)} x := 1; {END_IF}", ("A",), 1),
    ("{IF (defined (A) OR defined (B)) AND defined (C)} x := 1; {END_IF}", ("A",), 0),
    ("{IF defined (A)} {IF defined (B)} x := 1; {ELSE} x := 2; {END_IF} {ELSE} x := 3; {END_IF}", ("A",), 2),
    ("{IF defined (A)} {IF defined (B)} x := 1; {ELSE} x := 2; {END_IF} {ELSE} x := 3; {END_IF}", ("B",), 3),
    ("{IF defined (A)} “no text” (* {END_IF} *) // {END_IF}\n {define B} {error 'none'} {END_IF} x := 5;", (), 5),
    ("x := {IF defined (A)} 1 {ELSE} 2 {END_IF} + 3;", (), 5),
    ("IF x = 0 THEN {IF defined (A)} x := 1; {ELSE} x := 2; {END_IF} END_IF;", (), 2),
])
def test_one_branch_counts(body: str, defines: tuple[str, ...], expected: int) -> None:
    value, said = read(body, *defines)
    assert value == expected
    assert [one.code for one in said] in ([], ["undefined-names"])


def test_that_nothing_is_defined_is_said_once() -> None:
    _, said = read("{IF defined (B)}{END_IF}\n{IF defined (Sim)}{END_IF}\n{IF defined (SIM) AND defined (A)}{END_IF}",
                   "a")
    assert [(one.severity, one.message, one.span.line) for one in said] == [
        ("warning", "conditional pragmas ask for what nothing defines: B, Sim", 3)]


@pytest.mark.parametrize(("pragma", "named"), [
    ("{IF hasvalue (SIM, '1')}", "hasvalue"), ("{IF hastype (variable: x, INT)}", "hastype"),
    ("{IF hasattribute (pou: P, 'a')}", "hasattribute"), ("{IF defined (variable: x)}", "variable:"),
    ("{IF defined (type: T)}", "type:"), ("{IF SIM}", "SIM"), ("{IF}", "{IF …}"), ("{IF defined SIM}", "defined SIM"),
    ("{IF defined (A) XOR defined (B)}", "XOR"), ("{IF defined (A)) }", ")"), ("{IF " + "(" * 60 + "}", "50 brackets"),
])
def test_what_cannot_be_evaluated_is_refused_by_name(pragma: str, named: str) -> None:
    value, said = read(f"{pragma} x := 1; {{ELSE}} x := 2; {{END_IF}}")
    assert value is None
    assert [one.code for one in said if one.severity == "error"] == ["refused-pragma"]
    assert named in said[0].message


@pytest.mark.parametrize("pragma", ["{define SIM}", "{undefine SIM}", "{define MAX 5}"])
def test_a_macro_of_the_source_is_refused(pragma: str) -> None:
    assert [one.code for one in read(f"{pragma} x := 1;")[1]] == ["refused-pragma"]


@pytest.mark.parametrize("pragma", [
    "{attribute 'qualified_only'}", "{attribute 'symbol' := 'read; write(x)'}", "{region 'a'}", "{endregion}",
    "{ S7_Optimized_Access := 'TRUE' }", "{ S7_a := 'TRUE'; S7_b := 'x;y' }", "{warning disable C0195}",
    "{text 'a; b(c)'}",
    "{}", "{ Author := 'x' ; }"])
def test_what_says_nothing_of_the_meaning_is_passed_over(pragma: str) -> None:
    assert read(f"{pragma} x := 1;") == (1, ())


@pytest.mark.parametrize("pragma", [
    "{ C { while (1) { x = 1; } } }", "{__SET_VAR(data__->,X,,1);}", "{ x = 1; y = 2; }"])
def test_code_of_another_language_is_named_as_what_it_is(pragma: str) -> None:
    """It is a gap, and no run comes past it."""
    with pytest.raises(RunTimeFault, match="not run: code of another language"):
        read(f"{pragma} x := 1;")


@pytest.mark.parametrize(("body", "expected"), [
    ("(* a (* b *) x := 2; *) x := 1;", 1), ("/* a /* b */ x := 2; */ x := 1;", 1), ("(* /* *) x := 1; /* (* */", 1),
    ("(* 'a (* b' *) *) x := 1;", 1), ("(**) x := 1; (***) (*/*)", 1), ("// (*\n x := 1;", 1),
    ("(* a\n(* b\n*) c\n*) x := 1;", 1)])
def test_comments_nest(body: str, expected: int) -> None:
    assert read(body) == (expected, ())


def test_places_behind_what_nests_are_right() -> None:
    _, said = read("(* a\n(* b *)\n *) x := 1; { C {\n} } nowhere := 2;")
    assert [(str(one.span), one.code) for one in said] == [("5:13", "foreign-code"), ("6:5", "undeclared")]
