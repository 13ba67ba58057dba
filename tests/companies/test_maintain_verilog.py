"""The company `maintain_verilog` on a small design: what a patch names changes, and a bench tells what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.workspace.file_tree import Software
from tests.support.chat_server import ChatServer
from tests.support.maintenance import chatdev, newest, script
from tests.support.repositories import commit, files_in, git

pytestmark = pytest.mark.tool

DESIGN = {
    "rtl/half.v": '`include "widths.vh"\n// half adder, écrit à la main\nmodule half(input [`W-1:0] a,'
                  " input [`W-1:0] b, output [`W-1:0] s, output [`W-1:0] c);\n  assign s = a ^ b;\n"
                  "  assign c = a | b;\nendmodule\n",
    "rtl/include/widths.vh": "`define W 1\n",
    "rtl/full.v": "`default_nettype none\nmodule full(input wire a, input wire b, input wire ci, output wire s, "
                  "output wire co);\n  wire x, y, z;\n  half h1(a, b, x, y);\n  half h2(x, ci, s, z);\n"
                  "  assign co = y | z;\nendmodule\n",
    "sim/old_tb.v": "module old_tb;\n  full dut(1'b1, 1'b1, 1'b1, , );\nendmodule\n",
    "README.md": "A full adder.\n",
}
BENCH = """module tb;
  reg a, b, ci; wire s, co; integer i;
  full dut(a, b, ci, s, co);
  initial begin
    for (i = 0; i < 8; i = i + 1) begin
      {a, b, ci} = i;
      #1 if ({co, s} !== a + b + ci) $display("FAIL: %b%b for %b%b%b", co, s, a, b, ci);
      else $display("PASS: a is %b, b is %b", a, b);
    end
    $finish;
  end
endmodule
"""
REQUEST = "The carry of two ones has to be one, and of any other bits zero."
BLOCKS = ("rtl/half.v\n```verilog\n<<<<<<< SEARCH\n  assign c = {old};\n=======\n  assign c = {new};\n"
          ">>>>>>> REPLACE\n```")
RIGHT = BLOCKS.format(old="a | b", new="a & b")
DIFF = ("```diff\n--- a/rtl/half.v\n+++ b/rtl/half.v\n@@ -4,3 +4,3 @@\n   assign s = a ^ b;\n-  assign c = a | b;\n"
        "+  assign c = a & b;\n endmodule\n```")
MODULES = ("rtl/carry.v\n```verilog\nmodule carry(input a, input b, output c);\n  assign c = a & b;\nendmodule\n```\n\n"
           + BLOCKS.format(old="a | b", new="a & b").replace("  assign c = a & b;", "  carry made(a, b, c);"))


def changed(server: ChatServer, folder: Path, replies: Mapping[str, str], *words: str,
            design: Mapping[str, str] = DESIGN, bench: str | None = BENCH) -> tuple[int, str]:
    script(server, replies)
    mine = commit(design, folder / "mine")
    if bench:
        (folder / "tb.v").write_text(bench)
        words = (*words, "--input", f"bench=@{folder / 'tb.v'}")
    status, printed = chatdev(server, folder, "run", REQUEST, "--path", str(mine), "--company", "maintain_verilog",
                              *words)
    assert files_in(mine) == {name: text.encode() for name, text in design.items()}
    return status, printed


@pytest.mark.parametrize(("reply", "new"), [(RIGHT, []), (DIFF, []), (MODULES, ["rtl/carry.v"])],
                         ids=["blocks", "diff", "a new module"])
def test_only_what_the_patch_names_changes(chat_server: ChatServer, tmp_path: Path, reply: str, new: list[str]) -> None:
    status, printed = changed(chat_server, tmp_path, {"change": reply})
    assert status == 0, printed
    run = newest(tmp_path)
    made = Software.load(run / "software")
    assert [name for name in made if made.text(name) != DESIGN.get(name)] == [*new, "rtl/half.v"]
    assert made.text("rtl/half.v").splitlines()[:4] == DESIGN["rtl/half.v"].splitlines()[:4]
    assert f"{1 + len(new)} file{'s' * len(new)} changed" in (run / "run" / "report.md").read_text(encoding="utf-8")
    git(tmp_path / "mine", "apply", given=(run / "run" / "change.patch").read_bytes())
    assert files_in(tmp_path / "mine") == dict(made)
    assert len(chat_server.requests) == 1


def test_a_patch_that_fits_nowhere_is_answered_with_the_place(chat_server: ChatServer, tmp_path: Path) -> None:
    wrong = BLOCKS.format(old="a + b", new="a & b")
    status, printed = changed(chat_server, tmp_path, {"change#1/round-1/assistant": wrong, "change": RIGHT})
    said = str(chat_server.requests[1].body["messages"][-1]["content"])
    assert "rtl/half.v" in said
    assert "assign c = a + b;" in said
    assert status in (0, 1), printed


def test_a_wrong_change_is_traced_and_mended_where_it_stands(chat_server: ChatServer, tmp_path: Path) -> None:
    status, printed = changed(chat_server, tmp_path, {
        "change": BLOCKS.format(old="a | b", new="a & bb"),
        "debugging#1/round-1/assistant": BLOCKS.format(old="a & bb", new="a ^ b"),
        "debugging#1/round-2/assistant": '```json\n{"tool": "verilog.trace", "arguments": {"outputs": ["co"]}}\n```',
        "debugging": BLOCKS.format(old="a ^ b", new="a & b")})
    assert status == 0, printed
    said = [str(request.body["messages"][-1]["content"]) for request in chat_server.requests]
    assert "rtl/half.v:5: Unable to bind wire/reg/memory `bb'" in said[1]
    assert any("rtl/half.v:5 |   assign c = a ^ b;" in one for one in said), said


@pytest.mark.parametrize(("design", "bench", "reply", "why"), [
    (DESIGN, None, RIGHT, "not functionally verified"),
    ({**DESIGN, "rtl/half.v": DESIGN["rtl/half.v"].replace("a | b", "b & a")}, BENCH,
     BLOCKS.format(old="b & a", new="a & b"), "passed before the change, too"),
], ids=["no bench", "a bench that tells nothing"])
def test_what_nothing_shows_is_not_judged(chat_server: ChatServer, tmp_path: Path, design: dict[str, str],
                                          bench: str | None, reply: str, why: str) -> None:
    status, printed = changed(chat_server, tmp_path, {"change": reply}, design=design, bench=bench)
    assert status == 4, printed
    assert why in printed


@pytest.mark.parametrize(("other", "words", "why"), [
    ({"rtl/other.v": "module half(input a);\nendmodule\n"}, [], "declared twice, in rtl/half.v and rtl/other.v"),
    ({}, ["--input", "top=adder"], "no module `adder` (it has full, half, old_tb)"),
    ({"rtl/full.v": DESIGN["rtl/full.v"].replace("assign", "initial $system;\n  assign")}, [],
     "rtl/full.v:6: `$system` is not allowed"),
])
def test_a_design_that_cannot_be_judged_costs_no_call(chat_server: ChatServer, tmp_path: Path,
                                                      other: dict[str, str], words: list[str], why: str) -> None:
    _, printed = changed(chat_server, tmp_path, {"change": RIGHT}, *words, design={**DESIGN, **other})
    assert why in printed
    assert chat_server.requests == []


def test_a_design_may_end_the_simulation_as_it_was_written(chat_server: ChatServer, tmp_path: Path) -> None:
    ending = DESIGN["rtl/full.v"].replace("assign", "initial if (x === 1'bz) $finish;\n  assign")
    status, printed = changed(chat_server, tmp_path, {"change": RIGHT}, design={**DESIGN, "rtl/full.v": ending})
    assert status == 0, printed


def test_of_two_files_the_given_one_counts(chat_server: ChatServer, tmp_path: Path) -> None:
    (tmp_path / "half.v").write_text("module half(input a, input b, output s, output c);\n  assign {c, s} = a + b;\n"
                                     "endmodule\n")
    two = {**DESIGN, "rtl/other.v": "module half(input a);\nendmodule\n",
           "rtl/full.v": DESIGN["rtl/full.v"].replace("y | z", "y & z")}
    blocks = BLOCKS.replace("rtl/half.v", "rtl/full.v").replace("assign c", "assign co")
    change = blocks.format(old="y & z", new="y | z")
    status, printed = changed(chat_server, tmp_path, {"change": change}, "--input", f"given={tmp_path / 'half.v'}",
                              design=two)
    assert status == 0, printed


def test_several_tops_are_named(chat_server: ChatServer, tmp_path: Path) -> None:
    two = {**DESIGN, "rtl/spare.v": "module spare(input a, output b);\n  assign b = a;\nendmodule\n"}
    _, printed = changed(chat_server, tmp_path, {"change": RIGHT}, design=two, bench=None)
    assert "Several modules are made by no other (full, spare)" in printed
    assert "--input top=NAME" in printed


@pytest.mark.parametrize(("line", "why"), [
    ("initial $finish;", "rtl/half.v:6: `$finish` is not allowed"),
    ("wire t = tb.co;", "Unable to bind wire/reg/memory `tb.co"),
    ('initial $display("PASS: all");', "The test bench fails"),
])
def test_what_a_change_adds_keeps_the_rules(chat_server: ChatServer, tmp_path: Path, line: str, why: str) -> None:
    change = BLOCKS.format(old="a | b", new=f"a | b;\n  {line[:-1]}")
    status, _ = changed(chat_server, tmp_path, {"change": change})
    assert status == 1
    assert why in str(chat_server.requests[1].body["messages"])
