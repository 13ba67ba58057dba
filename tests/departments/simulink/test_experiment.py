"""Simulating what somebody else made, in a child with limits; `chatdev simulink test`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.cli.outcome import heed_signals
from chatdev.departments.simulink import experiment
from chatdev.departments.simulink.acceptance import Acceptance
from chatdev.departments.simulink.company_tools import route
from chatdev.departments.simulink.experiment import (
    Experiment,
    experiment_of,
    isolated_experiment,
    run_experiment,
    verdict_of,
)
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.errors import MissingProgram
from chatdev.isolation.parent import ReadingLimits
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext
from tests.departments.simulink.simulation.models import constant, model

BALL = reference_models()["spring_ball"].diagram
OUT = {"Out": "Out1"}


def simulink(*arguments: object) -> Result:
    with heed_signals():
        return CliRunner().invoke(command_line, ["simulink", *map(str, arguments)], prog_name="chatdev")


def test_the_child_gives_what_a_simulation_here_gives() -> None:
    wanted = "{stop: 5, signals: {Height: {min: at most 0, max: 2 ± 1 %}}}"
    there = isolated_experiment(BALL.text(), wanted)
    assert there == run_experiment(BALL, Acceptance.read(wanted, "a"))
    assert there.passed
    assert len(there.times) == len(there.values) > 100
    assert there.csv().startswith("time,Height\n0,2\n")
    assert there.plot().startswith(b"<?xml")


@pytest.mark.parametrize(("blocks", "lines", "outcome", "says"), [
    ({"A": constant("1"), "S": ("Sum", {"Inputs": "++"}), **OUT}, ["A/1 -> S/1", "S/1 -> S/2", "S/1 -> Out/1"],
     "failed", "the algebraic loop 'S' has no solution"),
    ({"A": constant("1"), "I": "Integrator", "S": ("Math Function", {"Operator": "square"}), "P": "Sum", **OUT},
     ["A/1 -> P/1", "S/1 -> P/2", "P/1 -> I/1", "I/1 -> S/1", "I/1 -> Out/1"], "failed", "'I'"),
    ({"A": constant("1"), "B": "Interpreted MATLAB Function", **OUT}, ["A/1 -> B/1", "B/1 -> Out/1"], "unknown",
     "not simulated: Interpreted MATLAB Function 'B'"),
    ({"A": constant("[1 2"), **OUT}, ["A/1 -> Out/1"], "refused", "Constant 'A': Value"),
    ({"S": "Sign", "G": ("Gain", {"Gain": "-1"}), "I": ("Integrator", {"InitialCondition": "1"}), **OUT},
     ["I/1 -> S/1", "S/1 -> G/1", "G/1 -> I/1", "I/1 -> Out/1"], "failed", "a Zeno effect, or a switch that slides"),
    ({"V1": "DC Voltage Source", "V2": ("DC Voltage Source", {"v0": "5"}), "Ground": "Electrical Reference",
      "Solver": "Solver Configuration", "Sensor": "Voltage Sensor", "Converter": "PS-Simulink Converter", **OUT},
     ["V1/LConn1 -- V2/LConn1", "V1/RConn1 -- V2/RConn1", "V1/RConn1 -- Ground/LConn1", "Solver/RConn1 -- V1/RConn1",
      "Sensor/LConn1 -- V1/LConn1", "Sensor/RConn2 -- V1/RConn1", "Sensor/RConn1 -- Converter/LConn1",
      "Converter/1 -> Out/1"], "refused", "the network has no solution, or more than one, at 'V"),
    ({"A": "Sine Wave", "D": "Unit Delay", **OUT}, ["A/1 -> D/1", "D/1 -> Out/1"], "refused",
     "it inherits continuous time, and needs hits"),
    ({"A": constant("1"), "D": ("Discrete-Time Integrator", {"SampleTime": "1e-9"}), **OUT},
     ["A/1 -> D/1", "D/1 -> Out/1"], "refused",
         "the sample time, 1e-09 s (for 'D', 'Out'), makes more than 20,000,000 steps")])
def test_a_fault_is_told_with_its_blocks(blocks: dict[str, str], lines: list[str], outcome: str, says: str) -> None:
    found = isolated_experiment(model(blocks, *lines).text(), "{}", (), 2.0)
    assert (found.outcome, found.passed) == (outcome, outcome == "unknown")
    assert says in found.message
    assert set(found.blocks) <= set(blocks)
    assert found.blocks


def test_a_slow_simulation_that_gets_on_ends_where_it_is() -> None:
    slow = model({"A": ("Sine Wave", {"Frequency": "1e5"}), "I": "Integrator", **OUT}, "A/1 -> I/1", "I/1 -> Out/1")
    began = time.monotonic()
    wanted = "{stop: 100, tolerance: 1.0e-6, signals: {I: {final: at most 1}}}"
    found = isolated_experiment(slow.text(), wanted, (), 2.0)
    assert time.monotonic() - began < 60
    assert (found.outcome, found.passed, found.is_open) == ("partly", True, True)
    assert 0 < found.reached < 100
    assert "give a shorter stop" in found.message
    assert verdict_of(found).judged is False


def test_what_never_comes_to_a_step_is_ended_by_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is counted while a model of many elements is written down as code."""
    monkeypatch.setattr(experiment, "LIMITS", ReadingLimits(512 << 20, 1))
    gains = [f"G{number}" for number in range(9)]
    lines = [f"{one}/1 -> {other}/1" for one, other in pairwise(["A", *gains, "Out"])]
    wide = model({"A": constant("1:9000"), **dict.fromkeys(gains, "Gain"), **OUT}, *lines)
    found = isolated_experiment(wide.text(), "{stop: 3}", (), 0.5)
    assert (found.outcome, found.stop) == ("failed", 3)
    assert "simulating the model takes more" in found.message


def test_many_rows_are_thinned_out_and_their_extremes_kept() -> None:
    long = model({"A": ("Sine Wave", {"Frequency": "50", "SampleTime": "0.0003"}), **OUT}, "A/1 -> Out/1")
    found = isolated_experiment(long.text(), "{signals: {A: {max: 1 ± 0.1 %}}}")
    assert found.passed
    assert len(found.times) <= 2005
    assert max(row[0] for row in found.values) == pytest.approx(1, abs=1e-3)


def test_without_numpy_nothing_is_known_and_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Experiment:
        raise MissingProgram("simulating needs numpy: pip install 'chatdev-chain[simulink]'")

    monkeypatch.setattr(experiment, "isolated_experiment", refuse)
    found = experiment_of({}, BALL.text())
    assert (found.outcome, found.passed) == ("unknown", True)
    assert "pip install 'chatdev-chain[simulink]'" in verdict_of(found).report


def test_without_matplotlib_there_is_no_plot(monkeypatch: pytest.MonkeyPatch) -> None:
    found = isolated_experiment(BALL.text())
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert experiment.plot_of(found) == b""
    assert found.csv()


@pytest.mark.parametrize(("located", "passed", "where"), [
    ({"where": "code", "why": "a", "fix": "b"}, True, "investigation"), ({"where": "code"}, False, "code"),
    ({"where": "investigation"}, True, "investigation"), ({}, False, "code"), ({}, True, "investigation"),
    (None, True, "")])
def test_a_program_that_builds_what_was_agreed_on_has_no_fault(
        located: dict[str, str] | None, passed: bool, where: str, tmp_path: Path) -> None:
    values = {"executed": {"passed": passed}, **({} if located is None else {"located": located})}
    context = ToolContext({}, values, {}, find_sandbox("none"), tmp_path, tmp_path)
    assert route.function(context)["where"] == where


def test_a_model_is_tested_by_the_command(tmp_path: Path) -> None:
    file, wanted = tmp_path / "ball.yaml", tmp_path / "wanted.yaml"
    file.write_text(BALL.text(), encoding="utf-8")
    wanted.write_text("stop: 5\nsignals: {Height: {max: 2 ± 1 %}}\n", encoding="utf-8")
    done = simulink("test", file, "--acceptance", wanted)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"OK {file}: Simulated by ode45 from 0 to 5 s")
    wanted.write_text("stop: 5\nsignals: {Height: {max: 3 ± 1 %}}\n", encoding="utf-8")
    done = simulink("test", file, "--acceptance", wanted, "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["ok"] is False
    assert told["acceptance"][0]["got"] == pytest.approx(2)


@pytest.mark.parametrize(("wanted", "code", "says"), [
    ("signals: {Hight: {max: at most 3}}", 2, "there are: Height"), ("signals: {Height: {max: 3}}", 2, "wanted.yaml:1"),
    ("set: {Ball.Mass: 3}", 2, "there is no block 'Ball'"), ("solver: discrete", 2, "takes no continuous states"),
    ("set: {Gravity.Value: .nan}", 2, "Gravity"), ("signals: {Height: {final: at most -9}}", 1, "wanted at most -9")])
def test_the_command_says_what_is_wrong_by_its_exit_code(tmp_path: Path, wanted: str, code: int, says: str) -> None:
    (tmp_path / "ball.yaml").write_text(replace(BALL, name="ball").text(), encoding="utf-8")
    (tmp_path / "wanted.yaml").write_text(wanted, encoding="utf-8")
    done = simulink("test", tmp_path / "ball.yaml", "--acceptance", tmp_path / "wanted.yaml")
    assert done.exit_code == code, done.output
    assert says in done.output
