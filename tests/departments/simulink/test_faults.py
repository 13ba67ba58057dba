"""The study of agents' mistakes, in a small sample."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest

from benchmarks.simulink.faults import TABLE, VARIANTS, FaultRow, applies, run_mistake, tables
from chatdev.departments.simulink.reference_models import reference_models

LOOP = reference_models()["droop_loop"].diagram


@pytest.mark.tool
@pytest.mark.parametrize(("mistake", "variant", "after", "route"), [
    ("invents a block type", "whole", 1.0, ()), ("invents a block type", "without reviewer", 1.0, ("investigation",)),
    ("invents a block type", "without both", 0.0, ()), ("counts a port wrongly", "whole", 1.0, ("code",)),
    ("counts a port wrongly", "without locator", 0.0, ())])
def test_a_mistake_is_mended_unless_who_mends_it_is_left_out(
        tmp_path: Path, mistake: str, variant: str, after: float, route: tuple[str, ...]) -> None:
    row = run_mistake(LOOP, mistake, variant, tmp_path)
    assert (row.after, row.routes) == (after, route)
    assert row.success == bool(after)


def test_a_mistake_that_nobody_can_make_is_left_out() -> None:
    assert not applies("flips a direction", reference_models()["two_bus_grid"].diagram)
    assert applies("flips a direction", LOOP)


def test_the_tables_tell_means_and_how_many_succeed() -> None:
    rows = [FaultRow("a", "forgets a line", variant, 1.0, after, after == 1, 5, ("port types",), ("code",))
            for variant, after in (("whole", 1.0), ("without reviewer", 1.0), ("without locator", 0.5),
                                   ("without both", 0.5))]
    table = tables(rows)
    assert "| forgets a line | port types | code | 100.0 % | 100.0 % |" in table
    assert "| forgets a line | 100.0 % (1) | 100.0 % (1) | 50.0 % (0) | 50.0 % (0) |" in table


def test_the_study_on_record_says_what_each_ablation_loses() -> None:
    rows = [FaultRow(**row) for row in TABLE.read()["rows"]]
    means = {name: fmean(one.after for one in rows if one.variant == name) for name in VARIANTS}
    assert means["whole"] == 1.0
    assert means["without both"] < means["without locator"] < means["without reviewer"] < 1.0
    assert {tuple(one.routes) for one in rows} == {(), ("code",), ("investigation",)}
    assert all(one.success for one in rows if one.variant == "whole")
