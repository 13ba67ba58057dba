"""Uses a page, or a service that it starts, by steps from outside. Runs in the sandbox, where nothing but the service
listens.

`task.json` names the `page` or the `program` (a command line), the `browser` (a command line, empty without one) and
the `steps`. What the service prints is passed on.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from chatdev.departments.software.drivers.browser import Browser, BrowserFailure, take_step
from chatdev.departments.software.drivers.notes import Notes
from chatdev.departments.software.drivers.texts import is_shown

_TO_COME_UP, _TO_ANSWER, _REST = 10.0, 10.0, 0.2  # seconds
_MOST_READ = 1 << 20
_ADDRESS = re.compile(r"https?://[^\s/:]+:(\d{1,5})|\bport\D{0,9}(\d{2,5})\b", re.IGNORECASE)
_NO_ROUTE = (404, 405, 501)
_LISTENS = "0A"


def main() -> None:
    """Carry out the steps, and write down what was seen."""
    folder = Path(os.environ.pop("DRIVEN"))
    os.environ.pop("PYTHONPATH")
    task = json.loads((folder / "task.json").read_text(encoding="utf-8"))
    (folder / "task.json").unlink()
    notes = Notes(folder, task["nonce"])
    program = None if task["page"] else Service(task["program"])
    base = program.address() if program else (Path.cwd() / task["page"]).as_uri()
    if base is None:
        notes.fail("nothing listens")
        return
    try:
        Visit(task, notes, folder, base).go()
    except BrowserFailure as failure:
        notes.fail(str(failure))
    if program:
        program.end()


class Service:
    """A service, started by `argv`."""

    def __init__(self, argv: list[str]) -> None:
        self._before = listening_ports()
        self._said = ""
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True, errors="replace")
        threading.Thread(target=self._pass_on, daemon=True).start()

    def _pass_on(self) -> None:
        for line in self._process.stdout or ():
            self._said = (self._said + line)[-4000:]
            sys.stderr.write(line)
            sys.stderr.flush()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End it."""
        self._process.kill()

    def address(self) -> str | None:
        """Where it answers: at the port that it names, else at the first one; None where it does not listen."""
        until = time.monotonic() + _TO_COME_UP
        while time.monotonic() < until and not self.has_ended:
            if ports := sorted(listening_ports() - self._before):
                time.sleep(_REST)  # what it prints comes a little later
                ports = sorted(listening_ports() - self._before) or ports
                named = [int(one or other) for one, other in _ADDRESS.findall(self._said)]
                return _address_at(next((port for port in named if port in ports), ports[0]))
            time.sleep(0.05)
        return None


def _address_at(port: int) -> str:
    for host in ("127.0.0.1", "::1"):
        with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=_TO_ANSWER):
            return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
    return f"http://127.0.0.1:{port}/"


def listening_ports() -> set[int]:
    """The TCP ports at which something listens."""
    tables = (Path("/proc/net") / name for name in ("tcp", "tcp6"))
    rows = (row.split() for table in tables if table.exists() for row in table.read_text().splitlines()[1:])
    return {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == _LISTENS}


class Visit:
    """The steps of `task` at the address `base`."""

    def __init__(self, task: dict[str, Any], notes: Notes, folder: Path, base: str) -> None:
        self._task, self._notes, self._folder, self._base = task, notes, folder, base
        self._browser: Browser | None = None
        self._steps: list[dict[str, Any]] = list(task["steps"])
        self._before: list[tuple[str, str]] = []
        self._cookies: dict[str, str] = {}

    def go(self) -> None:
        """Carry them out, up to the first that goes wrong."""
        if not self._steps or self._steps[0]["kind"] != "request":
            browser = self._open_browser()
            self._before = browser.items()
            self._notes.begin(self._before, browser.names())
        else:
            self._notes.begin([], ())
        while self._steps:
            step = self._steps.pop(0)
            problem = self._answer(step) if step["kind"] == "request" else self._use_page(step)
            if problem:
                break
        self._close_browser()
        self._notes.end()

    def _close_browser(self) -> None:
        """Take a picture, and end it: the connections that it keeps in reserve may be all that a service serves."""
        if self._browser:
            self._browser.pause(_REST)
            (self._folder / "screen.png").write_bytes(self._browser.picture())
            self._browser.close()
            self._browser = None

    def _open_browser(self) -> Browser:
        if not self._task["browser"]:
            raise BrowserFailure("there is no browser")
        self._browser = browser = Browser(self._task["browser"])
        browser.answer = self._typed_next
        browser.open(self._base)
        browser.pause(_REST)
        return browser

    def _typed_next(self) -> str | None:
        """What the next step types, where a dialog asks for it."""
        if self._steps and self._steps[0]["kind"] == "type":
            return str(self._steps.pop(0)["text"]).rstrip("\n")
        return None

    def _use_page(self, step: dict[str, Any]) -> str:
        browser = self._browser or self._open_browser()
        problem = take_step(browser, step, self._before, self._base) or (browser.errors[-1] if browser.errors else "")
        items = browser.items()
        is_new = step["kind"] == "reads" and not is_shown(step["text"], self._before, self._before)
        left = len(self._task["steps"]) - len(self._steps)
        while self._notes.count < left - 1:  # typed into a dialog
            self._notes.add("", items, (), is_new=False)
        self._notes.add(problem, items, browser.names(), is_new)
        return problem

    def _answer(self, step: dict[str, Any]) -> str:
        """Make a request: what is otherwise than wanted."""
        self._close_browser()
        method, path = step["text"].split(" ", 1)
        try:
            status, body = self._request(method, path, *content_of(step))
        except (OSError, http.client.HTTPException) as error:
            self._notes.add("no answer", [("text", type(error).__name__)], (), is_new=False)
            return "no answer"
        wanted = step["status"]
        lacking = [text for text in step["shows"] if "".join(text.split()) not in "".join(body.split())]
        problem = "differs" if lacking else ""
        if status != wanted if wanted else status >= 500:
            problem = "no route" if self._is_unknown(status, body, method, path) else f"status {status}"
        self._notes.add(problem, [("text", f"{status} {body[:800]}")], (),
                        is_new=status < 400 and bool(step["shows"]))
        return problem

    def _is_unknown(self, status: int, body: str, method: str, path: str) -> bool:
        """Whether the answer is that to a path which nobody knows."""
        if status not in _NO_ROUTE:
            return False
        other = "/" + secrets.token_hex(6)
        found, text = self._request(method, other, None, "")
        return found == status and text.replace(other, "") == body.replace(path, "")

    def _request(self, method: str, path: str, body: bytes | None, kind: str) -> tuple[int, str]:
        place = urlsplit(self._base)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=_TO_ANSWER)
        cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        headers = {**({"Content-Type": kind} if kind else {}), **(cookies if self._cookies else {})}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        for cookie in answer.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name.strip()] = value
        text = answer.read(_MOST_READ).decode("utf-8", "replace")
        connection.close()
        return answer.status, text


def content_of(step: dict[str, Any]) -> tuple[bytes | None, str]:
    """The body of a request, and its kind."""
    if step["form"] is not None:
        return urlencode(step["form"]).encode(), "application/x-www-form-urlencoded"
    body = step["body"]
    if body is None:
        return None, ""
    if not isinstance(body, str):
        return json.dumps(body).encode(), "application/json"
    try:
        json.loads(body)
    except ValueError:
        return body.encode(), "text/plain; charset=utf-8"
    return body.encode(), "application/json"


if __name__ == "__main__":
    main()
