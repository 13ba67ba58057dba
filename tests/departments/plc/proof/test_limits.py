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


def test_a_text_is_named_as_what_is_not_known() -> None:
    source = "PROGRAM P\nVAR_INPUT s : STRING; END_VAR\nVAR q : BOOL; END_VAR\nq := s = 'a';\nEND_PROGRAM"
    asked = {"job_req": "pattern", "pattern_id": "pattern-invariant", "pattern_params": ["NOT q"]}
    found = verifying.verify(source, None, read_properties([asked]))
    assert (found[0].verdict, found[0].reason) == (
        "UNKNOWN", "the program has a STRING, which the solver does not know; use numbers or an enumeration")


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
