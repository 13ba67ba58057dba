"""Interpreter, proof and compiled C agree on what random programs do, to the last bit, faults included."""

from __future__ import annotations

import re

import pytest

from benchmarks.plc.agreement import Evaluation, compare
from benchmarks.plc.random_programs import write_program
from chatdev.departments.plc.proof.transition import ScanRules, build_transition
from chatdev.departments.plc.st.reading import read_program

SMALL = """
FUNCTION_BLOCK Small
VAR_INPUT i : INT; END_VAR
VAR_OUTPUT o : INT; END_VAR
VAR a : ARRAY[0..1] OF INT; END_VAR
a[i] := i + 32767;
o := a[1];
END_FUNCTION_BLOCK
"""


@pytest.mark.parametrize("seed", range(5))
def test_a_random_program_means_the_same_in_all_three(seed: int) -> None:
    """`python -m benchmarks.plc.agreement` compares many more."""
    found = compare(seed, scans=60)
    assert (found.difference, found.scans) == ("", 60)


def test_random_programs_use_the_whole_subset() -> None:
    sources = "\n".join(write_program(seed) for seed in range(30))
    wanted = ("SINT INT DINT LINT USINT UINT UDINT ULINT BYTE WORD DWORD LWORD REAL LREAL TIME BOOL ARRAY STRUCT CASE "
              "FOR WHILE REPEAT EXIT CONTINUE RETURN FUNCTION TON TOF TP CTU CTD CTUD R_TRIG F_TRIG VAR_IN_OUT "
              "VAR_TEMP MOD AND_THEN SHL MUX TRUNC")
    assert [word for word in wanted.split() if not re.search(rf"\b{word}\b", sources)] == []
    assert write_program(3) == write_program(3) != write_program(4)


def test_the_transition_is_evaluated_with_numbers() -> None:
    program = read_program(SMALL).program
    assert program is not None
    begin = {"i": 1, "o": 5, "a[0]": 2, "a[1]": 3}
    end, wrong = Evaluation(build_transition(program, ScanRules(cycle_ms=10))).scan(begin)
    assert {name: end[name] for name in begin} == {
        "i": 1, "o": -32768, "a[0]": 2, "a[1]": -32768}
    assert wrong == set()
    beyond = Evaluation(build_transition(program, ScanRules(cycle_ms=10))).scan({**begin, "i": 2})
    assert beyond[1] == {("index", "6:3")}
