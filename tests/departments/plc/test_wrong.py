"""Each wrong program is refused where its mistake is, with words that say what it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatdev.departments.plc.st.reading import read_program

PROGRAMS = sorted(Path(__file__).with_name("wrong").glob("*.st"))
_EXPECTED = re.compile(r"// expect (?P<line>\d+): (?P<words>[^A-Z\n]+)\n")


def test_there_are_many_wrong_programs() -> None:
    assert len(PROGRAMS) >= 60


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_wrong_program_is_refused_where_it_is_wrong(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    expected = _EXPECTED.match(source)
    assert expected, "the first line says what is expected"
    reading = read_program(source)
    assert reading.program is None
    errors = [f"{one.span.line}: {one.message}".lower() for one in reading.diagnostics if one.severity == "error"]
    fitting = [error for error in errors if error.startswith(f"{expected['line']}: ")
               and all(word in error for word in expected["words"].split())]
    assert fitting, errors
    assert len(errors) <= 5, "one mistake is not told many times"
