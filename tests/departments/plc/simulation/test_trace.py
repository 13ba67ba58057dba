"""Traces come from CSV, are run and held against what was seen, and go back to CSV; wrong ones are refused in words."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.plc.simulation.trace import Columns, WrongTrace, columns_of, read_trace, run_trace, write_trace
from chatdev.departments.plc.simulation.values import read_text, write_text
from chatdev.departments.plc.st.functions import SCALARS
from tests.departments.plc.simulation.sources import LOOPS, MOTOR, program

WHOLE = program(MOTOR)
GOOD = ("Start,Stop,speed,Run,Delay.ET,CYCLE_TIME(),Points[1].X,State\n"
        "1,FALSE,3,TRUE,T#0s,,3,Busy\n,,5,true,T#0.15s,T#150ms,5,\n0,1,-7,0,,50,-7,Halted\n")


def test_what_was_expected_is_held_against_what_was_seen() -> None:
    assert run_trace(WHOLE, read_trace(GOOD, WHOLE)).passed
    wrong = run_trace(WHOLE, read_trace(GOOD.replace(",Busy", ",Idle").replace("0.15s", "151ms"), WHOLE))
    assert [(one.scan, one.column.name, one.expected, one.seen) for one in wrong.mismatches] == [
        (1, "State", 0, 1), (2, "Delay.ET", 151, 150)]
    assert not wrong.passed
    assert len(wrong.lines) == 3


@pytest.mark.parametrize(("text", "milliseconds"), [
    ("time;Start;speed\n0;1;1,5\n0,05;0;2\n0,25;1;-0,5\n", [50, 50, 200]),
    ("Start\tt [ms]\tspeed\n1\t1000\t1,5\n0\t1050\t2\n1\t1250\t-0,5\n", [50, 50, 200]),
    ("Start,speed,Time (s)\n1,1.5,3\n0,2,3.05\n1,-0.5,3.25\n", [50, 50, 200]),
    ("Start,speed\n1,1.5\n0,2\n1,-0.5\n", [None, None, None])])
def test_a_recording_is_read_with_its_times(text: str, milliseconds: list[int | None]) -> None:
    whole = program("PROGRAM P\nVAR_INPUT Start : BOOL; speed : REAL; END_VAR\nVAR on : BOOL; END_VAR\n"
                    "on := Start;\nEND_PROGRAM")
    trace = read_trace(text, whole)
    names = [column.name for column in trace.columns]
    by_name = [dict(zip(names, row, strict=True)) for row in trace.rows]
    assert [row["speed"] for row in by_name] == [1.5, 2.0, -0.5]
    assert [row.get("CYCLE_TIME()") for row in by_name] == milliseconds
    assert run_trace(whole, trace).passed


def test_a_variable_called_time_is_no_time_of_scans() -> None:
    whole = program("PROGRAM P\nVAR_INPUT time_ : INT; t : INT; END_VAR\nEND_PROGRAM")
    assert [column.name for column in read_trace("t\n5\n3\n", whole).columns] == ["t"]


def test_what_was_seen_is_a_trace_again() -> None:
    replay = run_trace(WHOLE, read_trace(GOOD, WHOLE))
    text = write_trace(replay.trace(columns_of(WHOLE)))
    assert text.splitlines()[0].startswith("Start,Stop,Speed,Run,Warn,Count,Delay.IN,")
    assert text.splitlines()[1].startswith("TRUE,FALSE,3,TRUE,")
    assert "T#150ms" in text
    again = read_trace(text, WHOLE)
    assert again.rows[1][2] == 5
    assert write_trace(again) == text


def test_elements_of_an_array_are_inputs_one_by_one() -> None:
    whole = program(LOOPS)
    replay = run_trace(whole, read_trace("given[2];given[5];turn;first;total\n4;1;2;4;5\n;-9;;5;-5\n", whole))
    assert replay.mismatches == ()
    assert replay.states[1]["given"] == [0, 4, 0, 0, -9]


def test_a_fault_ends_a_run_and_is_told() -> None:
    whole = program(LOOPS)
    replay = run_trace(whole, read_trace("turn,turns\n2,2\n1,1\n2,2\n", whole))
    assert replay.fault
    assert (replay.fault.kind, replay.fault.scan, len(replay.states), len(replay.lines)) == ("division", 2, 1, 2)
    assert [one.name for one in replay.broken] == ["some is positive"]


def test_a_run_may_begin_in_another_state() -> None:
    replay = run_trace(WHOLE, read_trace("Stop,Run\n0,TRUE\n1,FALSE\n", WHOLE), initial={"Run": True})
    assert replay.passed


@pytest.mark.parametrize(("text", "message"), [
    ("time;Start\n1;1\n1;0\n", "line 3: time is 1, and does not go on from the row before"),
    ("time;Start\n1;1\nx;0\n", "line 3: time has 'x'; write a number"),
    ("", "line 1: the trace is empty"), ("Start,Foo\n", "line 1: there is no variable 'Foo'; Motor has Start, Stop"),
    ("Start,Points\n", r"line 1: 'Points' has parts; name one of them, as in Points\[1\]"),
    ("Start,start\n", "line 1: the column 'start' stands there twice"),
    ("Start\n1\n2\n", "line 3: Start: 2 is no BOOL"),
    ("speed\n\n1e5\n", "line 3: speed: '1e5' is no INT, which goes from -32768"),
    ("Delay.ET\nT#5x\n", "'T#5x' is no TIME"),
    ("Start,Stop\n1\n", "line 2: 1 cells for 2 columns"), ('Start\n"x\n', "line 2: this is no CSV"),
    ("Points[4].x\n", "goes from 1 to 3"), ("Delay.foo\n", "no 'foo'; it has parts IN, PT, Q, ET, last"),
    ("State\nGone\n", "one of Idle, Busy, Halted"), ("CYCLE_TIME()\n-1\n", "line 2: .*-1 is no TIME"),
    ("Start[1]\n", "it has no parts"), ("Start" + "[1]" * 30_000 + "\n", "there is no variable"),
    ("speed\n" + "1" * 100_000 + "\n", "longer than 200 characters"),
    ("Start\n" + "1\n" * 100_001, "at most 100000 rows"),
    (",".join(["Start"] * 2000) + "\n", "at most 1000")])
def test_a_wrong_trace_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(WrongTrace, match=message):
        read_trace(text, WHOLE)


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("Start,;\n\r\"'#T1s-.[]()\x00\ufeff")))
def test_no_text_breaks_the_reader(text: str) -> None:
    for whole in ("Start,Speed,Delay.ET\n" + text, text):
        with suppress(WrongTrace):
            assert write_trace(read_trace(whole, WHOLE)).count("\n") > 0


@pytest.mark.parametrize(("name", "text", "value"), [
    ("bool", "true", True), ("bool", " 0 ", False), ("bool", "BOOL#1", True), ("int", "16#7f", 127), ("int", "-5", -5),
    ("word", "16#8A04", 35332), ("word", "2#1010_1", 21), ("int", "INT#5", 5), ("real", "1e-3", 0.0010000000474974513),
    ("lreal", "0.1", 0.1), ("real", "inf", float("inf")), ("time", "T#1m30s", 90_000), ("time", "TIME#-1.5s", -1500),
    ("time", "t#1h_2ms", 3_600_002), ("time", "250", 250)])
def test_a_cell_is_read_as_its_type_wants(name: str, text: str, value: object) -> None:
    assert read_text(text, SCALARS[name], "x") == value


@given(st.integers(-(1 << 31), (1 << 31) - 1), st.floats(width=32, allow_nan=False))
def test_texts_of_values_are_read_again(number: int, real: float) -> None:
    for type_, value in ((SCALARS["dint"], number), (SCALARS["time"], number), (SCALARS["real"], real)):
        assert read_text(write_text(value, type_), type_, "x") == value


def test_a_column_is_found_in_any_case() -> None:
    column = Columns(WHOLE).find(" points[2].Y ")
    assert (column.root, column.steps, column.type.name, column.is_input) == ("points", (1, "y"), "REAL", False)
