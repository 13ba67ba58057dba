"""What simugen does with a model that builds and does something else than is wanted, or cannot be simulated: scripted
agents over HTTP, real tools."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev.departments.simulink import experiment
from chatdev.departments.simulink.company_tools import views
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire
from tests.departments.simulink.office import Investigation, Office, forget_line, phases, run_company, said
from tests.departments.simulink.simulation.models import constant, model
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.tool
LOOP = replace(model({
    "Step": ("Step", {"Time": "1"}), "Error": ("Sum", {"Inputs": "+-"}), "Kp": ("Gain", {"Gain": "4"}),
    "Plant": ("Transfer Fcn", {"Numerator": "[1]", "Denominator": "[1 2 1]"}), "Scope": "Scope"},
    "Step/1 -> Error/1", "Error/1 -> Kp/1", "Kp/1 -> Plant/1", "Plant/1 -> Error/2", "Plant/1 -> Scope/1"), name="loop")
COUNT = replace(model({
    "Rate": constant("2"), "Sum": ("Sum", {"Inputs": "++"}), "Delay": ("Unit Delay", {"SampleTime": "0.5"}),
    "Scope": "Scope"}, "Rate/1 -> Sum/1", "Delay/1 -> Sum/2", "Sum/1 -> Delay/1", "Sum/1 -> Scope/1"), name="count")
WANTED = "{stop: 20, signals: {Plant: {start: 1, final: 0.8 ± 1 %, overshoot: at most 25 %}}}"


def set_value(block: str, **parameters: str) -> Any:
    """A mistake: a parameter has another value."""
    def spoil(found: Investigation) -> None:
        (one,) = [one for one in found["blocks"] if one["name"] == block]
        one["parameters"] = {**one["parameters"], **parameters}
    return spoil


def leave_out_delay(found: Investigation) -> None:
    """A mistake: the sum leads straight back to itself."""
    found["blocks"] = [one for one in found["blocks"] if one["name"] != "Delay"]
    found["connections"] = [*(line for line in found["connections"] if "Delay" not in line), "Sum/1 -> Sum/2"]


def simulate_company(server: ChatServer, folder: Path, office: Office, **inputs: Any) -> chatdev.Run:
    return run_company(server, folder, office, **{"task": "A model.", **inputs})


def test_a_right_model_meets_its_acceptance_and_shows_what_it_does(chat_server: ChatServer, tmp_path: Path) -> None:
    run = simulate_company(chat_server, tmp_path, Office(LOOP), acceptance=WANTED)
    assert run.success, run.reason
    assert "locate_fault" not in phases(chat_server)
    assert {"simulation.csv", "simulation.svg"} < set(run.software)
    assert run.software.text("simulation.csv").startswith("time,Plant\n0,0\n")
    report = run.software.text("report.md")
    assert "![What loop does](simulation.svg)" in report
    assert re.search(r"^\| Plant \| 0 \| 0\.8 \| 0 \| 0\.96\d* \|$", report, re.MULTILINE)
    assert re.search(r"^\| Plant \| overshoot \| at most 25 % \| 20\.\d+ \| yes \|$", report, re.MULTILINE)
    assert (run.folder / "run" / "simulation.svg").read_bytes().startswith(b"<?xml")
    assert "it simulates, and does what is wanted (2 of 2)" in run.values["verdict"]["report"].lower()
    (shown,) = [view for view in views(run.folder, {"simulink.judge": run.values["verdict"]}) if view.table]
    assert shown.table[1] == ("Plant", "final", "0.8 ± 1 %", "0.8", "20", "yes")
    assert "overshoot" not in said(chat_server, "investigate_connections")


def test_a_wrong_gain_is_caught_by_its_acceptance_and_mended(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(LOOP, spoil=set_value("Kp", Gain="40"))
    run = simulate_company(chat_server, tmp_path, office, acceptance=WANTED)
    assert run.success, run.reason
    assert office.named == {"acceptance"}
    shown = said(chat_server, "locate_fault")
    assert re.search(r"- acceptance, error: signal Plant: it overshoots by 6\d\.\d+ % \(it goes from 0 to 0\.97\d*, "
                     r"with its peak 1\.\d+ at 1\.\d+ s\), wanted at most 25 %\.", shown)
    assert "The program builds exactly what was written down." in shown
    assert phases(chat_server).count("locate_fault") == 1
    assert "rebuild" not in phases(chat_server)
    assert "'4'" in run.software.text("build_model.py")


def test_agents_alone_build_anew_what_simulation_made_them_mend(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(LOOP, spoil=set_value("Error", Inputs="++"))
    run = simulate_company(chat_server, tmp_path, office, acceptance=WANTED, writer="agents")
    assert run.success, run.reason
    assert phases(chat_server)[-2:] == ["rebuild", "report"]


@pytest.mark.parametrize("how", [{"writer": "tool"}, {"by": "qwen2.5-coder-1.5b"}])
def test_what_a_tool_wrote_is_written_anew_when_the_model_was_mended(
        chat_server: ChatServer, tmp_path: Path, how: dict[str, str]) -> None:
    office = Office(LOOP, spoil=set_value("Kp", Gain="40"))
    run = simulate_company(chat_server, tmp_path, office, acceptance=WANTED, **how)
    assert run.success, run.reason
    assert {"build", "rebuild"}.isdisjoint(phases(chat_server))
    assert phases(chat_server).count("locate_fault") == 1


def test_without_the_locator_nothing_is_mended(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(LOOP, spoil=set_value("Kp", Gain="40"))
    run = simulate_company(chat_server, tmp_path, office, acceptance=WANTED, without=["locate_fault"])
    assert run.status == "failure"
    assert "reexamine" not in phases(chat_server)


def test_without_an_acceptance_a_wrong_gain_is_not_known(chat_server: ChatServer, tmp_path: Path) -> None:
    run = simulate_company(chat_server, tmp_path, Office(LOOP, spoil=set_value("Kp", Gain="40")))
    assert run.success


def test_a_loop_without_a_solution_goes_to_the_investigator(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(COUNT, spoil_list=leave_out_delay)
    run = simulate_company(chat_server, tmp_path, office)
    assert run.success, run.reason
    assert office.named == {"simulation"}
    shown = said(chat_server, "locate_fault")
    assert "- simulation, error: block Sum: the algebraic loop 'Sum' has no solution" in shown
    assert "put a Memory or a Unit Delay into it" in said(chat_server, "reexamine")
    assert "Delay" in Diagram.parse(run.software.text("model.yaml"), "model.yaml").blocks


def test_what_the_builder_left_out_goes_to_the_builder(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(LOOP, miswrite=forget_line)
    run = simulate_company(chat_server, tmp_path, office, acceptance=WANTED)
    assert run.success, run.reason
    assert office.routes == ["code"]
    shown = said(chat_server, "locate_fault")
    assert "What was built was simulated:" in shown
    assert "Which of the two is at fault?" in shown


def test_a_simulation_without_an_end_is_ended_and_named(
        chat_server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "SECONDS", 0.004)
    office = Office(COUNT, spoil=set_value("Delay", SampleTime="6e-7"))
    run = simulate_company(chat_server, tmp_path, office)
    assert run.success, run.reason
    assert re.search(r"simulation, error: blocks? .*Delay.*: it does not get on: 0.004 s of a processor have brought "
                     r"it to .* of 10 s by steps of 6e-07 s", said(chat_server, "locate_fault"))


def test_who_never_mends_it_makes_no_success(chat_server: ChatServer, tmp_path: Path) -> None:
    class Stubborn(Office):
        def _mend_behaviour(self, names: list[str]) -> None:
            pass

    run = simulate_company(chat_server, tmp_path, Stubborn(LOOP, spoil=set_value("Kp", Gain="40")), acceptance=WANTED)
    assert run.status == "failure"
    assert "It builds.\nIt was simulated by ode45" in run.values["verdict"]["report"]
    assert phases(chat_server).count("locate_fault") == 3
    assert "| overshoot | at most 25 % |" in run.software.text("report.md")


def test_an_acceptance_of_a_signal_that_is_not_there_is_a_finding(chat_server: ChatServer, tmp_path: Path) -> None:
    run = simulate_company(chat_server, tmp_path, Office(LOOP), acceptance=WANTED.replace("Plant", "Speed"))
    assert run.status == "failure"
    report = run.values["verdict"]["report"]
    assert "signal Speed: no block or signal of the model bears this name; there are: Plant" in report


@pytest.mark.parametrize(("wanted", "status"), [
    (None, "success"), ("{signals: {Odd: {final: at most 1}}}", "unjudged")])
def test_what_has_no_kernel_is_said_and_is_no_failure(
        chat_server: ChatServer, tmp_path: Path, wanted: str | None, status: str) -> None:
    kind = "Interpreted MATLAB Function"
    odd = Diagram("odd", {"One": DiagramBlock("Constant"), "Odd": DiagramBlock(kind), "Out": DiagramBlock("Out1")},
                  tuple(map(Wire.read, ["One/1 -> Odd/1", "Odd/1 -> Out/1"])))
    run = simulate_company(chat_server, tmp_path, Office(odd), acceptance=wanted)
    assert run.status == status, run.reason
    assert f"It builds; not simulated: {kind} 'Odd'" in run.values["verdict"]["report"]
    assert f"It builds; not simulated: {kind} 'Odd'" in run.software.text("report.md")


def test_an_acceptance_that_cannot_be_read_ends_the_run_before_a_call(chat_server: ChatServer, tmp_path: Path) -> None:
    run = simulate_company(chat_server, tmp_path, Office(LOOP), acceptance="{signals: {Plant: {final: 1}}}")
    assert not run.success
    assert chat_server.requests == []
    assert "the input `acceptance`:1: signals.Plant.final: a number alone does not say how near" in run.reason


def test_an_acceptance_is_a_file_with_traces_beside_it(chat_server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "wanted.yaml").write_text("stop: 20\nsignals: {Plant: {trace: {file: plant.csv, absolute: 0.01}}}\n")
    (tmp_path / "plant.csv").write_text("time,Plant\n0,0\n20,0.8\n")
    run = simulate_company(chat_server, tmp_path, Office(LOOP), acceptance=str(tmp_path / "wanted.yaml"),
                           traces=str(tmp_path / "plant.csv"))
    assert run.success, run.reason


def test_a_given_model_is_simulated_after_its_change(chat_server: ChatServer, tmp_path: Path) -> None:
    spoiled = replace(LOOP, blocks={**LOOP.blocks, "Kp": DiagramBlock("Gain", {"Gain": "40"})})

    class Changer(Office):
        def _investigate_change(self, said: list[str]) -> str:
            self.seen = self._look(None)
            return '{"remove": [], "add": [], "disconnect": [], "connect": [], "set": [{"block": "Kp", "parameters": ' \
                   '{"Gain": "4"}}]}'

    run = simulate_company(chat_server, tmp_path, Changer(LOOP), model=spoiled.text().encode(), acceptance=WANTED,
                           task="Make the gain 4")
    assert run.success, run.reason
    assert "What was changed" in run.software.text("report.md")


def test_a_simulated_run_plays_again_without_a_model(chat_server: ChatServer, tmp_path: Path) -> None:
    run = simulate_company(chat_server, tmp_path, Office(LOOP, spoil=set_value("Kp", Gain="40")), acceptance=WANTED)
    asked = len(chat_server.requests)
    again = chatdev.replay(run.folder)
    assert again.success, again.reason
    assert again.values["verdict"] == run.values["verdict"]
    assert len(chat_server.requests) == asked
