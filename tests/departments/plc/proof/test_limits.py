"""A program made to take much time or memory is UNKNOWN, with the reason, and harms nobody but the child."""

from __future__ import annotations

import resource

import pytest

from chatdev.departments.plc.proof import verify as verifying
from chatdev.departments.plc.proof.properties import read_properties

MULTIPLIES = ("PROGRAM P\nVAR_INPUT x, y, z : LINT; END_VAR\nVAR n : LINT; END_VAR\n"
              "n := x * y * z + x * x * x * y - z * z * y;\nEND_PROGRAM")
SCATTERS = ("PROGRAM P\nVAR_INPUT i, j : INT; END_VAR\nVAR a, b : ARRAY[0..9000] OF INT; k : INT; n : LINT; END_VAR\n"
            "FOR k := 0 TO 400 DO\na[(i + k) MOD 9000] := b[(j + a[k]) MOD 9000];\n"
            "b[a[i MOD 9000] MOD 9000] := a[b[k] MOD 9000];\nEND_FOR;\nEND_PROGRAM")


@pytest.mark.parametrize(("condition", "verdict", "reason"), [
    ("NOT q", "VIOLATED", ""), ("q = (s = 'a')", "PROVED", ""), ("n < 5", "UNKNOWN", "not verified: strings"),
    ("n <= 10", "UNKNOWN", "not verified: strings"), ("k = 3", "PROVED", "")])
def test_texts_are_compared_and_what_is_made_of_them_is_not_known(condition: str, verdict: str, reason: str) -> None:
    """A counterexample by a function of texts counts where the interpreter sees it; here none does by chance."""
    source = ("PROGRAM P\nVAR_INPUT s : STRING[10]; END_VAR\nVAR q : BOOL; n, k : INT; END_VAR\n"
              "q := s = 'a';\nn := LEN(LEFT(s, 2)) + LEN(RIGHT(s, 2));\nk := LEN('abc');\nEND_PROGRAM")
    asked = {"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": [condition]}
    found = verifying.verify(source, None, read_properties([asked]))
    assert (found[0].verdict, found[0].reason) == (verdict, reason)


@pytest.mark.parametrize(("source", "memory", "reason"), [
    (MULTIPLIES, 1 << 20, "takes more memory"), (SCATTERS, verifying.MEMORY, "takes more time")])
def test_a_check_ends_at_its_limits(source: str, memory: int, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "MEMORY", memory)
    monkeypatch.setattr(verifying, "_SPARE", 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    asked = {"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["n <> 1234567891011"]}
    found = verifying.verify(source, None, read_properties([asked]), seconds=1, most_k=4)
    assert found[0].verdict == "UNKNOWN"
    assert reason in found[0].reason
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000, "kilobytes, of this process"
