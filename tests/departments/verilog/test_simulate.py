"""`verilog.simulate` reports how a module differs from what the bench expects, and nothing of the bench."""

from __future__ import annotations

import re

import pytest

from tests.departments.verilog.small import BENCH, HEADER, REFERENCE, RIGHT, Desk, told_nothing_of

pytestmark = pytest.mark.tool

WRONG = RIGHT.replace("a ^ b", "a | b")


def test_a_right_answer_passes(desk: Desk) -> None:
    verdict = desk.use("simulate", RIGHT)
    assert (verdict.passed, verdict.score) == (True, 1.0)
    assert verdict.evidence["outcome"] == "matches"
    assert verdict.report.startswith("All 79 samples of the test bench match.")


def test_mismatches_are_told_output_by_output(desk: Desk) -> None:
    verdict = desk.use("simulate", WRONG)
    wrong, samples = verdict.evidence["mismatches"], verdict.evidence["samples"]
    assert not verdict.passed
    assert verdict.evidence["outputs"]["q"] == {"count": 0, "first_time": None}
    assert verdict.evidence["outputs"]["w"]["count"] == wrong > 0
    assert "Output `q`: no mismatch." in verdict.report
    assert f"Output `w`: {wrong} mismatches, the first one at time" in verdict.report
    assert verdict.score == pytest.approx(1 - wrong / samples)


def test_better_versions_have_a_higher_score(desk: Desk) -> None:
    broken = desk.use("simulate", RIGHT.replace(";\nendmodule", "\nendmodule"))
    worse = desk.use("simulate", WRONG.replace("assign q = kept", "assign q = ~kept"))
    better = desk.use("simulate", WRONG)
    assert broken.score < worse.score < better.score < desk.use("simulate", RIGHT).score


@pytest.mark.parametrize(("answer", "why"), [
    (RIGHT.replace("input b", "input c").replace("a ^ b", "a ^ c"), "connects a port `b`, which the module lacks"),
    (RIGHT.replace("input a", "output a"), "port `a` should be an input"),
])
def test_other_ports_than_those_of_the_specification_are_named(desk: Desk, answer: str, why: str) -> None:
    verdict = desk.use("simulate", answer)
    assert verdict.evidence["outcome"] == "interface"
    assert why in verdict.report
    assert told_nothing_of(verdict.report, BENCH, REFERENCE)


def test_a_port_of_another_width_is_warned_of(desk: Desk) -> None:
    report = desk.use("simulate", WRONG.replace("output w", "output [3:0] w")).report
    assert "The port `w` has 4 bits, and the test bench connects 1." in report


def test_a_specification_without_ports_is_no_fault_of_the_answer(desk: Desk) -> None:
    bare = "module {}; endmodule\n"
    bench = """module tb;
  RefModule good1(); TopModule top_module1();
  initial #9 $finish;
  final $display("Mismatches: 0 in 4 samples");
endmodule
"""
    assert desk.use("simulate", bare.format("TopModule"), bench, bare.format("RefModule")).passed
    assert not desk.use("simulate", bare.format("TopModule")).passed


def test_without_a_bench_it_is_not_functionally_verified(desk: Desk) -> None:
    verdict = desk.use("simulate", RIGHT, bench=None)
    assert (verdict.passed, verdict.judged) == (True, False)
    assert "not functionally verified" in verdict.report
    assert not desk.use("simulate", "module TopModule; wire", bench=None).passed


def test_a_bench_that_does_not_compile_is_no_fault_of_the_answer(desk: Desk) -> None:
    broken = BENCH.replace("always #5 clk = ~clk;", "always #5 clk = ~clk; secret_thing!")
    verdict = desk.use("simulate", RIGHT, broken)
    assert (verdict.passed, verdict.judged, verdict.evidence["outcome"]) == (True, False, "bench_broken")
    assert "(its line 7)" in verdict.report
    assert "secret_thing" not in verdict.report
    assert desk.use("simulate", RIGHT, broken, reference=None).evidence["outcome"] == "bench_broken"


def test_a_bench_without_a_report_is_no_fault_of_the_answer(desk: Desk) -> None:
    silent = re.sub(r"(?s)final begin.*?\n  end", "", BENCH)
    verdict = desk.use("simulate", RIGHT, silent, reference=REFERENCE)
    assert (verdict.judged, verdict.evidence["outcome"]) == (False, "no_report")


def test_no_samples_are_no_pass(desk: Desk) -> None:
    verdict = desk.use("simulate", RIGHT, BENCH.replace("samples = samples + 1;", ""))
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "no_samples")


def test_directives_of_the_answer_do_not_hold_for_the_bench(desk: Desk) -> None:
    implicit = BENCH.replace("wire q_ref, w_ref, q_dut, w_dut;", "wire q_ref, w_ref, q_dut;")
    answer = "`default_nettype none\n`timescale 1s/1s\n" + RIGHT.replace("input ", "input wire ").replace(
        "output ", "output wire ")
    assert desk.use("simulate", answer, implicit).passed


def test_a_report_holds_no_line_of_hidden_files(desk: Desk) -> None:
    reports = [desk.use("simulate", answer).report
               for answer in (WRONG, HEADER, f"{HEADER}assign q = tb.q_ref; endmodule", RIGHT)]
    assert all(told_nothing_of(report, BENCH, REFERENCE) for report in reports)
