"""Benches that say in their own way what fails: the verdict is right with and without a reference, a module cannot say
it for them, and the trace begins where they complain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.bench_report import BenchReport, PrintedLine, checks_of, checks_of_lines
from tests.departments.verilog.accumulator import RIGHT, VALUES, WRONG, benches
from tests.departments.verilog.small import Desk

BENCHES = benches()
each = pytest.mark.parametrize("name", BENCHES)
twice = pytest.mark.parametrize("reference", [RIGHT, None], ids=["with a reference", "alone"])


@pytest.mark.tool
@twice
@each
def test_right_passes_and_wrong_fails(desk: Desk, name: str, reference: str | None) -> None:
    for tool in ("simulate", "judge"):
        right = desk.use(tool, RIGHT, BENCHES[name], reference)
        assert (right.passed, right.judged, right.score) == (True, True, 1), right.report
        wrong = desk.use(tool, WRONG, BENCHES[name], reference)
        assert (wrong.passed, wrong.judged) == (False, True), wrong.report
        assert wrong.score < 1
        assert "The test bench fails" in wrong.report


@pytest.mark.tool
@twice
@each
def test_a_trace_begins_where_it_complains(desk: Desk, name: str, reference: str | None) -> None:
    found = desk.use("trace", WRONG, BENCHES[name], reference)
    if reference or "marked" not in name:
        assert found.evidence["output"] == "sum"
        assert 5 in found.evidence["lines"]
        assert ("not what the reference has" in found.report) is (reference is not None)
        assert ("Nothing says which output" in found.report) is (reference is None)
    else:  # nobody knows when
        assert "output" not in found.evidence
        assert "Test Failed" in found.report


@pytest.mark.tool
@pytest.mark.parametrize("name", [name for name in BENCHES if "marked" not in name])
@pytest.mark.parametrize("said", ["PASS", "All tests passed", "TEST OK", "Mismatches: 0 in 60 samples"])
def test_a_module_cannot_say_it_for_the_bench(desk: Desk, name: str, said: str) -> None:
    talking = WRONG.replace("  assign full", f'  always @(posedge clk) $display("{said}");\n  assign full')
    assert not desk.use("judge", talking, BENCHES[name], None).passed


@pytest.mark.tool
@pytest.mark.parametrize("name", [name for name in BENCHES if "marked" not in name])
def test_a_module_cannot_hide_what_the_bench_says(desk: Desk, name: str) -> None:
    """It writes the beginning of each line, so that the bench's words stand in the middle of one."""
    hiding = WRONG.replace("  assign full", '  always @(clk) $write("ok ");\n  assign full')
    assert not desk.use("judge", hiding, BENCHES[name], None).passed


def test_a_bench_that_writes_parts_of_lines_takes_no_module_that_prints() -> None:
    to_a_file = 'module tb; initial $fdisplay(32\'h8000_0001, "FAIL"); endmodule'
    assert not HiddenBench(to_a_file).can_be_marked
    parts = 'module tb; initial begin $write("errors: "); #5 $display("%0d", 3); end endmodule'
    assert not HiddenBench(parts).can_be_marked
    assert HiddenBench('module tb; initial $write("errors: %0d\\n", 3); endmodule').can_be_marked


@pytest.mark.tool
def test_where_prints_cannot_be_marked_a_module_may_not_print(desk: Desk) -> None:
    talking = RIGHT.replace("  assign full", '  initial $display("OK");\n  assign full')
    said = desk.use("judge", talking, BENCHES["prints that cannot be marked"], RIGHT)
    assert "`$display` is not allowed" in said.report


@pytest.mark.tool
@pytest.mark.parametrize("reference", [RIGHT, None])
def test_what_a_bench_prints_into_the_file_that_is_the_terminal_counts(desk: Desk, reference: str | None) -> None:
    bench = BENCHES["mismatches with their times"].replace("$display(", "$fdisplay(32'h8000_0001, ")
    assert desk.use("judge", RIGHT, bench, reference).passed
    assert not desk.use("judge", WRONG, bench, reference).passed


@pytest.mark.tool
def test_silence_is_told_as_a_pass_and_not_as_samples(desk: Desk) -> None:
    assert "The test bench passes." in desk.use("simulate", RIGHT, BENCHES["errors"], RIGHT).report


@pytest.mark.tool
def test_a_bench_that_only_prints_values_needs_a_reference(desk: Desk) -> None:
    assert desk.use("judge", RIGHT, VALUES, RIGHT).evidence["outcome"] == "matches"
    wrong = desk.use("judge", WRONG, VALUES, RIGHT)
    assert wrong.evidence["outcome"] == "mismatches"
    assert "it prints: 3: sum=13" in wrong.report
    for module in (RIGHT, WRONG):
        assert desk.use("judge", module, VALUES, None).evidence["outcome"] == "no_report"


@pytest.mark.tool
@twice
def test_outputs_without_a_value_do_not_pass_a_bench_that_does_not_see_it(desk: Desk, reference: str | None) -> None:
    """`x != want` is no mismatch."""
    blind = BENCHES["a total"].replace("sum !== want", "sum != want")
    assert desk.use("judge", RIGHT, blind, reference).evidence["outcome"] == "matches"
    open_, unset = re.sub(r"(?s)  always_ff.*(?=endmodule)", "", RIGHT), RIGHT.replace("sum <= '0", "sum <= sum")
    for wrong in (open_, unset.replace("&sum", "^sum")):
        for tool in ("simulate", "judge"):
            verdict = desk.use(tool, wrong, blind, reference)
            assert (verdict.passed, verdict.evidence["outcome"]) == (False, "unknown_outputs")
            assert ("output `sum` has no value (x or z) at any time" if reference else
                    "the output `sum` has no value at any time") in verdict.report


@pytest.mark.tool
def test_one_of_several_outputs_without_a_value_is_told(desk: Desk) -> None:
    blind, half = BENCHES["a total"], RIGHT.replace("  assign full = &sum;\n", "")
    alone = desk.use("judge", half, blind, None)
    assert (alone.passed, alone.judged) == (True, True)
    assert "the output `full` has no value at any time" in alone.report
    assert desk.use("judge", half, blind, RIGHT).evidence["outcome"] == "unknown_outputs"
    assert desk.use("judge", half, blind, half).evidence["outcome"] == "matches"


@pytest.mark.tool
def test_a_bench_that_prints_nothing_judges_nobody(desk: Desk) -> None:
    silent = VALUES.replace('$display("%0d: sum=%0d", n, sum);', ";")
    assert "$display" not in silent
    for reference in (RIGHT, None):
        assert desk.use("judge", WRONG, silent, reference).evidence["outcome"] == "no_report"


@pytest.mark.parametrize("call", ['$fdisplay(log, "FAIL: q")', 'log = $fopen("errors.log")', '$dumpfile("fail.vcd")',
                                  '$readmemh("mismatches.hex", m)', 'if ($test$plusargs("error")) #1'])
def test_words_that_nobody_prints_do_not_make_silence_a_pass(call: str) -> None:
    assert not HiddenBench(f"module tb; initial begin {call}; end endmodule").complains
    assert HiddenBench(f'module tb; initial begin {call}; $display("FAIL"); end endmodule').complains


@pytest.mark.tool
def test_what_a_bench_says_of_the_reference_too_is_no_complaint(desk: Desk) -> None:
    bench = BENCHES["a total"].replace("rst_n = 1;", 'rst_n = 1; $display("ERROR injection starts");')
    assert desk.use("judge", RIGHT, bench, RIGHT).passed
    assert not desk.use("judge", WRONG, bench, RIGHT).passed


LINES = {
    "PASS: reset": (1, 0), "[PASS] x": (1, 0), "ok 3 - y": (1, 0), "Test 3: PASS": (1, 0), "TEST PASSED": (1, 0),
    "All tests passed": (1, 0), "All 100 tests passed!": (100, 0), "20/20 tests passed": (20, 0), "0 errors": (1, 0),
    "No errors found": (1, 0), "errors = 0": (1, 0), "error count: 0": (1, 0), "PASS: error flag raised": (1, 0),
    "Simulation finished with 0 mismatches": (1, 0), "SUMMARY: 30 passed, 0 failed": (30, 0), "test 5 passed": (1, 0),
    "Total errors: 0 of 100": (100, 0), "RESULT: PASS (240 checks)": (1, 0), "FAILED: 0, PASSED: 12": (12, 0),
    "FAIL: q=3 expected 4": (0, 1), "[FAIL] y": (0, 1), "not ok 3 - x": (0, 1), "Test 4 ... FAILED": (0, 1),
    "3 errors": (0, 3), "Errors: 3": (0, 3), "err=3": (0, 3), "12 of 20 tests passed": (12, 8), "1 error": (0, 1),
    "*** TEST FAILED with 3 errors ***": (0, 3), "MISMATCH at time 30: q=1": (0, 1), "did not pass": (0, 1),
    "expected 4 got 5": (0, 1), "case 3 wrong: 4 vs 5": (0, 1), "RESULT: FAIL (3/240)": (237, 3),
    "SUMMARY: 29 passed, 1 failed": (29, 1), "3 error(s), 4 warnings": (0, 3),
    "Testing error injection": (0, 0), "Starting test 3 of 5": (0, 0), "time=30 q=4": (0, 0), "fifo full": (0, 0),
    "Errors: 0, Warnings: 1": (1, 0), "0 error(s)": (1, 0), "errors = 0 at time 500": (1, 0), "FAILED: 0": (1, 0),
    "Failed tests: 0": (1, 0), "mismatch count: 0 / 100": (100, 0), "ERRORS 0": (1, 0), "fail=0": (1, 0),
    "PASS 10 FAIL 0": (10, 0), "FAIL: 0 PASS: 10": (10, 0), "PASS 8 FAIL 2": (8, 2), "FAIL 32": (0, 32),
    "at 516 ERROR: q": (0, 1), "Time 0 ERROR: q is 1": (0, 1), "0 ns ERROR q": (0, 1), "[0] MISMATCH: q": (0, 1),
    "t=0 MISMATCH q": (0, 1), "ERROR: 0 expected, got 1": (0, 1), "FAIL: 0 != 1": (0, 1), "MISMATCH: 0 vs 1": (0, 1),
    "cycle 0 FAILED q=1": (0, 1), "error: 0 should be 1": (0, 1), "vector 0 failed": (0, 1), "@ 0: FAIL": (0, 1),
    "FAIL: 0": (0, 1), "FAIL 0": (0, 1), "FAILED: 0 instead of 1": (0, 1), "100 ns FAILED": (0, 1), "0 FAIL q": (0, 1),
    "at 0 mismatches expected": (0, 1), "ERROR: 0 /= 1": (0, 1), "error = 0 expected 1": (0, 1),
    "q mismatch 0 1": (0, 1), "RESULT: FAIL (0/240)": (0, 1), "0/100 failed": (100, 0), "Failed: 0/100": (100, 0),
    "Errors 0 of 20": (20, 0), "pass_count=10 fail_count=2": (10, 2), "fail_cnt: 0": (1, 0), "num_errors=2": (0, 2),
    "error_flag = 1": (0, 0), "Errors detected: 0": (1, 0), "Simulation FAILED with 0 passes": (0, 1),
    "PASS 0": (1, 0), "ok 0": (1, 0), "PASS: 0": (0, 1), "PASS 0 FAIL 4": (0, 4),
    "Passed: 0": (0, 1), "passed = 0, failed = 0": (0, 0), "0 passed": (0, 1),
    "*** ERROR: TC 8 NOT successful.": (0, 1), "*** TC 8 successful.": (1, 0), "12 were not successful": (0, 1),
    "Byte 3 passed": (1, 0), "Frame 4 failed": (0, 1), "20 tests completed - 02 test cases did not complete": (0, 0),
    "Test bench completed": (0, 0), "": (0, 0), "9" * 500: (0, 0),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_says_how_many_checks_passed_and_failed(line: str) -> None:
    assert checks_of(line)[:2] == LINES[line]


PHRASES = [(verdict, text) for part in yaml.safe_load(
    Path(__file__).with_name("bench_phrases.yaml").read_text(encoding="utf-8")).values()
    for verdict, texts in part.items() for text in texts]


def report_on(printed: str, *, complains: bool = False, of_right: str | None = None) -> BenchReport:
    """Of what a bench printed, in the light of what it prints of a right module."""
    bench = HiddenBench("module tb; endmodule")
    right = report_on(of_right, complains=complains) if of_right is not None else None
    return BenchReport.read_lines(bench.lines_of(printed), printed, complains=complains, right=right)


@pytest.mark.parametrize(("verdict", "text"), PHRASES, ids=[text[:40] for _, text in PHRASES])
def test_the_end_of_a_log_is_read_as_an_engineer_reads_it(verdict: str, text: str) -> None:
    found = report_on(text)
    assert ("undecidable" if found.mismatches is None else "right" if found.passed else "wrong") == verdict


@pytest.mark.parametrize(("printed", "passed", "failed"), [
    ("PASS: 000\nPASS: 001\nPASS: 111", 3, 0), ("PASS: 000\nFAIL: 001", 1, 1), ("FAIL: 000", 0, 1),
    ("PASS: 3\nPASS: 4\nFAIL: 0", 2, 1), ("PASS: 12\nFAIL: 0", 12, 0), ("PASS: 0\nFAIL: 3", 0, 4),
    ("FAIL: 0\nPASS: 1", 1, 1), ("FAILED: 0\nFAILED: 0", 2, 0), ("ok 0\nFAIL 0", 1, 1)])
def test_figures_behind_a_verdict_are_totals_or_what_was_checked(printed: str, passed: int, failed: int) -> None:
    found = checks_of_lines(printed.split("\n"))
    assert (sum(one.passed for one in found), sum(one.failed for one in found)) == (passed, failed)


@pytest.mark.parametrize("text", ["Max error: 3", "Success rate:", "PASS/FAIL summary:", "errors injected: 5"])
def test_what_may_mean_anything_is_no_silence(text: str) -> None:
    assert report_on(text, complains=True).mismatches is None
    assert report_on("sum = 3", complains=True).passed


@pytest.mark.parametrize("said", ["20 transfers with problems", "gave up at byte 3", ""])
def test_no_word_of_what_is_right_is_no_silence(said: str) -> None:
    def read(printed: str, right: str | None = None) -> BenchReport:
        of_right = read(right) if right is not None else None
        return BenchReport.read_lines([PrintedLine(line) for line in printed.splitlines()], printed, complains=True,
                                      affirms=True, right=of_right)

    assert read(said).mismatches is None
    assert not read(said, "All transfers correct").passed
    assert read(said, said).passed, "nor does the bench say it of the reference"


@pytest.mark.parametrize(("right", "wrong"), [
    ("errors = 0", "errors = 3"), ("Error rate: 0%", "Error rate: 40%"), ("Success rate: 100%", "Success rate: 0%"),
    ("ERROR injected\nerrors = 0", "ERROR injected\nerrors = 1"), ("UVM_ERROR : 0", "UVM_ERROR : 2")])
def test_a_total_is_a_complaint_though_the_reference_has_one_too(right: str, wrong: str) -> None:
    assert report_on(right, complains=True, of_right=right).passed
    assert not report_on(wrong, complains=True, of_right=right).passed


def test_a_plan_of_tests_is_kept_or_told() -> None:
    assert report_on("1..2\nok 1\nok 2").passed
    [complaint] = report_on("1..3\nok 1\nok 2").complaints
    assert complaint.text == "1..3 was announced, and 2 came"


@given(st.text(st.sampled_from("pasfileror 0123:/()of'%\nPASF"), max_size=300))
def test_any_line_can_be_read(line: str) -> None:
    passed, failed, _ = checks_of(line)
    assert passed >= 0
    assert failed >= 0


@given(st.lists(st.sampled_from([*LINES, "Mismatches: 1 in 2 samples"]), max_size=8), st.booleans())
def test_failing_lines_never_pass(lines: list[str], complains: bool) -> None:
    bench = HiddenBench("module tb; endmodule")
    printed = "\n".join(lines)
    report = BenchReport.read_lines(bench.lines_of(printed), printed, complains=complains)
    assert report.passed <= (not any(found.failed for found in checks_of_lines(printed.split("\n"))))
    assert 0 <= report.share <= 1


@pytest.mark.parametrize(("printed", "failed"), [
    ("ERROR: q=2\nERROR: q=4\nERROR: q=6\n3 errors\n", 3), ("3 errors\n", 3), ("ERROR: q=2\nERROR: q=4\n", 2)])
def test_a_total_is_no_check_of_its_own(printed: str, failed: int) -> None:
    report = BenchReport.read_lines([PrintedLine(line) for line in printed.splitlines()], printed, complains=True)
    assert (report.mismatches, report.samples) == (failed, failed)
