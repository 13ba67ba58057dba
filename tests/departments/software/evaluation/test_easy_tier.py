"""A study of easy tasks: its rows, and what a run made of its first draft."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.software import easy_local
from benchmarks.software.easy_drafts import drafts_table, worth_of_drafts
from chatdev.departments.software.evaluation.srdd import EasyTier, drafts, first_draft, load_easy_tasks
from chatdev.errors import ConfigError
from chatdev.evaluation.study import Conditions, Study
from chatdev.paths import settings_file
from chatdev.runner.recorded import RecordedRun
from tests.engine.studio import program
from tests.evaluation.lab import ALONE, BROKEN, Lab
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.tool

RIGHT = "import sys\nword = sys.argv[1]\nprint(word, 'steps') if word.isdigit() else sys.exit('a number please')"
TASK = textwrap.dedent("""
    name: Step Counter
    area: Life
    category: Home and Household
    layout: within a sentence
    description: "`python main.py 2` prints `2 steps`."
    checks:
    - {name: the example, starts: [{arguments: [2], prints: 2 steps}]}
    - {name: another number, starts: [{arguments: [30], prints: 30 steps}]}
    - {name: words are refused, starts: [{arguments: [many], prints: a number please, status: 1}]}
    reference: print()
""")


@pytest.fixture
def row_of(tmp_path: Path, chat_server: ChatServer) -> Callable[..., dict[str, Any]]:
    """The row of a run whose drafts are these."""
    def run(*drafts: str) -> dict[str, Any]:
        lab, replies = Lab(tmp_path, chat_server), iter(drafts)
        lab.answer = lambda request, task: next(replies, drafts[-1])
        settings_file().parent.mkdir(parents=True, exist_ok=True)
        settings_file().write_text("models: [{match: [scripted], drafts_at_once: 1}]", encoding="utf-8")
        lab.write("easy/step-counter.yaml", TASK)
        company = lab.company("drafting", {"coding": {**ALONE, "guard": "software.run", "drafts": len(drafts)}})
        study = Study(EasyTier(tmp_path / "easy", "mine"), lab.folder / "study", Conditions(install="never"),
                      base_url=chat_server.url)
        lab.run(lab.variants(str(company)), study)
        [row] = lab.rows().values()
        return {**row, "folder": lab.folder / "study" / row["folder"]}

    return run


def test_a_row_says_what_became_of_the_first_draft(row_of: Callable[..., dict[str, Any]]) -> None:
    row = row_of(BROKEN, program(RIGHT))
    assert [row[name] for name in ("data", "way", "layout", "solved", "checks", "refusals", "example_passed")] == [
        "mine", "arguments", "code marks", 1, 3, 1, True]
    assert (row["checks_passed"], row["first_draft_passed"]) == (3, 0)
    assert first_draft(RecordedRun.read(row["folder"]).records) == {"main.py": b"print(1 / 0)\n"}


def test_all_drafts_of_a_run_are_worth_something(row_of: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    folder = row_of("I would rather not.", BROKEN, program(RIGHT))["folder"]
    assert [set(one) for one in drafts(RecordedRun.read(folder).records)] == [{"main.py"}, {"main.py"}]
    worth = worth_of_drafts({"drafting": [folder]}, load_easy_tasks(tmp_path / "easy"))
    assert worth == {"drafting": {"runs": 1, "drafts": 2, "right": 1}}
    assert "| drafting | 1 | 2.0 | 1 | 1 |" in drafts_table(worth, {"drafting": 1.0})


def test_where_no_draft_passes_every_check_none_is_right(row_of: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    folder = row_of(program("print('2 steps')"))["folder"]
    worth = worth_of_drafts({"drafting": [folder]}, load_easy_tasks(tmp_path / "easy"))
    assert worth == {"drafting": {"runs": 1, "drafts": 1, "right": 0}}


def test_a_first_draft_that_nobody_can_read_passes_nothing(row_of: Callable[..., dict[str, Any]]) -> None:
    row = row_of("I would rather not.", program("print('2 steps')"))
    assert (row["checks_passed"], row["first_draft_passed"], row["solved"]) == (1, 0, 0)


def test_where_nothing_was_delivered_there_is_no_first_draft(row_of: Callable[..., dict[str, Any]]) -> None:
    row = row_of("I would rather not.", "Nor would I.")
    assert (row["checks_passed"], row["first_draft_passed"], row["example_passed"]) == (0, None, False)


def test_a_task_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "step-counter.yaml").write_text(TASK, encoding="utf-8")
    with pytest.raises(ConfigError, match="has no task 'Stair Counter'"):
        EasyTier(tmp_path, "mine").task("Stair Counter")


def test_the_study_says_how_far_a_verdict_can_be_trusted() -> None:
    kinds = {"single": (100, "success", 1, 4, 4), "chatdev": (800, "failure", 0, 2, 3)}
    rows = [{"task": f"T/{number}", "variant": name, "area": "Life", "layout": "table", "way": "file", "status": status,
             "solved": solved, "example_passed": bool(solved), "checks": 4, "checks_passed": passed, "seconds": tokens,
             "first_draft_passed": first, "tokens": tokens} for name, (tokens, status, solved, passed, first)
            in kinds.items() for number in range(2)]
    text = easy_local.page_text({"rows": rows, "machine": "a laptop", "date": "2026-01-01"}, "tuning")
    assert "| single | 2 | 2 | 0 | 0 | 0 | 0 |" in text
    assert "| chatdev | 0 | 0 | 2 | 0 | 2 | 0 |" in text
    assert "| chatdev | 800 | 800 | 8.0 | 8.0 |" in text
    assert "| chatdev | 2 | 0.0 | 2.0 | 0.00 |" in text
    assert "Study easy-tuning: 4 runs measured" in text


def test_what_the_tester_wrote_down_is_no_draft() -> None:
    examples, coding = "examples#1/round-1/assistant", "coding#1/round-1/assistant"
    records: list[dict[str, Any]] = [
        {"kind": "Activity", "place": examples, "result": {"text": "[]"}},
        {"kind": "DeliveryApplied", "place": examples, "written": ["examples"], "deleted": []},
        {"kind": "Activity", "place": coding, "result": {"text": program(RIGHT)}},
        {"kind": "DeliveryApplied", "place": coding, "written": ["main.py"], "deleted": []}]
    assert first_draft(records) == {"main.py": f"{RIGHT}\n".encode()}
