"""Tools that crash within a run: the pair reads of it and goes on, or the run stops so that a resume can."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company, Run, ScriptedModel
from chatdev.errors import ToolCrashed, ToolError
from chatdev.tools.base import Tool, ToolContext, Verdict, tool

COMPANY = """
company: pages
about: Writes a short page.
inputs: {task: {about: The product., required: true}}
roles: {lead: {title: Lead}, writer: {title: Writer}}
phases:
  page:
    {about: Write a page., instructor: lead, assistant: writer, reads: [task], writes: software, rounds: 3,
     solution: {form: files, as_file: page.md}, opening: "The product: {{ task }}"}
chain: [{phase: page}, {tool: mine.step, writes: test}]
success: test.passed
"""
ODD, PLAIN = "<SOLUTION>\nodd", "<SOLUTION>\nplain"


class Odd(Exception):
    """Not raised on purpose."""


@tool(reads=("software",), name="mine.judge")
def judge(ctx: ToolContext) -> Verdict:
    """Crashes on what is odd."""
    if b"odd" in ctx.software.get("page.md", b""):
        raise Odd("cannot look at this")
    return Verdict("page.md" in ctx.software, "It is there." if ctx.software else "There is nothing.")


def step(ctx: ToolContext) -> Verdict:
    """Passes."""
    return Verdict(True, "fine")


def named(name: str, function: Callable[[ToolContext], Any]) -> Callable[[ToolContext], Any]:
    """The function as the tool `name`."""
    def own(ctx: ToolContext) -> Any:
        """A tool."""
        return function(ctx)

    own.__name__ = name
    return own


@pytest.fixture
def folder(here: Path) -> Path:
    (here / "pages").mkdir()
    (here / "pages" / "company.yaml").write_text(COMPANY)
    return here / "pages"


def run(folder: Path, replies: list[str], *tools: Tool | Callable[[ToolContext], Any],
        **sets: str) -> tuple[Run, ScriptedModel]:
    model = ScriptedModel({"page": replies})
    settings = [f"phases.page.{name}={tool}" for name, tool in sets.items()]
    company = Company.load(folder, tools=list(tools), sets=settings)
    return company.run("a lamp", model=model, sandbox="none"), model


@pytest.mark.parametrize(("kind", "replies"), [("feedback", ["odd", "Mend it.", PLAIN]),
                                               ("guard", [ODD, PLAIN, "<SOLUTION>"])])
def test_the_pair_reads_of_a_crash_and_goes_on(folder: Path, kind: str, replies: list[str]) -> None:
    done, model = run(folder, replies, step, judge, **{kind: "mine.judge"})
    assert done.success, done.reason
    assert done.software.text("page.md") == "plain\n"
    told = "".join(message.content for request in model.requests for message in request.messages)
    assert "The tool failed: mine.judge ended with an unexpected Odd: cannot look at this" in told
    assert "Odd: cannot look at this" in (done.folder / "run" / "tool_errors.log").read_text()
    assert chatdev.replay(done.folder, tools=[step, judge]).success


def test_a_step_that_crashes_stops_the_run_until_it_is_mended(folder: Path) -> None:
    broken = named("step", lambda context: context.values["odd"])
    stopped, _ = run(folder, [PLAIN, "<SOLUTION>"], broken)
    assert isinstance(stopped.error, ToolCrashed)
    assert stopped.error.exit_status == 4
    assert "mine.step ended with an unexpected KeyError: 'odd'" in stopped.reason
    mended = chatdev.resume(stopped.folder, model=ScriptedModel([]), tools=[step])
    assert mended.success, mended.reason


def test_a_step_that_crashes_alike_again_has_its_result(folder: Path) -> None:
    broken = named("step", lambda context: context.values["odd"])
    stopped, _ = run(folder, [PLAIN, "<SOLUTION>"], broken)
    again = chatdev.resume(stopped.folder, model=ScriptedModel([]), tools=[broken])
    assert not again.error
    assert not again.success
    mended = chatdev.resume(stopped.folder, model=ScriptedModel([]), tools=[step], since="mine.step#1")
    assert mended.success, mended.reason


def test_feedback_that_is_no_verdict_stops_the_run_until_it_is_mended(folder: Path) -> None:
    replies = [PLAIN, "<SOLUTION>"]
    stopped, _ = run(folder, replies, step, named("judge", lambda _: "no verdict"), feedback="mine.judge")
    assert isinstance(stopped.error, ToolError)
    assert "a verdict is needed" in stopped.reason
    mended = chatdev.resume(stopped.folder, model=ScriptedModel({"page": replies}), tools=[step, judge])
    assert mended.success, mended.reason


PLAN = [{"command": "python main.py 2 3"}, ["python main.py", 7], None, {"odd": True}]
TRIAL = """
company: trial
about: Writes and tries a program.
inputs: {task: {about: The product., required: true}}
roles: {writer: {title: Writer}}
phases:
  code: {about: Write it., assistant: writer, reads: [task], writes: software, solution: {form: files},
         opening: "{{ task }}"}
  plan: {about: Plan it., assistant: writer, reads: [task], writes: commands, solution: {form: list},
         opening: "{{ task }}"}
chain: [{phase: code}, {phase: plan}, {tool: software.use, reads: [software, commands], writes: test}]
success: test.passed
"""


def test_a_plan_of_objects_does_not_end_the_run(folder: Path) -> None:
    (folder / "company.yaml").write_text(TRIAL)
    model = ScriptedModel({"code": ["<SOLUTION>\nmain.py\n```python\nprint(1)\n```\n"],
                           "plan": [f"<SOLUTION>\n{json.dumps(PLAN)}"]})
    done = Company.load(folder).run("a lamp", model=model, sandbox="none")
    assert done.status == "unjudged", done.reason
    typed = [(command["command"], command["typed"]) for command in done.values["test"]["commands"]]
    assert typed == [("python main.py 2 3", []), ("python main.py", ["7"])]
