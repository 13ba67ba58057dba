"""What a block saw of signals that changed at its very edge is told by what it made of them."""

from __future__ import annotations

import pytest

from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Part
from chatdev.departments.verilog.tracing.search import trace_outputs
from chatdev.departments.verilog.tracing.trace import History, Trace, Watch, signal_reports
from tests.departments.verilog.tracing.histories import history_of

REGISTER = """module TopModule(input clk, reset, d, output reg q);
  always @(posedge clk)
    if (reset) q <= 0;
    else q <= d;
endmodule
"""
WITHIN = REGISTER.replace("TopModule", "Register") + """
module TopModule(input clk, reset, d, output q);
  Register one(.clk(clk), .reset(reset), .d(d), .q(q));
endmodule
"""
CHAIN = """module TopModule(input clk, d, output reg q);
  reg first;
  always @(posedge clk) first = d;
  always @(posedge clk) q <= first;
endmodule
"""


def followed(text: str, history: History, levels: int = 1, time: int = 9) -> Trace:
    design = Design.of(text)
    return trace_outputs(design, [Watch(design.part("q"), time)], levels, history)


def lines(trace: Trace, level: int = 0) -> list[int]:
    return [step.assignment.lines.first for step in trace.levels[level].steps if step.assignment.kind == "clocked"]


@pytest.mark.parametrize(("became", "line", "late"), [("1", 4, {"reset"}), ("0", 3, set())])
def test_a_reset_that_ends_at_the_edge(became: str, line: int, late: set[str]) -> None:
    found = followed(REGISTER, history_of("clk", "reset", "d", "q", t0="0 1 1 0", t5=f"1 0 1 {became}"))
    assert lines(found) == [line]
    assert found.levels[0].steps[0].late == late


def test_a_reset_that_ends_at_the_edge_and_may_have_been_seen_or_not() -> None:
    """Both the reset and the d of 0 explain what the register became."""
    history = history_of("clk", "reset", "d", "q", t0="0 1 0 1", t5="1 0 0 0")
    found = followed(REGISTER, history)
    assert lines(found) == [3, 4]
    assert [(step.certain, step.late) for step in found.levels[0].steps if step.of.part.signal != "q"
            or step.assignment.kind == "clocked"] == [(False, frozenset()), (False, frozenset({"reset"}))]
    [report] = [one for one in signal_reports(found, history)[0] if one.late]
    assert report.either
    assert report.late == ("reset",)


def test_an_input_is_followed_into_an_instance() -> None:
    columns = ("clk", "reset", "d", "q", "one.clk", "one.reset", "one.d", "one.q")
    found = followed(WITHIN, history_of(*columns, t0="0 1 1 0 0 1 1 0", t5="1 0 1 1 1 0 1 1"))
    assert lines(found) == [4]


def test_a_register_that_kept_its_value_saw_that_it_was_no_longer_enabled() -> None:
    text = "module TopModule(input clk, en, d, output reg q);\nalways @(posedge clk)\nif (en) q <= d;\nendmodule"
    found = followed(text, history_of("clk", "en", "d", "q", t0="0 1 1 0", t5="1 0 1 0"))
    assert lines(found) == []
    [wait] = found.levels[0].waits
    assert wait.sampled == 5
    assert wait.late == {"en"}


@pytest.mark.parametrize(("became", "line", "sampled"), [("1", 3, 5), ("0", 3, 2)])
def test_a_blocking_assignment_of_another_block_may_come_first(became: str, line: int, sampled: int) -> None:
    history = history_of("clk", "d", "first", "q", t0="0 0 x x", t2="1 0 0 x", t3="0 1 0 x", t5=f"1 1 1 {became}")
    found = followed(CHAIN, history, levels=2)
    assert (lines(found), lines(found, 1)) == ([4], [line])
    assert found.levels[1].steps[0].sampled == sampled


def test_what_is_assigned_without_blocking_is_never_early() -> None:
    text = CHAIN.replace("first = d", "first <= d")
    assert "first" not in Design.of(text).racing_signals
    found = followed(text, history_of("clk", "d", "first", "q", t0="0 1 0 0", t5="1 1 1 1"))
    assert found.levels[0].steps[0].late == set()


def test_what_wires_make_of_registers_is_as_late_as_these() -> None:
    text = ("module TopModule(input clk, d, output q, w);\nreg r;\nwire n = r & d;\nassign q = n, w = ~d;\n"
            "always @(posedge clk) r <= d;\nendmodule")
    assert Design.of(text).racing_signals == {"clk", "d", "w"}


def test_what_neither_explains_is_told_of_all_that_writes_it() -> None:
    text = REGISTER.replace("q <= 0", "q <= 1")
    found = followed(text, history_of("clk", "reset", "d", "q", t0="0 1 1 0", t5="1 0 1 0"))
    assert lines(found) == [3, 4]
    assert [(step.made, step.certain) for step in found.levels[0].steps] == [("1", True), ("", False)]


TWO_BLOCKS = """module TopModule(input clk, ev, d, output reg [1:0] q);
always @(posedge clk) q <= {d, 1'b1};
always @(posedge clk)
  if (ev) q <= 2'b10;
endmodule"""


@pytest.mark.parametrize(("became", "made"), [("11", {2: "", 4: "10"}), ("10", {2: "11", 4: ""}),
                                              ("00", {2: "11", 4: "10"})])
def test_of_two_writers_the_one_whose_value_fits_is_the_cause(became: str, made: dict[int, str]) -> None:
    found = followed(TWO_BLOCKS, history_of("clk", "ev", "d", "q", t0="0 1 1 00", t5=f"1 1 1 {became}"))
    assert {step.assignment.lines.first: step.made for step in found.levels[0].steps} == made


FILE = """module TopModule(input clk, rst, we, input [0:0] wa, ra, input [1:0] wd, output [1:0] q);
reg [1:0] m [0:1];
integer i;
always @(posedge clk)
  if (rst) for (i = 0; i < 2; i = i + 1) m[i] <= 0;
  else if (we) m[wa] <= wd;
assign q = m[ra];
endmodule"""
NAMES = ("clk", "rst", "we", "wa", "ra", "wd", "q")


def test_a_word_of_a_memory_is_what_is_read_of_it() -> None:
    """The bench changes address and data at the edge at which they are written, of which no waveform tells the words.
    """
    found = followed(FILE, history_of(*NAMES, t0="0 1 0 0 0 00 xx", t5="1 0 1 1 0 10 00", t10="0 0 1 1 0 10 00",
                                      t15="1 0 0 0 1 01 10", t20="0 0 0 0 1 01 10"), time=29)
    word = [step for step in found.levels[0].steps if step.of.part.signal == "m"]
    assert {step.of.value for step in word} == {"10"}
    assert [(step.assignment.lines.first, step.sampled) for step in word] == [(6, 15), (6, 5)]  # before it or after it


def test_a_reset_to_another_value_is_no_cause_of_a_word() -> None:
    found = followed(FILE, history_of(*NAMES, t0="0 1 0 0 0 00 xx", t5="1 1 0 0 0 00 00", t10="0 0 1 1 1 11 00",
                                      t15="1 0 1 1 1 11 11", t20="0 0 0 1 1 00 11", t25="1 0 0 1 1 00 11"), time=29)
    word = [step for step in found.levels[0].steps if step.of.part.signal == "m"]
    assert [(step.assignment.lines.first, step.sampled, step.certain) for step in word] == [(6, 15, True)]


@pytest.mark.parametrize("listed", ["*", "s", "s or t"])
def test_a_block_with_a_list_saw_what_its_signals_became(listed: str) -> None:
    text = (f"module TopModule(input clk, d, t, output reg q);\nreg s;\nalways @(posedge clk) s <= d;\n"
            f"always @({listed}) q = s;\nendmodule\n")
    history = history_of("clk", "d", "t", "s", "q", t0="0 0 0 x x", t1="1 0 0 0 0", t3="0 1 0 0 0", t5="1 1 0 1 1")
    found = followed(text, history, levels=2)
    assert [(step.of.part.signal, step.sampled) for step in found.levels[1].steps] == [("s", 5)]


MEMORY = """module TopModule(input clk, we, a, input [1:0] i, output [3:0] q);
  reg [3:0] m;
  assign q = m;
  always @(posedge clk)
    if (we) m[i] <= a;
endmodule
"""


def test_an_idle_run_tells_of_others_with_the_same_index() -> None:
    """Bit 2 is written at 7, bit 0 at 17 and 27, nothing at 37: all but the first leave bit 2 alone."""
    history = history_of("clk", "we", "a", "i", "m", t0="0 1 1 10 0000", t7="1 1 1 10 0100", t10="0 1 0 00 0100",
                         t17="1 1 0 00 0100", t20="0 1 0 00 0100", t27="1 1 0 00 0100", t30="0 0 0 10 0100",
                         t37="1 0 0 10 0100")
    design = Design.of(MEMORY)
    [process] = [one for one in design.processes if one.is_clocked]
    assert {"we", "i"} <= {*(design.deciders(process, Part("m", 2, 1)) or ())}
    trace = trace_outputs(design, [Watch(Part("q", 2, 1), 39)], 1, history)
    assert [step.sampled for level in trace.levels for step in level.steps
            if step.assignment.kind == "clocked"] == [7]


def test_bits_that_were_followed_are_followed_no_more() -> None:
    text = "module TopModule(input [3:0] d, output q);\n  wire [3:0] w = d;\n  assign q = ^w ^ w[1];\nendmodule\n"
    trace = trace_outputs(Design.of(text), [Watch(Part("q", 0, 1), 5)], 1, history_of("d", "w", "q", t0="1111 1111 1"))
    assert [watch.part for watch in trace.levels[0].watched] == [Part("q", 0, 1), Part("w", 0, 4), Part("d", 0, 4)]
