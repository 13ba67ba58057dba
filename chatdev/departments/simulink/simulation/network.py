"""Electrical networks: all elements that hang together are one continuous block.

By Kirchhoff's laws, every branch with its voltage and current (sparse tableau), capacitors as sources of their voltage
and inductors as sources of their current, the network is solved for what its states and sources make of it: M z = N w.
So its derivatives and sensors are sums over states and sources. Diodes and switches have a mode each; a network with
them has such sums for each combination of modes that comes up.

Currents count from + to - through an element, as Simscape counts them; parasitic resistances are those of its blocks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import networkx
import numpy

from chatdev.departments.simulink.diagram import Diagram, End
from chatdev.departments.simulink.parts import Part
from chatdev.departments.simulink.simulation.expressions import Values
from chatdev.departments.simulink.simulation.kernel import ModelFault, Node, Site, kernel, literal, scalars
from chatdev.departments.simulink.simulation.states import combine

_PREFIXES = {"": 1.0, "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
_UNIT = re.compile(r"(1/)?([pnumkMG]?)(Ohm|F|H|V|A|Hz|S|1)")
_SHORTEST = 1e-10  # of the time that is simulated, the shortest time constant of parasitics
_SINGULAR, _MOST_FLIPS, _DEAD = 1e-13, 200, 1e-9  # of a diode's voltage and current, within which it stays as it is


@dataclass(slots=True)
class Branch:
    """An element between two nets: `row` has the factors of unknowns (`("v", n)`, `("i", n)`: voltage and current of
    the branch n) and, as `("w", name)`, of states, sources and 1 on the right."""

    block: str
    plus: End
    minus: End
    row: dict[tuple[str, object], float] = field(default_factory=dict)
    other: dict[tuple[str, object], float] | None = None
    """The row in the other mode: of a diode that leads, of a switch that is closed."""
    threshold: float = 0.0
    control: str = ""


class Network:
    """Elements that are wired to each other. `inputs` are the Simulink-PS converters that feed it, by name, `outputs`
    the PS-Simulink converters with the quantity and branch that they read."""

    def __init__(self, parts: Sequence[Part], net_of: Mapping[End, int]) -> None:
        self.parts, self._net_of = sorted(parts, key=lambda part: part.name), net_of
        self.branches: list[Branch] = []
        self.inputs: list[str] = []
        self.outputs: dict[str, tuple[str, int]] = {}
        self.reads: dict[str, End] = {}
        self.controls: dict[End, str] = {}
        self._is_written = False
        self._rows: dict[int, Values] = {}
        self.variables: Mapping[str, Mapping[str, Values]] = {}

    # writing

    def write(self, site: Site) -> None:
        """Says what a PS-Simulink converter gives; the first one writes the network, too."""
        if not self._is_written:
            self._is_written = True
            self._write_all(site)
        site.put([self._expression(self._wanted.index(self.outputs[site.name]))])

    def _write_all(self, site: Site) -> None:
        self.states: dict[str, tuple[float, dict[tuple[str, object], float]]] = {}
        self.sources: dict[str, str] = {"1": "1.0", **{f"u:{name}": site.scalar(port)
                                                       for port, name in enumerate(self.inputs)}}
        for part in self.parts:
            _WRITERS[part.type](self, Site(part, self.variables[part.name], site.code))
        self._derivatives = [row for _, row in self.states.values()]
        self._wanted = list(dict.fromkeys(self.outputs.values()))
        for name, expression in self.sources.items():
            if not re.fullmatch(r"v\d+|[\d.]+", expression):
                self.sources[name] = site.code.variable()
                site.code.nodes.append(Node(site.name, self.sources[name], expression, (), site.rate, False))
        states = [site.state(initial) for initial, _ in self.states.values()]
        self.names = [*states, *self.sources.values()]
        self._modes = [branch for branch in self.branches if branch.other is not None]
        self._solve(0)
        if self._modes:
            own = f"({''.join(f'{name}, ' for name in self.names)})"
            self._object, mode, self._mode = site.thing(self), site.keep(0), site.code.variable()
            decide = f"{mode} = {self._object}.settle({mode}, {own})"
            site.code.nodes.append(Node(site.name, self._mode, mode, (decide,), site.rate, False))
            site.margin(f"{self._object}.violation({self._mode}, {own})[0]")
        for number, state in enumerate(states):
            site.derive(state, self._expression(len(self._wanted) + number))

    def _expression(self, number: int) -> str:
        """The code of an output or a derivative."""
        if not self._modes:
            return combine(_NO_SITE, self._rows[0][number].tolist(), self.names)
        used = [n for n, name in enumerate(self.names) if self._may_depend(number, n)]
        values = "".join(f"{self.names[n] if n in used else '0.0'}, " for n in range(len(self.names)))
        return f"{self._object}.value({number}, {self._mode}, ({values}))"

    def _may_depend(self, number: int, name: int) -> bool:
        """Whether it may in some mode; all modes are looked at where they are few."""
        count = len(self._modes)
        modes = range(2**count) if count <= 6 else [0]
        if count > 6:
            return True
        return any(abs(self._solve(mode)[number, name]) > 0 for mode in modes)

    # what the code calls

    def value(self, number: int, mode: int, names: Sequence[float]) -> float:
        """An output or a derivative."""
        return float(self._solve(mode)[number] @ names)

    def violation(self, mode: int, names: Sequence[float]) -> tuple[float, int]:
        """How far the worst of the diodes and switches is beyond its mode, and which one that is."""
        first = len(self._wanted) + len(self._derivatives)
        found = (self._solve(mode)[first:] @ names).tolist()
        sizes = [(self._beyond(branch, bool(mode >> n & 1), found[2 * n], found[2 * n + 1]), n)
                 for n, branch in enumerate(self._modes)]
        return max(sizes)

    def _beyond(self, branch: Branch, is_on: bool, voltage: float, current: float) -> float:
        if branch.control:
            return (branch.threshold - voltage if is_on else voltage - branch.threshold) - _DEAD
        return -current - _DEAD if is_on else voltage - branch.threshold - _DEAD

    def settle(self, mode: int, names: Sequence[float]) -> int:
        """The mode that agrees with itself; one element after the other changes, the worst first."""
        for _ in range(_MOST_FLIPS):
            size, number = self.violation(mode, names)
            if not size > 0:
                return mode
            mode ^= 1 << number
        raise ValueError(f"the diodes and switches of the network of {self.parts[0].name!r} do not settle")

    def _solve(self, mode: int) -> Values:
        """Rows for outputs, derivatives and modes; columns for states and sources."""
        if mode in self._rows:
            return self._rows[mode]
        columns = {name: n for n, name in enumerate([*self.states, *self.sources])}
        system = _System(self.branches, self._net_of, self._grounds(), columns)
        on = {id(branch): bool(mode >> n & 1) for n, branch in enumerate(self._modes)}
        solution = system.solve([branch.other if on.get(id(branch)) and branch.other else branch.row
                                 for branch in self.branches])
        rows = [system.read({quantity: 1.0}, solution) for quantity in self._wanted]
        rows += [system.read(row, solution) for row in self._derivatives]
        for branch in self._modes:
            at = self.branches.index(branch)
            seen: tuple[str, object] = ("w", branch.control) if branch.control else ("v", at)
            rows += [system.read({seen: 1.0}, solution), system.read({("i", at): 1.0}, solution)]
        self._rows[mode] = numpy.array(rows).reshape(len(rows), len(columns))
        return self._rows[mode]

    def _grounds(self) -> set[int]:
        grounds = {self._net_of[End(part.name, "LConn1")] for part in self.parts
                   if part.type == "Electrical Reference" and End(part.name, "LConn1") in self._net_of}
        if not grounds:
            names = [part.name for part in self.parts]
            raise ModelFault(f"the network of {', '.join(map(repr, names[:5]))} has no Electrical Reference; add one",
                             names)
        return grounds

    # for the writers of elements

    def branch(self, site: Site, plus: str = "LConn1", minus: str = "RConn1") -> tuple[Branch, int]:
        """A new branch and its number."""
        self.branches.append(Branch(site.name, End(site.name, plus), End(site.name, minus)))
        return self.branches[-1], len(self.branches) - 1

    def source(self, site: Site, expression: str) -> tuple[str, object]:
        """A source's value on the right."""
        self.sources[f"s:{site.name}"] = expression
        return "w", f"s:{site.name}"

    def control(self, site: Site, port: str) -> tuple[str, object]:
        """A physical signal on the right."""
        name = self.controls.get(End(site.name, port))
        if name is None:
            raise site.fault(f"its input {port} comes from no Simulink-PS Converter; wire it to one")
        return "w", f"u:{name}"


class _System:
    """M z = N w of a network: z are the nets' voltages and the branches' currents."""

    def __init__(self, branches: Sequence[Branch], net_of: Mapping[End, int], grounds: set[int],
                 columns: Mapping[str, int]) -> None:
        self._branches, self._columns = branches, columns
        nets: dict[object, int] = {}
        self._ends = []
        for branch in branches:
            ends = []
            for end in (branch.plus, branch.minus):
                net = net_of.get(end, end)
                ends.append(-1 if net in grounds or end.port == "ground" else nets.setdefault(net, len(nets)))
            self._ends.append(ends)
        self._nets = len(nets)

    def _vector(self, row: Mapping[tuple[str, object], float]) -> tuple[Values, Values]:
        """The left and the right side of an equation."""
        left, right = numpy.zeros(self._nets + len(self._branches)), numpy.zeros(len(self._columns))
        for (kind, which), factor in row.items():
            if kind == "w":
                right[self._columns[str(which)]] += factor
            elif kind == "i":
                left[self._nets + int(str(which))] += factor
            else:
                for net, sign in zip(self._ends[int(str(which))], (1, -1), strict=True):
                    if net >= 0:
                        left[net] += sign * factor
        return left, right

    def solve(self, rows: Sequence[Mapping[tuple[str, object], float]]) -> Values:
        """z by w. Raises ModelFault with the blocks that contradict each other or are not determined."""
        currents = numpy.zeros((self._nets, self._nets + len(self._branches)))
        for number, ends in enumerate(self._ends):
            for net, sign in zip(ends, (1, -1), strict=True):
                if net >= 0:
                    currents[net, self._nets + number] += sign
        sides = [self._vector(row) for row in rows]
        matrix = numpy.vstack([currents, *(left for left, _ in sides)])
        right = numpy.vstack([numpy.zeros((self._nets, len(self._columns))), *(right for _, right in sides)])
        scale = numpy.abs(matrix).max(axis=1, keepdims=True)
        scale[scale == 0] = 1
        left_vectors, sizes, vectors = numpy.linalg.svd(matrix / scale)
        if sizes[-1] <= _SINGULAR * sizes[0]:
            names = self._loudest(vectors[-1]) or self._loudest(left_vectors[:, -1])
            names = names or sorted({branch.block for branch in self._branches})[:5]
            raise ModelFault(f"the network has no solution, or more than one, at {', '.join(map(repr, names))}: "
                             "voltage sources (or capacitors without resistance) in a loop, current sources (or "
                             "inductors) in a row, or a part without way to an Electrical Reference; add a resistor",
                             names)
        return numpy.asarray(numpy.linalg.solve(matrix / scale, right / scale))

    def _loudest(self, vector: Values) -> list[str]:
        """The blocks that a vector of nets (or laws) and branches has most of."""
        sizes = numpy.abs(vector[self._nets:])
        return list(dict.fromkeys(self._branches[n].block for n in numpy.argsort(-sizes)[:4] if sizes[n] > 1e-3))

    def read(self, row: Mapping[tuple[str, object], float], solution: Values) -> Values:
        """What a sum of quantities is by w; what is 0 but for rounding is 0."""
        left, right = self._vector(row)
        terms = left[:, None] * solution
        found = terms.sum(axis=0)
        found[numpy.abs(found) <= 1e-13 * numpy.abs(terms).sum(axis=0)] = 0
        return numpy.asarray(found + right)


class _NoSite:
    """Sums long rows as `Site.total` does, for `combine`."""

    total = staticmethod(lambda terms: " + ".join(terms))


_NO_SITE: Site = _NoSite()  # type: ignore[assignment]  # only its `total` is asked for


def si(site: Site, parameter: str) -> float:
    """A parameter in the unit without prefix, by its parameter `…_unit`."""
    unit = site.text(f"{parameter}_unit", "1") or "1"
    match = _UNIT.fullmatch(unit)
    if not match:
        raise site.fault(f"{parameter}_unit is {unit!r}, which is not known here; give {parameter} in SI units")
    scale = _PREFIXES[match[2]]
    return site.number(parameter) * (1 / scale if match[1] else scale)


Writer = Callable[[Network, Site], None]


def _resistor(network: Network, site: Site) -> None:
    branch, n = network.branch(site)
    branch.row = {("v", n): 1.0, ("i", n): -si(site, "R")}


def _capacitor(network: Network, site: Site) -> None:
    branch, n = network.branch(site)
    size, name = _positive(site, "c"), f"x:{site.name}"
    branch.row = {("v", n): 1.0, ("i", n): -_parasitic(site, "r", size), ("w", name): 1.0}
    network.states[name] = si(site, "vc"), {("i", n): 1 / size, ("w", name): -si(site, "g") / size}


def _inductor(network: Network, site: Site) -> None:
    branch, n = network.branch(site)
    size, name = _positive(site, "l"), f"x:{site.name}"
    r, g = si(site, "r"), _parasitic(site, "g", size)
    branch.row = {("i", n): 1 + g * r, ("v", n): -g, ("w", name): 1.0}
    network.states[name] = si(site, "i_L"), {("v", n): 1 / size, ("i", n): -r / size}


def _parasitic(site: Site, parameter: str, size: float) -> float:
    """A parasitic resistance or conductance. The library's own, where none is given, is raised so that no time constant
    with it is below a part of the whole time that no result shows, but that rounding errors would."""
    value = si(site, parameter)
    return value if parameter in site.part.given else max(value, _SHORTEST * site.code.span / size)


def _positive(site: Site, parameter: str) -> float:
    value = si(site, parameter)
    if value <= 0:
        raise site.fault(f"{parameter} is {value:g}; give a number above 0")
    return value


def _diode(network: Network, site: Site) -> None:
    branch, n = network.branch(site)
    forward, on, off = si(site, "Vf"), si(site, "Ron"), si(site, "Goff")
    branch.row = {("i", n): 1.0, ("v", n): -off}
    branch.other = {("v", n): 1.0, ("i", n): -on, ("w", "1"): forward * (1 - on * off)}
    branch.threshold = forward


def _switch(network: Network, site: Site) -> None:
    branch, n = network.branch(site, "LConn1", "RConn2")
    branch.row = {("i", n): 1.0, ("v", n): -si(site, "G_open")}
    branch.other = {("v", n): 1.0, ("i", n): -si(site, "R_closed")}
    branch.threshold, branch.control = site.number("Threshold"), str(network.control(site, "RConn1")[1])


def _source(quantity: str, parameter: str) -> Writer:
    def write(network: Network, site: Site) -> None:
        branch, n = network.branch(site)
        branch.row = {(quantity, n): 1.0, network.source(site, literal(si(site, parameter))): 1.0}

    return write


def _sine_source(quantity: str) -> Writer:
    def write(network: Network, site: Site) -> None:
        branch, n = network.branch(site)
        shift = site.number("shift") * (math.pi / 180 if site.text("shift_unit", "deg") == "deg" else 1)
        angle = f"{literal(2 * math.pi * si(site, 'frequency'))} * t + {literal(shift)}"
        branch.row = {(quantity, n): 1.0, network.source(site, f"{literal(si(site, 'amp'))} * sin({angle})"): 1.0}

    return write


def _follower(quantity: str) -> Writer:
    def write(network: Network, site: Site) -> None:
        branch, n = network.branch(site, "LConn1", "RConn2")
        branch.row = {(quantity, n): 1.0, network.control(site, "RConn1"): 1.0}

    return write


def _dependent(quantity: str, control: str) -> Writer:
    """A source of `quantity` that follows the other pair's voltage or current."""
    def write(network: Network, site: Site) -> None:
        first, n = network.branch(site)
        second, m = network.branch(site, "LConn2", "RConn2")
        first.row = {("i" if control == "v" else "v", n): 1.0}
        second.row = {(quantity, m): 1.0, (control, n): -si(site, "K")}

    return write


def _sensor(quantity: str) -> Writer:
    def write(network: Network, site: Site) -> None:
        branch, n = network.branch(site, "LConn1", "RConn2")
        branch.row = {("i" if quantity == "v" else "v", n): 1.0}
        for name, end in network.reads.items():
            if end == End(site.name, "RConn1"):
                network.outputs[name] = quantity, n

    return write


def _transformer(network: Network, site: Site) -> None:
    first, n = network.branch(site, "LConn1", "LConn2")
    second, m = network.branch(site, "RConn1", "RConn2")
    ratio = site.number("n")
    first.row = {("v", n): 1.0, ("v", m): -ratio}
    second.row = {("i", m): 1.0, ("i", n): ratio}


def _amplifier(network: Network, site: Site) -> None:
    """Ideal: no voltage and no current at its inputs, whatever is needed at its output."""
    inputs, n = network.branch(site, "LConn1", "LConn2")
    output, _ = network.branch(site, "RConn1", "ground")
    inputs.row, output.row = {("v", n): 1.0}, {("i", n): 1.0}


_WRITERS: dict[str, Writer] = {
    "Resistor": _resistor, "Capacitor": _capacitor, "Inductor": _inductor, "Diode": _diode,
    "Switch (Electrical)": _switch, "DC Voltage Source": _source("v", "v0"), "DC Current Source": _source("i", "i0"),
    "AC Voltage Source": _sine_source("v"), "AC Current Source": _sine_source("i"),
    "Controlled Voltage Source": _follower("v"), "Controlled Current Source": _follower("i"),
    "Voltage-Controlled Voltage Source": _dependent("v", "v"),
    "Voltage-Controlled Current Source": _dependent("i", "v"),
    "Current-Controlled Voltage Source": _dependent("v", "i"),
    "Current-Controlled Current Source": _dependent("i", "i"),
    "Voltage Sensor": _sensor("v"), "Current Sensor": _sensor("i"), "Ideal Transformer": _transformer,
    "Op-Amp": _amplifier, "Electrical Reference": lambda network, site: None,
    "Open Circuit": lambda network, site: None, "Solver Configuration": lambda network, site: None}


@kernel("network", rate="sink")
@kernel("simulink_ps", rate="sink")
def _element(site: Site) -> None:
    """Part of a network, which a PS-Simulink converter writes."""


@kernel("ps_simulink", scalars, rate="continuous")
def _ps_simulink(site: Site) -> None:
    if site.network is None:
        raise site.fault("no sensor is wired to it; wire it to a Voltage Sensor or a Current Sensor")
    site.network.write(site)


def find_networks(model: Diagram, parts: Mapping[str, Part]) -> dict[str, Network]:
    """The network of each PS-Simulink converter. Raises ModelFault."""
    nets = model.nets()
    graph = networkx.Graph()
    for net in nets:
        graph.add_edges_from((sorted(net)[0].block, end.block) for end in net if _is_electrical(parts, end))
    signals = [net for net in nets if not any(_is_electrical(parts, end) for end in net)]
    net_of = {end: number for number, net in enumerate(nets) for end in net}
    found: dict[str, Network] = {}
    for blocks in networkx.connected_components(graph):
        own = Network([parts[name] for name in blocks], net_of)
        for net in signals:
            _join_signal(own, net, parts, blocks)
        found.update(dict.fromkeys(own.reads, own))
    return found


def _is_electrical(parts: Mapping[str, Part], end: End) -> bool:
    return any(port.domain in ("electrical", "any") for port in parts[end.block].named(end.port))


def _join_signal(network: Network, net: Iterable[End], parts: Mapping[str, Part], blocks: set[str]) -> None:
    """A wire of a physical signal, from a converter to elements, or from a sensor to converters."""
    ends = sorted(net)
    feeds = [end.block for end in ends if parts[end.block].type == "Simulink-PS Converter"]
    sensors = [end for end in ends if parts[end.block].type.endswith("Sensor") and end.block in blocks]
    for end in ends:
        if end.block in blocks and feeds and end not in sensors:
            network.controls[end] = feeds[0]
            if feeds[0] not in network.inputs:
                network.inputs.append(feeds[0])
        if sensors and parts[end.block].type == "PS-Simulink Converter":
            network.reads[end.block] = sensors[0]
