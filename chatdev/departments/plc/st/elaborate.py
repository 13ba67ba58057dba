"""Give a whole source its meaning in the core: types, the data of blocks, bodies, and which routine is run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from chatdev.departments.plc.st.core import IEC, Dialect, Program, Record, Routine, Span, Variable
from chatdev.departments.plc.st.diagnostics import Findings, find_nearest
from chatdev.departments.plc.st.elaborate_statement import elaborate_statements
from chatdev.departments.plc.st.elaborate_type import Types
from chatdev.departments.plc.st.elaborate_unit import Units
from chatdev.departments.plc.st.run_clocks import run_clocks
from chatdev.departments.plc.st.scope import Scope, Signature, World
from chatdev.departments.plc.st.syntax import SourceFile, Unit

MOST_CALLS = 50
"""So many routines may call each other in a row."""


def elaborate_source(source: SourceFile, findings: Findings, standard: Mapping[str, Routine],
                     is_standard: bool = False, dialect: Dialect = IEC) -> World:
    """All routines of a source, and of the `standard` ones those that it uses. What has no meaning is reported."""
    world = World(findings, dialect, standard=standard, broken=source.broken)
    units = Units(world, source.units)
    types = Types(world, source.types, units.find_block, units.block_names())
    units.types = types
    units.declare_globals([one for one in source.globals if one.section == "constant"])
    types.resolve_all()
    units.declare_globals([one for one in source.globals if one.section != "constant"])
    units.declare_all()
    calls: dict[str, dict[str, Span]] = {}
    for unit in units.in_order_of_use():
        scope = _scope_of(unit, units, world, is_standard)
        units.check_externals(unit, scope)
        body = elaborate_statements(unit.body, scope)
        calls[unit.name.key] = scope.calls
        signature = world.signatures[unit.name.key]
        world.globals_of[unit.name.key] = tuple(sorted(scope.used_globals))
        world.routines[unit.name.key] = Routine(
            signature.name, signature.kind, (*signature.variables, *_bound_globals(scope, signature, unit)), body,
            signature.written, is_standard, unit.span)
    _report_circles(calls, world)
    return world


def make_program(world: World, entry: str | None, source: str) -> Program | None:
    """The program that runs the routine `entry`, or the one that is the entry by itself; None, with the error
    reported, if there is none."""
    own = world.routines
    routines = own | {name: world.standard[name] for name in world.standard_used if name not in own}
    chosen = _choose_entry(world, entry)
    if chosen is None:
        return None
    globals_ = tuple(world.globals.values())
    variables = tuple(one for one in chosen.variables if one.name not in world.globals or one.section != "in_out")
    chosen = replace(chosen, variables=variables + globals_)
    program = Program(chosen, {**routines, chosen.name: chosen}, source, globals_, world.dialect)
    return run_clocks(program, world.standard)


def _scope_of(unit: Unit, units: Units, world: World, is_standard: bool) -> Scope:
    signature = world.signatures[unit.name.key]
    variables = {variable.name: variable for variable in signature.variables}
    return Scope(world, variables, is_standard=is_standard, kind=signature.kind, broken=unit.broken,
                 lost=units.lost_names(unit))


def _bound_globals(scope: Scope, signature: Signature, unit: Unit) -> Iterable[Variable]:
    """The global variables that a routine or one that it calls uses, which it gets as in-outs. A function gets none."""
    names = sorted(scope.used_globals)
    if names and signature.kind == "function":
        scope.report("global-in-function", unit.name.span, name=scope.world.globals[names[0]].written,
                     function=signature.written)
    return [replace(scope.world.globals[name], section="in_out") for name in names]


def _report_circles(calls: Mapping[str, Mapping[str, Span]], world: World) -> None:
    """Functions that call themselves, also by way of others."""
    done: set[str] = set()
    for start in calls:
        path: list[str] = []
        _walk_calls(start, calls, path, done, world)


def _walk_calls(name: str, calls: Mapping[str, Mapping[str, Span]], path: list[str], done: set[str],
                world: World) -> None:
    if name in done or name not in calls:
        return
    if len(path) == MOST_CALLS:
        world.findings.report("deep-calls", calls[path[-1]][name], most=MOST_CALLS)
        return
    path.append(name)
    for called, span in calls[name].items():
        if called in path:
            circle = [world.signatures[one].written for one in (*path[path.index(called):], called)]
            world.findings.report("recursion", span, circle=" calls ".join(circle))
        else:
            _walk_calls(called, calls, path, done, world)
    path.pop()
    done.add(name)


def _choose_entry(world: World, entry: str | None) -> Routine | None:
    candidates = {name: one for name, one in world.routines.items() if one.kind != "function"}
    if entry is not None:
        chosen = candidates.get(entry.strip('"').lower())
        if chosen is None:
            known = [one.written for one in candidates.values()]
            world.findings.report("no-such-entry", Span(1, 1, 1, 1), name=entry, near=find_nearest(entry, known),
                                  known=", ".join(known[:12]))
        return chosen
    if not candidates:
        world.findings.report("no-entry", Span(1, 1, 1, 1), functions=bool(world.routines))
        return None
    return _last_free(list(candidates.values()))


def _last_free(candidates: list[Routine]) -> Routine:
    """The last PROGRAM, else the last block that no other one has an instance of."""
    programs = [one for one in candidates if one.kind == "program"]
    used = {part for one in candidates for variable in one.variables for part in _blocks_in(variable)}
    free = [one for one in candidates if one.name not in used]
    return (programs or free or candidates)[-1]


def _blocks_in(variable: Variable) -> set[str]:
    """The function blocks that a variable is an instance of, or has instances of."""
    found: set[str] = set()
    types = [variable.type]
    while types:
        type_ = types.pop()
        if isinstance(type_, Record):
            found |= {type_.block} - {""}
            types.extend(part.type for part in type_.fields)
        elif not hasattr(type_, "kind"):
            types.append(type_.element)
    return found
