"""Two modules are proved to be the same, or inputs are found that tell them apart; nothing else is said for certain."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.verilog.equivalence import PROVING, compare
from chatdev.tools.verilog.target import USUAL, Target
from tests.tools.verilog.accumulator import RIGHT, WRONG
from tests.tools.verilog.small import Desk

pytestmark = pytest.mark.tool

ACCU = Target("accu")
HEAD = "module TopModule(input clk, input rst, input d, output logic q);\n"
PLAIN = HEAD + "  always @(posedge clk) if (rst) q <= 0; else q <= d;\nendmodule\n"
OTHERWISE = HEAD + "  logic n;\n  always @(posedge clk) n <= rst | ~d;\n  assign q = ~n;\nendmodule\n"


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
        "  logic [7:0] n;\n  always @(posedge clk) if (rst) n <= 0; else n <= n + 1;\n"
        "  assign q = n == 200;\nendmodule\n")
    finding, reason = found(tmp_path, counter.replace("200", "201"), counter)
    assert finding == "UNKNOWN"
    assert "no difference within 12 cycles" in reason


def test_the_tool_shows_inputs_that_tell_them_apart(desk: Desk) -> None:
    verdict = desk.use("equivalent", PLAIN.replace("q <= d", "q <= ~d"), None, PLAIN)
    assert (verdict.passed, verdict.judged) == (False, True)
    assert "Some output differs after these inputs" in verdict.report
    assert set(verdict.evidence["inputs"]) == {"clk", "rst", "d"}
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
