"""A sample of the studies of kills and cuts, which `make prove` runs in full; and that they see what is wrong."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from benchmarks.reliability import cuts, kills
from benchmarks.reliability.left import Left
from benchmarks.reliability.proof import SEED


@pytest.mark.tool
@pytest.mark.parametrize("study", [kills, cuts])
def test_a_run_that_was_killed_or_cut_goes_on_as_if_it_had_not(study: ModuleType) -> None:
    proof = study.prove(SEED, True)
    assert [claim for claim in proof.claims if not claim.holds] == []
    assert study.table(proof.figures)


LEFT = Left({"main.py": b"1"}, ("tree write", "tree mend"), "", {"write#1": ["digest", {}, {"text": "a"}]},
            frozenset({"hash"}), {"": [{"kind": "RunStarted"}, {"kind": "RunFinished"}]}, "company: workshop")


@pytest.mark.parametrize("other", [
    replace(LEFT, software={"main.py": b"1", ".main.py.0a1b2c3d": b""}), replace(LEFT, software={"main.py": b"2"}),
    replace(LEFT, history=("tree write",)), replace(LEFT, history=("tree write", "tree found", "tree mend")),
    replace(LEFT, uncommitted="?? notes.txt"), replace(LEFT, activities={}), replace(LEFT, messages=frozenset()),
    replace(LEFT, activities={"write#1": ["digest", {}, {"text": "b"}]}),
    replace(LEFT, events={"": LEFT.events[""][:1]}), replace(LEFT, company="company: other")])
def test_every_difference_is_seen(other: Left) -> None:
    assert LEFT.differences(LEFT) == []
    assert len(LEFT.differences(other)) == len(other.differences(LEFT)) == 1
