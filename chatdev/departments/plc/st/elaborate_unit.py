"""Declare functions, function blocks and programs: their variables, and the data of blocks, before any body is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chatdev.departments.plc.st.core import Field, Record, Span, Type, Value, Variable
from chatdev.departments.plc.st.diagnostics import Fix
from chatdev.departments.plc.st.elaborate_initial import elaborate_initial
from chatdev.departments.plc.st.elaborate_type import Types
from chatdev.departments.plc.st.scalars import SCALARS
from chatdev.departments.plc.st.scope import MOST_ELEMENTS, Reject, Scope, Signature, World
from chatdev.departments.plc.st.syntax import Declaration, Name, TypeNode, Unit

MOST_BLOCKS = 50
"""So many function blocks may contain each other in a row."""
_NOT_STORED = ("temp", "in_out")


class Units:
    """The routines of a source, declared as they are asked for."""

    types: Types

    def __init__(self, world: World, units: Sequence[Unit]) -> None:
        self._world = world
        self._units: dict[str, Unit] = {}
        self._open: list[str] = []
        self._order: list[Unit] = []
        self._lost: dict[str, set[str]] = {}
        for unit in units:
            if unit.name.key in self._units or unit.name.key in SCALARS:
                world.findings.report("declared-twice", unit.name.span, name=unit.name.text, what="routine",
                                      line=self._units[unit.name.key].span.line if unit.name.key in self._units else 0)
            else:
                self._units[unit.name.key] = unit
        for name, routine in world.standard.items():
            if routine.kind == "block" and name not in self._units:
                world.signatures[name] = Signature(name, routine.written, "block", routine.variables,
                                                   record=make_record(routine.written, name, routine.variables))

    def block_names(self) -> list[str]:
        """The function blocks that there are, as they are written."""
        return [*(unit.name.text for unit in self._units.values() if unit.kind == "block"),
                *(one.written for one in self._world.signatures.values())]

    def find_block(self, key: str, span: Span) -> Record | None:
        """The data of a function block; None if there is none of this name. Raises Reject for one within itself."""
        if len(self._open) == MOST_BLOCKS:
            raise Scope(self._world, {}).reject("deep-calls", span, most=MOST_BLOCKS)
        if key in self._open:
            circle = [self._units[one].name.text for one in (*self._open[self._open.index(key):], key)]
            raise Scope(self._world, {}).reject("recursion", span, circle=" contains ".join(circle))
        unit = self._units.get(key)
        if unit is not None:
            return self._declare(unit).record if unit.kind == "block" else None
        standard = self._world.signatures.get(key)
        if standard is None or key not in self._world.standard:
            return None
        self._world.standard_used.add(key)
        return standard.record

    def declare_globals(self, declarations: Sequence[Declaration]) -> None:
        """Global variables and constants."""
        scope = Scope(self._world, {}, broken=self._world.broken)
        for variable in self._declare_variables(declarations, scope, self._world.lost, self._world.globals, ""):
            self._world.globals[variable.name] = variable

    def declare_all(self) -> None:
        """Every routine of the source."""
        for unit in self._units.values():
            self._declare(unit)

    def in_order_of_use(self) -> list[Unit]:
        """All routines, function blocks behind those that they contain."""
        return self._order

    def lost_names(self, unit: Unit) -> frozenset[str]:
        """Variables whose declaration had an error."""
        return frozenset(self._lost[unit.name.key])

    def check_externals(self, unit: Unit, scope: Scope) -> None:
        """Whether there is a global variable for each VAR_EXTERNAL."""
        for declaration in unit.externals:
            for name in declaration.names:
                if name.key not in self._world.globals and name.key not in self._world.lost:
                    scope.report("no-global", name.span, name=name.text)
                    scope.unknown.add(name.key)

    def _declare(self, unit: Unit) -> Signature:
        key = unit.name.key
        known = self._world.signatures.get(key)
        if known is not None and key in self._lost:
            return known
        self._open.append(key)
        lost = self._lost.setdefault(key, set())
        variables: dict[str, Variable] = {}
        try:
            scope = Scope(self._world, variables, broken=unit.broken)
            result = self._declare_result(unit, scope, variables, lost)
            for variable in self._declare_variables(unit.declarations, scope, lost, variables, unit.kind):
                variables[variable.name] = variable
        finally:
            self._open.pop()
        own = tuple(variables.values())
        if self._is_large(own, unit):
            own = ()
        record = make_record(unit.name.text, key, own) if unit.kind == "block" else None
        signature = Signature(key, unit.name.text, unit.kind, own, result, record, unit.span)
        self._world.signatures[key] = signature
        self._order.append(unit)
        return signature

    def _is_large(self, variables: Sequence[Variable], unit: Unit) -> bool:
        """Whether the variables hold too much together, which is then reported."""
        if sum(self._world.measure(one.type, one.written, one.span) for one in variables) <= MOST_ELEMENTS:
            return False
        self._world.findings.report("large-array", unit.name.span, name=unit.name.text, most=MOST_ELEMENTS)
        return True

    def _declare_result(self, unit: Unit, scope: Scope, variables: dict[str, Variable], lost: set[str]) -> Type | None:
        """The variable named as its function, first of all variables."""
        if unit.kind != "function":
            return None
        if unit.result is None:
            lost.add(unit.name.key)
            return None
        try:
            result, initial = self.types.resolve(unit.result, scope, unit.name.text)
        except Reject:
            lost.add(unit.name.key)
            return None
        variables[unit.name.key] = Variable(unit.name.key, result, initial, "result", unit.name.text, unit.name.span)
        return result

    def _declare_variables(self, declarations: Sequence[Declaration], scope: Scope, lost: set[str],
                           known: dict[str, Variable], kind: str) -> Iterable[Variable]:
        for declaration in declarations:
            if declaration.type is None:
                lost.update(name.key for name in declaration.names)
                continue
            names = [name for name in declaration.names if self._is_free(name, lost, scope)]
            try:
                found, initial = self._find_type(declaration, declaration.type, scope, kind)
            except Reject:
                lost.update(name.key for name in names)
                continue
            for name in names:
                variable = Variable(name.key, found, initial, declaration.section, name.text, name.span)
                if name.key in known:
                    _report_twice(variable, known[name.key], declaration, scope)
                else:
                    yield variable

    def _find_type(self, declaration: Declaration, node: TypeNode, scope: Scope, kind: str) -> tuple[Type, Value]:
        first = declaration.names[0]
        if kind == "function" and declaration.section in ("output", "in_out"):
            raise scope.reject("function-outputs", first.span, name=first.text)
        found, initial = self.types.resolve(node, scope, first.text)
        if kind == "function" and isinstance(found, Record) and found.block:
            raise scope.reject("block-in-function", first.span, name=first.text, block=found.name)
        if declaration.initial is None:
            if declaration.section == "constant":
                scope.report("constant-value", first.span, name=first.text)
            return found, initial
        try:
            return found, elaborate_initial(declaration.initial, found, initial, scope)
        except Reject:
            return found, initial

    def _is_free(self, name: Name, lost: set[str], scope: Scope) -> bool:
        if name.key in SCALARS:
            scope.report("reserved-name", name.span, name=name.text)
            lost.add(name.key)
            return False
        return name.key not in lost


def _report_twice(second: Variable, first: Variable, declaration: Declaration, scope: Scope) -> None:
    """A variable has a name that is taken. What says of an input or output once more what is known of it can go."""
    says_nothing = (declaration.section == "local" and len(declaration.names) == 1
                    and first.section in ("input", "output", "in_out")
                    and (second.type, second.initial) == (first.type, first.initial))
    fix = Fix.instead(declaration.span, "") if says_nothing else None
    scope.world.findings.report("declared-twice", second.span, fix, name=second.written, what="variable",
                                line=first.span.line)


def make_record(written: str, name: str, variables: Sequence[Variable]) -> Record:
    """The data of a function block: all that it keeps from one call to the next."""
    return Record(written, tuple(Field(one.name, one.type, one.initial, one.section) for one in variables
                                 if one.section not in _NOT_STORED), name)


