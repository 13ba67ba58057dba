"""Programs written for other engineering tools, and read again as the same programs."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from benchmarks.plc.corpus import examples, sheets
from benchmarks.plc.random_programs import write_program
from chatdev.departments.plc.export import write_plcopen, write_twincat
from chatdev.departments.plc.project import check_project, read_project
from chatdev.departments.plc.source_parts import NotWritable
from chatdev.departments.plc.source_run import simulate_at_random
from chatdev.departments.plc.st.diagnostics import Findings
from chatdev.departments.plc.st.parse_unit import parse_source
from chatdev.departments.plc.st.reading import read_program
from chatdev.departments.plc.st.syntax import Declaration
from tests.departments.plc.latch import LATCH, plc
from tests.departments.plc.pump import RIGHT

WHOLE = """TYPE
  Mode : (Idle, Busy := 5);
  Pair : STRUCT
    a : INT := 3; // of two
    b : ARRAY[0..3, 1..2] OF BOOL;
  END_STRUCT
  Small : INT (0..9);
END_TYPE
VAR_GLOBAL CONSTANT Most : INT := 2 + 3; END_VAR
(* it doubles *)
FUNCTION Double : INT
VAR_INPUT x : INT; END_VAR
Double := x + x; // ]]> is no end
END_FUNCTION
FUNCTION_BLOCK Counter
VAR_INPUT up : BOOL; name : STRING[20]; END_VAR
VAR_OUTPUT count : INT; END_VAR
VAR edge : R_TRIG; pair : Pair := (a := 4); levels : ARRAY[1..3] OF INT := [1, 2(7)]; small : Small; END_VAR
edge(CLK := up);
IF edge.Q AND count < Most THEN count := count + 1; END_IF;
END_FUNCTION_BLOCK
PROGRAM Main
VAR_INPUT button AT %IX0.1 : BOOL; a, b : INT := 1; END_VAR
VAR counter : Counter; mode : Mode; END_VAR
VAR_OUTPUT shown : INT; END_VAR
counter(up := button);
mode := Busy;
shown := Double(counter.count) + a + b;
END_PROGRAM
"""
OBJECTS = """TYPE Base : STRUCT a : STRING := 'two  blanks. , here'; END_STRUCT END_TYPE
TYPE PUBLIC Wide EXTENDS Base : STRUCT b : ARRAY[0..1] OF Base; END_STRUCT END_TYPE
NAMESPACE Limits
VAR_GLOBAL CONSTANT Most : INT := 7; END_VAR
VAR_GLOBAL level : INT; END_VAR
END_NAMESPACE
INTERFACE IOne EXTENDS ITwo, IThree
METHOD Go : BOOL
VAR_INPUT x : INT; END_VAR
END_METHOD
PROPERTY Depth : INT
GET
END_GET
END_PROPERTY
END_INTERFACE
INTERFACE ITwo END_INTERFACE
INTERFACE IThree END_INTERFACE
(* a pump *)
FUNCTION_BLOCK ABSTRACT Pump IMPLEMENTS IOne
VAR x : INT; END_VAR
VAR CONSTANT c : REAL := -1.5; END_VAR
// it goes
METHOD PUBLIC FINAL Go : BOOL
VAR_INPUT x : INT; END_VAR
VAR_INST kept : INT; END_VAR
// a comment; END_METHOD is no end
kept := x; Go := kept > 0;
END_METHOD
PROPERTY PROTECTED Depth : INT
GET
VAR y : INT; END_VAR
Depth := y;
END_GET
PRIVATE SET
x := Depth;
END_SET
END_PROPERTY
METHOD ABSTRACT Stop : REFERENCE TO ARRAY[1..3] OF POINTER TO INT
END_METHOD
ACTION Reset:
x := 0;
END_ACTION
x := x + 1; get := set;
END_FUNCTION_BLOCK
ACTION After:
x := 2;
END_ACTION
FUNCTIONBLOCK Heir EXTENDS Pump IMPLEMENTS ITwo, IThree
VAR_INPUT edge : BOOL R_EDGE; t : TON := (PT := T#1s); timed : Timed(3, 'a  b'); END_VAR
METHOD Stop : INT END_METHOD
END_FUNCTION_BLOCK
FUNCTION Largest : ARRAY[1..2] OF INT
VAR_IN_OUT a : ARRAY[*] OF INT; END_VAR
END_FUNCTION
FUNCTION Bare : INT Bare := 1; END_FUNCTION
PROGRAM Main
VAR PERSISTENT heir : Heir; END_VAR
Heir(); ACTION_(1);
END_PROGRAM
ACTIONS Pump
ACTION Late:
x := 3;
END_ACTION
END_ACTIONS
CONFIGURATION c
VAR_GLOBAL shared AT %MW3 : INT := 4; END_VAR
RESOURCE r ON PLC
TASK t(INTERVAL := T#20ms, PRIORITY := 1);
PROGRAM i WITH t : Main;
END_RESOURCE
END_CONFIGURATION
"""
SOURCES = [WHOLE, LATCH, *(one.source for one in (*examples(), *sheets()) if read_program(one.source).program)]


def again(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    project = read_project([folder])
    assert [one for check in check_project(project).values() for one in check.errors] == []
    return project.text


@pytest.mark.parametrize("number", range(len(SOURCES)))
def test_what_is_written_is_read_as_the_same_program(tmp_path: Path, number: int) -> None:
    source = SOURCES[number]
    wanted = simulate_at_random(source, None, 30).csv
    for form in ("twincat", "plcopen"):
        (folder := tmp_path / form).mkdir()
        files = write_twincat(source) if form == "twincat" else {"all.xml": write_plcopen(source, "all")}
        assert simulate_at_random(again(folder, files), read_entry(source), 30).csv == wanted


def tree(found: object) -> object:
    """What was read, without places and the size of letters, and a declaration for each name."""
    if is_dataclass(found) and not isinstance(found, type):
        parts = {one.name: tree(getattr(found, one.name)) for one in fields(found) if one.name not in ("span", "text")}
        return type(found).__name__, parts
    if isinstance(found, list | tuple):
        single = [replace(one, names=(name,)) for one in found if isinstance(one, Declaration) for name in one.names]
        members = [tree(one) for one in single or found]
        return sorted(members, key=repr) if found and type(found[0]).__name__ == "Unit" else members
    return found


def units(text: str) -> dict[str, object]:
    """All that a text declares, by its name."""
    findings = Findings()
    syntax = parse_source(text, findings)
    assert not findings.failed, [one.message for one in findings.in_order()]
    declared = [replace(one, names=(name,)) for one in (*syntax.types, *syntax.globals) for name in one.names]
    return {**{one.name.key: tree(one) for one in syntax.units}, **{one.names[0].key: tree(one) for one in declared}}


@pytest.mark.parametrize("source", [RIGHT, OBJECTS, *(write_program(seed) for seed in range(12))])
@pytest.mark.parametrize("form", ["twincat", "plcopen"])
def test_what_is_written_has_the_same_words(tmp_path: Path, source: str, form: str) -> None:
    files = write_twincat(source, "Main", 50)
    if form == "plcopen":
        files = {"all.xml": write_plcopen(source, "all", "Main", 50)}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    project = read_project([tmp_path])
    assert units(project.text) == units(source)
    assert (project.entry, project.cycle_ms) == ("Main", 20 if "INTERVAL" in source else 50)


def test_the_elements_alone_tell_the_same_program(tmp_path: Path) -> None:
    """As CODESYS writes it where declarations as written are not asked for."""
    bare, count = re.subn(r'<data name="[^"]*/interfaceasplaintext".*?</data>', "", write_plcopen(RIGHT, "all"),
                          flags=re.DOTALL)
    assert count > 10
    (tmp_path / "all.xml").write_text(bare, encoding="utf-8")
    assert units(read_project([tmp_path]).text) == units(RIGHT)


def test_a_mistake_in_a_member_stands_at_its_line(tmp_path: Path) -> None:
    files = write_twincat(RIGHT.replace("Most : INT := 7", "Most : INT := seven"))
    (tmp_path / "Pump.TcPOU").write_text(files["Pump.TcPOU"].replace("running := speed > 0;", "running := spead;"),
                                         encoding="utf-8")
    (tmp_path / "IPump.TcIO").write_text(files["IPump.TcIO"], encoding="utf-8")
    (tmp_path / "Base.TcPOU").write_text(files["Base.TcPOU"], encoding="utf-8")
    said = plc("check", tmp_path).output
    assert "undeclared variable 'seven' [declaration, line 3]" in said
    assert "undeclared variable 'spead' [Start, line 1]" in said


def read_entry(source: str) -> str:
    program = read_program(source).program
    assert program is not None
    return program.entry.name


def test_the_command_writes_what_other_tools_read(tmp_path: Path) -> None:
    (tmp_path / "whole.st").write_text(WHOLE, encoding="utf-8")
    done = plc("export", tmp_path / "whole.st", "--out", tmp_path / "twincat")
    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'twincat'}: 8 files\n")
    names = sorted(file.name for file in (tmp_path / "twincat").iterdir())
    assert names == ["Counter.TcPOU", "Double.TcPOU", "GVL_3.TcGVL", "Main.TcPOU", "Mode.TcDUT", "Pair.TcDUT",
                     "PlcTask.TcTTO", "Small.TcDUT"]
    assert "(* it doubles *)" in (tmp_path / "twincat" / "Double.TcPOU").read_text(encoding="utf-8")
    assert plc("export", tmp_path / "twincat", "--out", tmp_path / "plant.xml").exit_code == 0
    assert plc("check", tmp_path / "plant.xml").exit_code == 0
    (tmp_path / "wrong.st").write_text(WHOLE.replace("mode := Busy", "mode := Lazy"), encoding="utf-8")
    done = plc("export", tmp_path / "wrong.st", "--out", tmp_path / "never.xml")
    assert (done.exit_code, (tmp_path / "never.xml").exists()) == (1, False)


def test_what_has_no_place_there_is_named() -> None:
    with pytest.raises(NotWritable, match="line 1: x has no place"):
        write_twincat("x := 1;")
    with pytest.raises(NotWritable, match="line 1: the type `REFERENCE TO INT` of a variable has no place in PLCopen"):
        write_plcopen("VAR_GLOBAL p : REFERENCE TO INT; END_VAR\n", "p")
