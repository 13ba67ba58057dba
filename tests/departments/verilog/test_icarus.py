"""What the compiler says is sorted into classes; how the simulator ends is told apart."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from chatdev.departments.verilog.compilation import Message, error_class, outcomes
from chatdev.departments.verilog.icarus import read_messages
from chatdev.departments.verilog.simulators import read_compilation
from chatdev.sandbox.base import Execution
from tests.departments.verilog.small import HEADER, Desk

CLASSES = {
    "syntax_error": "syntax error",
    "tool_limitation": "sorry: This cast operation is not yet supported.",
    "unsupported": "Unsupported: Blocking and non-blocking assignments to r",
    "explicit_cast": "This assignment requires an explicit cast.",
    "sized_zero": "Sized numeric constant must have a size greater than zero.",
    "wire_assigned": "q is declared here as wire.",
    "two_drivers": "q Unable to assign to unresolved wires.",
    "unknown_module": "Unknown module type: adder",
    "unknown_clock": "Unable to bind wire/reg/memory `clk' in `TopModule'",
    "unknown_signal": "Unable to bind wire/reg/memory `state' in `TopModule'",
    "no_top": 'Unable to find the root module "TopModule" in the Verilog source.',
    "other_error": "Failed to evaluate the condition of an if-generate.",
}


def ended(stderr: str = "", exit_status: int | None = 0, **how: Any) -> Execution:
    """How a compiler may end."""
    return Execution(exit_status, None, "", stderr, 0.1, **how)


@pytest.mark.parametrize("outcome", CLASSES)
def test_every_class_is_found_by_its_words(outcome: str) -> None:
    assert error_class(["Something else.", CLASSES[outcome]]) == outcome


def test_every_class_with_a_pattern_is_tried() -> None:
    assert [name for name, row in outcomes().items() if "pattern" in row] == list(CLASSES)


@pytest.mark.parametrize("outcome", outcomes())
def test_every_outcome_has_a_sentence_and_a_score(outcome: str) -> None:
    row = outcomes()[outcome]
    assert row["says"].strip().endswith((".", "?", "%}"))
    assert row["score"] <= 0 or row["passed"]


def test_the_number_of_errors_is_a_failure_and_a_warning_is_none() -> None:
    said = "top.sv:3: warning: Port 1 is odd.\n"
    assert read_compilation(ended(said)).passed
    assert read_compilation(ended(said + "top.sv:4: error: Bad.\n14 error(s) during elaboration.\n", 14)).errors == (
        Message("Bad.", "top.sv", 4),)


def test_lines_that_go_on_are_one_message_and_noise_is_none() -> None:
    log = ("top.sv:1: error: You can not instantiate it within itself.\n"
           "top.sv:1:      : The offending instance is a within TopModule.\n"
           "top.sv:7: syntax error\nI give up.\n"
           "*** These modules were missing:\n        foo referenced 1 times.\n***\n")
    assert [message.text for message in read_messages(log)] == [
        "You can not instantiate it within itself. The offending instance is a within TopModule.", "syntax error"]


def test_a_compiler_without_an_end_is_told_from_one_that_crashed() -> None:
    assert read_compilation(ended(exit_status=None, timed_out=True)).outcome == "compiler_endless"
    stopped = Execution(None, signal.SIGXCPU, "", "", 20.0)
    assert read_compilation(stopped).outcome == "compiler_endless"
    assert read_compilation(ended(exit_status=None, exceeded="memory")).outcome == "compiler_endless"
    assert read_compilation(ended(exit_status=134)).outcome == "compiler_crashed"


@pytest.mark.tool
@pytest.mark.parametrize(("body", "outcome"), [
    ("assign q = a", "syntax_error"),
    ("always @(posedge clk) q <= a;", "wire_assigned"),
    ("adder u(a, b, q);", "unknown_module"),
    ("assign q = state;", "unknown_signal"),
    ("assign q = 0'd0;", "sized_zero"),
])
def test_the_compiler_itself_is_understood(desk: Desk, body: str, outcome: str) -> None:
    verdict = desk.use("check", f"{HEADER}{body}\nendmodule\n")
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, outcome)


SORRY = """module TopModule(input clk, input a, input b, output logic q, output logic w);
  logic [1:0] kept, next;
  always @(posedge clk) kept <= next;
  always_comb begin next[1] = kept[0]; next[0] = a; end
  always_comb unique case ({a, b}) 0, 3: w = 0; default: w = 1; endcase
  assign q = kept[0];
endmodule
"""


@pytest.mark.tool
@pytest.mark.parametrize("tool", ["check", "simulate", "judge"])
def test_what_the_compiler_is_sorry_for_is_a_warning_where_it_goes_on(desk: Desk, tool: str) -> None:
    verdict = desk.use(tool, SORRY)
    assert verdict.passed
    head, _, warnings = verdict.report.partition("Warnings, which may or may not be mistakes:")
    assert "sorry" not in head
    assert "constant selects" not in verdict.report, "a remark on Icarus Verilog is none on the module"
    assert "sorry: Case unique" in warnings
    assert "Case unique/unique0 qualities are ignored" in warnings
    assert "2 |" not in verdict.report


@pytest.mark.tool
def test_what_it_goes_on_after_does_not_explain_another_error(desk: Desk) -> None:
    verdict = desk.use("check", SORRY.replace("= a; end", "= c; end"))
    assert verdict.evidence["outcome"] == "unknown_signal"


def test_a_line_number_without_end_is_a_part_of_the_message() -> None:
    (message,) = read_messages(f"top.sv:{'9' * 5000}: error: x")
    assert (message.line, message.file) == (0, "")
