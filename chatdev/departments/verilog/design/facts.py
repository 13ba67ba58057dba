"""What is asked of a design, as plain data, read in the child of this process: its ports and widths, and the mistakes
that compile, which an engineer's lint tool finds in its assignments and processes."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain, product
from math import prod
from typing import Any

from chatdev.departments.verilog.design.design import Design, Port, read_once, whole_part
from chatdev.departments.verilog.design.elaborate import DesignError, as_number, elaborate
from chatdev.departments.verilog.design.records import (
    Assignment,
    Condition,
    IfDecision,
    Part,
    Process,
    Trigger,
    bits,
    name_of,
)
from chatdev.departments.verilog.design.statements import strip_conversions
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate


@dataclass(frozen=True, slots=True)
class DesignFacts:
    """The ports of a design's top module, and the width of every signal."""

    ports: tuple[Port, ...]
    widths: Mapping[str, int]

    def part(self, signal: str) -> Part:
        """All bits of a signal; raises ToolError for one that is not there."""
        return whole_part(signal, self.widths, self.ports)

    @property
    def input_names(self) -> list[str]:
        return [port.name for port in self.ports if port.direction == "in"]

    @property
    def output_names(self) -> list[str]:
        """Those that are both ways, too."""
        return [port.name for port in self.ports if port.direction != "in"]


@isolate(DesignError, MissingProgram)
def read_design(text: str, target: Target = USUAL) -> DesignFacts:
    """The facts of a design; raises DesignError, also for a source that takes too much to be read."""
    design = read_once(text, target)
    return DesignFacts(design.ports, design.widths)


@isolate(DesignError, MissingProgram)
def list_mistakes(text: str, target: Target = USUAL) -> list[Mistake]:
    """Line and text of what is wrong with a design; the lines of given files stand behind the text. Raises as
    `read_design` does."""
    return [*find_mistakes(read_once(text, target))]


@isolate(DesignError, MissingProgram)
def constant_bits(text: str, module: str, parameter: str, count: int) -> list[str] | None:
    """The last `count` bits of a module's parameter, the last one first; None when it is no constant. Raises
    DesignError."""
    _compilation, instance, _source = elaborate(text, Target(module))
    number = as_number(instance.body.find(parameter).value)  # type: ignore[attr-defined]
    return None if number is None else [str(number[place]) for place in range(count)]


# Mistakes that compile: what an engineer's lint tool says of a design, from its assignments and processes.

# Latches that nobody meant: what a block without a clock gives no value on some way through it.

Way = tuple[Condition, ...]
_MOST = 64  # values of what decides that are tried


def find_latches(design: Design) -> Iterator[tuple[int, str]]:
    """The line at which each is first given a value, and what is wrong."""
    for process in design.processes:
        if process.kind != "always_comb" or is_meant_as_latch(process):
            continue
        for signal in sorted(process.written - process.always_written):
            writers = [one for one in process.assignments if any(target.signal == signal for target in one.targets)]
            is_covered = _cover_all([one.conditions for one in writers], design)
            if not is_covered and not _is_read_at_once(signal, process, design):
                name = signal.rpartition(".")[2]  # the same in every instance of its module
                yield writers[0].lines.first, (f"a latch is inferred for `{name}`, which is not assigned on every way "
                                               "through the block; give it a value at the begin")


def _is_read_at_once(signal: str, process: Process, design: Design) -> bool:
    """Whether nothing but the block reads it, and that only where it has just been given a value."""
    if signal in (port.name for port in design.ports) or any(
            signal in other.signals and other is not process for other in design.processes):
        return False
    given = list[Way]()
    for one in process.assignments:
        if signal in one.sources and not any(one.conditions[:len(way)] == way for way in given):
            return False
        given += [one.conditions for target in one.targets if target.signal == signal]
    return any(signal in one.sources for one in process.assignments)


def is_meant_as_latch(process: Process) -> bool:
    """Whether a block without a clock can be nothing else."""
    if process.promises_logic or not all(one.data and len(one.conditions) == 1 for one in process.assignments):
        return False
    conditions = [one.conditions[0] for one in process.assignments]
    return all(map(_is_plain, conditions)) and len({condition.decision for condition in conditions}) == 1


def _is_plain(condition: Condition) -> bool:
    """Whether it is that of an `if` without anything but a signal in it."""
    return condition.holds and isinstance(condition.decision, IfDecision) and all(
        name_of(strip_conversions(one).kind) == "NamedValue" for one in condition.decision.expressions_for(0))


def _cover_all(ways: Sequence[Way], design: Design) -> bool:
    """Whether one of these ways is gone whatever decides."""
    if () in ways:
        return True
    same = dict[Any, list[Way]]()
    for way in ways:
        same.setdefault(way[0].decision, []).append(way)
    return any(all(_cover_all([way[1:] for way in some if way[0].branch == branch], design)
                   for branch in _branches([way[0] for way in some], design)) for some in same.values())


def _branches(conditions: Sequence[Condition], design: Design) -> Collection[int]:
    """The ways that a decision may go, whose conditions these are."""
    decision = conditions[0].decision
    names = sorted({part.signal for condition in conditions for part in condition.reads})
    values = [_values_of(name, design) for name in names]
    if prod(map(len, values)) not in range(1, _MOST + 1):
        return decision.branches
    found = [decision.branch(design.evaluation(dict(zip(names, one, strict=True)), names).value)
             for one in product(*values)]
    return decision.branches if None in found else {branch for branch in found if branch is not None}


def _values_of(signal: str, design: Design) -> Collection[str]:
    """What a signal may be, in bits: the constants that are assigned to it, or else anything; none where these are too
    many to be tried."""
    width = design.widths[signal]
    return _constants_of(signal, design) or (
        [f"{number:0{width}b}" for number in range(2 ** width)] if 2 ** width <= _MOST else ())


def _constants_of(signal: str, design: Design) -> set[str]:
    """The values that a signal gets, itself or by another one, if all are constants. One with an x is none: nobody
    means it."""
    found, names = set[str](), [signal]
    for name in names:
        constants, signals = _origins_of(name, design)
        if None in signals:
            return set()
        found |= constants
        names += [other for other in signals if other and other not in names]
    return {text for text in found if set(text) <= {"0", "1"}}


def _origins_of(name: str, design: Design) -> tuple[set[str], set[str | None]]:
    """The constants and the signals that a signal gets its value from; None among these for anything else."""
    drivers = design.drivers(name)
    if not drivers or not all(map(_is_whole, drivers)) or name in _inputs_of(design):
        return set(), {None}
    width, value = design.widths[name], design.evaluation({}, ()).value
    leaves = [(leaf, value(leaf)) for leaf in chain.from_iterable(_sides(one.value) for one in drivers)]
    return ({bits(number)[-width:].rjust(width, "0") for _, number in leaves if number is not None},
            {_signal_of(leaf, width, design) for leaf, number in leaves if number is None})


def _inputs_of(design: Design) -> set[str]:
    return {port.name for port in design.ports if port.direction != "out"}


def _signal_of(expression: Any, width: int, design: Design) -> str | None:
    """The signal that an expression is."""
    is_signal = name_of(expression.kind) == "NamedValue" and expression.type.bitWidth == width
    return design.names(expression.symbol) if is_signal else None


def _is_whole(assignment: Assignment) -> bool:
    """Whether it gives a whole signal the value of an expression."""
    step = assignment.operation is not None and name_of(assignment.operation.kind) != "Assignment"
    return assignment.value is not None and assignment.exact and len(assignment.targets) == 1 and not step


def _sides(value: Any) -> Iterator[Any]:
    """What a value may be, by the conditions in it."""
    value = strip_conversions(value)
    if name_of(value.kind) == "ConditionalOp":
        yield from (*_sides(value.left), *_sides(value.right))
    else:
        yield value


# The other mistakes, from assignments and processes.

Mistake = tuple[int, str]
_COMBINATIONAL = frozenset({"always_comb", "latch"})
_WIRED = _COMBINATIONAL | {"continuous", "port"}
_DRIVING = _WIRED | {"clocked"}
_CLOCKED = frozenset({"clocked"})
_UNKNOWN = re.compile(r"(?<![=!])[=!]=\s*(?:\d+\s*)?'[sS]?[bodhBODH]?[_\da-fA-F]*[xXzZ?]")
_OPEN = re.compile(r"'[sS]?[bodhBODH]?[zZ?]")  # a driver that may let go of its wire


def find_mistakes(design: Design) -> list[Mistake]:
    """What is wrong with a design, by line; each once."""
    return sorted({mistake for find in _FINDERS for mistake in find(design)})


def _incomplete_lists(design: Design) -> Iterator[Mistake]:
    """`always @(a) q = a & b;`: in simulation q does not follow b."""
    for process in _with_lists(design):
        listed = {trigger.part.signal for trigger in process.triggers}
        missing = [f"`{name.rpartition('.')[2]}`" for name in _outer_reads(process)
                   if name not in listed and name in design.declared]
        if missing:
            yield process.triggers[0].line, (f"{', '.join(missing)} is read and not in the list of the block; write "
                                             "`always @*`")


def _edges_beside_levels(design: Design) -> Iterator[Mistake]:
    for trigger in (trigger for process in design.processes if process.is_clocked for trigger in process.triggers):
        if trigger.edge == "change":
            yield trigger.line, (f"`{trigger.part.signal}` stands without an edge beside signals with one; write "
                                 "`posedge` or `negedge` before it, or take it out")


def _wrong_reset_edges(design: Design) -> Iterator[Mistake]:
    """`always @(posedge clk or posedge rst_n) if (!rst_n)`: at that edge the reset is over."""
    for process in design.processes:
        first = process.assignments[0].conditions[:1] if process.assignments and process.is_clocked else ()
        for condition, trigger in product(first, process.triggers):
            if _is_over(condition, trigger, design):
                other = "posedge" if trigger.edge == "negedge" else "negedge"
                yield trigger.line, (f"the block runs at the {trigger.edge} of `{trigger.part.signal}`, but "
                                     f"`{condition.subject}` is not so then; write `{other} {trigger.part.signal}`")


def _is_over(condition: Condition, trigger: Trigger, design: Design) -> bool:
    """Whether a condition on the trigger's signal alone is false just behind the edge."""
    name = trigger.part.signal
    if trigger.edge == "change" or {part.signal for part in condition.reads} != {name}:
        return False
    level = "1" if trigger.edge == "posedge" else "0"
    return bool(condition.decision.branch(design.evaluation({name: level}, [name]).value))


def _edges_of_nothing(design: Design) -> Iterator[Mistake]:
    """`always @(posedge clk or posedge rst) q <= d;`: the reset is one more clock."""
    for process in filter(lambda process: process.is_clocked and process.assignments, design.processes):
        names = {trigger.part.signal: trigger.line for trigger in process.triggers if trigger.edge != "change"}
        read = set[str]().union(*(one.sources for one in process.assignments))
        if len(names) > 1 and read.isdisjoint(names):
            *first, last = (f"`{name}`" for name in names)
            yield max(names.values()), (f"the block runs at edges of {', '.join(first)} and {last}, and looks at none "
                                        "of them: take the reset out of the list, or begin with `if` and its level")


def _unknown_operands(design: Design) -> Iterator[Mistake]:
    """`q == 1'bx` is unknown whatever q is."""
    says = "`==` and `!=` with a bit that is x or z are never true; what can be built does not see such bits"
    for one in design.assignments:
        if _UNKNOWN.search(one.text):
            yield one.lines.first, says
        for condition in one.conditions:
            if _UNKNOWN.search(condition.subject):
                yield condition.head[0], says


def _several_drivers(design: Design) -> Iterator[Mistake]:
    """A bit that two blocks or assigns write."""
    writers: dict[str, list[Assignment]] = defaultdict(list)
    for one in _assignments(design, _DRIVING):
        for target in one.targets if one.exact else ():
            others = [other for other in writers[target.signal] if other.process != one.process]
            if any(other.writes(target) for other in others) and not _may_let_go([one, *others]):
                yield one.lines.first, f"`{target.signal}` has another driver, too (line {others[0].lines.first})"
            writers[target.signal].append(one)


def _half_driven(design: Design) -> Iterator[Mistake]:
    """A signal of which some bits are driven, and others only read."""
    inputs = {port.name for port in design.ports if port.direction != "out"}
    read, driven = defaultdict[str, int](int), defaultdict[str, int](int)
    for port in design.ports:
        read[port.name] |= (1 << port.width) - 1
    for one in design.assignments:
        for part in (*one.data, *one.control):
            read[part.signal] |= part.mask
        for target in one.targets:
            driven[target.signal] |= _mask_of(one, target, design)
    for name in driven.keys() & design.declared.keys() - inputs:
        if missing := read[name] & ~driven[name]:
            first = Part(name, (missing & -missing).bit_length() - 1, 1)
            yield design.declared[name], f"nothing drives `{design.names.text_of(first)}`"


def _mask_of(assignment: Assignment, target: Part, design: Design) -> int:
    """The bits that it may drive; of a memory `initial` fills what is used."""
    is_exact = assignment.exact and design.process_of(assignment).kind != "initial"
    return target.mask if is_exact else (1 << design.widths.get(target.signal, 0)) - 1


def _late_values(design: Design) -> Iterator[Mistake]:
    """`always @* q <= a;`. A latch is written so, too, and what looks at a clock may well come late, behind the
    registers that the clock sets."""
    clocks = {process.triggers[0].part.signal for process in design.processes
              if process.is_clocked and len(process.triggers) == 1}
    for process in design.processes:
        is_logic = process.kind == "always_comb" and not is_meant_as_latch(process)
        for one in process.assignments if is_logic else ():
            if not one.blocking and clocks.isdisjoint(one.sources):
                yield one.lines.first, (f"`<=` in a block without a clock: `{one.targets[0].signal}` changes late; "
                                        "write `=`")


def _mixed_arrows(design: Design) -> Iterator[Mistake]:
    """`=` and `<=` to one register, but for a constant that a reset with an edge of its own gives: nothing else reads
    the register then."""
    late = {(one.process, target.signal) for one in _assignments(design, _CLOCKED) if not one.blocking
            for target in one.targets}
    for one in _assignments(design, _CLOCKED):
        for target in one.targets if one.blocking and not _is_reset(one, design) else ():
            if (one.process, target.signal) in late:
                yield one.lines.first, f"`{target.signal}` gets values by `=` and by `<=`; write `<=` in clocked blocks"


def _is_reset(assignment: Assignment, design: Design) -> bool:
    """Whether it gives a constant under a signal whose edge its block waits for."""
    edges = {trigger.part.signal for trigger in design.process_of(assignment).triggers}
    return not assignment.data and any(not edges.isdisjoint(part.signal for part in condition.reads)
                                       for condition in assignment.conditions)


def _races(design: Design) -> Iterator[Mistake]:
    """`=` to a register that another clocked block reads."""
    readers: dict[str, set[int]] = defaultdict(set)
    for one in _assignments(design, _CLOCKED):
        for name in one.sources:
            readers[name].add(one.process)
    for one in _assignments(design, _CLOCKED):
        for target in one.targets if one.blocking else ():
            if readers[target.signal] - {one.process}:
                yield one.lines.first, (f"`{target.signal}` gets its value by `=` at an edge at which another block "
                                        "reads it: either may come first; write `<=`")


def _loops(design: Design) -> Iterator[Mistake]:
    """Signals that depend on themselves without a register between. Only those of one bit are followed: a chain through
    the bits of a vector is no loop."""
    needs, lines = _wires(design)
    while True:
        try:
            TopologicalSorter(needs).prepare()
            return
        except CycleError as error:
            circle = error.args[1]
        yield lines[circle[0]], "a combinational loop: " + " needs ".join(f"`{name}`" for name in reversed(circle))
        for name in circle:
            needs.pop(name, None)


def _wires(design: Design) -> tuple[dict[str, set[str]], dict[str, int]]:
    """What each signal of one bit depends on at once, and the line of its assignment."""
    needs: dict[str, set[str]] = defaultdict(set)
    lines: dict[str, int] = {}
    single = {name for name, width in design.widths.items() if width == 1}
    known: dict[int, set[str]] = defaultdict(set)  # what a block itself has given before
    for one in _assignments(design, _WIRED):
        targets = {target.signal for target in one.targets}
        for name in targets & single if one.loop is None else ():
            needs[name] |= one.sources & single - known[one.process]
            lines.setdefault(name, one.lines.first)
        known[one.process] |= targets if not one.conditions else set()
    return needs, lines


def _assignments(design: Design, kinds: frozenset[str]) -> Iterator[Assignment]:
    """Those of the processes of these kinds."""
    for process in design.processes:
        if process.kind in kinds:
            yield from process.assignments


def _with_lists(design: Design) -> Iterator[Process]:
    """The blocks without a clock that list what they run for."""
    return (process for process in design.processes if process.kind in _COMBINATIONAL and process.triggers)


def _outer_reads(process: Process) -> list[str]:
    """The signals that a block reads before it has given them a value itself."""
    known: set[str] = set()
    found: dict[str, None] = {}
    for one in process.assignments:
        known |= one.loop.variables if one.loop else set()
        found |= dict.fromkeys(sorted(one.sources - known))
        known |= {target.signal for target in one.targets}
    return list(found)


def _may_let_go(assignments: Iterable[Assignment]) -> bool:
    return any(_OPEN.search(one.text) for one in assignments)


_FINDERS: tuple[Callable[[Design], Iterator[Mistake]], ...] = (
    _incomplete_lists, find_latches, _edges_beside_levels, _wrong_reset_edges, _edges_of_nothing,
    _unknown_operands, _several_drivers, _half_driven, _late_values, _mixed_arrows, _races, _loops)
