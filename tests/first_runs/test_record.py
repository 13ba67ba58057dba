"""What the study writes down: one row a task, and the table in the page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from benchmarks.first_runs import run_all
from benchmarks.first_runs.record import TABLE, Row, save
from benchmarks.study import KeptTable

TASKS = yaml.safe_load(Path(run_all.__file__).with_name("tasks.yaml").read_text(encoding="utf-8"))["tasks"]


def _row(name: str, reason: str = "") -> Row:
    return Row(name, 6, 2500, 560, 3.5, 3, 31, True, not reason, 5 if reason else 6, 6, reason)


@pytest.fixture
def kept(tmp_path: Path) -> KeptTable:
    (tmp_path / "page.md").write_text("before\n{}\nold\n{}\nafter\n".format(*TABLE.marks))
    return replace(TABLE, results=tmp_path / "results" / "first_runs.json", page=tmp_path / "page.md")


def test_a_later_run_of_one_task_replaces_its_row_and_keeps_the_others(kept: KeptTable) -> None:
    save(kept, [_row("Primes", "a message for a word"), _row("Todo")], "local")
    save(kept, [_row("Primes")], "local")
    assert [(task["name"], task["accepted"]) for task in kept.read()["tasks"]] == [("Primes", True), ("Todo", True)]


def test_the_table_says_what_failed_and_how_many_were_accepted(kept: KeptTable) -> None:
    save(kept, [_row("Primes", "a | b"), _row("Todo")], "local")
    assert "| Primes | 6 | 2500 | 560 | 3.5 | 3 | 31 | yes | no (5/6) | a / b |" in kept.text()
    assert "1 of 2 accepted; model: local;" in kept.text()


def test_every_task_has_a_text_and_an_acceptance_script() -> None:
    assert [task["name"] for task in TASKS] == ["Primes", "Todo", "Converter", "Castle", "Calculator"]
    for task in TASKS:
        assert task["task"].strip()
        assert Path(run_all.__file__).with_name(task["accept"]).is_file()
