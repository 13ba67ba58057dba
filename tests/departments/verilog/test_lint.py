"""Mistakes that compile are told with their lines, and nothing is told of modules that have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.verilog.lint import kinds, row_of
from benchmarks.verilog.subjects import designs, verilogeval_subjects
from chatdev.departments.verilog.answer import lint, undriven_signals
from chatdev.departments.verilog.compilation import Message
from chatdev.departments.verilog.simulation import examine
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.sandbox.kinds import find_sandbox

pytestmark = pytest.mark.tool

MISTAKES: dict[str, dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("mistakes.yaml").read_text("utf-8"))
NOT_TOLD = {"a comparison of other widths", "an input that nothing reads", "latch: an if without else in always @*",
            "latch: an if without else in a list"}
"""What right modules do as well: a latch is written as the last two."""
MACHINE = "reg [1:0] s = 0, n; always @(posedge a) if (b) s <= 0; else s <= n; assign q = s[1];"
"""One with the states 0, 1 and 2, of which `n` is to be the next one."""


def told_of(text: str, target: Target = USUAL) -> list[Message]:
    """All that is told of a module which compiles, but for what the compiler says."""
    return [*lint(text, target), *undriven_signals(text, target)]


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
    subjects = [*verilogeval_subjects(), *designs()]
    assert len(subjects) == 176
    found = {subject.name: told_of(subject.text, subject.bench.target) for subject in subjects}
    assert {name: told for name, told in found.items() if told} == {}


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
    "reg r; always @* if (a) r = b; assign q = r;",
    "reg r, s; always @(a, b) if (a) begin r = b; s = ~b; end assign q = r ^ s;",
    "reg r; always_latch if (a) r <= b; assign q = r;",
    "reg r; always @* if (a) r <= b; assign q = r;",
    f"{MACHINE} always_comb case (s) 0: n = b ? 1 : 0; 1: n = 2; 2: n = s; endcase",
    f"{MACHINE} always_comb case (s) 0: if (b) n = 1; else n = 0; 1, 2: case (b) 0: n = 2; 1: n = 0; endcase endcase",
    f"{MACHINE} always @* casez (s) 2'b1?: n = 0; 2'b00: n = 1; 2'b01: n = 2; endcase",
    "integer i; reg r; always @(a) begin r = 0; for (i = 0; i < 2; i = i + 1) if (a == i) r = i[0]; end assign q = r;",
    "integer n; reg r; always @* begin r = a; if (a) begin n = b; r = r ^ n[0]; end end assign q = r;",
    "reg [3:0] r; always @(posedge a) r <= {4{b}}; wire [3:0] all = -1; assign q = r == all;",
    "reg [3:0] r; always @(posedge a) r <= {r, b}; assign q = r[3];",
    "reg r, s, t; always @(posedge a) r <= b; always @(negedge a) s <= b; always @* t <= a ? r : s; assign q = t;",
    "reg r; always @(posedge a or posedge b) if (b) r = 0; else r <= ~r; assign q = r;",
    "reg r; always @* casez ({a, b}) 2'b1?: r = 1; 2'b?1: r = 0; default: r = 0; endcase assign q = r;",
])
def test_what_only_looks_like_a_mistake_is_none(body: str) -> None:
    assert told_of(f"module TopModule(input a, input b, output q);\n{body}\nendmodule\n") == []


@pytest.mark.parametrize(("body", "says"), [
    ("reg r; always_comb if (a) r = b; assign q = r;", "latch"),
    ("reg r; always @* if (a & b) r = b; assign q = r;", "latch"),
    ("reg r; always @* begin if (a) r = b; if (b) r = a; end assign q = r;", "latch"),
    ("reg r; always @* if (a) r = b; else if (b) r = 0; assign q = r;", "latch"),
    ("reg n, r; always @* begin r = a; if (a) n = b; if (n) r = b; end assign q = r;", "latch"),
    ("reg n, r; always @* begin r = a; if (a) begin n = b; r = n; end end assign q = r ^ n;", "latch"),
    ("integer i; reg r; always @(a) for (i = 0; i < 2; i = i + 1) r = i[0] ^ b ^ a; assign q = r;", "`b` is read"),
    (f"{MACHINE} always_comb case (s) 0: n = b ? 1 : 0; 2: n = s; endcase", "latch"),
    (f"{MACHINE} always_comb case (s) 0: n = b ? 1 : 2; 1: ; 2: n = 0; endcase", "latch"),
    (f"{MACHINE} always_comb case (s) 0: n = s + 1; 1: n = 2; 2: n = s; endcase", "latch"),
    (f"{MACHINE} always_comb case (s) 0: if (b) n = 1; 1: n = 2; 2: n = 0; endcase", "latch"),
    (f"{MACHINE} always @* casez (s) 2'b1?: n = 0; 2'b01: n = 2; endcase", "latch"),
    ("reg [3:0] r; always @(posedge a) r <= {b, r}; assign q = r[0];", "truncates"),
    ("reg r; always @(posedge a) r <= {r, b}; assign q = r;", "truncates"),
    ("reg r; always @(posedge a or posedge b) if (b) r = 0; else r = ~r; always @(posedge a) s <= r; reg s; "
     "assign q = s;", "either may come first"),
    ("reg r; always @(posedge a or negedge b) if (!b) r <= 0; else r = ~r; assign q = r;", "by `=` and by `<=`"),
])
def test_what_is_close_to_what_is_right_is_told(body: str, says: str) -> None:
    found = told_of(f"module TopModule(input a, input b, output q);\n{body}\nendmodule\n")
    assert [says in message.text for message in found] == [True]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: str(kind["name"]))
def test_a_kind_is_told_and_its_right_twin_is_not(kind: dict[str, Any]) -> None:
    row = row_of(kind)
    assert (row.told, row.told_strict, row.false) == (not row.strict, True, False)


@pytest.mark.parametrize("body", [
    "integer i; reg [3:0] r; always @(posedge a) for (i = 0; i <= 4; i = i + 1) if (i < 4) r[i] <= b; assign q = r[0];",
    "reg [3:0] r; always @(posedge a) for (int i = 3; i >= 0; i--) r[i] <= b; assign q = ^r;",
    "reg [7:0] m [0:255]; reg [7:0] o; initial begin m[0] = 1; m[1] = 2; end always @(posedge a) o <= m[{7'd0, b}]; "
    "assign q = o[0];",
    "wire c = ~a; reg r; always @(posedge c) r <= b; assign q = r;",
    "localparam N = 0; genvar g; generate for (g = 0; g < N; g = g + 1) begin: none wire c; end endgenerate "
    "assign q = a;",
    "reg unused_r; always @(posedge a) unused_r <= b; assign q = a;",
    "integer n; reg [7:0] c; always @(posedge a) begin c <= c + 1; n = c; end assign q = n < c;",
])
def test_what_is_near_to_the_newer_kinds_is_right(body: str) -> None:
    assert told_of(f"module TopModule(input a, input b, output q);\n{body}\nendmodule\n") == []


def test_remarks_of_the_compiler_on_its_own_ways_are_left_out(tmp_path: Path) -> None:
    text = ("module part(input x, output z); assign z = x; endmodule\n"
            "module TopModule(input clk, input [3:0] a, output reg [3:0] q, output z);\n"
            "reg [3:0] m [0:15]; always @(posedge clk) m[a] <= a;\nalways @* q = m[a];\npart p(.x(0), .z(z));\n"
            "localparam L = 0; wire w = L ? a[4] : a[0]; always @(posedge clk) if (w) m[0] <= 0;\nendmodule\n")
    assert examine(text, find_sandbox(), tmp_path).messages == ()
