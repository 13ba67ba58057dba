"""Which files of the software are judged: modules in several files, and a design that was handed in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.verilog.answer import NoAnswer
from chatdev.departments.verilog.submission import Submission, read_submission
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry
from tests.departments.verilog.small import BENCH, HEADER, REFERENCE, RIGHT

pytestmark = pytest.mark.tool

GATE = "module gate(input a, input b, output y);\n  assign y = a ^ b;\nendmodule\n"
KEPT = "module kept(input clk, input a, output reg q);\n  always @(posedge clk) q <= a;\nendmodule\n"
TOP = HEADER + "  kept first(clk, a, q);\n  gate second(a, b, w);\nendmodule\n"
FILES = {"top.sv": TOP, "gate.sv": GATE, "parts/kept.v": KEPT}


def context_of(folder: Path, software: Mapping[str, str], handed_in: Mapping[str, str], **inputs: Any) -> ToolContext:
    def encode(files: Mapping[str, str]) -> dict[str, bytes]:
        return {path: text.encode() for path, text in files.items()}

    given = {"task": "", "bench": BENCH, "reference": REFERENCE, **inputs}
    return ToolContext(encode(software), {}, {name: value for name, value in given.items() if value}, find_sandbox(),
                       folder, folder, given=encode(handed_in))


def use(tool: str, folder: Path, software: Mapping[str, str], **inputs: Any) -> Verdict:
    found = registry()[f"verilog.{tool}"].call(context_of(folder, software, {}, **inputs), {})
    assert isinstance(found, Verdict)
    return found


def read(software: Mapping[str, str], handed_in: Mapping[str, str] | None = None, **inputs: Any) -> Submission:
    inputs = {"bench": None, "reference": None, **inputs}
    return read_submission(context_of(Path(), software, software if handed_in is None else handed_in, **inputs))


@pytest.mark.parametrize("software", [
    {"top.sv": GATE + TOP + KEPT}, FILES, {**FILES, "spare.sv": GATE.replace("gate", "spare") + "module broken(;\n"},
    {**FILES, "bench/tb.sv": BENCH},
], ids=["in one file", "in several files", "beside one that nothing needs", "beside a bench"])
def test_modules_are_judged_as_one(tmp_path: Path, software: dict[str, str]) -> None:
    assert use("check", tmp_path, software).passed
    verdict = use("judge", tmp_path, software)
    assert verdict.passed, verdict.report
    assert verdict.evidence["samples"] > 0


@pytest.mark.parametrize(("path", "old", "new", "says"), [
    ("gate.sv", "a ^ b", "a | b", "mismatches"),
    ("gate.sv", "a ^ b", "a ^ c", "gate.sv:2: Unable to bind wire/reg/memory `c'"),
    ("parts/kept.v", "posedge", "negedge", "mismatches"),
    ("parts/kept.v", "q <= a", "$finish", "parts/kept.v:2: `$finish` is not allowed"),
    ("parts/kept.v", "endmodule", "endmodule\nmodule kept(input b);\nendmodule",
     "parts/kept.v:4: `kept` is declared twice, in parts/kept.v:1 and parts/kept.v:4."),
    ("parts/kept.v", "endmodule", "endmodule\nmodule gate(input b);\nendmodule",
     "`gate` is declared twice, in gate.sv and parts/kept.v."),
    ("gate.sv", "module gate", "module tb", "is a name of the test bench"),
    ("top.sv", "gate second", "gates second", "Unknown module type: gates"),
    ("top.sv", "(clk, a, q)", "(clk, a, q_inner)", "mismatches"),
])
def test_a_mistake_in_any_file_is_told_at_its_place(tmp_path: Path, path: str, old: str, new: str, says: str) -> None:
    software = {**FILES, path: FILES[path].replace(old, new)}
    if path == "gate.sv" and new.startswith("module"):
        software["top.sv"] = TOP.replace("gate second", "tb second")
    verdict = use("judge", tmp_path, software)
    assert not verdict.passed
    assert says in f"{verdict.report}{verdict.evidence['outcome']}"


def test_a_trace_names_the_lines_of_each_file(tmp_path: Path) -> None:
    report = use("trace", tmp_path, {**FILES, "gate.sv": GATE.replace("a ^ b", "a | b")}).report
    assert "gate.sv:2 |   assign y = a | b;" in report
    assert "top.sv:3 |   gate second(a, b, w);" in report


def test_warnings_name_the_file(tmp_path: Path) -> None:
    report = use("check", tmp_path, {**FILES, "parts/kept.v": KEPT.replace("<= a", "<= {a, a}")}).report
    assert "Warnings" in report
    assert "parts/kept.v:2: " in report


DESIGN = {
    "rtl/top.sv": "module chip import sizes::*; (input logic [W-1:0] a, output logic [W-1:0] q);\n  inner i(.a, .q);\n"
                  "endmodule\n",
    "rtl/inner.v": '`include "consts.vh"\nmodule inner(input [3:0] a, output [3:0] q);\n  reg [3:0] m [0:1];\n'
                   '  initial $readmemh("init.mem", m);\n  assign q = a + `STEP + `LATER + m[0];\nendmodule\n',
    "rtl/consts.vh": "`define STEP 4'd1\n", "old/consts.vh": "`define STEP 4'd7\n",
    "rtl/later.v": "`define LATER 4'd2\n", "rtl/sizes.sv": "package sizes;\n  localparam W = 4;\nendpackage\n",
    "data/init.mem": "0\n1\n", "sim/tb.v": "module tb;\n  chip c();\nendmodule\n",
    "lib/unused.v": "module unused(input a);\n  chip_x x(a);\nendmodule\n",
}


@pytest.mark.parametrize(("changed", "answer", "given"), [
    ((), ["rtl/top.sv"], {"rtl/inner.v", "rtl/later.v", "rtl/sizes.sv", "consts.vh", "init.mem"}),
    (("rtl/inner.v",), ["rtl/inner.v", "rtl/top.sv"], {"rtl/later.v", "rtl/sizes.sv", "consts.vh", "init.mem"}),
    (("rtl/consts.vh",), ["rtl/inner.v", "rtl/top.sv"], {"rtl/later.v", "rtl/sizes.sv", "consts.vh", "init.mem"}),
    (("rtl/later.v",), ["rtl/later.v", "rtl/inner.v", "rtl/top.sv"], {"rtl/sizes.sv", "consts.vh", "init.mem"}),
    (("rtl/sizes.sv",), ["rtl/sizes.sv", "rtl/top.sv"], {"rtl/inner.v", "rtl/later.v", "consts.vh", "init.mem"}),
    (("sim/tb.v", "lib/unused.v"), ["rtl/top.sv"],
     {"rtl/inner.v", "rtl/later.v", "rtl/sizes.sv", "consts.vh", "init.mem"}),
])
def test_what_stayed_as_it_was_comes_with_the_answer(tmp_path: Path, changed: tuple[str, ...], answer: list[str],
                                                     given: set[str]) -> None:
    software = {path: text + "// changed\n" * (path in changed) for path, text in DESIGN.items()}
    found = read(software, DESIGN, top="chip")
    assert sorted(found.answer.path.split(", ")) == sorted(answer)
    assert {path for path, _ in found.target.given} == given
    assert dict(found.target.given)["consts.vh"].startswith("`define STEP 4'd1")
    context = context_of(tmp_path, software, DESIGN, bench=None, reference=None, top="chip")
    verdict = registry()["verilog.check"].call(context, {})
    assert verdict.passed, verdict.report


@pytest.mark.parametrize(("files", "inputs", "top"), [
    (DESIGN | {"lib/unused.v": ""}, {}, "chip"),
    (DESIGN, {"top": "unused"}, "unused"),
    (DESIGN, {"bench": "module t; wire q; unused u(q); endmodule"}, "unused"),
    (DESIGN, {}, "Several modules are made by no other (chip, unused)"),
    (DESIGN, {"top": "chips"}, "no module `chips` (it has chip, inner, tb, unused)"),
    ({"a.v": "module a(input x); b i(x); endmodule", "b.v": "module b(input x); a i(x); endmodule"}, {}, "no module"),
    (DESIGN | {"old/inner.v": DESIGN["rtl/inner.v"]}, {"top": "chip"}, "`inner` is declared twice, in old/inner.v and"),
])
def test_the_top_is_said_or_found(files: dict[str, str], inputs: dict[str, Any], top: str) -> None:
    try:
        found = read(files, **inputs).target.top
    except NoAnswer as error:
        found = str(error)
    assert top in found


def test_a_bench_that_lies_in_the_folder_is_no_part_of_the_design() -> None:
    bench = "module tb;\n  wire [3:0] q;\n  chip c(4'd1, q);\nendmodule\n"
    found = read({**DESIGN, "sim/tb.v": bench, "sim/more.v": bench + "// copy\n"}, bench=bench)
    assert found.target.top == "chip"
    assert not {path for path, _ in found.target.given if path.startswith("sim/")}


def test_the_plain_answer_is_read_as_ever(tmp_path: Path) -> None:
    assert read({"top.sv": RIGHT}, {}).answer.text == RIGHT
    assert read({"top.sv": RIGHT, "notes.md": ""}, {}).answer.pieces == ()
