"""What steps answer: their inner steps, what they read and may write, and which limits hold in a phase."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.config.phases import phase_limits
from chatdev.config.profiles import ModelProfile
from chatdev.config.schema import BRANCH_KINDS, names_written, names_written_only_in, walk
from tests.config.tiny import loaded

CHAIN = """
chain:
  - {phase: planning}
  - process: plan
  - repeat: {max: 2, steps: [{phase: planning}, {tool: docs.find, writes: page}]}
  - foreach: {over: plan.parts, as: part, steps: [
      {parallel: [{steps: [{phase: coding}]}, {tool: docs.find, writes: x}]}]}
  - {tool: software.run, writes: test}
"""


def test_a_walk_meets_every_step_with_its_key_path(tmp_path: Path) -> None:
    places = {".".join(map(str, path)): step.kind for path, step in walk(loaded(tmp_path, CHAIN).chain)}
    assert places["chain.2.repeat.steps.1"] == "tool"
    assert places["chain.3.foreach.steps.0.parallel.0.steps.0"] == "phase"
    assert set(places.values()) == {kind.kind for kind in BRANCH_KINDS}


def test_each_kind_says_what_it_reads_and_may_write(tmp_path: Path) -> None:
    company = loaded(tmp_path, CHAIN)
    planning, process, loop, each, verdict = company.chain
    assert planning.names_read(company.phases) == ["task"]
    assert process.names_read(company.phases) == each.names_read(company.phases) == ["plan"]
    assert process.names_written(company.phases) == {"plan", "software"}
    assert loop.names_written(company.phases) == frozenset()
    assert names_written([loop], company.phases) == {"plan", "page"}
    assert verdict.names_written(company.phases) == {"test"}


def test_only_names_that_nothing_else_may_write_are_a_loops_own(tmp_path: Path) -> None:
    company = loaded(tmp_path, CHAIN)
    own = [names_written_only_in(step.children, company.chain, company.phases) for step in company.chain]
    assert own == [frozenset(), frozenset(), {"page"}, {"x"}, frozenset()]


@pytest.mark.parametrize(("changes", "profile", "expected"), [
    ("rounds: 4", {}, (4, 0, None)),
    ("rounds: 4, dehallucination: true, questions: 3", {"rounds": 2, "questions": 1, "window": 5}, (2, 1, 5)),
    ("rounds: 4, memory: {window: 2}", {"rounds": 6, "window": 5}, (4, 0, 2)),
    ("instructor: null, rounds: 4", {}, (1, 0, None)),
    ("instructor: null, rounds: 4, feedback: docs.find", {}, (4, 0, None)),
])
def test_a_phase_lasts_as_long_as_it_and_the_profile_allow(
        tmp_path: Path, changes: str, profile: dict[str, int], expected: tuple[int, int, int | None]) -> None:
    phase = loaded(tmp_path, f"phases: {{planning: {{{changes}}}}}").phases["planning"]
    limits = phase_limits(phase, ModelProfile.model_validate({"match": ["*"], **profile}))
    assert (limits.rounds, limits.questions, limits.window) == expected
