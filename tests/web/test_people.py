"""People who answer in the browser: they play a role, refuse, edit, are too late, and find the run again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from chatdev.runner.people import PersonAnswer, answer, waiting
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.chat_server import ChatServer
from tests.support.copies import start_module
from tests.support.pages import violations
from tests.support.viewer import Viewer, running_viewer

pytestmark = pytest.mark.xdist_group("web_people")  # one server and one browser for all of them

REVIEW = {**CHANGE, "opens": "instructor", "concludes": "instructor"}
REPLIES = {"write#1/round-1/assistant": "<SOLUTION>\n" + program(),
           "review#1/round-1/assistant": program("print('hello world')"),
           "review#1/round-2/assistant": program("print('hello you')")}


class Office:
    """A company whose run waits for people, and a viewer of it."""

    def __init__(self, folder: Path, server: ChatServer) -> None:
        self.folder, self.server = folder, server
        server.route(lambda request: REPLIES.get(request.headers["X-ChatDev-Activity"]))
        Studio(folder, server).company({"write": {**WRITE, "instructor": None}, "review": REVIEW},
                                       success="test.passed")
        (folder / "warehouse").mkdir()
        self.processes: list[subprocess.Popen[Any]] = []

    def start(self, *arguments: str) -> subprocess.Popen[Any]:
        """A command whose questions nobody at a terminal answers."""
        environment = {**os.environ, "OPENAI_API_KEY": "sk-for-nobody", "OPENAI_BASE_URL": self.server.url}
        self.processes.append(start_module("chatdev", *arguments, env=environment, stdin=subprocess.DEVNULL, text=True,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
        return self.processes[-1]

    def run(self, *more: str) -> subprocess.Popen[Any]:
        """`chatdev run` on the company."""
        return self.start("run", "TASK", "--company", str(self.folder / "stage"), "--model", "m", "--warehouse",
                          str(self.folder / "warehouse"), "--name", "Asked", "--wait", *more)

    @property
    def made(self) -> Path:
        """The only run."""
        (found,) = (self.folder / "warehouse").iterdir()
        return found

    @property
    def program(self) -> str:
        return (self.made / "software" / "main.py").read_text(encoding="utf-8")


@pytest.fixture
def office(tmp_path: Path, chat_server: ChatServer) -> Iterator[Office]:
    found = Office(tmp_path, chat_server)
    yield found
    for process in found.processes:
        process.kill()
        process.wait()
        if process.stderr:
            process.stderr.close()


@pytest.fixture
def office_view(office: Office, tmp_path: Path) -> Iterator[Viewer]:
    with running_viewer(office.folder / "warehouse", tmp_path / "home") as viewer:
        yield viewer


@pytest.fixture
def desk(browser: Browser, office_view: Viewer) -> Iterator[Page]:
    """A browser at the list of runs."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True)
    page = context.new_page()
    page.goto(office_view.address)
    yield page
    context.close()


def ended(process: subprocess.Popen[Any]) -> None:
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors


def open_run(page: Page) -> None:
    expect(page.locator(".badge").first).to_have_text("waits for you", timeout=60_000)
    page.get_by_role("link", name="TASK").click()


def test_a_person_plays_the_reviewer_in_a_browser(office: Office, desk: Page) -> None:
    process = office.run("--human", "chief")
    open_run(desk)
    question = desk.locator(".question").first
    expect(question).to_contain_text("It is your turn: Chief")
    assert violations(desk) == []
    question.get_by_role("button", name="Say it").click()
    expect(question.get_by_role("alert")).to_contain_text("Say something")
    question.get_by_label("Your answer").fill("Greet the world.")
    question.get_by_role("button", name="Say it").click()
    expect(desk.locator(".bubble.instructor").first).to_contain_text("Greet the world.", timeout=30_000)
    second = desk.locator(".question:not(.over)")
    second.get_by_label("Your answer").fill("Greet me.")
    second.get_by_role("button", name="Say it").click()
    expect(desk.locator(".bubble.instructor")).to_have_count(2, timeout=30_000)
    desk.locator(".question:not(.over)").get_by_role("button", name="Accept what is there").click()
    ended(process)
    assert office.program == "print('hello you')\n"
    expect(desk.locator(".end h2")).to_have_text("The run succeeded", timeout=30_000)


def test_a_delivery_is_edited_before_it_is_applied(office: Office, desk: Page) -> None:
    process = office.run("--approve", "deliveries", "--without", "review")
    open_run(desk)
    expect(desk.locator(".question")).to_contain_text("May this happen?")
    form = desk.locator(".question:not(.over)", has_text="main.py")
    expect(form.locator(".diff .row.plus").first).to_contain_text("print(")
    form.get_by_role("button", name="Refuse").click()
    expect(form.get_by_role("alert")).to_contain_text("Say why")
    form.get_by_text("Edit main.py").click()
    form.get_by_role("button", name="Accept as edited").click()
    expect(form.get_by_role("alert")).to_contain_text("Nothing is edited")
    form.get_by_label("Edit main.py").fill("print('edited by hand')\n")
    assert violations(desk) == []
    form.get_by_role("button", name="Accept as edited").click()
    ended(process)
    assert office.program == "print('edited by hand')\n"


def test_who_answers_second_is_told(office: Office, desk: Page) -> None:
    process = office.run("--approve", "write", "--without", "review")
    open_run(desk)
    form = desk.locator(".question")
    expect(form).to_contain_text("May this happen?")
    desk.route("**/api/waiting*", lambda route: route.abort())  # this page does not hear of it yet
    os.kill(process.pid, signal.SIGSTOP)
    (question,) = waiting(office.made)
    assert answer(office.made, question.id, PersonAnswer("accept"))
    form.get_by_role("button", name="Accept", exact=True).click()
    expect(desk.locator(".question.over")).to_contain_text("Somebody answered before you")
    os.kill(process.pid, signal.SIGCONT)
    ended(process)


def test_an_answer_holds_where_no_process_runs(office: Office, desk: Page) -> None:
    process = office.run("--approve", "write", "--without", "review")
    open_run(desk)
    expect(desk.locator(".question")).to_be_visible()
    process.kill()
    process.communicate()
    desk.reload()
    form = desk.locator(".question")
    expect(form.get_by_text("No process works on this run just now")).to_be_visible(timeout=20_000)
    form.get_by_role("button", name="Accept", exact=True).click()
    expect(desk.locator(".question.over")).to_contain_text("read when the run is resumed")
    ended(office.start("resume", str(office.made), "--wait"))
    expect(desk.locator(".end h2")).to_have_text("The run succeeded", timeout=30_000)


@pytest.mark.parametrize(("change", "says"), [
    ({"action": "dance"}, "the action is 'dance'"), ({"id": "none"}, "has not asked 'none'"),
    ({"action": "edit", "files": {"x": "y"}}, "edit"), ({"action": "refuse", "text": "\x00"}, "control character"),
    ({"run": "../x"}, "there is no run"), ({"action": None}, "an answer is an object"),
])
def test_an_answer_that_cannot_be_read_is_given_back(office: Office, office_view: Viewer, change: dict[str, Any],
                                                      says: str) -> None:
    office.run("--approve", "write", "--without", "review")
    while not (found := office_view.get("/api/runs").value["runs"]) or found[0]["status"] != "waiting":
        pass
    (question,) = office_view.get("/api/waiting", {"run": found[0]["id"]}).value
    given = {"run": found[0]["id"], "id": question["id"], "action": "accept", **change}
    told = office_view.get("/api/answer", method="POST", body=json.dumps(given).encode(),
                           headers={"Origin": f"http://127.0.0.1:{office_view.port}"})
    assert (told.status, says in told.value["error"]) == (400, True), told.value
