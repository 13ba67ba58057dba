"""Random runs of a program that watch its properties: what testing finds, and what no proof may contradict."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from chatdev.departments.plc.proof.outcomes import Outcome, Property
from chatdev.departments.plc.proof.properties import ASSERTION, MONITORS, PATTERNS, PropertyError, read_conditions
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import Columns, random_inputs
from chatdev.departments.plc.simulation.values import read_text
from chatdev.departments.plc.st.core import Program, Value

_CYCLE_TIMES = (10, 100, 100, 250, 1000)
"""Milliseconds from scan to scan, one for each run."""
LONGEST_RUN = 1000
"""Scans, after which a run begins anew with another seed."""
_Reader = Callable[[Mapping[str, Value]], Value]


class Watch:
    """Sees a property, scan by scan of one run."""

    def __init__(self, asked: Property, machine: Machine) -> None:
        self._observe = PATTERNS[asked.pattern].observe
        self._conditions: list[_Reader] = [machine.watch(one) for one in read_conditions(asked, machine.program)]
        self._monitors: Mapping[str, bool] = dict.fromkeys(MONITORS, False)

    def begin(self) -> None:
        """Forget the run."""
        self._monitors = dict.fromkeys(MONITORS, False)

    def sees_harm(self, before: Mapping[str, Value], after: Mapping[str, Value]) -> bool:
        """Whether the harm is done (or the goal reached) in a scan; inputs are read `before`."""
        step = self._observe(lambda number: self._conditions[number](before),
                             lambda number: self._conditions[number](after), self._monitors)
        self._monitors = dict.fromkeys(MONITORS, False) | dict(step.monitors)
        return bool(step.harm)


@dataclass
class Sightings:
    """What random runs saw: the number of the scan, over all runs, in which each property was first seen to be harmed
    (or its goal reached), by its position; the first broken assert; each kind and place of a run-time fault."""

    scans: int = 0
    harmed: dict[int, int] = field(default_factory=dict)
    broken: str = ""
    faults: dict[tuple[str, str], int] = field(default_factory=dict)


def run_randomly(program: Program, asked: Sequence[Property], *, scans: int | None = None,
                 seconds: float | None = None, cycle_ms: int | None = None, seed: int = 0) -> Sightings:
    """Run for so many scans, or seconds of the processor. A run ends with a fault. Properties that cannot be read are
    not watched."""
    found, machine = Sightings(), Machine(program)
    watches: dict[int, Watch] = {}
    for number, one in enumerate(asked):
        with suppress(PropertyError):
            watches |= {number: Watch(one, machine)} if one.pattern in PATTERNS else {}
    ends = time.process_time() + seconds if seconds is not None else None
    while (scans is None or found.scans < scans) and (ends is None or time.process_time() < ends):
        left = LONGEST_RUN if scans is None else min(LONGEST_RUN, scans - found.scans)
        _run(machine, watches, left, cycle_ms or _CYCLE_TIMES[seed % len(_CYCLE_TIMES)], seed, found, ends)
        seed += 1
    return found


def _run(machine: Machine, watches: dict[int, Watch], scans: int, cycle_ms: int, seed: int, found: Sightings,
         ends: float | None) -> None:
    machine.reset()
    for watch in watches.values():
        watch.begin()
    for _, inputs in zip(range(scans), random_inputs(machine.program, seed), strict=False):
        found.scans += 1
        before = machine.state | inputs
        try:
            after = machine.scan(inputs, cycle_ms)
        except RunTimeFault as fault:
            found.faults.setdefault((fault.kind, str(fault.span)), found.scans)
            return
        for number, watch in watches.items():
            if watch.sees_harm(before, after):
                found.harmed.setdefault(number, found.scans)
        if machine.broken and not found.broken:
            found.broken = machine.broken[0].name
        if ends is not None and time.process_time() > ends:
            return


def shows_again(program: Program, outcome: Outcome) -> bool:
    """Whether the run of an outcome, read from what it tells, is seen again by a new machine: the harm in its last
    scan, the broken assert, or the fault. In-outs are told as the scan left them, so programs with some are not asked
    about."""
    machine, columns = Machine(program), Columns(program)
    watch = Watch(outcome.asked, machine) if outcome.asked.pattern in PATTERNS else None
    seen = False
    for cycle in outcome.cycles:
        inputs = {name: value for name, value in machine.state.items()
                  if any(one.name == name for one in program.entry.of_section("input"))}
        for name, text in ((name, text) for name, text in cycle.changed if not name.startswith("@")):
            column = columns.find(name)
            if column.is_input:
                column.write(inputs, read_text(text, column.type, name))
        before = machine.state | inputs
        try:
            after = machine.scan(inputs, cycle.milliseconds)
        except RunTimeFault as fault:
            return outcome.asked.parameters[:2] == (fault.kind, str(fault.span)) or _breaks(machine, outcome.asked)
        seen = watch.sees_harm(before, after) if watch else _breaks(machine, outcome.asked)
    return seen


def _breaks(machine: Machine, asked: Property) -> bool:
    places = [str(one.span) for one in machine.broken]
    return bool(places) if asked.pattern == ASSERTION else asked.parameters[1:2] in [(place,) for place in places]
