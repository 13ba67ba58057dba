"""What a lint tool says beside the mistakes of `facts.py`: indices that a loop takes too far, clocks made by gates; for
an engineer who asks for more, latches that may be meant, and what is a matter of style."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Literal

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import DesignError, constants, elaborate
from chatdev.departments.verilog.design.facts import Mistake, is_meant_as_latch
from chatdev.departments.verilog.design.records import Assignment, Process, name_of
from chatdev.departments.verilog.design.statements import strip_conversions
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate

Depth = Literal["certain", "usual", "strict"]
"""What is told: only what no right module does; latches that may be meant, too; also what is a matter of style."""
_MOST_TURNS = 4096
_ORDERS = frozenset({"LessThan", "LessThanEqual", "GreaterThan", "GreaterThanEqual"})
_COUNTS = 32  # bits of an `integer`
_GUARDS = frozenset({"Conditional", "ConditionalOp", "Case"})


@isolate(DesignError, MissingProgram)
def list_remarks(text: str, target: Target = USUAL, depth: Depth = "certain") -> list[Mistake]:
    """Line (those of given files stand behind the text) and words of each. Raises DesignError for a design that cannot
    be elaborated, and MissingProgram."""
    _compilation, instance, source = elaborate(text, target)
    design = Design.of(text, target)
    found = {*_clocks_by_gates(design)}
    if depth != "certain":
        found |= {*_plain_latches(design)}
    if depth == "strict":
        found |= {*_without_reset(design), *_blocking_registers(design)}
    visitors = (_far_indices, _mixed_signs, *((_open_cases,) if depth == "strict" else ()))
    for visitor in visitors:
        found |= {(source.line_at(place), says) for place, says in visitor(instance)}
    return sorted(found)


def _nodes(root: Any, *kinds: str) -> list[Any]:
    found = list[Any]()
    root.visit(lambda node: found.append(node) if name_of(node.kind) in kinds else None)
    return found


def _far_indices(instance: Any) -> Iterator[tuple[Any, str]]:
    """`for (i = 0; i <= 4; i = i + 1) q[i] = 0;` where `q` has four bits. What stands behind a condition may be meant
    for some turns alone."""
    for loop in _nodes(instance.body, "ForLoop"):
        if turns := _turns(loop, instance.body):
            guards = [node.sourceRange for node in _nodes(loop.body, *_GUARDS)]
            for select in _nodes(loop.body, "ElementSelect"):
                place = select.sourceRange.start.offset
                if not any(span.start.offset <= place < span.end.offset for span in guards):
                    yield from _outside(select, turns)


def _outside(select: Any, turns: tuple[str, range]) -> Iterator[tuple[Any, str]]:
    ends, index = getattr(strip_conversions(select.value).type, "fixedRange", None), strip_conversions(select.selector)
    if ends is None or name_of(index.kind) != "NamedValue" or index.symbol.name != turns[0]:
        return
    low, high = sorted((ends.left, ends.right))
    name, values = turns
    if far := next((value for value in values if not low <= value <= high), None):
        yield select.sourceRange.start, (f"`{str(select.syntax).strip()}` goes beyond [{ends.left}:{ends.right}] where "
                                         f"`{name}` is {far}")


def _turns(loop: Any, scope: Any) -> tuple[str, range] | None:
    """The variable of a loop, and the values that it has within; None where it does not count from a constant to a
    constant by steps of one constant."""
    first = _first_value(loop, value := constants(scope))
    step, end = _step_of(loop, value), first and _end_of(loop.stopExpr, first[0], value)
    if first is None or step is None or end is None:
        return None
    turns = range(first[1], end[0], step)
    return (first[0], turns) if len(turns) <= _MOST_TURNS and (step > 0) is end[1] else None


def _end_of(stop: Any, name: str, value: Callable[[Any], Any]) -> tuple[int, bool] | None:
    """What the variable does not reach any more, and whether it grows."""
    stop = stop and strip_conversions(stop)
    if not stop or name_of(stop.kind) != "BinaryOp" or str(stop.left.syntax).strip() != name:
        return None
    end, kind = value(stop.right), name_of(stop.op)
    beyond = {"LessThan": 0, "LessThanEqual": 1, "GreaterThan": 0, "GreaterThanEqual": -1}.get(kind)
    return None if end is None or beyond is None else (int(end) + beyond, kind.startswith("Less"))


def _first_value(loop: Any, value: Callable[[Any], Any]) -> tuple[str, int] | None:
    if len(loop.loopVars) == 1:
        name, start = loop.loopVars[0].name, value(loop.loopVars[0].initializer)
    elif len(loop.initializers) == 1 and name_of(loop.initializers[0].kind) == "Assignment":
        name, start = str(loop.initializers[0].left.syntax).strip(), value(loop.initializers[0].right)
    else:
        return None
    return None if start is None else (name, int(start))


def _step_of(loop: Any, value: Callable[[Any], Any]) -> int | None:
    """By how much the variable grows in each turn."""
    if len(loop.steps) != 1:
        return None
    step = loop.steps[0]
    if name_of(step.kind) == "UnaryOp":
        return {"Postincrement": 1, "Preincrement": 1, "Postdecrement": -1, "Predecrement": -1}.get(name_of(step.op))
    right: Any = strip_conversions(step.right) if name_of(step.kind) == "Assignment" else step
    if name_of(right.kind) != "BinaryOp" or name_of(right.op) not in ("Add", "Subtract"):
        return None
    by = value(right.right)
    return None if by is None or int(by) == 0 else int(by) if name_of(right.op) == "Add" else -int(by)


def _mixed_signs(instance: Any) -> Iterator[tuple[Any, str]]:
    """`a < b` of a signed and an unsigned vector, which are compared without their signs; not of what counts."""
    value = constants(instance.body)
    for node in _nodes(instance.body, "BinaryOp"):
        if name_of(node.op) in _ORDERS:
            sides = [_operand(side) for side in (node.left, node.right)]
            if {side.type.isSigned for side in sides} == {True, False} and not any(
                    value(side) is not None or _counts(side) for side in sides):
                yield node.sourceRange.start, (f"`{str(node.syntax).strip()}` compares a signed with an unsigned "
                                               "value: no sign counts; write `$signed` or `$unsigned`")


def _counts(side: Any) -> bool:
    """Whether it is an `integer`, or cut from one."""
    is_signed = bool(side.type.isSigned)
    while name_of(side.kind) == "Conversion":
        side = side.operand
    return is_signed and bool(side.type.bitWidth >= _COUNTS)


def _operand(expression: Any) -> Any:
    """An expression without what the language converts by itself."""
    while name_of(expression.kind) == "Conversion" and expression.isImplicit:
        expression = expression.operand
    return expression


def _open_cases(instance: Any) -> Iterator[tuple[Any, str]]:
    for node in _nodes(instance.body, "Case"):
        if node.defaultCase is None:
            yield node.sourceRange.start, "a `case` without `default`"


def _clocks_by_gates(design: Design) -> Iterator[Mistake]:
    """A clock that logic makes of several signals has spikes."""
    makers = {target.signal: one for one in design.assignments for target in one.targets
              if design.process_of(one).kind in ("continuous", "always_comb")}
    clocks = (process.triggers[0] for process in design.processes if process.is_clocked)
    for trigger in (clock for clock in clocks if clock.part.signal in makers):
        maker = makers[trigger.part.signal]
        if len(maker.sources) > 1:
            yield trigger.line, (f"the clock `{trigger.part.signal}` is made by gates (line {maker.lines.first}): "
                                 "it may have spikes; use an enable, or a clock gate of the library")


def _plain_latches(design: Design) -> Iterator[Mistake]:
    """`always @* if (en) q = d;`, which those who mean it write as `always_latch`."""
    for process in design.processes:
        if process.kind == "always_comb" and not process.promises_logic and is_meant_as_latch(process):
            one = process.assignments[0]
            yield one.lines.first, (f"a latch is inferred for `{one.targets[0].signal}`; where it is meant, write "
                                    "`always_latch`")


def _without_reset(design: Design) -> Iterator[Mistake]:
    """A register that begins with no value: nothing gives it a constant."""
    makers = defaultdict[str, list[tuple[Process, Assignment]]](list)
    for process in design.processes:
        for one in process.assignments:
            for target in one.targets:
                makers[target.signal].append((process, one))
    for name, known in makers.items():
        if any(process.is_clocked for process, _ in known) and all(one.data for _, one in known):
            process, one = known[0]
            yield one.lines.first, f"the register `{name.rpartition('.')[2]}` has neither a reset nor a first value"


def _blocking_registers(design: Design) -> Iterator[Mistake]:
    for process in design.processes:
        for one in process.assignments if process.is_clocked else ():
            if one.blocking and one.loop is None:
                yield one.lines.first, f"`=` in a clocked block: `{one.targets[0].signal}`"
