"""What a model proposes as a process is read in many forms, and refused unpaid if it cannot run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.config.phases import Phase
from chatdev.departments.process.pool import MOST_PHASES, Hallucination, check_instance, format_instance, read_instance

NAMES = ("DemandAnalysis", "LanguageChoose", "Coding", "CodeReviewComment", "CodeReviewModification", "Manual")


def phase(reads: list[str], writes: str) -> Phase:
    return Phase(about="…", assistant="x", reads=reads, writes=writes, opening="…")


PHASES = {
    "DemandAnalysis": phase(["task"], "modality"), "LanguageChoose": phase(["task", "modality?"], "language"),
    "Coding": phase(["task", "modality", "language"], "software"),
    "CodeReviewComment": phase(["software"], "comment"),
    "CodeReviewModification": phase(["software", "comment"], "software"), "Manual": phase(["software"], "manual"),
}


@pytest.mark.parametrize("reply", [
    "DemandAnalysis → LanguageChoose → Coding", "DemandAnalysis -> LanguageChoose -> Coding",
    "demandanalysis --> language_choose ==> `CODING`.", "Here is one: DemandAnalysis→LanguageChoose→Coding",
    "I will think.\n\n**DemandAnalysis → LanguageChoose → Coding**\n\nThank you.",
    "DemandAnalysis →\nLanguageChoose →\nCoding", "DemandAnalysis\n→ LanguageChoose\n→ Coding",
    "1. DemandAnalysis\n2. Language Choose\n3. Coding\n", "- \"DemandAnalysis\"\n- 'LanguageChoose'\n- Coding",
    "过程：DemandAnalysis ⟶ LanguageChoose ⟶ Coding",
    "| 1 | DemandAnalysis |\n|--|--|\n| 2 | LanguageChoose |\n| 3 | Coding |",
    "DemandAnalysis, LanguageChoose, Coding",
    "DemandAnalysis → Coding would be short, so:\nDemandAnalysis → LanguageChoose → Coding",
])
def test_an_instance_is_read_in_many_forms(reply: str) -> None:
    assert read_instance(reply, NAMES) == ("DemandAnalysis", "LanguageChoose", "Coding")


@pytest.mark.parametrize("reply", ["", "I cannot do that.", "→ → →", "\0", "a" * 100_000])
def test_a_reply_without_one_gives_an_empty_one(reply: str) -> None:
    assert read_instance(reply, NAMES) == ()


def test_a_name_that_is_not_known_stays_to_be_told() -> None:
    found = read_instance("DemandAnalysis → UsernameSet → Coding", NAMES)
    assert found == ("DemandAnalysis", "UsernameSet", "Coding")
    assert check_instance(found, PHASES, ["task"]) == (Hallucination("unknown phase", "UsernameSet"),)


@given(st.lists(st.sampled_from(NAMES), min_size=2, max_size=20))
def test_what_is_written_is_read_back(names: list[str]) -> None:
    assert read_instance(f"So:\n{format_instance(names)}\n", NAMES) == tuple(names)


@given(st.text(max_size=300))
def test_any_reply_is_read(reply: str) -> None:
    check_instance(read_instance(reply, NAMES), PHASES, ["task"])


def test_an_instance_that_can_run_is_legal() -> None:
    assert check_instance(("DemandAnalysis", "LanguageChoose", "Coding", "Manual"), PHASES, ["task"]) == ()


@pytest.mark.parametrize(("instance", "expected"), [
    ((), ["it names no phase"]),
    (("DemandAnalysis",) * (MOST_PHASES + 1), [f"it has more than {MOST_PHASES} phases"]),
    (("DemandAnalysis", "LanguageChoose"), ["no phase of it writes the software"]),
    (("LanguageChoose", "Coding"), ["Coding reads `modality`, which nothing before it writes"]),
    (("Manual", "DemandAnalysis", "LanguageChoose", "Coding"),
     ["Manual reads `software`, which nothing before it writes"]),
    (("DemandAnalysis", "LanguageChoose", "Coding", "CodeReviewModification", "CodeReviewModification"),
     ["CodeReviewModification reads `comment`, which nothing before it writes"]),
    (("A", "B", "A"), ["there is no phase A", "there is no phase B"]),
])
def test_what_cannot_run_is_a_hallucination_of_its_kind(instance: tuple[str, ...], expected: list[str]) -> None:
    assert [one.describe() for one in check_instance(instance, PHASES, ["task"])] == expected
