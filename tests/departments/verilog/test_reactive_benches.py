"""Benches that wait for an output of the module, and go on when it comes: a trace begins at what they react to, and
names the lines behind what never comes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.departments.verilog.answer import Answer
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.compilation import SIMULATING
from chatdev.departments.verilog.library import FileVerdict, judge, trace
from chatdev.departments.verilog.mismatch import explain_result
from chatdev.departments.verilog.simulation import simulate_answer
from chatdev.departments.verilog.target import Target
from chatdev.departments.verilog.waveform.comparison import cut_dump, find_reaction
from chatdev.sandbox.kinds import find_sandbox

pytestmark = pytest.mark.tool

RIGHT = """module sum4(input clk, rst, start, input [7:0] a, output reg busy, output done, output reg [9:0] y);
  reg [2:0] n;
  assign done = busy && n == 4;
  always @(posedge clk)
    if (rst) begin busy <= 0; n <= 0; y <= 0; end
    else if (start) begin busy <= 1; n <= 0; y <= 0; end
    else if (done) busy <= 0;
    else if (busy) begin
      n <= n + 1;
      y <= y + a;
    end
endmodule
"""
BENCH = """`timescale 1ns/1ns
module tb;
  reg clk = 0, rst = 1, start = 0; reg [7:0] a = 3; wire busy, done; wire [9:0] y; integer i;
  sum4 dut(.clk(clk), .rst(rst), .start(start), .a(a), .busy(busy), .done(done), .y(y));
  always #5 clk = ~clk;
  initial begin
    @(negedge clk) rst = 0;
    for (i = 1; i < 4; i = i + 1) begin
      a = 5 * i; start = 1; @(negedge clk) start = 0;
      while (!done) @(negedge clk);
      a = 0;
      repeat (3) @(negedge clk);
      if (y !== 20 * i) $display("FAIL: sum %0d, n is %0d", i, dut.n); else $display("PASS: sum %0d", i);
    end
    $finish;
  end
endmodule
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"right.v": RIGHT, "tb.v": BENCH}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def trace_of(folder: Path, right: str, wrong: str, *reference: str) -> FileVerdict:
    assert right in RIGHT
    (folder / "sum.v").write_text(RIGHT.replace(right, wrong), encoding="utf-8")
    return trace("sum.v", "tb.v", reference)


def test_the_right_module_passes(folder: Path) -> None:
    assert judge("right.v", "tb.v", "right.v").passed
    assert trace("right.v", "tb.v", "right.v").passed


def test_a_trace_begins_at_the_output_that_the_bench_reacted_to(folder: Path) -> None:
    found = trace_of(folder, "n == 4", "n == 3", "right.v")
    assert (found.passed, found.evidence["output"]) == (False, "done")
    assert found.evidence["places"][0] == "sum.v:3"
    assert "`done` is not what the reference has" in found.report


mistakes = pytest.mark.parametrize(("right", "wrong", "line"), [
    ("n == 4", "n == 9", 3), ("else if (busy)", "else if (!busy)", 7)])


@mistakes
def test_a_bench_that_waits_for_ever_is_traced(folder: Path, right: str, wrong: str, line: int) -> None:
    found = trace_of(folder, right, wrong, "right.v")
    assert (found.passed, found.evidence["outcome"]) == (False, "waits")
    assert f"sum.v:{line}" in found.evidence["places"]
    assert found.report.startswith("The test bench does not come to its end")


@mistakes
def test_so_is_one_without_a_reference(tmp_path: Path, right: str, wrong: str, line: int) -> None:
    bench, text = HiddenBench(BENCH, target=Target("sum4")), RIGHT.replace(right, wrong)
    result = simulate_answer(text, bench, find_sandbox(), tmp_path, dump=True, limits=replace(SIMULATING, cpu=2))
    found = explain_result(Answer("sum.v", text), bench, result, 3)
    assert found.report.startswith("The simulation was stopped")
    assert line in found.evidence["lines"]


def test_without_a_whole_time_nothing_is_left_of_a_waveform(tmp_path: Path) -> None:
    (tmp_path / "a.vcd").write_text(HEAD, encoding="ascii")
    assert not cut_dump(tmp_path / "a.vcd")
    (tmp_path / "a.vcd").write_text(f"{HEAD}#0\n0!\n#5\nb1", encoding="ascii")
    assert cut_dump(tmp_path / "a.vcd")
    assert (tmp_path / "a.vcd").read_text(encoding="ascii") == f"{HEAD}#0\n0!\n"


HEAD = """$timescale 1ps $end
$scope module tb $end
$var wire 1 ! a $end
$var wire 4 " b [3:0] $end
$upscope $end
$enddefinitions $end
"""


@pytest.mark.parametrize(("answer", "reference", "time"), [
    ("#0\n0!\nb1 \"\n#5\n1!\n", "#0\n0!\nb1 \"\n#5\n1!\n", None), ("#0\n0!\n#5\n1!\n", "#0\n0!\n#7\n1!\n", 5),
    ("#0\n0!\n", "#0\n0!\n#7\nb10 \"\n", 7), ("#0\nb1 \"\n", "#0\n0!\n", 0)])
def test_when_inputs_are_others_is_found(tmp_path: Path, answer: str, reference: str, time: int | None) -> None:
    ours, theirs = tmp_path / "a.vcd", tmp_path / "r.vcd"
    ours.write_text(HEAD + answer, encoding="ascii")
    theirs.write_text(HEAD + reference, encoding="ascii")
    assert find_reaction(ours, theirs, ["tb.a", "tb.b", "tb.none"]) == time
