"""Every study in its quick form, so that what `make prove` tries in full keeps working; and what is on record."""

from __future__ import annotations

import platform
import sys
from importlib import import_module
from types import ModuleType

import pytest

from benchmarks.reliability import budgets, faults, fuzz, odd, patches, soak
from benchmarks.reliability.proof import SEED, STUDIES

WHEELS = (sys.platform, platform.machine()) == ("linux", "x86_64") and sys.version_info < (3, 14)
FUZZ = pytest.param(fuzz, marks=pytest.mark.skipif(not WHEELS, reason="atheris has no wheels for this machine"))


@pytest.mark.tool
@pytest.mark.parametrize("study", [budgets, faults, soak, odd, patches, FUZZ])
def test_the_claims_of_a_study_hold(study: ModuleType) -> None:
    proof = study.prove(SEED, True)
    assert [claim for claim in proof.claims if not claim.holds] == []
    assert study.table(proof.figures)


@pytest.mark.parametrize("name", STUDIES)
def test_every_claim_on_record_holds(name: str) -> None:
    results = import_module(f"benchmarks.reliability.{name}").STUDY.read()
    assert all(claim["holds"] for claim in results.get("claims", []))
