"""`mends`: a tool puts right in a delivery what needs no thought, before anything judges it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.errors import ConfigError
from chatdev.events import DraftJudged
from chatdev.tools.base import ToolContext, tool
from tests.engine.drafting import ALONE, TURN, replies, stubs
from tests.engine.studio import Studio, program

MENDING = {**ALONE, "mends": "engine.finish", "drafts": 2}


@tool(reads=("software",), writes_files=True)
def finish(ctx: ToolContext) -> dict[str, Any]:
    """Give every function a body; crash at `# crash`, and give nonsense at `# nonsense`, escape at `# escape`."""
    text = ctx.software["main.py"].decode()
    if "# crash" in text:
        raise ZeroDivisionError
    if "# nonsense" in text:
        return {"files": ["main.py"]}
    path = "../main.py" if "# escape" in text else "main.py"
    return {"files": {path: text.replace("    pass", "    return 1")}, "report": "finished"}


def run(studio: Studio, answers: dict[str, Any], phase: dict[str, Any] = MENDING, **fields: Any) -> Run:
    company = Company.load(studio.company({"write": phase}, **fields), tools=[finish])
    studio.server.route(lambda request: answers.get(request.headers["X-ChatDev-Activity"]))
    return company.run("TASK", model="scripted-model", base_url=studio.server.url, sandbox="none",
                       warehouse=studio.folder / "warehouse", on_event=studio.events.append)


def test_a_draft_is_mended_before_it_is_judged(studio: Studio) -> None:
    found = run(studio, replies(stubs(2)))
    assert found.software.text("main.py").count("return 1") == 2
    assert [event.passed for event in studio.events if isinstance(event, DraftJudged)] == [True]
    assert studio.tool_calls(f"{TURN}/") == [f"{TURN}/mend", f"{TURN}/feedback"]


def test_a_delivery_without_drafts_is_mended_too(studio: Studio) -> None:
    found = run(studio, replies(stubs(1)), {**MENDING, "drafts": 1})
    assert "return 1" in found.software.text("main.py")
    assert studio.endings()["write#1"] == "feedback"


def test_only_what_was_delivered_is_mended(studio: Studio) -> None:
    other = {"write": {**MENDING, "drafts": 1}}
    answers = {f"{TURN}": "other.py\n```python\nx = 1\n```\n<SOLUTION>"}
    studio.server.route(lambda request: answers.get(request.headers["X-ChatDev-Activity"]))
    (given := studio.folder / "given").mkdir()
    (given / "main.py").write_text("def f():\n    pass\n")
    run = Company.load(studio.company(other), tools=[finish]).run(
        "TASK", model="scripted-model", base_url=studio.server.url, sandbox="none", software=given,
        warehouse=studio.folder / "warehouse")
    assert run.software.text("other.py") == "x = 1\n"
    assert run.software.text("main.py") == "def f():\n    pass\n"


def test_a_tool_that_crashes_leaves_the_delivery_as_it_is(studio: Studio) -> None:
    found = run(studio, replies(program("# crash"), program("# crash too")))
    assert found.software.text("main.py") == "# crash\n"


@pytest.mark.parametrize(("mark", "why"), [("nonsense", "engine.finish gives no files"),
                                           ("escape", "engine.finish writes outside of the software")])
def test_a_tool_that_gives_no_files_ends_the_run_with_its_name(studio: Studio, mark: str, why: str) -> None:
    found = run(studio, replies(*[program(f"# {mark}")] * 2))
    assert found.error
    assert why in found.reason


def test_a_tool_of_the_chain_may_write_the_software(studio: Studio) -> None:
    chain = [{"phase": "write"}, {"tool": "engine.finish", "writes": "software"},
             {"tool": "software.complete", "writes": "test"}]
    found = run(studio, replies(stubs(1)), {**ALONE, "drafts": 1}, chain=chain)
    assert "return 1" in found.software.text("main.py")
    assert "engine.finish#1" in studio.git_log(found)


def test_only_a_tool_that_writes_files_can_mend(studio: Studio, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mends: the tool software.complete makes no files"):
        run(studio, {}, {**MENDING, "mends": "software.complete"})
