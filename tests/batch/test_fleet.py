"""The fleet of the benchmark, small: whole companies through the ledger, over real HTTP, many at once."""

from __future__ import annotations

import re

import pytest

from benchmarks.fleet import CALLS, LATENCY, PAGE, Fleet, booked, measured, served, told
from benchmarks.study import RESULTS_FOLDER, read_results


def test_a_small_fleet_arrives_whole_and_is_measured() -> None:
    with served(LATENCY) as url:
        figures = measured(Fleet(jobs=10, at_once=5, latency=LATENCY), url)
    assert (figures["failed"], figures["calls"]) == (0, 10 * CALLS)
    assert figures["ideal_seconds"] == 2.6
    assert 1 < figures["ratio_to_ideal"] < 30  # it tells that nothing hangs; how near it comes, a quiet machine tells
    assert [sample["done"] for sample in figures["samples"]] == [*range(11), 10]


def test_the_fleet_that_is_written_down_was_whole_and_its_memory_flat() -> None:
    results = read_results(RESULTS_FOLDER / "fleet.json")
    fleet = results["fleet"]
    assert (fleet["jobs"], fleet["failed"], results["crowd"]["failed"]) == (1200, 0, 0)
    assert fleet["memory_mib"]["at_the_end"] <= 1.1 * fleet["memory_mib"]["after_a_tenth"]
    assert told(results) in PAGE.read_text(encoding="utf-8")


def test_the_ledger_is_measured_by_itself() -> None:
    figures = booked(jobs=50, claims=20)
    assert figures["jobs"] == 50
    assert figures["claim_ms"] > 0


@pytest.mark.usefixtures("here")
def test_the_page_shows_work_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    *_, example = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, str(PAGE), "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == "finished 1000 332833.5\n"
