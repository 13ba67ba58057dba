"""`chatdev eval simulink`: our models as pictures and words over a real server, judged by building them."""

from __future__ import annotations

import base64
import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.config.schema import PhaseStep, walk
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.evaluation import SimulinkModels, _behaviour, add_review_ablations
from chatdev.departments.simulink.metric import compare
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.views import write_program
from chatdev.evaluation.variants import variants
from tests.departments.simulink.office import MISTAKES, Office
from tests.support.chat_server import ChatServer, Received

WRITER = """
company: writer
about: One call writes the program that builds a model.
inputs:
  task: {about: What to build.}
  picture: {about: Its picture., kind: image}
  explanation: {about: What it is for.}
  list: {about: Its blocks and connections., kind: file}
roles: {engineer: {title: Engineer, prompt: You build models.}}
phases:
  coding:
    about: Write the program.
    assistant: engineer
    reads: ["task?", "picture?", "explanation?", "list?"]
    writes: software
    rounds: 1
    solution: {form: files, as_file: build_model.py}
    opening: "{{ task }} {{ explanation or '' }} {{ list or '' }}"
chain:
  - phase: coding
  - {tool: simulink.execute, writes: test}
success: test.passed
"""


def model(name: str) -> Diagram:
    return reference_models()[name].diagram


def without(diagram: Diagram, block: str) -> Diagram:
    wires = tuple(wire for wire in diagram.wires if block not in (wire.source.block, wire.target.block))
    return replace(diagram, blocks={name: each for name, each in diagram.blocks.items() if name != block}, wires=wires)


def answered(request: Received) -> str:
    """The model of one task, one with a block too few, a program that MATLAB refuses, and no program."""
    asked = str(request.body["messages"])
    if "terminal voltage" in asked:
        return fenced(write_program(model("droop_loop")))
    if "tank" in asked:
        return fenced(write_program(without(model("pump_relay"), "Record")))
    if "ball" in asked:
        return fenced(write_program(model("spring_ball")).replace("simulink/Math Operations/Sum", "simulink/Sums/Sum"))
    return "I see a picture with lines."


def fenced(program: str) -> str:
    return f"build_model.py\n```python\n{program}```"


def evaluated(server: ChatServer, folder: Path, *more: str) -> Result:
    (folder / "writer").mkdir(exist_ok=True)
    (folder / "writer" / "company.yaml").write_text(WRITER, encoding="utf-8")
    server.route(answered)
    return CliRunner().invoke(command_line, [
        "eval", "simulink", "--companies", str(folder / "writer"), "--model", "gpt-4o", "--base-url", server.url,
        "--quiet", *more])


def rows() -> dict[str, dict[str, Any]]:
    done = CliRunner().invoke(command_line, ["eval", "report", "--study", "simulink", "--format", "csv"])
    assert done.exit_code == 0, done.output
    return {row["name"]: row for row in csv.DictReader(io.StringIO(done.stdout))}


@pytest.mark.tool
def test_models_are_built_from_pictures_and_compared_with_what_was_drawn(chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, here, "--tasks", "droop_loop,pump_relay,spring_ball,thyristor_dimmer")
    assert done.exit_code == 0, done.output
    found = rows()
    shown = ("accuracy", "precision", "runs", "exact", "outcome")
    assert [found["droop_loop"][name] for name in shown] == ["1.0", "1.0", "1.0", "1.0", "built"]
    assert [found[name]["simulates"] for name in ("droop_loop", "pump_relay", "spring_ball")] == ["1.0", "1.0", "0.0"]
    assert [found[name]["accepted"] for name in ("droop_loop", "pump_relay", "spring_ball")] == ["1.0", "1.0", "0.0"]
    assert float(found["pump_relay"]["accuracy"]) == pytest.approx((4 / 5 + 4 / 6) / 2)
    assert [found["pump_relay"][name] for name in shown[1:]] == ["1.0", "1.0", "0.0", "built"]
    assert [found["spring_ball"][name] for name in shown] == ["0.0", "0.0", "0.0", "0.0", "raised"]
    assert "There is no block named 'simulink/Sums/Sum'" in found["spring_ball"]["detail"]
    assert [found["thyristor_dimmer"][name] for name in shown[:4]] == ["0.0"] * 4
    assert (found["droop_loop"]["area"], found["droop_loop"]["size"], found["droop_loop"]["set"]) == (
        "control", "up to 10", "open")


@pytest.mark.tool
def test_the_paper_s_figures_stand_beside_those_of_the_study(chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, here, "--tasks", "droop_loop,sample_counter")
    table = done.stdout.partition("Beside the paper")[2].splitlines()
    assert "accuracy (the nine)" in table[1]
    assert table[2].split()[-5:] == ["–", "0.945", "9", "$0.1700", "275"]
    assert next(line for line in table if line.startswith("writer")).split()[1:5] == ["0.500", "2", "1.000", "1"]
    assert "What differs" in done.stdout


@pytest.mark.tool
def test_the_model_sees_the_picture_and_its_explanation_alone(chat_server: ChatServer, here: Path) -> None:
    assert evaluated(chat_server, here, "--tasks", "droop_loop").exit_code == 0
    content = chat_server.requests[-1].body["messages"][-1]["content"]
    texts = " ".join(part["text"] for part in content if part["type"] == "text")
    pictures = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    assert "Build the model that the picture shows." in texts
    assert "no-load voltage of 12 V" in texts
    assert "Gain" not in texts
    assert base64.b64decode(pictures[0].partition(",")[2]) == SimulinkModels().inputs(
        SimulinkModels().tasks()[0])["picture"]


@pytest.mark.tool
@pytest.mark.parametrize("given", ["description", "list"])
def test_words_and_lists_need_no_picture(given: str, chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, here, "--tasks", "droop_loop", "--input", given)
    assert done.exit_code == 0, done.output
    content = str(chat_server.requests[-1].body["messages"])
    assert "image_url" not in content
    assert ("Load Conductance/1 -> Inner Resistance/1" in content) is (given == "list")
    assert ("inner resistance of 0.4 Ohm" in content) is (given == "description")


@pytest.mark.tool
def test_the_smallest_models_may_be_taken_alone(chat_server: ChatServer, here: Path) -> None:
    done = evaluated(chat_server, here, "--smallest", "2", "--input", "description")
    assert "2 jobs: 2 tasks × writer" in done.stdout
    assert rows().keys() == {"droop_loop", "pump_relay"}


@pytest.mark.usefixtures("here")
def test_a_model_of_the_other_half_is_not_there(chat_server: ChatServer, tmp_path: Path) -> None:
    done = evaluated(chat_server, tmp_path, "--tasks", "pendulum", "--half", "unseen")
    assert (done.exit_code, chat_server.requests) == (2, [])
    assert "there is no model 'pendulum' in the set 'unseen'" in done.output


@pytest.mark.parametrize(("name", "block", "parameters", "simulates", "accepted"), [
    ("spring_ball", "", {}, 1, 1), ("spring_ball", "Gravity", {"Value": "-7"}, 1, 0),
    ("pid_antiwindup", "", {}, 1, 1), ("electric_car", "", {}, 1, 1),
    ("spring_ball", "Height", None, 1, None)])
def test_what_is_built_is_held_against_what_the_right_model_does(
        name: str, block: str, parameters: dict[str, str] | None, simulates: float | None,
        accepted: float | None) -> None:
    built = model(name)
    if parameters:
        built = replace(built, blocks={**built.blocks, block: replace(built.blocks[block], parameters=parameters)})
    if parameters is None:  # another name
        built = Diagram.parse(built.text().replace(block, "Altitude"), "m")
    assert _behaviour(name, built) == {"simulates": simulates, "accepted": accepted}


def test_of_a_model_that_does_not_simulate_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatdev.departments.simulink.evaluation.acceptance_of", lambda _: "")
    assert _behaviour("spring_ball", model("spring_ball")) == {"simulates": None, "accepted": None}


def test_both_halves_together_are_all_models() -> None:
    halves = {half: [task.name for task in SimulinkModels(half=half).tasks()] for half in ("open", "unseen", "all")}
    assert [len(names) for names in halves.values()] == [19, 10, 29]
    assert sorted(halves["open"] + halves["unseen"]) == sorted(halves["all"])


def test_a_list_has_every_block_and_connection() -> None:
    data = SimulinkModels("list")
    given = json.loads(data.inputs(data.tasks()[0])["list"])
    assert [block["name"] for block in given["blocks"]] == list(model("droop_loop").blocks)
    assert len(given["connections"]) == 5


def test_the_ablations_leave_reviewer_and_locator_out() -> None:
    found = list(add_review_ablations(variants(["simugen"], models=["m"])))
    assert [variant.name for variant in found] == [
        "simugen · m", *(f"simugen {what} · m" for what in (
            "by agents alone", "without reviewer", "without locator", "without both"))]
    phases = {variant.short_name: {step.phase for _, step in walk(variant.load().config.chain)
                                   if isinstance(step, PhaseStep)} for variant in found}
    whole = phases["simugen"]
    assert whole - phases["simugen without reviewer"] == {"unit_test_review", "reexamine"}
    assert whole - phases["simugen without locator"] == {"locate_fault"}
    assert whole - phases["simugen without both"] == {"unit_test_review", "reexamine", "locate_fault"}
    assert [variant.load().config.inputs["writer"].default for variant in found] == ["builder", *["agents"] * 4]


class Offices:
    """An office for each run, one after the other: in one task a block is missed, in the other the builder takes a
    wrong path."""

    def __init__(self) -> None:
        self.office = Office(model("spring_ball"))

    def __call__(self, request: Received) -> str:
        if request.headers["X-ChatDev-Phase"] == "investigate_blocks":
            name, mistake = (("spring_ball", "misses a block") if "ball" in str(request.body["messages"])
                             else ("pump_relay", "takes a wrong path"))
            self.office = Office(model(name), **MISTAKES[mistake])
        return self.office(request)


@pytest.mark.tool
def test_each_ablation_loses_what_its_agent_would_have_mended(chat_server: ChatServer, here: Path) -> None:
    chat_server.route(Offices())
    done = CliRunner().invoke(command_line, [
        "eval", "simulink", "--companies", "simugen", "--model", "gpt-4o", "--base-url", chat_server.url, "--quiet",
        "--ablations", "--tasks", "spring_ball,pump_relay", "--at-once", "1"])
    assert done.exit_code == 0, done.output
    told = CliRunner().invoke(command_line, ["eval", "report", "--study", "simulink", "--format", "json"])
    runs = {(row["variant"], row["name"]): (row["accuracy"], row["runs"]) for row in json.loads(told.stdout)["rows"]}
    right, nothing = (1.0, 1.0), (0.0, 0.0)
    missed, whole = model("spring_ball"), "Acceleration"
    found = compare(missed, without(missed, whole)).accuracy
    assert {name: [runs[name, task] for task in ("spring_ball", "pump_relay")] for name, _ in runs} == {
        "simugen": [right, right], "simugen by agents alone": [right, right],
        "simugen without reviewer": [(pytest.approx(found), 1.0), right], "simugen without locator": [right, nothing],
        "simugen without both": [(pytest.approx(found), 1.0), nothing]}
