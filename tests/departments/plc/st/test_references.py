"""Published programs are read, also those that one dialect only allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.plc.st.reading import read_program

REFERENCES = Path(__file__).parents[1] / "references"
BROKEN = {"223_LightsControl": "its newlines are lost, so that words run together"}


@pytest.mark.parametrize("path", sorted(REFERENCES.glob("*.st")), ids=lambda path: path.stem)
def test_a_reference_is_read(path: Path) -> None:
    reading = read_program(path.read_text(encoding="utf-8"))
    errors = [found for found in reading.diagnostics if found.severity == "error"]
    assert bool(errors) == (path.stem in BROKEN), errors
    assert (reading.program is None) == (path.stem in BROKEN)
