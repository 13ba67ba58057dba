"""The rules of an answer: which file it is, and what may not be in it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pyslang
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.answer import (
    LONGEST,
    Answer,
    NoAnswer,
    broken_rules,
    lint,
    normalise,
    outside_names,
    read_answer,
)
from chatdev.departments.verilog.compilation import word_list
from chatdev.departments.verilog.macros import expand_macros
from chatdev.departments.verilog.target import blank_comments, drop_comments
from chatdev.sandbox.kinds import find_sandbox
from tests.departments.verilog.small import HEADER, RIGHT

pytestmark = pytest.mark.tool


def said(text: str, *taken: str, may_print: bool = False) -> str:
    """All rules that a text breaks, as agents read them."""
    with TemporaryDirectory() as folder:
        text = normalise(Answer("top.sv", text)).text
        expanded = expand_macros(text, find_sandbox(), Path(folder) / "macros")
    return "\n".join(message.text for message in broken_rules(text, expanded or text, taken, may_print))


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
    assert said(RIGHT) == ""
    assert outside_names(RIGHT) == []


@pytest.mark.parametrize(("text", "why"), [
    ("```verilog\n" + RIGHT + "```\n", "fence of Markdown"),
    ("module Top(input a); endmodule", "no module `TopModule` (it has Top)"),
    ("", "no module `TopModule`;"),
    (RIGHT.replace("endmodule", ""), "1 `module` without `endmodule`"),
    (RIGHT + "module tb; endmodule", "`tb` is a name of the test bench"),
    (RIGHT + "module automatic RefModule; endmodule", "`RefModule` is a name of the test bench"),
    (RIGHT + "primitive stimulus_gen(o, i); endprimitive", "`stimulus_gen` is a name"),
    ('`include "reference.sv"\n' + RIGHT, "`reference.sv` is none of the given headers; no other file can be included"),
    (body('initial $display("Mismatches: 0 in 9 samples");'), "`$display` is not allowed"),
    (body("initial #5 $finish;"), "`$finish` is not allowed"),
    (body('integer f; initial f = $fopen("bench.sv");'), "`$fopen` is not allowed"),
    (body("assign q = $random;"), "`$random` is not allowed"),
    ("`define SAY(name) $name\n" + body('initial `SAY(display)("x");'), "`$name` is not allowed"),
    ("`define PLAY play\n" + body('initial $dis`PLAY("x");'), "`$display` is not allowed"),
    ("`define SAY(a) $``a\n" + body("initial `SAY(finish);"), "`$finish` is not allowed"),
    ("`define CE ce\n" + body("initial for`CE a = 0;"), "`force` is not allowed"),
    (body("initial $display(`NOWHERE);"), "`$display` is not allowed"),
    ("`begin_keywords \"1364-1995\"\n" + RIGHT, "neither a macro of the file nor"),
    (body("wire \\a\u00a0; initial force a = 0;"), "not plain ASCII"),
    (body("assign q = 8'h\u0661;"), "not plain ASCII"),
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
    "`define SECRET 0\n`define NAME(x) sig_``x\n" + body("wire `NAME(1) = `SECRET;"),
    body("`ifdef DEBUG\ninitial $display(\"here\");\n`endif"),
    body("wire \\a\x1c/* ; initial force a = 0; // for the simulator a comment, too */;"),
    body("// caf\u00e9 \u2192 \x0b"),
    body("always @* assert (a | ~a);"),
    RIGHT + "module spare(input i); endmodule",
    RIGHT + "/* endmodule */",
])
def test_what_only_looks_like_a_broken_rule_is_none(text: str) -> None:
    assert said(text) == ""


def test_a_print_is_let_be_where_it_cannot_be_taken_for_one_of_the_bench() -> None:
    text = body('always @* assert (a) else $error("a is 0"); initial $display("built");')
    assert said(text, may_print=True) == ""
    assert "`$display` is not allowed" in said(text)


def test_names_of_the_bench_are_not_declared_anew() -> None:
    assert "`driver` is a name of the test bench" in said(RIGHT + "module driver; endmodule", "driver")


def test_lines_are_named() -> None:
    text = body("\n\ninitial force a = 0;")
    assert [message.line for message in broken_rules(text, text)] == [4]
    assert [message.line for message in broken_rules(text, "\n" + text)] == [0]


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
    (body("parameter N = 4; generate if (N == 8) assign q = tb.q_ref; endgenerate"), "`tb` is not declared"),
    (body("parameter N = 4; if (N == 8) begin: g part p(a); assign q = p.inner; end")
     + "module part(input i); wire inner = i; endmodule", "`p.inner` reaches"),
    (body("parameter N = 4; if (N == 8) assign q = peek(1);"), "`peek` is not declared"),
    (body("parameter N = 4; if (N == 8) initial disable stim;"), "`stim` is not declared"),
    (body("assign #1 q = a;"), "`#1` waits"),
    (body("initial begin q = 0; #5 q = 1; end"), "`#5` waits"),
    (body("initial begin @(posedge clk); q = 1; end"), "`@(posedge clk)` waits"),
    (body("reg r; always @* r <= #1 a;"), "`#1` waits"),
    (body("initial $fatal;"), "`$fatal`"),
    (body("initial wait (a) q = 1;"), "waits"),
    (body("and #2 g(q, a, b);"), "`#2` waits"),
    (body("specify (a => q) = 5; endspecify"), "waits"),
    ("logic q_ref;\n" + RIGHT, "`q_ref` is declared outside of the modules"),
    (body("assign q = a b;"), "does not understand line 2"),
])
def test_names_from_outside_are_told(text: str, why: str) -> None:
    assert why in "\n".join(message.text for message in outside_names(text))


@pytest.mark.parametrize("text", [
    body("part p(a, q);") + "module part(input i, output o); assign o = i; endmodule",
    body("genvar i; generate for (i = 0; i < 2; i = i + 1) begin: bits wire x; end endgenerate assign bits[0].x = a;"),
    body("assign q = later; wire later = a;"),
    body("typedef struct packed {logic x; logic y;} pair; pair p; assign p.x = a; assign q = p.y;"),
    body("function automatic f(input i); f = ~i; endfunction assign q = f(a);"),
    body("reg r; always begin @(posedge clk); r = a; end initial r = 0;"),
    RIGHT + "module other(input a); endmodule",
    body("assign q = " + "(" * 3000 + "a" + ")" * 3000 + ";"),
])
def test_an_answer_may_consist_of_parts(text: str) -> None:
    assert outside_names(text) == []


@pytest.mark.parametrize("process", ["always @(*)", "always @*", "always_comb", "always @(a, en)"])
def test_lint_finds_latches_in_every_kind_of_process(process: str) -> None:
    text = f"module TopModule(input a, en, output reg q);\n{process} if (en) q = 1; else if (a) q = 0;\nendmodule\n"
    assert [(found.line, found.severity) for found in lint(text)] == [(2, "warning")]
    assert "latch is inferred for `q`" in lint(text)[0].text


def test_the_lists_name_diagnostics_that_the_parser_has() -> None:
    for which in ("strangers", "lint"):
        assert all(hasattr(pyslang.Diags, name) for name in word_list(which))


def test_strings_stay_where_only_comments_are_dropped() -> None:
    text = 'x = "/* a */ // b"; /* c\n */ \\a//b y // z\n'
    assert drop_comments(text) == 'x = "/* a */ // b";     \n    \\a//b y     \n'
