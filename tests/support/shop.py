"""The real command over a small company: what it prints, how it exits, and what it leaves on disk."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from chatdev.cli.app import command_line
from chatdev.journal import read_journal
from chatdev.workspace.file_tree import Software
from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.chat_server import ChatServer, Route
from tests.support.copies import start_module

KEY = "sk-a-key-that-nobody-may-see"
FIRST = "write#1/round-1/assistant"
"""The place of the first call; it delivers the program."""
SECOND = "change#1/round-1/assistant"
"""The place of the call that follows; it improves the program, if nothing fails."""
HELLO = "<SOLUTION>\n" + program("print('hello')")
BETTER = "<SOLUTION>\n" + program("print('better')")


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: int
    out: str
    err: str
    folder: Path | None

    @property
    def records(self) -> list[dict[str, Any]]:
        """The journal of the run."""
        return list(read_journal(self._folder / "run" / "journal.jsonl"))

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The journal's events of one kind."""
        return [record for record in self.records if record["kind"] == kind]

    @property
    def report(self) -> str:
        return (self._folder / "run" / "report.md").read_text(encoding="utf-8")

    @property
    def software(self) -> Software:
        return Software.load(self._folder / "software")

    @property
    def _folder(self) -> Path:
        assert self.folder is not None, f"no run was begun: {self.err}"
        return self.folder

    def assert_stopped(self, status: int, *words: str, kept: str = "print('hello')\n") -> None:
        """The run failed as it should: it says so everywhere, and what was made before is there."""
        assert self.status == status, self.out + self.err
        assert "Traceback" not in self.out + self.err
        for word in words:
            assert word in self.err
            assert word in self.report
        assert self.software.text("main.py") == kept
        assert "**error**" in self.report
        assert self.events("RunFinished")[-1]["status"] == "error"

    def assert_succeeded(self) -> None:
        """The run succeeded, and says so everywhere."""
        assert self.status == 0, self.out + self.err
        assert "**success**" in self.report
        assert self.events("RunFinished")[-1]["status"] == "success"


@dataclass
class Shop:
    """Runs `chatdev run` on a company of two phases: `write` delivers a program, `change` improves it."""

    folder: Path
    server: ChatServer
    company: Path = field(init=False)
    environment: dict[str, str] = field(default_factory=lambda: {"OPENAI_API_KEY": KEY, "CHATDEV_RETRY_SECONDS": "0"})

    def __post_init__(self) -> None:
        self.company = Studio(self.folder, self.server).company({"write": WRITE, "change": CHANGE},
                                                                success="test.passed")
        self.environment["OPENAI_BASE_URL"] = self.server.url

    @property
    def warehouse(self) -> Path:
        return self.folder / "warehouse"

    def replies(self, **second: Any) -> None:
        """Script the two calls; `second` may replace the reply to the second one, or add further places."""
        self.route({FIRST: HELLO, SECOND: second.get("second", BETTER)})

    def route(self, replies: Mapping[str, Any]) -> None:
        """Answer by place; a list is used up one by one, its last entry for ever."""
        left = {place: list(reply) if isinstance(reply, list) else [reply] for place, reply in replies.items()}

        def answer(request: Any) -> Any:
            waiting = left.get(request.headers["X-ChatDev-Activity"])
            if waiting is None:
                return None
            return waiting.pop(0) if len(waiting) > 1 else waiting[0]

        route: Route = answer
        self.server.route(route)

    def arguments(self, *more: str) -> list[str]:
        """`chatdev run` on this company and warehouse."""
        return ["run", "TASK", "--company", str(self.company), "--warehouse", str(self.warehouse), *more]

    def run(self, *more: str) -> Outcome:
        """`chatdev run` in this process."""
        return self.command(*self.arguments(*more))

    def command(self, *arguments: str) -> Outcome:
        """Any command in this process."""
        done = CliRunner(env=self.environment).invoke(command_line, list(arguments))
        return self._outcome(done.exit_code, done.stdout, done.stderr)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Any command in a process of its own."""
        return start_module("chatdev", *arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, errors="replace",
                            env={**os.environ, **self.environment})

    def finish(self, process: subprocess.Popen[str]) -> Outcome:
        """Wait for a command that was started."""
        out, err = process.communicate(timeout=60)
        return self._outcome(process.returncode, out, err)

    def _outcome(self, status: int, out: str, err: str) -> Outcome:
        folders = sorted(self.warehouse.iterdir()) if self.warehouse.is_dir() else []
        return Outcome(status, out, err, folders[-1] if folders else None)
