"""Acceptance by numbers: figures of step responses against the control library and analytic values, limits, traces, and
what is refused."""

from __future__ import annotations

import math
import random
import typing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.simulink.acceptance import (
    NO_SIGNAL,
    Acceptance,
    Judgement,
    StepResponse,
    derive_acceptance,
    judge,
    read_acceptance_file,
)
from chatdev.departments.simulink.diagram import DiagramBlock
from chatdev.departments.simulink.experiment import run_experiment
from chatdev.departments.simulink.simulation.solve import SOLVERS, Options, Results, simulate
from chatdev.errors import ConfigError
from tests.departments.simulink.simulation.models import constant, model

LAG = model({"Step": ("Step", {"Time": "1"}), "Lag": ("Transfer Fcn", {"Denominator": "[1 1]"}), "Scope": "Scope"},
            "Step/1 -> Lag/1", "Lag/1 -> Scope/1")


def results(times: Any, values: Any) -> Results:
    rows = numpy.array(values, dtype=float).reshape(-1, 1)
    return Results(numpy.array(times, dtype=float), rows, ("y",), {"Scope": ("y",)}, {}, (), "ode45", 1, 0, 1)


def judged(wish: dict[str, Any], times: Any, values: Any) -> Judgement:
    """What is said of the signal y."""
    wanted = Acceptance.read(yaml.safe_dump({"signals": {"y": wish}}, allow_unicode=True), "a.yaml")
    (found,) = judge(wanted, results(times, values))
    return found


def test_figures_are_those_of_the_control_library() -> None:
    """100 random stable systems of order 1 to 4; the control library takes whole samples, so a sample is let pass."""
    import control  # it has no types

    times = numpy.linspace(0, 30, 3001)
    for seed in range(100):
        values = control.step_response(random_system(random.Random(seed)), times).outputs
        theirs = control.step_info(values, times, yfinal=float(values[-1]))
        ours = StepResponse(times, values, initial=0.0)
        sample = 1.01 * times[1]
        assert ours.rise_time == pytest.approx(theirs["RiseTime"], abs=sample), seed
        assert ours.settling_time == pytest.approx(theirs["SettlingTime"], abs=sample), seed
        assert ours.overshoot == pytest.approx(theirs["Overshoot"], abs=1e-6), seed
        assert ours.peak == pytest.approx(theirs["Peak"])
        assert ours.peak_time == pytest.approx(theirs["PeakTime"])
        assert ours.final == pytest.approx(theirs["SteadyStateValue"]), seed


def random_system(lots: random.Random) -> Any:
    """A stable transfer function of the control library."""
    import control

    poles = [complex(-lots.uniform(0.3, 3), lots.uniform(0.3, 4)) for _ in range(lots.randint(0, 2))]
    poles = [one for pole in poles for one in (pole, pole.conjugate())]
    poles += [complex(-lots.uniform(0.3, 3)) for _ in range(lots.randint(0 if poles else 1, 2))]
    zeros = [complex(-lots.uniform(0.5, 5))] if len(poles) > 1 and lots.random() < 0.5 else []
    return control.tf(lots.uniform(0.5, 5) * numpy.real(numpy.poly(zeros)), numpy.real(numpy.poly(poles)))


@pytest.mark.parametrize("damping", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_figures_of_the_second_order_are_the_analytic_ones(damping: float) -> None:
    """A model in our simulator: overshoot exp(-πζ/√(1-ζ²)), its peak at π/(ω√(1-ζ²)), within half a percent."""
    found = simulate(model({"Step": ("Step", {"Time": "0"}), "Scope": "Scope", "Plant": (
        "Transfer Fcn", {"Numerator": "[4]", "Denominator": f"[1 {4 * damping} 4]"})},
        "Step/1 -> Plant/1", "Plant/1 -> Scope/1"), Options(60, relative=1e-6, longest=0.02))
    response = StepResponse(found.times, found["Plant"])
    root = math.sqrt(1 - damping**2)
    assert response.overshoot == pytest.approx(100 * math.exp(-math.pi * damping / root), rel=5e-3, abs=0.01)
    assert response.peak_time == pytest.approx(math.pi / (2 * root), abs=0.02)
    assert response.settling_time == pytest.approx(4 / (2 * damping), rel=0.45)  # the rule of thumb 4/(ζω)


def test_a_first_order_lag_rises_and_settles_by_its_time_constant() -> None:
    times = numpy.linspace(0, 30, 3001)
    response = StepResponse(times, 2 * (1 - numpy.exp(-times)))
    assert response.rise_time == pytest.approx(math.log(9), abs=1e-4)
    assert response.settling_time == pytest.approx(math.log(50), abs=1e-4)
    assert response.overshoot == 0


def test_a_response_counts_from_its_start_and_goes_down_as_well() -> None:
    times = numpy.linspace(0, 40, 4001)
    values = 5 - 3 * (1 - numpy.exp(-numpy.maximum(times - 4, 0)))
    response = StepResponse(times, values, start=4.0)
    assert [response.initial, response.final] == pytest.approx([5, 2])
    assert response.rise_time == pytest.approx(math.log(9), abs=1e-4)
    assert response.settling_time == pytest.approx(math.log(50), abs=1e-4)


@given(st.floats(0.1, 10), st.floats(-50, 50), st.floats(0.2, 5))
def test_scale_and_place_change_no_time_and_no_overshoot(scale: float, place: float, speed: float) -> None:
    times = numpy.linspace(0, 20, 2001)
    values = 1 - numpy.exp(-times) * numpy.cos(3 * times)
    plain, moved = StepResponse(times, values), StepResponse(times / speed, place - scale * values)
    assert moved.rise_time == pytest.approx((plain.rise_time or 0) / speed, rel=1e-6)
    assert moved.settling_time == pytest.approx((plain.settling_time or 0) / speed, rel=1e-4)
    assert moved.overshoot == pytest.approx(plain.overshoot, rel=1e-6)


@pytest.mark.parametrize(("limit", "right", "wrong"), [
    ("at most 5", [5, -9], [5.01]), ("at least 0", [0, 7], [-0.01]), ("0.9 to 1.1", [0.9, 1.1], [0.89, 1.2]),
    ("1 ± 0.1", [0.9, 1.1], [1.2]), ("-2 ± 10 %", [-1.8, -2.2], [-1.7, 2]), ("1 +- 1e-1", [1.05], [1.11]),
    ("<= 3", [3], [4]), ({"min": 1}, [1, 9], [0]), ({"min": 1, "max": 2}, [1, 2], [0, 3])])
def test_a_limit_says_which_values_are_let_pass(limit: Any, right: list[float], wrong: list[float]) -> None:
    for value in right + wrong:
        assert judged({"final": limit}, [0, 1], [0, value]).passed is (value in right)


@pytest.mark.parametrize(("text", "says"), [
    ("signals: {y: {final: 1}}", "a.yaml:1: signals.y.final: a number alone does not say how near; write `at most 5`"),
    ("signals:\n  y: {final: about 1}", "a.yaml:2: signals.y.final: that is no limit"),
    ("signals: {y: {finl: at most 1}}", "did you mean 'final'?"), ("stop: -1", "stop: input should be greater than 0"),
    ("signals: {y: {final: {min: 2, max: 1}}}", "that is no limit"), ("solver: ode99", "did you mean 'ode"),
    ("signals: {y: {steady_state_error: at most 1}}", "needs a target"),
    ("signals: {y: {crossings: {times: [1]}}}", "times need within"), ("signals: {y: {crossings: {}}}", "give times"),
    ("signals: {y: {trace: {points: [[0, 1]]}}}", "no tolerance is given"),
    ("signals: {y: {trace: {absolute: 1}}}", "give one of file, csv and points"),
    ("signals: {y: {trace: {points: [[0]], absolute: 1}}}", "a point is [seconds, value]"),
    ("signals: {y: {trace: {file: gone.csv, absolute: 1}}}", "there is no file 'gone.csv'"),
    ("signals: {y: {trace: {csv: 'time,y', absolute: 1}}}", "no trace; it has a head"),
    ("signals: {y: {trace: {csv: \"time,a,b\\n0,1,2\", absolute: 1}}}", "there is no column 'y'; it has a, b"),
    ("signals: {y: {trace: {csv: \"time,y\\n0,one\", absolute: 1}}}", "row 2 has no number"),
    ("stop: 1\nsignals: {y: {trace: {points: [[2, 1]], absolute: 1}}}", "a.yaml:2: signals.y.trace: it goes to 2 s"),
    ("set: {Gain.Gain: [1]}", "set.Gain.Gain"), ("[]", "it must be a mapping"), ("stop: .nan", "stop"),
    ("signals: {y: {final: at most 1e999}}", "that is no limit")])
def test_what_cannot_be_meant_is_refused_with_place_and_fix(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        Acceptance.read(text, "a.yaml")
    assert says in str(refusal.value)


def test_solvers_are_those_of_the_simulation() -> None:
    assert typing.get_args(typing.get_args(Acceptance.model_fields["solver"].annotation)[0]) == SOLVERS


def test_a_trace_holds_within_its_tolerance_in_value_and_time() -> None:
    times, values = [0, 1, 1, 2], [0, 0, 5, 5]
    jump = {"points": [[0.5, 0], [1.05, 0], [1.5, 5]], "absolute": 0.1}
    assert judged({"trace": {**jump, "time": 0.1}}, times, values).passed
    missed = judged({"trace": jump}, times, values)
    assert (missed.passed, missed.when, missed.got, missed.facts["missed"]) == (False, 1.05, 5, 1)
    assert judged({"trace": {"points": [[1, 0], [1, 5], [1, 2.5]], "absolute": 0.1}}, times, values).passed
    assert judged({"trace": {"points": [[2, 5.5]], "relative": 0.1}}, times, values).passed


@pytest.mark.parametrize(("wish", "passed"), [
    ({"level": 0, "times": [1, 3], "within": 0.01}, True), ({"level": 0, "times": [1, 2], "within": 0.01}, False),
    ({"level": 0, "times": [3], "within": 0.01, "direction": "rising"}, True),
    ({"level": 0, "times": [1, 3, 5], "within": 0.1}, False), ({"level": 0, "count": "2 to 2"}, True),
    ({"level": 5, "times": [1], "within": 1}, False), ({"level": 1, "count": "at most 0"}, True)])
def test_crossings_are_found_between_rows(wish: dict[str, Any], passed: bool) -> None:
    assert judged({"crossings": wish}, [0, 2, 4], [1, -1, 1]).passed is passed


def test_what_has_no_meaning_is_missed_and_says_so() -> None:
    flat = judged({"rise_time": "at most 1"}, [0, 1], [3, 3])
    assert (flat.passed, flat.got, flat.why) == (False, None, "unchanged")
    lost = judged({"final": "at most 1"}, [0, 1, 2], [3, math.nan, 1])
    assert (lost.passed, lost.why, lost.when) == (False, "broken", 1)


def test_a_signal_is_named_by_its_block_or_by_what_records_it() -> None:
    for name in ("Lag", "Scope", "Step"):  # nobody records Step
        wanted = Acceptance.read(f"signals: {{{name}: {{final: 1 ± 1 %}}}}", "a")
        (found,) = run_experiment(LAG, wanted).judged
        assert found.passed
        assert found.signal == name
    (lost,) = run_experiment(LAG, Acceptance.read("signals: {Leg: {final: at most 1}}", "a")).judged
    assert (lost.why, lost.wanted) == (NO_SIGNAL, "Lag")


def test_a_target_may_be_another_signal() -> None:
    wanted = Acceptance.read("{stop: 30, signals: {Lag: {target: Step, steady_state_error: at most 0.001}}}", "a")
    (found,) = run_experiment(LAG, wanted).judged
    assert found.passed
    assert found.facts["target"] == 1


def test_settings_of_the_simulation_are_taken() -> None:
    wanted = Acceptance.read("{stop: 20, solver: ode4, step: 0.1, set: {Step.After: 3}, "
                             "signals: {Lag: {final: 3 ± 1 %}}}", "a")
    found = run_experiment(LAG, wanted)
    assert found.passed
    assert (found.solver, found.reached) == ("ode4", 20)


def test_settings_of_the_model_count_where_nothing_else_is_said() -> None:
    own = replace(LAG, settings={"StopTime": "4", "Solver": "ode4", "FixedStep": "0.1"})
    found = run_experiment(own, Acceptance.read("{}", "a"))
    assert (found.solver, found.stop, found.reached) == ("ode4", 4, 4)
    found = run_experiment(own, Acceptance.read("{stop: 2, solver: ode45}", "a"))
    assert (found.solver, found.stop, found.reached) == ("ode45", 2, 2)


def test_traces_are_read_beside_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("signals: {Lag: {trace: {file: lag.csv, column: wish, absolute: 0.01}}}\n")
    (tmp_path / "lag.csv").write_text("time,other,wish\n1,9,0\n2,9,0.632\n\n4,9,nan\n")
    assert run_experiment(LAG, read_acceptance_file(tmp_path / "a.yaml")).passed
    (tmp_path / "lag.csv").unlink()
    with pytest.raises(ConfigError, match=r"lag\.csv cannot be read"):
        read_acceptance_file(tmp_path / "a.yaml")


def test_what_is_derived_of_a_right_simulation_holds_for_it() -> None:
    wanted = yaml.safe_dump(derive_acceptance(simulate(LAG, Options(10)), 10))
    assert run_experiment(LAG, Acceptance.read(wanted, "a")).passed
    wrong = replace(LAG, blocks={**LAG.blocks, "Lag": DiagramBlock("Transfer Fcn", {"Denominator": "[2 1]"})})
    assert not run_experiment(wrong, Acceptance.read(wanted, "a")).passed
    assert derive_acceptance(results([0, 1], [math.nan, 1]), 1)["signals"] == {}


def test_a_loop_without_a_solution_names_its_blocks() -> None:
    loop = model({"One": constant("1"), "Sum": ("Sum", {"Inputs": "++"}), "Out": "Out1"}, "One/1 -> Sum/1",
                 "Sum/1 -> Sum/2", "Sum/1 -> Out/1")
    found = run_experiment(loop, Acceptance.read("{}", "a"))
    assert (found.outcome, found.passed, found.blocks) == ("failed", False, ("Sum",))
