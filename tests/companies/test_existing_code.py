"""The study of existing code: what it counts, and one repository of it."""

from __future__ import annotations

import pytest

from benchmarks.software.existing_code import RIGHT, is_as_wanted, table, try_reply
from tests.support.repositories import REPOSITORIES


@pytest.mark.tool
@pytest.mark.parametrize("about", [RIGHT, "rewrites another file"])
def test_no_change_does_harm_and_is_called_a_success(about: str) -> None:
    row = try_reply("C", about)
    assert is_as_wanted(row), row
    assert (row["status"] == "success") is (about == RIGHT)
    assert row["share"] < 0.25


def test_the_table_names_harm_that_is_called_a_success() -> None:
    row = {"repository": "C", "status": "success", "calls": 3, "share": 0.01, "untouched": True, "applies": True}
    text = table([{**row, "model": RIGHT, "changed": ["calc.c"]},
                  {**row, "model": "rewrites another file", "changed": ["calc.c", "calc.h"]}])
    assert "| C | right | success | the file | 3 | 1.0% |" in text
    assert "- C, rewrites another file: success, changes calc.c, calc.h" in text


def test_every_repository_has_a_right_model_and_wrong_ones() -> None:
    for repository in REPOSITORIES.values():
        assert len(set(repository.replies.values())) == 5
        assert repository.spared in repository.files
