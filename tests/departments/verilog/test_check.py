"""`verilog.check` tells an engineer what does not compile, and shows where."""

from __future__ import annotations

import sys

import pytest

from benchmarks.verilog.subjects import DATA
from chatdev.departments.verilog.answer import undriven_signals
from chatdev.departments.verilog.simulation import reference_as_answer
from chatdev.departments.verilog.verilogeval import VerilogEval
from chatdev.errors import MissingProgram
from tests.departments.verilog.small import HEADER, RIGHT, Desk

pytestmark = pytest.mark.tool


def test_what_compiles_passes_without_a_bench(desk: Desk) -> None:
    verdict = desk.use("check", RIGHT, bench=None, reference=None)
    assert (verdict.passed, verdict.judged, verdict.report) == (True, True, "It compiles.")


def test_a_design_of_ten_thousand_lines_is_looked_through(desk: Desk) -> None:
    lines = "".join(f"  wire [31:0] s{n:05} = s{n - 1:05} + 32'd{n:05};\n" for n in range(1, 10_001))
    text = f"{HEADER}  wire [31:0] s00000 = {{31'b0, a}};\n{lines}  wire spare = b;\n"
    assert len(text) > 400_000
    verdict = desk.use("check", f"{text}  assign q = ~clk, w = s10000[0];\nendmodule\n")
    assert verdict.passed
    assert "top.sv:10003: unused net 'spare'" in verdict.report
    verdict = desk.use("check", text + lines)
    assert "characters; 600000 are the most that is read." in verdict.report


def test_ports_that_are_not_those_of_the_specification_do_not_pass(desk: Desk) -> None:
    verdict = desk.use("check", RIGHT, task=" - input clk\n - input a\n - input b (2 bits)\n - output q\n - input w\n")
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "interface")
    assert "the port `b` has 1 bit(s), and not 2; write `input [1:0] b`" in verdict.report
    assert "Warnings, which may or may not be mistakes:\nthe specification lists `w` as input" in verdict.report


def test_an_error_is_shown_with_the_lines_around_it(desk: Desk) -> None:
    verdict = desk.use("check", f"{HEADER}  // first\n  assign q = state;\n  // last\nendmodule\n")
    assert verdict.report.split("\n\n")[:2] == [
        "It does not compile, because it uses a name that is not declared in the module.",
        "top.sv:3: Unable to bind wire/reg/memory `state' in `TopModule'\n"
        f"     1 | {HEADER}"
        "     2 |   // first\n"
        ">    3 |   assign q = state;\n"
        "     4 |   // last\n"
        "     5 | endmodule"]


def test_lines_are_shown_once_and_many_errors_are_cut(desk: Desk) -> None:
    wrong = "\n".join(f"  assign q = name{number};" for number in range(9))
    report = desk.use("check", f"{HEADER}{wrong}\nendmodule\n").report
    assert report.count(">    2 |") == 1
    assert "more, which may follow from these" in report


def test_a_given_source_is_checked_in_place_of_the_file(desk: Desk) -> None:
    verdict = desk.use("check", RIGHT, source=f"{HEADER}  assign q = state;\nendmodule\n")
    assert not verdict.passed
    assert "your source:2: Unable to bind" in verdict.report


def test_wires_that_a_block_assigns_are_named_with_the_mend(desk: Desk) -> None:
    verdict = desk.use("check", "module TopModule(input a, output q, output [1:0] w);\n"
                                "always @(*) begin q = a; w[0] = a; w[1] = a; end\nendmodule\n")
    assert verdict.evidence["outcome"] == "wire_assigned"
    assert "because q, w are wires and assigned in an always" in verdict.report
    assert "`output logic q` for `output q`" in verdict.report


def test_the_name_of_the_file_is_taken_for_the_file(desk: Desk) -> None:
    assert desk.use("check", RIGHT, source=" top.sv").report == "It compiles."


def test_latches_are_warned_of(desk: Desk) -> None:
    verdict = desk.use("check", "module TopModule(input a, en, output reg q);\nalways_comb if (en) q = a;\nendmodule\n")
    assert verdict.passed
    assert "Warnings" in verdict.report
    assert "top.sv:2: a latch is inferred for `q`" in verdict.report


def test_a_clock_that_comes_from_nowhere_does_not_pass(desk: Desk) -> None:
    verdict = desk.use("check", "module TopModule(input a, b, output logic q);\nlogic clk; wire spare = b;\n"
                                "always @(posedge clk) q <= a;\nendmodule\n")
    assert (verdict.passed, verdict.score, verdict.evidence["outcome"]) == (False, 0, "undriven")
    assert "a module without a clock there is combinational" in verdict.report
    assert "top.sv:2: variable 'clk' is never assigned a value" in verdict.report
    assert "top.sv:2: unused net 'spare'" in verdict.report


def test_an_output_that_is_still_to_be_written_is_warned_of(desk: Desk) -> None:
    verdict = desk.use("check", "module TopModule(input a, output q, output w);\nassign q = a;\nendmodule\n")
    assert verdict.passed
    assert "top.sv:1: undriven output port 'w'" in verdict.report


def test_in_every_reference_of_verilogeval_all_that_is_read_is_driven() -> None:
    read = [undriven_signals(reference_as_answer(problem.reference)) for problem in VerilogEval(DATA).problems()]
    assert (len(read), [messages for messages in read if messages]) == (156, [])


@pytest.mark.parametrize(("answer", "why"), [
    (None, "There is no Verilog file"),
    (b"module TopModule; // \xff\nendmodule", "not UTF-8 text (line 1)"),
    ("", "no module `TopModule`"),
    (RIGHT.replace("endmodule", ""), "`module` without `endmodule`"),
    (f'{HEADER}initial $fatal;\nendmodule\n', "top.sv:2: `$fatal` is not allowed"),
])
def test_an_answer_that_breaks_a_rule_does_not_pass(desk: Desk, answer: str | bytes | None, why: str) -> None:
    verdict = desk.use("check", answer)
    assert (verdict.passed, verdict.judged, verdict.evidence["outcome"]) == (False, True, "refused")
    assert why in verdict.report


def test_without_iverilog_it_says_how_to_get_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MissingProgram, match="apt-get install iverilog"):
        desk.use("check", RIGHT)


def test_without_pyslang_it_says_how_to_get_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyslang", None)
    with pytest.raises(MissingProgram, match=r"pip install 'chatdev-chain\[verilog\]'"):
        desk.use("check", RIGHT)


def test_a_module_that_unfolds_without_an_end_is_stopped_or_refused(desk: Desk) -> None:
    answer = ("module TopModule(input a, output q); part #(1) p(a, q); endmodule\n"
              "module part #(parameter N = 1)(input i, output o);\n"
              "  part #(N + 1) left(i, o);\n  part #(N + 1) right(i, o);\nendmodule\n")
    assert not desk.use("check", answer).passed
