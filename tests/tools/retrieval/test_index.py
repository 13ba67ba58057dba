"""Passages are found by their words, and no query is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.errors import ToolError
from chatdev.tools.retrieval.search import Passage, WordIndex, read_passages, split_sheet

BLINK = Passage("Blink", "A lamp flashes; the timer TON resets itself.", "time")
EDGE = Passage("Rising edge", "R_TRIG gives one pulse, whatever the lamp does. T#5s", "logic")
PUMPS = Passage("Pumps", "Two pumps take turns.", "states")


@pytest.fixture(scope="module")
def index() -> WordIndex:
    made = WordIndex()
    made.add([BLINK, EDGE, PUMPS, BLINK])
    return made


@pytest.mark.parametrize(("query", "first"), [
    ("flashing lamps", BLINK), ("R_TRIG", EDGE), ("r_trig.Q", EDGE), ("T#5s", EDGE), ("pump", PUMPS),
    ("edge of a lamp", EDGE), ("how do I alternate the PUMPS?", PUMPS),
])
def test_the_best_passage_comes_first(index: WordIndex, query: str, first: Passage) -> None:
    assert index.search(query, 3)[0] == first


def test_a_passage_is_there_once_and_no_more_than_wanted_come(index: WordIndex) -> None:
    assert index.search("lamp", 9) == [BLINK, EDGE]
    assert len(index.search("lamp pumps edge", 2)) == 2


def test_a_part_of_a_name_is_not_the_name(index: WordIndex) -> None:
    assert index.search("TRIG", 3) == []


@pytest.mark.parametrize("query", ["", " ", '"', "*", "NEAR(", "a AND", "title:x", "^lamp(", "-",
                                   "'; DROP TABLE passages",
                                   "\0", "\ud800", "lamp\0", "(" * 100_000, "lamp " * 100_000, "x" * 100_000, "²½Ⅷ٣"])
def test_signs_of_the_query_language_mean_nothing(index: WordIndex, query: str) -> None:
    assert set(index.search(query, 3)) <= {BLINK, EDGE, PUMPS}
    assert index.search("pump", 1) == [PUMPS]


@given(query=st.text())
def test_any_text_is_a_query(query: str) -> None:
    with WordIndex() as index:
        index.add([BLINK, Passage("Q", query)])
        assert len(index.search(query, 5)) <= 2


def test_a_sheet_is_split_at_its_headings() -> None:
    fence = "```st\n## no heading\n# none either\n```"
    sheet = f"# Time\n\nAll about time.\n\n## Blink\n\nA lamp.\n\n{fence}\n\n## Empty\n## Edge\nOnce.\n"
    assert [(one.title, one.text) for one in split_sheet(sheet, "time")] == [
        ("Time", "All about time."), ("Time: Blink", f"A lamp.\n\n{fence}"),
        ("Time: Edge", "Once.")]


def test_all_sheets_of_a_folder_are_read_but_its_readme(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "README.md", "notes.txt"):
        (tmp_path / name).write_text(f"# {name}\n## One\ntext\n")
    assert [one.source for one in read_passages(tmp_path)] == ["a", "b"]


def test_a_file_that_is_no_index_is_named(tmp_path: Path) -> None:
    file = tmp_path / "cases.sqlite"
    file.write_text("this is a letter, not a database, and it is long enough to be looked at" * 20)
    with pytest.raises(ToolError, match=r"cases\.sqlite: SQLite says .*not a database"):
        WordIndex(file)
