"""Two modules are proved to be the same, or inputs are found that tell them apart; nothing else is said for certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.verilog.equivalence import PROVING, compare
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.sandbox.kinds import find_sandbox
from tests.departments.verilog.accumulator import RIGHT, WRONG
from tests.departments.verilog.small import Desk

pytestmark = pytest.mark.tool

ACCU = Target("accu")
HEAD = "module TopModule(input clk, input rst, input d, output logic q);\n"
PLAIN = HEAD + "  always @(posedge clk) if (rst) q <= 0; else q <= d;\nendmodule\n"
OTHERWISE = HEAD + "  logic n;\n  always @(posedge clk) n <= rst | ~d;\n  assign q = ~n;\nendmodule\n"
MANY = """module TopModule(input clk, rst, put, input [1:0] at,
    output logic q, output logic [3:0] one_hot, output logic got, output logic late);
  logic [3:0] store;
  logic [7:0] count;
  always @(posedge clk) if (rst) count <= 0; else count <= count + 1;
  always @(posedge clk) if (put) store[at] <= q;
  always @(posedge clk) if (rst) q <= 0; else if (put) q <= at[0]; else q <= ~q;
  always_comb case (at) 0: one_hot = 1; 1: one_hot = 2; 2: one_hot = 4; default: one_hot = 8; endcase
  assign got = store[at];
  assign late = count == 200;
endmodule
"""
MEMORY = """module TopModule(input clk, put, input [1:0] at, input [1:0] d, output [1:0] got);
  logic [1:0] store [0:3];
  always @(posedge clk) if (put) store[at] <= d;
  assign got = store[at];
endmodule
"""


def found(folder: Path, answer: str, reference: str, target: Target = USUAL) -> tuple[str, str]:
    result = compare(answer, reference, target, find_sandbox(), folder / "proof")
    return result.finding, result.reason


@pytest.mark.parametrize(("answer", "reference", "target", "finding"), [
    (PLAIN, PLAIN.replace("TopModule", "RefModule"), USUAL, "PROVED"),
    (OTHERWISE, PLAIN, USUAL, "PROVED"),
    (PLAIN.replace("posedge clk", "negedge clk"), PLAIN, USUAL, "DIFFERS"),
    (PLAIN.replace("posedge clk", "posedge clk, posedge rst"), PLAIN, USUAL, "DIFFERS"),
    (PLAIN.replace("q <= d", "q <= ~d"), PLAIN, USUAL, "DIFFERS"),
    (PLAIN.replace("if (rst) q <= 0; else ", ""), PLAIN, USUAL, "DIFFERS"),
    (RIGHT.replace("sum + d", "d + sum").replace("&sum", "sum == '1"), RIGHT, ACCU, "PROVED"),
    (WRONG, RIGHT, ACCU, "DIFFERS"),
    (RIGHT.replace("if (en)", "if (!en)"), RIGHT, ACCU, "DIFFERS"),
])
def test_a_finding_is_right(tmp_path: Path, answer: str, reference: str, target: Target, finding: str) -> None:
    assert found(tmp_path, answer, reference, target) == (finding, "")


@pytest.mark.parametrize(("text", "old", "new"), [
    (MANY, "", ""),
    (MANY, "count + 1", "count - 8'hff"),
    (MANY, "if (rst) q <= 0; else if (put) q <= at[0]; else q <= ~q", "q <= !rst & (put ? at[0] : !q)"),
    (MANY, "default: one_hot = 8", "3: one_hot = 8; default: one_hot = 'x"),
    (MEMORY, "if (put) store[at] <= d", "store[at] <= put ? d : store[at]"),
])
def test_what_counts_and_remembers_is_proved_by_its_registers(tmp_path: Path, text: str, old: str, new: str) -> None:
    assert old in text
    assert found(tmp_path, text.replace(old, new), text) == ("PROVED", "")


@pytest.mark.parametrize(("old", "new"), [
    ("else q <= ~q", "else q <= q"),
    ("one_hot = 4", "one_hot = 5"),
    ("= store[at];", "= ~store[at];"),
    ("count == 200", "count == 1"),
    ("else q <= ~q", "else q <= 1'bx"),
    ("default: one_hot = 8", "default: one_hot = 4'b1xx0"),
    ("one_hot = 1;", "one_hot[2:0] = 1;"),
    ("= store[at];", "= put ? store[at] : 'x;"),
    ("assign got = store[at];", ""),
])
def test_each_output_that_differs_or_is_undefined_is_found(tmp_path: Path, old: str, new: str) -> None:
    assert old in MANY
    assert found(tmp_path, MANY.replace(old, new), MANY) == ("DIFFERS", "")


@pytest.mark.parametrize(("answer", "reference"), [
    ("b ? a : 1'bx", "a"), ("b ? 1'bz : a", "a"), ("a & 1'bx", "1'b0"), ("a | 1'bx", "1'b1"), ("a ^ 1'bx", "a"),
    ("1'b0 * 1'bx", "1'b0"), ("a == 1'bx", "1'b0"), ("a / b", "b ? a : 1'b1"), ("a / b", "b & a")])
def test_an_undefined_value_in_an_expression_is_none_that_fits(tmp_path: Path, answer: str, reference: str) -> None:
    text = "module TopModule(input a, b, output q);\n  assign q = {};\nendmodule\n"
    assert found(tmp_path, text.format(answer), text.format(reference)) == ("DIFFERS", "")


@pytest.mark.parametrize("answer", [
    "// synthesis translate_off\n  assign q = a;\n  // synthesis translate_on\n  assign q = ~a;",
    "`ifdef YOSYS\n  assign q = ~a;\n`else\n  assign q = a;\n`endif",
    "`ifdef SYNTHESIS\n  assign q = ~a;\n`else\n  assign q = a;\n`endif"])
def test_what_is_compared_is_what_a_simulator_reads(tmp_path: Path, answer: str) -> None:
    text = "module TopModule(input a, output q);\n  {}\nendmodule\n"
    assert found(tmp_path, text.format(answer), text.format("assign q = ~a;"))[0] != "PROVED"


@pytest.mark.parametrize("body", ["", "assign q = 'x;", "logic r; always @(posedge clk) r <= r; assign q = r;"])
def test_an_answer_that_does_nothing_is_never_proved(tmp_path: Path, body: str) -> None:
    assert found(tmp_path, f"{HEAD}{body}\nendmodule\n", PLAIN) == ("DIFFERS", "")


def test_what_the_reference_leaves_undefined_may_be_anything(tmp_path: Path) -> None:
    reference = MANY.replace("one_hot = 8", "one_hot = 'x").replace("count == 200", "rst ? 'x : count == 200")
    assert found(tmp_path, MANY, reference) == ("PROVED", "")


def test_a_latch_in_a_block_for_logic_is_compared_as_it_is(tmp_path: Path) -> None:
    latch = "module TopModule(input a, b, output logic q);\n  always_comb if (a) q = b;\nendmodule\n"
    assert found(tmp_path, latch, latch) == ("PROVED", "")
    (tmp_path / "again").mkdir()
    assert found(tmp_path / "again", latch.replace("if (a) q = b", "q = a & b"), latch)[0] == "DIFFERS"


@pytest.mark.parametrize(("answer", "reference", "why"), [
    (PLAIN.replace("output logic q", "output logic r").replace("q <=", "r <="), PLAIN, "Yosys says: "),
    (PLAIN.replace("q <= d", "q <= ="), PLAIN, "Yosys says: "),
    (PLAIN, PLAIN.replace("if (rst) q <= 0; else q <= d", "q <= ~q"), "not defined within 12 cycles"),
    (PLAIN, PLAIN.replace("q <= d", "q <= nobody"), "the reference cannot be read"),
])
def test_what_cannot_be_said_is_unknown(tmp_path: Path, answer: str, reference: str, why: str) -> None:
    finding, reason = found(tmp_path, answer, reference)
    assert (finding, why in reason) == ("UNKNOWN", True), reason


def test_a_difference_far_from_the_start_is_unknown(tmp_path: Path) -> None:
    counter = HEAD + (
        "  logic [4:0] n;\n  always @(posedge clk) if (rst) n <= 0; else n <= n + 1;\n"
        "  assign q = n == 20;\nendmodule\n")
    finding, reason = found(tmp_path, counter.replace("20", "21"), counter)
    assert finding == "UNKNOWN"
    assert "no difference within 12 cycles" in reason


def test_the_tool_shows_inputs_that_tell_them_apart(desk: Desk) -> None:
    verdict = desk.use("equivalent", PLAIN.replace("q <= d", "q <= ~d"), None, PLAIN)
    assert (verdict.passed, verdict.judged) == (False, True)
    [(name, values)] = verdict.evidence["differing"].items()
    assert name == "q"
    assert values["reference"] != values["answer"]
    steps = len(verdict.evidence["inputs"]["clk"])
    assert (f"Output `q` is {values['answer']} at step {steps}, where the reference has {values['reference']}."
            in verdict.report)
    assert set(verdict.evidence["inputs"]) == {"clk", "rst", "d"}
    at_once = desk.use("equivalent", MANY.replace("one_hot = 8", "one_hot = 9"), None, MANY)
    assert "from step 1 to step 1" in at_once.report
    assert {name: values[0][-2:] for name, values in at_once.evidence["inputs"].items()}["at"] == "11"
    assert desk.use("equivalent", PLAIN, None, PLAIN).passed
    for answer, reference in ((None, PLAIN), (PLAIN, None)):
        assert not desk.use("equivalent", answer, None, reference).judged


def test_given_files_and_parameters_count(tmp_path: Path) -> None:
    given = (("half.sv", "module half(input [3:0] a, output [3:0] q);\n  assign q = a >> 1;\nendmodule\n"),)
    reference = ("module top #(parameter W = 2)(input [3:0] a, output [3:0] q);\n"
                 "  assign q = W == 4 ? a >> 1 : a;\nendmodule\n")
    answer = "module top #(parameter W = 2)(input [3:0] a, output [3:0] q);\n  half h(a, q);\nendmodule\n"
    assert found(tmp_path, answer, reference, Target("top", given))[0] == "DIFFERS"
    (tmp_path / "again").mkdir()
    assert found(tmp_path / "again", answer, reference, Target("top", given, (("W", "4"),)))[0] == "PROVED"


def test_a_multiplier_is_no_proof_without_end(tmp_path: Path) -> None:
    text = "module TopModule(input [23:0] a, b, output [47:0] q);\n  assign q = a * b;\nendmodule\n"
    other = text.replace("a * b", "(a - 1) * b + b")
    result = compare(other, text, USUAL, find_sandbox(), tmp_path / "proof",
                     limits=PROVING.__class__(cpu=3, seconds=60, memory=1 << 30))
    assert (result.finding, result.reason) == ("UNKNOWN", "it takes more time or memory than it may")
