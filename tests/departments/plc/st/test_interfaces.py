"""Calls by way of an interface: by cases where all instances are known, UNKNOWN where one is of unknown origin."""

from __future__ import annotations

import random

import pytest

from benchmarks.plc.agreement import compare_source
from benchmarks.plc.random_objects import write_objects
from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.st.core import Dialect
from chatdev.departments.plc.st.reading import read_program

TWINCAT = Dialect("twincat")
BLOCKS = """INTERFACE IDrive
METHOD Start : INT
VAR_INPUT speed : INT; END_VAR
END_METHOD
PROPERTY Level : INT
GET
END_GET
SET
END_SET
END_PROPERTY
END_INTERFACE
INTERFACE IOther
METHOD Stop : BOOL
END_METHOD
END_INTERFACE
FUNCTION_BLOCK Motor IMPLEMENTS IDrive, IOther
VAR v : INT; END_VAR
METHOD Start : INT
VAR_INPUT speed : INT; END_VAR
v := LIMIT(0, speed, 100); Start := v;
END_METHOD
METHOD Stop : BOOL
v := 0; Stop := TRUE;
END_METHOD
METHOD Me : IDrive
Me := THIS^;
END_METHOD
PROPERTY Level : INT
GET
Level := v;
END_GET
SET
v := Level;
END_SET
END_PROPERTY
END_FUNCTION_BLOCK
FUNCTION_BLOCK Valve IMPLEMENTS IDrive
VAR open : BOOL; END_VAR
METHOD Start : INT
VAR_INPUT speed : INT; END_VAR
open := speed > 0; Start := SEL(open, 0, 1);
END_METHOD
PROPERTY Level : INT
GET
Level := SEL(open, 0, 1);
END_GET
SET
open := Level > 0;
END_SET
END_PROPERTY
END_FUNCTION_BLOCK
FUNCTION_BLOCK Cell
VAR_INPUT drive : IDrive; speed : INT; END_VAR
VAR inner : Motor; kept : IDrive; END_VAR
VAR_OUTPUT now : INT; END_VAR
METHOD FB_init : BOOL
VAR_INPUT bInitRetains, bInCopyCode : BOOL; first : IDrive; END_VAR
kept := first;
END_METHOD
METHOD Own : IDrive
Own := inner;
END_METHOD
now := -1;
IF drive <> 0 THEN now := drive.Start(speed); END_IF
END_FUNCTION_BLOCK
FUNCTION ask : INT
VAR_INPUT d : IDrive; END_VAR
IF d <> 0 THEN ask := d.Level; END_IF
END_FUNCTION
FUNCTION_BLOCK Wide IMPLEMENTS IOther
METHOD Stop : BOOL
Stop := TRUE;
END_METHOD
END_FUNCTION_BLOCK
"""
CHAIN = """FUNCTION_BLOCK Chain IMPLEMENTS IOther
VAR_INPUT next : IOther; END_VAR
METHOD Stop : BOOL
IF next <> 0 THEN Stop := next.Stop(); ELSE Stop := TRUE; END_IF
END_METHOD
END_FUNCTION_BLOCK
"""
HEAD = """VAR_GLOBAL shared : Valve; END_VAR
PROGRAM P
VAR_INPUT x : INT; c : BOOL; END_VAR
VAR y : INT; b : BOOL; d, e : IDrive; o : IOther; motor : Motor; valve : Valve; list : ARRAY[0..2] OF IDrive;
cells : ARRAY[1..2] OF Motor; cell : Cell(first := motor); i : INT; END_VAR
"""


def source(body: str, head: str = HEAD) -> str:
    return f"{BLOCKS}{head}{body}\nEND_PROGRAM"


def judge(body: str, condition: str, head: str = HEAD, dialect: Dialect = TWINCAT) -> tuple[str, str]:
    asked = read_properties([{"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [condition]}])
    found = verify(source(body, head), "P", asked, dialect=dialect)[0]
    return found.verdict, found.reason


RIGHT = [
    ("IF c THEN d := motor; ELSE d := valve; END_IF y := d.Start(x);", "y >= 0 AND y <= 100"),
    ("d := motor; e := d; y := e.Start(x);", "y = motor.v"),
    ("IF c THEN d := motor; ELSE d := valve; END_IF y := d.Start(x);", "c OR y <= 1"),
    ("d := shared; d.Level := x; y := shared.Level;", "y = SEL(x > 0, 0, 1)"),
    ("d := cells[2]; d.Level := 7; y := cells[1].Level;", "y = 0 AND cells[2].v = 7"),
    ("list[0] := motor; list[1] := valve; FOR i := 0 TO 2 DO IF list[i] <> 0 THEN list[i].Start(5); END_IF END_FOR "
     "y := motor.Level + valve.Level;", "y = 6"),
    ("cell(drive := motor, speed := x); y := cell.now;", "y >= 0"),
    ("cell(speed := x); y := cell.now;", "y = -1"),
    ("d := cell.Own(); d.Level := 9; y := cell.inner.v;", "y = 9"),
    ("d := motor.Me(); b := d = motor AND d <> cells[1];", "b"),
    ("y := cell.kept.Start(4) + ask(motor) + ask(0);", "y = 8"),
    ("d := motor; b := __QUERYINTERFACE(d, o); IF b THEN o.Stop(); END_IF y := motor.v;", "b AND y = 0"),
    ("d := valve; b := __QUERYINTERFACE(d, o) OR o <> 0;", "NOT b"),
    ("o := motor; motor.Level := 5; b := NOT c OR o.Stop();", "b AND (NOT c OR motor.v = 0)"),
    ("IF c THEN d := 0; END_IF b := d = 0;", "b"),
]
WRONG = [
    ("IF c THEN d := motor; ELSE d := valve; END_IF y := d.Start(x);", "c OR y <= 0"),
    ("IF c THEN d := motor; ELSE d := valve; END_IF y := d.Start(x);", "NOT c OR y <= 1"),
    ("d := motor; e := d; d := valve; y := e.Start(x);", "y <= 1"),
    ("d := shared; d.Level := x; y := shared.Level;", "y = 0"),
    ("d := cells[2]; d.Level := x; y := cells[2].Level;", "y < 77"),
    ("IF c THEN cell(drive := motor, speed := x); END_IF y := cell.now;", "y = 0"),
    ("IF c THEN d := valve; END_IF b := d = 0;", "b"),
    ("d := motor; IF c THEN d := valve; END_IF b := __QUERYINTERFACE(d, o);", "b"),
    ("d := motor; IF c THEN d := cells[1]; END_IF b := d = motor;", "b"),
]


@pytest.mark.parametrize(("body", "condition"), RIGHT)
def test_what_is_right_is_proved(body: str, condition: str) -> None:
    reading = read_program(source(body), "P", TWINCAT)
    assert reading.program, reading.diagnostics
    assert not reading.gaps
    machine, dice = Machine(reading.program), random.Random(body)
    for _ in range(30):
        machine.scan({"x": dice.randint(-200, 200), "c": dice.random() < 0.5})
    assert judge(body, condition)[0] == "PROVED"


@pytest.mark.parametrize(("body", "condition"), WRONG)
def test_what_is_wrong_is_violated(body: str, condition: str) -> None:
    assert judge(body, condition)[0] == "VIOLATED"


OPEN = HEAD.replace("VAR_INPUT x", "VAR_INPUT given : IDrive; x")
TEMPORARY = HEAD.replace("VAR y", "VAR_TEMP short : Motor; END_VAR\nVAR y")
COPIED = HEAD.replace("VAR y", "VAR copied : Motor; y")
MISSING = HEAD.replace("VAR y", "VAR lib : LibraryDrive; y")
CIRCLE = CHAIN + HEAD.replace("VAR y", "VAR chain, second : Chain; y")
MANY = HEAD.replace("VAR y", "VAR many : ARRAY[1..40] OF Wide; y")


@pytest.mark.parametrize(("body", "condition", "head"), [
    ("y := given.Start(x);", "motor.v = 0", OPEN),
    ("d := given; IF d <> 0 THEN d.Start(3); END_IF", "y = 0", OPEN),
    ("d := short; y := d.Start(x);", "y >= 0", TEMPORARY),
    ("copied := motor; d := copied.Me(); b := d = motor;", "b", COPIED),
    ("d := lib; y := d.Start(x);", "motor.v = 0", MISSING),
    ("FOR i := 1 TO 40 DO o := many[i]; END_FOR o.Stop();", "y = 0", MANY),
    ("y := d.Start(x);", "y = 0", HEAD),
    ("chain(next := second); second(next := chain); o := chain; b := o.Stop();", "b", CIRCLE),
])
def test_an_instance_of_unknown_origin_is_never_proved(body: str, condition: str, head: str) -> None:
    verdict, reason = judge(body, condition, head, Dialect("twincat", allows_missing=True))
    assert verdict == "UNKNOWN", reason
    assert reason.startswith("not verified: ")


def test_a_call_of_no_instance_ends_a_run() -> None:
    program = read_program(source("y := d.Start(x);"), "P", TWINCAT).program
    assert program
    with pytest.raises(RunTimeFault, match="a reference or pointer that stands for nothing"):
        Machine(program).scan({"x": 1})


@pytest.mark.parametrize(("body", "code"), [
    ("d.Stop();", "unknown-member"), ("o := d;", "no-interface"), ("d := cell;", "no-interface"),
    ("d := 1;", "type-mismatch"), ("d := valve; y := d.Start('a');", "type-mismatch"),
    ("d := valve; d.Start(spead := 1);", "unknown-parameter"), ("d := valve; b := d.Start(1);", "type-mismatch")])
def test_what_an_interface_does_not_have(body: str, code: str) -> None:
    reading = read_program(source(body), "P", TWINCAT)
    assert [one.code for one in reading.diagnostics if one.severity == "error"] == [code]


@pytest.mark.parametrize("seed", range(12))
def test_a_random_program_means_what_its_twin_by_cases_means(seed: int) -> None:
    both = [read_program(write_objects(seed, one), "Main", TWINCAT) for one in (True, False)]
    assert both[0].program
    assert both[1].program, both[1].diagnostics
    machines, dice = [Machine(one.program) for one in both if one.program], random.Random(seed)
    for _ in range(40):
        row = {"a": dice.randint(-9, 9), "b0": dice.random() < 0.5}
        ours, twins = (machine.scan(row) for machine in machines)
        assert [ours[name] for name in "rsb"] == [twins[name] for name in "rsb"]


@pytest.mark.parametrize("seed", range(3))
def test_a_random_program_means_the_same_in_run_proof_and_c(seed: int) -> None:
    found = compare_source(write_objects(seed), seed, 40, TWINCAT)
    assert (found.difference, found.scans) == ("", 40)
