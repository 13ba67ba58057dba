"""What the study writes down: one row a task, and the table in the page."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from benchmarks.first_runs import run_all
from benchmarks.first_runs.record import BEGIN, END, PAGE, Row, save, table, write_page

TASKS = yaml.safe_load(Path(run_all.__file__).with_name("tasks.yaml").read_text(encoding="utf-8"))["tasks"]


def _row(name: str, reason: str = "") -> Row:
    return Row(name, 6, 2500, 560, 3.5, 3, 31, True, not reason, 5 if reason else 6, 6, reason)


def test_a_later_run_of_one_task_replaces_its_row_and_keeps_the_others(tmp_path: Path) -> None:
    file = tmp_path / "results" / "first_runs.json"
    save([_row("Primes", "a message for a word"), _row("Todo")], "local", file)
    study = save([_row("Primes")], "local", file)
    assert [(task["name"], task["accepted"]) for task in study["tasks"]] == [("Primes", True), ("Todo", True)]


def test_the_table_says_what_failed_and_how_many_were_accepted(tmp_path: Path) -> None:
    text = table(save([_row("Primes", "a | b"), _row("Todo")], "local", tmp_path / "r.json"))
    assert "| Primes | 6 | 2500 | 560 | 3.5 | 3 | 31 | yes | no (5/6) | a / b |" in text
    assert "1 of 2 accepted; model: local;" in text


def test_only_the_part_between_the_markers_is_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    study = save([_row("Todo")], "local", tmp_path / "r.json")
    for _ in range(2):
        write_page(study, page)
    assert page.read_text() == f"before\n{BEGIN}\n{table(study)}\n{END}\nafter\n"


def test_a_page_without_markers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("nothing")
    with pytest.raises(ValueError, match="add them where the table belongs"):
        write_page(save([_row("Todo")], "local", tmp_path / "r.json"), tmp_path / "page.md")


def test_the_page_that_ships_has_its_markers() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.index(BEGIN) < text.index(END)


def test_every_task_has_a_text_and_an_acceptance_script() -> None:
    assert [task["name"] for task in TASKS] == ["Primes", "Todo", "Converter", "Castle", "Calculator"]
    for task in TASKS:
        assert task["task"].strip()
        assert Path(run_all.__file__).with_name(task["accept"]).is_file()
