"""A process in words, and back: what is read is the process that was written."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.process.pools import PHASES, random_names, random_tree
from benchmarks.process.read_description import read_description
from chatdev.departments.process.process_tree import (
    SILENT,
    ProcessTree,
    describe,
    from_plain,
    loop,
    normalise,
    parallel,
    phase,
    sequence,
)
from chatdev.errors import ConfigError

MODEL = from_plain([
    "sequence", "DemandAnalysis", ["exclusive", None, "LanguageChoose"],
    ["loop", ["sequence", "CodeReviewComment", "CodeReviewModification"], "CommentJudgement"],
    ["parallel", "Manual", ["sequence", "EnvironmentDoc", ["exclusive", "Annotation", "CodeConclusion"]]],
    ["exclusive", None, ["sequence", "TestErrorSummary", ["loop", "TestModification", None]]]])
TEXT = """\
First run "DemandAnalysis". Then, only if it is needed, run "LanguageChoose".
Then run the following part once or several times:
- First run "CodeReviewComment". Then run "CodeReviewModification".
To repeat that part, first do this and start it over:
- Run "CommentJudgement".
Then follow all of these 2 strands, whose phases may be mixed with each other in any order:
- First run "EnvironmentDoc". Then run exactly one of "Annotation" or "CodeConclusion".
- Run "Manual".
Finally, the following part may be left out as a whole:
- First run "TestErrorSummary". Then run "TestModification" once or several times.
"""


def test_a_model_is_told_in_sentences() -> None:
    assert describe(MODEL, PHASES) == TEXT
    assert read_description(TEXT) == normalise(MODEL)


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.integers(1, 12))
def test_a_text_says_what_its_model_says(seed: int, most: int) -> None:
    chance = Random(seed)
    tree = random_tree(chance, random_names(chance, 1, most))
    assert read_description(describe(tree)) == normalise(tree)
    assert read_description(describe(tree, "dcba")) == normalise(tree)


@settings(max_examples=25)
@given(st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=4))
def test_any_name_survives(names: list[str]) -> None:
    tree = sequence(*map(phase, names), loop(parallel(*map(phase, names)), phase(names[0])))
    assert read_description(describe(tree)) == normalise(tree)


def test_nothing_has_a_sentence_too() -> None:
    assert describe(SILENT) == "Run nothing at all.\n"
    assert read_description("Run nothing at all.") == SILENT


def deep_tree(depth: int) -> ProcessTree:
    tree = sequence(phase("a"), phase("b"))
    for number in range(depth):
        tree = loop(sequence(phase(str(number)), tree), phase("again"))
    return tree


def test_deep_models_are_told_and_too_deep_texts_refused() -> None:
    assert read_description(describe(deep_tree(25))) == normalise(deep_tree(25))
    with pytest.raises(ConfigError, match="too deep"):
        read_description(describe(deep_tree(80)))


@pytest.mark.parametrize(("text", "told"), [
    ("", "empty"),
    ("Run whatever you like.", "line 1"),
    ('Run "A"', "no sentence of ours"),
    ('First run "A".\nThen jump to "B".', "line 2"),
    ('Run the following part once or several times:', "needs a list"),
    ('Follow exactly one of these 3 ways:\n- Run "A".\n- Run "B".', "needs a list"),
    ('Run "A".\n  Run "B".', "wrong depth"),
    ('- Run "A".', "wrong depth"),
    ('The following part may be left out as a whole:\n-', "no sentence of ours|list"),
    ('Run "\\x".', "no sentence of ours"),
])
def test_other_texts_are_refused_with_their_line(text: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        read_description(text)
