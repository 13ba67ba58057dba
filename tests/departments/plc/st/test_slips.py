"""What is certainly meant otherwise is mended, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.plc.source_check import check_source, mend_source
from chatdev.departments.plc.st.slips import mend_text

HERE = Path(__file__).parents[1]
RIGHT = [path.read_text(encoding="utf-8") for path in sorted((HERE / "references").glob("*.st"))
         if path.stem != "223_LightsControl"]  # has lost its newlines
WRONG = [path.read_text(encoding="utf-8") for path in sorted((HERE / "wrong").glob("*.st"))]
HEAD = "FUNCTION_BLOCK F\nVAR_INPUT a, b : BOOL; n : INT; END_VAR\nVAR_OUTPUT o : BOOL; m : INT; END_VAR\n"
TAIL = "\nEND_FUNCTION_BLOCK\n"


@pytest.mark.parametrize(("slip", "meant"), [
    ("o := a", "o := a;"),
    ("o := a // why", "o := a; // why"),
    ("IF a THEN o := b END_IF", "IF a THEN o := b; END_IF"),
    ("IF a THEN\n  o := b\nELSE\n  o := a\nEND_IF", "IF a THEN\n  o := b;\nELSE\n  o := a;\nEND_IF"),
    ("o = a;", "o := a;"),
    ("o = a\nm = 3", "o := a;\nm := 3;"),
    ("o := n == 3;", "o := n = 3;"),
    ("o := n != 3;", "o := n <> 3;"),
    ("IF n := 3 THEN o := a; END_IF;", "IF n = 3 THEN o := a; END_IF;"),
    ("FOR m = 1 TO 3 DO o := a; END_FOR;", "FOR m := 1 TO 3 DO o := a; END_FOR;"),
    ("VAR\n  o : BOOL;\n  k : INT = 2;\nEND_VAR\no := a;", "VAR\n  \n  k : INT := 2;\nEND_VAR\no := a;"),
    ("VAR m : INT := 0; END_VAR\no := a;", "VAR  END_VAR\no := a;"),
    ("BEGIN_FUNCTION_BLOCK\no := a;", "\no := a;"),
    ("(* Gr\u00fc\u00dfe \U0001f600 *) o := a (* \u00fc *)", "(* Gr\u00fc\u00dfe \U0001f600 *) o := a; (* \u00fc *)"),
    ("o := a\r\nm := 3\r", "o := a;\r\nm := 3;\r"),
])
def test_a_slip_is_mended(slip: str, meant: str) -> None:
    mended = mend_source(HEAD + slip + TAIL)
    assert mended.source == HEAD + meant + TAIL
    assert mended.mended
    assert not check_source(mended.source).errors


@pytest.mark.parametrize(("tail", "meant"), [
    ("\nEND_FUNCTION_BLOCK\n\nEND_PROGRAM\n\nEND_MODULE\n", "\nEND_FUNCTION_BLOCK\n\n\n"),
    ("\nEND_FUNCTION\n", TAIL), ("\nEND_PROGRAM;\n", "\nEND_FUNCTION_BLOCK;\n"),
])
def test_an_end_that_ends_nothing_is_taken_out(tail: str, meant: str) -> None:
    assert mend_source(HEAD + "o := a;" + tail).source == HEAD + "o := a;" + meant


@pytest.mark.parametrize("text", [
    "o := a", "IF a THEN o := b;", "o := unknown;", "o := n;", "WRITE m;", "o := a b;", "m += 1;", "o : a;",
    "END_CASE;", "Here is your program.", "VAR m : INT := 1; END_VAR o := a;", "VAR m : DINT; END_VAR o := a;",
    "VAR m, o : BOOL; END_VAR", "o := a --> b;",
])
def test_what_may_be_meant_in_several_ways_stays(text: str) -> None:
    source = HEAD + text + TAIL + "Thank you\n"
    mended = mend_source(source)
    assert check_source(mended.source).errors
    assert mended.source.replace(";", "") == source.replace(";", "")


@pytest.mark.parametrize("source", ["", "\0", "x" * 4_000_001, "(" * 5000, "o := a\n" * 30_000])
def test_what_cannot_be_read_stays(source: str) -> None:
    assert mend_source(source).source == source


@pytest.mark.parametrize("number", range(len(RIGHT)))
def test_a_right_program_stays_as_it_is(number: int) -> None:
    assert mend_text(RIGHT[number]) == (RIGHT[number], ())


@given(st.sampled_from(WRONG))
def test_no_wrong_program_gets_worse(source: str) -> None:
    mended = mend_source(source)
    assert len(check_source(mended.source).errors) <= max(1, len(check_source(source).errors))
    assert mend_source(mended.source).mended == ()


@given(st.sampled_from(RIGHT), st.data())
def test_semicolons_that_are_lost_come_back(source: str, data: st.DataObject) -> None:
    lines = source.split("\n")
    statements = [number for number in range(source[:source.rindex("END_VAR")].count("\n") + 1, len(lines))
                  if lines[number].endswith(";") and not lines[number].strip().startswith("END_")]
    lost = data.draw(st.sets(st.sampled_from(statements), min_size=1))
    broken = "\n".join(line[:-1] if number in lost else line for number, line in enumerate(lines))
    mended, found = mend_text(broken)
    assert mended == source
    assert {one.span.line - 1 for one in found} == lost


@pytest.mark.parametrize(("asked", "left"), [
    ("Make F.", ["F", "Used"]), ("Make F and a PROGRAM main that calls it.", ["F", "Used", "main"]),
    ("Make G.", ["F", "Used", "Stray", "main"])])
def test_units_that_nobody_asked_for_are_left_out(asked: str, left: list[str]) -> None:
    """What the entry uses stays; where the entry is not there, everything does."""
    source = (HEAD + "VAR u : Used; END_VAR\nu();\no := a" + TAIL + "\nFUNCTION_BLOCK Stray\nVAR x : Nothing; END_VAR\n"
              "x(;\nEND_FUNCTION_BLOCK\nFUNCTION_BLOCK Used\nEND_FUNCTION_BLOCK\n"
              "PROGRAM main\nVAR f : F; END_VAR\nf()\nEND_PROGRAM\n")
    found = mend_source(source, "F" if "F" in asked else "G", asked)
    names = [line.split()[1] for line in found.source.splitlines() if line.startswith(("FUNCTION_BLOCK", "PROGRAM"))]
    assert sorted(names) == sorted(left)
    if len(left) < 4:
        assert not check_source(found.source, "F").errors
        assert "nobody asked for stray, and F does not use it" in [one.message for one in found.mended]
