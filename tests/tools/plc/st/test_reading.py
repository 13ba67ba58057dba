"""From the text of a program to its core."""

from __future__ import annotations

from chatdev.tools.plc.st.core import Assign, Invoke, Loop
from chatdev.tools.plc.st.reading import read_condition, read_program, standard_blocks

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
    call, first, loop = reading.program.entry.body
    assert isinstance(call, Invoke)
    assert isinstance(first, Assign)
    assert isinstance(loop, Loop)
    assert (call.block, [name for name, _ in call.inputs]) == ("ton", ["in", "pt"])
    assert set(reading.program.routines) == {"motor", "ton"}


def test_the_standard_blocks_are_programs_without_errors() -> None:
    assert set(standard_blocks()) == {"r_trig", "f_trig", "sr", "rs", "ctu", "ctd", "ctud", "ton", "tof", "tp"}
    assert all(routine.standard for routine in standard_blocks().values())


def test_a_property_is_a_condition_over_the_entry() -> None:
    program = read_program(MOTOR).program
    assert program is not None
    for text in ("instance.Run --> NOT instance.Overload;", "Motor.Delay.ET <= T#90s", "Count == 3 AND i != 7",
                 "Delay.last OR Run"):
        assert read_condition(text, program).expression is not None, text
    assert read_condition("Cuont > 3", program).diagnostics[0].hint == "Did you mean 'Count'?"
