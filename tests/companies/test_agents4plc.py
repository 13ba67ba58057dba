"""The agents4plc company, whole: a scripted model proposes, writes, mends and plans, with the real tools."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.events import Event, ToolCalled
from chatdev.paths import bundled_folder, settings_file
from tests.support.chat_server import ChatServer, Received

EXAMPLE = bundled_folder("company_config") / "agents4plc" / "examples" / "motor_start_stop"
TASK = (EXAMPLE / "requirement.md").read_text(encoding="utf-8")
RIGHT = (EXAMPLE / "solution.st").read_text(encoding="utf-8")
INTERFACE = RIGHT[:RIGHT.index("VAR CONSTANT")] + "END_FUNCTION_BLOCK\n"
UNCOMPILED = RIGHT.replace("Tripped := FALSE;\nEND_IF;", "Tripped := FALSE;")
HASTY = RIGHT.replace("Tripped := FALSE;", "Tripped = FALSE") + "END_MODULE\n"
VIOLATING = RIGHT.replace(" AND NOT Stop", "")
OTHERWISE = RIGHT.replace("Voltage <= Highest", "Voltage < Highest").replace(" AND NOT Stop", "")
PLANS = [{"approach": "one rung for each output", "steps": ["VoltageOk", "Tripped", "Motor"]},
         {"approach": "stop before start", "steps": ["Stop clears Motor", "Start sets it"]}]
PROPOSED = [
    {"source": "`Stop` stops it and wins over `Start`", "about": "Stop wins.", "pattern": "implication",
     "conditions": ["Stop", "NOT Motor"]},
    {"source": "the motor stops at once and `Tripped` is set", "about": "A trip stops the motor.",
     "pattern": "forbidden", "conditions": ["Tripped AND Motor"]}]
VACUOUS = {"source": "`Stop` stops it and wins over `Start`", "about": "Says nothing.", "pattern": "invariant",
           "conditions": ["Motor OR NOT Motor"]}


def program(text: str) -> str:
    return f"main.st\n```\n{text}```"


def build(server: ChatServer, warehouse: Path, replies: Mapping[str, Any], **options: Any) -> Run:
    """Run the company; replies are found by the activity's place, else by its phase."""
    def answer(request: Received) -> Any:
        return replies.get(request.headers["X-ChatDev-Activity"], replies.get(request.headers["X-ChatDev-Phase"]))

    server.route(answer)
    inputs = {"interface": INTERFACE.encode(), "properties": EXAMPLE / "properties.json"} | options.pop("inputs", {})
    company = Company.load("agents4plc", sets=options.pop("sets", ()))
    return company.run(TASK, model="m", base_url=server.url, warehouse=warehouse,
                       inputs={name: value for name, value in inputs.items() if value is not None}, **options)


def said_in(server: ChatServer, phase: str) -> str:
    """Everything that agents read in a phase, as text."""
    return "\n".join(str(message["content"]) for request in server.requests
                     if request.headers["X-ChatDev-Phase"] == phase for message in request.body["messages"])


@pytest.fixture(autouse=True)
def _own_case_base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.mark.tool
def test_a_syntax_error_then_a_violation_are_mended_by_advice(chat_server: ChatServer, tmp_path: Path) -> None:
    """The compiler's message, then the counterexample, stand before the debugging agent."""
    run = build(chat_server, tmp_path / "warehouse", {
        "drafting": program(UNCOMPILED),
        "debugging#1/round-1/instructor": "LINE: 23 FAULT: IF is not closed PATCH: Tripped := FALSE; END_IF;",
        "debugging#1/round-1/assistant": program(VIOLATING),
        "debugging#1/round-2/instructor": "LINE: 26 FAULT: Stop is not asked for PATCH: Motor := …",
        "debugging#1/round-2/assistant": program(RIGHT)})
    assert run.success, run.reason
    assert run.software.text("main.st") == RIGHT
    told = said_in(chat_server, "debugging")
    assert re.search(r"main.st:\d+:\d+: expected END_IF, found 'END_FUNCTION_BLOCK'", told)
    assert "VIOLATED: Stop wins over Start." in told
    assert re.search(r"scan 1 \(after \d+ ms\): Start = TRUE, Stop = TRUE", told)
    assert said_in(chat_server, "planning") == ""
    assert run.values["verdict"]["verdicts"] == {"PROVED": 8}
    assert run.values["kept"] == {"program": True, "patch": True, "problem": ""}
    papers = {name: (run.folder / "run" / name).read_text(encoding="utf-8")
              for name in (*run.values["documents"]["documents"], "simulation.svg")}
    assert "Stop wins over Start." in papers["verification.html"]
    assert "PROVED" in papers["verification.md"]
    assert "Motor" in papers["simulation.svg"]
    assert "simulation.svg" in (run.folder / "run" / "report.md").read_text(encoding="utf-8")


@pytest.mark.tool
def test_slips_are_mended_without_asking_anybody(chat_server: ChatServer, tmp_path: Path) -> None:
    events: list[Event] = []
    run = build(chat_server, tmp_path / "warehouse", {"drafting": program(HASTY)}, on_event=events.append)
    assert run.success, run.reason
    assert run.software.text("main.st") == RIGHT + "\n"
    (mended,) = [event.summary for event in events if isinstance(event, ToolCalled) and event.tool == "plc.mend"]
    assert "main.st:23:13: expected ':=' (assignment); '=' is the comparison" in mended


@pytest.mark.tool
def test_the_second_plan_is_used_when_the_first_fails(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path / "warehouse", {
        "drafting": program(VIOLATING), "debugging": "It is right as it is.", "retrieval": "Stop has priority.",
        "planning": json.dumps(PLANS), "coding": "<SOLUTION>",
        "foreach#1/item-1/coding#1/round-1/assistant": program(OTHERWISE),
        "foreach#1/item-2/coding#1/round-1/assistant": program(RIGHT)})
    assert run.success, run.reason
    assert run.software.text("main.st") == RIGHT
    assert "The plan: stop before start" in said_in(chat_server, "coding")
    assert "Stop has priority." in said_in(chat_server, "planning")


@pytest.mark.tool
def test_what_fails_in_the_end_is_the_best_version(chat_server: ChatServer, tmp_path: Path) -> None:
    """A plan whose program is worse than the draft takes nothing away."""
    run = build(chat_server, tmp_path / "warehouse", {
        "drafting": program(VIOLATING), "debugging": "It is right as it is.", "retrieval": "Nothing.",
        "planning": json.dumps(PLANS[:1]), "coding": program(OTHERWISE)})
    assert not run.success
    assert run.software.text("main.st") == VIOLATING
    assert run.values["verdict"]["verdicts"] == {"PROVED": 7, "VIOLATED": 1}


@pytest.mark.tool
def test_proposed_properties_are_of_use_before_there_is_code(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path / "warehouse", {
        "specifying#1/round-1/assistant": json.dumps([*PROPOSED, VACUOUS]),
        "specifying": json.dumps(PROPOSED), "drafting": program(RIGHT)}, inputs={"properties": None})
    assert run.success, run.reason
    places = [request.headers["X-ChatDev-Activity"] for request in chat_server.requests]
    assert places == ["specifying#1/round-1/assistant", "specifying#1/round-2/assistant",
                      "drafting#1/round-1/assistant"]
    assert "Says nothing.: it holds whatever the program does" in said_in(chat_server, "specifying")
    assert "whenever `Stop` holds at the end of a scan, `NOT Motor` holds there too" in said_in(chat_server, "drafting")
    assert run.values["requirements"]["given"] is False


@pytest.mark.tool
def test_without_properties_nothing_is_claimed(chat_server: ChatServer, tmp_path: Path) -> None:
    """A run in which nothing was asked to be proved is no success."""
    run = build(chat_server, tmp_path / "warehouse", {"specifying": "[]", "drafting": program(RIGHT)},
                inputs={"properties": None})
    assert not run.success
    assert run.software.text("main.st") == RIGHT
    assert run.values["verdict"]["judged"] is False


@pytest.mark.tool
def test_an_interface_is_declared_where_the_task_shows_none(chat_server: ChatServer, tmp_path: Path) -> None:
    run = build(chat_server, tmp_path / "warehouse", {"declaring": INTERFACE, "drafting": program(RIGHT)},
                inputs={"interface": None})
    assert run.success, run.reason
    assert run.values["program_interface"]["entry"] == "MotorControl"


@pytest.mark.parametrize(("name", "content", "says"), [
    ("interface", b"FUNCTION_BLOCK A VAR_INPUT x : BOOLE; END_VAR END_FUNCTION_BLOCK", "the input `interface`"),
    ("properties", b"{", "the input `properties`: the properties are no JSON"),
    ("properties", b'[{"property": {"pattern_id": "pattern-always"}}]', "there is no pattern_id 'pattern-always'"),
])
def test_a_file_that_cannot_be_kept_ends_the_run_before_a_call(
        chat_server: ChatServer, tmp_path: Path, name: str, content: bytes, says: str) -> None:
    run = build(chat_server, tmp_path / "warehouse", {}, inputs={name: content})
    assert not run.success
    assert says in run.reason
    assert chat_server.requests == []


@pytest.mark.tool
def test_a_small_model_drafts_anew_and_repairs_nothing(chat_server: ChatServer, tmp_path: Path) -> None:
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text("models: [{match: [m], drafts: 2, drafts_at_once: 1, sizes: {program: small}}]",
                               encoding="utf-8")
    run = build(chat_server, tmp_path / "warehouse", {
        "drafting#1/round-1/assistant": program(VIOLATING), "drafting#1/round-1/assistant/draft-2": program(OTHERWISE),
        "drafting#2/round-1/assistant": program(UNCOMPILED), "drafting#2/round-1/assistant/draft-2": program(RIGHT)})
    assert run.success, run.reason
    assert run.software.text("main.st") == RIGHT
    assert {request.headers["X-ChatDev-Phase"] for request in chat_server.requests} == {"drafting"}
    assert "VIOLATED" not in said_in(chat_server, "drafting")
