"""Blocks with methods that are wrong on purpose: refused in every dialect, and their right twins are not."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import Reading, read_program
from tests.departments.plc.pump import RIGHT

WRONG: dict[str, tuple[str, str] | tuple[tuple[str, str], ...]] = {
    "undeclared name": ("n := pump.Level", "m := pump.Level"),
    "undeclared in expression": ("Twice(n)", "Twice(k)"),
    "wrong type": ("ok := pump.Start", "n := pump.Start"),
    "missing END_IF": ("END_IF\n", "\n"),
    "missing END_METHOD": ("Reset := TRUE;\nEND_METHOD", "Reset := TRUE;"),
    "missing END_VAR": ("a : ARRAY[1..3] OF INT; END_VAR", "a : ARRAY[1..3] OF INT;"),
    "missing END_FUNCTION": ("END_FUNCTION\nPROGRAM", "PROGRAM"),
    "missing END_PROPERTY": ("END_PROPERTY\nEND_FUNCTION_BLOCK", "END_FUNCTION_BLOCK"),
    "missing END_GET": ("END_GET\n", ""),
    "double variable": ("n : INT; ok", "n : INT; N : BOOL; ok"),
    "double method": ("METHOD PUBLIC Open", "METHOD PUBLIC Inner"),
    "double block": ("FUNCTION Twice : INT", "FUNCTION Pump : INT"),
    "double interface": ("FUNCTION_BLOCK ABSTRACT Base", "FUNCTION_BLOCK ABSTRACT IPump"),
    "assign to input of block": ("Reset := TRUE;", "Most := 3; Reset := TRUE;"),
    "assign to constant": ("Level := Most;", "Most := 2; Level := Most;"),
    "assign to output from outside": ("any := pump;", "pump.running := TRUE;"),
    "unknown member": ("t.Q", "t.R"),
    "unknown method": ("pump.Open()", "pump.Close()"),
    "unknown property": ("pump.Level", "pump.Depth"),
    "unknown parameter": ("speed := n", "spead := n"),
    "too many arguments": ("Twice(n)", "Twice(n, n)"),
    "too few arguments": ("Twice(n)", "Twice()"),
    "method too many": ("pump.Open()", "pump.Open(3)"),
    "missing method of an interface": (
        "METHOD PUBLIC Start : BOOL\nVAR_INPUT speed : INT; END_VAR\nrunning := speed > 0;\n"
        "Start := running;\nEND_METHOD\n",
        ""),
    "missing property of an interface": (
        "PROPERTY PUBLIC Level : INT\nGET\nLevel := Most;\nEND_GET\nEND_PROPERTY\n",
        ""),
    "missing abstract method": ("METHOD PUBLIC Reset : BOOL\nrunning := FALSE;\nReset := TRUE;\nEND_METHOD\n", ""),
    "abstract instance": ("pump : Pump;", "pump : Pump; base : Base;"),
    "protected access": ("pump.Open()", "pump.Inner()"),
    "private in heir": ("Level := Most;", "Level := Secret();"),
    "SUPER without base": ("Secret := hidden;", "Secret := SUPER^.Open();"),
    "abstract method with SUPER": ("Reset := TRUE;", "Reset := SUPER^.Reset();"),
    "THIS in a function": ("Twice := x + x;", "Twice := THIS^.x;"),
    "unknown base": ("EXTENDS Base", "EXTENDS Bass"),
    "unknown interface": ("IMPLEMENTS IPump", "IMPLEMENTS IPomp"),
    "extends itself": ("EXTENDS Base", "EXTENDS Pump"),
    "implements a block": ("IMPLEMENTS IPump", "IMPLEMENTS Base"),
    "extends an interface": ("EXTENDS Base", "EXTENDS IPump"),
    "write a read-only property": ("any := pump;", "pump.Level := 3;"),
    "unknown type": ("n : INT; ok", "n : INTT; ok"),
    "index outside": ("a[2]", "a[4]"),
    "index of two": ("a[2]", "a[2, 1]"),
    "EXIT outside": ("any := pump;", "EXIT;"),
    "instance as value": ("n := pump.Level", "n := pump"),
    "heir of a final block": (
        ("FUNCTION_BLOCK ABSTRACT Base", "FUNCTION_BLOCK FINAL Base"),
        ("METHOD ABSTRACT Reset : BOOL\nEND_METHOD\n", ""),
    ),
    "variable of the base again": ("VAR_OUTPUT running : BOOL;", "VAR_OUTPUT running : BOOL; rate : INT;"),
    "two END_IF": ("END_IF\n", "END_IF\nEND_IF\n"),
    "abstract method with a body in a concrete block": ("METHOD PUBLIC Open", "METHOD ABSTRACT Open"),
    "final method again": (
        ("METHOD PUBLIC Open : INT", "METHOD PUBLIC FINAL Open : INT"),
        ("METHOD PUBLIC Reset : BOOL", "METHOD PUBLIC Open : INT\nEND_METHOD\nMETHOD PUBLIC Reset : BOOL"),
    ),
    "another result": ("METHOD PUBLIC Reset : BOOL\nrunning := FALSE;\nReset := TRUE;",
                       "METHOD PUBLIC Reset : INT\nrunning := FALSE;\nReset := 1;"),
    "no result": ("METHOD PUBLIC Reset : BOOL\nrunning := FALSE;\nReset := TRUE;",
                  "METHOD PUBLIC Reset\nrunning := FALSE;"),
    "private again": ("pump.Open()", "pump.Secret()"),
}
STRANGERS = """INTERFACE IOther
END_INTERFACE
INTERFACE IMore EXTENDS IPump
END_INTERFACE
FUNCTION_BLOCK Plain
VAR x : INT; END_VAR
END_FUNCTION_BLOCK
FUNCTION_BLOCK Heir EXTENDS Pump
END_FUNCTION_BLOCK
FUNCTION_BLOCK Taker
VAR_INPUT one : IPump; END_VAR
METHOD Take : BOOL
VAR_INPUT one : IPump; END_VAR
Take := TRUE;
END_METHOD
END_FUNCTION_BLOCK
FUNCTION Look : INT
VAR_INPUT one : IPump; END_VAR
Look := 1;
END_FUNCTION
"""
DIALECTS = ("iec", "codesys", "twincat", "siemens")


def spoil(name: str) -> str:
    edits = WRONG[name]
    source = RIGHT
    for old, new in (edits,) if isinstance(edits[0], str) else edits:
        assert old in source
        source = source.replace(old, new, 1)
    return source


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_right_is_read(dialect: str) -> None:
    assert read_program(RIGHT, dialect=Dialect(dialect)).program is not None  # type: ignore[arg-type]


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_in_every_dialect(name: str) -> None:
    source = spoil(name)
    accepted = [one for one in DIALECTS if read_program(source, dialect=Dialect(one)).program]  # type: ignore[arg-type]
    assert accepted == []


def test_there_are_many_mistakes() -> None:
    assert len(WRONG) >= 45


TWINS = {
    "a heir calls what is PROTECTED": ("Level := Most;", "Level := Inner();"),
    "a heir calls SUPER": ("Level := Most;", "Level := SUPER^.Open();"),
    "an ABSTRACT block is an in-out": ("PROGRAM Main\n", "FUNCTION Look : INT\nVAR_IN_OUT one : Base; END_VAR\n"
                                       "Look := one.rate;\nEND_FUNCTION\nPROGRAM Main\n"),
    "a FINAL method is called": ("METHOD PUBLIC Open", "METHOD PUBLIC FINAL Open"),
    "a heir has a PRIVATE method": ("METHOD PUBLIC Reset",
                                    "METHOD PRIVATE Own : INT\nOwn := 1;\nEND_METHOD\nMETHOD PUBLIC Reset"),
}


@pytest.mark.parametrize("name", TWINS)
def test_what_is_like_it_and_right_is_read(name: str) -> None:
    source = RIGHT.replace(*TWINS[name], 1)
    assert [one.message for one in read_program(source).diagnostics if one.severity == "error"] == []


@pytest.mark.parametrize(("statement", "column"), [
    ("any := plain;", 8), ("any := other;", 8), ("more := any;", 9), ("any := t;", 8),
    ("any := 1;", 8), ("any := n;", 8), ("any := a;", 8), ("taker(one := plain);", 14),
    ("taker(one := nothing);", 14), ("ok := taker.Take(one := plain);", 25), ("n := Look(plain);", 11),
    ("n := Look(one := other);", 18)])
def test_what_does_not_implement_an_interface_cannot_stand_for_it(statement: str, column: int) -> None:
    line = strangers(statement).splitlines().index(statement) + 1
    assert [(one.span.line, one.span.column) for one in read_strangers(statement).diagnostics
            if one.severity == "error"] == [(line, column)]


@pytest.mark.parametrize("statement", [
    "any := pump;", "any := heir;", "any := more;", "any := any;", "any := 0;", "taker(one := pump);",
    "n := Look(more);", "ok := taker.Take(one := heir);", "IF any = 0 THEN any := pump; END_IF"])
def test_what_implements_an_interface_stands_for_it(statement: str) -> None:
    assert [one.message for one in read_strangers(statement).diagnostics if one.severity == "error"] == []


def strangers(statement: str) -> str:
    own = "plain : Plain; other : IOther; more : IMore; taker : Taker; heir : Heir; "
    return STRANGERS + RIGHT.replace("VAR pump : Pump;", f"VAR {own}pump : Pump;").replace("any := pump;", statement)


def read_strangers(statement: str) -> Reading:
    return read_program(strangers(statement), dialect=Dialect("twincat"))


def test_an_interface_asks_for_what_it_extends_too() -> None:
    source = ("INTERFACE IA\nMETHOD A : BOOL\nEND_METHOD\nEND_INTERFACE\nINTERFACE IB EXTENDS IA\nEND_INTERFACE\n"
              "FUNCTION_BLOCK F IMPLEMENTS IB\nEND_FUNCTION_BLOCK\n")
    assert [one.message for one in read_program(source).diagnostics if one.severity == "error"] == [
        "F has no 'A', which the interface IB asks for"]
