"""Mistakes that compile are told with their lines, and nothing is told of modules that have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.verilog_judge import DATA
from chatdev.evaluation.verilogeval import VerilogEval
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.verilog.design.facts import list_mistakes
from chatdev.tools.verilog.lint import undriven_signals
from chatdev.tools.verilog.simulation import examine, reference_as_answer

pytestmark = pytest.mark.tool

MISTAKES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text("utf-8"))
NOT_TOLD = {"a comparison of other widths"}
MIXED = {"Prob078_dualedge": "`<=` in a block without a clock", "Prob118_history_shift": "by `=` and by `<=`",
         "Prob153_gshare": "by `=` and by `<=`"}
"""References that do what is told: not wrong here, and not good style."""


def lines_told(text: str, folder: Path) -> set[int]:
    """The lines of all that an engineer is told of a module."""
    examined = examine(text, find_sandbox(), folder)
    return {message.line for message in (*examined.messages, *undriven_signals(text))}


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_is_told_at_its_line(kind: str, tmp_path: Path) -> None:
    row = MISTAKES[kind]
    text = f"module TopModule({row['ports']});\n{row['body']}endmodule\n"
    assert (row["line"] in lines_told(text, tmp_path)) is (kind not in NOT_TOLD)


def test_nothing_is_told_of_what_is_right() -> None:
    found = {problem.name: list_mistakes(reference_as_answer(problem.reference))
             for problem in VerilogEval(DATA).problems()}
    assert {name: told for name, told in found.items() if told}.keys() == MIXED.keys()
    for name, why in MIXED.items():
        assert all(why in text for _, text in found[name])


@pytest.mark.parametrize("body", [
    "wire c; assign c = a; assign q = c ? 1'bz : b; assign q = c ? a : 1'bz;",
    "reg [3:0] n; integer i; always @* begin n = 0; for (i = 0; i < 4; i = i + 1) n = n + a; end assign q = n[0];",
    "wire [2:0] c; assign c[0] = a; assign c[1] = c[0] ^ b; assign c[2] = c[1] & b; assign q = c[2];",
    "reg t; always @* begin t = a; t = t ^ b; end assign q = t;",
    "reg r; always @(posedge a or negedge b) if (!b) r <= 0; else r <= 1; assign q = r;",
    "reg r; always @(posedge a, posedge b) if (b) r <= 0; else r <= 1; assign q = r;",
    "reg r; initial r = 0; always @(posedge a) r <= b; assign q = r;",
    "reg [7:0] m [0:3]; always @(posedge a) m[{1'b0, b}] <= 1; assign q = m[0][0];",
    "reg s; always @(a or b) begin s = a; if (b) s = 0; end assign q = s;",
    "reg r; always @(posedge a or negedge a) r <= b; assign q = r;",
    "reg r; always @(posedge a or posedge b) r <= b ? 1'b0 : ~r; assign q = r;",
    "assign q = (a === 1'bx) ? b : a;",
    "assign q = a == 1'b1 ? 1'bx : b;",
])
def test_what_only_looks_like_a_mistake_is_none(body: str) -> None:
    assert list_mistakes(f"module TopModule(input a, input b, output q);\n{body}\nendmodule\n") == []
