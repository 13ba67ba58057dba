"""A property does not hold where its condition has no value: a divisor is 0, or an index outside of its array."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.proof.outcomes import Outcome, Property
from chatdev.departments.plc.proof.verify import verify

SHARE = """FUNCTION_BLOCK Share
VAR_INPUT x, y : INT; END_VAR
VAR_OUTPUT each : INT; END_VAR
IF y <> 0 THEN each := x / y; ELSE each := -1; END_IF;
END_FUNCTION_BLOCK
"""
WALK = """FUNCTION_BLOCK Walk
VAR_INPUT go : BOOL; END_VAR
VAR_OUTPUT ok : BOOL; END_VAR
VAR kept : ARRAY[1..4] OF INT := [7, 7, 7, 8]; n : INT; END_VAR
IF go AND n < 9 THEN n := n + 1; END_IF;
ok := TRUE;
END_FUNCTION_BLOCK
"""


def asked(source: str, pattern: str, *parameters: str) -> Outcome:
    """What comes of one property."""
    wanted = Property(f"pattern-{pattern}", parameters)
    return next(one for one in verify(source, None, [wanted]) if one.asked == wanted)


@pytest.mark.parametrize(("source", "pattern", "parameters"), [
    (SHARE, "implication", ("x >= 0", "each = x / y")),
    (SHARE, "invariant", ("y = 0 OR each = x / y",)),
    (SHARE, "forbidden", ("x / y = 5 AND each = 4",)),
    (WALK, "invariant", ("kept[n] >= 7",)),
    (WALK, "implication", ("kept[n] >= 7", "ok AND kept[n] < 9")),
    (WALK, "statechange-duringcycle", ("TRUE", "kept[n] >= 7")),
])
def test_it_is_violated_where_the_condition_has_no_value(source: str, pattern: str,
                                                         parameters: tuple[str, ...]) -> None:
    found = asked(source, pattern, *parameters)
    assert found.verdict == "VIOLATED"
    assert "has no value" in found.reason
    assert found.cycles


@pytest.mark.parametrize(("source", "pattern", "parameters"), [
    (SHARE, "implication", ("y <> 0", "each = x / y")),
    (SHARE, "invariant", ("y = 0 OR_ELSE each = x / y",)),
    (WALK, "implication", ("n >= 1 AND n <= 4", "kept[n] >= 7")),
])
def test_it_holds_where_the_condition_is_asked_only_when_it_is_meant(source: str, pattern: str,
                                                                     parameters: tuple[str, ...]) -> None:
    assert asked(source, pattern, *parameters).verdict == "PROVED"


def test_what_has_no_value_is_not_reached() -> None:
    assert asked(SHARE, "reachability", "y = 0 AND x / y = 1").verdict == "VIOLATED"
    assert asked(SHARE, "reachability", "y = 2 AND x / y = 3").verdict == "PROVED"
