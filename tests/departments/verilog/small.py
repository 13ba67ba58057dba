"""A small problem in VerilogEval's form, and the tools of Verilog on answers to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from chatdev.cli.outcome import heed_signals
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

HEADER = "module TopModule(input clk, input a, input b, output q, output w);\n"
RIGHT = HEADER + """  reg kept;
  always @(posedge clk) kept <= a;
  assign q = kept;
  assign w = a ^ b;
endmodule
"""
REFERENCE = RIGHT.replace("TopModule", "RefModule")
BENCH = """`timescale 1 ps/1 ps
`define SECRET 3
module tb;
  reg clk = 0, a = 0, b = 0;
  wire q_ref, w_ref, q_dut, w_dut;
  integer errors = 0, errors_q = 0, errors_w = 0, first_q = 0, first_w = 0, samples = 0;
  always #5 clk = ~clk;
  always @(negedge clk) {a, b} <= $random;
  initial begin $dumpfile("wave.vcd"); $dumpvars(1, clk, q_ref, q_dut); end
  RefModule good1(.clk(clk), .a(a), .b(b), .q(q_ref), .w(w_ref));
  TopModule top_module1(.clk(clk), .a(a), .b(b), .q(q_dut), .w(w_dut));
  always @(posedge clk, negedge clk) begin
    samples = samples + 1;
    if ({q_ref, w_ref} !== ({q_ref, w_ref} ^ {q_dut, w_dut} ^ {q_ref, w_ref})) errors = errors + 1;
    if (q_ref !== (q_ref ^ q_dut ^ q_ref)) begin
      if (errors_q == 0) first_q = $time;
      errors_q = errors_q + 1;
    end
    if (w_ref !== (w_ref ^ w_dut ^ w_ref)) begin
      if (errors_w == 0) first_w = $time;
      errors_w = errors_w + 1;
    end
  end
  initial #398 $finish;
  final begin
    if (errors_q) $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "q", errors_q,
                           first_q);
    else $display("Hint: Output '%s' has no mismatches.", "q");
    if (errors_w) $display("Hint: Output '%s' has %0d mismatches. First mismatch occurred at time %0d.", "w", errors_w,
                           first_w);
    else $display("Hint: Output '%s' has no mismatches.", "w");
    $display("Simulation finished at %0d ps", $time);
    $display("Mismatches: %1d in %1d samples", errors, samples);
  end
endmodule
"""


@dataclass(frozen=True)
class Desk:
    """Where the tools are tried."""

    folder: Path

    def use(self, tool: str, answer: str | bytes | None, bench: str | None = BENCH, reference: str | None = REFERENCE,
            task: str | None = None, **arguments: Any) -> Verdict:
        """The verdict of `verilog.TOOL` on software with the answer in `top.sv`."""
        data = answer.encode("utf-8") if isinstance(answer, str) else answer
        software = {} if data is None else {"top.sv": data}
        inputs = {"bench": bench, "reference": reference, "task": task}
        context = ToolContext(software, {}, inputs, find_sandbox(), self.folder, self.folder)
        verdict = registry()[f"verilog.{tool}"].call(context, arguments)
        assert isinstance(verdict, Verdict)
        assert list(self.folder.iterdir()) == []
        return verdict


def told_nothing_of(report: str, *hidden: str) -> bool:
    """Whether no line of the hidden texts is in the report (lines that the answer's own module may have as well are not
    looked for)."""
    own = {line.strip() for line in RIGHT.splitlines()}
    lines = {line.strip() for text in hidden for line in text.splitlines()} - own
    return not any(line in report for line in lines if len(line) > 8)


def verilog(*arguments: object) -> Result:
    """`chatdev verilog` with these arguments."""
    with heed_signals():
        return CliRunner().invoke(command_line, ["verilog", *map(str, arguments)], prog_name="chatdev")
