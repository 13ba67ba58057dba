"""Whatever the sheets and examples show is checked: programs compile, wrong ones are refused with the words that stand
there."""

from __future__ import annotations

import json

import pytest

from benchmarks.plc.sheets import COMPANY, Snippet, read_examples, read_sheets
from chatdev.departments.plc.st.reading import read_program

SNIPPETS = [*read_sheets(), *read_examples()]


@pytest.mark.parametrize("snippet", [one for one in SNIPPETS if not one.mistake], ids=str)
def test_a_program_of_a_sheet_compiles_without_a_word(snippet: Snippet) -> None:
    assert read_program(snippet.source).diagnostics == ()


@pytest.mark.parametrize("snippet", [one for one in SNIPPETS if one.mistake], ids=str)
def test_a_wrong_program_of_a_sheet_gets_its_message(snippet: Snippet) -> None:
    errors = [one.message for one in read_program(snippet.source).diagnostics if one.severity == "error"]
    assert errors[:1] == [error for error in errors if error.startswith(snippet.mistake)][:1]


def test_there_is_enough_to_look_up() -> None:
    idioms = [one for one in SNIPPETS if one.place.startswith("idioms_")]
    assert len(idioms) >= 60
    assert all(1 <= len(json.loads(one.properties[0])) <= 4 for one in idioms)
    assert len([one for one in SNIPPETS if one.mistake]) >= 25


def test_every_example_says_what_is_wanted() -> None:
    for folder in (COMPANY / "examples").iterdir():
        assert sorted(path.name for path in folder.iterdir()) == ["properties.json", "requirement.md", "solution.st"]
        program = read_program((folder / "solution.st").read_text(encoding="utf-8")).program
        assert program
        text = (folder / "requirement.md").read_text(encoding="utf-8")
        names = [one.written for one in program.entry.of_section("input", "output")]
        assert [name for name in names if f"`{name}`" not in text and f"`{name[:-1]}1` … " not in text] == []
