"""Sources are read in the child: what is wrong is told, and what takes the child down is an error of the source."""

from __future__ import annotations

import pytest

from chatdev.departments.plc import source_check
from chatdev.departments.plc.proof.outcomes import Property
from chatdev.departments.plc.source_check import EntryVariable, SourceRefused, check_source, find_unreadable

TANK = """FUNCTION_BLOCK Tank
VAR_INPUT Level : INT (0..100); END_VAR
VAR_OUTPUT Pump : BOOL; END_VAR
VAR_IN_OUT Total : DINT; END_VAR
VAR Last : ARRAY[1..3] OF REAL; Delay : TON; END_VAR
VAR CONSTANT Full : INT := 90; END_VAR
Pump := Level < Full;
IF Pump THEN
  //#ASSERT Level < 100 : room left
  Total := Total + 1;
END_IF;
END_FUNCTION_BLOCK
"""


def test_what_the_entry_has_is_told() -> None:
    check = check_source(TANK)
    assert (check.entry, check.errors, check.assertions) == ("Tank", (), ("room left",))
    assert check.variables == (
        EntryVariable("Level", "input", "INT (0..100)"), EntryVariable("Pump", "output", "BOOL"),
        EntryVariable("Total", "in_out", "DINT"), EntryVariable("Last", "local", "ARRAY[1..3] OF REAL"),
        EntryVariable("Delay", "local", "TON"), EntryVariable("Full", "constant", "INT"))


def test_errors_have_their_places_and_hints() -> None:
    check = check_source(TANK.replace("Level < Full", "Levle < Full"))
    assert check.entry == ""
    assert [(one.span.line, one.span.column) for one in check.errors] == [(7, 9)]
    assert "Level" in check.errors[0].hint


def test_an_entry_that_is_not_there_is_an_error() -> None:
    assert "Tank" in check_source(TANK, "Boiler").errors[0].hint


def test_a_source_that_takes_too_much_has_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chatdev.isolation.parent.ask", lambda request: (b"", "it takes too much memory to read"))
    assert [(one.code, one.message) for one in check_source(TANK).diagnostics] == [
        ("refused", "it takes too much memory to read")]


@pytest.mark.parametrize("text", ["(" * 100_000, "IF a THEN " * 5_000])
def test_a_deeply_nested_source_is_an_error_of_its_own(text: str) -> None:
    assert check_source(TANK.replace("Pump := Level < Full;", text)).errors


def test_conditions_that_cannot_be_read_are_named() -> None:
    asked = [Property("pattern-invariant", ("Level <= 100",)), Property("pattern-implication", ("Pmp", "Level + 1"))]
    found = find_unreadable(TANK, None, asked)
    assert list(found) == ["2"]
    assert "`Pmp`" in found["2"]
    assert "`Level + 1`" in found["2"]


def test_conditions_of_a_program_with_errors_are_not_looked_at() -> None:
    with pytest.raises(SourceRefused, match="first one at 7:17"):
        find_unreadable(TANK.replace("Level < Full", "Level < Ful"), None, [])


def test_the_check_runs_in_the_child() -> None:
    assert source_check._check.isolated  # type: ignore[attr-defined]
