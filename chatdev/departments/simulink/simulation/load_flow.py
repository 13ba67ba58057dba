"""The load flow of a balanced three-phase network: the voltage at each bus, and the power that flows, by Newton's
method in per unit, in polar coordinates.

Buses are what lines that need no impedance join, Busbar blocks included. A source is Swing (voltage and angle are
given), PV (power and voltage) or PQ; a load is a constant impedance, which takes its power at its rated voltage; a line
is a row of pi sections, of which the positive sequence counts. Voltages are those between two phases.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import networkx
import numpy

from chatdev.departments.simulink.catalogue import block_finder
from chatdev.departments.simulink.diagram import Diagram, End
from chatdev.departments.simulink.hierarchy import systems
from chatdev.departments.simulink.parts import Part, make_parts
from chatdev.departments.simulink.simulation.expressions import Values
from chatdev.departments.simulink.simulation.kernel import Code, ModelFault, SimulationFailed, Site
from chatdev.departments.simulink.simulation.subsystems import plan_model

SOURCE, LINE, BUSBAR = "Load Flow Source", "Transmission Line (Three-Phase)", "Busbar"
LOADS = ("Wye-Connected Load", "Delta-Connected Load")
_SILENT = ("Electrical Reference", "Grounded Neutral (Three-Phase)", "Solver Configuration")
_KINDS = ("Swing", "PV", "PQ")
_BASE = 1e6  # VA; no result depends on it
_MOST_ROUNDS, _TOLERANCE = 50, 1e-10


@dataclass(frozen=True, slots=True)
class FlowRow:
    """An element at a bus: voltage in V between two phases and per unit, angle in degrees; `power` in W and var that a
    source gives, a load takes, and a line takes at this end; of a bus, what its sources give less its loads."""

    element: str
    kind: str
    bus: str
    voltage: float
    per_unit: float
    angle: float
    power: complex


@dataclass(frozen=True, slots=True)
class LoadFlow:
    """The result: the buses first, then the other elements; Newton's `rounds`, and the `losses` of all lines (VA)."""

    rows: tuple[FlowRow, ...]
    rounds: int
    losses: complex

    def of(self, element: str, bus: str = "") -> FlowRow:
        """The row of a block; of a line, that at a bus."""
        return next(row for row in self.rows if row.element == element and row.bus in (bus or row.bus, ""))

    def columns(self) -> dict[str, dict[str, float]]:
        """The figures by quantity and name, such as `Bus 1/P`; those of a line at a bus as `Line 12/Bus 1/P`."""
        found: dict[str, dict[str, float]] = {"voltage (pu)": {}, "voltage (V)": {}, "angle (deg)": {}, "P (W)": {},
                                              "Q (var)": {}}
        for row in self.rows:
            name = f"{row.element}/{row.bus}" if row.kind == "line" else row.element
            if row.kind == "bus":
                found["voltage (pu)"][f"{name}/pu"], found["voltage (V)"][f"{name}/V"] = row.per_unit, row.voltage
                found["angle (deg)"][f"{name}/angle"] = row.angle
            found["P (W)"][f"{name}/P"], found["Q (var)"][f"{name}/Q"] = row.power.real, row.power.imag
        return found

    def lines(self) -> list[str]:
        """What people want to know, a line for each element at each of its buses."""
        words = {"bus": "sends", "load": "takes", "line": "takes"}
        noise = 1e-9 * max(abs(row.power) for row in self.rows)
        return [f"{row.element} ({row.kind}{'' if row.kind == 'bus' else f' at {row.bus}'}): "
                + (f"{row.voltage:.6g} V ({row.per_unit:.6f} pu), {row.angle:.4f}°, " if row.kind == "bus" else "")
                + f"{words.get(row.kind, 'gives')} {_write_power(row.power, noise)}"
                for row in self.rows] + [f"losses of the lines: {_write_power(self.losses, noise)}"]


def _write_power(power: complex, noise: float) -> str:
    """In words; what is but the noise of the figures is 0."""
    active, reactive = (part if abs(part) > noise else 0.0 for part in (power.real, power.imag))
    return f"{active:.6g} W, {reactive:.6g} var"


@dataclass(slots=True)
class _Bus:
    name: str
    kind: str = "PQ"
    rated: float = 0.0
    per_unit: float = 1.0
    angle: float = 0.0
    given: complex = 0j  # W and var that sources give
    sources: list[Site] = field(default_factory=list)
    loads: list[Site] = field(default_factory=list)


def has_load_flow(model: Diagram) -> bool:
    """Whether a load flow is what can be computed of a model."""
    kinds = (block_finder().known(block.type) for _, system in systems(model) for block in system.blocks.values())
    return any(kind and kind.type == SOURCE for kind in kinds)


def solve_load_flow(model: Diagram, variables: Mapping[str, Values] | None = None) -> LoadFlow:
    """The load flow of a model. Raises ModelFault for what does not belong to one, and SimulationFailed where no
    voltages carry the load."""
    plan = plan_model(model, variables or {})
    parts = make_parts(plan.model)
    sites = {name: Site(part, plan.variables[name], Code()) for name, part in parts.items()}
    _refuse_others(parts)
    return _Grid(plan.model, sites).solve()


def _refuse_others(parts: Mapping[str, Part]) -> None:
    known = (SOURCE, LINE, BUSBAR, *LOADS, *_SILENT)
    if others := [part for part in parts.values() if part.type not in known]:
        listed = ", ".join(f"{part.type or part.found.name} {part.name!r}" for part in others[:8])
        raise ModelFault(f"not simulated: {listed}; a load flow has busbars, lines, wye- and delta-connected loads and "
                         "load flow sources only", [part.name for part in others])


class _Grid:
    def __init__(self, model: Diagram, sites: Mapping[str, Site]) -> None:
        self.sites = sites
        self.bus_of = _find_buses(model, sites)
        self.buses = {name: _Bus(name) for name in sorted({*self.bus_of.values()})}
        for name, site in sorted(sites.items()):
            if site.part.type == SOURCE:
                self._add_source(self.buses[self._at(name)], site)
            elif site.part.type in LOADS:
                self.buses[self._at(name)].loads.append(site)
        self.frequency = self._find_frequency()
        self.lines = {name: _line(site, self.frequency) for name, site in sorted(sites.items())
                      if site.part.type == LINE}
        self._find_rated()
        self.order = [*self.buses]

    def _at(self, name: str, port: str = "LConn1") -> str:
        return self.bus_of[End(name, port)]

    def _add_source(self, bus: _Bus, site: Site) -> None:
        kind = site.text("source_type")
        if kind not in _KINDS:
            raise site.fault(f"source_type is {kind!r}; it is one of {', '.join(_KINDS)}")
        bus.sources.append(site)
        bus.given += complex(site.number("P"), site.number("Q") if kind == "PQ" else 0.0)
        if kind == "PQ":
            return
        if bus.kind != "PQ":
            others = [one.name for one in bus.sources if one.text("source_type") != "PQ"]
            raise ModelFault(f"{' and '.join(map(repr, others))} both keep the voltage of bus {bus.name!r}; let one of "
                             "them be PQ", others)
        bus.kind, bus.rated = kind, _above_zero(site, "VRated")
        bus.per_unit, bus.angle = _above_zero(site, "Vpu"), math.radians(site.number("phase"))

    def _find_frequency(self) -> float:
        found = {_above_zero(site, "FRated"): site.name for bus in self.buses.values() for site in bus.sources}
        if len(found) > 1:
            raise ModelFault(f"the sources {', '.join(map(repr, found.values()))} have the frequencies "
                             f"{', '.join(f'{one:g}' for one in found)} Hz; give them one", [*found.values()])
        return next(iter(found))

    def _find_rated(self) -> None:
        """The rated voltage of a bus is that of the sources which its lines lead to; each needs a swing source."""
        graph = networkx.Graph()
        graph.add_nodes_from(self.buses)
        graph.add_edges_from((self._at(name), self._at(name, "RConn1")) for name in self.lines)
        for island in networkx.connected_components(graph):
            swing = [self.buses[name] for name in sorted(island) if self.buses[name].kind == "Swing"]
            if not swing:
                raise ModelFault(f"no source of the type Swing feeds {', '.join(map(repr, sorted(island)[:8]))}; let "
                                 "one be Swing", sorted(island))
            for name in island:
                self.buses[name].rated = self.buses[name].rated or swing[0].rated

    def solve(self) -> LoadFlow:
        """The voltages, and with them the powers."""
        admittance = self._admittance()
        voltages, rounds = _newton(admittance, [self.buses[name] for name in self.order])
        volts = {name: voltage * self._rated for name, voltage in zip(self.order, voltages.tolist(), strict=True)}
        given = voltages * numpy.conj(admittance @ voltages) * _BASE
        return self._tell(volts, dict(zip(self.order, given.tolist(), strict=True)), rounds)

    @property
    def _rated(self) -> float:
        """One voltage for all, as nothing transforms it."""
        return self.buses[self.order[0]].rated

    def _admittance(self) -> Values:
        """Of all buses to each other, per unit, with the loads."""
        number, unit = {name: at for at, name in enumerate(self.order)}, _BASE / self._rated**2
        found = numpy.zeros((len(number), len(number)), complex)
        for name, line in self.lines.items():
            ends = [number[self._at(name)], number[self._at(name, "RConn1")]]
            found[numpy.ix_(ends, ends)] += line / unit  # both at once; a line from a bus to itself counts, too
        for name, bus in self.buses.items():
            found[number[name], number[name]] += sum(map(_load, bus.loads)) / unit
        return found

    def _tell(self, volts: Mapping[str, complex], given: Mapping[str, complex], rounds: int) -> LoadFlow:
        rows, losses = list[FlowRow](), 0j
        for name, bus in self.buses.items():
            taken = [abs(volts[name])**2 * _load(site).conjugate() for site in bus.loads]
            rows.append(self._row(name, "bus", name, volts, given[name] - sum(taken)))
            steady = {site: complex(site.number("P"), site.number("Q")) for site in bus.sources
                      if site.text("source_type") == "PQ"}
            for site in bus.sources:
                own = steady.get(site, given[name] - sum(steady.values()))
                rows.append(self._row(site.name, site.text("source_type"), name, volts, own))
            rows += [self._row(site.name, "load", name, volts, power)
                     for site, power in zip(bus.loads, taken, strict=True)]
        for name, line in self.lines.items():
            ends = [self._at(name), self._at(name, "RConn1")]
            flows = [volts[end] * current.conjugate() for end, current in zip(
                ends, (line @ numpy.array([volts[end] for end in ends])).tolist(), strict=True)]
            rows += [self._row(name, "line", end, volts, flow) for end, flow in zip(ends, flows, strict=True)]
            losses += sum(flows)
        rows.sort(key=lambda row: row.kind != "bus")
        return LoadFlow(tuple(rows), rounds, losses)

    def _row(self, element: str, kind: str, bus: str, volts: Mapping[str, complex], power: complex) -> FlowRow:
        at = volts[bus]
        return FlowRow(element, kind, bus, abs(at), abs(at) / self.buses[bus].rated, math.degrees(cmath.phase(at)),
                       power)


def _find_buses(model: Diagram, sites: Mapping[str, Site]) -> dict[End, str]:
    """The bus of each three-phase port: a Busbar, or the first block of a net without one."""
    graph = networkx.Graph()
    for name, site in sites.items():
        ends = [End(name, port.name) for port in site.part.ports or () if port.domain == "three_phase"]
        graph.add_nodes_from(ends)
        graph.add_edges_from(pairwise(ends) if site.part.type == BUSBAR else ())
    graph.add_edges_from(wire for wire in model.wires if wire.source in graph and wire.target in graph)
    found: dict[End, str] = {}
    for net in networkx.connected_components(graph):
        name = min({end.block for end in net}, key=lambda block: (sites[block].part.type != BUSBAR, block))
        found.update(dict.fromkeys(net, name))
    return found


def _above_zero(site: Site, parameter: str) -> float:
    found = site.number(parameter)
    if not found > 0:
        raise site.fault(f"{parameter} is {found:g}; give a number above 0")
    return found


def _load(site: Site) -> complex:
    """Its admittance in 1/Ohm."""
    power = complex(site.number("P"), abs(site.number("Qpos")) - abs(site.number("Qneg")))
    return power.conjugate() / _above_zero(site, "VRated")**2


def _line(site: Site, frequency: float) -> Values:
    """Its admittance matrix in 1/Ohm: so many equal pi sections in a row, by their chain matrix."""
    length, count, speed = _above_zero(site, "length"), site.whole("N", 1, 1000), 2 * math.pi * frequency
    series = length / count * complex(site.number("R") - site.number("Rm"),
                                      speed * 1e-3 * (site.number("L") - site.number("M")))
    across = length / count * 1j * speed * 1e-6 * (site.number("Cg") + 3 * site.number("Cl")) / 2
    section = numpy.array([[1 + series * across, series], [across * (2 + series * across), 1 + series * across]])
    (a, b), (_, d) = numpy.linalg.matrix_power(section, count)
    if abs(b) < 1e-12:
        raise site.fault("it has no impedance; join its buses, or give R or L")
    return numpy.array([[d / b, -1 / b], [-1 / b, a / b]])


def _newton(admittance: Values, buses: Sequence[_Bus]) -> tuple[Values, int]:
    """The voltages per unit, and how many rounds it took. From the given magnitudes and no angles."""
    base = buses[0].rated
    kinds = numpy.array([bus.kind for bus in buses])
    size = numpy.array([bus.per_unit * bus.rated / base for bus in buses])
    angle = numpy.array([bus.angle for bus in buses]) * (kinds == "Swing")
    wanted = numpy.array([bus.given / _BASE for bus in buses])
    turning, free = numpy.flatnonzero(kinds != "Swing").tolist(), numpy.flatnonzero(kinds == "PQ").tolist()
    scale = max(1.0, float(numpy.abs(wanted).max()), float(numpy.abs(admittance).max()))
    for rounds in range(_MOST_ROUNDS):
        voltage = size * numpy.exp(1j * angle)
        power = voltage * numpy.conj(admittance @ voltage)
        miss = power - wanted
        misses = numpy.concatenate([miss.real[turning], miss.imag[free]])
        if not misses.size or numpy.abs(misses).max() <= _TOLERANCE * scale:
            return voltage, rounds
        shared = voltage[:, None] * numpy.conj(admittance * voltage)
        by_angle, by_size = 1j * (numpy.diag(power) - shared), (numpy.diag(power) + shared) / size
        slopes = numpy.block([[by_angle.real[numpy.ix_(turning, turning)], by_size.real[numpy.ix_(turning, free)]],
                              [by_angle.imag[numpy.ix_(free, turning)], by_size.imag[numpy.ix_(free, free)]]])
        if numpy.linalg.matrix_rank(slopes) < len(misses):
            break
        step = numpy.linalg.solve(slopes, misses)
        angle[turning] -= step[:len(turning)]
        size[free] -= step[len(turning):]
        if not (numpy.isfinite(size) & (size > 0)).all():
            break
    worst = buses[max(turning, key=lambda at: float(abs(miss[at])))]
    raise SimulationFailed(f"the load flow finds no voltages that carry the power of bus {worst.name!r} and the "
                           "others; lower the power of its sources (PQ, PV), or strengthen its lines", [worst.name])
