"""In every layout of the study ports are read as far as it says, and no right module is refused for them."""

from __future__ import annotations

import pytest

from benchmarks.verilog.port_specs import Row, rows
from benchmarks.verilog.ports import STUDY, VARIANTS, counts_of, layouts

LAYOUTS = STUDY.read()["layouts"]
EVERY = 29
"""Of so many modules one is read here."""


def test_the_study_is_of_the_layouts_that_are_there() -> None:
    assert list(LAYOUTS) == layouts()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_right_module_is_refused_and_nothing_is_invented(layout: str) -> None:
    for variant in VARIANTS:
        assert (LAYOUTS[layout][variant]["refused"], LAYOUTS[layout][variant]["invented"]) == (0, 0)
        found = counts_of(layout, variant, EVERY)
        assert (found.refused, found.invented, found.another) == (0, 0, 0)


def test_most_layouts_are_read_exactly_and_their_mistakes_told() -> None:
    exact = [row["alone"] for row in LAYOUTS.values() if row["alone"]["exactly"] == row["alone"]["modules"]]
    assert len(exact) >= 26
    assert sum(row["lacking"] for row in exact) / sum(row["modules"] for row in exact) > 0.7


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_prose_around_a_list_refuses_no_right_module(row: Row) -> None:
    assert not row.refused
    assert row.invented_for_certain == 0
    if row.is_listed:
        assert row.lacking >= row.ports / 2
        assert row.certain >= row.ports / 2
