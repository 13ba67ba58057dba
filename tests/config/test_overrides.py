"""A company that changes the chain of the one that it extends: steps put in, phases left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.load import build_company, load_company
from chatdev.config.preview import chain_text
from chatdev.config.schema import CompanyConfig
from chatdev.config.yaml_nodes import dump
from chatdev.errors import ConfigError
from tests.config.tiny import TINY, TOOLS, loaded, refused, tiny

CRITIC = """company: own
phases:
  critique: {about: Say what is weak., assistant: boss, reads: ["plan?"], writes: critique, opening: "{{ plan }}"}
"""
STEP = "steps: [{phase: critique}]"


def drawn(company: CompanyConfig) -> list[str]:
    """The steps in their order, without what is said of them."""
    return [line.lstrip("├└─│ ").split(":")[0].split(" →")[0] for line in chain_text(company).splitlines()[1:-1]]


@pytest.mark.parametrize(("insert", "expected"), [
    (f"{{after: planning, {STEP}}}", ["planning", "critique", "coding", "tool software.run"]),
    (f"[{{before: planning, {STEP}}}]", ["critique", "planning", "coding", "tool software.run"]),
    (f"{{before: software.run, {STEP}}}", ["planning", "coding", "critique", "tool software.run"]),
    (f"[{{after: planning, {STEP}}}, {{after: critique, steps: [{{tool: software.run, writes: test}}]}}, "
     f"{{before: 'software.run#2', {STEP}}}]",
     ["planning", "critique", "tool software.run", "coding", "critique", "tool software.run"]),
])
def test_steps_are_put_beside_the_ones_that_are_named(tmp_path: Path, insert: str, expected: list[str]) -> None:
    company = loaded(tmp_path, f"{CRITIC}insert: {insert}")
    assert drawn(company) == expected
    assert load_company(tmp_path / "own" / "company.yaml", tools=TOOLS).insert == []
    (tmp_path / "again.yaml").write_text(dump(company), encoding="utf-8")
    assert load_company(tmp_path / "again.yaml", tools=TOOLS) == company


def test_phases_are_left_out_behind_what_was_put_in(tmp_path: Path) -> None:
    company = loaded(tmp_path, f"{CRITIC}insert: {{before: coding, {STEP}}}\nwithout: [coding]")
    assert drawn(company) == ["planning", "critique", "tool software.run"]


def test_a_branch_gets_its_neighbours_in_its_own_branch(tmp_path: Path) -> None:
    branches = "[{phase: planning, optional: true}, {tool: docs.find, writes: found}]"
    base = TINY.replace("reads: [task, plan,", "reads: [task, 'plan?',").replace("phase: planning\n  - phase",
                                                                                 f"parallel: {branches}\n  - phase")
    tiny(tmp_path, f"{CRITIC}insert: {{after: planning, {STEP}}}")
    (tmp_path / "own" / "tiny" / "company.yaml").write_text(base, encoding="utf-8")
    company = load_company(tmp_path / "own" / "company.yaml", tools=TOOLS)
    assert drawn(company)[:5] == ["parallel", "branch   [optional]", "planning", "critique", "tool docs.find"]


def test_steps_are_put_into_loops_at_any_depth(tmp_path: Path) -> None:
    base = TINY.replace("  - phase: coding\n", "  - repeat: {max: 2, steps: [{repeat: {max: 2, steps: "
                                               "[{phase: coding}]}}]}\n")
    tiny(tmp_path, f"{CRITIC}insert: {{before: coding, {STEP}}}")
    (tmp_path / "own" / "tiny" / "company.yaml").write_text(base, encoding="utf-8")
    assert drawn(load_company(tmp_path / "own" / "company.yaml", tools=TOOLS))[2:5] == [
        "repeat until the end, at most 2 times", "critique", "coding"]


def test_a_company_changes_a_chain_that_was_changed_before(tmp_path: Path) -> None:
    file = tiny(tmp_path, f"{CRITIC}insert: {{after: planning, {STEP}}}")
    (outer := tmp_path / "outer").mkdir()
    file.parent.rename(outer / "own")
    (outer / "company.yaml").write_text(f"extends: own\ncompany: outer\ninsert: {{before: critique, {STEP}}}\n"
                                        "without: [coding]\n", encoding="utf-8")
    assert drawn(load_company(outer / "company.yaml", tools=TOOLS)) == [
        "planning", "critique", "critique", "tool software.run"]


@pytest.mark.parametrize(("changes", "message"), [
    (f"insert: {{after: plannin, {STEP}}}", "own/company.yaml:5: insert.after: the chain has no step 'plannin'; did "
                                            "you mean 'planning'? known: planning, coding, software.run"),
    (f"insert: {{after: 'planning#2', {STEP}}}", "own/company.yaml:5: insert.after: 'planning#2' is not one step of "
                                                 "the chain; say which: planning#1 (own/tiny/company.yaml:"),
    (f"insert:\n  - {{after: planning, {STEP}}}\n  - {{after: critique, {STEP}}}\n  - {{before: critique, {STEP}}}",
     "own/company.yaml:8: insert.before: 'critique' is not one step of the chain; say which: critique#1 "
     "(own/company.yaml:6), critique#2 (own/company.yaml:7)"),
    (f"insert: {{{STEP}}}", "own/company.yaml:5: insert: say where the steps go"),
    (f"insert: {{after: planning, before: coding, {STEP}}}", "own/company.yaml:5: insert: say where the steps go"),
    (f"insert: {{behind: planning, {STEP}}}", "own/company.yaml:5: insert.0.behind: unknown key 'behind'"),
    ("insert: {after: planning, steps: []}", "own/company.yaml:5: insert.0.steps: list should have at least 1 item"),
    ("insert: {after: planning, steps: [{phas: critique}]}", "own/company.yaml:5: insert.0.steps.0: a step is one of"),
    ("insert: planning", "own/company.yaml:5: insert: input should be a valid list"),
    ("insert: {after: planning, steps: [{phase: critik}]}", "own/company.yaml:5: chain.1.phase: "),
    ("without: [codin]", "own/company.yaml:5: without: codin: the chain has no such phase; did you mean 'coding'"),
    ("without: [planning, coding]\nchain: [{phase: critique}]", "own/company.yaml:5: without: the company has a chain "
                                                                "of its own (own/company.yaml:6)"),
])
def test_a_change_that_fits_nowhere_says_where_it_would(tmp_path: Path, changes: str, message: str) -> None:
    assert message in refused(tmp_path, f"{CRITIC}{changes}")


def test_what_extends_nothing_has_no_chain_to_change() -> None:
    with pytest.raises(ConfigError, match="the given YAML:2: insert: changes the chain of another company, and the "
                                          "company extends none"):
        build_company(f"company: own\ninsert: {{after: planning, {STEP}}}\n")
