"""Systems within systems as one level, and subsystems that do not always run.

A subsystem without control inputs is dissolved. One with them stays as a block whose output says whether it runs; the
blocks inside are computed all the same, but decide, remember and integrate nothing while it does not, and its Out1
blocks hold what they had (`kernel.Guard`).
"""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.hierarchy import (
    OUTPORT,
    block_type_of,
    join_path,
    join_systems,
    outer_ports,
    port_block,
    systems,
)
from chatdev.departments.simulink.parts import Part, make_parts
from chatdev.departments.simulink.ports import CONTROLS
from chatdev.departments.simulink.simulation.expressions import ExpressionFault, Values, value_of
from chatdev.departments.simulink.simulation.functions import relate
from chatdev.departments.simulink.simulation.kernel import Guard, Kernel, ModelFault, Site, kernel, literal, scalars
from chatdev.departments.simulink.simulation.states import edge_condition

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A model as one level: its blocks by their paths, the variables that each may use, the subsystem that decides
    whether it runs, the subsystems that do so, the Goto of each From, the subsystem of each Out1 that holds its
    value, and the Data Store Memory of each block that reads or writes one."""

    model: Diagram
    variables: Mapping[str, Mapping[str, Values]]
    guards: Mapping[str, Guard]
    openers: Mapping[str, Guard]
    gotos: Mapping[str, str]
    outlets: Mapping[str, Guard]
    stores: Mapping[str, str]


def plan_model(model: Diagram, variables: Mapping[str, Values]) -> Plan:
    """The plan of a model; `variables` are given over those of its workspace. Raises ModelFault."""
    guards = dict[_Path, Guard]()
    for path, system in [*systems(model)][1:]:
        _refuse_sample_time(model, path)
        if guard := _read_guard(path, system, _nearest(path[:-1], guards)):
            guards[path] = guard
    try:
        flat = join_systems(model, {guard.path for guard in guards.values()})
    except ValueError as error:
        raise ModelFault(str(error)) from None
    scopes, rows = _scopes(model, variables), [*_all_blocks(model)]
    around = {own: guard for path, own, _ in rows if (guard := _nearest(path, guards))}
    openers = {guard.path: guard for guard in guards.values()}
    return Plan(flat, {own: scopes[path] for path, own, _ in rows}, around, openers, _find_gotos(model),
                _find_outlets(rows, guards), dict(_find_stores(model)))


def _find_outlets(rows: Sequence[tuple[_Path, str, DiagramBlock]], guards: Mapping[_Path, Guard]) -> dict[str, Guard]:
    """The Out1 blocks of subsystems that do not always run."""
    return {own: guards[path] for path, own, block in rows if path in guards and block_type_of(block) == OUTPORT}


def _all_blocks(model: Diagram) -> Iterator[tuple[_Path, str, DiagramBlock]]:
    """The blocks of all systems: the names that lead there, its own path, and itself."""
    for path, system in systems(model):
        for name, block in system.blocks.items():
            yield path, join_path(*path, name) if model.levels > 1 else name, block


def _nearest(path: _Path, guards: Mapping[_Path, Guard]) -> Guard | None:
    """The subsystem that decides whether what is in a system runs."""
    return next((guards[path[:end]] for end in range(len(path), 0, -1) if path[:end] in guards), None)


def _scopes(model: Diagram, variables: Mapping[str, Values]) -> dict[_Path, Mapping[str, Values]]:
    """The variables that blocks of each system may use."""
    found = dict[_Path, Mapping[str, Values]]()
    for path, system in systems(model):
        found[path] = _own_variables(path, system, found[path[:-1]] if path else {}, {} if path else variables)
    return found


def _read_guard(path: _Path, system: Diagram, outer: Guard | None) -> Guard | None:
    """The guard of a system with control inputs."""
    own = join_path(*path)
    try:
        ports = {port.name for port in outer_ports(system)}
    except ValueError as error:
        raise ModelFault(f"{own!r}: {error}", [own]) from None
    controls = [port for port in CONTROLS.values() if port in ports]
    if not controls:
        return None
    parts = make_parts(system)
    makers = {control: parts[str(port_block(system, control, "in"))] for control in controls}
    if fault := _unknown_control(makers):
        raise ModelFault(f"not simulated: {own!r}: {fault}", [own])
    return Guard(own, makers, outer, "trigger" in makers or (outer is not None and outer.is_triggered))


def _unknown_control(makers: Mapping[str, Part]) -> str:
    """What of the control inputs is not simulated."""
    if trigger := makers.get("trigger"):
        if trigger.values.get("TriggerType") == "function-call":
            return "a function-call subsystem; only rising, falling and either edges trigger"
        if trigger.values.get("ShowOutputPort") == "on":
            return f"the output of {trigger.name!r} (ShowOutputPort)"
    return "an action beside another control input" if "ifaction" in makers and len(makers) > 1 else ""


def _refuse_sample_time(model: Diagram, path: _Path) -> None:
    block = None
    for name in path:
        block = (block.system if block and block.system else model).blocks[name]
    if block and block.parameters.get("SystemSampleTime", "-1").strip() != "-1":
        raise ModelFault(f"not simulated: {join_path(*path)!r}: SystemSampleTime "
                         f"{block.parameters['SystemSampleTime']!r}; give the blocks inside a sample time",
                         [join_path(*path)])


def _own_variables(path: _Path, system: Diagram, outer: Mapping[str, Values], given: Mapping[str, Values]
                   ) -> Mapping[str, Values]:
    """What the blocks of a system may use: what is around it, and over that the variables of its mask (or of the
    model), each of which may use those before it."""
    found = {**outer, **given}
    for name, text in system.variables.items():
        try:
            found[name] = given[name] if name in given else value_of(text, found)
        except ExpressionFault as error:
            where = join_path(*path) or "the model"
            raise ModelFault(f"{where}: the variable {name} is {text[:60]!r}: {error}", [where]) from None
    return found


def _find_gotos(model: Diagram) -> dict[str, str]:
    """The Goto of each From: of its own system, else a scoped one whose Goto Tag Visibility block lies above both,
    else a global one. Raises ModelFault."""
    gotos, fences = defaultdict[str, list[_Goto]](list), defaultdict[str, set[_Path]](set)
    takers = list[tuple[_Path, str, str]]()
    for path, own, block in _all_blocks(model):
        kind, tag = block_type_of(block), block.parameters.get("GotoTag", "A")
        if kind == "Goto":
            other = _Goto(path, own, block.parameters.get("TagVisibility", "local"))
            _refuse_double(other, gotos[tag], tag)
            gotos[tag].append(other)
        elif kind == "GotoTagVisibility":
            fences[tag].add(path)
        elif kind == "From":
            takers.append((path, own, tag))
    return {own: _goto_of(path, own, tag, gotos[tag], fences[tag]) for path, own, tag in takers}


def _find_stores(model: Diagram) -> Iterator[tuple[str, str]]:
    """The memory of each block that reads or writes a data store: the nearest one of its name in a system around it.
    Raises ModelFault where there is none, or two blocks write."""
    memories, writers = dict[tuple[_Path, str], str](), dict[str, str]()
    for path, own, block in _all_blocks(model):
        if block_type_of(block) == "DataStoreMemory":
            memories[path, block.parameters.get("DataStoreName", "A")] = own
    for path, own, block in _all_blocks(model):
        kind, name = block_type_of(block), block.parameters.get("DataStoreName", "A")
        if kind not in ("DataStoreRead", "DataStoreWrite"):
            continue
        around = (memories.get((path[:end], name)) for end in range(len(path), -1, -1))
        memory = next(filter(None, around), None)
        if memory is None:
            raise ModelFault(f"{own!r}: there is no Data Store Memory {name!r} in the systems around it; add one",
                             [own])
        if kind == "DataStoreWrite" and (other := writers.setdefault(memory, own)) != own:
            raise ModelFault(f"not simulated: {other!r} and {own!r} both write the data store {name!r}, and the order "
                             "in which they do is not known; keep one", [other, own])
        yield own, memory


class _Goto(NamedTuple):
    system: _Path
    name: str
    reach: str


def _refuse_double(goto: _Goto, others: Sequence[_Goto], tag: str) -> None:
    for other in others:
        if other.system == goto.system or other.reach == goto.reach == "global":
            raise _two_gotos(other.name, goto.name, tag)


def _goto_of(path: _Path, taker: str, tag: str, gotos: Sequence[_Goto], fences: set[_Path]) -> str:
    shared = [fence for fence in fences if path[:len(fence)] == fence]
    ranks = ("own", "scoped", "global")
    ranked = [(rank, goto.name) for goto in gotos if (rank := _sight(goto, path, shared))]
    found = next(filter(None, ([name for rank, name in ranked if rank == wanted] for wanted in ranks)), [])
    if not found:
        raise ModelFault(f"From {taker!r}: there is no Goto with the tag {tag!r} that it can see; add one, or let its "
                         "TagVisibility be global", [taker])
    if len(found) > 1:
        raise _two_gotos(found[0], found[1], tag)
    return found[0]


def _sight(goto: _Goto, path: _Path, shared: Sequence[_Path]) -> str:
    """How a system sees a Goto: as its own, within one of the fences that they share, or as all do; empty if not."""
    if goto.system == path:
        return "own"
    is_fenced = any(goto.system[:len(fence)] == fence for fence in shared)
    return goto.reach if goto.reach == "global" or (goto.reach == "scoped" and is_fenced) else ""


def _two_gotos(one: str, other: str, tag: str) -> ModelFault:
    return ModelFault(f"the Goto blocks {one!r} and {other!r} have one tag, {tag!r}; give each its own", [one, other])


# Kernels of what decides whether a subsystem runs, and of what holds its values.


@kernel("subsystem", scalars)
def _subsystem(site: Site) -> None:
    """Its output says whether it runs."""
    guard, conditions, decide = _guard_of(site), list[str](), list[str]()
    began, now = site.keep(0.0), site.keep(0.0)
    restart = f"if {now} and not {began}: {_restart(site, guard)}" if _begins_anew(guard) else ""
    for port, (control, maker) in enumerate(guard.controls.items()):
        if control == "reset":
            edge = _edge(site, port, maker.values["ResetTriggerType"])
            decide.append(f"if {edge}: {_restart(site, guard)}")
        else:
            condition, lines = _control_condition(site, port, control, maker)
            conditions.append(condition)
            decide += lines
    decide.append(f"{now} = 1.0 if {' and '.join(conditions) or '1.0'} else 0.0")
    around = site.guard
    site.element(0, 0, f"{now} if {around.flag} else 0.0" if around else now, [*decide, *filter(None, [restart])], True)
    flag = site.outputs[0][0]
    site.code.updates += [(site.rate, False, f"{began} = {flag}"),
                          (site.rate, False, f"if {flag}: {guard.first} = False")]


def _control_condition(site: Site, port: int, control: str, maker: Part) -> tuple[str, list[str]]:
    """The condition that a control input lets the subsystem run, and what decides it."""
    if control == "trigger":
        return _edge(site, port, maker.values["TriggerType"]), []
    if control == "ifaction":
        return f"{site.scalar(port)} > 0.5", []
    found = [relate(site, u, ">", "0.0") for u in site.u(port)]
    return f"({site.total([condition for condition, _ in found], 'or')})", [*chain.from_iterable(
        lines for _, lines in found)]


def _guard_of(site: Site) -> Guard:
    if site.opens is None:
        raise site.fault("what is in it is not known; give its `system`")
    return site.opens


def _begins_anew(guard: Guard) -> bool:
    """Whether its states begin anew when it is enabled."""
    enable, action = guard.controls.get("enable"), guard.controls.get("ifaction")
    return bool(enable and enable.values["StatesWhenEnabling"] == "reset") or bool(
        action and action.values["InitializeStates"] == "reset")


def _restart(site: Site, guard: Guard) -> str:
    """What puts all states inside back to where they began."""
    copy = site.thing(_copy)
    stores = [f"{name} = {literal(site.code.states[name][1])}" if name in site.code.states else
              f"{name} = {copy}(initial[{name!r}])" for name in guard.stores]
    return "; ".join([*stores, f"{guard.first} = True"])


def _copy(value: Any) -> Any:
    return list(value) if isinstance(value, list) else value


def _edge(site: Site, port: int, kind: str) -> str:
    """The condition that a trigger comes at a control input; its crossing is located."""
    now, before = site.scalar(port), site.keep(0.0)
    if site.is_continuous:
        site.margin(f"{now} if {before} <= 0 else -{now}")
    site.update(f"{before} = {now}")
    condition = edge_condition(kind, now, before)
    return condition if kind.startswith("level") else f"(not first and {condition})"


def _outlet(site: Site) -> None:
    """An Out1 of a subsystem that does not always run: its value is held, or goes back to InitialOutput."""
    guard = site.guard
    if guard is None:
        raise site.fault("it lies in no subsystem")
    initial = site.vector("InitialOutput") if site.matrix("InitialOutput").size else [0.0]
    is_held = site.text("OutputWhenDisabled", "held") != "reset"
    for number, u in enumerate(site.u(0, site.width)):
        start = initial[number % len(initial)]
        held = site.hold(u, start) if is_held else literal(start)
        site.element(0, number, f"{u} if {guard.flag} else {held}")


OUTLET = Kernel(_outlet, lambda site: [site.input_widths[0]], "inherit", "SampleTime")
"""Of Out1 blocks that hold their value; all others only name a column."""


@kernel("store_memory")
def _store_memory(site: Site) -> None:
    """Its value is what the blocks that read and write it share."""


def _cells(site: Site) -> list[str]:
    """What a data store remembers, element by element."""
    memory = site.store
    if memory is None:
        raise site.fault("there is no Data Store Memory of its name")
    memory.cells = memory.cells or [memory.keep(value) for value in memory.vector("InitialValue")]
    return memory.cells


@kernel("store_read", lambda site: [len(site.store.vector("InitialValue")) if site.store else None])
def _store_read(site: Site) -> None:
    site.put(_cells(site), held=True)


@kernel("store_write", rate="inherit")
def _store_write(site: Site) -> None:
    """At the end of an instant, so that who reads sees it from the next one on."""
    cells = _cells(site)
    for cell, u in zip(cells, site.u(0, len(cells)), strict=True):
        site.update(f"{cell} = {u}")


@kernel("tag_visibility")
def _tag_visibility(site: Site) -> None:
    """It only says where a tag is known."""


@kernel("control_port")
def _control_port(site: Site) -> None:
    raise site.fault("it lies in no subsystem; put it into one")


@kernel("merge")
def _merge(site: Site) -> None:
    """The input whose subsystem runs; else what it was. Of several that run at once, the last one."""
    guards = [source.guard for source in site.sources if source and source.guard and source.is_outlet]
    if len(guards) < len(site.sources):
        raise site.fault("its inputs are not all outputs of subsystems that run by turns")
    initial = site.vector("InitialOutput") if site.matrix("InitialOutput").size else [0.0]
    for number in range(site.width):
        value = site.outputs[0][number]
        choice = site.hold(value, initial[number % len(initial)])
        for port, guard in enumerate(guards):
            choice = f"{site.u(port, site.width)[number]} if {guard.flag} else ({choice})"
        site.element(0, number, choice)


_WORDS = {"&": " and ", "&&": " and ", "|": " or ", "||": " or ", "~=": "!="}
_TOKEN = re.compile(r"\s*(u\d+(?:\(1\))?|\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|==|~=|<=|>=|&&|\|\||[-+*/()<>&|])")
_LONGEST = 500  # characters of a condition
_OPERATORS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "~="}


@kernel("if", scalars)
def _if(site: Site) -> None:
    texts = [site.text("IfExpression"), *filter(None, map(str.strip, site.text("ElseIfExpressions").split(",")))]
    conditions, decide = list[str](), list[str]()
    for text in texts:
        conditions.append(_condition(site, _parse(site, text), decide))
    _choose(site, conditions, decide)


def _choose(site: Site, conditions: Sequence[str], decide: Sequence[str]) -> None:
    """The first condition that holds gives 1, all others 0; one more output is that for none."""
    for number in range(len(site.outputs)):
        before = [f"not ({condition})" for condition in conditions[:number]]
        own = [f"({conditions[number]})"] if number < len(conditions) else []
        site.element(number, 0, f"1.0 if {' and '.join([*before, *own]) or '1.0'} else 0.0",
                     decide if number == 0 else [site.outputs[0][0]], held=True)


def _parse(site: Site, text: str) -> ast.expr:
    if len(text) > _LONGEST:  # what Python's own parser is given is never deep
        raise site.fault(f"its expression has more than {_LONGEST} characters")
    at, words = 0, list[str]()
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if not found:
            raise site.fault(f"its expression {text[:60]!r} cannot be read at {text[at:at + 20]!r}; it takes u1, "
                             "u2, …, numbers, relations, & and |")
        words.append(_WORDS.get(found[1], found[1].removesuffix("(1)")))
        at = found.end()
    try:
        return ast.parse("".join(words), mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        raise site.fault(f"its expression {text[:60]!r} is none; write it such as u1 > 0 & u2 < 3") from None


def _condition(site: Site, tree: ast.expr, decide: list[str]) -> str:
    """Code that says whether a condition holds; what its relations are is decided at whole steps."""
    if isinstance(tree, ast.BoolOp):
        word = " and " if isinstance(tree.op, ast.And) else " or "
        return f"({word.join(_condition(site, one, decide) for one in tree.values)})"
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1:
        left, right = _term(site, tree.left), _term(site, tree.comparators[0])
        holds, lines = relate(site, left, _OPERATORS[type(tree.ops[0])], right)
        decide += lines
        return f"({holds})"
    return f"({_term(site, tree)} != 0)"


def _term(site: Site, tree: ast.expr) -> str:
    for name in (node.id for node in ast.walk(tree) if isinstance(node, ast.Name)):
        if not 0 < int(name[1:]) <= len(site.inputs):
            raise site.fault(f"its expression names {name}, and it has {len(site.inputs)} inputs; correct NumInputs")
    if any(not isinstance(node, ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
                          | ast.expr_context) for node in ast.walk(tree)):
        raise site.fault("its expression compares what is no number; put brackets around each relation")
    return re.sub(r"\bu(\d+)\b", lambda found: site.scalar(int(found[1]) - 1), f"({ast.unparse(tree)})")


@kernel("switch_case", scalars)
def _switch_case(site: Site) -> None:
    text = site.text("CaseConditions").strip()
    inner = re.fullmatch(r"\{(.*)\}", text, re.DOTALL)
    cases = re.findall(r"\[[^][]*\]|[^\s,;]+", inner[1]) if inner else []
    conditions, whole = list[str](), site.thing(lambda value: math.trunc(value) if math.isfinite(value) else None)
    for case in cases:
        try:
            values = [float(one) for one in value_of(case, site.variables).ravel()]
        except ExpressionFault as error:
            raise site.fault(f"CaseConditions is {text[:60]!r}: {error}") from None
        conditions.append(f"{whole}({site.scalar()}) in {(*map(int, values),)}")
    _choose(site, conditions, [])


def refuse_in_subsystem(site: Site, what: str) -> None:
    """Raises ModelFault for what cannot lie in a subsystem that does not always run."""
    if site.guard:
        raise site.fault(f"{what} in {site.guard.path!r}, which does not always run, is not simulated; take it out")
