"""What the chatdev company says to whom: what is asked of a small and of a large model, and what nobody is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company
from chatdev.config.profiles import Sizes
from chatdev.config.templates import render
from tests.support.chat_server import ChatServer
from tests.support.shop import Shop

COMPANY = Company.load("chatdev").config
CLI = "Command-line application"
GIVEN: dict[str, Any] = {"task": "Count.", "modality": CLI, "language": "Python", "design": None, "trial": None,
                         "promised": [], "commands": [], "given": None, "interface": None,
                         "software": {"main.py": "print(1)\n"},
                         "packages": {"names": [], "file": ""}, "feedback": {"report": "It crashed."}}


def opening(phase: str, **given: Any) -> str:
    return render(COMPANY.phases[phase].opening, {"sizes": Sizes(), **GIVEN, **given}, phase)


def test_no_opening_tells_the_programmer_to_find_a_point() -> None:
    for name, phase in COMPANY.phases.items():
        if phase.instructor:
            assert "one most important" not in opening(name)
    guidance = COMPANY.phases["code_review"].guidance.instructor
    assert "the first thing" in render(guidance, {"sizes": Sizes(program="small")}, "guidance")
    assert "the first thing" not in render(guidance, {"sizes": Sizes()}, "guidance")


def test_the_manual_has_its_sections_and_invents_no_installation() -> None:
    told = opening("manual")
    assert [line for line in told.splitlines() if line.startswith("## ")] == [
        "## Start", "## Commands", "## Files", "## Limits"]
    assert "nothing about licences, contacts, installation or plans" in told
    windows = opening("manual", modality="Desktop application", packages={"names": ["x"], "file": "requirements.txt"})
    assert "## Use" in windows
    assert "Before the first start, what requirements.txt lists is installed." in windows
    assert "contacts or plans" in windows


@pytest.mark.parametrize(("kind", "says"), [("Web application", "HTML for a website"), (CLI, "Otherwise Python.")])
def test_the_language_that_is_usual_depends_on_the_product(kind: str, says: str) -> None:
    assert says in opening("language_choice", modality=kind)


def test_the_environments_file_is_that_of_the_language() -> None:
    told = opening("environment_doc", language="Go", packages={"names": ["github.com/a/b"], "file": "go.mod"})
    assert "Write go.mod for this Go program. It loads these packages: github.com/a/b." in told
    assert "One name per line" not in told


def test_coding_speaks_of_no_task_in_particular() -> None:
    told = opening("coding")
    assert [word for word in ("factors", "prices", "rooms", "dictionary", "int()") if word in told] == []


PLAN = ["python main.py add 'Buy milk'", "python main.py list", "python main.py add 'Call Anna'"]


def test_coding_shows_how_things_are_added_and_listed() -> None:
    told = opening("coding", commands=PLAN, sizes=Sizes(program="small"))
    assert "made by the program when it is missing" in told
    assert "sys.stdin" not in told  # a small model would read its commands there
    assert "for example:\npython main.py add 'Buy milk'\npython main.py list\nand everything else" in told
    assert "Call Anna" not in told
    assert opening("redraft", commands=PLAN, sizes=Sizes(program="small")) == told
    only_added = opening("coding", commands=PLAN[:1], sizes=Sizes(program="small"))
    assert "sys.stdin" not in only_added
    assert "for example" not in only_added


@pytest.mark.parametrize("given", [
    {"commands": ["python main.py add 'Feed the cat'", "python main.py add 'Feed the dog'"]},  # of a password generator
    {"commands": PLAN, "promised": [{"starts": [{"arguments": ["3"], "prints": "3"}]}]}])
def test_coding_shows_no_plan_that_may_mislead(given: dict[str, Any]) -> None:
    assert "what users type" not in opening("coding", **given)


CLOCK = "a clock that is started by python clock.py and shows the time of the day in big figures"


def test_a_dry_run_shows_what_is_asked_of_which_model(chat_server: ChatServer, tmp_path: Path) -> None:
    shop = Shop(tmp_path, chat_server)
    told = {model: "".join(shop.command("run", "--dry-run", "--verbose", "--model", model, task).out
                           for task in (CLOCK, "a clock")) for model in ("local", "gpt-4o")}
    for small, large in (("at most 10 lines", "at most 30 lines"), ("at most 12 items", "Write 5 to 10 checks"),
                         ("at most 3 of them", "Decide its structure"), ("in at most 25 lines", "in at most 120 lines"),
                         ("prefer a small program", "sure to work on the customer's machine.")):
        assert small in told["local"]
        assert small not in told["gpt-4o"]
        assert large in told["gpt-4o"]
        assert large not in told["local"]


@pytest.mark.tool
def test_a_run_that_adds_to_another_one_keeps_what_was_decided(chat_server: ChatServer, tmp_path: Path) -> None:
    replies = {"demand_analysis": CLI, "architecture": "main.py", "checks": "[]", "code_review": "<SOLUTION>",
               "coding": "main.py\n```python\ndef a():\n    return 1\n\n\nprint(a())\n```", "manual": "# A",
               "extension": "main.py\n```python\ndef a():\n    return 3\n```"}
    chat_server.route(lambda request: "<SOLUTION>" if "round-2" in request.headers["X-ChatDev-Activity"]
                      else replies[request.headers["X-ChatDev-Phase"]])
    run = Company.load("chatdev").run("Print 1.", model="m", base_url=chat_server.url, warehouse=tmp_path)
    chat_server.requests.clear()
    added = chatdev.resume(run.folder, task="Print 3 instead.", base_url=chat_server.url)
    assert added.status == "unjudged", added.reason
    assert [request.headers["X-ChatDev-Phase"] for request in chat_server.requests] == [
        "extension", "extension", "code_review", "manual"]
    assert (added.values["modality"], added.values["language"]) == (CLI, "Python")
