"""Tools of the caller's own: functions given to a company, without a package that offers them."""

from __future__ import annotations

from pathlib import Path

import pytest

import chatdev
from chatdev import Company, ConfigError, ModelRejected, ScriptedModel
from chatdev.tools.base import ToolContext, Verdict, tool

COMPANY = """
company: pages
about: Writes a short page.
inputs: {task: {about: The product., required: true}}
roles: {writer: {title: Writer, tools: [mine.count]}}
phases:
  page:
    {about: Write a page., assistant: writer, reads: [task], writes: software,
     solution: {form: files, as_file: page.md}, opening: "The product: {{ task }}"}
  slogan: {about: Write a slogan., assistant: writer, reads: [task], writes: slogan, opening: "The product: {{ task }}"}
chain:
  - phase: page
  - phase: slogan
  - {tool: house.short, writes: test}
success: test.passed
"""
ASKS = '```json\n{"tool": "mine.count", "arguments": {"text": "one two three"}}\n```'
REPLIES = {"page": ["<SOLUTION>\nA list."], "slogan": [ASKS, "<SOLUTION> Get it done"]}


def count(ctx: ToolContext, *, text: str) -> int:
    """How many words are in a text?"""
    return len(text.split())


@tool(reads=("software",), name="house.short")
def short(ctx: ToolContext, *, lines: int = 3) -> Verdict:
    """Is the software short enough?"""
    found = sum(len(data.splitlines()) for data in ctx.software.values())
    return Verdict(found <= lines, f"{found} lines of at most {lines}")


@pytest.fixture
def folder(here: Path) -> Path:
    """A company that names two tools which no package has."""
    (here / "pages").mkdir()
    (here / "pages" / "company.yaml").write_text(COMPANY)
    return here / "pages"


def run(folder: Path, replies: dict[str, list[str]]) -> chatdev.Run:
    company = Company.load(folder, tools=[count, short])
    return company.run("a to-do list", model=ScriptedModel(replies), sandbox="none")


def test_agents_and_steps_use_functions_as_tools(folder: Path) -> None:
    model = ScriptedModel(REPLIES)
    run = Company.load(folder, tools=[count, short]).run("a to-do list", model=model, sandbox="none")
    assert run.success, run.reason
    assert run.values["test"]["report"] == "1 lines of at most 3"
    told, *_, observed = [message.content for message in model.requests[-1].messages]
    assert "- mine.count: How many words are in a text?" in told
    assert observed == "Result of mine.count:\n3"


def test_without_the_functions_the_company_does_not_load(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"mine\.count"):
        Company.load(folder)


def test_a_run_goes_on_when_its_tools_are_given_again(folder: Path) -> None:
    stopped = run(folder, {**REPLIES, "slogan": []})
    assert isinstance(stopped.error, ModelRejected)
    for missing in ([], [count]):
        with pytest.raises(ConfigError, match=r"the run has tools of your own.*house\.short.*give the functions again"):
            chatdev.resume(stopped.folder, model=ScriptedModel(REPLIES), tools=missing)
    resumed = chatdev.resume(stopped.folder, model=ScriptedModel(REPLIES), tools=[count, short])
    assert resumed.success, resumed.reason


def test_forks_further_tasks_and_replays_take_tools_too(folder: Path) -> None:
    done = run(folder, REPLIES)
    with pytest.raises(ConfigError, match=r"tools of your own.*mine\.count"):
        chatdev.replay(done.folder)
    assert chatdev.replay(done.folder, tools=[count, short]).success
    for more in ({"since": "slogan"}, {"task": "shorter"}, {"since": "slogan", "as_it_was": True}):
        again = chatdev.resume(done.folder, model=ScriptedModel(REPLIES), tools=[count, short],
                               **more)
        assert again.success, again.reason


def two(ctx: ToolContext, amount: int) -> int:
    """Takes what may be given by place."""
    return amount


def silent(ctx: ToolContext) -> int:
    return 1


async def waiting(ctx: ToolContext) -> int:
    """Does not answer at once."""
    return 1


@pytest.mark.parametrize(("function", "words"), [
    (two, "two cannot be a tool: two: amount must be keyword-only and typed"),
    (silent, "silent has no docstring"),
    (waiting, "plain function"),
    (lambda ctx: 1, "plain function"),
])
def test_what_cannot_be_a_tool_is_refused_with_the_way_to_write_it(folder: Path, function: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Company.load(folder, tools=[function])  # type: ignore[list-item]


@pytest.mark.parametrize("tools", [[count, count], [tool(name="software.run")(count)]])
def test_two_tools_of_one_name_are_refused(folder: Path, tools: list[object]) -> None:
    with pytest.raises(ConfigError, match="there are two tools"):
        Company.load(folder, tools=tools)  # type: ignore[arg-type]


def test_a_tool_of_a_script_is_mine() -> None:
    def lone(ctx: ToolContext) -> int:
        """One."""
        return 1

    lone.__module__ = "__main__"
    assert tool()(lone).name == "mine.lone"
