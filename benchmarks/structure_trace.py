"""One run of a company with a single phase and a scripted server, and what of chatdev/ it goes through.

Started by `benchmarks.structure` in the tree that is measured, as a program of its own: it imports nothing of chatdev/
but the command line, so that it runs in older trees as well. Prints JSON: for the way to the first request and from
the reply to the first write the files in the order in which function bodies in them ran, and the files imported.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

TREE = Path.cwd()
CODE = f"{TREE / 'chatdev'}{os.sep}"
DELIVERED = "written_by_the_company.py"
COMPANY = """
company: one_call
about: A company of one phase.
inputs: {task: {required: true}}
roles: {one: {title: One}}
phases:
  coding: {about: Write it., assistant: one, reads: [task], writes: software, solution: {form: files},
           opening: "{{ task }}"}
chain: [{phase: coding}, {tool: software.complete, writes: test}]
success: test is defined
"""
REPLY = f"{DELIVERED}\n```python\nprint('hello')\n```\n"


class Way:
    """The files in which function bodies ran between two moments, in order, without repeats in a row."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def pass_through(self, file: str) -> None:
        """Take a function body of `file` into the way."""
        if not self.files or self.files[-1] != file:
            self.files.append(file)


class Tracer:
    """Follows the calls of Python functions; the first request and the first write end its two ways."""

    def __init__(self) -> None:
        self.to_request, self.to_write, self.run = Way(), Way(), Way()
        self._way: Way | None = self.to_request
        self.loaded = 0  # length of the first way when the company was loaded

    def __call__(self, frame: FrameType, event: str, value: Any) -> None:
        """What the interpreter calls at each call and return; a coroutine returns at each wait."""
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(CODE):
            if not _is_import(frame):
                for way in (self.run, self._way):
                    if way is not None:
                        way.pass_through(code.co_filename.removeprefix(CODE))
        elif event == "return" and getattr(code, "co_qualname", "") == "Company.load":
            self.loaded = len(self.to_request.files)
        elif _is_request(code):
            received = event == "return" and type(value).__name__ in ("Response", "ClientResponse")
            self._way = self.to_write if received and not self.to_write.files else None

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """End the way to the first write where the delivered file gets its name."""
        if self._way is self.to_write and event in ("os.rename", "open") and str(arguments[1]).endswith(DELIVERED):
            self._way = None


def _is_request(code: CodeType) -> bool:
    """Whether it is the function of aiohttp, or of httpx as older trees have it, that sends a request."""
    file = code.co_filename
    return (code.co_name == "_request" and file.endswith("/aiohttp/client.py")) or \
        (code.co_name == "send" and "/httpx" in file and file.endswith("_client.py"))


def _is_import(frame: FrameType | None) -> bool:
    """Whether a module's body is running: what it calls belongs to the import."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(CODE):
            return True
        frame = frame.f_back
    return False


def run_traced(folder: Path) -> Tracer:
    """Run the company over a scripted server, as `run.py` does."""
    from tests.support.chat_server import ChatServer

    company = folder / "company.yaml"
    company.write_text(COMPANY, encoding="utf-8")
    tracer = Tracer()
    with ChatServer([REPLY]) as server:
        sys.argv = ["run.py", "--task", "Write a program.", "--company", str(company), "--model", "scripted-model",
                    "--base-url", server.url, "--sandbox", "none", "--warehouse", str(folder / "warehouse")]
        sys.addaudithook(tracer.audit)
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        try:
            with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(TREE / "run.py"), run_name="__main__")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    if not list((folder / "warehouse").rglob(DELIVERED)):
        raise SystemExit("the traced run wrote no software")
    return tracer


def main() -> None:
    """Print what one run went through."""
    with tempfile.TemporaryDirectory() as folder:
        tracer = run_traced(Path(folder))
    files = (getattr(module, "__file__", None) or "" for module in list(sys.modules.values()))
    print(json.dumps({"to_request": tracer.to_request.files, "loaded": tracer.loaded, "to_write": tracer.to_write.files,
                      "run": sorted(set(tracer.run.files)),
                      "imported": sorted(file.removeprefix(CODE) for file in files if file.startswith(CODE))}))


if __name__ == "__main__":
    main()
