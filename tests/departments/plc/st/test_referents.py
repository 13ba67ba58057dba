"""What references and pointers stand for, where that is known; everywhere else a proof says that it is not."""

import pytest

from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import Reading, read_program

CODESYS = Dialect("codesys")
MORE = """TYPE T : STRUCT a : INT; more : ARRAY[0..3] OF INT; END_STRUCT END_TYPE
FUNCTION Raise : INT
VAR_INPUT what : REFERENCE TO INT; plus : INT := 1; END_VAR
what := what + plus;
Raise := what;
END_FUNCTION
FUNCTION_BLOCK Filler
VAR_INPUT tank : REFERENCE TO T; on : BOOL; END_VAR
VAR valid : BOOL; END_VAR
valid := __ISVALIDREF(tank);
IF on THEN tank.a := tank.a + 2; END_IF
END_FUNCTION_BLOCK
FUNCTION_BLOCK Keeper
VAR_INPUT start : INT; END_VAR
VAR kept : INT; r : REFERENCE TO INT; END_VAR
METHOD Read : INT
VAR_INPUT from : REFERENCE TO INT; END_VAR
VAR l : REFERENCE TO INT; END_VAR
l REF= from;
Read := l + kept;
END_METHOD
r REF= kept;
r := start;
END_FUNCTION_BLOCK
"""


def source(body: str, declared: str) -> str:
    return (f"{MORE}PROGRAM P\nVAR_INPUT x : INT; c : BOOL; END_VAR\nVAR y, z : INT; t, u : T; b : BOOL; {declared}\n"
            f"END_VAR\n{body}\nEND_PROGRAM")


def read(body: str, declared: str) -> Reading:
    return read_program(source(body, declared), "P", CODESYS)


@pytest.mark.parametrize(("body", "declared", "expected"), [
    ("r REF= y; r := x; r := r + 1;", "r : REFERENCE TO INT;", 11),
    ("r := x;", "r : REFERENCE TO INT REF= y;", 10),
    ("p := ADR(y); p^ := x; p^ := p^ * 2;", "p : POINTER TO INT;", 20),
    ("p^ := 3;", "p : POINTER TO INT := ADR(y);", 3),
    ("r REF= t; r.a := x; r.more[2] := 5; y := t.a + t.more[2];", "r : REFERENCE TO T;", 15),
    ("p := ADR(t.more[1]); p^ := 4; y := t.more[1];", "p : POINTER TO INT;", 4),
    ("IF NOT b THEN r REF= y; b := TRUE; END_IF r := 6;", "r : REFERENCE TO INT;", 6),
    ("IF __ISVALIDREF(r) THEN y := 1; ELSE y := 2; END_IF r REF= y;", "r : REFERENCE TO INT;", 2),
    ("y := 5; z := Raise(y, 3);", "", 8), ("y := 5; z := Raise(what := y);", "", 6),
    ("f(tank := t, on := c); f(tank := t); y := t.a + BOOL_TO_INT(f.valid);", "f : Filler;", 5),
    ("k(start := 4); z := 3; y := k.Read(from := z);", "k : Keeper;", 7),
])
def test_a_reference_is_another_name_of_its_variable(body: str, declared: str, expected: int) -> None:
    reading = read(body, declared)
    assert (reading.gaps, reading.program is not None) == ((), True), reading.diagnostics
    assert reading.program
    assert Machine(reading.program).scan({"x": 10, "c": True})["y"] == expected
    once = f"IF once > 0 THEN RETURN; END_IF once := 1; {body}"
    for claim, verdict in ((f"x <> 10 OR NOT c OR y = {expected}", "PROVED"), (f"y <> {expected}", "VIOLATED")):
        asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [
            f"({claim}) OR seen"]}])
        text = source(f"seen := once > 0; {once}", f"{declared} once : INT; seen : BOOL;")
        assert verify(text, "P", asked, dialect=CODESYS)[0].verdict == verdict


@pytest.mark.parametrize(("body", "declared"), [
    ("r REF= y; IF c THEN r REF= z; END_IF r := 1;", "r : REFERENCE TO INT;"),
    ("p := ADR(y); p := p + 1; p^ := 1;", "p : POINTER TO INT;"),
    ("p := ADR(y); q := p; q^ := 1;", "p, q : POINTER TO INT;"),
    ("r REF= t.more[x]; r := 1;", "r : REFERENCE TO INT;"),
    ("p := ADR(t); p^ := 1;", "p : POINTER TO INT;"),
    ("z := Raise(plus := 2);", ""), ("f(on := c);", "f : Filler;"),
    ("r REF= s; s REF= r; r := 1;", "r, s : REFERENCE TO INT;"),
])
def test_what_is_not_known_of_a_reference_is_said(body: str, declared: str) -> None:
    reading = read(body, declared)
    assert reading.program, reading.diagnostics
    assert {one.code for one in reading.gaps} <= {"gap-reference", "gap-pointer"}
    assert reading.gaps
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["y = 0"]}])
    assert verify(source(body, declared), "P", asked, dialect=CODESYS, seconds=2)[0].verdict == "UNKNOWN"


@pytest.mark.parametrize("body", ["r := 1;", "IF c THEN r REF= y; END_IF r := 1;", "r REF= y; r REF= 0; r := 1;"])
def test_a_reference_that_stands_for_nothing_is_not_followed(body: str) -> None:
    text = f"{body} IF FALSE THEN r REF= y; END_IF"
    reading = read(text, "r : REFERENCE TO INT;")
    assert reading.program
    assert reading.gaps == ()
    with pytest.raises(RunTimeFault, match="not run: a reference or pointer that stands for nothing"):
        Machine(reading.program).scan({"x": 1, "c": False})
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["z = 0"]}])
    assert verify(source(text, "r : REFERENCE TO INT;"), "P", asked, dialect=CODESYS, seconds=2)[0].verdict == "UNKNOWN"


@pytest.mark.parametrize("heir", [
    "FUNCTION_BLOCK Heir EXTENDS Keeper\nVAR o : INT; END_VAR\nr REF= o;\nEND_FUNCTION_BLOCK\n",
    "FUNCTION_BLOCK Heir EXTENDS Keeper\nVAR o : INT; END_VAR\nMETHOD Turn\nr REF= o;\nEND_METHOD\n"
    "END_FUNCTION_BLOCK\n"])
def test_an_heir_that_turns_a_reference_is_seen(heir: str) -> None:
    text = source("k(start := 2); y := k.kept;", "k : Keeper;")
    assert read_program(text, "P", CODESYS).gaps == ()
    assert read_program(text.replace("PROGRAM P", f"{heir}PROGRAM P"), "P", CODESYS).gaps


def test_a_reference_to_what_is_gone_in_the_next_call_is_not_followed() -> None:
    block = ("FUNCTION_BLOCK Late\nVAR_IN_OUT io : INT; END_VAR\nVAR r : REFERENCE TO INT; n : INT; END_VAR\n"
             "IF n = 0 THEN r REF= io; END_IF n := 1; r := 3;\nEND_FUNCTION_BLOCK\n")
    text = source("l(io := y); l(io := z);", "l : Late;").replace("PROGRAM P", f"{block}PROGRAM P")
    assert [one.code for one in read_program(text, "P", CODESYS).gaps] == ["gap-reference"]


@pytest.mark.parametrize(("body", "expected"), [
    ("z := Raise(y + 1);", ["no-place"]), ("z := Raise(b);", ["output-type"]), ("f(tank := y);", ["output-type"]),
    ("r REF= nothing;", ["undeclared"])])
def test_what_a_reference_cannot_stand_for(body: str, expected: list[str]) -> None:
    reading = read(body, "f : Filler; r : REFERENCE TO INT;")
    assert [one.code for one in reading.diagnostics if one.severity == "error"] == expected
