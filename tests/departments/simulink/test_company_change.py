"""A model that is given is changed: only what is asked for, and the difference is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.departments.simulink.agreement import to_investigation
from chatdev.departments.simulink.change import change_model
from chatdev.departments.simulink.company_tools import review_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.reference_models import reference_models
from tests.departments.simulink.office import Office
from tests.support.chat_server import ChatServer

BALL = reference_models()["spring_ball"].diagram
NOTHING: dict[str, list[Any]] = {"remove": [], "add": [], "set": [], "disconnect": [], "connect": []}
SOFTER = {**NOTHING, "set": [{"block": "Floor Stiffness", "parameters": {"Gain": "-2000"}}],
          "add": [{"name": "Speed Scope", "type": "Scope", "parameters": {}}],
          "connect": ["Velocity/1 -> Speed Scope/1"]}
REQUEST = "Make the floor softer (2000), and show the speed on a scope of its own."


class Changing(Office):
    """Asks for one change after the other, and passes everything else on as it reads it."""

    changes: list[dict[str, Any]]
    spoils = False

    def _investigate_change(self, _said: list[str]) -> str:
        return json.dumps(self.changes.pop(0))

    def _reviewer(self, said: list[str]) -> str:
        if not self.spoils or len(said) > 1:
            return "<SOLUTION>"
        return "Mend the gravity: it is -9.8."

    def _unit_test_review(self, said: list[str]) -> str:
        found = to_investigation(change_model(BALL, SOFTER).model)
        found["blocks"][0]["parameters"] = {"Value": "-9.8"}
        return json.dumps(found)


def change(server: ChatServer, folder: Path, *changes: dict[str, Any], spoils: bool = False) -> Run:
    office = Changing(change_model(BALL, changes[-1]).model)
    office.changes, office.spoils = list(changes), spoils
    server.route(office)
    return Company.load("simugen").run(REQUEST, model="m", base_url=server.url, warehouse=folder / "warehouse",
                                       name="Model", inputs={"model": BALL.text().encode()})


@pytest.mark.tool
def test_only_what_is_asked_for_changes_and_the_report_tells_it(chat_server: ChatServer, tmp_path: Path) -> None:
    run = change(chat_server, tmp_path, SOFTER)
    assert run.success, run.reason
    built = Diagram.parse(run.software.text("model.yaml"), "model.yaml")
    assert {name: block.position for name, block in BALL.blocks.items()} == \
        {name: built.blocks[name].position for name in BALL.blocks}
    assert built.blocks["Floor Stiffness"].parameters["Gain"] == "-2000"
    assert built.blocks["Speed Scope"].position is not None
    report = run.software.text("report.md")
    assert "## What was changed" in report
    told = report.partition("## What was changed")[2]
    assert "~ block Floor Stiffness: Gain -5000 -> -2000" in told
    assert "+ block Speed Scope: Scope" in told
    assert "Velocity/1 -> Speed Scope/1" in told
    assert "Gravity" not in told
    assert [request.headers["X-ChatDev-Phase"] for request in chat_server.requests] == \
        ["investigate_change", "unit_test_review", "report"]


@pytest.mark.tool
def test_a_change_that_cannot_be_done_goes_back_with_the_reason(chat_server: ChatServer, tmp_path: Path) -> None:
    odd = {**SOFTER, "set": [{"block": "Flor Stiffness", "parameters": {"Gain": "-2000"}}]}
    run = change(chat_server, tmp_path, odd, SOFTER)
    assert run.success, run.reason
    told = str(chat_server.requests[1].body["messages"])
    assert "there is no block 'Flor Stiffness'; did you mean 'Floor Stiffness'?" in told


@pytest.mark.tool
def test_a_change_that_is_never_carried_out_is_no_success(chat_server: ChatServer, tmp_path: Path) -> None:
    run = change(chat_server, tmp_path, *[NOTHING] * 4)
    assert run.status == "failure"
    assert "The change was not carried out.\nNothing is changed." in run.values["verdict"]["report"]


@pytest.mark.tool
def test_what_nobody_asked_to_change_is_not_let_go(chat_server: ChatServer, tmp_path: Path) -> None:
    run = change(chat_server, tmp_path, SOFTER, spoils=True)
    assert run.success, run.reason
    told = str([request.body["messages"] for request in chat_server.requests])
    assert "the block Gravity is changed, and nobody asked for that" in told
    built = Diagram.parse(run.software.text("model.yaml"), "model.yaml")
    assert built.blocks["Gravity"].parameters == {"Value": "-9.81"}


@pytest.mark.tool
def test_what_a_review_mends_of_a_change_is_built(chat_server: ChatServer, tmp_path: Path) -> None:
    """The speed is a scope's second input, and the scope has only one."""
    short = {**NOTHING, "connect": ["Velocity/1 -> Record/2"]}
    whole = {**short, "set": [{"block": "Record", "parameters": {"NumInputPorts": "2"}}]}
    office = Changing(change_model(BALL, whole).model)
    office.changes = [short]
    office._reviewer = lambda said: Office._reviewer(office, said)  # type: ignore[method-assign]  # passes findings on
    office._unit_test_review = lambda said: json.dumps(to_investigation(office.truth))  # type: ignore[method-assign]
    chat_server.route(office)
    run = Company.load("simugen").run("Show the speed, too.", model="m", base_url=chat_server.url, name="Model",
                                      warehouse=tmp_path / "warehouse", inputs={"model": BALL.text().encode()})
    assert run.success, run.reason
    built = Diagram.parse(run.software.text("model.yaml"), "model.yaml")
    assert built.blocks["Record"].parameters["NumInputPorts"] == "2"
    assert "What was asked for:" in str(chat_server.requests[1].body["messages"])


@pytest.mark.parametrize(("step", "entry", "problem"), [
    ("remove", "Ball", "there is no block 'Ball'"),
    ("add", {"name": "Record", "type": "Scope"}, "there is a block of that name"),
    ("add", {"name": "New"}, "the type missing"),
    ("set", "Gain", 'write {"block"'),
    ("set", {"block": "Gravity", "parameters": {"Value": {"a": 1}}}, "is no value that MATLAB takes"),
    ("disconnect", "Gravity/1 -> Record/1", "there is no such line"),
    ("connect", "Gravity to Record", "Block/1 -> Other/1"),
    ("connect", "Gravity/1 -> Tape/1", "there is no block 'Tape'"),
])
def test_each_step_that_cannot_be_done_is_named(step: str, entry: Any, problem: str) -> None:
    made = change_model(BALL, {**NOTHING, step: [entry]})
    assert any(problem in one for one in made.problems), made.problems


def test_a_block_that_goes_takes_its_lines_with_it() -> None:
    made = change_model(BALL, {**NOTHING, "remove": ["Record"]})
    assert made.problems == []
    assert "Record" not in made.model.blocks
    assert len(made.model.wires) == len(BALL.wires) - 1


def test_a_block_that_comes_may_be_named_by_its_icon() -> None:
    made = change_model(BALL, {**NOTHING, "add": [{"name": "Log", "type": "Log"}]})
    assert made.model.blocks["Log"].type == "Math Function"
    assert made.model.blocks["Log"].parameters == {"Operator": "log"}


@pytest.mark.parametrize("spoil", ["block", "parameter", "line", "new line"])
def test_untouched_things_are_guarded(spoil: str) -> None:
    found = to_investigation(BALL)
    if spoil == "block":
        found["blocks"] = found["blocks"][1:]
    elif spoil == "parameter":
        found["blocks"][0]["parameters"]["Value"] = "9"
    elif spoil == "line":
        found["connections"] = found["connections"][1:]
    else:
        found["connections"].append("Height/1 -> Acceleration/2")
    errors = [one.message for one in review_investigation(found, given=BALL, touched=["Record"])
              if "nobody asked" in one.message]
    assert errors
    assert not [one for one in review_investigation(to_investigation(BALL), given=BALL) if "nobody" in one.message]
