"""The metric by worked examples and by what it promises of any two models."""

from __future__ import annotations

import random
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.simulink.metric import disguise
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.metric import Agreement, Share, compare, count_connections
from chatdev.departments.simulink.reference_models import reference_models

OPEN = {name: model.diagram for name, model in reference_models().items() if model.half == "open"}


def model(lines: str, **blocks: str) -> Diagram:
    """A model of `Type Parameter=value …` by block, and lines `A/1 > B/1` or `A/LConn1 - B/LConn1`."""
    wires = []
    for line in filter(None, (each.strip() for each in lines.split(","))):
        one, _, other = line.replace(" > ", "|").replace(" - ", "|").partition("|")
        wires.append(Wire(End(*one.split("/")), End(*other.split("/"))))
    found = {}
    for name, said in blocks.items():
        kind, _, given_parameters = said.partition(": ")
        found[name] = DiagramBlock(kind, dict(pair.split("=") for pair in given_parameters.split()))
    return Diagram("m", found, tuple(wires))


def without(diagram: Diagram, block: str) -> Diagram:
    wires = tuple(wire for wire in diagram.wires if block not in (wire.source.block, wire.target.block))
    return Diagram(diagram.name, {name: each for name, each in diagram.blocks.items() if name != block}, wires)


def test_accuracy_is_the_mean_of_blocks_and_connections_found() -> None:
    pump = OPEN["pump_relay"]
    assert compare(pump, pump) == Agreement(Share(5, 5, 5), Share(6, 6, 6))
    found = compare(pump, without(pump, "Record"))
    assert found == Agreement(Share(4, 5, 4), Share(4, 6, 4))
    assert found.accuracy == pytest.approx((4 / 5 + 4 / 6) / 2)
    assert found.precision == 1
    assert found.f1 == pytest.approx(2 * found.accuracy / (found.accuracy + 1))


def test_what_is_too_much_lowers_precision_alone() -> None:
    pump = OPEN["pump_relay"]
    more = replace(pump, blocks={**pump.blocks, "Display": DiagramBlock("Display")},
                   wires=(*pump.wires, Wire(End("Level", "1"), End("Display", "1"))))
    found = compare(pump, more)
    assert found.accuracy == 1
    assert found.precision == pytest.approx((5 / 6 + 6 / 7) / 2)
    assert (found.blocks.precision, found.connections.precision) == (5 / 6, 6 / 7)


def test_a_line_to_another_input_is_another_connection() -> None:
    one = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S="Sum: Inputs=+-")
    other = model("A/1 > S/2, B/1 > S/1", A="Constant", B="Clock", S="Sum: Inputs=+-")
    assert compare(one, other) == Agreement(Share(3, 3, 3), Share(0, 2, 2))


@pytest.mark.parametrize("kind", ["Sum: Inputs=++", "Sum: Inputs=-|-", "Add", "Product: Inputs=2", "Product: Inputs=**",
                                  "Logical Operator: Operator=OR", "MinMax: Inputs=2"])
def test_inputs_that_mean_the_same_are_interchangeable(kind: str) -> None:
    one = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S=kind)
    other = model("A/1 > S/2, B/1 > S/1", A="Constant", B="Clock", S=kind)
    assert compare(one, other).accuracy == 1


def test_signs_in_another_order_are_the_same_sum() -> None:
    one = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S="Sum: Inputs=|+-")
    other = model("A/1 > S/2, B/1 > S/1", A="Constant", B="Clock", S="Sum: Inputs=-+")
    assert compare(one, other).accuracy == 1
    same = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S="Sum: Inputs=++")
    assert compare(one, same) == Agreement(Share(2, 3, 3), Share(1, 2, 2))


def test_one_source_at_two_equal_inputs_is_two_connections() -> None:
    twice = model("A/1 > S/1, A/1 > S/2", A="Constant", S="Sum: Inputs=++")
    once = model("A/1 > S/1", A="Constant", S="Sum: Inputs=++")
    assert compare(twice, once).connections == Share(1, 2, 1)


def test_add_and_subtract_are_sums() -> None:
    one = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S="Subtract")
    other = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S="Sum: Inputs=+-")
    assert compare(one, other).accuracy == 1


@pytest.mark.parametrize(("right", "wrong"), [
    ("Math Function: Operator=log", "Math Function"), ("Logical Operator: Operator=OR", "Logical Operator"),
    ("Trigonometric Function: Operator=cos", "Trigonometric Function"), ("MinMax: Function=max", "MinMax"),
    ("Compare To Constant: relop=>", "Compare To Constant: relop=<"), ("Scope", "Scope: NumInputPorts=2"),
    ("Sum: Inputs=++", "Sum: Inputs=+++"), ("Integrator", "Integrator: ExternalReset=rising"),
    ("Goto: GotoTag=V", "Goto: GotoTag=W")])
def test_a_block_without_its_defining_parameter_is_not_found(right: str, wrong: str) -> None:
    one, other = (model("A/1 > F/1", A="Constant", F=kind) for kind in (right, wrong))
    assert compare(one, other) == Agreement(Share(1, 2, 2), Share(1, 1, 1))


def test_other_parameters_are_not_compared() -> None:
    one, other = (model("A/1 > G/1", A="Constant", G=f"Gain: Gain={gain}") for gain in (2, 3))
    assert compare(one, other).accuracy == 1


def test_a_block_of_unknown_type_is_found_nowhere() -> None:
    one, other = (model("A/1 > G/1", A="Constant", G=kind) for kind in ("Gain", "Amplifier of Dreams"))
    assert compare(one, other) == Agreement(Share(1, 2, 2), Share(0, 1, 1))


LOOP = {"S": "DC Voltage Source", "R": "Resistor", "C": "Capacitor", "G": "Electrical Reference"}
LINES = "S/LConn1 - R/LConn1, R/RConn1 - C/LConn1, C/RConn1 - S/RConn1, G/LConn1 - S/RConn1"


def test_a_net_counts_one_edge_less_than_it_has_ports() -> None:
    loop = model(LINES, **LOOP)
    assert count_connections(loop) == 4
    star = model(LINES.replace("C/RConn1 - S/RConn1", "C/RConn1 - G/LConn1"), **LOOP)
    assert compare(loop, star).accuracy == 1


def test_passive_elements_may_be_turned_around_and_sources_not() -> None:
    loop = model(LINES, **LOOP)
    turned = LINES.replace("R/LConn1", "?").replace("R/RConn1", "R/LConn1").replace("?", "R/RConn1")
    assert compare(loop, model(turned, **LOOP)).accuracy == 1
    upside_down = LINES.replace("S/LConn1", "?").replace("S/RConn1", "S/LConn1").replace("?", "S/RConn1")
    assert compare(loop, model(upside_down, **LOOP)) == Agreement(Share(4, 4, 4), Share(2, 4, 4))


def test_elements_in_parallel_may_all_be_turned_around() -> None:
    two = {"S": "DC Voltage Source", "A": "Resistor", "B": "Resistor"}
    one = model("S/LConn1 - A/LConn1, A/LConn1 - B/LConn1, S/RConn1 - A/RConn1, A/RConn1 - B/RConn1", **two)
    other = model("S/LConn1 - A/RConn1, A/RConn1 - B/RConn1, S/RConn1 - A/LConn1, A/LConn1 - B/LConn1", **two)
    assert compare(one, other).accuracy == 1


def test_a_missing_join_costs_one_connection_and_a_wrong_one_precision() -> None:
    loop = model(LINES, **LOOP)
    open_loop = model(LINES.replace("C/RConn1 - S/RConn1,", ""), **LOOP)
    assert compare(loop, open_loop).connections == Share(3, 4, 3)
    short = model(f"{LINES}, C/LConn1 - C/RConn1", **LOOP)
    assert compare(loop, short).connections == Share(4, 4, 5)


def test_a_thousand_blocks_are_compared_in_seconds() -> None:
    lines = ", ".join(f"G{number}/1 > G{number + 1}/1" for number in range(999))
    began = time.process_time()
    found = compare(OPEN["audio_equaliser"], model(lines, **{f"G{number}": "Gain" for number in range(1000)}))
    assert found.blocks == Share(19, 50, 1000)
    assert time.process_time() - began < 20


def test_nothing_asked_for_is_found_and_nothing_made_finds_nothing() -> None:
    nothing = Diagram("m")
    assert compare(nothing, nothing).f1 == 1
    assert compare(OPEN["pump_relay"], nothing).f1 == 0
    assert compare(nothing, OPEN["pump_relay"]).precision == 0


def test_a_port_that_is_not_there_is_like_no_other() -> None:
    one = model("A/1 > S/1, B/1 > S/2", A="Constant", B="Clock", S="Sum: Inputs=++")
    other = model("A/1 > S/1, B/1 > S/9", A="Constant", B="Clock", S="Sum: Inputs=++")
    assert compare(one, other).connections == Share(1, 2, 2)
    loop, wrong = model(LINES, **LOOP), model(LINES.replace("R/RConn1", "R/RConn9"), **LOOP)
    assert compare(loop, wrong).connections == Share(3, 4, 4)
    odd = model("A/1 > S/1", A="Constant", S="Sum: Inputs=many")
    assert compare(odd, odd).f1 == 1


def test_a_line_to_a_block_that_is_not_there_is_no_connection() -> None:
    pump = OPEN["pump_relay"]
    assert compare(pump, replace(pump, wires=(*pump.wires, Wire(End("Ghost", "1"), End("Level", "2"))))).f1 == 1


@pytest.mark.parametrize("name", OPEN)
def test_a_model_in_disguise_is_the_same_model(name: str) -> None:
    assert compare(OPEN[name], disguise(OPEN[name], random.Random(7))).f1 == 1


@pytest.mark.parametrize("name", OPEN)
def test_what_is_left_of_a_model_is_found_again(name: str) -> None:
    diagram, draw = OPEN[name], random.Random(name)
    left = diagram
    for _ in range(3):
        left = replace(left, wires=tuple(draw.sample(left.wires, len(left.wires) - 1)))
        found = compare(diagram, left)
        assert found.connections == Share(count_connections(left), count_connections(diagram), count_connections(left))
        assert found.blocks.recall == 1


KINDS = ("Gain", "Sum: Inputs=+-", "Resistor", "Electrical Reference", "Math Function: Operator=log", "Math Function")
PORTS = {"Gain": ("1", "1"), "Sum": ("12", "1"), "Math Function": ("1", "1")}


@st.composite
def small_models(draw: st.DrawFn) -> Diagram:
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5))
    blank = model("", **{f"B{number}": kind for number, kind in enumerate(kinds)})
    signal = [name for name, block in blank.blocks.items() if block.type in PORTS]
    terminals = [End(name, port) for name, block in blank.blocks.items() if block.type not in PORTS
                 for port in (("LConn1", "RConn1") if block.type == "Resistor" else ("LConn1",))]
    inputs = [End(name, port) for name in signal for port in PORTS[blank.blocks[name].type][0]]
    wires = [Wire(End(draw(st.sampled_from(signal)), "1"), target) for target in inputs if draw(st.booleans())]
    if len(terminals) > 1:
        joins = draw(st.lists(st.tuples(*[st.sampled_from(terminals)] * 2), max_size=4))
        wires += [Wire(*join) for join in joins if join[0] != join[1]]
    return replace(blank, wires=tuple(wires))


@settings()
@given(small_models(), st.randoms(use_true_random=False))
def test_every_model_is_itself_whatever_its_names_and_order(diagram: Diagram, draw: random.Random) -> None:
    assert compare(diagram, diagram).f1 == 1
    assert compare(diagram, disguise(diagram, draw)).f1 == 1


@settings()
@given(small_models(), small_models(), st.randoms(use_true_random=False))
def test_names_and_order_change_no_figure_and_it_stays_in_bounds(one: Diagram, other: Diagram,
                                                                 draw: random.Random) -> None:
    found = compare(one, other)
    assert found == compare(one, disguise(other, draw))
    for figure in (found.accuracy, found.precision, found.f1):
        assert 0 <= figure <= 1


@settings()
@given(small_models(), small_models(), st.data())
def test_what_is_taken_away_finds_nothing_more(one: Diagram, other: Diagram, data: st.DataObject) -> None:
    found = compare(one, other)
    if other.wires:
        gone = data.draw(st.integers(0, len(other.wires) - 1))
        fewer = replace(other, wires=(*other.wires[:gone], *other.wires[gone + 1:]))
        assert compare(one, fewer).accuracy <= found.accuracy
    assert compare(one, without(other, data.draw(st.sampled_from(sorted(other.blocks))))).accuracy <= found.accuracy
