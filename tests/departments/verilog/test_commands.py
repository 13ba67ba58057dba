"""`chatdev verilog` as an engineer and a CI job use it: files, lists, exit codes, JSON, SARIF, JUnit, waveforms."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.departments.verilog.small import verilog

COUNTER = """module counter (input clk, input rst, input en, output reg [3:0] q);
  wire carry;
  half h(.a(q[0]), .b(en), .c(carry));
  always @(posedge clk)
    if (rst) q <= 0;
    else if (en) q <= q + 1;
endmodule
"""
HALF = """module half(input a, input b, output c);
  assign c = a & b;
endmodule
"""
BENCH = """`timescale 1ns/1ns
module tb;
  reg clk = 0, rst = 1, en = 0; wire [3:0] q; integer errors = 0;
  counter dut(.clk(clk), .rst(rst), .en(en), .q(q));
  always #5 clk = ~clk;
  initial begin
    repeat (2) @(negedge clk); rst = 0; en = 1;
    repeat (5) @(negedge clk);
    if (q !== 5) begin errors = errors + 1; $display("FAIL: q is %0d, not 5", q); end
    if (errors == 0) $display("PASS");
    $finish;
  end
endmodule
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"counter.v": COUNTER, "half.v": HALF, "tb.v": BENCH, "wrong.v": COUNTER.replace("+ 1", "+ 2"),
                       "files.f": "counter.v // the top\n# and what it uses\nhalf.v\n"}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_right_module_passes_every_command(folder: Path) -> None:
    assert verilog("check", "counter.v", "half.v").output == "OK counter.v: counter\n"
    assert verilog("lint", "-f", "files.f").exit_code == 0
    for name in ("simulate", "judge", "trace"):
        done = verilog(name, "-f", "files.f", "--bench", "tb.v")
        assert (done.exit_code, "The test bench passes" in done.output) == (0, True), done.output
    done = verilog("judge", "-f", "files.f", "--bench", "tb.v", "--reference", "counter.v", "--json")
    assert json.loads(done.output)["passed"] is True


def test_a_wrong_module_is_told_with_its_line(folder: Path) -> None:
    done = verilog("judge", "wrong.v", "half.v", "--bench", "tb.v", "--junit", "out.xml")
    assert (done.exit_code, "q is 10, not 5" in done.output) == (1, True)
    suite = ElementTree.parse("out.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite[0].get("classname")) == ("1", "1", "counter")
    traced = verilog("trace", "wrong.v", "half.v", "--bench", "tb.v", "--reference", "counter.v")
    assert traced.exit_code == 1
    assert "in wrong.v." in traced.output
    assert "6 |     else if (en) q <= q + 2;" in traced.output


def test_errors_and_remarks_have_their_file_and_line(folder: Path) -> None:
    (folder / "half.v").write_text(HALF.replace("a & b", "a & bb"), encoding="utf-8")
    done = verilog("check", "counter.v", "half.v")
    assert done.exit_code == 1
    assert "half.v:2: error: " in done.output
    assert json.loads(verilog("check", "counter.v", "half.v", "--json").output)["ok"] is False
    result = json.loads(verilog("check", "counter.v", "half.v", "--sarif").output)["runs"][0]["results"][0]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]) == ("half.v", {"startLine": 2})
    (folder / "latch.v").write_text("module latch(input a, input b, output reg q);\nalways @(*) if (a) q = b;\n"
                                    "wire never;\nassign q2 = never;\nendmodule\n", encoding="utf-8")
    done = verilog("lint", "latch.v")
    assert (done.exit_code, "latch.v:" in done.output) == (1, True)


def test_waves_are_kept_for_viewers_and_as_a_picture(folder: Path) -> None:
    done = verilog("wave", "-f", "files.f", "--bench", "tb.v", "--out", "w.vcd")
    assert (done.exit_code, done.output) == (0, "w.vcd\nw.gtkw\nw.sucl\n")
    listed = (folder / "w.gtkw").read_text(encoding="utf-8").splitlines()
    assert listed[0] == '[dumpfile] "w.vcd"'
    assert {"tb.dut.q[3:0]", "tb.dut.h.c"} <= {*listed} or {"tb.dut.q", "tb.dut.h.c"} <= {*listed}
    assert "$var" in (folder / "w.vcd").read_text(encoding="utf-8")
    done = verilog("wave", "wrong.v", "half.v", "--bench", "tb.v", "--reference", "counter.v", "--out", "w.svg")
    assert (folder / "w.svg").read_text(encoding="utf-8").startswith("<svg"), done.output


@pytest.mark.parametrize(("command", "message"), [
    (("check",), "no file: name those of the design, or a list of them with -f FILE.f"),
    (("check", "nowhere.v"), "cannot read nowhere.v: No such file"),
    (("check", "pwm.vhd"), "pwm.vhd: this is VHDL; only Verilog and SystemVerilog are read"),
    (("check", "counter.v", "half.v", "--top", "other"), "no file has a module 'other'; those that there are: counter"),
    (("judge", "counter.v", "half.v", "--bench", "half.v"),
     "the test bench does not test counter: it has no instance of a module that is missing; name the"),
    (("judge", "half.v", "--bench", "tb.v"), "counter"),
    (("judge", "counter.v", "half.v", "--bench", "tb.v", "--reference", "wrong.v"),
     "the test bench does not accept its own reference"),
    (("check", "-f", "loop.f"), "loop.f names itself, by way of loop.f"),
    (("check", "-f", "option.f"), "option.f:2: +plusarg is not understood; there are paths, +define+NAME=VALUE"),
    (("check", "-f", "define.f"), "define.f:1: '1X=1' defines no macro; write NAME or NAME=VALUE"),
    (("check", "-f", "missing.f"), "missing.f:3: there is no file nowhere.v (paths count from the working folder"),
    (("check", "-f", "variable.f"), "variable.f:1: $ROOT/counter.v has the variable ROOT of the environment; give"),
    (("check", "--env", "-f", "unset.f"), "unset.f:1: ${NO_SUCH}/counter.v has the variable NO_SUCH, which is not set"),
    (("check", "-f", "ends.f"), "ends.f:1: nothing stands behind -f"),
    (("check", "-f", "vhdl.f"), "pwm.vhd: this is VHDL"),
    (("check", "."), ".: this is a folder; name its files, or give -y . to take modules from it"),
    (("check", "counter.v", "-y", "nowhere"), "-y nowhere: there is no such folder"),
    (("check", "-f", "folder.f"), "+incdir+nowhere: there is no such folder"),
    (("wave", "counter.v", "--out", "w.svg"), "--bench: give the test bench that is run, or one waveform"),
    (("wave", "none.vcd", "--out", "w.svg"), "none.vcd cannot be read: No such file"),
    (("wave", "counter.v", "half.v", "--bench", "tb.v", "--out", "w.png"), "w.png is neither a .vcd nor a .svg file")])
def test_wrong_input_is_named(folder: Path, command: tuple[str, ...], message: str) -> None:
    for name, text in {"pwm.vhd": "entity pwm is end;", "loop.f": "-f loop.f\n", "define.f": "+define+1X=1\n",
                       "option.f": "// more\n+plusarg\n", "missing.f": "/* two\nlines */ counter.v\nnowhere.v\n",
                       "variable.f": "$ROOT/counter.v\n", "unset.f": "${NO_SUCH}/counter.v\n", "ends.f": "-f\n",
                       "vhdl.f": "counter.v pwm.vhd\n",
                       "folder.f": "+incdir+nowhere\ncounter.v\n"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = verilog(*command)
    assert done.exit_code == 2, done.output
    assert message in done.output


def test_headers_of_an_include_folder_are_found(folder: Path) -> None:
    (folder / "inc").mkdir()
    (folder / "inc" / "widths.vh").write_text("`define STEP 1\n", encoding="utf-8")
    (folder / "counter.v").write_text('`include "widths.vh"\n' + COUNTER.replace("+ 1", "+ `STEP"), encoding="utf-8")
    (folder / "inner.f").write_text("half.v\n", encoding="utf-8")
    (folder / "files.f").write_text("+incdir+inc\ncounter.v\n-F inner.f\n", encoding="utf-8")
    assert verilog("judge", "-f", "files.f", "--bench", "tb.v").exit_code == 0


def write_files(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        file = folder / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_a_list_says_all_that_simulators_are_told(folder: Path, simulator: str) -> None:
    write_files(
        folder, rtl__top_dot_v='`include "inc/sizes.vh"\nmodule top(input [`W-1:0] a, output [`SIZE-1:0] q);\n'
        "  cell_of #(.W(`W)) c(.a(a), .q(q[`W-1:0]));\n  `HIGH(q)\nendmodule\n",
        rtl__macros_dot_v="`define HIGH(q) assign q[`SIZE-1:`W] = 0;\n", rtl__inc__sizes_dot_vh="`define SIZE 8\n",
        lib__cell_of_dot_vv="module cell_of #(parameter W = 1)(input [W-1:0] a, output [W-1:0] q);\n"
        '`include "../rtl/body.inc"\nendmodule\n', rtl__body_dot_inc="assign q = ~a;\n",
        rtl__inner_dot_f="macros.v // first\n+incdir+.\ntop.v\n",
        all_dot_f="/* the\n   whole */ -sv +define+W=4+FAST\n-F rtl/inner.f\n-y lib +libext+.vv\n# end\n")
    done = verilog("check", "-f", "all.f", "--simulator", simulator)
    assert (done.exit_code, done.output) == (0, "OK rtl/top.v: top\n")
    done = verilog("check", "-D", "W=9", "-f", "all.f", "-D", "W=9", "--simulator", simulator)
    assert done.exit_code == 0, "what the list defines holds"


def test_macros_and_folders_are_given_on_the_command_line(folder: Path) -> None:
    write_files(folder, a_dot_v='`include "h.vh"\nmodule a(output [`W-1:0] q);\n`ifdef LOW\nassign q = `H;\n`endif\n'
                "b b();\nendmodule\n", inc__h_dot_vh="`define H 0\n", lib__b_dot_v="module b; endmodule\n")
    done = verilog("lint", "a.v", "-D", "W=3", "+define+LOW", "-I", "inc", "-y", "lib")
    assert (done.exit_code, done.output) == (0, "OK a.v: a\n")
    assert "nothing" not in done.output
    assert verilog("lint", "a.v", "-D", "W=3", "-I", "inc", "-y", "lib").exit_code == 1


def test_a_long_module_with_macros_is_read(folder: Path) -> None:
    lines = "".join(f"wire [`W-1:0] a_wire_{number + 1} = a_wire_{number} + 3;\n" for number in range(3000))
    write_files(folder, long_dot_v="`define W 8\nmodule long(input [`W-1:0] a_wire_0, output [`W-1:0] q);\n"
                f"{lines}assign q = a_wire_3000;\nendmodule\n")
    for simulator in ("icarus", "verilator"):
        assert verilog("check", "long.v", "--simulator", simulator).output == "OK long.v: long\n"


def test_variables_in_a_list_need_consent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", str(folder))
    write_files(folder, env_dot_f="$HERE/counter.v ${HERE}/half.v\n")
    assert verilog("check", "-f", "env.f").exit_code == 2
    assert verilog("check", "-f", "env.f", "--env").exit_code == 0


def test_lint_looks_at_all_files_and_may_be_strict(folder: Path) -> None:
    write_files(folder, a_dot_v="module a(input clk, input nobody, output [3:0] q);\nb b(.clk(clk), .q(q));\n"
                "endmodule\n", b_dot_v="module b(input clk, output reg [3:0] q);\nreg dead;\ninitial q = 0;\n"
                "always @(posedge clk) begin dead <= q[0]; q <= q + 1; end\nendmodule\n")
    done = verilog("lint", "a.v", "b.v")
    assert done.output == "b.v:2: warning: variable 'dead' is assigned but its value is never used\n"
    strict = verilog("lint", "a.v", "b.v", "--strict").output
    assert "a.v:1: warning: unused port signal 'nobody'" in strict
    assert "b.v:4: warning: the register `dead` has neither a reset nor a first value" in strict


def test_the_top_is_what_no_other_module_uses(folder: Path) -> None:
    write_files(folder, leaf_dot_v="module leaf #(parameter W = 1)(input a, output q);\nassign q = a;\nendmodule\n",
                top_dot_v="module top #(parameter W = 2)(input a, output q);\nleaf #(.W(W)) u (.a(a), .q(q));\n"
                "endmodule\n")
    assert verilog("check", "leaf.v", "top.v").output == "OK top.v: top\n"
    assert verilog("check", "leaf.v", "top.v", "--top", "leaf").output == "OK leaf.v: leaf\n"


PACKAGE = """package lights;
  typedef enum logic [1:0] {RED, GREEN} phase_t;
endpackage
"""
LIGHT = """module light import lights::*; (input logic clk, input logic rst, output phase_t phase);
  always_ff @(posedge clk) if (rst) phase <= RED; else phase <= phase_t'(phase + 2'd1);
endmodule
"""
LIGHT_BENCH = """`timescale 1ns/1ns
module tb;
  import lights::*;
  logic clk = 0, rst = 1; phase_t phase;
  light dut(.*);
  always #5 clk = ~clk;
  initial begin
    repeat (2) @(negedge clk); rst = 0; @(negedge clk);
    if (phase == GREEN) $display("PASS"); else $display("FAIL");
    $finish;
  end
endmodule
"""


def test_what_a_simulator_does_not_know_is_no_fault_of_the_module(folder: Path) -> None:
    for name, text in {"lights.sv": PACKAGE, "light.sv": LIGHT, "bench.sv": LIGHT_BENCH,
                       "wrong.sv": LIGHT.replace("2'd1", "2'd2")}.items():
        (folder / name).write_text(text, encoding="utf-8")
    done = verilog("judge", "lights.sv", "light.sv", "--bench", "bench.sv")
    assert (done.exit_code, "--simulator verilator" in done.output) == (7, True), done.output
    assert verilog("judge", "lights.sv", "light.sv", "--bench", "bench.sv", "--simulator", "verilator").exit_code == 0
    assert verilog("judge", "lights.sv", "wrong.sv", "--bench", "bench.sv", "--simulator", "verilator").exit_code == 1
    assert "TopModule" not in verilog("check", "lights.sv", "light.sv").output
    done = verilog("check", "lights.sv")
    assert (done.exit_code, "lights.sv: no file has a module" in done.output) == (2, True)
