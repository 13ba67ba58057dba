"""The baselines of agents4plc: what they ask, and what they read of the checker and the prover."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.paths import settings_file
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.tool
TASK = Path(__file__).parents[2] / "benchmarks" / "data" / "plc_simple" / "valve_pair"
INTERFACE, RIGHT = ((TASK / f"{name}.st").read_text(encoding="utf-8") for name in ("interface", "solution"))
REQUIREMENT = f"{(TASK / 'requirement.md').read_text(encoding='utf-8')}\n{INTERFACE}"
WRONG = RIGHT.replace("Fill AND NOT Drain", "Fill")
FAULTY = RIGHT.replace("Fill AND", "Fil AND")


def made(company: str, server: ChatServer, tmp_path: Path, programs: list[str], **inputs: Any) -> Run:
    """The run of a company whose model writes one of these programs after the other."""
    settings_file().parent.mkdir(parents=True, exist_ok=True)
    settings_file().write_text("models: [{match: [m], drafts_at_once: 1}]", encoding="utf-8")
    replies = iter([f"main.st\n```\n{program}```" for program in programs])
    server.route(lambda request: next(replies))
    return Company.load(company).run(REQUIREMENT, model="m", base_url=server.url, warehouse=tmp_path, inputs=inputs)


def asked(server: ChatServer) -> list[str]:
    """The newest message of each request."""
    return [str(request.body["messages"][-1]["content"]) for request in server.requests]


def test_one_call_reads_the_requirement_and_its_interface(chat_server: ChatServer, tmp_path: Path) -> None:
    run = made("single_plc", chat_server, tmp_path, [RIGHT])
    assert run.software.text("main.st") == RIGHT
    (opening,) = asked(chat_server)
    assert "The valves are never open together" in opening
    assert "Inlet : BOOL;" in opening
    assert "will be proved" not in opening


@pytest.mark.parametrize(("program", "status"), [(RIGHT, "success"), (WRONG, "failure")])
def test_properties_that_are_given_are_shown_and_judged(chat_server: ChatServer, tmp_path: Path, program: str,
                                                        status: str) -> None:
    run = made("single_plc", chat_server, tmp_path, [program], properties=TASK / "properties.json")
    assert run.status == status, run.reason
    assert "forbidden: instance.Inlet AND instance.Outlet" in asked(chat_server)[0]


def test_the_first_draft_that_compiles_is_kept(chat_server: ChatServer, tmp_path: Path) -> None:
    run = made("single_plc_drafts", chat_server, tmp_path, [FAULTY, WRONG, RIGHT])
    assert run.software.text("main.st") == WRONG
    assert len(chat_server.requests) == 2


def test_one_agent_with_tools_mends_what_the_prover_shows(chat_server: ChatServer, tmp_path: Path) -> None:
    run = made("single_plc_tools", chat_server, tmp_path, [WRONG, RIGHT], properties=TASK / "properties.json")
    assert run.success, run.reason
    _, report = asked(chat_server)
    assert "plc.check" in str(chat_server.requests[0].body)
    assert "VIOLATED: Never both." in report
