"""Elements of arrays and fields of structures: which bits they are, and how they are written."""

from __future__ import annotations

import pytest

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Part

ARRAYS = """module TopModule(input clk, input [1:0] at, input [7:0] d, output [7:0] q, output [8:1] r, output [0:3] s);
  typedef struct {logic [3:0] a; logic b; logic [1:0] c;} plain_t;
  typedef union {logic [3:0] low; logic [7:0] all;} either_t;
  logic [7:0] down [3:0];
  logic [7:0] up [0:3];
  logic [1:0][3:0] deep [2][3];
  plain_t plain;
  either_t either;
  assign down[2] = d;
  assign up[0] = down[2], up[1] = 0;
  assign deep[1][2][1] = d[3:0];
  assign plain.a = d[7:4], plain.b = d[0];
  assign either.low = d[3:0];
  assign r[8:5] = plain.a, r[4:1] = 0, s[0] = plain.b;
  always @(posedge clk) up[at] <= d;
  assign q = up[1];
endmodule
"""


def target(design: Design, line: int) -> tuple[Part, bool]:
    found = next(one for one in design.assignments if line in one.lines)
    return found.targets[0], found.exact


@pytest.mark.parametrize(("line", "part", "exact"), [
    (9, Part("down", 16, 8), True), (10, Part("up", 24, 8), True), (11, Part("deep", 4, 4), True),
    (12, Part("plain", 3, 4), True), (13, Part("either", 0, 8), False), (15, Part("up", 0, 32), False)])
def test_elements_and_fields_are_bits_of_their_own(line: int, part: Part, exact: bool) -> None:
    assert target(Design.of(ARRAYS), line) == (part, exact)


@pytest.mark.parametrize(("part", "text"), [
    (Part("down", 16, 8), "down[2]"), (Part("up", 24, 8), "up[0]"), (Part("up", 29, 1), "up[0][5]"),
    (Part("deep", 4, 4), "deep[1][2][7:4]"), (Part("deep", 24, 24), "deep[0]"), (Part("up", 8, 16), "up[1:2]"),
    (Part("plain", 3, 4), "plain[6:3]"), (Part("r", 4, 4), "r[8:5]"), (Part("s", 3, 1), "s[0]"),
    (Part("q", 0, 8), "q"), (Part("up", 0, 32), "up")])
def test_parts_are_written_as_in_the_source(part: Part, text: str) -> None:
    assert Design.of(ARRAYS).names.text_of(part) == text


def test_an_element_has_its_own_drivers() -> None:
    design = Design.of(ARRAYS)
    assert [one.lines.first for one in design.drivers(Part("up", 24, 8))] == [10, 15]
    assert design.drivers("q")[0].data == (Part("up", 16, 8),)
    assert design.drivers(Part("plain", 0, 2)) == ()
