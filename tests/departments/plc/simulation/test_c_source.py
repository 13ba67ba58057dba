"""The C code means what the machine does: scan by scan on random inputs, faults included, compiled by gcc."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.plc.agreement import draw, is_same
from benchmarks.plc.c_source import FUNCTION_TEXTS, Untranslatable, emit_c
from benchmarks.plc.compiled import CompiledProgram, Scan
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import Column, columns_of
from chatdev.departments.plc.st.core import IEC, Dialect, Program
from chatdev.departments.plc.st.functions import FUNCTIONS as STANDARD
from tests.departments.plc.simulation.sources import DEEP, FUNCTIONS, LOOPS, MOTOR, NUMBERS, program

SCANS = 700
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-Wno-parentheses")


def run_in_python(whole: Program, columns: list[Column], rows: list[tuple[int, list[Any]]]) -> list[Scan]:
    """What the machine shows; after a fault it begins anew."""
    machine = Machine(whole)
    given = [column for column in columns if column.is_input]
    seen = []
    for cycle, values in rows:
        inputs = machine.state
        for column, value in zip(given, values, strict=True):
            column.write(inputs, value)
        try:
            state = machine.scan({column.root: inputs[column.root] for column in given}, cycle)
        except RunTimeFault as fault:
            seen.append(Scan(fault=str(fault.span)))
            machine.reset()
            continue
        seen.append(Scan(tuple(column.read(state) for column in columns), len(machine.broken)))
    return seen


@pytest.mark.parametrize(("source", "dialect"), [
    (MOTOR, IEC), (NUMBERS, IEC), (LOOPS, IEC), (FUNCTIONS, IEC), (DEEP, IEC),
    (MOTOR, Dialect("codesys")), (NUMBERS, Dialect(mod_zero="zero")), (FUNCTIONS, Dialect(mod_zero="zero"))],
    ids=["motor", "numbers", "loops", "functions", "deep", "codesys", "numbers with MOD 0", "functions with MOD 0"])
def test_compiled_c_does_what_the_machine_does(source: str, dialect: Dialect, tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        pytest.fail("gcc is missing: apt-get install gcc")
    whole = program(source, dialect)
    columns = columns_of(whole)
    dice = random.Random(7)
    rows = [(dice.choice([1, 50, 100, 300]), [draw(one.type, dice) for one in columns if one.is_input])
            for _ in range(SCANS)]
    seen = CompiledProgram(whole, tmp_path, WARNINGS).run(rows)
    expected = run_in_python(whole, columns, rows)
    assert len(seen) == SCANS
    for number, (one, other) in enumerate(zip(seen, expected, strict=True)):
        assert (one.fault, one.broken) == (other.fault, other.broken), (number, rows[number])
        assert all(map(is_same, one.values, other.values)), (number, rows[number])


def test_the_first_fault_of_a_statement_ends_the_scan(tmp_path: Path) -> None:
    """Even where it is within a function that stands before another one."""
    whole = program("FUNCTION share : INT\nVAR_INPUT x : INT; END_VAR\nshare := 10 / x;\nEND_FUNCTION\n"
                    "FUNCTION_BLOCK Main\nVAR_INPUT a, b : INT; END_VAR\nVAR c : INT; END_VAR\n"
                    "c := share(a) / b;\nEND_FUNCTION_BLOCK")
    rows = [(1, [0, 0]), (1, [1, 0]), (1, [5, 2])]
    assert CompiledProgram(whole, tmp_path).run(rows) == run_in_python(whole, columns_of(whole), rows) == [
        Scan(fault="3:10"), Scan(fault="8:6"), Scan((5, 2, 1))]


def test_every_standard_function_is_said_in_c() -> None:
    of_numbers = {name for name in STANDARD if STANDARD[name].kinds != ("string",) and name[0] != "@"}
    assert FUNCTION_TEXTS.keys() == of_numbers | {"@BITS_OF", "@OF_BITS"}
    assert not [name for name in of_numbers if f"{name}(" not in FUNCTIONS]


def test_texts_of_an_author_do_not_leave_their_string() -> None:
    whole = program('FUNCTION_BLOCK Main\nVAR long, main : INT; END_VAR\nlong := main;\n'
                    '//#ASSERT long < 5 : a"); exit(1); ("\\\nEND_FUNCTION_BLOCK')
    assert 'a_); exit(1); (__' in emit_c(whole)


def test_text_values_are_not_translated() -> None:
    with pytest.raises(Untranslatable, match="STRING"):
        emit_c(program("FUNCTION_BLOCK Main\nVAR s : STRING; END_VAR\ns := 'a';\nEND_FUNCTION_BLOCK"))
