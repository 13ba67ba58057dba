"""Runs that are started from the form: by a browser, and by requests that are odd."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from chatdev.web.launch import LARGEST_FORM
from tests.engine.studio import program
from tests.support.chat_server import ChatServer
from tests.support.shop import KEY
from tests.support.viewer import Answered, Viewer, running_viewer

pytestmark = pytest.mark.xdist_group("web_launch")  # one server and one browser for all of them

PROGRAM = program("print('started from a form')")
EDGE = "----a-boundary"


@pytest.fixture
def started(tmp_path: Path, chat_server: ChatServer) -> Iterator[Viewer]:
    """A server whose runs ask the scripted model."""
    (tmp_path / "runs").mkdir()
    chat_server.route(lambda _: PROGRAM)
    environment = {"OPENAI_BASE_URL": chat_server.url, "OPENAI_API_KEY": KEY, "CHATDEV_RETRY_SECONDS": "0"}
    with running_viewer(tmp_path / "runs", tmp_path / "home", environment=environment) as viewer:
        yield viewer


def start(viewer: Viewer, fields: Mapping[str, str], files: Mapping[str, tuple[str, bytes]] | None = None) -> Answered:
    """Send a form as a page of the server's own does."""
    parts = [f'--{EDGE}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
             for name, value in fields.items()]
    parts += [f'--{EDGE}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n\r\n'.encode() + content
              + b"\r\n" for name, (file, content) in (files or {}).items()]
    headers = {"Origin": f"http://127.0.0.1:{viewer.port}", "Content-Type": f"multipart/form-data; boundary={EDGE}"}
    return viewer.get("/api/start", method="POST", headers=headers, body=b"".join(parts) + f"--{EDGE}--\r\n".encode())


def test_a_run_is_started_and_survives_the_server(browser: Browser, started: Viewer, tmp_path: Path) -> None:
    page = browser.new_context().new_page()
    page.goto(started.address)
    page.get_by_role("link", name="New run").click()
    page.get_by_label("Company").select_option("single")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("alert")).to_contain_text("Task is needed")
    page.get_by_label("Task").fill("Print a line.\n@not-a-file --max-cost 5")
    page.get_by_text("Name, model and budget").click()
    page.get_by_label("Name", exact=True).fill("From a form")
    page.get_by_label("Model", exact=True).fill("a-model")
    page.get_by_label("model calls").fill("9")
    page.get_by_role("button", name="Start the run").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Print a line.", timeout=60_000)
    started.stop(signal.SIGKILL)
    started.start()
    expect(page.locator(".badge").first).to_have_text("unjudged", timeout=60_000)  # nothing says what is right
    (folder,) = (tmp_path / "runs").iterdir()
    assert (folder / "software" / "main.py").read_text(encoding="utf-8") == "print('started from a form')\n"
    page.context.close()


def test_a_run_that_cannot_begin_says_what_chatdev_run_says(started: Viewer) -> None:
    answer = start(started, {"company": "single", "input.task": "x", "model": "a-model", "max_cost": "1"})
    assert answer.status == 400
    assert "price" in answer.value["error"]


@pytest.mark.parametrize(("fields", "says"), [
    ({"company": "none"}, "there is no company 'none'"), ({"company": "../../etc"}, "there is no company"),
    ({"company": "single"}, "task: is needed"), ({}, "there is no company ''"),
    ({"company": "single", "input.task": "x", "model": "--debug"}, "model: '--debug' is no name"),
    ({"company": "single", "input.task": "x", "max_cost": "lots"}, "max_cost: 'lots' is no number of US dollars"),
    ({"company": "single", "input.task": "x", "max_calls": "1.5"}, "max_calls"),
    ({"company": "single", "input.task": "x", "max_minutes": "0"}, "max_minutes"),
])
def test_a_field_that_is_wrong_is_named(started: Viewer, fields: dict[str, str], says: str) -> None:
    answer = start(started, fields)
    assert (answer.status, says in answer.value["error"]) == (400, True), answer.value


def test_a_file_of_50_megabytes_is_refused_with_the_limit(started: Viewer) -> None:
    headers = {"Origin": f"http://127.0.0.1:{started.port}", "Content-Type": f"multipart/form-data; boundary={EDGE}"}
    body = (f'--{EDGE}\r\nContent-Disposition: form-data; name="input.picture"; filename="p.png"\r\n\r\n'.encode()
            + b"x" * (50 << 20))
    try:
        answer = started.get("/api/start", method="POST", headers=headers, body=body)
    except (BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
        answer = None
    assert answer is None or f"larger than {LARGEST_FORM >> 20} MiB" in answer.value["error"]
    assert started.get("/api/runs").status == 200


def test_a_form_that_is_none_is_a_sentence(started: Viewer) -> None:
    headers = {"Origin": f"http://127.0.0.1:{started.port}", "Content-Type": "multipart/form-data"}
    assert "form" in started.get("/api/start", method="POST", headers=headers, body=b"x").value["error"]


def test_a_file_and_a_picture_are_handed_in(started: Viewer, tmp_path: Path) -> None:
    svg = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="9" height="9"/></svg>'
    answer = start(started, {"company": "simugen", "input.task": "A gain of two.", "model": "a-model",
                             "max_calls": "1"}, {"input.picture": ("../../up.svg", svg)})
    assert answer.status == 200, answer.value
    journal = tmp_path / "runs" / answer.value["run"] / "run" / "journal.jsonl"
    assert b"image/" in journal.read_bytes().splitlines()[0]
