"""Designs that come with files: packages, a submodule, a header and the content of a memory, and what is said where
they, the bench and the name of the module do not go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.errors import ToolError
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

pytestmark = pytest.mark.tool

GIVEN = {
    "a_user.sv": "package a_user;\n  typedef z_types::code_t pair_t [2];\nendpackage\n",
    "z_types.sv": "package z_types;\n  localparam int W = 4;\n  typedef logic [3:0] code_t;\n"
                  "  function automatic code_t twice(input code_t a);\n    twice = a << 1;\n  endfunction\n"
                  "endpackage\n",
    "lib/stage.sv": "module stage import z_types::*; (input logic clk, input code_t d, output code_t q);\n"
                    "  always_ff @(posedge clk) q <= twice(d);\nendmodule\n",
    "defs.svh": "`define FIRST 4'h3\n",
    "init.mem": "0\n5\na\nf\n",
}
RIGHT = """`include "defs.svh"
module lookup import z_types::*; (input logic clk, input logic [1:0] at, output code_t q, output code_t later);
  code_t memory [4];
  initial $readmemh("init.mem", memory);
  assign q = memory[at] ^ `FIRST;
  stage delay(.clk(clk), .d(q), .q(later));
endmodule
"""
BENCH = """`timescale 1ns/1ns
module lookup_tb;
  reg clk = 0; reg [1:0] at = 0; wire [3:0] q, later; integer i; reg [3:0] want [0:3];
  lookup dut(.*);
  always #5 clk = ~clk;
  initial begin
    want[0] = 3; want[1] = 6; want[2] = 9; want[3] = 12;
    for (i = 0; i < 4; i = i + 1) begin
      at = i;
      @(negedge clk);
      if (q !== want[i]) $error("q is %h at %0d", q, at);
      if (later !== {want[i][2:0], 1'b0}) $error("later is %h", later);
    end
    $finish;
  end
endmodule
"""


def context_of(folder: Path, answer: str | None = RIGHT, **inputs: Any) -> ToolContext:
    given = {"task": "- input clk\n- input at (2 bits)\n- output q (4 bits)\n- output later (4 bits)\n", "bench": BENCH,
             "reference": RIGHT, "given": GIVEN, **inputs}
    return ToolContext({} if answer is None else {"top.sv": answer.encode()}, {}, given, find_sandbox(), folder, folder)


def use(tool: str, folder: Path, answer: str | None = RIGHT, **inputs: Any) -> Any:
    return registry()[f"verilog.{tool}"].call(context_of(folder, answer, **inputs), {})


def judged(folder: Path, answer: str = RIGHT, **inputs: Any) -> Verdict:
    verdict = use("judge", folder, answer, **inputs)
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_design_may_use_all_that_is_given(tmp_path: Path) -> None:
    assert use("check", tmp_path).passed
    assert judged(tmp_path).evidence["outcome"] == "matches"
    assert use("bench", tmp_path) == {
        "top": "lookup", "given": {name: text for name, text in GIVEN.items() if "mem" not in name},
        "data": ["init.mem"], "reference": "matches", "notes": []}


@pytest.mark.parametrize(("old", "new", "why"), [
    ('"defs.svh"', '"other.svh"', "`other.svh` is none of the given headers"),
    ('"defs.svh"', '"../bench.sv"', "none of the given headers"),
    ('"init.mem"', '"other.mem"', "`other.mem` is no given file"),
    ('"init.mem"', "NAME", "a memory can only be filled from a given file"),
    ("endmodule", "endmodule\nmodule stage; endmodule", "`stage` is in a given file"),
    ("module lookup", "module other", "no module `lookup` (it has other)"),
    ("assign q =", "assign q = delay.q ^", "reaches into another module"),
    ("assign q =", "assign q = z_types::thrice(at) ^", "does not compile"),
])
def test_what_is_not_given_is_refused(tmp_path: Path, old: str, new: str, why: str) -> None:
    verdict = judged(tmp_path, RIGHT.replace(old, new))
    assert not verdict.passed
    assert why in verdict.report


def test_a_given_source_may_be_included_instead(tmp_path: Path) -> None:
    including = '`include "z_types.sv"\n`include "lib/stage.sv"\n' + RIGHT
    given = {name: text for name, text in GIVEN.items() if name != "a_user.sv"}
    assert use("check", tmp_path, including, given=given).passed
    assert judged(tmp_path, including, given=given).evidence["outcome"] == "matches"
    assert judged(tmp_path, including, given=given, reference=including).evidence["outcome"] == "matches"


def test_a_given_file_may_have_the_name_of_answers(tmp_path: Path) -> None:
    given = {name.replace("lib/stage.sv", "top.sv"): text for name, text in GIVEN.items()}
    assert use("bench", tmp_path, None, given=given)["top"] == "lookup"
    assert judged(tmp_path, given=given).evidence["outcome"] == "matches"


def test_a_trace_goes_through_given_files_and_names_their_lines(tmp_path: Path) -> None:
    found = registry()["verilog.trace"].call(context_of(tmp_path, RIGHT.replace("^ `FIRST", "& `FIRST")),
                                             {"levels": 4, "outputs": ["later"]})
    assert isinstance(found, Verdict)
    assert "lib/stage.sv:2 |   always_ff @(posedge clk) q <= twice(d);" in found.report
    assert "     5 |   assign q = memory[at] & `FIRST;" in found.report
    assert set(found.evidence["lines"]) <= set(range(1, 8))


def test_an_error_in_a_given_file_says_so(tmp_path: Path) -> None:
    broken = GIVEN | {"lib/stage.sv": GIVEN["lib/stage.sv"].replace("twice(d)", "twice(")}
    verdict = judged(tmp_path, given=broken)
    assert "lib/stage.sv:2" in verdict.report
    assert "top.sv:2" not in verdict.report


@pytest.mark.parametrize(("inputs", "why"), [
    ({"top": "uart"}, "does not test uart: it tests lookup; name the module with --input top=NAME"),
    ({"bench": BENCH.replace("lookup dut(.*);", "lookup dut(.*); monitor m(.*);"), "top": "lookup"},
     "the test bench needs monitor beside lookup; give the files with --input given=@FILE"),
    ({"bench": "module tb; initial $finish; endmodule"}, "no instance of a module that is missing"),
    ({"reference": RIGHT.replace("module lookup", "module search")}, "no module RefModule or lookup (it has search)"),
    ({"reference": RIGHT.replace("memory[at]", "memory[at + 1]")}, "does not accept its own reference"),
    ({"given": GIVEN | {"lib/stage.sv": GIVEN["lib/stage.sv"].replace("q <= twice(d)", "half h(d, q)")}},
     "the given file lib/stage.sv, line 2"),
    ({"given": GIVEN | {"lib/stage.sv": "module stage(input a); half h(a); endmodule"}},
     "the given file lib/stage.sv, line 1: no half is given"),
    ({"given": GIVEN | {"defs.svh": '`include "defs.svh"\n'}}, "the given file defs.svh includes itself"),
    ({"bench": BENCH.replace("lookup dut", "RefModule right(.*); lookup dut"), "reference": None},
     "compares with RefModule; give its file with --input reference=FILE"),
])
def test_what_does_not_go_together_is_told_before_anything_is_paid(tmp_path: Path, inputs: dict[str, Any],
                                                                   why: str) -> None:
    with pytest.raises(ToolError) as told:
        use("bench", tmp_path, None, **inputs)
    assert why in str(told.value)


def test_the_module_is_the_one_that_the_bench_tests(tmp_path: Path) -> None:
    assert use("bench", tmp_path, None, given=None, reference=None)["top"] == "lookup"
    assert use("bench", tmp_path, None, given=None, reference=None, bench=None)["top"] == "TopModule"
    assert use("bench", tmp_path, None, given=None, reference=None, bench=None, top="fifo")["top"] == "fifo"
