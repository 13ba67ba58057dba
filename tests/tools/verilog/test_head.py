"""The ports of a module are compared with those that the specification lists."""

from __future__ import annotations

import pytest

from benchmarks.verilog_localise import DATA
from chatdev.evaluation.verilogeval import VerilogEval
from chatdev.tools.verilog.simulation import reference_as_answer
from chatdev.tools.verilog.specification import port_differences

SPECIFICATION = " - input  clk\n - input  d   ( 8 bits)\n - output q   [7:0]\n - output w [N-1:0]\n\nq is d, delayed."
RIGHT = "module TopModule(input clk, input [7:0] d, output reg [7:0] q, output [3:0] w);\nendmodule"


def told(text: str, specification: str = SPECIFICATION) -> list[tuple[str, str]]:
    return [(message.severity, message.text) for message in port_differences(text, specification)]


def test_a_right_head_is_right_and_a_range_of_parameters_is_not_judged() -> None:
    assert told(RIGHT) == []


@pytest.mark.parametrize(("wrong", "severity", "text"), [
    (("[7:0] d", "d"), "error", "the port `d` has 1 bit(s), and not 8; write `input [7:0] d`"),
    (("input clk", "input [1:0] clk"), "error", "the port `clk` has 2 bit(s), and not 1; write `input clk`"),
    (("input clk, ", ""), "error", "the port `clk` is missing; the specification lists `input clk`"),
    (("input clk", "input clk, input rst"), "error", "the specification lists no port `rst`"),
    (("input clk", "output clk"), "warning", "the specification lists `clk` as input"),
])
def test_what_differs_is_told(wrong: tuple[str, str], severity: str, text: str) -> None:
    assert told(RIGHT.replace(*wrong)) == [(severity, text)]


@pytest.mark.parametrize(("text", "specification"), [
    (RIGHT, "A counter."), (RIGHT, "Mend this:\n\nmodule TopModule (\n  input a,\n  output q\n);"),
    ("module TopModule(input clk", SPECIFICATION)])
def test_without_a_list_or_a_readable_source_nothing_is_told(text: str, specification: str) -> None:
    assert told(text, specification) == []


def test_every_reference_of_verilogeval_has_the_ports_that_its_specification_lists() -> None:
    """Of one the specification lists the output as an input."""
    found = {problem.name: told(reference_as_answer(problem.reference), problem.prompt)
             for problem in VerilogEval(DATA).problems()}
    assert {name: messages for name, messages in found.items() if messages} == {
        "Prob031_dff": [("warning", "the specification lists `q` as input")]}
