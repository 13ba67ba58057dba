"""The tool looks in the sheets, among the cases and where a run says, and one deaf place does not stop the others."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from chatdev.errors import ModelUnavailable, ToolError
from chatdev.paths import bundled_folder, data_dir
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, registry
from chatdev.tools.retrieval.search import RETRIEVERS, CaseBase, Passage, fuse

A, B, C = (Passage(name, name) for name in "ABC")
SHEETS = bundled_folder("company_config") / "agents4plc" / "knowledge"


def search(query: str, *retrievers: Any, **arguments: Any) -> str:
    context = ToolContext({}, {}, {}, Unconfined(), Path(), Path(), {RETRIEVERS: retrievers})
    text = registry()["retrieval.search"].call(context, {"query": query, **arguments})
    assert isinstance(text, str)
    return text


class Web:
    def search(self, query: str, k: int) -> list[Passage]:
        return [Passage("A page", f"about {query}", "https://example.org")][:k]


class Deaf:
    def search(self, query: str, k: int) -> list[Passage]:
        raise ModelUnavailable("no connection")


@pytest.mark.parametrize(("query", "title"), [
    ("flashing lamp", "Blink (flashing lamp)"), ("TON timing", "TON: on delay"), ("debounce a contact", "Debounce"),
    ("first out alarm", "First-out alarm"), ("two pumps alternate", "Pump alternation"),
    ("ring buffer queue", "Ring buffer"),
    ("motor start stop seal-in", "Start and stop of a motor"), ("scale analog raw value", "Scale a raw value"),
    ("R_TRIG rising edge", "R_TRIG"), ("moving average", "Moving average"), ("emergency stop reset", "Emergency stop"),
    ("how do I prove that it stays on until reset", "It stays until"), ("CASE statement", "CASE"),
    ("enumeration type", "Enumeration"), ("convert DINT to INT", "conver"), ("state machine", "State machine"),
])
def test_the_sheets_answer(query: str, title: str) -> None:
    shown = [line.lower() for line in search(query).splitlines() if line.startswith("# ")]
    assert any(title.lower() in line for line in shown), shown


def test_a_query_for_nothing_says_what_to_try() -> None:
    assert search("zzz qqq").startswith('Nothing was found for "zzz qqq". Try other words')


def test_only_the_named_collection_is_looked_into() -> None:
    assert "Blink" in search("blink", collection="agents4plc")
    with pytest.raises(ToolError, match="no collection 'nobody'; there are: agents4plc"):
        search("blink", collection="nobody")


def test_cases_are_found_beside_the_sheets() -> None:
    cases = CaseBase()
    cases.add_program("# Elevator\nThe cabin moves between floors.", "PROGRAM Elevator\nEND_PROGRAM")
    cases.add_patch("undeclared variable 'cabin'", "A := 1;\nB := 2;\n", "A := 1;\nB := 3;\n")
    assert data_dir() / "cases.sqlite" in data_dir().iterdir()
    text = search("cabin floors", k=2)
    assert "# Elevator (verified program)" in text
    assert "PROGRAM Elevator\nEND_PROGRAM" in text
    assert "-B := 2;\n+B := 3;" in search("undeclared cabin", k=2)


def test_a_patch_that_changes_nothing_is_no_case() -> None:
    CaseBase().add_patch("a complaint", "A := 1;", "A := 1;")
    assert CaseBase().search("complaint", 3) == []


def test_several_writers_lose_no_case(tmp_path: Path) -> None:
    def keep(number: int) -> None:
        CaseBase(tmp_path / "cases").add_program(f"task{number} of many", "PROGRAM P END_PROGRAM")

    writers = [threading.Thread(target=keep, args=(number,)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(CaseBase(tmp_path / "cases").search("many", 10)) == 8


def test_a_further_retriever_takes_part_and_a_deaf_one_is_named() -> None:
    text = search("blink", Web(), Deaf())
    assert "# A page (https://example.org)" in text
    assert "Blink" in text
    assert "One place could not be asked: no connection" in text


def test_ranks_are_fused() -> None:
    assert fuse([[A, B], [B, C], [B]]) == [B, A, C]
