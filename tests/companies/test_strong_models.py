"""Scripted strong models: a right program is a success in few calls, and a mutant of it is none."""

from __future__ import annotations

import pytest

from benchmarks.software.strong_models import MOST_CALLS, RIGHT, is_as_wanted, read_scenarios, table, try_program


def test_there_are_scenarios_enough_and_half_are_written_blind() -> None:
    scenarios = read_scenarios()
    assert len(scenarios) >= 24
    assert sum(scenario.blind for scenario in scenarios) >= 12
    for scenario in scenarios:
        programs = dict(scenario.programs())
        assert len(programs) == 4
        assert len(set(programs.values())) == 4, scenario.name


def test_a_scenario_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(ValueError, match="no scenario is called nowhere; there are: bank, "):
        read_scenarios(["nowhere"])


@pytest.mark.tool
@pytest.mark.parametrize("program", [RIGHT, "ill-formed numerals are taken"])
def test_the_word_for_success_is_right(program: str) -> None:
    scenario = read_scenarios(["roman_package"])[0]
    row = try_program(scenario, program, dict(scenario.programs())[program])
    assert is_as_wanted(row), row
    assert row["calls"] <= MOST_CALLS


def test_the_table_names_what_is_otherwise() -> None:
    row = {"scenario": "one", "kind": "tool", "blind": True, "status": "success", "calls": 6}
    text = table({"rows": [{**row, "program": RIGHT}, {**row, "program": "nothing is kept"}]})
    assert "| tool * | success (6 calls) | 1 of 1 |" in text
    assert "- tool, nothing is kept: success, 6 calls" in text
