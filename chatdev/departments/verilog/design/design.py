"""A design: its ports, everything in it that gives a signal its value, and the way to it from an elaborated module."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from chatdev.departments.verilog.design.elaborate import (
    Evaluation,
    Misfit,
    constants,
    elaborate,
    find_misfits,
    nesting_error,
)
from chatdev.departments.verilog.design.records import Assignment, Kind, Part, Process, Source, Trigger, name_of
from chatdev.departments.verilog.design.statements import DesignContext, Names, Statements, WrittenPart
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import ToolError

_USUAL = 3  # blocks with the same edges


@dataclass(frozen=True, slots=True)
class Port:
    """A port of the top module; `direction` is `in`, `out` or `inout`."""

    name: str
    direction: str
    width: int


@dataclass(frozen=True)
class Design:
    """An elaborated design below the module `top`. Signals are named from there: `state`, `u1.count`, `lane[2].sum`.

    `widths` and `declared` (source lines) are known for every signal; `functions` are processes by the names that
    `Assignment.calls` holds.
    """

    top: str
    text: str
    ports: tuple[Port, ...]
    processes: tuple[Process, ...]
    functions: Mapping[str, Process]
    widths: Mapping[str, int]
    declared: Mapping[str, int]
    names: Names = field(repr=False, compare=False)
    body: Any = field(repr=False, compare=False)
    compilation: Any = field(repr=False, compare=False)
    _drivers: dict[Part, tuple[Assignment, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _racing: dict[Process, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _deciders: dict[tuple[Process, Part], tuple[str, ...] | None] = field(default_factory=dict, init=False, repr=False,
                                                                          compare=False)
    _lines: dict[int, frozenset[int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _lines_to: dict[Part, frozenset[int]] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def of(cls, text: str, target: Target = USUAL) -> Self:
        """Elaborate the source; names that are used before they are declared do no harm, any other error raises
        DesignError."""
        compilation, instance, source = elaborate(text, target)
        builder = Builder(instance, source)
        try:
            builder.build()
        except RecursionError:
            raise nesting_error() from None
        symbols = builder.names.symbols
        members: Iterable[Any] = instance.body
        ports = tuple(Port(member.name, member.direction.name.lower(), member.type.bitstreamWidth)
                      for member in members if name_of(member.kind) == "Port")
        return cls(target.top, text, ports, tuple(builder.processes), builder.functions,
                   {name: symbol.type.bitstreamWidth for name, symbol in symbols.items()},
                   {name: source.line_of(symbol) for name, symbol in symbols.items()},
                   builder.names, instance.body, compilation)

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        """All of them, in the order of the source within each module."""
        return tuple(found for process in (*self.processes, *self.functions.values()) for found in process.assignments)

    @functools.cached_property
    def _assignments_by_signal(self) -> Mapping[str, list[Assignment]]:
        found = defaultdict(list)
        for assignment in self.assignments:
            for signal in dict.fromkeys(target.signal for target in assignment.targets):
                found[signal].append(assignment)
        return found

    def drivers(self, signal: str | Part) -> tuple[Assignment, ...]:
        """The assignments that may write the signal, or any of these bits of it."""
        if isinstance(signal, str):
            return tuple(self._assignments_by_signal.get(signal, ()))
        if signal not in self._drivers:
            every = self._assignments_by_signal.get(signal.signal, ())
            self._drivers[signal] = tuple(found for found in every if found.writes(signal))
        return self._drivers[signal]

    def writing_blocks(self, signal: str) -> set[int]:
        """The numbers of the processes that may write a signal, but for what only begins it."""
        return {one.process for one in self.drivers(signal) if one.kind != "initial"}

    def lines_of(self, assignment: Assignment) -> frozenset[int]:
        """The source lines of one assignment, of the constants in it, of the conditions and the loop around it, and of
        the edges that it waits for."""
        if id(assignment) not in self._lines:
            edges = (trigger.line for trigger in self.process_of(assignment).triggers)
            self._lines[id(assignment)] = assignment.all_lines.union(edges)
        return self._lines[id(assignment)]

    def lines_to(self, part: Part) -> frozenset[int]:
        """The telling lines of all that may give these bits their value."""
        if part not in self._lines_to:
            self._lines_to[part] = frozenset[int]().union(*map(self.telling_lines_of, self.drivers(part)))
        return self._lines_to[part]

    def cone_of(self, part: Part) -> frozenset[int]:
        """The source lines of all that may lead to these bits, at any time and however far back."""
        found, seen, left = set[int](), dict[str, int](), [part]
        while left:
            one = left.pop()
            fresh = one.mask & ~seen.get(one.signal, 0)
            if not fresh:
                continue
            seen[one.signal] = seen.get(one.signal, 0) | one.mask
            for driver in self._with_functions(self.drivers(one) or self.drivers(one.signal)):
                found |= self.lines_of(driver)
                left += [*driver.data, *driver.control, *(each.part for each in self.process_of(driver).triggers)]
        return frozenset(found)

    def _with_functions(self, assignments: Iterable[Assignment]) -> Iterator[Assignment]:
        """The assignments, and those of the functions that they may enter."""
        left, entered = [*assignments], set[str]()
        while left:
            one = left.pop()
            yield one
            for name in one.entered_functions - entered:
                entered.add(name)
                left += self.functions[name].assignments

    def telling_lines_of(self, assignment: Assignment) -> frozenset[int]:
        """The lines of an assignment without edges that most clocked blocks wait for."""
        return self.lines_of(assignment) - (self.usual_edges - assignment.all_lines)

    @functools.cached_property
    def usual_edges(self) -> frozenset[int]:
        """The lines of the edges that most of the clocked blocks wait for, three or more: the mistake is hardly there.
        None where several clocks make it worth a look which one a block has."""
        edges = {process.triggers[0].line: _edges_of(process) for process in self.processes if process.is_clocked}
        [(usual, blocks)] = Counter(edges.values()).most_common(1) or [((), 0)]
        is_usual = blocks >= _USUAL and 2 * blocks > len(edges)
        return frozenset(line for line, found in edges.items() if is_usual and found == usual)

    def part(self, signal: str) -> Part:
        """All bits of a signal; raises ToolError for one that is not there."""
        return whole_part(signal, self.widths, self.ports)

    @functools.cached_property
    def racing_signals(self) -> frozenset[str]:
        """Signals that may change at an edge before a clocked block looks at them: all but those of nonblocking
        assignments, and what is made of them."""
        late = _targets(one for one in self.assignments if not one.blocking)
        wires = [one for one in self.assignments if one.kind != "clocked"]
        while more := _targets(one for one in wires if not late.isdisjoint(one.sources)) - late:
            late |= more
        return frozenset(self.widths) - late

    def racing_in(self, process: Process) -> tuple[str, ...]:
        """Those that a process looks at."""
        if process not in self._racing:
            self._racing[process] = tuple(signal for signal in process.signals if signal in self.racing_signals
                                          and signal not in process.written)
        return self._racing[process]

    def deciders(self, process: Process, part: Part) -> tuple[str, ...] | None:
        """The signals that alone decide whether a process writes any of these bits; None where more does: what the same
        run wrote, or what functions read."""
        key = process, part
        if key not in self._deciders:
            self._deciders[key] = _find_deciders(process.writers(part)) if process.is_nonblocking else None
        return self._deciders[key]

    @functools.cached_property
    def misfits(self) -> tuple[Misfit, ...]:
        """Widths that do not fit."""
        return find_misfits(self.assignments, self.names, constants(self.body))

    def evaluation(self, values: Mapping[str, str], signals: Iterable[str]) -> Evaluation:
        """An evaluation of its expressions for these values of signals."""
        return Evaluation(self.names, self.body, values, signals)

    def process_of(self, assignment: Assignment) -> Process:
        """What it runs in."""
        return self._process_by_number[assignment.process]

    @functools.cached_property
    def _process_by_number(self) -> Mapping[int, Process]:
        every: Iterable[Process] = (*self.processes, *self.functions.values())
        return {process.assignments[0].process: process for process in every if process.assignments}


@functools.lru_cache(2)
def read_once(text: str, target: Target = USUAL) -> Design:
    """The design of a source that is asked several things, one after the other; raises DesignError."""
    return Design.of(text, target)


def whole_part(signal: str, widths: Mapping[str, int], ports: Iterable[Port]) -> Part:
    """All bits of a signal; raises ToolError for one that is not there."""
    if signal not in widths:
        outputs = ", ".join(port.name for port in ports if port.direction == "out") or "none"
        raise ToolError(f"the design has no signal {signal!r}; its outputs: {outputs}")
    return Part(signal, 0, widths[signal])


def _find_deciders(writers: Iterable[Assignment]) -> tuple[str, ...] | None:
    """What their conditions and indices read; None where these call functions."""
    found = dict[str, None]()
    for one in writers:
        deciding = [(condition.calls, condition.reads) for condition in one.conditions]
        for calls, reads in deciding if one.exact else [*deciding, (one.calls, one.data)]:
            if calls:
                return None
            found |= dict.fromkeys(part.signal for part in reads)
    return tuple(found)


def _targets(assignments: Iterable[Assignment]) -> set[str]:
    """The signals that they write."""
    return {target.signal for one in assignments for target in one.targets}


def _edges_of(process: Process) -> tuple[tuple[str, str], ...]:
    """What a block waits for, by the names that signals have in its module."""
    return tuple(sorted((one.edge, one.part.signal.rpartition(".")[2]) for one in process.triggers))


# From an elaborated module and all instances in it to the processes of a design.


class Builder:
    """Walks through a module and the instances in it; see `build`."""

    def __init__(self, top: Any, source: Source) -> None:
        self._top = top
        self.names = Names(top.hierarchicalPath, _loop_variables(top.body))
        self._context = DesignContext(self.names, source, constants(top.body), {})
        self.processes: list[Process] = []
        self.functions: dict[str, Process] = {}

    def build(self) -> None:
        """Fill `processes`, `functions` and `names`."""
        self._visit_members(self._top.body)
        while left := [name for name in self._context.subroutines if name not in self.functions]:
            for name in left:
                self.functions[name] = self._build_function(self._context.subroutines[name])

    def _visit_members(self, scope: Iterable[Any]) -> None:
        for member in scope:
            visit = _MEMBERS.get(name_of(member.kind))
            if visit:
                visit(self, member)

    @property
    def _next_number(self) -> int:
        return len(self.processes) + len(self.functions)

    def _visit_signal(self, symbol: Any) -> None:
        """Its name is kept; what it is declared with is its first value, or that of a wire for good."""
        self.names(symbol)
        kind: Kind = "continuous" if name_of(symbol.kind) == "Net" else "initial"
        statements = Statements(self._context, kind, self._next_number)
        statements.initialise(symbol, symbol.initializer)
        self._add_processes(statements)

    def _visit_continuous(self, member: Any) -> None:
        statements = Statements(self._context, "continuous", self._next_number)
        statements.assign(member.assignment, member.assignment)
        self._add_processes(statements)

    def _add_processes(self, statements: Statements) -> None:
        """Each assignment outside of blocks is a process of its own."""
        for assignment in statements.assignments:
            if assignment.process != self._next_number:
                assignment = replace(assignment, process=self._next_number)
            self.processes.append(Process(assignment.kind, (), (assignment,)))

    def _visit_procedure(self, member: Any) -> None:
        body, kind = member.body, name_of(member.procedureKind)
        triggers: tuple[Trigger, ...] = ()
        if name_of(body.kind) == "Timed" and kind not in {"Initial", "Final"}:
            triggers, body = self._read_triggers(body.timing), body.stmt
        process = Process(_process_kind(kind, triggers), triggers, (), promises_logic=kind == "AlwaysComb")
        statements = Statements(self._context, process.kind, self._next_number)
        always = statements.walk(body)
        found = statements.assignments
        if process.kind == "always_comb":
            found = [replace(one, kind="latch") if _may_keep_value(one, always) else one for one in found]
        self.processes.append(replace(process, assignments=tuple(found), in_order=statements.in_order,
                                      always_written=always))

    def _read_triggers(self, timing: Any) -> tuple[Trigger, ...]:
        events = timing.events if name_of(timing.kind) == "EventList" else [timing]
        found = []
        for event in events:
            if name_of(event.kind) == "SignalEvent":
                line = self._context.source.lines_of(event.expr)[0]
                found += [Trigger(_EDGES[event.edge.name], part, line) for part in self._context.reads(event.expr).data]
        return tuple(found)

    def _build_function(self, subroutine: Any) -> Process:
        statements = Statements(self._context, "function", self._next_number, subroutine.returnValVar)
        statements.walk(subroutine.body)
        found = tuple(statements.assignments)
        return Process("function", (), found, statements.in_order, arguments=tuple(subroutine.arguments))

    def _visit_instance(self, member: Any) -> None:
        self._visit_members(member.body)
        for connection in member.portConnections:
            inner, outer = getattr(connection.port, "internalSymbol", None), connection.expression
            if inner is None or outer is None:
                continue
            name = self.names(inner)
            port = Part(name or "", 0, inner.type.bitstreamWidth)
            statements = Statements(self._context, "port", self._next_number)
            if name_of(outer.kind) == "Assignment":
                self._add_wire(statements, outer, self._context.targets(outer.left), port)
            else:
                statements.add(outer, [WrittenPart(port, True)], outer, ())
            self._add_processes(statements)

    def _add_wire(self, statements: Statements, node: Any, targets: list[WrittenPart], *parts: Part) -> None:
        """Note that `targets` take the values of `parts`, which no expression names."""
        statements.add(node, targets, node.left, ())
        statements.assignments[:] = [replace(one, data=parts, value=None, operation=None)
                                     for one in statements.assignments]

    def _visit_primitive(self, member: Any) -> None:
        """A gate: its outputs are written, the others are read."""
        connections = list(member.portConnections)
        written = [one for one in connections if name_of(one.kind) == "Assignment"]
        parts = self._context.reads(*(one for one in connections if one not in written)).data
        statements = Statements(self._context, "continuous", self._next_number)
        for one in written:
            self._add_wire(statements, one, self._context.targets(one.left), *parts)
        self._add_processes(statements)

    def _visit_array(self, member: Any) -> None:
        for entry in member.entries if hasattr(member, "entries") else member.elements:
            self._visit_members([entry])

    def _visit_block(self, member: Any) -> None:
        if not member.isUninstantiated:
            self._visit_members(member)


def _process_kind(procedure: str, triggers: tuple[Trigger, ...]) -> Kind:
    if procedure in {"Initial", "Final"}:
        return "initial"
    if any(trigger.edge != "change" for trigger in triggers):
        return "clocked"
    return "latch" if procedure == "AlwaysLatch" else "always_comb"


def _may_keep_value(assignment: Assignment, always: frozenset[str]) -> bool:
    """Whether there is a way through the process on which its targets keep their values."""
    return not all(target.signal in always for target in assignment.targets)


def _loop_variables(body: Any) -> frozenset[Any]:
    """The variables that only the heads of loops write."""
    writes, heads = Counter[Any](), Counter[Any]()

    def count_write(node: Any, into: Counter[Any]) -> None:
        target = node.left if name_of(node.kind) == "Assignment" else node.operand if _is_step(node) else None
        if target is not None and name_of(target.kind) == "NamedValue":
            into[target.symbol] += 1

    def visit(node: Any) -> None:
        kind = getattr(getattr(node, "kind", None), "_name_", "")
        if kind in {"Assignment", "UnaryOp"}:
            count_write(node, writes)
        elif kind == "ForLoop":
            heads.update(dict.fromkeys(node.loopVars, 0))
            for one in (*node.initializers, *node.steps):
                count_write(one, heads)

    body.visit(visit)
    return frozenset(symbol for symbol, count in heads.items() if writes[symbol] <= count)


def _is_step(node: Any) -> bool:
    """Whether it is `i++` or its like."""
    return name_of(node.kind) == "UnaryOp" and name_of(node.op).endswith(("increment", "decrement"))


_EDGES: dict[str, Any] = {"None_": "change", "PosEdge": "posedge", "NegEdge": "negedge", "BothEdges": "change"}
_MEMBERS: dict[str, Callable[[Builder, Any], None]] = {
    **dict.fromkeys(("Net", "Variable"), Builder._visit_signal),
    "ContinuousAssign": Builder._visit_continuous,
    "ProceduralBlock": Builder._visit_procedure,
    "Instance": Builder._visit_instance,
    "PrimitiveInstance": Builder._visit_primitive,
    "GenerateBlock": Builder._visit_block,
    **dict.fromkeys(("GenerateBlockArray", "InstanceArray"), Builder._visit_array),
}
