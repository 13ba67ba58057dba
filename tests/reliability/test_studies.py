"""Every study in its quick form, so that what `make prove` tries in full keeps working; and what its page must hold."""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from types import ModuleType

import pytest

from benchmarks.reliability import budgets, faults, fuzz, odd, patches, soak
from benchmarks.reliability.proof import PAGE, SEED, STUDIES, markers, part, summary
from benchmarks.study import RESULTS_FOLDER, read_results

WHEELS = (sys.platform, platform.machine()) == ("linux", "x86_64") and sys.version_info < (3, 14)
FUZZ = pytest.param(fuzz, marks=pytest.mark.skipif(not WHEELS, reason="atheris has no wheels for this machine"))


@pytest.mark.tool
@pytest.mark.parametrize("study", [budgets, faults, soak, odd, patches, FUZZ])
def test_the_claims_of_a_study_hold(study: ModuleType) -> None:
    proof = study.prove(SEED, True)
    assert [claim for claim in proof.claims if not claim.holds] == []
    assert study.table(proof.figures)


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_has_room_for_every_study(name: str) -> None:
    begin, end = markers(name)
    page = PAGE.read_text(encoding="utf-8")
    assert page.count(begin) == page.count(end) == 1
    assert page.index(begin) < page.index(end)


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_says_what_the_results_say(name: str) -> None:
    if results := read_results(RESULTS_FOLDER / f"{name}.json"):
        table = import_module(f"benchmarks.reliability.{name}").STUDY.table
        assert part(results, table) in PAGE.read_text(encoding="utf-8")
        assert all(claim["holds"] for claim in results["claims"])


def test_the_page_begins_with_every_claim() -> None:
    assert summary() in PAGE.read_text(encoding="utf-8")
