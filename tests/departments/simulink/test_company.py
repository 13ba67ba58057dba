"""The company simugen, whole: scripted agents over HTTP read a picture, review, build, mend and report with the real
tools."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company, Run
from chatdev.departments.simulink import execute
from chatdev.departments.simulink.agreement import to_investigation
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.painter import draw, draw_png
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.errors import ConfigError
from tests.departments.simulink import office as office_of
from tests.departments.simulink.office import MISTAKES, Office, miss_block, phases, said
from tests.support.chat_server import ChatServer, Received, Scripted

BALL = reference_models()["spring_ball"].diagram
PICTURE = draw_png(BALL)
WORDS = reference_models()["spring_ball"].explanation


def run_company(server: ChatServer, folder: Path, office: Any, company: str = "simugen", **given: Any) -> Run:
    return office_of.run_company(server, folder, office, company, **{"picture": PICTURE, **given})


@pytest.mark.tool
def test_a_picture_becomes_a_model_with_five_calls(chat_server: ChatServer, tmp_path: Path) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL))
    assert run.success, run.reason
    assert phases(chat_server) == ["investigate_blocks", "investigate_connections", "unit_test_review", "build",
                                   "report"]
    for request in chat_server.requests[:3]:
        parts = [part for message in request.body["messages"] if isinstance(message["content"], list)
                 for part in message["content"]]
        (image,) = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        assert image == f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    assert set(run.software) == {"build_model.py", "model.yaml", "model.svg", "simulation.csv", "simulation.svg",
                                 "report.md"}
    built = Diagram.parse(run.software.text("model.yaml"), "model.yaml")
    assert (set(built.blocks), set(built.wires)) == (set(BALL.blocks), set(BALL.wires))
    assert run.software.text("model.svg") == draw(built)
    assert "![The model spring_ball](model.svg)" in run.software.text("report.md")
    assert run.values["verdict"]["differences"] == []


def test_rounds_show_the_names_first_and_then_what_is_known(chat_server: ChatServer, tmp_path: Path) -> None:
    run_company(chat_server, tmp_path, Office(BALL))
    assert "- Integrator: square with the fraction 1/s" in said(chat_server, "investigate_blocks")
    assert "`InitialCondition`" not in said(chat_server, "investigate_blocks")
    assert "`InitialCondition`" in said(chat_server, "investigate_connections")
    assert "A bouncing ball." in said(chat_server, "investigate_connections")


REPAIRED = {"misses a block": "block list", "misses a block in both rounds": "complete ports",
            "flips a direction": "port types", "doubles a connection": "duplicates",
            "invents a block type": "block list"}


@pytest.mark.tool
@pytest.mark.parametrize("mistake", REPAIRED)
def test_a_check_names_the_mistake_and_the_investigator_mends_it(
        chat_server: ChatServer, tmp_path: Path, mistake: str) -> None:
    office = Office(BALL, **MISTAKES[mistake])
    run = run_company(chat_server, tmp_path, office)
    assert run.success, run.reason
    assert REPAIRED[mistake] in office.named
    assert office.first != office.seen
    assert "locate_fault" not in phases(chat_server)


@pytest.mark.tool
def test_json_as_python_programmers_write_it_is_read(chat_server: ChatServer, tmp_path: Path) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL, **MISTAKES["writes True for true"]))
    assert run.success, run.reason
    assert run.values["investigation"]["blocks"][2]["parameters"] == {"ShowName": "on"}
    assert phases(chat_server).count("investigate_connections") == 1


@pytest.mark.tool
@pytest.mark.parametrize("mistake", ["takes a wrong path", "forgets a line", "counts a port wrongly"])
def test_the_locator_sends_a_fault_of_the_program_to_the_builder(
        chat_server: ChatServer, tmp_path: Path, mistake: str) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL, **MISTAKES[mistake]), writer="agents")
    assert run.success, run.reason
    assert phases(chat_server)[4:-1] == ["locate_fault", "rebuild"]


@pytest.mark.tool
def test_the_locator_sends_a_fault_of_the_model_to_the_investigator(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(BALL, **MISTAKES["flips a direction"])
    run = run_company(chat_server, tmp_path, office, without=["unit_test_review"], writer="agents")
    assert run.success, run.reason
    assert phases(chat_server)[3:-1] == ["locate_fault", *["reexamine"] * 3, "rebuild"]
    roles = [request.headers["X-ChatDev-Role"] for request in chat_server.requests]
    assert roles[4:8] == ["reviewer", "investigator", "reviewer", "builder"]
    assert "spring_ball/Gravity' has no input port 1" in said(chat_server, "reexamine").replace("\\'", "'")


@pytest.mark.tool
@pytest.mark.parametrize(("without", "mistake"), [
    (["unit_test_review", "locate_fault"], "flips a direction"), (["locate_fault"], "takes a wrong path"),
    (["unit_test_review"], "misses a block")])
def test_an_ablation_loses_what_its_agent_would_have_mended(
        chat_server: ChatServer, tmp_path: Path, without: list[str], mistake: str) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL, **MISTAKES[mistake]), without=without, writer="agents")
    assert run.status == "failure"
    assert "rebuild" not in phases(chat_server)


@pytest.mark.tool
def test_a_tool_writes_the_program_where_the_builder_fails(chat_server: ChatServer, tmp_path: Path) -> None:
    class Stubborn(Office):
        def _builder(self, said: list[str]) -> str:
            return "build_model.py\n```python\nprint('I do not know how')\n```"

    run = run_company(chat_server, tmp_path, Stubborn(BALL))
    assert run.success, run.reason
    assert "add_block" in run.software.text("build_model.py")
    assert run.values["executed"]["passed"]


@pytest.mark.tool
def test_a_small_model_gets_its_program_from_the_tool(chat_server: ChatServer, tmp_path: Path) -> None:
    chat_server.route(Office(BALL))
    run = Company.load("simugen").run(WORDS, model="qwen2.5-coder-1.5b", base_url=chat_server.url, name="Model",
                                      warehouse=tmp_path / "warehouse")
    assert run.success, run.reason
    assert "build" not in phases(chat_server)
    assert "square with the fraction" not in said(chat_server, "investigate_blocks")


@pytest.mark.tool
def test_a_list_of_blocks_and_lines_needs_no_investigation(chat_server: ChatServer, tmp_path: Path) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL), picture=None, list=BALL.text().encode())
    assert run.success, run.reason
    assert phases(chat_server) == ["unit_test_review", "build", "report"]
    built = Diagram.parse(run.software.text("model.yaml"), "model.yaml")
    assert {name: block.type for name, block in built.blocks.items()} == \
        {name: block.type for name, block in BALL.blocks.items()}


@pytest.mark.tool
def test_a_list_of_blocks_alone_is_connected_by_the_investigator(chat_server: ChatServer, tmp_path: Path) -> None:
    blocks = json.dumps([{key: one[key] for key in ("name", "type")} for one in to_investigation(BALL)["blocks"]])
    run = run_company(chat_server, tmp_path, Office(BALL), picture=None, list=blocks.encode(), task=WORDS)
    assert run.success, run.reason
    assert phases(chat_server)[0] == "investigate_connections"


@pytest.mark.tool
def test_each_role_may_have_a_model_of_its_own(chat_server: ChatServer, tmp_path: Path) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL), sets=[
        "roles.investigator.model.name=eyes", "roles.builder.model.name=hands"])
    assert run.success, run.reason
    models = {request.headers["X-ChatDev-Role"]: request.body["model"] for request in chat_server.requests}
    assert models == {"investigator": "eyes", "reviewer": "m", "builder": "hands", "writer": "m"}


@pytest.mark.tool
def test_one_call_is_the_baseline(chat_server: ChatServer, tmp_path: Path) -> None:
    office = Office(BALL)

    def answer(request: Received) -> str:
        return office._builder([f"The model: {json.dumps(to_investigation(BALL))}"])

    run = run_company(chat_server, tmp_path, answer, "single_simulink")
    assert run.success, run.reason
    assert len(chat_server.requests) == 1
    assert set(run.software) == {"build_model.py", "model.yaml", "model.svg", "simulation.csv", "simulation.svg",
                                 "report.md"}


def test_a_picture_of_something_else_ends_the_run_with_that_reason(chat_server: ChatServer, tmp_path: Path) -> None:
    no_diagram = {"diagram": False, "why": "a cat on a sofa", "model": "", "blocks": []}
    run = run_company(chat_server, tmp_path, lambda request: json.dumps(no_diagram))
    assert not run.success
    assert "there is no block diagram to build, says the Investigator: a cat on a sofa" in run.reason
    assert len(chat_server.requests) == 1
    assert not set(run.software)


def test_a_model_without_eyes_is_told_with_the_way_out(chat_server: ChatServer, tmp_path: Path) -> None:
    refusal = Scripted(status=400, body={"error": {"message": "image_url is only supported by certain models"}})
    run = run_company(chat_server, tmp_path, lambda request: refusal)
    assert not run.success
    assert "--set roles.investigator.model.name=MODEL" in run.reason
    assert "describe it in words" in run.reason


@pytest.mark.parametrize(("inputs", "says"), [
    ({"list": b"model: a\nblocks: {A: {tipe: Gain}}\n"}, "the input `list`:2"),
    ({"list": b"[{\"name\": \"A\"}]"}, "the input `list`: block 1 has the name 'A' and the type missing"),
    ({"list": b"{\"blocks\": ["}, "the input `list` is no JSON"),
    ({"list": b"[]"}, "the input `list` has no blocks"),
    ({"model": b"nothing"}, "the input `model`: no model"),
    ({"task": ""}, "there is nothing to make a model of"),
    ({"model": BALL.text().encode(), "task": ""}, "say what is to be changed"),
])
def test_what_cannot_be_read_ends_the_run_before_a_call(
        chat_server: ChatServer, tmp_path: Path, inputs: dict[str, Any], says: str) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL), picture=None, **inputs)
    assert not run.success
    assert says in run.reason
    assert chat_server.requests == []


def test_a_damaged_picture_is_refused_before_a_call(chat_server: ChatServer, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="damaged"):
        run_company(chat_server, tmp_path, Office(BALL), picture=PICTURE[:2000])
    assert chat_server.requests == []


@pytest.mark.tool
def test_an_unknown_block_is_told_and_never_guessed(chat_server: ChatServer, tmp_path: Path) -> None:
    """Nobody mends it: the run fails, and names the block."""
    odd = replace(BALL, blocks={**BALL.blocks, "Height": replace(BALL.blocks["Height"], type="Flux Capacitor")})
    run = run_company(chat_server, tmp_path, Office(odd), writer="agents")
    assert run.status == "failure"
    assert "there is no block type 'Flux Capacitor' in the catalogue" in said(chat_server, "unit_test_review")
    assert "There is no block named 'Flux Capacitor'" in run.values["verdict"]["report"]


@pytest.mark.tool
def test_a_reviewer_who_accepts_too_early_makes_no_success(chat_server: ChatServer, tmp_path: Path) -> None:
    class Lenient(Office):
        def _reviewer(self, said: list[str]) -> str:
            return "<SOLUTION>"

    run = run_company(chat_server, tmp_path, Lenient(BALL, spoil_list=miss_block))
    assert run.status == "failure"
    assert "is not connected" in run.values["verdict"]["report"]


@pytest.mark.tool
def test_a_run_plays_again_without_any_model(chat_server: ChatServer, tmp_path: Path) -> None:
    run = run_company(chat_server, tmp_path, Office(BALL, **MISTAKES["flips a direction"]))
    asked = len(chat_server.requests)
    again = chatdev.replay(run.folder)
    assert again.success, again.reason
    assert again.values["verdict"] == run.values["verdict"]
    assert len(chat_server.requests) == asked


@pytest.mark.tool
def test_a_program_without_an_end_is_ended_and_replaced(
        chat_server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(Office):
        def _builder(self, said: list[str]) -> str:
            return "build_model.py\n```python\nwhile True:\n    pass\n```"

    monkeypatch.setattr(execute, "_LIMITS", replace(execute._LIMITS, seconds=1.0))
    run = run_company(chat_server, tmp_path, Endless(BALL))
    assert run.success, run.reason
    assert "still ran after 1 seconds" in said(chat_server, "locate_fault")


@pytest.mark.tool
def test_a_block_whose_ports_nobody_knows_is_not_judged(chat_server: ChatServer, tmp_path: Path) -> None:
    odd = replace(BALL, blocks={**BALL.blocks, "Floor Stiffness": DiagramBlock("MATLAB Function")})
    run = run_company(chat_server, tmp_path, Office(odd))
    assert run.status == "unjudged", run.values["verdict"]["report"]
    assert "Nobody knows the ports of: Floor Stiffness" in run.reason
