"""The company top and a scripted model for it: tasks in a folder, commands over a pool, replies by phase."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from chatdev import Company
from chatdev.cli.app import command_line
from chatdev.departments.process.pool import InstanceOutcome
from chatdev.departments.process.pool_store import find_outcomes
from chatdev.departments.process.process_company import ProcessCompany
from tests.support.chat_server import ChatServer, Received, Scripted

TASK = "A command-line program that greets: `python main.py Ann` prints `Hello Ann`"
SHORT = "DemandAnalysis → LanguageChoose → Coding → Manual"
RIGHT = "main.py\n```\nimport sys\n\nprint('Hello', *sys.argv[1:])\n```"
WRONG = RIGHT.replace("Hello", "Goodbye")
COMPANY = ProcessCompany.of(Company.load("top").config)
REPLIES: dict[str, Any] = {
    "process_generation": f"<SOLUTION>\n{SHORT}", "DemandAnalysis": "<SOLUTION>\nCommand-line application",
    "LanguageChoose": "<SOLUTION>\nPython", "DesignReview": "<SOLUTION>\nIt greets.", "Coding": RIGHT,
    "CodeComplete": RIGHT, "Annotation": RIGHT, "CodeConclusion": "<SOLUTION>\nIt greets.",
    "CodeReviewComment": "<SOLUTION>\nNothing is missing.", "CommentJudgement": "<SOLUTION>\nThe comment is right",
    "CodeReviewModification": "<SOLUTION>", "TestErrorSummary": "<SOLUTION>\nLine 3 greets wrongly.",
    "TestModification": RIGHT, "EnvironmentDoc": "requirements.txt\n```\n# none\n```",
    "Manual": "manual.md\n```\n# Hello\n```"}
NAMES = ("Ann", "Bob", "Cy", "Dee", "Eve")
TESTED = "DemandAnalysis → LanguageChoose → Coding → TestErrorSummary → TestModification"
TAUGHT = "This is how projects that succeeded went:"


@dataclass
class Department:
    """Tasks in a folder of data, and a scripted model: what it proposes is up to the test."""

    folder: Path
    server: ChatServer
    propose: Callable[[str], str] = field(default=lambda _: SHORT)
    replies: dict[str, Any] = field(default_factory=dict)
    calls_left: int = 1000
    limit: str = ""
    """`:N` for N of the tasks."""

    def __post_init__(self) -> None:
        data = self.folder / "data"
        data.mkdir()
        tasks = [{"name": name, "description": f"A program that greets: `python main.py {name}` prints `Hello {name}`"}
                 for name in NAMES]
        (data / "greetings.yaml").write_text(json.dumps({"area": "Words", "category": "Greetings", "tasks": tasks}))
        self.server.route(self.answer)

    def answer(self, request: Received) -> Any:
        phase = request.headers["X-ChatDev-Phase"]
        self.calls_left -= 1
        if self.calls_left < 0:
            return Scripted(status=401, body={"error": {"message": "no such key"}})
        if phase == "process_generation":
            return f"<SOLUTION>\n{self.propose(str(request.body['messages'][-1]['content']))}"
        return {**REPLIES, **self.replies}[phase]

    @property
    def prompts(self) -> list[str]:
        """What the Process Manager was asked."""
        return [str(one.body["messages"][-1]["content"]) for one in self.server.requests
                if one.headers["X-ChatDev-Phase"] == "process_generation"]

    def command(self, *arguments: str) -> Result:
        environment = {"CHATDEV_RETRY_SECONDS": "0", "COLUMNS": "200"}
        return CliRunner(env=environment).invoke(command_line, ["process", *arguments])

    def arguments(self, name: str, *more: str) -> list[str]:
        """A command that develops, as `chatdev` is given it; programs are ours, so that no sandbox need be begun."""
        return ["process", name, "--tasks", f"{self.folder / 'data'}{self.limit}", "--model", "m", "--base-url",
                self.server.url, "--quiet", "--sandbox", "none", *more]

    def run(self, name: str, *more: str) -> Result:
        return self.command(*self.arguments(name, *more)[1:])

    def done(self, name: str, *more: str) -> str:
        """The output of a command that succeeds."""
        result = self.run(name, *more)
        assert result.exit_code == 0, result.output
        return result.output

    @property
    def outcomes(self) -> list[InstanceOutcome]:
        return find_outcomes("studies/ledger.sqlite", "top", COMPANY.default) or []
