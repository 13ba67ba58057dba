"""Pages and services are used by steps: right ones are confirmed, and no mutant of one is a success."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.departments.software.conftest import Drive, Use
from tests.support.products import SERVICE, TODO

pytestmark = pytest.mark.tool
in_a_browser = pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not here")
with_node = pytest.mark.skipif(not shutil.which("node"), reason="node is not here")

TODO_TASK = 'A to-do page with a field "Task" and a button "Add".'
TODO_CHECKS = [{"about": "adds", "steps": [
    {"type": "Milk", "into": "Task"}, {"choose": "work", "from": "Kind"}, {"press": "Add"}, {"reads": "Milk (work)"},
    {"reads": "Total: 1"}, {"press": "Clear"}, {"reads": "Total: 0"}, {"press": "add"}, {"reads": "Type something"}]}]


@in_a_browser
def test_a_right_page_is_confirmed_and_photographed(use: Use, tmp_path: Path) -> None:
    verdict = use(TODO, TODO_TASK, checks=TODO_CHECKS)
    assert (verdict.passed, verdict.judged) == (True, True), verdict.report
    assert verdict.evidence["agreed"] == {"checks": 1, "differing": []}
    assert (tmp_path / "screenshot.png").read_bytes().startswith(b"\x89PNG")


@in_a_browser
@pytest.mark.parametrize(("file", "old", "new", "passes"), [
    ("app.js", '"submit"', '"never"', True),  # a button that does nothing but load the page anew
    ("app.js", "children.length", "children.length + 1", True),
    ("app.js", 'at("total").textContent = at("list")', 'at("total").textContent = at("lists")', False),
    ("index.html", "<button>Add</button>", "", False)])
def test_a_mutant_of_a_page_is_no_success(use: Use, file: str, old: str, new: str, passes: bool) -> None:
    verdict = use({**TODO, file: TODO[file].replace(old, new)}, TODO_TASK, checks=TODO_CHECKS)
    assert (verdict.passed, verdict.judged) == (passes, not passes), verdict.report


@in_a_browser
def test_prompts_rows_and_further_pages_are_used(drive: Drive) -> None:
    page = """<title>One</title><a href="two.html">Second page</a><div onclick="name()">Rename</div><p id=p>nobody</p>
<script>function name() { document.getElementById("p").textContent = prompt("Name?"); }</script>"""
    used = drive({"index.html": page, "two.html": "<title>Two</title><button disabled>Go</button><p>Here</p>"}, [
        {"press": "Rename"}, {"type": "Ada", "into": "Name?"}, {"reads": "Ada"}, {"press": "Second page"},
        {"title": "Two"}, {"open": "index.html"}, {"reads": "nobody"}, {"open": "two.html"}, {"press": "Go"}])
    assert used.differs == "“Go” cannot be pressed"
    assert len(used.driven.steps) == 9


@in_a_browser
def test_a_game_on_a_canvas_is_only_photographed(use: Use) -> None:
    game = ("<title>Game</title><canvas id=c></canvas><p>Press keys</p><script>"
            "document.getElementById('c').getContext('2d').fillRect(1, 1, 50, 50)</script>")
    verdict = use({"index.html": game}, "A game.")
    assert verdict.passed
    assert verdict.evidence["pictures"] == {"Screenshot": "screenshot.png"}


NODE = """const http = require("http");
const items = [];
http.createServer((request, response) => {
  let body = "";
  request.on("data", part => body += part);
  request.on("end", () => {
    const answer = (status, value) => { response.writeHead(status); response.end(JSON.stringify(value)); };
    if (request.method === "GET" && request.url === "/health") return answer(200, {status: "ok"});
    if (request.method === "GET" && request.url === "/items") return answer(200, items);
    if (request.method === "POST") { items.push(JSON.parse(body)); return answer(201, items[0]); }
    answer(404, {error: "unknown"});
  });
}).listen(3000, () => console.log("http://localhost:3000"));
"""
SERVICE_TASK = 'A service: GET /health answers {"status": "ok"}, POST /items stores an item, GET /items lists all.'
SERVICE_CHECKS = [{"about": "stores", "steps": [
    {"request": "GET /health", "status": 200, "shows": ['"status": "ok"']},
    {"request": "POST /items", "body": {"name": "milk"}, "status": 201},
    {"request": "GET /items", "status": 200, "shows": ["milk"]}, {"request": "GET /nothing", "status": 404}]}]


@pytest.mark.parametrize("software", [{"main.py": SERVICE}, pytest.param({"server.js": NODE}, marks=with_node)])
def test_a_right_service_is_confirmed(use: Use, software: dict[str, str]) -> None:
    verdict = use(software, SERVICE_TASK, checks=SERVICE_CHECKS)
    assert (verdict.passed, verdict.judged) == (True, True), verdict.report


@pytest.mark.parametrize(("old", "new", "differs"), [
    ("self.answer(201", "self.answer(200", "it answers with status 200 instead of 201"),
    ("self.answer(200, ITEMS)", "self.answer(200, [])", "its answer does not show 'milk'"),
    ('"ok"', '"bad"', "its answer does not show '\"status\": \"ok\"'"),
    ("/health", "/alive", "it does not know this path")])
def test_a_mutant_of_a_service_is_no_success(drive: Drive, old: str, new: str, differs: str) -> None:
    used = drive(SERVICE.replace(old, new), SERVICE_CHECKS[0]["steps"])
    assert (used.differs, used.confirms) == (differs, False)


def test_a_service_without_a_path_that_the_request_names_fails(use: Use) -> None:
    verdict = use(SERVICE.replace("/health", "/alive"), SERVICE_TASK, checks=SERVICE_CHECKS)
    assert (verdict.passed, verdict.judged) == (False, True)
    assert "The request names GET /health" in verdict.report


@pytest.mark.parametrize("program", ["print('not a service')", "import time\ntime.sleep(60)"])
def test_what_does_not_listen_confirms_nothing(drive: Drive, program: str) -> None:
    used = drive(program, [{"request": "GET /"}])
    assert (used.differs, used.confirms) == ("nothing listens", False)


@in_a_browser
def test_the_pages_of_a_service_are_used_in_a_browser(drive: Drive) -> None:
    serves = SERVICE.replace('self.answer(404, {"error": "unknown"})', 'self.page()').replace(
        "    def do_GET", '    def page(self):\n        self.send_response(200)\n        self.send_header('
        '"Content-Type", "text/html")\n        self.end_headers()\n        self.wfile.write(b"<title>Shop</title>'
        '<button onclick=\\"this.nextSibling.textContent=7\\">Count</button><p></p>")\n\n    def do_GET')
    used = drive(serves, [{"open": "/"}, {"title": "Shop"}, {"press": "Count"}, {"reads": "7"},
                          {"request": "GET /health", "status": 200}])
    assert (used.differs, used.confirms) == ("", True)


def test_steps_of_a_service_say_what_they_send(drive: Drive) -> None:
    echo = SERVICE.replace("json.loads(self", "self.headers['Content-Type'] + ' ' + str(self")
    steps: list[dict[str, Any]] = [{"request": "POST /items", "form": {"a": "b c"}, "shows": ["a=b+c", "urlencoded"]},
                                   {"request": "POST /items", "body": "plain", "shows": ["plain", "text/plain"]},
                                   {"method": "POST", "path": "/items", "body": "[1]", "shows": ["[1]", "json"]}]
    assert drive(echo, steps).differs == ""
