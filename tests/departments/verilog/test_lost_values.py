"""Outputs that lose their value, judged by a bench that compares with `!=` and has no reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.judge import judge_answer
from chatdev.sandbox.kinds import find_sandbox

pytestmark = pytest.mark.tool

BENCH = """module tb;
  reg clk = 0, rst = 1, we = 0; reg [1:0] at = 0; reg [3:0] d = 0; wire [3:0] q, bus; integer i, bad = 0;
  reg [3:0] words [0:3], want = 0;
  TopModule dut(clk, rst, we, at, d, q, bus);
  always #5 clk = ~clk;
  always @(posedge clk) begin if (we) words[at] <= d; want <= rst ? 0 : words[at]; end
  initial begin
    #12 rst = 0;
    for (i = 0; i < 60; i = i + 1) begin
      {we, at, d} = $random;
      @(negedge clk);
      if (q != want) bad = bad + 1;
      if (we && bus != d) bad = bad + 1;
    end
    if (bad) $display("FAIL: %0d values are wrong", bad); else $display("All tests passed");
    $finish;
  end
endmodule
"""
RIGHT = """module TopModule(input clk, input rst, input we, input [1:0] at, input [3:0] d, output reg [3:0] q,
                 output [3:0] bus);
  reg [3:0] words [0:3];
  assign bus = we ? d : 4'bz;
  always @(posedge clk) begin
    if (we) words[at] <= d;
    q <= rst ? 0 : words[at];
  end
endmodule
"""


def outcome(folder: Path, answer: str) -> str:
    return judge_answer(answer, HiddenBench(BENCH), find_sandbox(), folder)[0].outcome


@pytest.mark.parametrize(("old", "new"), [
    ("", ""),
    ("4'bz", "4'bx"),
    ("4'bz", "4'd3"),
], ids=["words that nothing wrote, and a bus at rest", "a bus without a value where nobody looks", "a bus of its own"])
def test_what_is_unknown_by_right_passes(tmp_path: Path, old: str, new: str) -> None:
    assert outcome(tmp_path, RIGHT.replace(old, new)) == "matches"


@pytest.mark.parametrize(("old", "new"), [
    ("rst ? 0 : words[at]", "rst ? 0 : 4'bx"),
    ("rst ? 0 : words[at]", "rst ? 0 : 4'bz"),
    ("rst ? 0 : words[at]", "rst ? 0 : d > 4 ? 4'bx : words[at]"),
    ("we ? d", "we ? (d > 4 ? 4'bx : d)"),
    ("we ? d", "we ? {d[3:1], 1'bx}"),
])
def test_a_value_that_is_lost_where_the_bench_looks_does_not_pass(tmp_path: Path, old: str, new: str) -> None:
    assert outcome(tmp_path, RIGHT.replace(old, new)) == "unknown_outputs"


def test_a_wrong_value_is_a_mismatch(tmp_path: Path) -> None:
    assert outcome(tmp_path, RIGHT.replace("words[at];", "~words[at];")) == "mismatches"
