"""From an elaborated module and all instances in it to the processes of a design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from chatdev.departments.verilog.design.elaborate import constants
from chatdev.departments.verilog.design.records import Assignment, Kind, Part, Process, Trigger
from chatdev.departments.verilog.design.selections import Names
from chatdev.departments.verilog.design.source import Source, name_of
from chatdev.departments.verilog.design.statements import DesignContext, Statements, WrittenPart


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
        for entry in getattr(member, "entries", None) or member.elements:
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
