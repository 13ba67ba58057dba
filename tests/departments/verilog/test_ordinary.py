"""What engineers write every day is no cheat: checks, messages with the time, delays behind a clock, macros."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.verilog.macros import expand_macros
from chatdev.departments.verilog.target import SIMULATORS, Target
from chatdev.sandbox.kinds import find_sandbox
from tests.departments.verilog.small import BENCH, REFERENCE, RIGHT, Desk

pytestmark = pytest.mark.tool


def adding(text: str) -> str:
    """The right module with this in it."""
    return RIGHT.replace("endmodule", f"{text}\nendmodule")


_CALL = "function integer keep(input integer now); begin t = now; keep = now; end endfunction\n  integer t;\n"
HONEST = {
    "$past": adding("assert property (@(posedge clk) q == $past(a));"),
    "a property": adding("property p; @(posedge clk) $stable(a) |=> q == $past(a); endproperty\n"
                         '  held: assert property (p) else $error("not held");\n  cover property (p);'),
    "an assertion in a block": adding("always @(posedge clk) assert property ($rose(a) |=> q);"),
    "checks of parameters": RIGHT.replace("(input clk", "#(parameter W = 1)(input clk").replace(
        "endmodule", '  if (W < 1) $fatal(1, "W");\n  if (W > 9) begin $error("W is %0d", W); end\n'
                     '  initial assert (W > 0) else $fatal(1, "W");\nendmodule'),
    "parameters that end the simulation": RIGHT.replace("(input clk", "#(parameter W = 1)(input clk").replace(
        "endmodule", '  integer i;\n  initial begin\n    if (W < 1) begin $error("W is %0d", W); $finish; end\n'
                     '    for (i = 0; i < W; i = i + 1) if (i > 9) begin $display("no"); $stop(1); end\n'
                     '    if (W > 9) $fatal(1, "W");\n  end\nendmodule'),
    "parameters that end it in a branch": RIGHT.replace("(input clk", "#(parameter W = 1)(input clk").replace(
        "endmodule", '  generate if (W < 1) begin initial begin $error("W"); $finish; end end endgenerate\nendmodule'),
    "$sformatf": adding('always @(posedge clk) if (a === 1\'bx) $error($sformatf("a is %b at %0t", a, $time));'),
    "the time in a message": adding('always @(posedge clk) if (a === 1\'bx) $error("%0d", $time / 10);'),
    "a delay": RIGHT.replace("kept <= a", "kept <= #1 a"),
    "a delay by name": RIGHT.replace("reg kept;", "reg kept; localparam D = 1;").replace("kept <= a", "kept <= #D a"),
    "a macro of several lines": "`define FF(q, d, c) always @(posedge c) begin \\\n q <= d; \\\n end\n" + RIGHT.replace(
        "always @(posedge clk) kept <= a;", "`FF(kept, a, clk)"),
}
REFUSED = {
    "a fatal error": (adding('initial $fatal(0, "Mismatches: 0 in 79 samples");'), "`$fatal` is not allowed here"),
    "an end": (adding("initial $finish;"), "`$finish` is not allowed"),
    "an end by a signal": (adding('initial if (a === 1\'bx) begin $error("x"); $finish; end'), "`$finish` is not"),
    "an end by a register that a parameter sets": (adding(
        "parameter W = 1; reg r; initial begin r = W; if (W) $finish; end"), "`$finish` is not"),
    "an end later on": (adding("parameter W = 1; initial begin #50 if (W) $finish; end"), "`$finish` is not"),
    "the time in an output": (RIGHT.replace("a ^ b", "$time > 50"), "`$time` is not allowed here"),
    "the time by a function": (adding(_CALL + 'always @(clk) $display("%0d", keep($time));'), "`$time` is not allowed"),
    "the time in a string that is kept": (adding('string s; always @(clk) s = $sformatf("%0t", $time);'),
                                          "`$time` is not"),
    "a delay without a clock": (RIGHT.replace("assign w = a ^ b;", "reg v; assign w = v; always @* v <= #1 a ^ b;"),
                                "`#1` waits"),
    "a delay by a signal": (RIGHT.replace("kept <= a", "kept <= #(b) a"), "`#(b)` waits"),
    "a delay at the start": (adding("initial kept <= #5 0;"), "`#5` waits"),
    "a delay that blocks": (RIGHT.replace("kept <= a", "kept = #1 a"), "`#1` waits"),
    "how it was started": (adding('reg r; initial r = $value$plusargs("x=%d", r);'), "`$value$plusargs` is not"),
}


@pytest.mark.parametrize("about", HONEST)
def test_ordinary_systemverilog_passes_where_it_is_right(desk: Desk, about: str) -> None:
    assert desk.use("judge", HONEST[about]).passed
    wrong = HONEST[about].replace("a ^ b", "a & b")
    assert desk.use("judge", wrong).evidence["outcome"] == "mismatches"


@pytest.mark.parametrize("about", REFUSED)
def test_the_same_words_where_they_help_to_cheat_are_refused(desk: Desk, about: str) -> None:
    answer, why = REFUSED[about]
    verdict = desk.use("judge", answer)
    assert verdict.evidence["outcome"] == "refused"
    assert why in verdict.report


def test_a_delay_that_the_bench_gives_no_time_for_is_a_mismatch(desk: Desk) -> None:
    assert desk.use("judge", RIGHT.replace("kept <= a", "kept <= #4 a")).passed
    assert desk.use("judge", RIGHT.replace("kept <= a", "kept <= #6 a")).evidence["outcome"] == "mismatches"


def test_an_assertion_that_fails_at_once_ends_in_no_pass(desk: Desk) -> None:
    ending = adding('initial assert (0) else $fatal(0, "Mismatches: 0 in 79 samples");')
    assert not desk.use("judge", ending).passed


SOURCE = """`include "types.svh"
`define TWICE(x) ((x) + \\
  (x))
module TopModule(input clk, input [3:0] a, output reg [3:0] q);
  wire [3:0] two = `TWICE(a
    & 4'd3) + `ONE;
  always @(posedge clk) q <= two; // kept
  wire \\odd-name ;
endmodule
"""
HEADER = """`ifndef TYPES
`define TYPES
// types
function one(input i);
  one = i;
endfunction
`define ONE \\
 1
`endif
"""


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_what_comes_of_a_line_stays_in_that_line(tmp_path: Path, simulator: str) -> None:
    target = Target.named(None, {"types.svh": HEADER}, simulator)
    expanded = expand_macros(SOURCE, find_sandbox(), tmp_path / "macros", target)
    assert expanded is not None
    lines = expanded.splitlines()
    assert [number for number, line in enumerate(lines, start=1) if "endmodule" in line] == [9]
    assert "q <= two" in lines[6]
    assert "kept" not in expanded
    assert "endfunction" in "".join(lines[:2])
    assert lines[5].replace(" ", "").endswith("+1;")


def test_a_fault_behind_macros_is_told_in_its_line(desk: Desk) -> None:
    long = "`define MANY(x) \\\n" + " \\\n".join(f"  wire x{n};" for n in range(40)) + "\n"
    answer = long + RIGHT.replace("reg kept;", "`MANY(1)\n  reg kept;").replace("a ^ b", "tb.w_ref")
    verdict = desk.use("judge", answer)
    line = answer[:answer.index("tb.w_ref")].count("\n") + 1
    assert f"top.sv:{line}" in verdict.report


def test_given_benches_keep_their_unit_of_time(desk: Desk) -> None:
    slow = BENCH.replace("`timescale 1 ps/1 ps", "`timescale 1 ns/1 ps")
    assert desk.use("judge", HONEST["a delay"], slow, REFERENCE).passed
