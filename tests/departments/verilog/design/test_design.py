"""What a design is made of, from its source text."""

from __future__ import annotations

import pytest

from chatdev.departments.verilog.design.design import Design, Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.records import Assignment, Part
from chatdev.errors import ToolError


def of(ports: str, body: str, more: str = "") -> Design:
    return Design.of(f"{more}module TopModule({ports});\n{body}\nendmodule\n")


def only(design: Design, signal: str | Part) -> Assignment:
    [assignment] = design.drivers(signal)
    return assignment


def names(parts: tuple[Part, ...]) -> list[str]:
    return [part.signal for part in parts]


def test_ports_have_directions_and_widths() -> None:
    assert of("input clk, input [7:0] d, output reg [3:0] q", "").ports == (
        Port("clk", "in", 1), Port("d", "in", 8), Port("q", "out", 4))


def test_a_continuous_assignment_reads_its_right_side() -> None:
    found = only(of("input a, b, output y", "assign y = a & ~b;"), "y")
    assert (found.kind, names(found.data), found.text.strip()) == ("continuous", ["a", "b"], "assign y = a & ~b;")


def test_a_wire_that_is_declared_with_a_value_is_assigned_there() -> None:
    assert only(of("input a, output y", "wire w = ~a;\nassign y = w;"), "w").lines.first == 2


def test_an_assignment_over_several_lines_is_kept_whole() -> None:
    found = only(of("input a, b, c, output y", "assign y = a\n  | b  // either\n  | c;"), "y")
    assert tuple(found.lines) == (2, 3, 4)
    assert "| c" in found.text


def test_bits_are_driven_and_read_one_by_one() -> None:
    design = of("input [3:0] a, output [3:0] y", "assign y[3:2] = a[1:0];\nassign y[1] = a[3];\nassign y[0] = 0;")
    assert only(design, Part("y", 2, 1)).data == (Part("a", 0, 2),)
    assert only(design, Part("y", 1, 1)).data == (Part("a", 3, 1),)
    assert len(design.drivers("y")) == 3


@pytest.mark.parametrize(("written", "part"), [
    ("[0:7] a", Part("a", 4, 4)), ("[7:0] a", Part("a", 0, 4)), ("[11:4] a", Part("a", 0, 4)),
])
def test_bits_are_counted_from_the_right_whatever_the_range(written: str, part: Part) -> None:
    index = {"[0:7] a": "a[0:3]", "[7:0] a": "a[3:0]", "[11:4] a": "a[4 +: 4]"}[written]
    assert only(of(f"input {written}, output [3:0] y", f"assign y = {index};"), "y").data == (part,)


def test_an_unknown_index_may_be_any_bit_and_is_read_itself() -> None:
    found = only(of("input [7:0] a, input [2:0] i, output y", "assign y = a[i];"), "y")
    assert found.data == (Part("a", 0, 8), Part("i", 0, 3))


def test_the_left_side_may_join_signals() -> None:
    design = of("input [4:0] a, output c, output [3:0] s", "assign {c, s} = a;")
    assert names(only(design, "c").targets) == ["c", "s"]
    assert only(design, "c") is only(design, "s")


def test_structures_are_traced_by_field() -> None:
    design = of("input a, b, output y", "struct packed {logic x; logic z;} s;\nassign s.x = a;\nassign s.z = b;\n"
                "assign y = s.z;")
    assert [names(found.data) for found in design.drivers(only(design, "y").data[0])] == [["b"]]


def test_a_clocked_assignment_has_edges_and_conditions_with_their_lines() -> None:
    design = of("input clk, areset, en, d, output reg q", "always @(posedge clk, negedge areset)\n"
                "  if (!areset)\n    q <= 0;\n  else if (en)\n    q <= d;")
    reset, load = design.drivers("q")
    assert load.kind == "clocked"
    assert [(found.text, found.holds, found.lines) for found in load.conditions] == [
        ("!areset", False, (3,)), ("en", True, (5,))]
    assert names(load.control) == ["areset", "en"]
    assert reset.conditions[0].holds
    assert [(one.edge, one.part.signal, one.line) for one in design.process_of(load).triggers] == [
        ("posedge", "clk", 2), ("negedge", "areset", 2)]


def test_case_items_and_the_default_are_conditions() -> None:
    design = of("input [1:0] s, input a, b, output reg y", "always @(*)\n  case (s)\n    0, 1: y = a;\n    2:\n"
                "      y = b;\n    default: y = 0;\n  endcase")
    first, second, other = (found.conditions[0] for found in design.drivers("y"))
    assert (first.text, first.lines) == ("s is 0 or 1", (3, 4, 4))
    assert (second.text, second.lines) == ("s is 2", (3, 5))
    assert (other.text, other.lines) == ("s is none of the cases", (3, 7))
    assert {found.kind for found in design.drivers("y")} == {"always_comb"}


def test_what_is_not_written_on_every_way_is_a_latch() -> None:
    design = of("input a, b, output reg y, z", "always @(*) begin\n  z = 0;\n  if (a) y = b;\n  if (a) z = b;\nend")
    assert [found.kind for found in design.drivers("y")] == ["latch"]
    assert {found.kind for found in design.drivers("z")} == {"always_comb"}


def test_a_case_with_all_values_needs_no_default() -> None:
    design = of("input s, a, output reg y", "always @(*) case (s) 0: y = a; 1: y = ~a; endcase")
    assert {found.kind for found in design.drivers("y")} == {"always_comb"}


def test_the_choice_of_a_ternary_is_control() -> None:
    found = only(of("input s, a, b, output y", "assign y = s ? a : b;"), "y")
    assert (names(found.data), names(found.control)) == (["a", "b"], ["s"])


def test_loop_variables_are_no_signals() -> None:
    design = of("input [3:0] a, output reg [3:0] y, output reg [3:0] z", "integer i;\nalways @(*) begin\n"
                "  for (i = 0; i < 4; i = i + 1) y[i] = a[3 - i];\n  for (int j = 0; j < 4; j++) z[j] = a[j];\nend")
    assert names(only(design, "y").data) == names(only(design, "z").data) == ["a"]
    assert not {"i", "j"} & set(design.widths)
    assert only(design, "y").loop is not None


def test_a_variable_that_is_counted_outside_of_loops_is_a_signal() -> None:
    design = of("input clk, output [31:0] y", "integer n;\nalways @(posedge clk) n++;\nassign y = n;")
    assert names(only(design, "n").data) == ["n"]


def test_compound_assignments_read_their_target() -> None:
    design = of("input clk, input [3:0] a, output reg [3:0] y", "always @(posedge clk) y ^= a;")
    assert names(only(design, "y").data) == ["a", "y"]


def test_functions_are_entered() -> None:
    design = of("input a, b, output y, z", "function f(input k);\n  begin\n    f = k & b;\n  end\nendfunction\n"
                "assign y = f(a);\nassign z = 1;")
    [call] = only(design, "y").calls
    [inner] = design.functions[call].assignments
    assert (names(only(design, "y").data), names(inner.data), inner.kind, inner.lines.first) == (
        ["a"], ["b"], "function", 4)


def test_functions_in_conditions_are_entered_too() -> None:
    design = of("input a, output reg y", "function automatic f(input k); return ~k; endfunction\n"
                "always @(*) if (f(a)) y = 0; else y = 1;")
    assert design.drivers("y")[0].conditions[0].calls == tuple(design.functions)


def test_tasks_stand_where_they_are_called() -> None:
    design = of("input clk, a, output reg y, z", "task t(input k, output o);\n  y <= k;\n  o = ~k;\nendtask\n"
                "always @(posedge clk) t(a, z);")
    assert (only(design, "y").kind, names(only(design, "y").data)) == ("clocked", ["a"])
    assert names(only(design, "z").data) == ["a"]


def test_instances_are_crossed_through_their_ports() -> None:
    design = of("input a, b, output y", "Half u1(.p(a), .q(y));", "module Half(input p, output q); assign q = ~p; "
                "endmodule\n")
    assert (only(design, "y").kind, names(only(design, "y").data)) == ("port", ["u1.q"])
    assert names(only(design, "u1.q").data) == ["u1.p"]
    assert (only(design, "u1.p").kind, names(only(design, "u1.p").data)) == ("port", ["a"])


def test_generated_blocks_have_names_of_their_own() -> None:
    design = of("input [1:0] a, output [1:0] y", "genvar i;\ngenerate for (i = 0; i < 2; i = i + 1) begin : lane\n"
                "  wire w = ~a[i];\n  assign y[i] = w;\nend endgenerate")
    assert only(design, Part("y", 1, 1)).data == (Part("lane[1].w", 0, 1),)
    assert only(design, "lane[1].w").data == (Part("a", 1, 1),)


def test_arrays_of_instances_and_gates_are_followed() -> None:
    design = of("input [1:0] a, input b, output [1:0] y, output z", "Half u[1:0](a, y);\nnand g(z, a[0], b);",
                "module Half(input p, output q); assign q = ~p; endmodule\n")
    assert names(only(design, "z").data) == ["a", "b"]
    assert len(design.drivers("y")) == 2


def test_blocks_that_are_not_generated_do_not_count() -> None:
    found = only(of("input a, output y", "generate if (0) assign y = a;\nelse assign y = ~a; endgenerate"), "y")
    assert found.lines.first == 3


def test_constants_lead_to_the_lines_of_their_declarations() -> None:
    design = of("input s, output y", "localparam A = 1,\n  B = 0;\nassign y = s == B;")
    assert only(design, "y").declared == (3,)


def test_the_first_value_of_a_variable_is_initial() -> None:
    design = of("input clk, d, output reg q", "reg r = 1;\ninitial q = 0;\nalways @(posedge clk) q <= d;")
    assert only(design, "r").kind == "initial"
    assert [found.kind for found in design.drivers("q")] == ["initial", "clocked"]


def test_names_may_be_used_before_they_are_declared() -> None:
    assert names(only(of("input a, output y", "assign y = w;\nwire w = a;"), "y").data) == ["w"]


def test_an_enumeration_may_take_a_number_as_the_simulator_lets_it() -> None:
    design = of("input clk, d, output q", "typedef enum logic {A, B} state;\nstate s;\nassign q = s;\n"
                "always @(posedge clk) s <= d;")
    assert names(only(design, "s").data) == ["d"]


@pytest.mark.parametrize(("text", "says"), [
    ("module TopModule(output y); assign y = nothing; endmodule", "top.sv:1:40: error: use of undeclared"),
    ("module TopModule(output y); assign y = 1;", "expected 'endmodule'"),
    ("module Other; endmodule", "'TopModule' is not a valid top-level module"),
    ("", "'TopModule'"),
    ("module TopModule(output y); Half h(y); endmodule", "unknown module 'Half'"),
])
def test_what_cannot_be_elaborated_is_refused_in_the_words_of_a_compiler(text: str, says: str) -> None:
    with pytest.raises(DesignError, match=says):
        Design.of(text)


def test_a_signal_that_is_not_there_is_refused_with_the_outputs() -> None:
    with pytest.raises(ToolError, match="no signal 'z'; its outputs: y"):
        of("input a, output y", "assign y = a;").part("z")


@pytest.mark.parametrize("body", [
    f"assign y = {' + '.join(['a'] * 2000)};", f"assign y = {'(' * 2000}a{')' * 2000};",
    f"reg r; always @(*) {'if (a) r = 0; else ' * 2000} r = 1;"])
def test_what_is_nested_too_deeply_is_refused(body: str) -> None:
    with pytest.raises(DesignError, match="too deeply nested to be traced"):
        of("input a, output y", body)
