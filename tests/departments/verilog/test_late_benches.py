"""A trace begins at the first difference that the bench minds, however late it complains."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.verilog.late import own_cases, rows_of_own, rows_of_problem
from benchmarks.verilog.mutants import Mutant
from benchmarks.verilog.subjects import Subject, verilogeval_subjects
from chatdev.departments.verilog.answer import Answer
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.equivalence import find_minded
from chatdev.departments.verilog.simulation import simulate_answer
from chatdev.isolation import isolate
from chatdev.sandbox.kinds import find_sandbox
from tests.departments.verilog.small import Desk

PWM = """module TopModule(input clk, input rst, input [7:0] duty, output reg pwm);
  reg [7:0] cnt;
  always @(posedge clk)
    if (rst) cnt <= 0;
    else cnt <= cnt + 1;
  always @(posedge clk)
    if (rst) pwm <= 0;
    else pwm <= cnt < duty;
endmodule
"""
COUNTS = """`timescale 1ns/1ps
module tb;
  reg clk = 0, rst = 1; reg [7:0] duty = 74; wire pwm;
  integer high, i;
  always #5 clk = ~clk;
  TopModule dut(.clk(clk), .rst(rst), .duty(duty), .pwm(pwm));
  initial begin
    repeat (3) @(negedge clk);
    rst = 0;
    repeat (2) @(negedge clk);
    high = 0;
    for (i = 0; i < 256; i = i + 1) begin @(negedge clk); high = high + pwm; end
    if (high !== 74) $display("FAIL: duty 74 gave %0d high", high); else $display("PASS: duty 74");
    $finish;
  end
endmodule
"""
ADDER = """module TopModule(input [7:0] a, input [7:0] b, output [8:0] y, output valid);
  assign y = a + b;
  assign valid = a < 150;
endmodule
"""
ONE_FAIL = """`timescale 1ns/1ps
module tb;
  reg [7:0] a = 0, b = 0; wire [8:0] y; wire valid; integer i, errors = 0;
  TopModule dut(.a(a), .b(b), .y(y), .valid(valid));
  initial begin
    for (i = 0; i < 40; i = i + 1) begin
      a = i * 37; b = i * 91; #10;
      if (valid && y !== a + b) errors = errors + 1;
    end
    if (errors) $display("FAIL"); else $display("PASS");
    $finish;
  end
endmodule
"""
SOME = ("register file at the edge", "two writers of a state", "stack of calls")


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the studies ask for stays with the test that asks."""
    monkeypatch.setattr(isolate, "_reads_here", isolate._reads_here)


def rows_of(report: str) -> list[str]:
    return re.findall(r"^\d+ .*$", report, re.MULTILINE)


@pytest.mark.parametrize(("answer", "bench", "reference", "time", "line"), [
    (PWM.replace("cnt < duty", "cnt <= duty"), COUNTS, PWM, 775000, "cnt <= duty"),
    (ADDER.replace("a + b", "a + (b & ~(a >> 3))"), ONE_FAIL, ADDER, 30000, "assign y"),
    (ADDER.replace("a + b", "a < 150 ? a + (b & ~(a >> 3)) : 0"), ONE_FAIL, ADDER, 30000, "assign y")])
def test_the_trace_begins_where_the_bench_first_minds(desk: Desk, answer: str, bench: str, reference: str, time: int,
                                                      line: str) -> None:
    verdict = desk.use("trace", answer, bench=bench, reference=reference)
    assert verdict.evidence["time"] == time, verdict.report
    assert f"is not what the reference has, from {time} on." in verdict.report
    assert "!=" in rows_of(verdict.report)[-1]
    assert line in verdict.report


def test_a_difference_that_the_bench_does_not_look_at_is_passed_over(desk: Desk) -> None:
    """It differs from the start where `valid` is 0, and from 200 on where it is 1."""
    answer = ADDER.replace("a + b", "a < 150 ? a + b + (a > 120) : 0")
    verdict = desk.use("trace", answer, bench=ONE_FAIL, reference=ADDER)
    late = next(10_000 * number for number in range(40) if 120 < number * 37 % 256 < 150)
    assert verdict.evidence["time"] == late


def test_the_picture_is_of_the_first_difference(desk: Desk, tmp_path: Path) -> None:
    answer = PWM.replace("cnt < duty", "cnt <= duty")
    bench, text = HiddenBench(COUNTS, PWM), Answer("top.sv", answer)
    found = simulate_answer(answer, bench, find_sandbox(), tmp_path, dump=True)
    assert find_minded(found, text, bench, find_sandbox(), tmp_path) == 775000


@pytest.mark.parametrize("bench", [ONE_FAIL.replace('$display("FAIL")', '$display("FAIL at %0t", $realtime)'),
                                   ONE_FAIL.replace("valid && y !== a + b", "dut.y !== a + b")])
def test_benches_that_look_inside_are_asked_as_well(desk: Desk, bench: str) -> None:
    answer = ADDER.replace("a + b", "a + (b & ~(a >> 3))")
    assert desk.use("trace", answer, bench=bench, reference=ADDER).evidence["time"] == 30000


def test_where_the_bench_cannot_be_asked_the_likeliest_difference_begins(desk: Desk) -> None:
    """It looks at a signal inside, which nothing that is played has."""
    inside, bench = ADDER.replace("assign y", "wire [8:0] s = a + b; assign y").replace("y = a + b", "y = s"), ONE_FAIL
    bench = bench.replace("valid && y !== a + b", "dut.s !== a + b")
    verdict = desk.use("trace", inside.replace("= a + b", "= a + (b & ~(a >> 3))"), bench=bench, reference=inside)
    assert verdict.evidence["output"] == "y"
    assert "!=" in rows_of(verdict.report)[-1]


@pytest.mark.parametrize("case", [case for case in own_cases() if case[0].name in SOME], ids=lambda case: case[0].name)
def test_a_mistake_that_is_complained_of_late_is_told(case: tuple[Subject, list[Mutant]]) -> None:
    for row in rows_of_own(case):
        assert all(row.shows)
        assert not row.omits


def test_one_word_of_verilogeval_begins_at_the_first_mismatch() -> None:
    for row in rows_of_problem(verilogeval_subjects()[60]):
        assert row.begins_right
