"""The chatdev company, whole: a scripted model builds a program through every phase, in the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.events import Event, PhaseFinished, StepSkipped
from tests.isolation.hostile import SWELLS, reader_of
from tests.support.chat_server import ChatServer, Received, Scripted

TASK = "Add two numbers: `python main.py` prints `3`."
STUB = "def add(a, b):\n    pass\n\nprint(add(1, 2))"
BROKEN = "def add(a, b):\n    return a + c\n\nprint(add(1, 2))"
GOOD = "def add(a, b):\n    return a + b\n\nprint(add(1, 2))"

def checks(command: str, shows: str) -> str:
    """A Tester's check of one start."""
    return json.dumps([{"about": "tried", "starts": [{"command": command, "shows": [shows]}]}])


HAPPY: dict[str, Any] = {
    "demand_analysis": "<SOLUTION> Command-line application", "language_choice": "<SOLUTION> Python",
    "coding": f"<SOLUTION>\nmain.py\n```python\n{GOOD}\n```", "architecture": "main.py: add(a, b).",
    "checks": checks("python main.py", "3"),
    "code_review": "<SOLUTION>",
    "environment_doc": "<SOLUTION>\n# nothing but Python itself", "manual": "<SOLUTION>\n# Adder\nRun it.",
}


def build(server: ChatServer, warehouse: Path, replies: Mapping[str, Any], **options: Any) -> tuple[Run, list[Event]]:
    """Run the company; replies are found by the activity's place, else by its phase."""
    def answer(request: Received) -> Any:
        headers = request.headers
        return replies.get(headers["X-ChatDev-Activity"], replies.get(headers["X-ChatDev-Phase"]))

    server.route(answer)
    events: list[Event] = []
    company = Company.load("chatdev", without=options.pop("without", ()), sets=options.pop("sets", ()))
    run = company.run(options.pop("task", TASK), model="m", base_url=server.url, warehouse=warehouse,
                      on_event=events.append, **options)
    return run, events


def places(server: ChatServer) -> list[str]:
    return [request.headers["X-ChatDev-Activity"] for request in server.requests]


@pytest.mark.tool
def test_a_happy_chain_costs_one_call_a_phase(chat_server: ChatServer, tmp_path: Path) -> None:
    run, events = build(chat_server, tmp_path, HAPPY)
    assert run.success, run.reason
    assert set(run.software) == {"main.py", "manual.md"}
    assert run.values["modality"] == "Command-line application"
    assert run.values["test"]["examples"] == {"passed": 1, "of": 1}
    endings = {e.phase: e.ending for e in events if isinstance(e, PhaseFinished)}
    assert endings == {"checks": "rounds", "coding": "feedback",
                       "code_review": "consensus", "manual": "rounds"}
    assert len(chat_server.requests) == 4
    assert [e.place for e in events if isinstance(e, StepSkipped)] == [
        "software.given#1", "demand_analysis#1", "language_choice#1", "interface_design#1", "examples#1",
        "software.examples#2", "test_plan#1", "architecture#1", "usage#1", "software.examples#3", "extension#1",
        "code_completion#1", "system_test#1", "software.use#2", "redraft#1",
        "parallel#1/branch-1/environment_doc#1"]


@pytest.mark.tool
def test_a_program_that_needs_packages_gets_its_requirements(chat_server: ChatServer, tmp_path: Path) -> None:
    code = "try:\n    import yaml\nexcept ImportError:\n    yaml = None\nprint(3)"
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding": f"<SOLUTION>\nmain.py\n```python\n{code}\n```", "environment_doc": "PyYAML"})
    assert run.success, run.reason
    assert run.software.text("requirements.txt") == "PyYAML\n"
    asked = chat_server.requests[places(chat_server).index("parallel#1/branch-1/environment_doc#1/round-1/assistant")]
    assert "It loads these packages: PyYAML. One name per line." in str(asked.body["messages"])


@pytest.mark.tool
def test_a_program_is_worth_having_without_its_manual(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {**HAPPY, "manual": "manual.md\n```\n"})
    assert run.success, run.reason
    assert any("optional branch failed" in note for note in run.notes)


@pytest.mark.tool
def test_a_model_that_fails_is_no_success_even_in_an_optional_branch(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {**HAPPY, "manual": Scripted(status=400, body={"error": {"message": "no"}})})
    assert run.status == "error"
    assert run.software.text("main.py") == GOOD + "\n"


@pytest.mark.tool
def test_stubs_are_completed_and_crashes_repaired_by_the_traceback(chat_server: ChatServer,
                                                                               tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding": f"<SOLUTION>\nmain.py\n```python\n{STUB}\n```",
        "code_completion#1/round-1/assistant/ask-1": "<QUESTION> What if they are not numbers?",
        "code_completion#1/round-1/instructor/answer-1": "They are.",
        "code_completion": f"main.py\n```python\n{BROKEN}\n```",
        "system_test": "main.py\n```python\ndef add(a, b):\n    return a + b\n```"})
    assert run.success, run.reason
    assert run.software.text("main.py") == GOOD + "\n"
    asked = chat_server.requests[places(chat_server).index("system_test#1/round-1/assistant/ask-1")]
    assert "NameError: name 'c' is not defined" in str(asked.body["messages"])
    assert "code_completion#1/round-1/instructor/answer-1" in places(chat_server)


@pytest.mark.tool
def test_a_program_that_does_not_compile_is_fixed_before_the_review(chat_server: ChatServer,
                                                                             tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding#1/round-1/assistant": "<SOLUTION>\nmain.py\n```python\nprint((1)\n```",
        "coding#1/round-2/instructor": "Close the bracket."})
    assert run.success, run.reason
    cto = chat_server.requests[places(chat_server).index("coding#1/round-2/instructor")]
    assert "main.py:1: SyntaxError" in str(cto.body["messages"])


@pytest.mark.tool
def test_the_users_command_that_crashes_is_repaired(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding": "<SOLUTION>\nmain.py\n```python\nimport sys\nprint(int('0' + ''.join(sys.argv[1:])))\n```",
        "checks": checks("python main.py x", "usage"),
        "system_test": f"main.py\n```python whole\n{GOOD}\n```"})
    assert run.success, run.reason
    asked = chat_server.requests[places(chat_server).index("system_test#1/round-1/assistant/ask-1")]
    assert "ValueError: invalid literal for int() with base 10: '0x'" in asked.body["messages"][1]["content"]
    assert [place for place in places(chat_server) if place.startswith(("code_review", "redraft"))] == []


@pytest.mark.tool
def test_a_review_cannot_break_a_running_program(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "code_review#1/round-1/instructor": "Use c.", "code_review": f"main.py\n```python\n{BROKEN}\n```",
        "code_review#1/round-2/instructor": "<SOLUTION>"})
    assert run.success, run.reason
    assert run.software.text("main.py") == GOOD + "\n"


@pytest.mark.tool
def test_a_program_that_never_runs_is_no_success(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding": f"<SOLUTION>\nmain.py\n```python\n{BROKEN}\n```",
        "system_test": "I do not know what is wrong.", "redraft": f"main.py\n```python\n{BROKEN}\n```"},
        sets=["phases.system_test.rounds=1"])
    assert run.status == "failure"
    assert run.software.text("main.py") == BROKEN + "\n"
    assert run.reason == "the final test did not pass"


@pytest.mark.tool
@pytest.mark.parametrize("phase", ["code_completion", "checks", "code_review", "system_test", "manual"])
def test_phases_can_be_left_out_without_changing_what_success_means(chat_server: ChatServer, tmp_path: Path,
                                                                    phase: str) -> None:
    run, events = build(chat_server, tmp_path, HAPPY, without=[phase])
    assert run.success, run.reason
    assert phase not in {e.phase for e in events if isinstance(e, PhaseFinished)}


@pytest.mark.tool
def test_what_the_request_says_for_certain_nobody_is_asked(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {**HAPPY, "checks": "[]"},
                   task="Develop a command-line program that adds two numbers.")
    assert run.status == "unjudged"
    assert "whether it works is not known" in run.reason
    assert (run.values["modality"], run.values["language"]) == ("Command-line application", "Python")
    assert {request.headers["X-ChatDev-Phase"] for request in chat_server.requests} == {
        "architecture", "checks", "coding", "code_review", "manual"}


@pytest.mark.tool
def test_a_website_is_made_for_a_browser(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        "demand_analysis": "Web application", "language_choice": "HTML", "interface_design": "A heading.",
        "architecture": "index.html.", "usage": "[]",
        "coding": "index.html\n```html\n<h1>Bread</h1>\n```", "code_review": "<SOLUTION>", "manual": "# Bakery"},
        task="A website for a bakery")
    assert set(run.software) == {"index.html", "manual.md"}
    asked = chat_server.requests[places(chat_server).index("language_choice#1/round-1/assistant")]
    assert "Otherwise HTML for a website whose pages work by themselves" in asked.body["messages"][1]["content"]


@pytest.mark.tool
def test_where_repairs_do_not_help_the_program_is_written_anew(chat_server: ChatServer, tmp_path: Path) -> None:
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding": f"<SOLUTION>\nmain.py\n```python\n{BROKEN}\n```",
        "system_test": f"main.py\n```python\n{BROKEN}\n```", "system_test#1/round-2/instructor": "In add, use b.",
        "redraft": f"main.py\n```python\n{GOOD}\n```"})
    assert run.success, run.reason
    assert run.software.text("main.py") == GOOD + "\n"
    asked = {place.split("#")[0]: chat_server.requests[places(chat_server).index(place)].body["messages"][1]
             for place in ("coding#1/round-1/assistant", "redraft#1/round-1/assistant")}
    told = asked["redraft"].pop("content")
    assert "An earlier program failed" in told
    assert "NameError: name 'c' is not defined" in told
    assert asked["coding"].pop("content").splitlines()[-1] == told.splitlines()[-1]


def test_the_prompts_invite_no_placeholders_and_stay_short(chat_server: ChatServer, tmp_path: Path) -> None:
    build(chat_server, tmp_path, HAPPY, sandbox="none")
    for request in chat_server.requests:
        system = request.body["messages"][0]["content"]
        tools = "You may use these tools" in system  # in words, for a model whose own form of calls is not known
        assert len(system) < (3400 if tools else 1600), request.headers["X-ChatDev-Activity"]
        place = request.headers["X-ChatDev-Activity"]
        writes = any(f"{phase}#1/round-1/assistant" in place for phase in ("architecture", "coding", "manual"))
        assert ("without placeholders" in system) == writes, place
        assert "`pass`" not in system


@pytest.mark.tool
def test_a_result_that_the_request_gives_is_tested_and_mended(chat_server: ChatServer, tmp_path: Path) -> None:
    wrong = GOOD.replace("a + b", "a * b")
    run, events = build(chat_server, tmp_path, {
        **HAPPY, "coding": f"<SOLUTION>\nmain.py\n```python\n{wrong}\n```",
        "system_test": f"main.py\n```python\n{GOOD}\n```"},
        task="`python main.py` prints `3`: it adds 1 and 2.")
    assert run.success, run.reason
    assert run.software.text("main.py") == GOOD + "\n"
    endings = {e.phase: e.ending for e in events if isinstance(e, PhaseFinished)}
    assert endings["system_test"] == "feedback"
    assert "examples" not in endings  # a rule has found it
    told = chat_server.requests[places(chat_server).index("system_test#1/round-1/assistant/ask-1")]
    assert "wanted, as the customer's request says:\n  3\nseen:\n  2\n" in told.body["messages"][-1]["content"]


@pytest.mark.tool
def test_an_example_that_no_rule_reads_is_copied_by_the_tester(chat_server: ChatServer, tmp_path: Path) -> None:
    wrong = GOOD.replace("a + b", "a * b")
    run, _ = build(chat_server, tmp_path, {
        **HAPPY, "coding": f"<SOLUTION>\nmain.py\n```python\n{wrong}\n```",
        "checks": '[{"about": "x", "starts": [{"command": "python main.py", "prints": "3"}]}]',
        "system_test": f"main.py\n```python\n{GOOD}\n```"},
        task="`python main.py` adds 1 and 2, and the sum is `3`.")
    assert run.success, run.reason
    assert run.values["promised"] == [{"from": "tester", "starts": [{"arguments": [], "prints": "3"}]}]
    assert run.values["trial"]["examples"] == run.values["test"]["examples"] == {"passed": 1, "of": 1}


@pytest.mark.tool
def test_a_program_that_takes_the_parser_down_fails_and_is_mended(chat_server: ChatServer, tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    mended = GOOD + "\nprint(add(3, 4))" * 40  # shorter ones would look like fragments of what was there
    replies = HAPPY | {
        "coding": f"<SOLUTION>\nmain.py\n```python\n{mended}\n```",
        "coding#1/round-1/assistant": f"<SOLUTION>\nmain.py\n```python\n{mended}\n# {SWELLS}\n```",
        "coding#1/round-2/instructor": "Mend what the compiler says."}
    with reader_of(monkeypatch):
        run, _ = build(chat_server, tmp_path, replies | {"checks": "[]"}, task="Add two numbers.")
    assert run.status == "unjudged", run.reason
    assert run.software.text("main.py").strip() == mended
    told = [request.headers["X-ChatDev-Activity"] for request in chat_server.requests
            if "takes more memory than it may" in str(request.body["messages"])]
    assert told == ["coding#1/round-2/instructor", "coding#1/round-2/assistant"]
