"""A trace as reports tell it."""

from __future__ import annotations

from typing import Any

import pytest

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.tracing.search import trace_outputs
from chatdev.departments.verilog.tracing.trace import History, SignalReport, Watch, signal_reports
from tests.departments.verilog.tracing.histories import history_of

REGISTER = "module TopModule(input clk, en, d, output reg q);\nalways @(posedge clk)\nif (en) q <= d;\nendmodule"


def first(text: str, history: History) -> SignalReport:
    design = Design.of(text)
    return signal_reports(trace_outputs(design, [Watch(design.part("q"), 9)], 1, history), history)[0][0]


def test_what_kept_a_register_is_told_with_its_edge() -> None:
    found = first(REGISTER, history_of("clk", "en", "d", "q", t0="0 0 1 x", t5="1 0 1 x"))
    assert (found.name, found.value, found.waits, found.kept, found.edges) == ("q", "x", ("en",), 5, ())
    assert found.wait_lines == (2, 3)


def test_an_edge_that_has_not_come_is_told() -> None:
    found = first(REGISTER, history_of("clk", "en", "d", "q", t0="0 1 1 x"))
    assert (found.waits, found.kept, found.edges, found.wait_lines) == ((), None, ("posedge of clk",), (2,))


def test_a_list_of_signals_is_no_edge() -> None:
    text = REGISTER.replace("posedge clk", "clk or en or d").replace("<=", "=")
    found = first(text, history_of("clk", "en", "d", "q", t0="0 1 1 1", t5="1 0 1 1"))
    assert (found.waits, found.kept, found.wait_lines) == (("en",), None, (2, 3))
    assert [(cause.lines, cause.sampled) for cause in found.causes] == [((2, 3), None)]


def test_what_changed_at_the_edge_is_told_once() -> None:
    found = first(REGISTER, history_of("clk", "en", "d", "q", t0="0 0 1 0", t5="1 1 1 1"))
    assert found.late == ("en",)
    assert [cause.because for cause in found.causes] == [("en",)]


STAGES = """module TopModule(input [3:0] d, output q);
  wire [3:0] stage [0:2];
  assign stage[0] = d;
  assign stage[1] = {stage[0][2:0], 1'b0};
  assign stage[2] = {stage[1][2:0], 1'b0};
  assign q = stage[2][3];
endmodule
"""


def test_elements_of_an_array_are_told_one_by_one() -> None:
    design = Design.of(STAGES)
    history = history_of("d", "q", t0="0010 1", t5="0011 1", t7="0111 0")
    trace = trace_outputs(design, [Watch(design.part("q"), 9)], 1, history)
    [level] = signal_reports(trace, history)
    assert [(one.name, [cause.certain for cause in one.causes]) for one in level] == [
        ("q", [True]), ("stage[2][3]", [True]), ("stage[1][2]", [True]), ("stage[0][1]", [True])]
    assert trace.next == ()


BLOCKS = """module TopModule(input clk, d, output reg q);
reg a, b;
always @(posedge clk)
a <= d;
always @(posedge clk)
b <= a;
always @(posedge clk)
q <= b;
endmodule
"""
EDGES = history_of("clk", "d", "a", "b", "q", t0="0 1 0 0 0", t5="1 1 1 0 0", t10="0 1 1 0 0", t15="1 1 1 1 0",
                   t20="0 1 1 1 0", t25="1 1 1 1 1")


def shown(text: str, history: History = EDGES) -> list[tuple[int, ...]]:
    """The lines of the first levels."""
    design = Design.of(text)
    trace = trace_outputs(design, [Watch(design.part("q"), 29)], 3, history)
    return [trace.lines(level) for level in (1, 2, 3)]


def test_edges_that_all_blocks_wait_for_are_no_lines_of_it() -> None:
    assert shown(BLOCKS) == [(8,), (6, 8), (4, 6, 8)]


def test_the_edge_of_the_one_other_block_is() -> None:
    text = BLOCKS.replace("endmodule", "reg z;\nalways @(posedge clk) z <= d;\nendmodule")
    other = text.replace("@(posedge clk)\nb", "@(negedge clk)\nb")
    history = history_of("clk", "d", "a", "b", "q", t0="0 1 0 0 0", t5="1 1 1 0 0", t10="0 1 1 1 0", t15="1 1 1 1 1")
    assert shown(other, history)[1] == (5, 6, 8)


def test_of_few_blocks_and_of_several_clocks_every_edge_is() -> None:
    few = BLOCKS.replace("always @(posedge clk)\na <= d;", "assign a = d;").replace("reg a, b", "wire a; reg b")
    assert shown(few)[0] == (6, 7)
    clocks = BLOCKS.replace("input clk", "input other, clk").replace("endmodule", "".join(
        f"reg z{number};\nalways @(posedge other) z{number} <= d;\n" for number in range(3)) + "endmodule")
    assert shown(clocks)[0] == (7, 8)


def test_one_history_serves_many_designs() -> None:
    for blanks in range(12):
        text = BLOCKS.replace("always", "\n" * blanks + "always")
        assert shown(text)[2] == (4 + blanks, 6 + 2 * blanks, 8 + 3 * blanks)


def test_a_block_in_one_line_keeps_its_line() -> None:
    assert shown(BLOCKS.replace(")\n", ") "))[2] == (3, 4, 5)


@pytest.mark.parametrize("step", ["n + 1", "{n[6:0], n[7] ^ n[5]}"])
def test_a_start_a_hundred_edges_back_is_one_level_away(step: str) -> None:
    text = ("module TopModule(input clk, rst, output reg [7:0] n);\nalways @(posedge clk)\nif (rst)\nn <= 3;\nelse\n"
            f"n <= {step};\nendmodule")
    value, steps_back = 3, dict[str, Any](t0="0 1 xxxxxxxx", t5="1 1 00000011")
    for number in range(1, 100):
        value = value + 1 if step == "n + 1" else value << 1 & 255 | (value >> 7 ^ value >> 5) & 1
        steps_back |= {f"t{10 * number}": f"0 0 {value:08b}", f"t{10 * number + 5}": f"1 0 {value:08b}"}
    design = Design.of(text)
    found = trace_outputs(design, [Watch(design.part("n"), 1000)], 2, history_of("clk", "rst", "n", **steps_back))
    assert [step.assignment.lines.first for level in found.levels for step in level.steps] == [6, 4]
