"""Every table of docs/ that a study writes is the one of its kept results."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.__main__ import find_tables
from benchmarks.study import DOCS, KeptTable, marks

TABLES = find_tables()
MARKS = [(page, mark) for page in sorted(DOCS.rglob("*.md"))
         for mark in re.findall(r"<!-- .*: written by .* -->", page.read_text(encoding="utf-8"))]
FIRST, SECOND = marks("first", "x"), marks("second", "x")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table.page.stem}, {table.marks[0][5:-4]}")
def test_a_table_is_that_of_its_results(table: KeptTable) -> None:
    assert table.is_up_to_date, "python -m benchmarks --write writes it anew"


def test_every_mark_belongs_to_one_table() -> None:
    assert sorted(MARKS) == sorted((table.page, table.marks[0]) for table in TABLES)


@pytest.fixture
def table(tmp_path: Path) -> KeptTable:
    page = tmp_path / "page.md"
    page.write_text("\n".join(["before", *FIRST, "between", SECOND[0], "old", SECOND[1], "after\n"]))
    return KeptTable(lambda kept: f"{kept['figure']} %", tmp_path / "results.json", page, SECOND)


def test_only_the_part_between_the_marks_is_written(table: KeptTable) -> None:
    assert not table.is_up_to_date
    assert table.write() == ""
    empty = table.page.read_text()
    assert empty == "\n".join(["before", *FIRST, "between", *SECOND, "after\n"])
    for _ in range(2):
        assert table.keep({"figure": 7}) == "7 %"
        assert table.page.read_text() == empty.replace(SECOND[0], f"{SECOND[0]}\n7 %")
    assert table.is_up_to_date


def test_a_page_without_marks_is_refused(table: KeptTable) -> None:
    table.page.write_text("nothing")
    with pytest.raises(ValueError, match="add them where the table belongs"):
        table.write()
