"""Following outputs back, level by level, over all drivers or over those that were active."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.verilog import trace_drivers
from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.records import Part
from chatdev.departments.verilog.tracing.search import narrowest_trace, trace_outputs
from chatdev.departments.verilog.tracing.trace import History, Trace, Watch
from chatdev.errors import ToolError
from tests.departments.verilog.tracing.histories import history_of

FSM = """module TopModule(input clk, input reset, input go, output busy, output reg [1:0] seen);
  localparam IDLE = 0, WORK = 1, DONE = 2;
  reg [1:0] state, next;
  always @(*)
    case (state)
      IDLE: next = go ? WORK : IDLE;
      WORK: next = DONE;
      default: next = IDLE;
    endcase
  always @(posedge clk)
    if (reset) state <= IDLE;
    else state <= next;
  always @(posedge clk)
    if (go) seen <= seen + 1;
  assign busy = state != IDLE;
endmodule
"""
COLUMNS = ("clk", "reset", "go", "state", "next", "busy", "seen")
RUN = history_of(*COLUMNS, t0="0 1 0 xx 00 x xx", t5="1 1 0 00 00 0 xx", t10="0 0 1 00 01 0 xx", t15="1 0 1 01 10 1 xx",
           t20="0 0 0 01 10 1 xx", t25="1 0 0 10 00 1 xx", t30="0 0 0 10 00 1 xx")


def active(text: str, output: str, time: int, history: History, levels: int = 1) -> Trace:
    design = Design.of(text)
    return trace_outputs(design, [Watch(design.part(output), time)], levels, history)


def steps(trace: Trace, level: int = 0) -> list[tuple[str, int, bool]]:
    return [(step.of.part.signal, step.assignment.lines.first, step.certain) for step in trace.levels[level].steps]


def comb(body: str) -> str:
    return f"module TopModule(input [3:0] a, b, output reg [3:0] y);\n{body}\nendmodule\n"


def test_all_drivers_are_followed_level_by_level() -> None:
    found = trace_drivers(FSM, ["busy"], levels=2)
    assert steps(found) == [("busy", 15, False), ("state", 11, False), ("state", 12, False)]
    assert [line for _, line, _ in steps(found, 1)] == [6, 7, 8]
    assert found.lines(1) == (2, 10, 11, 12, 15)
    assert {watch.part.signal for watch in found.next} == {"go"}


def test_only_the_branch_that_was_taken_is_left_and_only_at_the_last_edge() -> None:
    found = active(FSM, "busy", 30, RUN, levels=3)
    assert steps(found) == [("busy", 15, True), ("state", 12, True), ("next", 7, True)]
    assert steps(found, 1) == [("next", 6, True)]  # what set the state at 15 has been shown
    assert len(found.levels[1].leapt) == 1
    assert [step.sampled for level in found.levels for step in level.steps] == [30, 25, 25, 15]
    assert not any(level.waits for level in found.levels)


def test_a_register_that_kept_its_value_names_what_kept_and_what_set_it() -> None:
    text = FSM.replace("seen + 1", "2'b10")
    history = history_of(*COLUMNS, t0="0 0 1 00 01 0 00", t5="1 0 1 01 10 1 10", t10="0 0 0 01 10 1 10",
                   t15="1 0 0 10 00 1 10")
    found = active(text, "seen", 20, history)
    assert steps(found) == [("seen", 14, True)]
    assert found.levels[0].steps[0].sampled == 5
    [wait] = found.levels[0].waits
    assert ([condition.text for condition in wait.conditions], wait.sampled) == (["go"], 15)


def test_a_register_never_set_names_what_kept_it_and_the_edge() -> None:
    found = active(FSM, "seen", 8, history_of(*COLUMNS, t0="0 1 0 xx 00 x xx", t5="1 1 0 00 00 0 xx"))
    assert steps(found) == []
    assert found.lines() == (1, 13, 14)
    assert [watch.part.signal for watch in found.next] == ["go", "clk"]


def test_a_register_without_an_edge_yet_names_its_triggers() -> None:
    found = active(FSM, "seen", 4, history_of(*COLUMNS, t0="0 1 0 xx 00 x xx"))
    assert found.lines() == (1, 13)
    assert [watch.part.signal for watch in found.next] == ["clk"]


def test_a_register_set_before_the_history_keeps_all_its_drivers() -> None:
    history = history_of(*COLUMNS, complete=False, t0="0 0 0 00 00 0 01", t5="1 0 0 00 00 0 01")
    assert steps(active(FSM, "seen", 8, history)) == [("seen", 14, False)]


def test_an_asynchronous_reset_is_seen_at_its_own_edge() -> None:
    text = ("module TopModule(input clk, areset, d, output reg q);\nalways @(posedge clk, posedge areset)\n"
            "if (areset) q <= 0;\nelse q <= d;\nendmodule")
    history = history_of("clk", "areset", "d", "q", t0="0 0 1 x", t5="1 0 1 1", t7="1 1 1 0")
    assert steps(active(text, "q", 8, history)) == [("q", 3, True)]
    assert steps(active(text, "q", 7, history)) == [("q", 4, True)]


def test_a_reset_that_is_there_from_the_start_counts_as_an_edge() -> None:
    text = ("module TopModule(input clk, areset, d, output reg q);\nalways @(posedge clk, posedge areset)\n"
            "if (areset) q <= 0;\nelse q <= d;\nendmodule")
    assert steps(active(text, "q", 5, history_of("clk", "areset", "d", "q", t0="0 1 1 0"))) == [("q", 3, True)]


def test_the_first_value_counts_until_the_first_edge() -> None:
    text = "module TopModule(input clk, d, output reg q);\ninitial q = 1;\nalways @(posedge clk) q <= d;\nendmodule"
    history = history_of("clk", "d", "q", t0="0 0 1", t5="1 0 0")
    assert steps(active(text, "q", 5, history)) == [("q", 2, True)]
    assert steps(active(text, "q", 6, history)) == [("q", 3, True)]


def test_a_default_that_is_overridden_is_left_out() -> None:
    text = comb("always @(*) begin\ny = 0;\nif (a[0])\ny = b;\nend")
    assert steps(active(text, "y", 9, history_of("a", "b", t0="0001 0110"))) == [("y", 5, True)]


def test_what_is_assigned_without_blocking_comes_after_all_else() -> None:
    text = comb("always @(*) begin\ny <= 0;\nif (a[0])\ny = b;\nend")
    assert steps(active(text, "y", 9, history_of("a", "b", t0="0001 0110"))) == [("y", 3, True)]
    assert steps(active(text.replace("<=", "="), "y", 9, history_of("a", "b", t0="0001 0110"))) == [("y", 5, True)]


def test_the_only_label_that_would_have_set_it_is_named() -> None:
    text = comb("always @(*) begin\ny = 0;\ncase (a)\n4'd1: y = b;\nendcase\nend")
    assert active(text, "y", 9, history_of("a", "b", t0="0010 0110")).lines() == (1, 3, 4, 5)
    both = text.replace("endcase", "4'd3: y = 1;\nendcase")
    assert active(both, "y", 9, history_of("a", "b", t0="0010 0110")).lines() == (1, 3, 4)


def test_a_default_that_stands_names_the_conditions_that_let_it_stand() -> None:
    text = comb("always @(*) begin\ny = 0;\nif (a[0])\ny = b;\nend")
    found = active(text, "y", 9, history_of("a", "b", t0="0000 0110"))
    assert steps(found) == [("y", 3, True)]
    assert 4 in found.lines()
    assert [watch.part.signal for watch in found.next] == ["a"]


def test_an_open_latch_is_logic_and_a_closed_one_keeps_its_last_value() -> None:
    text = comb("always @(*) if (a[0])\ny = b;")
    history = history_of("a", "b", t0="0001 0110", t5="0000 0110", t7="0000 1111")
    found = active(text, "y", 9, history)
    assert steps(found) == [("y", 3, True)]
    assert [watch.time for watch in found.next if watch.part.signal == "b"] == [5]


@pytest.mark.parametrize(("a", "line"), [("00x0", 4), ("xxxx", 4), ("1111", 3), ("0000", 5)])
def test_values_of_x_take_the_way_that_the_simulator_takes(a: str, line: int) -> None:
    text = comb("always @(*) if (&a) begin\ny = b; end else if (a !== 0)\ny = 1; else\ny = 2;")
    assert steps(active(text, "y", 9, history_of("a", "b", t0=f"{a} 0000"))) == [("y", line, True)]


@pytest.mark.parametrize(("keyword", "a", "line"), [
    ("casez", "1x00", 5), ("casex", "1x00", 4), ("casez", "1z00", 4), ("case", "1z00", 5), ("casez", "0100", 5)])
def test_wildcards_of_cases_match_as_in_the_language(keyword: str, a: str, line: int) -> None:
    text = comb(f"always @(*)\n{keyword} (a)\n4'b11??: y = b;\ndefault: y = 0;\nendcase")
    assert steps(active(text, "y", 9, history_of("a", "b", t0=f"{a} 0000"))) == [("y", line, True)]


def test_what_cannot_be_evaluated_is_kept() -> None:
    text = comb("reg [3:0] memory [0:3];\nalways @(*)\nif (memory[0] == a)\ny = b;\nelse\ny = 0;")
    assert steps(active(text, "y", 9, history_of("a", "b", t0="0000 0000"))) == [("y", 7, False), ("y", 5, False)]


def test_a_loop_is_kept_but_conditions_around_it_count() -> None:
    text = comb("always @(*) if (a[3]) begin\nfor (int i = 0; i < 4; i++)\nif (a[i]) y[i] = b[i]; else y[i] = 0;\nend\n"
                "else y = 5;")
    assert {line for _, line, _ in steps(active(text, "y", 9, history_of("a", "b", t0="1000 0000")))} == {4}
    assert steps(active(text, "y", 9, history_of("a", "b", t0="0000 0000"))) == [("y", 6, True)]


def test_what_a_block_writes_at_once_is_known_to_its_later_lines() -> None:
    text = comb("reg t;\nalways @(*) begin\nt = a[0] ^ b[0];\nif (t)\ny = 1;\nelse\ny = 2;\nend")
    assert steps(active(text, "y", 9, history_of("a", "b", "t", t0="0001 0000 0"))) == [("y", 6, True), ("t", 4, True)]


def test_what_a_clocked_block_writes_at_once_is_followed_at_the_same_edge() -> None:
    text = ("module TopModule(input clk, d, output reg q);\nreg t;\nalways @(posedge clk) begin\nt = ~d;\nq <= t;\n"
            "end\nendmodule")
    history = history_of("clk", "d", "t", "q", t0="0 0 x x", t5="1 0 1 1")
    found = active(text, "q", 6, history)
    assert steps(found) == [("q", 5, True), ("t", 4, True)]
    assert found.levels[0].steps[1].sampled == 5


def test_a_value_that_is_made_in_several_steps_has_all_of_them() -> None:
    text = comb("always @(*) begin\ny = 1;\ny = a;\nfor (int i = 0; i < 4; i++)\ny = y + b[i];\ny = y ^ 1;\nend")
    assert [line for _, line, _ in steps(active(text, "y", 9, history_of("a", "b", t0="0000 0000")))] == [7, 6, 4]


def test_a_counter_leads_back_to_what_set_it_before_it_counted() -> None:
    text = ("module TopModule(input clk, output reg [1:0] n);\ninitial n = 0;\nalways @(posedge clk) n = n + 1;\n"
            "endmodule")
    history = history_of("clk", "n", t0="0 00", t5="1 01", t10="0 01", t15="1 10")
    found = active(text, "n", 16, history, levels=3)
    assert [(step.assignment.lines.first, step.sampled) for level in found.levels for step in level.steps] == [
        (3, 15), (2, 5)]
    assert [len(level.leapt) for level in found.levels] == [0, 1, 0]


def test_a_state_that_stays_leads_back_to_what_entered_it() -> None:
    text = ("module TopModule(input clk, rst, go, output reg [1:0] s);\nreg [1:0] n;\nalways @(*)\nif (s == 1 && go)\n"
            "n = 2;\nelse\nn = s;\nalways @(posedge clk)\nif (rst)\ns <= 1;\nelse\ns <= n;\nendmodule")
    ticks = {f"t{10 * at + edge}": f"{1 - edge // 5} {int(at == 0)} 0 01 01" for at in range(1, 40) for edge in (0, 5)}
    history = history_of("clk", "rst", "go", "s", "n", t0="0 1 0 xx xx", t5="1 1 0 01 01", complete=True, **ticks)
    found = active(text, "s", 391, history, levels=3)
    assert 10 in found.lines()


def test_a_register_that_was_kept_names_the_condition_that_nobody_came_to() -> None:
    text = ("module TopModule(input clk, rst, en, full, output reg q);\nalways @(posedge clk)\nif (rst)\nq <= 0;\n"
            "else if (en)\n;\nelse if (full)\nq <= 1;\nendmodule")
    history = history_of("clk", "rst", "en", "full", "q", t0="0 1 0 0 x", t5="1 1 0 0 0", t10="0 0 1 1 0",
                         t15="1 0 1 1 0")
    assert 7 in active(text, "q", 16, history, levels=1).lines()


def test_bits_that_nothing_drives_lead_to_what_drives_the_others() -> None:
    text = comb("always @(*) y[2:0] = a[2:0];")
    part = Part("y", 3, 1)
    assert [step.assignment.lines.first for step in trace_outputs(
        Design.of(text), [Watch(part, 9)], 1, history_of("a", t0="0000")).levels[0].steps] == [2]


def test_only_the_chosen_side_and_the_addressed_element_are_followed() -> None:
    text = comb("wire [3:0] p = a, q = b;\nassign y = a[0] ? p : q;")
    found = active(text, "y", 9, history_of("a", "b", "p", "q", t0="0001 0000 0001 0000"))
    assert "q" not in {watch.part.signal for watch in found.levels[0].watched}


def test_the_side_that_forces_a_result_is_followed_alone() -> None:
    text = comb("wire p = a[0], q = b[0];\nassign y[0] = p & q;\nassign y[3:1] = 0;")
    design = Design.of(text)
    part = design.drivers("y")[0].targets[0]
    found = trace_outputs(design, [Watch(part, 9)], 1, history_of("a", "b", "p", "q", t0="0000 0001 0 1"))
    assert [watch.part.signal for watch in found.levels[0].watched] == ["y", "p", "a"]


def test_a_sensitivity_list_that_lacks_a_signal_is_taken_as_it_is() -> None:
    text = comb("always @(a)\nif (b[0])\ny = 1;\nelse\ny = 2;")
    history = history_of("a", "b", t0="0000 0000", t5="0001 0000", t7="0001 0001")
    assert steps(active(text, "y", 9, history)) == [("y", 6, True)]


def test_instances_and_functions_cost_no_level() -> None:
    text = ("module Half(input p, output q);\nassign q = ~p;\nendmodule\nmodule TopModule(input a, b, output y);\n"
            "function f(input k);\nif (k) f = b;\nelse f = 0;\nendfunction\nwire w = f(a);\nHalf u(w, y);\nendmodule")
    every = trace_drivers(text, ["y"], levels=2)
    assert {line for _, line, _ in steps(every)} == {2, 10}
    assert {line for _, line, _ in steps(every, 1)} == {6, 7, 9, 10}
    history = history_of("a", "b", "w", "y", "u.p", "u.q", t0="0 1 0 1 0 1")
    assert {line for _, line, _ in steps(active(text, "y", 9, history, levels=1))} == {2, 7, 9, 10}


def test_labels_that_are_there_twice_are_named() -> None:
    text = comb("always @(*)\ncase (a)\n0: y = b;\n1: y = 2;\n1: y = 3;\ndefault: y = 0;\nendcase")
    found = active(text, "y", 9, history_of("a", "b", t0="0100 0000"))
    assert found.lines() == (1, 3, 5, 6, 7)


def test_signals_that_are_too_narrow_are_named_where_they_are_declared() -> None:
    text = comb("reg [1:0] n;\nalways @(*) n = a;\nalways @(*) y = n;")
    found = trace_drivers(text, ["y"])
    assert found.doubtful_signals() == ("y", "n")
    assert found.lines() == (1, 2, 3, 4)


def test_of_several_outputs_the_one_with_the_fewest_lines_is_taken() -> None:
    text = "module TopModule(input a, output p, q);\nwire w =\n ~a;\nassign p = w;\nassign q = 1;\nendmodule"
    design = Design.of(text)
    watches = [Watch(design.part("p"), 9), Watch(design.part("q"), 9)]
    assert narrowest_trace(design, watches, 2, history_of("a", "w", t0="0 1")).lines() == (5,)


def test_of_many_outputs_some_are_followed_from_the_first_to_the_last() -> None:
    outputs = [f"assign q[{bit}] = {'1' if bit in (13, 14) else 'w'};\n" for bit in range(16)]
    design = Design.of(f"module TopModule(input a, output [15:0] q);\nwire w =\n ~a;\n{''.join(outputs)}endmodule")
    watches = [Watch(Part("q", bit, 1), 9) for bit in range(16)]
    assert narrowest_trace(design, watches, 2, history_of("a", "w", t0="0 1")).levels[0].watched[0] == watches[14]


def test_an_output_that_is_not_there_is_refused() -> None:
    with pytest.raises(ToolError, match="no signal 'busi'; its outputs: busy, seen"):
        trace_drivers(FSM, ["busi"])


TREES = st.recursive(st.just(None), lambda inner: st.tuples(st.integers(0, 3), inner, inner), max_leaves=12)


def written(tree: object, leaves: list[str], bits: str) -> tuple[list[str], int]:
    """The statement of a tree of decisions, each leaf in a line of its own, and which leaf `bits` lead to."""
    if not isinstance(tree, tuple):
        leaves.append("")
        return [f"y = {len(leaves) % 16};"], len(leaves) - 1
    place, yes, no = tree
    first, taken = written(yes, leaves, bits)
    second, other = written(no, leaves, bits)
    return [f"if (a[{place}])", "begin", *first, "end else begin", *second, "end"], \
        taken if bits[3 - place] == "1" else other


@settings(max_examples=40)
@given(TREES, st.text("01xz", min_size=4, max_size=4))
def test_of_any_tree_of_decisions_the_leaf_that_was_reached_is_named(tree: object, bits: str) -> None:
    lines, leaf = written(tree, [], bits)
    text = comb("\n".join(["always @(*)", *lines]))
    places = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith("y =")]
    assert steps(active(text, "y", 9, history_of("a", "b", t0=f"{bits} 0000"))) == [("y", places[leaf], True)]
