"""Load flows against the formula of two buses, phasors of linear networks, and the balance of power."""

from __future__ import annotations

import cmath
import math
import random
from collections.abc import Mapping

import numpy
import pytest

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.kernel import ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.load_flow import has_load_flow, solve_load_flow
from chatdev.departments.simulink.simulation.solve import Options, set_parameters, simulate

LINE = {"length": "20", "Cl": "0", "Cg": "0"}


def grid(blocks: Mapping[str, tuple[str, Mapping[str, str]]], *lines: str) -> Diagram:
    found = {name: DiagramBlock(kind, {**({"n_nodes": "4"} if kind == "Busbar" else {}), **parameters})
             for name, (kind, parameters) in blocks.items()}
    return Diagram("grid", found, tuple(map(Wire.read, lines)))


def two_buses(source: Mapping[str, str], line: Mapping[str, str] = LINE) -> Diagram:
    return grid({"Grid": ("Load Flow Source", {}), "A": ("Busbar", {}), "B": ("Busbar", {}),
                 "Line": ("Transmission Line (Three-Phase)", line), "Taker": ("Load Flow Source", source)},
                "Grid/LConn1 -- A/LConn1", "A/RConn1 -- Line/LConn1", "Line/RConn1 -- B/LConn1",
                "B/RConn1 -- Taker/LConn1")


@pytest.mark.parametrize(("active", "reactive"), [(1e4, 0), (5e4, 1e4), (-3e4, 2e4), (0, -5e4), (9e4, -2e4)])
def test_two_buses_have_the_voltage_of_the_formula(active: float, reactive: float) -> None:
    z = 20 * complex(0.02, 2 * math.pi * 60 * 1e-3 * (0.5 - 0.1))
    half = z.real * active + z.imag * reactive - 1e6 / 2
    voltage = math.sqrt(-half + math.sqrt(half**2 - abs(z)**2 * (active**2 + reactive**2)))
    angle = -math.asin((z.imag * active - z.real * reactive) / (1e3 * voltage))
    found = solve_load_flow(two_buses({"source_type": "PQ", "P": str(-active), "Q": str(-reactive)}))
    assert found.of("B").voltage == pytest.approx(voltage, rel=1e-9)
    assert math.radians(found.of("B").angle) == pytest.approx(angle, abs=1e-9)
    losses = (active**2 + reactive**2) / voltage**2 * z
    assert found.losses == pytest.approx(losses, rel=1e-6, abs=1e-6)
    assert found.of("Grid").power == pytest.approx(complex(active, reactive) + losses, rel=1e-6, abs=1e-4)


def test_a_pv_source_keeps_its_voltage_and_power() -> None:
    found = solve_load_flow(two_buses({"source_type": "PV", "P": "4e4", "Vpu": "1.02"}))
    assert found.of("B").per_unit == pytest.approx(1.02, rel=1e-12)
    assert found.of("Taker").power.real == pytest.approx(4e4, rel=1e-9)
    assert found.of("Grid").power.real == pytest.approx(found.losses.real - 4e4, rel=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_a_net_of_impedances_is_that_of_its_phasors(seed: int) -> None:
    """With one swing source and constant impedances all is linear: solved apart, and here."""
    draw = random.Random(seed)
    count = draw.randint(2, 12)
    pairs = [(draw.randrange(to), to) for to in range(1, count)] + [
        tuple(draw.sample(range(count), 2)) for _ in range(count // 3)]
    blocks: dict[str, tuple[str, Mapping[str, str]]] = {"Grid": ("Load Flow Source", {"phase": "10"})}
    lines, matrix = ["Grid/LConn1 -- B0/LConn1"], numpy.zeros((count, count), complex)
    for number in range(count):
        power, reactive = draw.uniform(0, 2e4), draw.uniform(-1e4, 1e4)
        blocks[f"B{number}"] = ("Busbar", {})
        blocks[f"Z{number}"] = (draw.choice(["Wye-Connected Load", "Delta-Connected Load"]), {
            "P": repr(power), "Qpos" if reactive > 0 else "Qneg": repr(abs(reactive))})
        lines.append(f"Z{number}/LConn1 -- B{number}/LConn2")
        matrix[number, number] += complex(power, -reactive) / 1e6
    for number, (one, other) in enumerate(pairs):
        length, sections = draw.uniform(1, 20), draw.randint(1, 3)
        blocks[f"L{number}"] = ("Transmission Line (Three-Phase)", {"length": repr(length), "N": str(sections)})
        lines += [f"B{one}/RConn1 -- L{number}/LConn1", f"L{number}/RConn1 -- B{other}/RConn1"]
        z = length / sections * complex(0.02, 2 * math.pi * 60 * 4e-4)
        y = length / sections * 2j * math.pi * 60 * 1.2e-6 / 2
        chain = numpy.linalg.matrix_power(numpy.array([[1, 0], [y, 1]]) @ [[1, z], [0, 1]] @ [[1, 0], [y, 1]], sections)
        a, b, d = chain[0, 0], chain[0, 1], chain[1, 1]
        matrix[numpy.ix_([one, other], [one, other])] += numpy.array([[d / b, -1 / b], [-1 / b, a / b]])
    swing = 1e3 * cmath.exp(1j * math.radians(10))
    rest = numpy.linalg.solve(matrix[1:, 1:], -matrix[1:, 0] * swing)
    found = solve_load_flow(grid(blocks, *lines))
    for number, wanted in enumerate([swing, *rest]):
        row = found.of(f"B{number}")
        assert cmath.rect(row.voltage, math.radians(row.angle)) == pytest.approx(complex(wanted), rel=1e-7)
    taken = sum(row.power for row in found.rows if row.kind == "load")
    assert found.of("Grid").power == pytest.approx(taken + found.losses, rel=1e-8)


@pytest.mark.parametrize("change", [{"Line.length": "25"}, {"Line.R": "0.05"}, {"Taker.P": "-4e4"},
                                    {"Grid.Vpu": "1.01"}, {"Line.Cg": "3"}, {"Taker.source_type": "PV"},
                                    {"Grid.phase": "5"}])
def test_a_mutant_is_seen(change: dict[str, str]) -> None:
    model = two_buses({"source_type": "PQ", "P": "-5e4", "Q": "-1e4"})
    right, wrong = (solve_load_flow(one).of("B") for one in (model, set_parameters(model, change)[0]))
    assert abs(right.voltage - wrong.voltage) > 0.1 or abs(right.angle - wrong.angle) > 0.1


@pytest.mark.parametrize("name", ["two_bus_grid", "ring_feeder"])
def test_the_reference_grids_have_a_load_flow(name: str) -> None:
    found = simulate(reference_models()[name].diagram, Options(stop=1))
    assert found.solver == "load flow"
    assert found["Bus 2/pu"].tolist() == pytest.approx([1, 1], abs=1e-4)
    assert found["Load 1/P"].tolist() == [1000, 1000]
    balance = sum(found[f"{one}/P"][0] for one in ("Grid", "Generator")) - sum(
        found[column][0] for column in found.columns if column.startswith(("Load", "Line")) and column.endswith("/P"))
    assert abs(balance) < 1e-6
    assert any(note.startswith("losses of the lines: ") for note in found.notes)


def test_a_load_inside_a_subsystem_counts() -> None:
    inner = Diagram("s", {"p": DiagramBlock("Connection Port"), "Z": DiagramBlock("Wye-Connected Load", {"P": "K"})},
                    (Wire.read("p/RConn1 -- Z/LConn1"),), variables={"K": "5e4"})
    blocks = {"Grid": DiagramBlock("Load Flow Source"), "B": DiagramBlock("Busbar"),
              "Town": DiagramBlock("Subsystem", system=inner)}
    model = Diagram("m", blocks, tuple(map(Wire.read, ["Grid/LConn1 -- B/LConn1", "B/RConn1 -- Town/LConn1"])))
    assert has_load_flow(model)
    assert solve_load_flow(model).of("Town/Z").power == pytest.approx(5e4)
    assert simulate(model)["Grid/P"][0] == pytest.approx(5e4)


@pytest.mark.parametrize(("source", "line", "message"), [
    ({"source_type": "Slack"}, {}, "Load Flow Source 'Taker': source_type is 'Slack'; it is one of Swing, PV, PQ"),
    ({"FRated": "50"}, {}, "have the frequencies 60, 50 Hz; give them one"),
    ({}, {"length": "0"}, "'Line': length is 0; give a number above 0"),
    ({}, {**LINE, "R": "0", "L": "0.1"}, "'Line': it has no impedance; join its buses, or give R or L"),
    ({"Vpu": "nan"}, {}, "'Taker': Vpu is 'nan', which is not a number"),
    ({"source_type": "PQ", "P": "-inf"}, {}, "'Taker': P is infinite"),
])
def test_a_grid_that_cannot_be_is_refused(source: Mapping[str, str], line: Mapping[str, str], message: str) -> None:
    with pytest.raises(ModelFault, match=message):
        solve_load_flow(two_buses(source, line))


def test_what_does_not_belong_to_a_load_flow_is_named() -> None:
    model = two_buses({})
    sources = {"Grid.source_type": "PQ", "Taker.source_type": "PV"}
    with pytest.raises(ModelFault, match="no source of the type Swing feeds 'A', 'B'; let one be Swing"):
        solve_load_flow(set_parameters(model, sources)[0])
    twice = grid({"A": ("Busbar", {}), "S": ("Load Flow Source", {}), "T": ("Load Flow Source", {})},
                 "S/LConn1 -- A/LConn1", "A/RConn1 -- T/LConn1")
    with pytest.raises(ModelFault, match="'S' and 'T' both keep the voltage of bus 'A'; let one of them be PQ"):
        solve_load_flow(twice)
    other = grid({"S": ("Load Flow Source", {}), "R": ("RLC (Three-Phase)", {})}, "S/LConn1 -- R/LConn1")
    with pytest.raises(ModelFault, match=r"not simulated: RLC \(Three-Phase\) 'R'; a load flow has busbars"):
        simulate(other)


def test_too_much_power_is_told_with_its_bus() -> None:
    with pytest.raises(SimulationFailed, match="finds no voltages that carry the power of bus 'B'"):
        solve_load_flow(two_buses({"source_type": "PQ", "P": "-1e9"}))
