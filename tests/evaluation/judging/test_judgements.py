"""Outcomes of pairs, shares and their intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.evaluation.judging.judgements import HUMAN, Judgement, Verdict, compare_companies, outcome, wilson

A, B = ("A", "B"), ("B", "A")


def look(order: tuple[str, str], verdict: Verdict | None, judge: str = "m", pair: str = "p") -> Judgement:
    return Judgement(f"{pair}{order}{judge}", pair, "task", judge, *order, verdict)


@pytest.mark.parametrize(("looks", "expected"), [
    ([look(A, "first"), look(B, "second")], ("win", "A")),
    ([look(A, "second"), look(B, "first")], ("win", "B")),
    ([look(A, "first"), look(B, "first")], ("tie", None)),
    ([look(A, "first"), look(B, "tie")], ("tie", None)),
    ([look(A, "tie"), look(B, "tie")], ("tie", None)),
    ([look(A, "first"), look(B, None)], ("unreadable", None)),
    ([look(A, "first")], ("unfinished", None)),
    ([look(B, "first", HUMAN)], ("win", "B")),
    ([look(B, "tie", HUMAN)], ("tie", None)),
])
def test_a_company_wins_only_when_all_looks_prefer_it(looks: list[Judgement], expected: tuple[str, str | None]) -> None:
    assert outcome(looks) == expected


def test_judges_and_companies_stand_apart() -> None:
    found = compare_companies([look(A, "first"), look(B, "second"), look(B, "first", HUMAN), look(("A", "C"), "first")])
    assert [(s.judge, s.one, s.other, s.wins, s.losses, s.unfinished) for s in found] == [
        ("m", "A", "B", 1, 0, 0), (HUMAN, "A", "B", 0, 1, 0), ("m", "A", "C", 0, 0, 1)]
    assert found[0].agreed == 1
    assert found[1].agreed is None


def test_shares_are_of_the_decided_pairs() -> None:
    looks = [judged for n in range(4) for judged in (look(A, "first" if n else None, pair=str(n)),
                                                     look(B, "second", pair=str(n)))]
    (found,) = compare_companies(looks)
    assert (found.wins, found.unreadable, found.decided_pairs) == (3, 1, 3)
    share, (low, high) = found.rate(found.wins) or (0, (0, 0))
    assert share == high == 1
    assert low == pytest.approx(0.4385, abs=1e-4)


def test_the_interval_is_wilsons() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@given(st.integers(1, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_interval_holds_the_share(counts: tuple[int, int]) -> None:
    count, total = counts
    low, high = wilson(count, total)
    assert 0 <= low <= count / total + 1e-12
    assert count / total - 1e-12 <= high <= 1
