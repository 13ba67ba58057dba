"""A reference stands beside the answer and beside a copy of itself, whatever it declares outside of its module."""

from __future__ import annotations

import pytest

from chatdev.departments.verilog.bench import names_beside, rename, undefine_macros
from tests.departments.verilog.small import BENCH, REFERENCE, RIGHT, Desk

BODY = REFERENCE.replace("  assign w = a ^ b;\n", "  assign w = WORD;\n")
REFERENCES = {
    "a package": "package p; function automatic x(input a, b); x = a ^ b; endfunction endpackage\n"
                 + BODY.replace("WORD", "p::x(a, b)"),
    "a package in the head": "package p; localparam X = 1; endpackage\n"
                             + BODY.replace("RefModule(", "RefModule import p::*; (").replace("WORD", "a ^ b ^ ~X"),
    "a primitive": "primitive odd(o, x, y); output o; input x, y; table 0 0:0; 0 1:1; 1 0:1; 1 1:0; endtable "
                   "endprimitive\n" + BODY.replace("WORD", "z;\n  wire z;\n  odd(z, a, b)"),
    "a type": "typedef enum logic {NO, YES} t;\n" + BODY.replace("WORD", "(a ^ b) == YES"),
    "a structure": "typedef struct packed {logic x; logic y;} t;\n"
                   + BODY.replace("WORD", "y.x ^ y.y;\n  t y;\n  assign y = {a, b}"),
    "a constant": "localparam int N = 1, M = 2;\n" + BODY.replace("WORD", "a ^ (b & N[0] & ~M[0])"),
    "a constant that a helper has as a parameter":
        "localparam N = 2;\nmodule h #(parameter N = 1)(input a, b, output c); assign c = a ^ (b & N[0]); endmodule\n"
        + BODY.replace("assign w = WORD", "h #(.N(N + 1)) inner(a, b, w)"),
    "a function": "function automatic x(input a, b); x = a ^ b; endfunction\n" + BODY.replace("WORD", "x(a, b)"),
    "a helper named as a port": "module w(input a, b, output c); assign c = a ^ b; endmodule\n"
                                + BODY.replace("assign w = WORD", "w inner(a, b, w)"),
    "a guard": "`ifndef GUARD\n`define GUARD\n" + REFERENCE + "`endif\n",
    "a macro": "`define X(a, b) a ^ b\n" + BODY.replace("WORD", "`X(a, b)"),
}


@pytest.mark.tool
@pytest.mark.parametrize("has", REFERENCES)
def test_a_reference_may_have_anything_beside_its_module(desk: Desk, has: str) -> None:
    reference = REFERENCES[has]
    for answer in (RIGHT, reference.replace("RefModule", "TopModule")):
        verdict = desk.use("judge", answer, BENCH, reference)
        assert (verdict.passed, verdict.judged) == (True, True), verdict.report
    wrong = desk.use("judge", RIGHT.replace("a ^ b", "a & b"), BENCH, reference)
    assert (wrong.passed, wrong.judged) == (False, True)


@pytest.mark.tool
def test_a_clash_is_no_fault_of_a_bench_whose_reference_has_a_package(desk: Desk) -> None:
    joined = RIGHT.replace("input a,", "inout a,").replace("  assign w", "  assign (supply1, supply0) a = 1; assign w")
    verdict = desk.use("judge", joined, BENCH, REFERENCES["a package"])
    assert (verdict.passed, verdict.judged) == (False, True)


def test_names_beside_a_module_are_found_and_those_within_are_not() -> None:
    text = ("typedef enum logic [1:0] {A, B = 2} t;\ntypedef struct packed {logic f; t g;} s_t;\nlocparam\n"
            "localparam int N = 1, M = N + 1;\nfunction automatic [3:0] f(input [3:0] x);\n  localparam L = 1;\n"
            "endfunction\nmodule m; localparam K = 1; endmodule\npackage p; typedef int i; endpackage\n// module c;\n")
    assert names_beside(text) == {"t", "A", "B", "s_t", "N", "M", "f", "m", "p"}


def test_a_port_that_has_the_name_of_a_module_keeps_it() -> None:
    text = "module max(input a, output max);\nendmodule : max\nmodule m(output max);\n"
    text += "  max #(2) max_1(.a(max), .max(max));\n"
    assert rename(text, ["max"], "_x") == (
        "module max_x(input a, output max);\nendmodule : max_x\nmodule m(output max);\n"
        "  max_x #(2) max_1(.a(max), .max(max));\n")


def test_macros_are_taken_back() -> None:
    assert undefine_macros("`define A 1\n`define B(x) x\n// `define C\n`define A 2\n") == "\n`undef A\n`undef B"
