"""`verilog.judge` passes what is right and no cheat."""

from __future__ import annotations

import pytest

from benchmarks.verilog_judge import cheats, mistakes, stub, study, told
from benchmarks.verilog_judge import filled as cheat
from chatdev.evaluation.verilogeval import VerilogProblem
from chatdev.sandbox.kinds import find_sandbox
from tests.tools.verilog.small import BENCH, REFERENCE, RIGHT, Desk, told_nothing_of

pytestmark = pytest.mark.tool

PROBLEM = VerilogProblem("Prob999_small", "sequential", "Build it.", BENCH, REFERENCE)


def test_a_right_answer_passes(desk: Desk) -> None:
    verdict = desk.use("judge", RIGHT)
    assert (verdict.passed, verdict.judged, verdict.score) == (True, True, 1.0)


def test_a_wrong_one_does_not(desk: Desk) -> None:
    assert not desk.use("judge", RIGHT.replace("a ^ b", "a & b")).passed
    assert not desk.use("judge", stub(PROBLEM)).passed


@pytest.mark.parametrize("about", cheats())
def test_no_cheat_passes(desk: Desk, about: str) -> None:
    verdict = desk.use("judge", cheat(cheats()[about], PROBLEM))
    assert (verdict.passed, verdict.judged) == (False, True)
    assert told_nothing_of(verdict.report, BENCH)


def test_as_many_samples_must_be_compared_as_with_the_reference(desk: Desk) -> None:
    """A bench that ends sooner with an answer that leaves an output open, as no rule forbids."""
    bench = BENCH.replace("initial #398 $finish;", "initial begin #99 if (q_dut === 1'bz) $finish; #299 $finish; end")
    bench = bench.replace("if ({q_ref", "if (1'b0 && {q_ref")
    verdict = desk.use("judge", RIGHT.replace("assign q = kept;", ""), bench)
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "other_samples")
    assert "19 samples were compared instead of 79" in verdict.report


def test_without_a_reference_the_simulation_has_the_last_word(desk: Desk) -> None:
    alone = BENCH + REFERENCE
    assert desk.use("judge", RIGHT, alone, reference=None).evidence["outcome"] == "matches"
    assert not desk.use("judge", RIGHT.replace("a ^ b", "a"), alone, reference=None).passed


def test_without_a_bench_nothing_is_verified(desk: Desk) -> None:
    verdict = desk.use("judge", RIGHT, bench=None)
    assert (verdict.passed, verdict.judged) == (True, False)


def test_without_an_answer_it_does_not_pass(desk: Desk) -> None:
    assert not desk.use("judge", None).passed


def test_the_study_finds_no_mistake_in_a_sound_judge() -> None:
    results = study([PROBLEM], {PROBLEM.name: PROBLEM}, find_sandbox())
    assert mistakes(results) == []
    assert results["references"]["solved"] == 1
    assert "| is the reference itself | 1 | 1 | 1 |" in told(results)


def test_the_study_tells_of_mistakes() -> None:
    results = {"references": {"failed": ["Prob003_step_one"]}, "stubs": {"passed": ["Prob001_zero", "Prob004_vector2"]},
               "cheats": {"peeks": {"solved": 1}, "lies": {"solved": 0}}}
    assert len(mistakes(results)) == 3
