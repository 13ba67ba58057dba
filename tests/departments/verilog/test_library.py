"""Modules in files, judged, linted, traced, drawn and compared from Python, as the page shows it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chatdev.departments.verilog import trace_drivers
from chatdev.departments.verilog.library import check, draw, judge, lint, simulate, trace
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.errors import ConfigError
from tests.support.checkout import ROOT

pytestmark = pytest.mark.tool

WRONG = """module counter (input clk, input rst, input en, output reg [3:0] q, output wrap);
  reg [3:0] next;
  reg [1:0] state;
  always @* begin
    next = q + 1;
    if (q == 9) next = 1;
  end
  always @(posedge clk)
    if (rst) begin q <= 0; state <= 0; end
    else if (en) begin q <= next; state <= state + 1; end
  half h(.a(q == 9), .b(en), .c(wrap));
endmodule
"""
HALF = "module half(input a, input b, output c);\n  assign c = a & b;\nendmodule\n"
BENCH = """`timescale 1ns/1ps
module tb;
  reg clk = 0, rst = 1, en = 0; wire [3:0] q; wire wrap; integer errors = 0;
  counter dut(.clk(clk), .rst(rst), .en(en), .q(q), .wrap(wrap));
  always #5 clk = ~clk;
  initial begin
    repeat (2) @(negedge clk); rst = 0; en = 1;
    repeat (15) @(negedge clk);
    if (q !== 5) begin errors = errors + 1; $display("FAIL: q is %0d, not 5", q); end
    if (errors == 0) $display("PASS");
    $finish;
  end
endmodule
"""
FILES = ["counter.v", "half.v"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"counter.v": WRONG, "half.v": HALF, "tb.v": BENCH,
                       "right.v": WRONG.replace("next = 1;", "next = 0;")}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_example_of_the_page_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "verilog.md").read_text(encoding="utf-8")
    example = re.search(r"test_library.py runs this example -->\n```python\n(.*?)```", page, re.DOTALL)
    assert example
    exec(compile(example[1], "verilog.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "6 |     if (q == 9) next = 1;" in printed
    assert (folder / "first_mismatch.svg").exists()


def test_verdicts_and_messages_print_as_text(folder: Path) -> None:
    verdict = judge(FILES, "tb.v", "right.v")
    assert (verdict.passed, str(verdict)) == (False, verdict.report)
    assert simulate(FILES, Path("tb.v")).passed is False
    (folder / "half.v").write_text(HALF.replace("a & b", "a & bb"), encoding="utf-8")
    assert str(next(one for one in check(FILES) if one.severity == "error")).startswith("half.v:2: error: ")


def test_a_right_module_has_nothing_to_tell(folder: Path) -> None:
    (folder / "rtl.f").write_text("right.v half.v\n", encoding="utf-8")
    assert judge("rtl.f", bench="tb.v", reference="right.v").passed
    assert [one for one in lint("rtl.f") if one.severity == "error"] == []


def test_a_report_says_since_when_an_output_differs(folder: Path) -> None:
    report = str(trace(FILES, "tb.v", "right.v"))
    assert "from 165000 on. It differs since 115000 already, which the bench does not mind by itself." in report


def test_what_ends_the_simulation_in_a_design_of_ones_own_is_left_out(folder: Path) -> None:
    right = WRONG.replace("next = 1;", "next = 0;")
    for text, passes in ((right, True), (WRONG, False)):
        ending = text.replace("  half h",
                              '  always @(posedge clk) if (q == 3) begin $display("PASS"); $finish; end\n  half h')
        (folder / "counter.v").write_text(ending, encoding="utf-8")
        verdict = judge(FILES, "tb.v")
        assert verdict.passed is passes, verdict
    (folder / "counter.v").write_text(ending.replace("$finish", "$fatal"), encoding="utf-8")
    assert "`$fatal` is not allowed" in str(judge(FILES, "tb.v"))


RING = """module ring #(parameter W = 0) (input clk, input rst, output q);
  reg [W-1:0] n;
  assign q = n[W-1];
  always @(posedge clk) n <= rst ? {1'b1, {(W-1){1'b0}}} : {n[W-2:0], n[W-1]};
endmodule
"""
RING_BENCH = """module tb; reg clk = 0, rst = 1; wire q; integer n = 0;
  ring #(.W(4)) dut(.clk(clk), .rst(rst), .q(q));
  always #5 clk = ~clk;
  always @(posedge clk) if (!rst) n = n + q;
  initial begin repeat (2) @(negedge clk); rst = 0; #400 if (n != 10) $display("FAIL %0d", n); else $display("PASS");
    $finish; end
endmodule
"""


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_defaults_that_no_bench_uses_may_be_none_at_all(folder: Path, simulator: str) -> None:
    (folder / "ring.v").write_text(RING, encoding="utf-8")
    (folder / "tb.v").write_text(RING_BENCH, encoding="utf-8")
    assert str(judge("ring.v", "tb.v", simulator=simulator)) == "The test bench passes."
    assert any(one.severity == "error" for one in check("ring.v", simulator=simulator))
    (folder / "ring.v").write_text(RING.replace("n[W-2:0]", "n[W-1:1]"), encoding="utf-8")
    assert not judge("ring.v", "tb.v", simulator=simulator).passed
    (folder / "ring.v").write_text(RING.replace("{n[W", "{none[W"), encoding="utf-8")
    assert "declared" in str(judge("ring.v", "tb.v", simulator=simulator))


def test_remarks_that_a_source_switches_off_are_left_out(folder: Path) -> None:
    dead = WRONG.replace("  half h", "  wire dead = en;\n  half h")
    for written, told in (("", True), ("// verilator lint_off UNUSED\n", False), ("// verilator lint_off\n", False),
                          ("/* Verilator lint_off UNUSEDSIGNAL */\n", False), ("// verilator lint_off WIDTH\n", True),
                          ("// verilator lint_off UNUSED\n// verilator lint_on UNUSED\n", True)):
        (folder / "counter.v").write_text(written + dead, encoding="utf-8")
        assert any("unused" in str(one) for one in lint(FILES)) is told
    (folder / "half.v").write_text("// verilator lint_off\n" + HALF.replace("a & b", "a & bb"), encoding="utf-8")
    assert any(one.severity == "error" for one in lint(FILES))


def test_what_other_files_lack_is_told_in_the_words_of_the_command(folder: Path) -> None:
    (folder / "half.v").write_text(HALF.replace("a & b", "a & bb"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"half.v, line 2: `bb` is not declared; mend it, or give what it needs on "
                                          r"the command line"):
        judge(FILES, "tb.v")
    (folder / "half.v").write_text(HALF, encoding="utf-8")
    (folder / "tb.v").write_text(BENCH.replace("always #5", "helper h(clk); always #5"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"needs helper beside counter; give the files on the command line"):
        judge(FILES, "tb.v")


WRAPPER = """module wrapper(input clk, output [3:0] q);
  counter c(.clk(clk), .rst(1'b0), .en(1'b1), .q(q), .wrap());
endmodule
"""


def test_a_given_module_that_makes_the_tested_one_is_no_bench(folder: Path) -> None:
    (folder / "wrapper.v").write_text(WRAPPER, encoding="utf-8")
    right = ["right.v", "wrapper.v", "half.v"]
    for reference in ((), "right.v"):
        assert judge(right, "tb.v", reference, top="counter").passed
        assert not judge([*FILES, "wrapper.v"], "tb.v", reference, top="counter").passed
        assert 6 in trace([*FILES, "wrapper.v"], "tb.v", reference, top="counter").evidence["lines"]


def test_a_reference_may_have_parts_of_its_own(folder: Path) -> None:
    (folder / "counter.v").write_text((folder / "right.v").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "right_half.v").write_text(HALF, encoding="utf-8")
    (folder / "half.v").write_text("\n" + HALF.replace("a & b", "a | b"), encoding="utf-8")
    bench = BENCH.replace("if (errors", 'if (wrap !== 0) begin errors = 1; $display("FAIL: wrap"); end\n    if (errors')
    (folder / "tb.v").write_text(bench, encoding="utf-8")
    right = ["right.v", "right_half.v"]
    assert judge(right, "tb.v", right).passed
    found = trace(FILES, "tb.v", right)
    assert (found.passed, found.evidence["output"]) == (False, "wrap")
    assert found.evidence["places"] == ["counter.v:11", "half.v:3"]


def test_a_report_of_a_command_has_all_signals(folder: Path) -> None:
    wires = "".join(f"  wire w{n} = w{n + 1} /* {'x' * 100} */;\n" for n in range(60))
    deep = WRONG.replace("  half h(.a(q == 9), .b(en)", f"{wires}  wire w60 = q[0];\n  half h(.a(w0), .b(w0)")
    (folder / "counter.v").write_text(deep, encoding="utf-8")
    (folder / "tb.v").write_text(BENCH.replace("FAIL: q is %0d, not 5", "FAIL: %0d"), encoding="utf-8")
    report = str(trace(FILES, "tb.v", outputs=["wrap"]))
    assert len(report) > 6000
    assert "left out" not in report


def test_a_report_says_where_a_missing_branch_would_stand(folder: Path) -> None:
    held = WRONG.replace("else if (en) begin q <= next; state <= state + 1; end", "else state <= state + 1;")
    (folder / "counter.v").write_text(held, encoding="utf-8")
    report = str(trace(FILES, "tb.v", "right.v", outputs=["q"]))
    assert ": nothing more is assigned here with rst as it was:\n" in report or \
        ": nothing is assigned here with rst as it was:\n" in report
    assert "     9 |     if (rst) begin q <= 0; state <= 0; end" in report


def test_a_picture_shows_traced_signals_in_units_of_the_bench(folder: Path) -> None:
    draw(FILES, "tb.v", "w.svg", "right.v")
    picture = (folder / "w.svg").read_text(encoding="utf-8")
    assert "var(" not in picture  # which viewers beside browsers draw in black
    assert "time in ns" in picture
    assert "<title>tb.dut.next</title>" in picture
    assert "<title>tb.dut.state</title>" not in picture
    assert "mismatch at 165<" in picture
    draw(FILES, "tb.v", "w.svg", "right.v", signals=["state", "h.a"])
    asked = (folder / "w.svg").read_text(encoding="utf-8")
    assert "<title>tb.dut.state</title>" in asked
    assert "<title>tb.dut.next</title>" not in asked
    with pytest.raises(ConfigError, match=r"--signals: .*'tb.dut.stat'; do you mean tb.dut.state"):
        draw(FILES, "tb.v", "w.svg", signals=["stat"])


def test_a_legend_names_only_what_is_there(folder: Path) -> None:
    (folder / "counter.v").write_text((folder / "right.v").read_text(encoding="utf-8"), encoding="utf-8")
    draw(FILES, "tb.v", "w.svg", "right.v")
    picture = (folder / "w.svg").read_text(encoding="utf-8")
    assert ">reference<" in picture
    assert "values differ" not in picture


def test_viewers_open_the_traced_signals_at_the_mismatch(folder: Path) -> None:
    assert draw(FILES, "tb.v", "w.vcd", "right.v") == [Path("w.vcd"), Path("w.gtkw"), Path("w.sucl")]
    saved = (folder / "w.gtkw").read_text(encoding="utf-8").splitlines()
    assert saved[0] == '[dumpfile] "w.vcd"'
    assert re.match(r"\*-15\.\d+ 165000 -1", saved[2])  # 2 ** 15 of the waveform's units for a third of the window
    assert {"tb.dut.next[3:0]", "tb.q_ref[3:0]", "tb.wrap_dut"} <= {*saved}
    commands = (folder / "w.sucl").read_text(encoding="utf-8").splitlines()
    assert commands[0] == "load_file w.vcd"
    assert "variable_add tb.dut.next" in commands
    assert commands[-2:] == ["cursor_set 165000", "goto_cursor"]


def test_scope_and_time_of_a_trace_are_found(folder: Path) -> None:
    draw(FILES, "tb.v", "w.vcd", "right.v")
    found = trace_drivers(WRONG + HALF, ["q"], top="counter", waves=Path("w.vcd"))
    assert str(found).startswith("Level 1:\n- q, just before 115001\n")
    assert "     6 |     if (q == 9) next = 1;" in str(found)
    draw(FILES, "tb.v", "w.vcd")
    with pytest.raises(WaveformError, match="give the time of the mismatch"):
        trace_drivers(WRONG + HALF, ["q"], top="counter", waves=Path("w.vcd"))
    with pytest.raises(WaveformError, match="no scope has the ports a, b, d in their widths"):
        trace_drivers("module m(input a, b, output d); assign d = a; endmodule", ["d"], top="m", waves=Path("w.vcd"))
