"""Programs written for other engineering tools, and read again as the same programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.plc.corpus import examples, sheets
from chatdev.departments.plc.export import NotWritable, write_plcopen, write_twincat
from chatdev.departments.plc.project import check_project, read_project
from chatdev.departments.plc.source_run import simulate_at_random
from chatdev.departments.plc.st.reading import read_program
from tests.departments.plc.latch import LATCH, plc

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


def read_entry(source: str) -> str:
    program = read_program(source).program
    assert program is not None
    return program.entry.name


def test_the_command_writes_what_other_tools_read(tmp_path: Path) -> None:
    (tmp_path / "whole.st").write_text(WHOLE, encoding="utf-8")
    done = plc("export", tmp_path / "whole.st", "--out", tmp_path / "twincat")
    assert (done.exit_code, done.output) == (0, f"{tmp_path / 'twincat'}: 7 files\n")
    names = sorted(file.name for file in (tmp_path / "twincat").iterdir())
    assert names == ["Counter.TcPOU", "Double.TcPOU", "GVL_3.TcGVL", "Main.TcPOU", "Mode.TcDUT", "Pair.TcDUT",
                     "Small.TcDUT"]
    assert "(* it doubles *)" in (tmp_path / "twincat" / "Double.TcPOU").read_text(encoding="utf-8")
    assert plc("export", tmp_path / "twincat", "--out", tmp_path / "plant.xml").exit_code == 0
    assert plc("check", tmp_path / "plant.xml").exit_code == 0
    (tmp_path / "wrong.st").write_text(WHOLE.replace("mode := Busy", "mode := Lazy"), encoding="utf-8")
    done = plc("export", tmp_path / "wrong.st", "--out", tmp_path / "never.xml")
    assert (done.exit_code, (tmp_path / "never.xml").exists()) == (1, False)


def test_what_has_no_place_there_is_named() -> None:
    with pytest.raises(NotWritable, match="line 1: x has no place"):
        write_twincat("x := 1;")
    with pytest.raises(NotWritable, match="line 1: the type `POINTER TO INT` of P has no place in PLCopen XML"):
        write_plcopen("PROGRAM P\nVAR p : POINTER TO INT; END_VAR\nEND_PROGRAM\n", "p")
