"""Uses a page by steps in a browser, over the pipe of its DevTools protocol. Runs in the sandbox."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import urljoin

from chatdev.departments.software.drivers.texts import Item, best_label, is_same, is_shown

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
