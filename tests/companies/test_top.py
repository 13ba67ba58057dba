"""The top company, whole: a scripted model proposes processes and works through them, with the real tools."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.departments.process.pool import InstanceOutcome, format_instance
from chatdev.departments.process.pool_store import InstancePool
from chatdev.departments.process.process_company import Experience, ProcessCompany
from chatdev.errors import ConfigError
from tests.departments.process.office import COMPANY, REPLIES, SHORT, TASK, WRONG
from tests.support.chat_server import ChatServer


def develop(server: ChatServer, warehouse: Path, replies: Mapping[str, Any] | None = None, task: str = TASK,
            **inputs: Any) -> Run:
    """Run the company; replies are found by the activity's place, else by its phase."""
    known = {**REPLIES, **(replies or {})}
    server.route(lambda request: known.get(request.headers["X-ChatDev-Activity"],
                                           known.get(request.headers["X-ChatDev-Phase"])))
    return Company.load("top").run(task, model="m", base_url=server.url, warehouse=warehouse,
                                   inputs={"pool": "", **inputs})


def phases_asked(server: ChatServer) -> list[str]:
    """The phases of the requests, each as often as it began."""
    asked = [request.headers["X-ChatDev-Phase"] for request in server.requests]
    return [name for before, name in zip(["", *asked], asked, strict=False) if name != before]


def opening(server: ChatServer, number: int = 0) -> str:
    """What the Process Manager reads, the `number`-th time."""
    asked = [one for one in server.requests if one.headers["X-ChatDev-Phase"] == "process_generation"]
    return str(asked[number].body["messages"][-1]["content"])


@pytest.mark.tool
def test_a_proposed_process_is_run_and_nothing_else(chat_server: ChatServer, tmp_path: Path) -> None:
    run = develop(chat_server, tmp_path)
    assert run.success, run.reason
    assert phases_asked(chat_server) == ["process_generation", *SHORT.split(" → ")]
    assert run.values["instance"] == SHORT.split(" → ")
    assert run.values["proposal"]["refused"] == []
    asked = chat_server.requests[0]
    assert asked.body["temperature"] == 0.6
    assert "- Manual: Write the user manual. It needs modality and language and software." in opening(chat_server)


@pytest.mark.tool
def test_all_fourteen_phases_run_in_their_default_order(chat_server: ChatServer, tmp_path: Path) -> None:
    """What was wrong at first is summed up by the Tester and mended."""
    order = format_instance(COMPANY.default)
    run = develop(chat_server, tmp_path, {"Coding": WRONG, "CodeComplete": WRONG, "Annotation": WRONG}, process=order)
    assert run.success, run.reason
    asked = phases_asked(chat_server)
    assert asked == [name for name in COMPANY.default if name != "CodeComplete"]  # nothing is unfinished
    assert len(COMPANY.default) == 14
    told = {one.headers["X-ChatDev-Phase"]: str(one.body["messages"]) for one in chat_server.requests}
    assert "Goodbye" in told["TestErrorSummary"]
    assert "Line 3 greets wrongly." in told["TestModification"]
    assert "It loads no packages" in told["EnvironmentDoc"]


@pytest.mark.tool
def test_a_process_that_cannot_be_run_is_told_and_kept_on_record(chat_server: ChatServer, tmp_path: Path) -> None:
    run = develop(chat_server, tmp_path, {
        "repeat#1/pass-1/process_generation#1/round-1/assistant": "<SOLUTION>\nDemandAnalysis → UsernameSet → Coding",
        "repeat#1/pass-2/process_generation#1/round-1/assistant": "<SOLUTION>\nLanguageChoose → Coding"})
    assert run.success, run.reason
    assert run.values["instance"] == SHORT.split(" → ")
    refused = run.values["proposal"]["refused"]
    assert [one["kinds"] for one in refused] == [["unknown phase"], ["missing solution"]]
    assert "there is no phase UsernameSet" in opening(chat_server, 1)
    assert "LanguageChoose reads `modality`, which nothing before it writes" in opening(chat_server, 2)


@pytest.mark.tool
def test_after_three_that_cannot_be_run_the_default_process_is(chat_server: ChatServer, tmp_path: Path) -> None:
    run = develop(chat_server, tmp_path, {"process_generation": "<SOLUTION>\nLet us begin at once."})
    assert run.success, run.reason
    assert run.values["instance"] == list(COMPANY.default)
    assert [one["kinds"] for one in run.values["proposal"]["refused"]] == [["empty"]] * 3


def test_a_process_can_be_proposed_without_developing_anything(chat_server: ChatServer, tmp_path: Path) -> None:
    run = develop(chat_server, tmp_path, develop="no")
    assert run.values["instance"] == SHORT.split(" → ")
    assert phases_asked(chat_server) == ["process_generation"]
    assert not run.success
    assert not run.software


@pytest.mark.parametrize(("process", "why"), [("Coding → Manual", "Coding reads `modality`"),
                                              ("DemandAnalysis → Kooding", "there is no phase Kooding"),
                                              ("DemandAnalysis → LanguageChoose", "no phase of it writes the software"),
                                              ("Manual → " * 61 + "Manual", "more than 60 phases")])
def test_a_given_process_that_cannot_be_run_is_refused(chat_server: ChatServer, tmp_path: Path, process: str,
                                                       why: str) -> None:
    run = develop(chat_server, tmp_path, process=process)
    assert run.status == "error"
    assert why in run.reason
    assert not chat_server.requests


@pytest.mark.tool
def test_what_the_users_pool_teaches_stands_in_the_prompt(chat_server: ChatServer, tmp_path: Path) -> None:
    address = str(tmp_path / "ledger.sqlite")
    pool = InstancePool(address, "mine", COMPANY.default)
    long = ("DemandAnalysis", "LanguageChoose", "DesignReview", "Coding", "Annotation")
    pool.add([InstanceOutcome(tuple(SHORT.split(" → ")), True), InstanceOutcome(long, False)])
    pool.close()
    run = develop(chat_server, tmp_path, pool=f"{address}#mine")
    assert run.success
    assert run.values["knowledge"]["origin"] == f"the pool 'mine' of {address}"
    told = opening(chat_server)
    assert 'First run "DemandAnalysis". Then run "LanguageChoose". Then run "Coding". Finally run "Manual".' in told
    assert SHORT in told
    assert format_instance(long) not in told


def test_the_pool_of_another_company_is_refused(chat_server: ChatServer, tmp_path: Path) -> None:
    address = str(tmp_path / "ledger.sqlite")
    InstancePool(address, "mine", ("Sketch", "Build")).close()
    with pytest.raises(ConfigError, match="was made for other phases"):
        develop(chat_server, tmp_path, pool=f"{address}#mine")
    assert not chat_server.requests


def test_given_experience_goes_before_everything_else(chat_server: ChatServer, tmp_path: Path) -> None:
    given = Experience("First run \"DemandAnalysis\".\n", (("DemandAnalysis", "Coding"),), "a test")
    develop(chat_server, tmp_path, experience=given.to_json().encode(), develop="no")
    assert 'First run "DemandAnalysis".' in opening(chat_server)
    assert "DemandAnalysis → Coding\n" in opening(chat_server)


@pytest.mark.parametrize("text", ["", "[1]", "{}", '{"text": 1, "origin": "", "instances": []}', "[" * 500,
                                  '{"text": "", "origin": "", "instances": ["Sketch → Build"]}',
                                  '{"text": "", "origin": "", "instances": 7}'])
def test_a_broken_experience_is_named(chat_server: ChatServer, tmp_path: Path, text: str) -> None:
    run = develop(chat_server, tmp_path, experience=(text or " {").encode(), develop="no")
    assert run.status == "error"
    assert "the input `experience`" in run.reason
    assert not chat_server.requests


def test_a_company_without_processes_is_told_apart() -> None:
    with pytest.raises(ConfigError, match="runs no proposed processes"):
        ProcessCompany.of(Company.load("chatdev").config)
