"""Random inputs fit their types, can be drawn again, and come to places that uniform ones do not."""

from __future__ import annotations

from itertools import islice, pairwise

from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import random_inputs
from tests.departments.plc.simulation.sources import LOOPS, MOTOR, NUMBERS, program

LOCK = """\
FUNCTION_BLOCK Lock
VAR_INPUT code : DINT; level : REAL; go : BOOL; END_VAR
VAR_OUTPUT open, late, high : BOOL; END_VAR
VAR t : TON; END_VAR
IF code = 73211 THEN open := TRUE; END_IF;
IF level > 812.5 AND level < 814.0 THEN high := TRUE; END_IF;
t(IN := go, PT := T#2s);
late := late OR t.Q;
END_FUNCTION_BLOCK
"""


def test_every_value_is_accepted_and_the_seed_decides() -> None:
    for source in (MOTOR, NUMBERS, LOOPS):
        machine = Machine(whole := program(source))
        rows = list(islice(random_inputs(whole, 3), 100))
        assert rows == list(islice(random_inputs(whole, 3), 100)) != list(islice(random_inputs(whole, 4), 100))
        for row in rows:
            try:
                machine.scan(row)
            except RunTimeFault:
                machine.reset()


def test_they_open_a_lock_and_hold_an_input_long_enough() -> None:
    machine = Machine(whole := program(LOCK))
    for row in islice(random_inputs(whole, 1), 1000):
        state = machine.scan(row)
    assert state["open"]
    assert state["late"]
    assert state["high"]


def test_values_are_held_and_change() -> None:
    rows = list(islice(random_inputs(program(LOCK)), 1000))
    changes = sum(before["code"] != after["code"] for before, after in pairwise(rows))
    assert 100 < changes < 900
    assert {-(1 << 31), (1 << 31) - 1, 73210, 73212} <= {row["code"] for row in rows}


def test_texts_are_those_of_the_program_and_others() -> None:
    source = program("""FUNCTION_BLOCK Command
VAR_INPUT said : STRING[6]; END_VAR
VAR_OUTPUT go : BOOL; END_VAR
go := said = 'start';
END_FUNCTION_BLOCK
""")
    words = [row["said"] for row in islice(random_inputs(source), 400)]
    assert {"", "start"} < set(words)
    assert len(set(words)) > 20
    assert max(map(len, words)) == 6
