"""From a diagram to the functions that simulate it: widths and rates of all signals, the kernels' nodes in the order of
direct feed-through, and their code.

What cannot be simulated is refused here, before anything runs, with the names of the blocks.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

import networkx

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.hierarchy import ports_of
from chatdev.departments.simulink.parts import Part, has_own_ports, make_parts
from chatdev.departments.simulink.simulation import discrete, functions, routing, sources, states, subsystems
from chatdev.departments.simulink.simulation.arithmetic import FUNCTIONS
from chatdev.departments.simulink.simulation.expressions import Values
from chatdev.departments.simulink.simulation.kernel import (
    CONSTANT,
    CONTINUOUS,
    KERNELS,
    MOST_ELEMENTS,
    Code,
    Guard,
    InputTable,
    ModelFault,
    Node,
    NotSimulated,
    Rate,
    Site,
    TimeEvents,
)
from chatdev.departments.simulink.simulation.loops import Group, solve_loop, sort_nodes
from chatdev.departments.simulink.simulation.network import find_networks
from chatdev.departments.simulink.simulation.subsystems import OUTLET, plan_model, refuse_in_subsystem

RECORDED = ("scope", "outport", "display", "to_workspace", "xy_graph")
"""Kernels of the blocks whose inputs are results."""
_OWN = re.compile(r"\b(?:[dx]\d+|again|stop)\b")
_MOST_VISITS = 1000
_LIBRARIES = (discrete, functions, routing, sources, states, subsystems)
"""Imported so that their kernels are entered."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A model's functions, over time t (seconds) and the continuous states x.

    `major(t, x, fresh, *due)` computes a whole step and returns the recorded row, the states and whether to compute
    again and to stop; `derivative`, `margins` and `peek` (the row) are for within a step, with modes frozen;
    `columns` are the recorded signals; `rates` the discrete ones, in the order of `due`. `inputs` says where in `held`
    the values from outside stand, element by element; `generators` are those of random numbers, and `numbers` the
    parameters of one number that kernels have read, as `Block.Parameter`.
    """

    major: Callable[..., tuple[tuple[float, ...], tuple[float, ...], float, float]]
    derivative: Callable[[float, Sequence[float]], list[float]]
    margins: Callable[[float, Sequence[float]], list[float]]
    peek: Callable[[float, Sequence[float]], tuple[float, ...]]
    initial: tuple[float, ...]
    state_blocks: tuple[str, ...]
    margin_blocks: tuple[str, ...]
    columns: tuple[str, ...]
    sinks: Mapping[str, tuple[str, ...]]
    rates: tuple[Rate, ...]
    block_rates: Mapping[str, Rate]
    events: tuple[TimeEvents, ...]
    longest_step: float
    is_continuous: bool
    is_stiff: bool
    notes: tuple[str, ...]
    inputs: Mapping[str, tuple[int, ...]]
    held: list[float]
    generators: tuple[Any, ...]
    numbers: Mapping[str, float]
    text: str


def compile_model(model: Diagram, variables: Mapping[str, Values] | None = None, base: float = 0.2,
                  span: float = 10.0, tables: Mapping[str, InputTable] | None = None) -> Compiled:
    """The functions of a model; `base` is the sample time (seconds) of sampled blocks that inherit none, `span` the
    time that is simulated, `tables` what In1 blocks get from outside (None: nothing). Raises ModelFault."""
    compiler = _Compiler(model, variables or {}, base)
    compiler.code.span, compiler.code.tables = span, tables
    return compiler.compile()


class _Compiler:
    def __init__(self, model: Diagram, variables: Mapping[str, Values], base: float) -> None:
        self.plan = plan_model(model, variables)
        self.parts = make_parts(self.plan.model)
        self.code, self.base, self.notes = Code(), base, list[str]()
        _refuse_unknown(self.parts)
        self.sites = {name: self._site(name) for name in sorted(self.parts)}
        self.kernels = {name: OUTLET if site.is_outlet else KERNELS[self._sim(name)]
                        for name, site in self.sites.items()}
        self.inputs, self.outputs = ({name: self._ports(name, direction) for name in self.parts}
                                     for direction in ("in", "out"))
        for name, memory in self.plan.stores.items():
            self.sites[name].store = self.sites[memory]
        self.feeds: dict[tuple[str, int], tuple[str, int]] = {}
        self._connect(self.plan.model)

    def _site(self, name: str) -> Site:
        site = Site(self.parts[name], self.plan.variables[name], self.code)
        site.guard, site.is_outlet = self.plan.guards.get(name), name in self.plan.outlets
        site.opens = self.plan.openers.get(name)
        return site

    def _ports(self, name: str, direction: str) -> list[str]:
        """The ports of its signals; a subsystem that does not always run says so at an output, which goes to its
        outlets."""
        site = self.sites[name]
        if site.opens:
            return [*site.opens.controls] if direction == "in" else ["1"]
        if site.is_outlet:
            return ["1", "runs"] if direction == "in" else ["1"]
        return [port.name for port in self.parts[name].ports or () if port.direction == direction
                and not port.is_physical]

    def _refuse_unknown_tables(self) -> None:
        """Tables are for In1 blocks of the top level."""
        free = [name for name, site in self.sites.items() if self._sim(name) == "inport" and not site.sources]
        if strange := [name for name in self.code.tables or {} if name not in free]:
            raise ModelFault(f"there is no In1 block {strange[0]!r} for these values; the model's are: "
                             f"{', '.join(free) or 'none'}", strange[:1])

    def compile(self) -> Compiled:
        """All steps, one after the other."""
        self._refuse_unknown_tables()
        order = self._order()
        self._find_widths(order)
        self._find_rates(order)
        self._name_variables()
        for name in sorted(self.sites, key=self._depth, reverse=True):
            self.kernels[name].write(self.sites[name])
        return self._assemble()

    def _name_variables(self) -> None:
        zero = ("0.0",)
        for site in self.sites.values():
            site.outputs = [tuple(self.code.variable() for _ in output) for output in site.outputs]
            if site.opens:
                site.opens.flag, site.opens.first = site.outputs[0][0], site.keep(True)
        for name, site in self.sites.items():
            site.inputs = [self._elements(name, port) or zero for port in range(len(site.sources))]
            site.input_rates = [source.rate if source else CONSTANT for source in site.sources]

    def _depth(self, name: str) -> float:
        """A subsystem that does not always run is written when all inside is known, the innermost first."""
        opens = self.sites[name].opens
        return opens.depth if opens else math.inf

    def _elements(self, name: str, port: int) -> tuple[str, ...]:
        feed = self.feeds.get((name, port))
        return self.sites[feed[0]].outputs[feed[1]] if feed else ()

    # connections

    def _connect(self, model: Diagram) -> None:
        for wire in (wire for wire in model.wires if not wire.is_physical):
            for end, ports, kind in ((wire.source, self.outputs, "output"), (wire.target, self.inputs, "input")):
                if end.block not in self.sites:
                    raise ModelFault(f"line {wire}: there is no block {end.block!r}; add it, or correct the line",
                                     [end.block])
                if end.port not in ports[end.block]:
                    raise ModelFault(f"line {wire}: {end.block!r} has no {kind} {end.port}; it has "
                                     f"{', '.join(ports[end.block]) or 'none'}", [end.block])
            target = wire.target.block, self.inputs[wire.target.block].index(wire.target.port)
            if target in self.feeds:
                raise ModelFault(f"line {wire}: input {wire.target.port} of {wire.target.block!r} has two sources; "
                                 "remove one line", [wire.target.block])
            self.feeds[target] = wire.source.block, self.outputs[wire.source.block].index(wire.source.port)
        self._join_tags()
        self.feeds.update({(name, 1): (guard.path, 0) for name, guard in self.plan.outlets.items()})
        self._join_networks(model)
        self._find_sources()

    def _find_sources(self) -> None:
        """Which site feeds each input; what is not connected is told."""
        for name, site in self.sites.items():
            network = self.sites[name].network
            count = len(network.inputs) if network else 1 if self._sim(name) == "from" else len(self.inputs[name])
            site.sources = [self.sites[feed[0]] if (feed := self.feeds.get((name, port))) else None
                            for port in range(count)]
            site.outputs = [()] * len(self.outputs[name])
            if missing := [str(port + 1) for port, source in enumerate(site.sources) if source is None]:
                self.notes.append(f"{name}: input {', '.join(missing)} is not connected, and is taken as 0")

    def _sim(self, name: str) -> str:
        kind = self.parts[name].kind
        return str(kind.sim) if kind else ""

    def _join_tags(self) -> None:
        """A From has what its Goto gets."""
        for name, goto in self.plan.gotos.items():
            if (goto, 0) in self.feeds:
                self.feeds[name, 0] = self.feeds[goto, 0]

    def _join_networks(self, model: Diagram) -> None:
        """A converter out of a network has what all converters into it get."""
        if lost := [str(end) for wire in model.wires for end in wire if end.block not in self.sites]:
            raise ModelFault(f"{lost[0]}: there is no such block; add it, or correct the line", lost)
        for site in self.sites.values():
            if self._sim(site.name) == "network":
                refuse_in_subsystem(site, "an electrical network")
        for name, found in find_networks(model, self.parts).items():
            self.sites[name].network = found
            found.variables = self.plan.variables
            for port, source in enumerate(found.inputs):
                if (source, 0) in self.feeds:
                    self.feeds[name, port] = self.feeds[source, 0]

    def _order(self) -> list[str]:
        """Sources first, as far as there are no loops."""
        graph = networkx.DiGraph()
        graph.add_nodes_from(self.sites)
        graph.add_edges_from((source, target) for (target, _), (source, _) in self.feeds.items())
        graph.add_edges_from((site.guard.path, name) for name, site in self.sites.items() if site.guard)
        condensed = networkx.condensation(graph)
        self.followers = {name: sorted(graph.successors(name)) for name in graph}
        return [name for part in networkx.topological_sort(condensed) for name in sorted(
            condensed.nodes[part]["members"])]

    # widths

    def _find_widths(self, order: Sequence[str]) -> None:
        widths: dict[str, list[int | None]] = {name: [None] * len(self.outputs[name]) for name in order}
        self._spread_widths(order, widths)
        for name in order:
            if None in widths[name]:
                widths[name] = [width or 1 for width in widths[name]]
                self._spread_widths(self.followers[name], widths)
        for name, site in self.sites.items():
            site.outputs = [("",) * (width or 1) for width in widths[name]]

    def _spread_widths(self, names: Iterable[str], widths: dict[str, list[int | None]]) -> None:
        waiting, visits = deque(names), dict.fromkeys(self.sites, 0)
        while waiting:
            name = waiting.popleft()
            site = self.sites[name]
            feeds = [self.feeds.get((name, port)) for port in range(len(site.sources))]
            site.input_widths = [widths[feed[0]][feed[1]] if feed else 1 for feed in feeds]
            site.inputs = [("",) * (width or 0) for width in site.input_widths]
            found = list(self.kernels[name].widths(site))[:len(site.outputs)]
            found = [new if new is not None else old for new, old in zip(found, widths[name], strict=True)]
            if found == widths[name]:
                continue
            visits[name] += 1
            if visits[name] > _MOST_VISITS or max((width or 0 for width in found), default=0) > MOST_ELEMENTS:
                raise site.fault("the width of its signal grows without end around a loop; take it out of the Mux")
            widths[name] = found
            waiting.extend(self.followers[name])

    # rates

    def _find_rates(self, order: Sequence[str]) -> None:
        rules = {name: self.kernels[name].rate for name in order}
        kinds = {name: rule if isinstance(rule, str) else rule(self.sites[name]) for name, rule in rules.items()}
        rates = {name: _own_rate(self.sites[name], kind, self.kernels[name].sample_time)
                 for name, kind in kinds.items()}
        kinds = {name: "triggered" if self.sites[name].is_triggered else kind for name, kind in kinds.items()}
        self._spread_rates(order, kinds, rates)
        if lost := [name for name in order if rates[name] is None and kinds[name] == "hits"]:
            rates.update(dict.fromkeys(lost, self._base_rate(lost, rates)))
            self._spread_rates(order, kinds, rates)
        for name, site in self.sites.items():
            site.rate = rates[name] or CONSTANT
            if kinds[name] == "hits" and not site.rate.is_discrete:
                raise site.fault(f"it inherits {site.rate} time, and needs hits; give it a sample time in seconds")

    def _base_rate(self, lost: Sequence[str], rates: Mapping[str, Rate | None]) -> Rate:
        """Of sampled blocks that inherit nothing: the fastest of the model, else the given one."""
        base = min((rate for rate in rates.values() if rate and rate.is_discrete), default=Rate(exact(self.base)))
        self.notes.append(f"{', '.join(lost[:5])}{' …' if len(lost) > 5 else ''}: no sample time is given or "
                          f"inherited, {base} is taken")
        return base

    def _spread_rates(self, order: Sequence[str], kinds: Mapping[str, str], rates: dict[str, Rate | None]) -> None:
        fixed = {name for name in order if rates[name] is not None}
        waiting, visits = deque(order), dict.fromkeys(order, 0)
        while waiting:
            name = waiting.popleft()
            if name in fixed:
                continue
            found = _join([rates[source] if source else CONSTANT for source in self._clocks(name)],
                          kinds[name] == "hits")
            if found != rates[name] and visits[name] < _MOST_VISITS:
                visits[name] += 1
                rates[name] = found
                waiting.extend(self.followers[name])

    def _clocks(self, name: str) -> list[str | None]:
        """The blocks whose rates one inherits: its sources, and what decides whether it runs."""
        site = self.sites[name]
        sources = [source.name if source else None for source in site.sources]
        if site.guard and (site.is_triggered or site.opens):
            return [*(() if site.is_triggered else sources), site.guard.path]
        return sources

    # code

    def _assemble(self) -> Compiled:
        code = self.code
        nodes = sorted(code.nodes, key=lambda node: int(node.target[1:]))
        rates = sorted({node.rate for node in nodes if node.rate.is_discrete} | {
            rate for rate, _, _ in code.updates if rate.is_discrete})
        is_continuous = bool(code.states) or any(node.rate == CONTINUOUS for node in nodes)
        sinks = self._sinks()
        columns = {label: name for row in sinks.values() for label, name in row.items()}
        text = _Text(code, nodes, rates, list(columns.values()), is_continuous)
        names = dict(FUNCTIONS) | {"inf": math.inf, "nan": math.nan, "solve_loop": solve_loop, "loops": text.loops,
                                   "held": code.held, "initial": code.remembered, **code.objects}
        source = text.write()
        exec(compile(source, "<model>", "exec"), names)  # of counted names and literals only: see kernel.py
        major, derivative, margins, peek = names["program"]()
        return Compiled(
            major, derivative, margins, peek, tuple(initial for _, initial in code.states.values()),
            tuple(block for block, _ in code.states.values()), tuple(block for block, _ in code.margins),
            tuple(columns), {name: tuple(row) for name, row in sinks.items()}, tuple(rates),
            {name: site.rate for name, site in self.sites.items()}, tuple(code.events), code.longest_step,
            is_continuous, any(site.network for site in self.sites.values()), tuple(self.notes), code.inputs, code.held,
            code.generators(), self._numbers(), source)

    def _numbers(self) -> dict[str, float]:
        return {f"{name}.{parameter}": number for name, site in self.sites.items()
                for parameter, number in site.numbers().items()}

    def _sinks(self) -> dict[str, dict[str, str]]:
        """What each recording block records: labels with variables. Without one, all outputs are recorded."""
        found = {name: self._recorded(name, site) for name, site in self.sites.items()
                 if self._sim(name) in RECORDED and not site.is_outlet}
        if not any(found.values()):
            found[""] = {label: element for name, site in self.sites.items() if not site.opens
                         for port, elements in enumerate(site.outputs)
                         for label, element in zip(self._labels(name, port), elements, strict=True)}
        return found

    def _recorded(self, name: str, site: Site) -> dict[str, str]:
        """What a block records; a value that it holds has a name of its own, as the signal goes on without it."""
        feeds = [self.feeds.get((name, port)) for port in range(len(site.sources))]
        shown, own = site.shown or site.inputs, f"{name}/" if site.shown else ""
        return {own + label: element for feed, elements in zip(feeds, shown, strict=True) if feed
                for label, element in zip(self._labels(*feed), elements, strict=True)}

    def _labels(self, name: str, port: int) -> list[str]:
        elements = self.sites[name].outputs[port]
        label = name if len(self.outputs[name]) == 1 else f"{name}/{self.outputs[name][port]}"
        return [label if len(elements) == 1 else f"{label}[{number}]" for number in range(1, len(elements) + 1)]


def _refuse_unknown(parts: Mapping[str, Part]) -> None:
    for part in parts.values():
        if part.kind is None:
            raise ModelFault(f"{part.name!r} is of the type {part.found.name!r}, which is no block of the catalogue; "
                             "`chatdev simulink blocks` lists them", [part.name])
    lacking = [part for part in parts.values() if not part.kind or part.kind.sim not in KERNELS
               or has_own_ports(part.kind, part.block)]
    if lacking:
        raise _lacks_kernels(lacking)
    for part in parts.values():
        if part.ports is None:
            raise ModelFault(f"{part.type} {part.name!r}: {_explain_ports(part)}", [part.name])


def _lacks_kernels(parts: Sequence[Part]) -> NotSimulated:
    listed = ", ".join(f"{part.type} {part.name!r}" for part in parts[:8])
    more = f" and {len(parts) - 8} more" if len(parts) > 8 else ""
    return NotSimulated(f"not simulated: {listed}{more}; there is no kernel for them, and nothing has run",
                        [part.name for part in parts])


def _explain_ports(part: Part) -> str:
    """Why nobody knows them."""
    try:
        ports_of(replace(part.block, parameters=part.given), part.kind)
    except ValueError as error:
        return str(error)
    return "its ports are not known; check its parameters"


def exact(value: float) -> Fraction:
    """A time as a fraction, so that hits are counted and coincide exactly: 1/3 and 0.1 are what they seem."""
    near = Fraction(value).limit_denominator(10**9)
    return near if near and abs(float(near) - value) <= 1e-14 * abs(value) else Fraction(value)


def _own_rate(site: Site, kind: str, parameter: str) -> Rate | None:
    """The rate that a block has whatever its inputs are; None if it inherits one."""
    if kind == "continuous" and not site.is_triggered:
        return CONTINUOUS
    is_asked = parameter in site.part.values and kind != "sink"
    given = _given_rate(site, parameter) if is_asked else None
    if site.guard and site.is_triggered:
        return _triggered_rate(site, site.guard, given, kind, parameter)
    if given == CONTINUOUS and kind == "hits":
        raise site.fault(f"{parameter} is 0 (continuous), and it needs hits; give it a sample time in seconds")
    if given is None and kind not in ("hits", "source") and not site.sources:
        return CONSTANT
    return given or {"source": CONTINUOUS, "constant": CONSTANT}.get(kind)


def _triggered_rate(site: Site, guard: Guard, given: Rate | None, kind: str, parameter: str) -> Rate | None:
    """In a subsystem that is triggered all is computed with it, but constants."""
    if given not in (None, CONTINUOUS, CONSTANT) or (given == CONTINUOUS and kind == "hits"):
        raise site.fault(f"{parameter} is {site.part.values[parameter]}, and {guard.path!r} runs when it is triggered; "
                         "let it be -1 (inherited)")
    return CONSTANT if CONSTANT in (given, {"constant": CONSTANT}.get(kind)) else None


def _given_rate(site: Site, parameter: str) -> Rate | None:
    """What a parameter says; None if it says "inherited"."""
    period, *offsets = site.vector(parameter, may_be_infinite=True)
    offset = offsets[0] if offsets else 0.0
    if period in (-1, 0, math.inf):
        return {-1: None, 0: CONTINUOUS, math.inf: CONSTANT}[period]
    if period < 0 or len(offsets) > 1 or not 0 <= offset < period:
        raise site.fault(f"{parameter} is {site.part.values[parameter]!r}; give a time in seconds, [time offset] with "
                         "an offset below it, 0 (continuous), inf (constant) or -1 (inherited)")
    return Rate(exact(period), exact(offset) if offset else Fraction(0))


def _join(rates: Sequence[Rate | None], needs_hits: bool) -> Rate | None:
    """What a block inherits: continuous if an input is; else the fastest, or where that does not hold all hits, the
    greatest common part; constant if all are."""
    known = {rate for rate in rates if rate is not None and rate != CONSTANT}
    if CONTINUOUS in known:
        return CONTINUOUS
    if not known:
        return CONSTANT if not needs_hits and None not in rates else None
    first = min(rate.offset for rate in known)
    period = reduce(_common, [part for rate in known for part in (rate.period, rate.offset - first) if part])
    return Rate(period, first % period)


def _common(left: Fraction, right: Fraction) -> Fraction:
    return Fraction(math.gcd(left.numerator * right.denominator, right.numerator * left.denominator),
                    left.denominator * right.denominator)


class _Text:
    """Writes the functions of a model."""

    def __init__(self, code: Code, nodes: Sequence[Node], rates: Sequence[Rate], row: Sequence[str],
                 is_continuous: bool) -> None:
        self.code, self.nodes, self.row = code, nodes, row
        self.due = {rate: f"r{number}" for number, rate in enumerate(rates)}
        self.loops: list[tuple[str, ...]] = []
        self._guesses: list[str] = []
        self.all_at_once = not is_continuous and len(rates) <= 1 and all(not rate.offset for rate in rates)
        self.kept = [node.target for node in nodes
                     if node.rate == CONSTANT or (node.is_held and not self.all_at_once)]
        self.live = {node.target: node for node in nodes if not node.is_held}

    def write(self) -> str:
        """The text of `program`, which returns the functions."""
        code = self.code
        bodies = [*self._major(), *self._minor("derivative", [
            code.derivatives[state] for state in code.states]), *self._minor("margins", [
                margin for _, margin in code.margins]), *self._minor("peek", self.row, code.left)]
        return "\n".join([
            "def program():", *(f"    {name} = 0.0" for name in (*self.kept, *self._guesses)),
            *(f"    {name} = initial[{name!r}]" for name in code.remembered),
            "    first, again, stop, row = True, 0.0, 0.0, ()", *(f"    {line}" for line in bodies),
            "    return major, derivative, margins, peek", ""])

    def _unpack(self) -> list[str]:
        return [f"    {''.join(f'{name}, ' for name in self.code.states)} = x"] if self.code.states else []

    def _major(self) -> list[str]:
        code = self.code
        reads = {node.target: node.reads() for node in self.nodes}
        at_hits = "    " if self.all_at_once and self.due else ""
        lines = [*self._unpack(), "    again = 0.0", *self._ordered(self.nodes, reads, is_major=True),
                 "    if r0:" if at_hits else "", *(f"    {at_hits}{line}" for line in code.settled),
                 f"    {at_hits}row = ({_row(self.row)})"]
        for guard, group in self._updates():
            lines += [f"    {guard}" if guard else "", *(f"    {'    ' if guard else ''}{line}" for line in group)]
        own = [*self.kept, *code.remembered, *self._guesses, "first", "again", "stop", "row"]
        states = "".join(f"{name}, " for name in code.states)
        due = "".join(f", {name}" for name in self.due.values())
        return [f"def major(t, x, fresh{due}):", f"    nonlocal {', '.join(own)}", *filter(None, lines),
                "    first = False", f"    return row, ({states}), again, stop"]

    def _updates(self) -> list[tuple[str, list[str]]]:
        """The lines, those with one condition together; they read what is known by now, so their order says nothing."""
        found: dict[str, list[str]] = {}
        for rate, once, line in self.code.updates:
            guard = "if first:" if rate == CONSTANT else f"if {self.due[rate]}:" if rate.is_discrete else ""
            found.setdefault("if fresh:" if once and not guard else guard, []).append(line)
        return [*found.items()]

    def _minor(self, name: str, results: Sequence[str], left: Sequence[tuple[str, str]] = ()) -> list[str]:
        """A function of what is live within a step."""
        reads = {target: Node.reads(Node(node.block, target, node.expression, (), node.rate, False))
                 for target, node in self.live.items()}
        needed, waiting = set[str](), [found for text in (*results, *(one for one, _ in left))
                                       for found in re.findall(r"\bv\d+\b", text)]
        while waiting:
            target = waiting.pop()
            if target in self.live and target not in needed:
                needed.add(target)
                waiting += reads[target]
        nodes = [node for node in self.nodes if node.target in needed]
        brackets = "()" if name == "peek" else "[]"
        changed = [*self._guesses, *sorted({*_OWN.findall("\n".join(line for _, line in left))})]
        own = [f"    nonlocal {', '.join(changed)}"] if changed else []
        lines = [*self._ordered(nodes, reads, is_major=False), *(f"    {line}" for _, line in left)]
        inside = "".join(f"{result}, " for result in results)
        return [f"def {name}(t, x):", *own, *self._unpack(), *lines,
                f"    return {brackets[0]}{inside}{brackets[1]}"]

    def _ordered(self, nodes: Sequence[Node], reads: Mapping[str, set[str]], is_major: bool) -> list[str]:
        lines, last = list[str](), ""
        for group in sort_nodes(nodes, reads):
            rate = group.nodes[0].rate
            if len({node.rate for node in group.nodes}) > 1:
                blocks = list(dict.fromkeys(node.block for node in group.nodes))
                raise ModelFault(f"the algebraic loop {' → '.join(map(repr, blocks))} has blocks of different sample "
                                 "times; put a Unit Delay or a Memory into it", blocks)
            guard = ("" if not is_major or rate == CONTINUOUS else
                     "    if first:" if rate == CONSTANT else f"    if {self.due[rate]}:")
            if guard and guard != last:
                lines.append(guard)
            last = guard
            indent = "        " if guard else "    "
            inner = self._loop(group, is_major) if group.torn else _lines(group.nodes[0], is_major)
            lines += [f"{indent}{line}" for line in inner]
        return lines

    def _loop(self, group: Group, is_major: bool) -> list[str]:
        """The loop as a function of what is guessed, its solution, and what follows from it."""
        torn, inner = group.nodes[-group.torn:], group.nodes[:-group.torn]
        self.loops.append(tuple(dict.fromkeys(node.block for node in group.nodes)))
        names, guesses = _row(node.target for node in torn), [f"g{node.target[1:]}" for node in torn]
        self._guesses += [guess for guess in guesses if guess not in self._guesses]
        body = [line for node in inner for line in _lines(node, is_major)]
        body += [line for node in torn for line in _lines(node, is_major)[:-1]]
        own = sorted({*_OWN.findall("\n".join(body))}) if is_major else []
        return [f"def loop({names}):", *(f"    nonlocal {name}" for name in own), *(f"    {line}" for line in body),
                f"    return {_row(node.expression for node in torn)}",
                f"{names} = {_row(guesses)} = solve_loop(loop, ({_row(guesses)}), loops[{len(self.loops) - 1}], t)",
                *body]


def _row(names: Iterable[str]) -> str:
    return "".join(f"{name}, " for name in names)


def _lines(node: Node, is_major: bool) -> list[str]:
    return [*(node.decide if is_major else ()), f"{node.target} = {node.expression}"]
