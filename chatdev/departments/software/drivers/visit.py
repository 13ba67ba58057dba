"""Uses a page, or a service that it starts, by steps from outside, in a browser over the pipe of its DevTools protocol.
Runs in the sandbox, where nothing but the service listens."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import http.client
import json
import os
import re
import secrets
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from chatdev.departments.software.drivers.texts import Item, Notes, best_label, is_same, is_shown

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


# Uses a page by steps in a browser, over the pipe of its DevTools protocol. Runs in the sandbox.

_PRESSED = ("button", "link", "menuitem", "tab", "checkbox", "radio", "switch", "option", "menuitemcheckbox",
            "menuitemradio", "treeitem", "listitem", "row", "StaticText", "cell", "gridcell")
"""Roles of what can be pressed, the likelier ones first."""
_BUTTONS = frozenset(_PRESSED[:8])
_FIELDS = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "slider", "Date", "DateTime", "InputTime",
                     "ColorWell"})
_PATIENCE, _SETTLE, _ANSWER = 2.0, 0.15, 15.0  # seconds: looked for, after a step, until the browser answers
_HIGH = 20  # descriptors from here on are none of those that the browser reads and writes
_START = "import os, sys; a = sys.argv; os.dup2(int(a[1]), 3); os.dup2(int(a[2]), 4); os.execv(a[3], a[3:])"

_READ = """(() => {
  const seen = e => e.getClientRects().length && getComputedStyle(e).visibility !== "hidden";
  const buttons = "button, a, [role=button], input[type=button], input[type=submit], input[type=reset]";
  const hidden = ["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "TEXTAREA", "OPTION"];
  const found = [["text", document.title]];
  const walker = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()) && found.length < 5000;) {
    const parent = node.parentElement;
    if (parent && node.data.trim() && !hidden.includes(parent.tagName) && seen(parent))
      found.push([parent.closest(buttons) ? "button" : "text", node.data]);
  }
  for (const e of document.querySelectorAll("input, textarea, select, output")) {
    if (!seen(e) || e.type === "password" || e.dataset.typed === e.value) continue;
    found.push(["button", "submit", "reset"].includes(e.type) ? ["button", e.value]
      : ["field", e.tagName === "SELECT" ? (e.selectedOptions[0] || {text: ""}).text : String(e.value)]);
  }
  return found;
})()"""
_FILL = """function (text) {
  this.scrollIntoView(); this.focus();
  const kinds = ["date", "time", "color", "range", "month", "week", "datetime-local"];
  if (!kinds.includes(this.type)) {
    if (this.select) this.select(); else document.execCommand("selectAll");
    return true;
  }
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(this, text);
  for (const name of ["input", "change"]) this.dispatchEvent(new Event(name, {bubbles: true}));
  return false;
}"""
_TYPED = "function () { if (this.dataset) this.dataset.typed = this.value; }"
_CHOOSE = """function (text) {
  const plain = t => t.trim().toLowerCase(), all = [...(this.options || [])];
  const option = all.find(o => plain(o.text) === plain(text)) || all.find(o => plain(o.value) === plain(text));
  if (!option) return false;
  this.value = option.value;
  for (const name of ["input", "change"]) this.dispatchEvent(new Event(name, {bubbles: true}));
  return true;
}"""


class BrowserFailure(Exception):
    """The browser does not answer, or refuses."""


class Browser:
    """A browser that is started by `argv` and shows one page."""

    def __init__(self, argv: Sequence[str]) -> None:
        pipes = (*os.pipe(), *os.pipe())
        reads, self._out, self._in, writes = (fcntl.fcntl(end, fcntl.F_DUPFD, _HIGH) for end in pipes)
        starts = [sys.executable, "-I", "-S", "-c", _START, str(reads), str(writes), *argv]
        self._process = subprocess.Popen(starts, pass_fds=(reads, writes), stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (*pipes, reads, writes):
            os.close(end)
        self._waiting, self._number, self._session = b"", 0, ""
        self.errors: list[str] = []
        self.said: list[str] = []  # by dialogs, since something was done
        self.answer: Callable[[], str | None] = lambda: None
        """What is typed into a dialog that asks for something; None cancels it."""
        pages = [one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page"]
        self._session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "DOM", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to a command of the protocol. Raises BrowserFailure."""
        self._number += 1
        number = self._number
        self._send(number, method, parameters)
        until = time.monotonic() + _ANSWER
        while True:
            message = self._receive(until - time.monotonic())
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserFailure(f"{method}: {message['error'].get('message')}")
                return message["result"]

    def _send(self, number: int, method: str, parameters: dict[str, Any]) -> None:
        session = {"sessionId": self._session} if self._session else {}
        command = {"id": number, "method": method, "params": parameters, **session}
        os.write(self._out, json.dumps(command).encode() + b"\0")

    def _receive(self, seconds: float) -> dict[str, Any]:
        """The next message, of which the events are taken in here. Raises BrowserFailure."""
        until = time.monotonic() + seconds
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._in], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self._in, 1 << 20) if ready else b""
            if not more:
                raise BrowserFailure("the browser does not answer")
            self._waiting += more
        first, _, self._waiting = self._waiting.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        self._take(message.get("method", ""), message.get("params", {}))
        return message

    def _take(self, event: str, facts: dict[str, Any]) -> None:
        if event == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            said = details.get("exception", {}).get("description") or details.get("text", "")
            first = said.partition("\n")[0].removeprefix("Uncaught ")
            self.errors.append(f"Uncaught {first} (line {details['lineNumber'] + 1})")
        elif event == "Page.javascriptDialogOpening":
            self.said.append(facts["message"])
            text = self.answer() if facts["type"] == "prompt" else ""
            self._number += 1
            answer = {"accept": text is not None, "promptText": text or ""}
            self._send(self._number, "Page.handleJavaScriptDialog", answer)

    def pause(self, seconds: float) -> None:
        """Let the page go on."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if b"\0" in self._waiting or select.select([self._in], [], [], left)[0]:
                self._receive(_ANSWER)

    def open(self, address: str) -> None:
        """Open an address and wait until it is loaded. Raises BrowserFailure."""
        result = self.call("Page.navigate", url=address)
        if result.get("errorText"):
            raise BrowserFailure(f"{address}: {result['errorText']}")
        for _ in range(40):
            self.pause(0.1)
            if self._evaluate("document.readyState") == "complete":
                break

    def _evaluate(self, expression: str) -> Any:
        """The value of an expression in a world of its own, where no script of the page has changed anything."""
        for _ in range(5):
            try:
                frame = self.call("Page.getFrameTree")["frameTree"]["frame"]["id"]
                world = self.call("Page.createIsolatedWorld", frameId=frame)["executionContextId"]
                done = self.call("Runtime.evaluate", expression=expression, contextId=world, returnByValue=True)
                return done["result"].get("value")
            except BrowserFailure as failure:  # another page is just being opened
                if "does not answer" in str(failure):
                    raise
                self.pause(0.1)
        raise BrowserFailure("the page does not come to rest")

    def items(self) -> list[Item]:
        """What there is to read."""
        found = self._evaluate(_READ) or []
        return [*((str(role), str(text)) for role, text in found), *(("text", said) for said in self.said)]

    def nodes(self) -> Iterator[tuple[str, str, int]]:
        """Role, accessible name and node of everything that can be perceived."""
        for node in self.call("Accessibility.getFullAXTree")["nodes"]:
            if not node.get("ignored") and "backendDOMNodeId" in node:
                yield (str(node.get("role", {}).get("value", "")), str(node.get("name", {}).get("value", "")),
                       node["backendDOMNodeId"])

    def names(self) -> list[str]:
        """The labels of what can be pressed."""
        return [name for role, name, _ in self.nodes() if role in _BUTTONS]

    def title(self) -> str:
        """The title of the page."""
        return str(self._evaluate("document.title"))

    def press(self, label: str) -> str:
        """Click what bears this label; what is wrong, empty where nothing is."""
        found = [(role, node) for role, name, node in self.nodes() if is_same(name, label) and role in _PRESSED]
        found.sort(key=lambda one: _PRESSED.index(one[0]))
        if not found:
            return "missing"
        if self._ask(found[0][1], "function () { return Boolean(this.disabled); }"):
            return "disabled"
        x, y = self._middle(found[0][1])
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=int(kind != "mouseMoved"),
                      button="none" if kind == "mouseMoved" else "left")
        return ""

    def _middle(self, node: int) -> tuple[float, float]:
        self.call("DOM.scrollIntoViewIfNeeded", backendNodeId=node)
        quads = self.call("DOM.getContentQuads", backendNodeId=node)["quads"]
        if not quads:
            raise BrowserFailure("it has no place on the page")
        return sum(quads[0][::2]) / 4, sum(quads[0][1::2]) / 4

    def _ask(self, node: int, function: str, *arguments: str) -> Any:
        """What a function says of a node."""
        target = self.call("DOM.resolveNode", backendNodeId=node)["object"]["objectId"]
        done = self.call("Runtime.callFunctionOn", functionDeclaration=function, objectId=target, returnByValue=True,
                         arguments=[{"value": argument} for argument in arguments])
        return done["result"].get("value")

    def fill(self, text: str, label: str) -> str:
        """Type into the field with this label; a line break at its end is the key Enter."""
        node = self._field(label)
        if node is None:
            return "missing"
        typed = text.rstrip("\n")
        if self._ask(node, _FILL, typed):
            if typed:
                self.call("Input.insertText", text=typed)
            else:
                self._key("Backspace", 8)
        self._ask(node, _TYPED)
        if text.endswith("\n"):
            self._key("Enter", 13, text="\r")
        return ""

    def _key(self, name: str, code: int, **more: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                      **(more if kind == "keyDown" else {}))

    def _field(self, label: str) -> int | None:
        found = [(name, node) for role, name, node in self.nodes() if role in _FIELDS]
        named = [found[place][1] for place in best_label([name for name, _ in found], label)]
        only = [node for _, node in found] if len(found) == 1 or not label else []
        return next(iter((*named, *only)), None)

    def choose(self, option: str, label: str) -> str:
        """Choose an option of the box with this label, or press what bears its text."""
        boxes = [(name, node) for role, name, node in self.nodes() if role in ("combobox", "listbox")]
        boxes.sort(key=lambda box: not is_same(box[0], label))
        chosen = any(self._ask(node, _CHOOSE, option) for _, node in boxes)
        return "" if chosen else self.press(option)

    def picture(self) -> bytes:
        """The page as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()


def take_step(browser: Browser, step: dict[str, Any], before: list[Item], base: str) -> str:
    """Carry out a step on the page: what is wrong, empty where nothing is."""
    kind, text, at = step["kind"], step["text"], step["at"]
    if kind in ("press", "type", "choose", "open"):
        browser.said.clear()
    ways: dict[str, Callable[[], str]] = {
        "press": lambda: browser.press(text), "type": lambda: browser.fill(text, at),
        "choose": lambda: browser.choose(text, at),
        "reads": lambda: "" if is_shown(text, browser.items(), before) else "differs",
        "title": lambda: "" if text.casefold() in browser.title().casefold() else "differs"}
    if kind == "open":
        browser.open(urljoin(base, text))
        return ""
    until = time.monotonic() + _PATIENCE
    while (problem := _attempt(ways[kind])) and time.monotonic() < until:
        browser.pause(0.1)
    browser.pause(_SETTLE)
    return problem


def _attempt(way: Callable[[], str]) -> str:
    """What is wrong with a step; what just changes, or is covered, is looked for again."""
    try:
        return way()
    except BrowserFailure as failure:
        if "does not answer" in str(failure):
            raise
        return "missing"
