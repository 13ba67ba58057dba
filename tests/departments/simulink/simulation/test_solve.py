"""Simulations against what mathematics says."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import numpy
import pytest

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.simulation.kernel import ModelFault, SimulationFailed
from chatdev.departments.simulink.simulation.solve import Options, simulate
from tests.departments.simulink.simulation.models import Blocks, constant, model, run, sampled

SECOND_ORDER: Blocks = {"u": ("Step", {"Time": "0"}),
                        "y": ("Transfer Fcn", {"Numerator": "[4]", "Denominator": "[1 1 4]"}), "Scope": "Scope"}
BALL: Blocks = {
    "g": constant("-9.81"), "e": ("Gain", {"Gain": "-0.8"}), "start": ("IC", {"Value": "15"}),
    "v": ("Integrator", {"ExternalReset": "rising", "InitialConditionSource": "external", "ShowStatePort": "on"}),
    "x": ("Integrator", {"InitialCondition": "10", "LimitOutput": "on", "LowerSaturationLimit": "0"}),
    "floor": ("Compare To Zero", {"relop": "<="}), "Scope": "Scope"}
BALL_LINES = ("g/1 -> v/1", "floor/1 -> v/2", "start/1 -> v/3", "v/State -> e/1", "e/1 -> start/1", "v/1 -> x/1",
              "x/1 -> floor/1", "x/1 -> Scope/1")


def second_order(time: numpy.ndarray) -> numpy.ndarray:
    fast = 2 * math.sqrt(1 - 0.25**2)
    return 1 - numpy.exp(-0.5 * time) * (numpy.cos(fast * time) + 0.5 / fast * numpy.sin(fast * time))


@pytest.mark.parametrize(("solver", "relative", "error"), [
    ("ode45", 1e-3, 1e-4), ("ode45", 1e-8, 1e-8), ("ode23", 1e-8, 1e-7), ("ode15s", 1e-6, 1e-4), ("ode1", 1e-3, 2e-2),
    ("ode2", 1e-3, 2e-4), ("ode3", 1e-3, 1e-6), ("ode4", 1e-3, 1e-8), ("ode5", 1e-3, 1e-11)])
def test_a_step_response_is_that_of_the_formula(solver: str, relative: float, error: float) -> None:
    found = run(SECOND_ORDER, "u/1 -> y/1", "y/1 -> Scope/1", solver=solver, relative=relative, step=0.01)
    assert numpy.abs(found["y"] - second_order(found.times)).max() < error
    assert found.times[-1] == 10.0


def test_a_ball_bounces_at_the_times_of_the_formula() -> None:
    speed = math.sqrt(15**2 + 2 * 9.81 * 10)
    hits, time = [], (15 + speed) / 9.81
    while time < 20:
        hits.append(time)
        speed *= 0.8
        time += 2 * speed / 9.81
    found = run(BALL, *BALL_LINES, stop=20)
    seen = sorted({time for time, height in zip(found.times, found["x"], strict=True) if height == 0})
    assert len(hits) == len(seen) == 18
    assert numpy.abs(numpy.subtract(hits, seen)).max() < 1e-10


@pytest.mark.parametrize(("blocks", "lines", "stop", "name"), [
    (BALL, BALL_LINES, 30, "floor"),
    ({"s": "Sign", "n": ("Gain", {"Gain": "-1"}), "i": ("Integrator", {"InitialCondition": "1"})},
     ("i/1 -> s/1", "s/1 -> n/1", "n/1 -> i/1"), 3, "s")])
def test_events_without_end_are_told_with_their_block(blocks: Blocks, lines: tuple[str, ...], stop: float,
                                                      name: str) -> None:
    with pytest.raises(SimulationFailed, match=f"without end.*{name!r}") as failed:
        run(blocks, *lines, stop=stop)
    assert failed.value.blocks == (name,)


def test_a_relay_swings_between_its_limits() -> None:
    found = run({"r": ("Relay", {"OnSwitchValue": "1", "OffSwitchValue": "-1", "OnOutputValue": "-1",
                                 "OffOutputValue": "1"}), "i": "Integrator", "Scope": "Scope"},
                "r/1 -> i/1", "i/1 -> r/1", "i/1 -> Scope/1")
    triangle = 1 - numpy.abs((found.times + 1) % 4 - 2)
    assert numpy.abs(found["i"] - triangle).max() < 1e-9
    assert found.events == 5


def test_a_loop_over_a_delay_counts() -> None:
    for delay in (sampled("Unit Delay"), ("Discrete Transfer Fcn", {
            "Numerator": "[1]", "Denominator": "[1 0]", "SampleTime": "1"}), ("Delay", {
            "DelayLength": "1", "SampleTime": "1"}), ("Discrete State-Space", {
            "A": "0", "B": "1", "C": "1", "D": "0", "SampleTime": "1"})):
        found = run({"one": constant("1"), "y": ("Sum", {"Inputs": "++"}), "d": delay, "Scope": "Scope"},
                    "one/1 -> y/1", "d/1 -> y/2", "y/1 -> d/1", "y/1 -> Scope/1", stop=5)
        assert found["y"].tolist() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("gain", "expected"), [("-0.5", 2 / 3), ("-2", 1 / 3), ("-1e6", 1 / (1 + 1e6)), ("0.99", 100)])
def test_linear_algebraic_loops_are_solved(gain: str, expected: float) -> None:
    found = run({"c": constant("1"), "x": ("Sum", {"Inputs": "++"}), "g": ("Gain", {"Gain": gain}), "Scope": "Scope"},
                "c/1 -> x/1", "g/1 -> x/2", "x/1 -> g/1", "x/1 -> Scope/1")
    assert found["x"][-1] == pytest.approx(expected, rel=1e-9)


def test_a_loop_whose_iteration_diverges_is_solved() -> None:
    """y = -2 (1 - y)."""
    found = run({"c": constant("1"), "s": ("Sum", {"Inputs": "+-"}), "y": ("Gain", {"Gain": "-2"}), "Scope": "Scope"},
                "c/1 -> s/1", "y/1 -> s/2", "s/1 -> y/1", "y/1 -> Scope/1")
    assert found["y"].tolist() == [2, 2]


def test_nonlinear_loops_are_solved() -> None:
    """x = cos x, and z with z^2 = 2 by an Algebraic Constraint."""
    found = run({"x": ("Trigonometric Function", {"Operator": "cos"}), "z": ("Algebraic Constraint", {"z0": "1"}),
                 "square": ("Math Function", {"Operator": "square"}), "two": constant("2"),
                 "f": ("Sum", {"Inputs": "+-"}), "a": "Display", "b": "Display"},
                "x/1 -> x/1", "z/1 -> square/1", "square/1 -> f/1", "two/1 -> f/2", "f/1 -> z/1", "x/1 -> a/1",
                "z/1 -> b/1")
    assert found["x"][-1] == pytest.approx(0.7390851332151607)
    assert abs(found["z"][-1]) == pytest.approx(math.sqrt(2))


@pytest.mark.parametrize("gain", ["1", "[1 1]"])
def test_a_loop_without_solution_names_its_blocks(gain: str) -> None:
    with pytest.raises(SimulationFailed, match="algebraic loop 'x' → 'g' has no solution") as failed:
        run({"c": constant("1"), "x": ("Sum", {"Inputs": "++"}), "g": ("Gain", {"Gain": gain})},
            "c/1 -> x/1", "g/1 -> x/2", "x/1 -> g/1")
    assert set(failed.value.blocks) == {"x", "g"}


def test_a_switch_of_the_slope_is_located() -> None:
    """y' = 1 below 1, else -1 (SciPy steps over it to 1.108)."""
    found = run({"y": "Integrator", "below": ("Compare To Constant", {"relop": "<", "const": "1"}),
                 "u": ("Switch", {"Criteria": "u2 ~= 0"}), "up": constant("1"), "stay": constant("0"),
                 "Scope": "Scope"},
                "y/1 -> below/1", "below/1 -> u/2", "up/1 -> u/1", "stay/1 -> u/3", "u/1 -> y/1", "y/1 -> Scope/1")
    assert found["y"].max() == pytest.approx(1, abs=1e-12)
    assert found["y"][-1] == pytest.approx(1, abs=1e-12)


def test_a_state_stays_at_its_limit_and_comes_back() -> None:
    found = run({"u": ("Sine Wave", {"Frequency": "1"}), "y": ("Integrator", {
        "LimitOutput": "on", "UpperSaturationLimit": "1", "LowerSaturationLimit": "-inf"}), "Scope": "Scope"},
        "u/1 -> y/1", "y/1 -> Scope/1", relative=1e-9)
    expected = [1 - math.cos(t) if t < math.pi / 2 else 1.0 if t < math.pi else -math.cos(t) if t < 2.5 * math.pi
                else math.nan for t in found.times]
    early = found.times < 2.5 * math.pi
    assert numpy.abs(found["y"] - expected)[early].max() < 1e-7


def test_both_sides_of_a_jump_are_kept() -> None:
    found = run({"u": ("Step", {"Time": "0.3"}), "Scope": "Scope"}, "u/1 -> Scope/1", stop=1)
    assert [(time, value) for time, value in zip(found.times, found["u"], strict=True) if time == 0.3] == [
        (0.3, 0.0), (0.3, 1.0)]


def test_dead_time_shifts_a_jump_exactly() -> None:
    found = run({"u": ("Step", {"Time": "0.3"}), "y": ("Transport Delay", {"DelayTime": "1.7"}), "Scope": "Scope"},
                "u/1 -> y/1", "y/1 -> Scope/1", stop=4)
    assert all(value == (time > 2) for time, value in zip(found.times, found["y"], strict=True) if time != 2)
    assert [value for time, value in zip(found.times, found["y"], strict=True) if time == 2] == [0, 1]


def test_a_hit_takes_fast_values_into_slow_blocks_at_once() -> None:
    found = run({"t": "Clock", "fast": sampled("Zero-Order Hold"), "slow": sampled("Zero-Order Hold", "2"),
                 "Scope": "Scope"}, "t/1 -> fast/1", "fast/1 -> slow/1", "slow/1 -> Scope/1", stop=5)
    last = dict(zip(found.times, found["slow"], strict=True))
    assert [last[time] for time in (0, 2, 4, 5)] == [0, 2, 4, 4]


def test_a_delay_gives_its_start_value_for_one_period() -> None:
    found = run({"t": sampled("Digital Clock", "0.1"), "d": sampled("Unit Delay", "0.1", InitialCondition="7"),
                 "i": sampled("Discrete-Time Integrator", "0.1"), "Scope": ("Scope", {"NumInputPorts": "2"})},
                "t/1 -> d/1", "t/1 -> i/1", "d/1 -> Scope/1", "i/1 -> Scope/2", stop=1)
    assert found["d"].tolist() == pytest.approx([7, *(0.1 * n for n in range(10))])
    assert found["i"].tolist() == pytest.approx([0.01 * n * (n - 1) / 2 for n in range(11)])


def test_the_end_is_a_whole_step_wherever_it_lies() -> None:
    for others in ({}, {"z": sampled("Digital Clock", "3")}):
        found = run({"y": sampled("Digital Clock"), **others}, stop=2.5)
        assert found.times.tolist() == [0, 1, 2, 2.5]
        assert found["y"].tolist() == [0, 1, 2, 2]


def test_offsets_shift_the_first_hit() -> None:
    found = run({"t": ("Digital Clock", {"SampleTime": "[1 0.25]"}), "Scope": "Scope"}, "t/1 -> Scope/1", stop=3)
    assert found.times.tolist() == [0, 0.25, 1.25, 2.25, 3]
    assert found["t"].tolist() == [0, 0.25, 1.25, 2.25, 2.25]


def test_a_memory_is_one_step_behind() -> None:
    found = run({"t": "Clock", "m": ("Memory", {"InitialCondition": "-1"}), "Scope": "Scope"}, "t/1 -> m/1",
                "m/1 -> Scope/1", solver="ode1", step=0.5, stop=2)
    assert found["m"].tolist() == [-1, 0, 0.5, 1, 1.5]


@pytest.mark.parametrize("name", ["gantry_crane", "traffic_light", "wall_cart", "greenhouse", "sensor_voter"])
def test_the_order_of_blocks_and_lines_changes_nothing(name: str) -> None:
    plain = reference_models()[name].diagram
    expected = simulate(plain, Options(stop=8))
    for seed in range(3):
        blocks, wires = [*plain.blocks.items()], [*plain.wires]
        random.Random(seed).shuffle(blocks)
        random.Random(seed).shuffle(wires)
        found = simulate(replace(plain, blocks=dict(blocks), wires=tuple(wires)), Options(stop=8))
        assert found.columns == expected.columns
        assert numpy.array_equal(found.values, expected.values, equal_nan=True)


@pytest.mark.parametrize("name", sorted(reference_models()))
def test_reference_models_simulate(name: str) -> None:
    diagram, stop = reference_models()[name].diagram, {"audio_equaliser": 0.02, "wheel_pickup": 0.1,
                                                       "fir_filter": 1.0, "cascade_drive": 1.0, "emitter_stage": 0.003,
                                                       "bridge_rectifier": 0.05, "rc_ladder": 0.05}.get(name, 5.0)
    options = Options(stop=stop, solver="ode4", step=0.01) if name == "electric_car" else Options(stop=stop)
    found = simulate(diagram, options)
    assert found.times[-1] == stop
    assert numpy.isfinite(found.values).all()


def test_memory_stays_flat_by_leaving_rows_out() -> None:
    found = simulate(model({"t": sampled("Digital Clock"), "Scope": "Scope"}, "t/1 -> Scope/1"),
                     Options(stop=100_000, rows=1000))
    assert found.steps == 100_001
    assert 500 <= len(found.times) <= 1001
    assert found["t"].tolist() == found.times.tolist()
    assert found.times[-1] == 100_000


def test_a_diverging_model_names_its_block() -> None:
    grows: Blocks = {"x": ("Integrator", {"InitialCondition": "1"}), "f": ("Math Function", {"Operator": "square"})}
    with pytest.raises(SimulationFailed, match="'x'"):
        run(grows, "x/1 -> f/1", "f/1 -> x/1")
    with pytest.raises(SimulationFailed, match="'x' is not finite"):
        run(grows, "x/1 -> f/1", "f/1 -> x/1", solver="ode4", step=0.01)


def test_logic_that_never_settles_is_an_error() -> None:
    with pytest.raises(SimulationFailed, match="'n'"):
        run({"n": ("Logical Operator", {"Operator": "NOT"})}, "n/1 -> n/1")


@pytest.mark.parametrize(("options", "message"), [
    (Options(stop=0), "give a time above 0"), (Options(stop=math.nan), "give a time above 0"),
    (Options(solver="ode46"), "'ode46' is not known; it is one of auto, ode45"),
    (Options(solver="discrete"), "no continuous states.*'y'"), (Options(step=-1), "the step is -1"),
    (Options(solver="ode4", step=0.3), "'d' .*1 s.* no multiple of the step, 0.3 s")])
def test_options_that_cannot_be_are_refused(options: Options, message: str) -> None:
    with pytest.raises(ModelFault, match=message):
        simulate(model({**SECOND_ORDER, "d": sampled("Unit Delay")}, "u/1 -> y/1", "y/1 -> d/1", "d/1 -> Scope/1"),
                 options)


def test_names_change_no_value() -> None:
    """But for the last digits of an algebraic loop, whose guess they choose."""
    diagram = reference_models()["pid_antiwindup"].diagram
    new = dict(zip(diagram.blocks, itertools.count(), strict=False))
    other = Diagram("m", {f"b{97 * number % 101}": diagram.blocks[name] for name, number in new.items()}, tuple(
        type(wire)(*(end._replace(block=f"b{97 * new[end.block] % 101}") for end in wire)) for wire in diagram.wires))
    found, expected = (simulate(one, Options(stop=20)) for one in (other, diagram))
    assert sorted(found.values[-1]) == pytest.approx(sorted(expected.values[-1]), rel=1e-9)
