"""Latches that nobody meant: what a block without a clock gives no value on some way through it.

An `always @*` that is one `if` of a plain signal without an `else`, and takes over signals and no constants, is how a
latch is written on purpose. A `case` needs no label for what its selector never is: a machine has no other states than
those that are assigned to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, product
from math import prod
from typing import Any

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Assignment, Condition, IfDecision, Process, bits
from chatdev.departments.verilog.design.selections import strip_conversions
from chatdev.departments.verilog.design.source import name_of

Way = tuple[Condition, ...]
_MOST = 64  # values of what decides that are tried


def find_latches(design: Design) -> Iterator[tuple[int, str]]:
    """The line at which each is first given a value, and what is wrong."""
    for process in design.processes:
        if process.kind != "always_comb" or is_meant_as_latch(process):
            continue
        for signal in sorted(process.written - process.always_written):
            writers = [one for one in process.assignments if any(target.signal == signal for target in one.targets)]
            if not _cover_all([one.conditions for one in writers], design):
                name = signal.rpartition(".")[2]  # the same in every instance of its module
                yield writers[0].lines.first, (f"a latch is inferred for `{name}`, which is not assigned on every way "
                                               "through the block; give it a value at the begin")


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
