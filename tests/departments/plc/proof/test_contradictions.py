"""Properties that cannot hold together are named, the smallest set of them; others that merely restrict are not."""

from __future__ import annotations

import pytest

from chatdev.departments.plc.proof.properties import read_properties
from chatdev.departments.plc.proof.verify import verify

SOURCE = ("PROGRAM P\nVAR_INPUT a, b : BOOL; n : INT; END_VAR\nVAR_OUTPUT q, r : BOOL; m : INT; END_VAR\n"
          "q := a;\nm := n;\nEND_PROGRAM")
SETS = {  # properties -> those that are said to contradict each other, counted from 1
    ("q", "NOT r", "NOT q"): [1, 3],
    ("m > 5", "r", "m < n", "n < 3", "q"): [1, 3, 4],
    ("a --> q", "r", "a --> NOT q"): [1, 3],
    ("a --> q", "a --> r", "q --> NOT r", "b --> r"): [1, 2, 3],
    ("a --> q", "b --> NOT q"): [],
    ("a --> NOT q", "a AND q --> r"): [],
    ("a --> q", "NOT a"): [],
    ("m = n", "m >= 0"): [],
}


def asked(text: str) -> dict[str, object]:
    given, arrow, wanted = text.partition(" --> ")
    pattern = "pattern-implication" if arrow else "pattern-invariant"
    return {"job_req": "pattern", "pattern_id": pattern, "pattern_params": [given, wanted] if arrow else [given]}


@pytest.mark.parametrize(("texts", "numbers"), SETS.items())
def test_the_smallest_set_is_named(texts: tuple[str, ...], numbers: list[int]) -> None:
    found = verify(SOURCE, None, read_properties([asked(text) for text in texts]), seconds=2, most_k=2)
    told = {number: one.reason for number, one in enumerate(found, 1) if "contradicts" in one.reason}
    assert list(told) == numbers
    for number, reason in told.items():
        others = ", ".join(str(other) for other in numbers if other != number)
        assert f"it contradicts property {others}: " in reason
