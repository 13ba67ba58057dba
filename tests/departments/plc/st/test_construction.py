"""What FB_init does before the first scan: the same to a run and to a proof."""

import pytest

from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import Reading, read_program

TWINCAT = Dialect("twincat")
FLAGS = "bInitRetains, bInCopyCode : BOOL;"
BLOCKS = f"""FUNCTION_BLOCK Limit
VAR_INPUT in : INT; END_VAR
VAR most : INT := 1; calls, first : INT; END_VAR
METHOD FB_init : BOOL
VAR_INPUT {FLAGS} most_ : INT; END_VAR
most := most_;
calls := calls + 1;
first := BOOL_TO_INT(bInitRetains) + 2 * BOOL_TO_INT(bInCopyCode);
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Steep EXTENDS Limit
VAR rise, seen : INT; END_VAR
METHOD FB_init : BOOL
VAR_INPUT {FLAGS} most_ : INT; rise_ : INT; END_VAR
rise := rise_;
seen := most;
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Plain EXTENDS Steep
END_FUNCTION_BLOCK
FUNCTION_BLOCK Pair
VAR size : INT := 6; a : Limit(size); b : Steep(7, rise_ := 8); sum : INT; END_VAR
METHOD FB_init : BOOL
VAR_INPUT {FLAGS} size : INT; END_VAR
sum := a.most + b.most + b.rise + size;
END_METHOD
END_FUNCTION_BLOCK
FUNCTION_BLOCK Quiet
VAR n : INT; END_VAR
METHOD FB_init : BOOL
VAR_INPUT {FLAGS} END_VAR
n := n + 4;
END_METHOD
END_FUNCTION_BLOCK
TYPE Cell : STRUCT q : Quiet; END_STRUCT END_TYPE
FUNCTION Twice : INT
VAR_INPUT x : INT; END_VAR
VAR l : Limit(2); END_VAR
Twice := l.most * x;
END_FUNCTION
"""


def source(declared: str, body: str) -> str:
    return (f"{BLOCKS}VAR_GLOBAL g : Limit(11); END_VAR\nPROGRAM P\nVAR {declared} y, k : INT; END_VAR\n{body}\n"
            "IF k < 3 THEN k := k + 1; END_IF\nEND_PROGRAM")


def read(declared: str, body: str) -> Reading:
    return read_program(source(declared, body), "P", TWINCAT)


@pytest.mark.parametrize(("declared", "body", "expected"), [
    ("l : Limit(5);", "y := l.most * 100 + l.calls * 10 + l.first;", 511),
    ("l : Limit(most_ := 9);", "y := l.most;", 9),
    ("l : Limit(2 + 3);", "l(); y := l.most;", 5),
    ("s : Steep(3, 4);", "y := s.most * 100 + s.seen * 10 + s.rise;", 334),
    ("p : Plain(3, 4);", "y := p.most * 100 + p.seen * 10 + p.rise + p.calls;", 335),
    ("p : Pair(100);", "y := p.sum;", 121), ("q : Quiet;", "y := q.n;", 4),
    ("q : ARRAY[1..3] OF Quiet;", "y := q[1].n + q[2].n + q[3].n;", 12), ("c : Cell;", "y := c.q.n;", 4),
    ("c : ARRAY[0..1] OF Cell;", "y := c[1].q.n;", 4), ("", "y := g.most;", 11), ("", "y := Twice(3);", 6),
    ("l : Limit(5) := (in := 3);", "y := l.in + l.most;", 8),
    ("l : ARRAY[0..1] OF Limit[(1), (2)];", "y := l[0].most * 10 + l[1].most;", 12),
    ("l : ARRAY[0..1, 1..2] OF Limit[(1), (2), (most_ := 3), (4)];", "y := l[1, 1].most * 10 + l[0, 2].most;", 32),
    ("s : ARRAY[5..6] OF Steep[(3, 4), (rise_ := 6, most_ := 5)];", "y := s[5].rise * 10 + s[6].rise;", 46),
    ("l : ARRAY[1..2] OF Limit[(1), (2)] := [(in := 3), (in := 4)];", "y := l[1].in * 10 + l[2].in + l[2].most;", 36),
    ("l : ARRAY[1..3] OF Limit[(1), (1), (1)] := [2((in := 3))];", "y := l[2].in * 10 + l[3].in;", 30),
    ("END_VAR VAR CONSTANT N : INT := 3; END_VAR VAR q : ARRAY[1..N] OF Quiet;", "y := q[1].n + q[3].n;", 8)])
def test_instances_are_constructed_before_the_first_scan(declared: str, body: str, expected: int) -> None:
    reading = read(declared, body)
    assert (reading.gaps, reading.program is not None) == ((), True), reading.diagnostics
    assert reading.program
    machine = Machine(reading.program)
    assert [machine.scan({})["y"] for _ in range(3)] == [expected] * 3
    for claim, verdict in ((f"y = {expected}", "PROVED"), (f"y <> {expected}", "VIOLATED")):
        asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [claim]}])
        assert verify(source(declared, body), "P", asked, dialect=TWINCAT)[0].verdict == verdict


@pytest.mark.parametrize(("declared", "body"), [
    ("e : (A, N); END_VAR VAR CONSTANT M : INT := N; END_VAR VAR q : ARRAY[1..M] OF Quiet;", "y := q[1].n;"),
    ("q : ARRAY[1..1000] OF Quiet;", "y := q[3].n;")])
def test_an_instance_that_cannot_be_constructed_is_not_known(declared: str, body: str) -> None:
    reading = read(declared, body)
    assert [one.code for one in reading.gaps] == ["gap-init"]
    assert reading.program is not None
    with pytest.raises(RunTimeFault, match="not run: FB_init"):
        Machine(reading.program).scan({})
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["y = 0"]}])
    assert verify(source(declared, body), "P", asked, dialect=TWINCAT, seconds=2)[0].verdict == "UNKNOWN"


@pytest.mark.parametrize(("declared", "expected"), [
    ("l : Limit(TRUE);", "type-mismatch"), ("l : Limit(5, 6);", "too-many-arguments"),
    ("l : ARRAY[0..1] OF Limit[(1)];", "array-arguments"),
    ("l : ARRAY[0..1] OF Limit[(1), (2), (3)];", "array-arguments"),
    ("l : ARRAY[0..1] OF Limit[(1), (TRUE)];", "type-mismatch"), ("l : ARRAY[0..1] OF INT[(1), (2)];", "no-arguments"),
    ("l : Limit(nothing);", "undeclared"), ("l : Limit(other := 3);", "unknown-parameter")])
def test_wrong_arguments_of_fb_init(declared: str, expected: str) -> None:
    assert [one.code for one in read(declared, "y := 1;").diagnostics] == [expected]


@pytest.mark.parametrize(("entry", "expected"), [("Quiet", 4), ("Limit", None)])
def test_a_block_that_is_run_constructs_itself(entry: str, expected: int | None) -> None:
    reading = read_program(source("", ""), entry, TWINCAT)
    assert reading.program, reading.diagnostics
    if expected is None:
        assert [one.code for one in reading.gaps] == ["gap-init"]
        with pytest.raises(RunTimeFault, match="not run: FB_init"):
            Machine(reading.program).scan({})
    else:
        assert Machine(reading.program).scan({})["n"] == expected


def test_many_instances_without_variables_are_too_many() -> None:
    text = source("e : ARRAY[0..2147483647] OF Empty;", "").replace(
        "PROGRAM P", "FUNCTION_BLOCK Empty\nEND_FUNCTION_BLOCK\nPROGRAM P")
    assert [one.code for one in read_program(text, "P", TWINCAT).diagnostics] == ["large-array"]


def test_a_block_without_an_fb_init_given_something_is_a_gap() -> None:
    text = source("t : Bare(3);", "").replace("PROGRAM P", "FUNCTION_BLOCK Bare\nEND_FUNCTION_BLOCK\nPROGRAM P")
    assert [one.code for one in read_program(text, "P", TWINCAT).gaps] == ["gap-init"]
