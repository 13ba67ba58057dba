"""What TwinCAT 3 has beside the plain language: generic constants, exceptions, in-outs that are only read."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.st.core import IEC, Dialect
from chatdev.departments.plc.st.reading import Reading, read_program

TWINCAT = Dialect("twincat")


def read(body: str, declared: str = "", more: str = "", dialect: Dialect = TWINCAT) -> Reading:
    head = f"{more}PROGRAM P\nVAR_INPUT x : INT; END_VAR\nVAR y : DINT; b : BOOL; s : STRING; {declared} END_VAR\n"
    return read_program(f"{head}{body}\nEND_PROGRAM\n", "P", dialect)


def value(body: str, declared: str = "", more: str = "", name: str = "y") -> object:
    """A variable after a scan."""
    reading = read(body, declared, more)
    assert reading.program, reading.diagnostics
    return Machine(reading.program).scan({})[name]


GENERIC = """FUNCTION_BLOCK List
VAR_GENERIC CONSTANT Size : DINT := 5; END_VAR
EXTENDS Base<Size>
VAR items : ARRAY[1..Size] OF INT; END_VAR
END_FUNCTION_BLOCK
FUNCTION_BLOCK Base
VAR_GENERIC CONSTANT Most : DINT := 5; END_VAR
END_FUNCTION_BLOCK
"""


def test_generic_constants_are_a_gap() -> None:
    reading = read("y := 1; list(); b := TRUE;", "list : List<3>; other : List<3>(n := 1);", GENERIC)
    assert {one.code for one in reading.diagnostics} == {"gap-type"}
    wrong = read("y := 1;", "list : List<3;", GENERIC)
    assert [one.code for one in wrong.diagnostics if one.severity == "error"] == ["expected"]


TRY = """FUNCTION Shield : DINT
VAR_INPUT n : INT; END_VAR
VAR code : DINT; END_VAR
Shield := 1;
{0}
END_FUNCTION
"""


@pytest.mark.parametrize(("body", "condition", "verdict"), [
    ("__TRY Shield := 2; __CATCH(code) Shield := 3; __FINALLY code := 1; __ENDTRY", "y = 2", "UNKNOWN"),
    ("__TRY Shield := 2; __CATCH(code) __ENDTRY Shield := 4;", "y = 4", "PROVED"),
    ("__TRY IF n > 3 THEN RETURN; END_IF __CATCH(code) __ENDTRY Shield := 4;", "y = 4", "UNKNOWN"),
])
def test_what_happens_in_a_try_is_not_known(body: str, condition: str, verdict: str) -> None:
    source = (f"{TRY.format(body)}PROGRAM P\nVAR_INPUT x : INT; END_VAR\nVAR y : DINT; END_VAR\ny := Shield(x);\n"
              "END_PROGRAM")
    assert [one.code for one in read_program(source, "P", TWINCAT).gaps] == ["gap-try"]
    asked = [Property("pattern-invariant", (condition,))]
    assert verify(source, "P", asked, seconds=2, dialect=TWINCAT)[0].verdict == verdict


READ = """FUNCTION Scale : DINT
VAR_IN_OUT CONSTANT n : DINT; text : STRING(3); END_VAR
Scale := n * 2;
END_FUNCTION
FUNCTION Twice : DINT
VAR_IN_OUT CONSTANT n : DINT; END_VAR
Twice := Scale(n, 'ab');
END_FUNCTION
VAR_GLOBAL CONSTANT FIVE : DINT := 5; END_VAR
"""


def test_an_in_out_that_is_only_read_takes_constants() -> None:
    assert value("y := Scale(FIVE, 'abc') + Twice(4);", "", READ) == 18
    assert value("y := 4; y := Scale(y, '');", "", READ) == 8
    wrong = READ.replace("Scale := n * 2;", "n := 2;")
    assert [one.code for one in read("y := Scale(FIVE, 'abc');", "", wrong).diagnostics] == ["assign-constant"]
    plain = READ.replace(" CONSTANT n : DINT; text", " n : DINT; text")
    assert "assign-constant" in [one.code for one in read("y := Scale(FIVE, s);", "", plain).diagnostics]


def test_a_text_in_double_quotes_is_no_name() -> None:
    more = "TYPE E : (Red, Green); END_TYPE\n"
    assert value('w := "Red"; y := 2; IF w = "" THEN y := 1; END_IF', "w : WSTRING;", more, "w") == "Red"


def test_a_bit_string_may_have_limits() -> None:
    assert value("w := 3; y := BYTE_TO_DINT(w);", "w : BYTE(0..7);", "") == 3
    assert [one.code for one in read("", "w : BYTE(0..7);", dialect=IEC).diagnostics] == ["no-subrange"]


def test_a_method_without_its_end_is_one_error() -> None:
    source = ("FUNCTION_BLOCK A\nVAR x : INT; END_VAR\nMETHOD One : INT\nOne := 1;\nMETHOD Two : INT\nTwo := 2;\n"
              "END_METHOD\nx := 1;\nEND_FUNCTION_BLOCK\nPROGRAM P\nVAR a : A; y : INT; END_VAR\n"
              "y := a.One() + a.Two();\nEND_PROGRAM\n")
    found = read_program(source, "P", TWINCAT).diagnostics
    assert [(str(one.span), one.code) for one in found] == [("5:1", "not-closed")]
    assert read_program(source.replace("1;\nMETHOD", "1;\nEND_METHOD\nMETHOD"), "P", TWINCAT).program
