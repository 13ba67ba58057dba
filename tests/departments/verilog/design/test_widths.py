"""Widths that do not fit are found; those that are meant are not."""

from __future__ import annotations

import pytest

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import Misfit


def misfits(body: str) -> list[tuple[str, int, int]]:
    text = f"module TopModule(input clk, input [3:0] a, b, output reg [3:0] y);\n{body}\nendmodule"
    return [(found.signal, found.has, found.other) for found in Design.of(text).misfits]


@pytest.mark.parametrize(("body", "found"), [
    ("wire [2:0] n = a;", ("n", 3, 4)),
    ("wire [2:0] n = b[2:0];\nalways @(*) y = n;", ("n", 3, 4)),
    ("reg [2:0] n;\nalways @(posedge clk) n <= 9;", ("n", 3, 4)),
    ("reg [2:0] n;\nalways @(*) if (n < 12) y = a; else y = b;", ("n", 3, 4)),
    ("wire [2:0] n = 0;\nalways @(*) case (n) 8: y = a; default: y = b; endcase", ("n", 3, 4)),
    ("wire [2:0] n = 0;\nalways @(*) y = {n[3], a[2:0]};", ("n", 3, 4)),
    ("wire [2:0] n = 0;\nwire w = n == a;", ("n", 3, 4)),
    ("wire [1:0] n, m;\nassign {n, m} = {a, b[0]};", ("n", 4, 5)),
    ("wire n;\nwire [2:0] m = 0;\nassign {n, y[3:1]} = {m, a[0]};\nalways @(*) y[0] = {n, m};", ("y", 1, 4)),
])
def test_a_width_that_does_not_fit_is_found(body: str, found: tuple[str, int, int]) -> None:
    assert found in misfits(body)


@pytest.mark.parametrize("body", [
    "always @(posedge clk) y <= y + 1;",
    "always @(*) y = a & 4'b0011;",
    "always @(*) y = a << 1;",
    "wire n = a == 4'd15;",
    "wire n = a[3] & b[0];",
    "localparam LONG = 3;\nalways @(*) case (a) LONG: y = 0; default: y = 32'd1; endcase",
    "wire [4:0] n = a + b;",
    "wire n = a > 2;",
    "always @(*) y = 'x;",
])
def test_widths_that_are_meant_are_left_alone(body: str) -> None:
    assert misfits(body) == []


def test_a_misfit_has_its_line() -> None:
    text = "module TopModule(input [3:0] a, output y);\nwire [1:0] n =\n a;\nassign y = n[0];\nendmodule"
    assert Design.of(text).misfits == (Misfit("n", 3, 2, 4),)
