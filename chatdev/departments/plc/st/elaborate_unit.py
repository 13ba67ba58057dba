"""Give routines their meaning in the core: first their declarations, then their bodies, as others ask for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Literal

from chatdev.departments.plc.st.addresses import as_inputs, forget_inputs
from chatdev.departments.plc.st.bit_layout import NoLayout
from chatdev.departments.plc.st.core import (
    Array,
    Forget,
    Invoke,
    Place,
    Record,
    Routine,
    Scalar,
    Section,
    Span,
    Statement,
    Type,
    Value,
    Variable,
    initial_value,
    make_record,
)
from chatdev.departments.plc.st.elaborate_dispatch import open_input
from chatdev.departments.plc.st.elaborate_heritage import Heritage
from chatdev.departments.plc.st.elaborate_place import opaque_type
from chatdev.departments.plc.st.elaborate_statement import check_jumps, elaborate_statements, find_jumps, lose_all
from chatdev.departments.plc.st.elaborate_type import Types, begin_with, bound_widely
from chatdev.departments.plc.st.functions import BOOL, SCALARS, is_opaque
from chatdev.departments.plc.st.instances import DISPATCH, ID, find_taken, identity, number_instances
from chatdev.departments.plc.st.parse_unit import WITHOUT_RESULT
from chatdev.departments.plc.st.references import Referent, find_bound, find_names, find_referents
from chatdev.departments.plc.st.scope import (
    MOST_ELEMENTS,
    OPEN_DIALECTS,
    OWN_PROGRAM,
    VIEWS,
    Reject,
    Scope,
    Signature,
    World,
    is_open,
    make_variables,
)
from chatdev.departments.plc.st.shared_memory import add_view
from chatdev.departments.plc.st.syntax import (
    Declaration,
    Name,
    PointerTo,
    SourceFile,
    TypeNode,
    Unit,
    names_of_others,
    sort_by_calls,
)

MOST_BLOCKS = 50
"""So many function blocks may contain each other in a row."""
MOST_CALLS = 50
"""So many routines may call each other in a row."""


@dataclass(frozen=True, slots=True)
class _Body:
    """The statements of a routine that are still to be read: those of `unit`, a member of `owner` (or its body), found
    in `definer`, which `owner` is or extends."""

    unit: Unit
    owner: str = ""
    definer: str = ""


class Units:
    """The routines of a source, declared and read as they are asked for."""

    types: Types

    def __init__(self, world: World, units: Sequence[Unit], is_standard: bool) -> None:
        self._world = world
        self._is_standard = is_standard
        self._units: dict[str, Unit] = {}
        self.open: list[str] = []
        self._order: list[Unit] = []
        self._lost: dict[str, set[str]] = {}
        self._bodies: dict[str, _Body] = {}
        self._open_bodies: dict[str, _Body] = {}
        self._variants: dict[str, list[tuple[Mapping[str, Type], str]]] = {}
        self._depth = 0
        self.calls: dict[str, dict[str, Span]] = {}
        for unit in units:
            if unit.name.key in self._units or unit.name.key in SCALARS:
                world.findings.report("declared-twice", unit.name.span, name=unit.name.text, what="routine",
                                      line=self._units[unit.name.key].span.line if unit.name.key in self._units else 0)
            else:
                self._units[unit.name.key] = unit
        self._heritage = Heritage(world, self._units)
        for name, routine in world.standard.items():
            if routine.kind == "block" and name not in self._units:
                world.signatures[name] = Signature(name, routine.written, "block", routine.variables,
                                                   record=make_record(routine.written, name, routine.variables))
        members = [one for unit in self._units.values() for one in unit.members]
        world.member_names = {one.name.key for one in members}
        world.properties = {one.name.key for one in members if one.kind in ("get", "set")}
        world.prepare, world.find_member, world.specialise = self.prepare, self.find_member, self.specialise
        world.find_asked, world.names_asked = self.find_asked, self._heritage.names_asked
        world.is_closed = bool(self.interface_names()) and world.entry in self._units

    def block_names(self) -> list[str]:
        """The function blocks that there are, as they are written."""
        return [*(unit.name.text for unit in self._units.values() if unit.kind == "block"),
                *(one.written for one in self._world.signatures.values())]

    def interface_names(self) -> set[str]:
        """Those of all interfaces, in lower case."""
        return {key for key, unit in self._units.items() if unit.kind == "interface"}

    def find_block(self, key: str, span: Span) -> Record | None:
        """The data of a function block; None if there is none of this name. Raises Reject for one within itself."""
        if key not in self._units:
            key = _OTHER_NAMES.get(key, key)
        if len(self.open) == MOST_BLOCKS:
            raise Scope(self._world, {}).reject("deep-calls", span, most=MOST_BLOCKS)
        if key in self.open:
            circle = [self._units[one].name.text for one in (*self.open[self.open.index(key):], key)]
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
        located = as_inputs(declarations)
        for variable in self._declare_variables(located, scope, self._world.lost, self._world.globals, ""):
            self._world.globals[variable.name] = variable

    def declare_programs(self, entry: str) -> None:
        """Programs that others call or look into are global variables; of the one that is run nothing is known by its
        name, as its variables are those of the run."""
        named = names_of_others(self._units.values()) | {one.name for one in self._world.together}
        for key, unit in self._units.items():
            if unit.kind != "program" or key not in named or key in self._world.globals:
                continue
            if key == entry:
                type_: Type = opaque_type(unit.name.text, OWN_PROGRAM)
                self._world.findings.report("gap-own-program", unit.name.span, name=unit.name.text)
            else:
                record = self._declare(unit).record
                assert record is not None
                type_ = record
            self._world.globals[key] = Variable(key, type_, initial_value(type_), "local", unit.name.text,
                                                unit.name.span)

    def declare_all(self) -> None:
        """Every routine of the source."""
        for unit in self._units.values():
            if unit.kind != "interface":
                self._declare(unit)

    def number_instances(self, source: SourceFile) -> None:
        """Give numbers to the instances that a variable of an interface may stand for."""
        world = self._world
        if not world.is_closed:
            return
        own = {one.name: one for one in world.signatures[world.entry].variables if one.section != "temp"}
        both = [*own.values(), *(one for name, one in world.globals.items() if name not in own)]
        world.taken = find_taken(source.units, source.globals)
        world.instances = number_instances(both, world.entry)
        world.lent = {one.key: Variable(one.key, one.place.type, initial_value(one.place.type), "local")
                        for one in world.instances}

    def read_all(self) -> None:
        """The bodies of all routines and of their members, function blocks behind those that they contain and functions
        behind those that they call."""
        for unit in sort_by_calls(self._order, self._units):
            keys = [self.find_member(unit.name.key, member.name.key, member.kind) for member in unit.members]
            for key in (unit.name.key, *keys):
                self.prepare(key)
        for key in self._open_bodies.keys() - self._variants.keys():  # nobody calls it
            signature = self._world.signatures[key]
            self.specialise(signature, {one.name: bound_widely(one.type) for one in signature.variables})

    def prepare(self, key: str) -> None:
        """Read the body of a routine, unless that is done, so that it is known what it uses."""
        body = self._bodies.pop(key, None)
        if body is None:
            return
        self._depth += 1
        self._world.reading.append(key)
        try:
            self._read_body(key, body)
        finally:
            self._world.reading.pop()
            self._depth -= 1

    def _read_body(self, key: str, body: _Body) -> None:
        if self._depth > MOST_CALLS:
            self._world.findings.report("deep-calls", body.unit.name.span, most=MOST_CALLS)
        world, unit = self._world, body.unit
        signature = world.signatures[key]
        if any(is_open(one.type) for one in signature.variables):  # read for each array that it is given
            self._open_bodies[key] = body
            self._add_routine(key, signature, (), ())
            return
        scope = self._scope_of(body, signature)
        if not body.owner:
            self._check_externals(unit, scope)
        self.calls[key] = scope.calls
        statements = self._read_statements(body, signature, scope)
        used = scope.used_members.values()
        world.members_of[key] = tuple(one.name[1:] for one in used if one.section != "constant")
        world.globals_of[key] = tuple(sorted(scope.used_globals))
        owned = tuple(one if one.section == "constant" else replace(one, section="in_out") for one in used)
        globals_ = tuple(replace(world.find_shared(name), section="in_out") for name in world.globals_of[key])
        self._add_routine(key, signature, statements, (*scope.temporaries, *owned, *globals_))

    def _read_statements(self, body: _Body, signature: Signature, scope: Scope) -> tuple[Statement, ...]:
        """What a body does; anything where that is not known."""
        unit = body.unit
        if "abstract" in unit.words and unit.kind in ("method", "get", "set"):
            scope.report("gap-dispatch", unit.name.span)
            return (Forget(DISPATCH, unit.span),)
        if not body.owner and unit.name.key in {one.lower() for one in self._world.dialect.stubs}:
            return lose_all(unit, signature, scope)
        if jumps := list(find_jumps(unit.body)):
            check_jumps(jumps, scope)
            return (Forget(jumps[0].what, jumps[0].span),)
        located = () if body.owner else forget_inputs(unit, scope)
        return (*located, *self._watch_edges(unit, scope), *elaborate_statements(unit.body, scope))

    def _add_routine(self, key: str, signature: Signature, body: tuple[Statement, ...],
                     more: tuple[Variable, ...]) -> None:
        """A function that changes something is a block whose data lasts as long as the call."""
        variables = (*signature.variables, *more)
        kind: Literal["function", "block", "program"] = "block" if signature.kind == "member" else signature.kind
        is_void = signature.result is None and key not in self._lost.get(key, ())
        if kind == "function" and (is_void or any(one.section in ("output", "in_out") for one in variables)):
            kind = "block"
            own = tuple(replace(one, section="output") if one.section == "result" else one
                        for one in signature.variables)
            variables = (*own, *more)
            record = make_record(signature.written, key, own)
            self._world.signatures[key] = replace(signature, variables=own, record=record)
        self._world.routines[key] = Routine(key, kind, variables, body, signature.written, self._is_standard,
                                            signature.span)

    def specialise(self, signature: Signature, types: Mapping[str, Type]) -> str:
        """The routine that takes in-outs of these types: another one for all bounds of an open array."""
        opened = {one.name: types[one.name] for one in signature.variables if is_open(one.type)}
        if not opened:
            return signature.name
        known = self._variants.setdefault(signature.name, [])
        for found, key in known:
            if found == opened:
                return key
        key = f"{signature.name}@{len(known) + 1}"
        known.append((opened, key))
        self._world.signatures[key] = replace(self._world.signatures[signature.name], name=key, variables=tuple(
            replace(one, type=opened.get(one.name, one.type)) for one in signature.variables))
        self._bodies[key] = self._open_bodies[signature.name]
        self.prepare(key)
        return key

    # members of blocks

    def find_member(self, owner: str, name: str, kind: str) -> str:
        """The routine that is a member of a block, its own or one of those that it extends; "" if there is none. Behind
        an `@` stands the one with which the search begins, as SUPER^ wants. Of kind "body" is the body of that one."""
        context, _, start = owner.partition("@")
        for definer in self._heritage.chain(start or context):
            if kind == "body":
                return self._declare_member(context, definer, definer, kind)
            for unit in definer.members:
                if unit.name.key == name and unit.kind == kind:
                    return self._declare_member(context, definer, unit, kind)
        return ""

    def find_asked(self, interface: str, name: str, kind: str) -> Signature | None:
        """What an interface, or one that it extends, says of a member."""
        for definer, unit in self._heritage.asked(interface):
            if (unit.name.key, unit.kind) == (name, kind):
                return self._world.signatures[self._declare_member(definer, self._units[definer], unit, kind)]
        return None

    def _declare_member(self, context: str, definer: Unit, unit: Unit, kind: str) -> str:
        key = f"{context}.{definer.name.key}.{kind}.{unit.name.key}"
        if key in self._world.signatures:
            return key
        lost = self._lost.setdefault(key, set())
        variables: dict[str, Variable] = {}
        scope = Scope(self._world, variables, broken=unit.broken, kind="member", referents=find_referents(unit, ()),
                      bound=find_bound(unit))
        result: Type | None = None
        if kind in ("method", "get") and unit.result is not None:
            result = self._declare_result(unit, scope, variables, lost, "output")
        if kind == "set" and unit.result is not None:
            self._declare_result(unit, scope, variables, lost, "input")
        if kind != "body":
            own = [one for one in unit.declarations if not one.is_kept]
            for variable in self._declare_variables(own, scope, lost, variables, "member"):
                variables[variable.name] = variable
            self._bind_references(key, scope.bound, variables)
            self._note_read_only(key, unit)
            self._world.viewed[key] = scope.viewed
        found = tuple(variables.values())
        written = f"{self._units[context].name.text}.{unit.name.text}"
        self._world.signatures[key] = Signature(key, written, "member", found, result, make_record(written, key, found),
                                                unit.span, unit.name.key)
        self._bodies[key] = _Body(unit, context, definer.name.key)
        return key

    def _scope_of(self, body: _Body, signature: Signature) -> Scope:
        unit = body.unit
        lost = self._lost.get(signature.name if body.owner else unit.name.key, set())
        variables = {variable.name: variable for variable in signature.variables}
        scope = Scope(self._world, variables, is_standard=self._is_standard, kind=signature.kind, broken=unit.broken,
                      lost=frozenset(lost), routine=signature.name)
        scope.referents = find_referents(unit, ()) if body.owner else self._find_referents(unit)
        if body.owner:
            owner = self._world.signatures[body.owner]
            owned = {one.name: one for one in owner.variables}
            kept = {name.key: owned[f"{unit.name.key}__{name.key}"] for one in unit.declarations if one.is_kept
                    for name in one.names if f"{unit.name.key}__{name.key}" in owned}
            base = self._units[body.definer].base
            scope.owner, scope.owned, scope.base = body.owner, owned | kept, base.key if base else ""
            scope.lost |= self._lost[body.owner]
        elif unit.kind in ("block", "program"):
            scope.owner, scope.base = unit.name.key, unit.base.key if unit.base else ""
        return scope

    def _watch_edges(self, unit: Unit, scope: Scope) -> tuple[Statement, ...]:
        """An input with R_EDGE or F_EDGE is read as its edge."""
        found: list[Statement] = []
        for declaration in unit.declarations if scope.kind == "block" else ():
            for name in declaration.names if declaration.edge else ():
                edge = scope.variables.get(f"{name.key}__edge")
                if edge is not None and isinstance(edge.type, Record):
                    clock = Place(name.key, (), BOOL, name.span)
                    found.append(Invoke(Place(edge.name, (), edge.type), declaration.edge, (("clk", clock),),
                                        span=name.span))
                    scope.aliases[name.key] = Place(edge.name, ("q",), BOOL, name.span)
        return tuple(found)

    def _check_externals(self, unit: Unit, scope: Scope) -> None:
        """Whether there is a global variable for each VAR_EXTERNAL."""
        for declaration in unit.externals:
            for name in declaration.names:
                if name.key in self._world.globals or name.key in self._world.lost:
                    continue
                if self._world.dialect.allows_missing:
                    scope.miss(name.text, name.span)
                else:
                    scope.report("no-global", name.span, name=name.text)
                    scope.unknown.add(name.key)

    def _declare(self, unit: Unit) -> Signature:
        key = unit.name.key
        known = self._world.signatures.get(key)
        if known is not None and key in self._lost:
            return known
        self.open.append(key)
        lost = self._lost.setdefault(key, set())
        variables: dict[str, Variable] = {}
        try:
            scope = Scope(self._world, variables, broken=unit.broken, referents=self._find_referents(unit),
                          bound=self._find_bound(unit))
            result = self._declare_result(unit, scope, variables, lost) if unit.kind == "function" else None
            variables |= {one.name: one for one in self._inherit(unit, scope, lost)}
            self._identify(unit, variables)
            own_ = as_inputs(unit.declarations) if self._world.is_run(key) else unit.declarations
            for variable in self._declare_variables(own_, scope, lost, variables, unit.kind):
                variables[variable.name] = open_input(variable, key, scope)
            self._bind_references(key, scope.bound, variables)
            self._note_read_only(key, unit)
            self._world.viewed[key] = scope.viewed
            self._declare_kept(unit, scope, lost, variables)
        finally:
            self.open.pop()
        own = tuple(variables.values())
        if self._is_large(own, unit):
            own = ()
        kind: Literal["function", "block", "program"] = unit.kind  # type: ignore[assignment]  # members are not here
        record = make_record(unit.name.text, key, own) if kind != "function" else None
        signature = Signature(key, unit.name.text, kind, own, result, record, unit.span, key)
        self._world.signatures[key] = signature
        self._order.append(unit)
        self._bodies[key] = _Body(unit)
        if kind == "block":
            self._heritage.check(unit)
        return signature

    def _identify(self, unit: Unit, variables: dict[str, Variable]) -> None:
        """Give a block that may implement an interface a variable for its instances' numbers."""
        is_asked = bool(unit.interfaces) or unit.name.key in self._world.partial
        if is_asked and unit.kind == "block" and self._world.is_closed:
            variables.setdefault(ID, identity())

    def _find_referents(self, unit: Unit) -> Mapping[str, Referent]:
        """What its references and pointers stand for; those that extend it may change that."""
        heirs = self._heirs.get(unit.name.key, ())
        return find_referents(unit, (*unit.members, *heirs, *(member for one in heirs for member in one.members)))

    def _find_bound(self, unit: Unit) -> set[str]:
        """The inputs that are references and stand for what a call gives them; a block keeps those that somebody else
        may look at."""
        bound = find_bound(unit)
        if not bound or unit.kind == "function":
            return bound
        heirs = self._heirs.get(unit.name.key, ())
        others = (*unit.members, *heirs, *(member for one in heirs for member in one.members))
        return bound - find_names(others, of_members=False) - self._entered

    def _note_read_only(self, key: str, unit: Unit) -> None:
        self._world.read_only |= {(key, name.key) for one in unit.declarations if one.is_read_only
                                  for name in one.names}

    def _bind_references(self, key: str, bound: Set[str], variables: dict[str, Variable]) -> None:
        """Let inputs be the in-outs that they are."""
        for name in bound & variables.keys():
            type_ = variables[name].type
            target = self._world.pointees.get(type_.name) if isinstance(type_, Scalar) else None
            if target is not None and not is_opaque(target):
                variables[name] = replace(variables[name], type=target, initial=initial_value(target), section="in_out")
                self._world.bound_references.add((key, name))

    @cached_property
    def _entered(self) -> set[str]:
        """All names that stand behind a dot."""
        units = self._units.values()
        return find_names((*units, *(member for unit in units for member in unit.members)), of_members=True)

    @cached_property
    def _heirs(self) -> Mapping[str, Sequence[Unit]]:
        """The blocks that extend each, also by way of others."""
        found: dict[str, list[Unit]] = {}
        for unit in self._units.values():
            for definer in islice(self._heritage.chain(unit.name.key), 1, None) if unit.base else ():
                found.setdefault(definer.name.key, []).append(unit)
        return found

    def _inherit(self, unit: Unit, scope: Scope, lost: set[str]) -> Iterable[Variable]:
        """The variables of the block that this one extends."""
        if unit.base is None:
            return ()
        base = self._units.get(unit.base.key)
        if base is None or base.kind != "block":
            self._heritage.miss(unit.base, "a function block")
            self._world.partial.add(unit.name.key)
            return ()
        if unit.base.key in self.open:
            scope.report("recursion", unit.base.span, circle=f"{unit.name.text} extends {unit.base.text}")
            return ()
        self._world.bases[unit.name.key] = unit.base.key
        found = self._declare(base).variables
        lost |= self._lost[base.name.key]
        if base.name.key in self._world.partial:
            self._world.partial.add(unit.name.key)
        return found

    def _declare_kept(self, unit: Unit, scope: Scope, lost: set[str], variables: dict[str, Variable]) -> None:
        """What the block keeps for its methods (VAR_INST), and the edges of its inputs."""
        for member in unit.members:
            kept = [one for one in member.declarations if one.is_kept]
            for variable in self._declare_variables(kept, scope, lost, {}, unit.kind):
                name = f"{member.name.key}__{variable.name}"
                variables[name] = replace(variable, name=name)
        for declaration in unit.declarations:
            for name in declaration.names if declaration.edge and unit.kind == "block" else ():  # type: ignore[assignment]
                record = self.find_block(declaration.edge, unit.span)
                if record is not None:
                    key = f"{name.key}__edge"  # type: ignore[attr-defined]
                    variables[key] = Variable(key, record, initial_value(record), "local")

    def _is_large(self, variables: Sequence[Variable], unit: Unit) -> bool:
        """Whether the variables hold too much together, which is then reported."""
        if sum(self._world.measure(one.type, one.written, one.span) for one in variables) <= MOST_ELEMENTS:
            return False
        self._world.findings.report("large-array", unit.name.span, name=unit.name.text, most=MOST_ELEMENTS)
        return True

    def _declare_result(self, unit: Unit, scope: Scope, variables: dict[str, Variable], lost: set[str],
                        section: Literal["result", "output", "input"] = "result") -> Type | None:
        """The variable named as its function, first of all variables."""
        if unit.result is None:
            if WITHOUT_RESULT not in unit.words:
                lost.add(unit.name.key)
            elif self._world.dialect.name == "iec" and not any(
                    one.section in ("output", "in_out") for one in unit.declarations):
                scope.report("no-result", unit.name.span, name=unit.name.text)
                lost.add(unit.name.key)
            return None
        try:
            result, initial = self.types.resolve(unit.result, scope, unit.name.text)
        except Reject:
            lost.add(unit.name.key)
            return None
        variables[unit.name.key] = Variable(unit.name.key, result, initial, section, unit.name.text, unit.name.span)
        return result

    def _declare_variables(self, declarations: Sequence[Declaration], scope: Scope, lost: set[str],
                           known: Mapping[str, Variable], kind: str) -> Iterable[Variable]:
        for declaration in declarations:
            if declaration.type is None:
                lost.update(name.key for name in declaration.names)
                continue
            names = [name for name in declaration.names if self._is_free(name, lost, scope)]
            try:
                found, initial = self._find_type(declaration, declaration.type, scope, kind)
                section = self._bind_open(found, declaration, kind)
                if declaration.over is not None:
                    section = "temp" if section == "temp" else "local"
                    found, initial = self._note_view(declaration, declaration.over, (found, initial), scope, known)
            except Reject:
                lost.update(name.key for name in names)
                continue
            yield from make_variables(names, found, initial, section, declaration, known, scope)

    def _bind_open(self, found: Type, declaration: Declaration, kind: str) -> Section:
        """The section of a variable: what TIA Portal hands to a function as `Array[*]` is bound to the array."""
        is_given = kind == "function" and declaration.section in ("input", "output") and is_open(found)
        return "in_out" if is_given and self._world.dialect.name == "siemens" else declaration.section

    def _note_view(self, view: Declaration, over: Name, found: tuple[Type, Value], scope: Scope,
                   known: Mapping[str, Variable]) -> tuple[Type, Value]:
        """The type and the beginning of another view of a variable, which has to be declared before it; a type of which
        nothing is known where it is not known how they lie upon each other."""
        if over.key not in known:
            scope.reject_unknown(over.key, over.text, over.span)
            return opaque_type(f"{view.names[0].text} AT {over.text}", VIEWS), 0
        try:
            return add_view(view.names[0].key, found, known[over.key], scope)
        except NoLayout as why:
            name = f"{view.names[0].text} AT {over.text}, view {len(self._world.views) + 1}"
            self._world.views[name] = over.text, str(why), found[0]
            return opaque_type(name, VIEWS), 0

    def _find_type(self, declaration: Declaration, node: TypeNode, scope: Scope, kind: str) -> tuple[Type, Value]:
        first = declaration.names[0]
        names = {name.key for name in declaration.names}
        if isinstance(node, PointerTo) and names <= scope.referents.keys() | scope.bound:
            is_bound = all(key in scope.bound or scope.referents[key].is_bound for key in names)
            return self.types.resolve_followed(node, scope), int(is_bound)
        found, initial = self.types.resolve(node, scope, first.text)
        if self._bind_open(found, declaration, kind) != "in_out":
            self._check_own(found, first, scope, kind)
        if declaration.initial is None:
            if declaration.section == "constant" and not is_opaque(found) and self._world.dialect.name != "siemens":
                scope.report("constant-value", first.span, name=first.text)
            return found, initial
        try:
            return begin_with(declaration.initial, found, initial, scope)
        except Reject:
            return found, initial

    def _check_own(self, found: Type, first: Name, scope: Scope, kind: str) -> None:
        """Raises Reject for a type of which a routine cannot have a variable of its own."""
        if kind == "function" and isinstance(found, Record) and found.block \
                and self._world.dialect.name not in OPEN_DIALECTS:
            raise scope.reject("block-in-function", first.span, name=first.text, block=found.name)
        whole = found
        while isinstance(whole, Array):
            whole = whole.element
        block = self._units.get(whole.block) if isinstance(whole, Record) else None
        if block is not None and "abstract" in block.words:
            scope.report("abstract-instance", first.span, name=first.text, block=block.name.text)
        if is_open(found):
            raise scope.reject("open-array", first.span, name=first.text)

    def _is_free(self, name: Name, lost: set[str], scope: Scope) -> bool:
        if name.key in SCALARS and name.key not in _NEW_TYPES and not name.is_quoted:
            scope.report("reserved-name", name.span, name=name.text)
            lost.add(name.key)
            return False
        return name.key not in lost


_NEW_TYPES = frozenset(("ltime", "ldate", "ltod", "ldt", "char", "wchar"))
"""Of the third edition; programs of the second one have variables of these names."""


_OTHER_NAMES = {"ton_time": "ton", "tof_time": "tof", "tp_time": "tp", "ctu_int": "ctu", "ctd_int": "ctd",
                "ctud_int": "ctud"}
"""Of standard blocks, as TIA Portal has them."""
