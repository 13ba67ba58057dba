"""What was found out for one question must not decide another one."""

from __future__ import annotations

import sys

import pytest

from chatdev.departments.plc.proof.checks import check_property
from chatdev.departments.plc.proof.outcomes import Limits, Outcome, Property

LATCH = """
FUNCTION_BLOCK Latch
VAR_INPUT Start, Reset : BOOL; END_VAR
VAR_OUTPUT Q : BOOL; END_VAR
Q := (Q OR Start) AND NOT Reset;
END_FUNCTION_BLOCK
"""
SCALE = """
FUNCTION_BLOCK Scale
VAR_INPUT Raw : INT; END_VAR
VAR_OUTPUT Bar : REAL; Large : BOOL; END_VAR
IF Raw <= 0 THEN Bar := 0.0; ELSE Bar := INT_TO_REAL(Raw) * 0.5; END_IF;
Large := INT_TO_REAL(Raw) > 100.5;
END_FUNCTION_BLOCK
"""


def check(source: str, pattern: str, *parameters: str) -> Outcome:
    about = source, source.split()[1].lower(), None
    found: Outcome = check_property.__wrapped__(  # type: ignore[attr-defined]
        *about, Property(f"pattern-{pattern}", parameters), Limits())
    return found


def test_a_monitor_of_one_property_says_nothing_of_another() -> None:
    """Facts about the bit that remembers `Q` made `NOT Q` impossible, and what is wrong PROVED."""
    between = "statechange-betweencycles"
    assert check(LATCH, between, "Q", "NOT Reset", "Q").verdict == "PROVED"
    assert check(LATCH, between, "NOT Q", "TRUE", "NOT Q").verdict == "VIOLATED"
    stays = check(LATCH, between, "NOT Q", "NOT Start", "NOT Q")
    assert (stays.verdict, stays.vacuous) == ("PROVED", "")


@pytest.mark.parametrize(("parameters", "verdict"), [
    (("Raw <= 0", "Bar = 0.0"), "PROVED"), (("Raw > 0", "Bar = 1.0"), "VIOLATED"), (("Raw > 101", "Large"), "PROVED"),
])
def test_reals_within_an_expression_are_seen(parameters: tuple[str, ...], verdict: str) -> None:
    """No input and no state is REAL here, but the solver has to know of reals."""
    assert check(SCALE, "implication", *parameters).verdict == verdict


def test_other_readers_of_the_process_keep_their_limit_of_calls() -> None:
    """By it the reader of Verilog refuses what is nested too deeply."""
    usual = sys.getrecursionlimit()
    check(LATCH, "invariant", "NOT Q OR NOT Reset")
    assert sys.getrecursionlimit() == usual
