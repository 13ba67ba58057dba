"""A bench that does not accept its own reference is told before anything is paid."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatdev.errors import ToolError
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, registry
from tests.departments.verilog.small import BENCH, REFERENCE

pytestmark = pytest.mark.tool


def checked(folder: Path, bench: str | None = BENCH, reference: str | None = REFERENCE,
            given: dict[str, str] | None = None) -> str:
    """What `verilog.bench` says."""
    inputs = {"bench": bench, "reference": reference, "given": given}
    context = ToolContext({}, {}, inputs, find_sandbox(), folder, folder)
    said = registry()["verilog.bench"].call(context, {})
    assert isinstance(said, dict)
    return str(said["reference"])


def test_a_bench_that_accepts_its_reference_is_fine(tmp_path: Path) -> None:
    assert checked(tmp_path) == "matches"
    silent = re.sub(r"(?s)final begin.*?\n  end", "", BENCH)
    assert checked(tmp_path, silent) == "no_report"
    assert checked(tmp_path, None) == ""


@pytest.mark.parametrize(("bench", "reference", "why"), [
    (BENCH, REFERENCE.replace("q = kept", "q = $random"), "of 79 samples of the test bench do not match"),
    (BENCH.replace("always #5 clk", "always #5 nothing"), REFERENCE, "they do not compile together; bench.sv:7: "),
        (BENCH.replace("samples = samples + 1;", ""), REFERENCE, "ended without having compared a single sample"),
])
def test_one_that_does_not_is_told(tmp_path: Path, bench: str, reference: str, why: str) -> None:
    with pytest.raises(ToolError, match="does not accept its own reference") as told:
        checked(tmp_path, bench, reference)
    assert why in str(told.value)
    assert "mend `bench` or `reference`" in str(told.value)


SECOND = "module tb_two;\n  wire q, w;\n  TopModule dut(1'b0, 1'b0, 1'b0, q, w);\n  initial #9 $finish;\nendmodule\n"


def test_two_benches_in_one_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="more than one: tb and tb_two each test TopModule, and only one of them would"):
        checked(tmp_path, BENCH + SECOND)


@pytest.mark.parametrize("more", [
    SECOND + "module both; tb first(); tb_two second(); endmodule\n",
    "module clocks; reg clk = 0; always #5 clk = ~clk; endmodule\n"])
def test_a_bench_may_have_several_instances_or_other_roots(tmp_path: Path, more: str) -> None:
    assert checked(tmp_path, BENCH + more) == "matches"


SLOW = """module slow #(parameter int R = 1) (input logic clk, output logic tick);
  localparam W = $clog2(R);
  localparam bit [W-1:0] LAST = W'(R-1);
  logic [W-1:0] n = 0;
  always_ff @(posedge clk) n <= n == LAST ? '0 : n + 1;
  assign tick = n == LAST;
endmodule
"""
SLOW_BENCH = """module tb;
  logic clk = 0, tick; integer ticks = 0;
  divider d(clk, tick);
  always #5 clk = ~clk;
  always @(posedge clk) ticks = ticks + tick;
  initial begin #400 if (ticks !== 10) $display("FAIL"); else $display("PASS"); $finish; end
endmodule
"""
DIVIDER = "module divider(input logic clk, output logic tick); slow #(.R(4)) s(.clk, .tick); endmodule\n"


def test_given_files_are_read_with_the_parameters_that_they_get(tmp_path: Path) -> None:
    assert checked(tmp_path, SLOW_BENCH, DIVIDER, {"slow.sv": SLOW}) == "matches"
    assert checked(tmp_path, SLOW_BENCH, None, {"slow.sv": SLOW}) == ""  # nobody makes it yet
    with pytest.raises(ToolError, match=r"slow\.sv, line 3: a mistake"):
        checked(tmp_path, SLOW_BENCH, DIVIDER.replace("(4)", "(1)"), {"slow.sv": SLOW})
    with pytest.raises(ToolError, match=r"slow\.sv, line 6: a mistake"):
        checked(tmp_path, SLOW_BENCH, None, {"slow.sv": SLOW.replace("tick = n", "tick = = n")})
