"""The rules of an answer: which file it is, and what may not be in it."""

from __future__ import annotations

import pyslang
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.tools.verilog.answer import (
    LONGEST,
    Answer,
    NoAnswer,
    blank_comments,
    broken_rules,
    normalise,
    read_answer,
)
from chatdev.tools.verilog.lint import lint, outside_names
from chatdev.tools.verilog.messages import word_list
from tests.tools.verilog.small import HEADER, RIGHT


def said(text: str, hidden: str = "") -> str:
    """All rules that a text breaks, as agents read them."""
    return "\n".join(message.text for message in broken_rules(text, hidden))


def body(text: str) -> str:
    """A module with this in it."""
    return f"{HEADER}{text}\nendmodule\n"


def test_the_answer_is_top_sv_or_the_first_verilog_file_at_top_level() -> None:
    software = {"adder.sv": b"a", "bench/tb.sv": b"b", "README.md": b"c", "top.v": b"d"}
    assert read_answer(software) == Answer("top.v", "d")
    assert read_answer({name: software[name] for name in ("adder.sv", "README.md")}).path == "adder.sv"


@pytest.mark.parametrize(("software", "why"), [
    ({}, "no Verilog file"),
    ({"bench/top.sv": b""}, "no Verilog file"),
    ({"top.sv": b"module TopModule;\n// caf\xe9\nendmodule"}, r"not UTF-8 text \(line 2\)"),
    ({"top.sv": b" " * (LONGEST + 1)}, "characters"),
])
def test_what_cannot_be_read_is_refused(software: dict[str, bytes], why: str) -> None:
    with pytest.raises(NoAnswer, match=why):
        read_answer(software)


def test_line_ends_and_marks_of_other_systems_do_not_matter() -> None:
    assert read_answer({"top.sv": "\ufeffa\r\nb\rc".encode()}).text == "a\nb\nc"
    assert normalise(Answer("", "a\0b")).text == "a b"


def test_a_right_answer_keeps_all_rules() -> None:
    assert said(RIGHT, "`SECRET") == ""
    assert outside_names(RIGHT) == []


@pytest.mark.parametrize(("text", "why"), [
    ("```verilog\n" + RIGHT + "```\n", "fence of Markdown"),
    ("module Top(input a); endmodule", "no module `TopModule` (it has Top)"),
    ("", "no module `TopModule`;"),
    (RIGHT.replace("endmodule", ""), "1 `module` without `endmodule`"),
    (RIGHT + "module tb; endmodule", "`tb` is a name of the test bench"),
    (RIGHT + "module automatic RefModule; endmodule", "`RefModule` is a name of the test bench"),
    (RIGHT + "primitive stimulus_gen(o, i); endprimitive", "`stimulus_gen` is a name"),
    ('`include "reference.sv"\n' + RIGHT, "No other file can be included"),
    (body('initial $display("Mismatches: 0 in 9 samples");'), "`$display` is not allowed"),
    (body("initial #5 $finish;"), "`$finish` is not allowed"),
    (body('integer f; initial f = $fopen("bench.sv");'), "`$fopen` is not allowed"),
    (body("assign q = $random;"), "`$random` is not allowed"),
    ("`define SAY(name) $name\n" + body('initial `SAY(display)("x");'), "`$name` is not allowed"),
    ("`define PLAY play\n" + body('initial $dis`PLAY("x");'), "`$dis` is not allowed"),
    ("`define SAY(a) $``a\n" + RIGHT, "Macros that paste"),
    (body("initial #1$finish;"), "`$finish` is not allowed"),
    (body("initial force a = 0;"), "`force` is not allowed"),
    (body("supply0 g; tran(a, g);"), "`tran` is not allowed"),
    (body("defparam u.N = 3;"), "`defparam` is not allowed"),
])
def test_each_rule_is_told_in_words(text: str, why: str) -> None:
    assert why in said(text)


@pytest.mark.parametrize("text", [
    body("// $display and force in a comment: `include"),
    body("/* tb.q_ref */ wire enforced; assign enforced = a; // module x"),
    body("wire [$clog2(8)-1:0] n = $signed({a, b}); // $unsigned is fine, too"),
    "`define WIDTH 4\n" + RIGHT,
    RIGHT + "/* endmodule */",
])
def test_what_only_looks_like_a_broken_rule_is_none(text: str) -> None:
    assert said(text, "`SECRET") == ""


def test_macros_of_the_bench_are_not_defined_anew() -> None:
    assert "`SECRET` is a macro of the test bench" in said("`define SECRET 0\n" + RIGHT, "if (x == `SECRET) y();")


def test_lines_are_named() -> None:
    assert [message.line for message in broken_rules(body("\n\ninitial force a = 0;"))] == [4]


def test_each_thing_is_told_once() -> None:
    assert said(body("initial begin $display(1); $display(2); end")).count("$display") == 1


@given(st.text(alphabet="ab/*\"\\\n$", max_size=30))
def test_comments_are_blanked_out_in_their_place(text: str) -> None:
    blank = blank_comments(text)
    assert [len(line) for line in blank.split("\n")] == [len(line) for line in text.split("\n")]


def test_what_hides_behind_an_escaped_name_or_a_string_is_code() -> None:
    assert "$finish" in blank_comments('wire \\a/* ; initial $finish; wire \\b*/ ;')
    assert "$finish" in blank_comments('x = "//"; $finish;')


@pytest.mark.parametrize(("text", "why"), [
    (body("assign q = tb.q_ref;"), "`tb` is not declared"),
    (body("RefModule r(.*);"), "`RefModule` is not declared"),
    (body("assign q = $root.tb.q_ref;"), "`tb` is not declared"),
    (body("`ifdef __ICARUS__\nassign q = tb.q_ref;\n`endif"), "`tb` is not declared"),
    (body("part p(a);\nassign q = p.inner;") + "module part(input i); wire inner = i; endmodule", "`p.inner` reaches"),
    (body("part p(a);") + "module part(input i); wire x = TopModule.b; endmodule", "`TopModule.b` reaches"),
    (RIGHT + "module other(input a); endmodule", "`TopModule` does not use the module other"),
])
def test_names_from_outside_are_told(text: str, why: str) -> None:
    assert why in "\n".join(message.text for message in outside_names(text))


@pytest.mark.parametrize("text", [
    body("part p(a, q);") + "module part(input i, output o); assign o = i; endmodule",
    body("genvar i; generate for (i = 0; i < 2; i = i + 1) begin: bits wire x; end endgenerate assign bits[0].x = a;"),
    body("assign q = later; wire later = a;"),
    body("assign q = " + "(" * 3000 + "a" + ")" * 3000 + ";"),
])
def test_an_answer_may_consist_of_parts(text: str) -> None:
    assert outside_names(text) == []


@pytest.mark.parametrize("process", ["always @(*)", "always @*", "always_comb"])
def test_lint_finds_latches_in_every_kind_of_process(process: str) -> None:
    text = "module TopModule(input a, en, output reg q);\n" + process + " if (en) q = a;\nendmodule\n"
    assert [(found.line, found.severity) for found in lint(text)] == [(2, "warning")]
    assert "latch inferred for 'q'" in lint(text)[0].text


def test_the_lists_name_diagnostics_that_the_parser_has() -> None:
    for which in ("strangers", "lint"):
        assert all(hasattr(pyslang.Diags, name) for name in word_list(which))
