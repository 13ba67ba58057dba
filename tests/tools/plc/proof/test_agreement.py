"""Interpreter and solver agree on what random programs do, to the last bit, faults included."""

from __future__ import annotations

import struct

import pytest
import z3

from chatdev.tools.plc.proof.flatten import entry_variables, values_of
from chatdev.tools.plc.proof.terms import BOOL, fold, is_known, lift, symbol
from chatdev.tools.plc.proof.transition import Transition, build_transition
from chatdev.tools.plc.simulation.machine import Machine, RunTimeFault
from chatdev.tools.plc.st.core import Value
from chatdev.tools.plc.st.reading import read_program
from tests.tools.plc.programs import ProgramWriter

SCANS = 4


def scalars(transition: Transition, machine: Machine) -> dict[str, Value]:
    program, state = transition.program, machine.state
    return {path: value for variable in entry_variables(program)
            for path, value in values_of(program, variable.type, state[variable.name], variable.name)}


def stops(machine: Machine, inputs: dict[str, object]) -> str:
    """The kind of the fault that ends a scan, if one does."""
    try:
        machine.scan(inputs)
    except RunTimeFault as fault:
        return fault.kind
    return ""


def shown(value: Value) -> object:
    if isinstance(value, float):
        return "NaN" if value != value else struct.pack("<d", value)
    return value


@pytest.mark.parametrize("seed", range(8))
def test_a_scan_in_the_interpreter_is_one_of_the_transition(seed: int) -> None:
    writer = ProgramWriter(seed)
    source = writer.program()
    program = read_program(source).program
    assert program is not None, source
    transition, machine = build_transition(program, cycle_ms=10, watch_overflow=True), Machine(program, 10, True)
    for _ in range(SCANS):
        inputs = writer.inputs()
        begin = scalars(transition, machine) | inputs
        bound = [(symbol(path, scalar), lift(begin[path], scalar))
                 for path, scalar in (*transition.states.items(), *transition.inputs.items())]
        broken = [one for one in transition.obligations
                  if is_known(one.violated) or fold(z3.substitute(one.violated, *bound), BOOL)]
        faults = [one.kind for one in broken if one.kind != "overflow"]
        fault = stops(machine, inputs)
        assert fault in faults if fault else not faults, source
        if fault:
            return
        assert {(one.span, one.text) for one in broken if one.kind == "overflow"} == machine.wrapped, source
        end = scalars(transition, machine)
        for path, value in end.items():
            term = transition.end[path]
            scalar = transition.types[path]
            found = term if is_known(term) else fold(z3.substitute(term, *bound), scalar)
            assert shown(found) == shown(value), f"{path}\n{source}"
