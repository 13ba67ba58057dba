"""What docs/plc.md claims holds in the results that are kept."""

from __future__ import annotations

import statistics

import pytest

from benchmarks.plc import agreement, claims, conformance, mutation, reading, references
from benchmarks.plc.corpus import read_references, reference_of
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.proof.verify import verify


def test_no_verdict_on_the_claims_from_the_standard_is_wrong() -> None:
    assert not any(row["wrong"] or row["contradictions"] for row in claims.STUDY.read()["rows"])


def test_three_ways_to_run_agree_in_100_000_scans() -> None:
    results = agreement.TABLE.read()
    assert (results["differences"], results["scans"] >= 100_000) == ([], True)
    assert all(results["features"].values())


def test_nothing_differs_from_the_rules_of_the_standard() -> None:
    rows = conformance.TABLE.read()["rows"]
    assert [row["differences"] for row in rows] == [[], [], [], [], []]
    assert sum(row["values"] for row in rows) > 250_000


def test_300_mutants_were_tried() -> None:
    rows = mutation.TABLE.read()["rows"]
    assert len(rows) >= 300
    assert sum(row["killed"] for row in rows) > sum(row["killed_by_chance"] for row in rows)


def test_nine_of_ten_properties_of_references_are_decided_soon() -> None:
    rows = [row for row in references.TABLE.read()["tasks"] if not row["broken"]]
    asked = [one for row in rows for one in row["outcomes"][:row["properties"]]]
    assert sum(one["verdict"] in references.DECIDED for one in asked) >= 0.9 * len(asked)
    assert statistics.median(one["seconds"] for one in asked) <= 0.3


@pytest.mark.parametrize(("reference", "number", "pattern", "more"), [
    ("245", 3, "pattern-statechange-duringcycle", "NOT storeTrigger"),
    ("245", 5, "pattern-statechange-duringcycle", "NOT resetTrigger"),
    ("249", 8, "pattern-statechange-duringcycle", "TRUE")])
def test_violated_properties_hold_where_the_page_says_so(reference: str, number: int, pattern: str, more: str) -> None:
    subject = reference_of(next(one for one in read_references() if one["id"].startswith(reference)))
    asked = subject.asked[number - 1]
    when, then = asked.parameters
    weaker = Property(pattern, (f"({when}) AND {more}", then))
    assert [one.verdict for one in verify(subject.source, None, [asked, weaker])[:2]] == ["VIOLATED", "PROVED"]


def test_no_random_run_contradicts_a_verdict() -> None:
    results = references.TABLE.read()
    assert [row["task"] for row in (*results["tasks"], *results["own"]) if row.get("contradictions")] == []


def test_a_check_takes_little_more_than_a_compiler_in_c() -> None:
    results = reading.STUDY.read()
    assert results["check"]["mean"] <= 4 * results[reading.YARDSTICK]["mean"]
