"""Give a whole source its meaning in the core: its types, its routines, and which of them is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chatdev.departments.plc.st.addresses import find_shared, locate
from chatdev.departments.plc.st.construction import add_construction
from chatdev.departments.plc.st.core import IEC, Dialect, Program, Record, Routine, Span, Variable
from chatdev.departments.plc.st.diagnostics import Findings, find_nearest
from chatdev.departments.plc.st.elaborate_type import Types
from chatdev.departments.plc.st.elaborate_unit import MOST_CALLS, Units
from chatdev.departments.plc.st.instances import begin_numbered
from chatdev.departments.plc.st.restarts import add_restarts
from chatdev.departments.plc.st.run_clocks import run_clocks
from chatdev.departments.plc.st.scope import TimedProgram, World
from chatdev.departments.plc.st.shared_memory import share_memory
from chatdev.departments.plc.st.syntax import SourceFile, names_of_others
from chatdev.departments.plc.st.tasks import find_together, read_tasks, run_beside, takes_addresses


def elaborate_source(source: SourceFile, findings: Findings, standard: Mapping[str, Routine],
                     is_standard: bool = False, dialect: Dialect = IEC, entry: str | None = None,
                     together: bool = False) -> World:
    """All routines of a source, and of the `standard` ones those that it uses. What has no meaning is reported. With
    `together` the programs of other tasks are run beside the entry, where that can be."""
    world = World(findings, dialect, standard=standard, broken=source.broken)
    world.namespaces = _NAMESPACES | source.namespaces | {one.lower() for one in dialect.namespaces}
    world.entry = _likely_entry(source, entry)
    source = locate(source, world)
    units = Units(world, add_construction(source, world.entry, findings), is_standard)
    types = Types(world, source.types, units.find_block, units.block_names(), units.interface_names(), units.open)
    units.types = types
    units.declare_globals([one for one in source.globals if one.section == "constant"])
    types.resolve_all()
    units.declare_globals([one for one in source.globals if one.section != "constant"])
    find_shared(source.globals, world)
    timed = read_tasks(source.tasks, world)
    world.together = find_together(timed, world.entry, source.units) if together else ()
    units.declare_programs(world.entry)
    units.declare_all()
    units.number_instances(source)
    units.read_all()
    known = [unit.name.key for unit in source.units]
    _report_circles({key: units.calls[key] for key in (*known, *units.calls) if key in units.calls}, world)
    _weigh_tasks(source, timed, world)
    return world


_NAMESPACES = frozenset(("standard", "tc2_standard", "tc2_system", "tc2_utilities", "tc2_math", "util"))


def _likely_entry(source: SourceFile, entry: str | None) -> str:
    """The program that will be run: the one that is asked for, that of the first task, or the last one that none of
    the others calls."""
    if entry is not None:
        return entry.strip('"').lower()
    if source.tasks:
        return source.tasks[0].program.key
    programs = [unit for unit in source.units if unit.kind == "program"]
    called = names_of_others(source.units)
    free = [unit for unit in programs if unit.name.key not in called]
    return (free or programs)[-1].name.key if programs else ""


def _weigh_tasks(source: SourceFile, timed: Sequence[TimedProgram], world: World) -> None:
    """What runs beside the entry, and the milliseconds from scan to scan. An entry that no task runs is looked at by
    itself."""
    own = next((one for one in timed if one.name == world.entry), None)
    if own is None:
        return
    world.own_task = own
    others = [one for one in timed if one is not own]
    if others:
        written = world.signatures[own.name].written if own.name in world.signatures else own.name
        world.takes_addresses = takes_addresses(source.units)
        world.findings.report("gap-tasks", source.tasks[timed.index(others[0])].program.span, name=written)
    world.other_programs = frozenset(one.name for one in others)
    world.cycle_ms = own.interval_ms


def make_program(world: World, entry: str | None, source: str, needs_entry: bool) -> Program | None:
    """The program that runs the routine `entry`, or the one that is the entry by itself; None if there is none, with
    the error reported if there has to be one."""
    own = world.routines
    routines = own | {name: world.standard[name] for name in world.standard_used if name not in own}
    chosen = _choose_entry(world, entry, needs_entry)
    if chosen is None:
        return None
    globals_ = tuple(begin_numbered(one, world.instances) for one in world.globals.values())
    variables = tuple(begin_numbered(one, world.instances) for one in chosen.variables
                      if one.name not in world.globals.keys() | world.lent.keys() or one.section != "in_out")
    is_used = any(chosen.name in _blocks_in(one) for one in globals_)  # then the block and what is run are two routines
    name = f"{chosen.name}@run" if is_used else chosen.name
    chosen = run_beside(replace(chosen, variables=variables + globals_, name=name), world)
    program = Program(chosen, {**routines, chosen.name: chosen}, source, globals_, world.dialect, world.cycle_ms,
                      world.namespaces)
    return add_restarts(run_clocks(share_memory(program, world), world.standard))


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


def _choose_entry(world: World, entry: str | None, needed: bool) -> Routine | None:
    candidates = {name: one for name, one in world.routines.items() if one.kind != "function"
                  and world.signatures[name].kind in ("block", "program")}
    if entry is not None:
        chosen = candidates.get(entry.strip('"').lower())
        if chosen is None:
            known = [one.written for one in candidates.values()]
            world.findings.report("no-such-entry", Span(1, 1, 1, 1), name=entry, near=find_nearest(entry, known),
                                  known=", ".join(known[:12]))
        return chosen
    if world.entry in candidates:
        return candidates[world.entry]
    if not candidates:
        if needed:
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
