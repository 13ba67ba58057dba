"""From the text of a program to its core."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.st.core import Assign, Invoke, Loop
from chatdev.departments.plc.st.reading import read_condition, read_program, standard_blocks

MOTOR = """
FUNCTION_BLOCK Motor
VAR_INPUT Start : BOOL; Overload : BOOL; END_VAR
VAR_OUTPUT Run : BOOL; END_VAR
VAR Delay : TON; Count : INT; i : INT; END_VAR
Delay(IN := Start AND NOT Overload, PT := T#1m30s, Q => Run);
FOR i := 1 TO 3 DO
    Count := Count + i;
END_FOR;
END_FUNCTION_BLOCK
"""


def test_a_block_with_a_timer_is_read() -> None:
    reading = read_program(MOTOR)
    assert reading.diagnostics == ()
    assert reading.program is not None
    _tick, call, first, loop = reading.program.entry.body
    assert isinstance(call, Invoke)
    assert isinstance(first, Assign)
    assert isinstance(loop, Loop)
    assert (call.block, [name for name, _ in call.inputs]) == ("ton", ["in", "pt"])
    assert set(reading.program.routines) == {"motor", "ton", "time_since_call__"}


def test_the_standard_blocks_are_programs_without_errors() -> None:
    assert set(standard_blocks()) == {"r_trig", "f_trig", "sr", "rs", "ctu", "ctd", "ctud", "ton", "tof", "tp",
                                      "time_since_call__"}
    assert all(routine.standard for routine in standard_blocks().values())


def test_a_property_is_a_condition_over_the_entry() -> None:
    program = read_program(MOTOR).program
    assert program is not None
    for text in ("instance.Run --> NOT instance.Overload;", "Motor.Delay.ET <= T#90s", "Count == 3 AND i != 7",
                 "Delay.last OR Run"):
        assert read_condition(text, program).expression is not None, text
    assert read_condition("Cuont > 3", program).diagnostics[0].hint == "Did you mean 'Count'?"


@pytest.mark.parametrize(("body", "message"), [
    ("VAR t : TIME := T#1s1h; END_VAR", "its units go from long to short"),
    ("VAR t : TIME := T#1s1s; END_VAR", "its units go from long to short"),
    ("VAR CONSTANT K : INT := 3; END_VAR FOR K := 1 TO 3 DO ; END_FOR;", "that may change; 'K' is a constant"),
])
def test_what_is_no_duration_and_no_counter_is_told(body: str, message: str) -> None:
    found = read_program(f"FUNCTION_BLOCK A {body} END_FUNCTION_BLOCK").diagnostics
    assert message in " ".join(one.message for one in found)
