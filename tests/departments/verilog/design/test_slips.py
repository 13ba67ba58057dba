"""Slips of the pen in a module: mended where the parser then finds fewer errors, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.verilog.design.slips import mend_text
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, registry

HEAD = "module TopModule(input a, input b, output reg f);\n"
WIRE = "module TopModule(input a, input b, output f);\n"
BLOCK = HEAD + "always @(*) begin\n"


@pytest.mark.parametrize(("text", "mended"), [
    (WIRE + "f = a & b;\nendmodule\n", WIRE + "assign f = a & b;\nendmodule\n"),
    (WIRE + "wire [1:0] w;\nw[0] = a;\n{w[1], f} = {a, b};\nendmodule\n",
     WIRE + "wire [1:0] w;\nassign w[0] = a;\nassign {w[1], f} = {a, b};\nendmodule\n"),
    (BLOCK + "case (a, b)\n2'b00: f = 1;\ndefault: f = 0;\nendcase\nend\nendmodule\n",
     BLOCK + "case ({a, b})\n2'b00: f = 1;\ndefault: f = 0;\nendcase\nend\nendmodule\n"),
    (BLOCK + "case (a)\n1: f = 1;\ndefault: f = 0;\nend\nend\nendmodule\n",
     BLOCK + "case (a)\n1: f = 1;\ndefault: f = 0;\nendcase\nend\nendmodule\n"),
    (WIRE + "always @(*) f = a;\nendmodule\n",
     WIRE.replace("output", "output logic") + "always @(*) f = a;\nendmodule\n"),
    ("module TopModule(input a, output wire [1:0] f);\nalways @(*) f[0] = a;\nendmodule\n",
     "module TopModule(input a, output logic [1:0] f);\nalways @(*) f[0] = a;\nendmodule\n"),
    ("module TopModule(a, f);\ninput a;\noutput f;\nalways @(*) f = a;\nendmodule\n",
     "module TopModule(a, f);\ninput a;\noutput logic f;\nalways @(*) f = a;\nendmodule\n"),
    ("module TopModule;\ninput a, b; // two\noutput [1:0] f;\nassign f = {a, b};\nendmodule\n",
     "module TopModule(a, b, f);\ninput a, b; // two\noutput [1:0] f;\nassign f = {a, b};\nendmodule\n"),
    (WIRE + "assign f = a == 0b1;\nendmodule\n", WIRE + "assign f = a == 1'b1;\nendmodule\n"),
    (WIRE + "assign f = a == 0xF0;\nendmodule\n", WIRE + "assign f = a == 8'hF0;\nendmodule\n"),
    (WIRE + "assign f = a & b\nendmodule\n", WIRE + "assign f = a & b;\nendmodule\n"),
    (BLOCK + "if (a) f = 1; elif (b) f = 0; else f = 1;\nend\nendmodule\n",
     BLOCK + "if (a) f = 1; else if (b) f = 0; else f = 1;\nend\nendmodule\n"),
    (f"{HEAD}wire w;\nalways @(*) begin\nf = a;\nassign w = f;\nalways @(*) begin\nend\nendmodule\n",
     f"{HEAD}wire w;\nalways @(*) begin\nf = a;\nend\nassign w = f;\nalways @(*) begin\nend\nendmodule\n"),
    (HEAD + "always @(*)\nif (a) f = 1;\nelif (b) f = 0;\nendmodule\n",
     HEAD + "always @(*)\nif (a) f = 1;\nelse if (b) f = 0;\nendmodule\n"),
    (f"{WIRE}output reg f;\nalways @(*) f = a;\nendmodule\n",
     WIRE.replace("output", "output logic") + "\nalways @(*) f = a;\nendmodule\n"),
    ("module TopModule(\ninput a;\noutput f\n);\nassign f = a;\nendmodule\n",
     "module TopModule(\ninput a,\noutput f\n);\nassign f = a;\nendmodule\n"),
    ("Here it is:\n" + WIRE + "assign f = a;\nendmodule\nIt's done.\n", WIRE + "assign f = a;\nendmodule\n"),
    (WIRE + "assign f = a;\nendmodule;\n", WIRE + "assign f = a;\nendmodule\n"),
    ("module TopModule(\ninput a,\noutput f,\n);\nassign f = a;\nendmodule\n",
     "module TopModule(\ninput a,\noutput f\n);\nassign f = a;\nendmodule\n"),
    ("`" + WIRE + "assign f = a;\nendmodule\n", WIRE + "assign f = a;\nendmodule\n"),
    (WIRE + "typedef enum logic {A, B} kind; kind k; logic n;\nalways @(*) begin\nn = b;\nk = n;\nend\n"
     "assign f = k == A;\nendmodule\n",
     WIRE + "typedef enum logic {A, B} kind; kind k; logic n;\nalways @(*) begin\nn = b;\nk = kind'(n);\nend\n"
     "assign f = k == A;\nendmodule\n")])
def test_a_slip_is_mended(text: str, mended: str) -> None:
    found = mend_text(text)
    assert found.text == mended
    assert found.slips


@pytest.mark.parametrize("text", [
    BLOCK + "f = a;\nendmodule\n", WIRE + "assign f = a & b;\n",
    "module m;\nendmodule\n" + WIRE + "assign f = a;\n", BLOCK + "f = a;\nend\nend\nendmodule\n"])
def test_what_ends_a_block_is_added_or_left_out(text: str) -> None:
    mended = mend_text(text)
    assert mended.slips
    assert "TopModule" in mended.text
    assert mend_text(mended.text).slips == ()


@pytest.mark.parametrize("text", [
    WIRE + "assign f = a & b; // größer\nendmodule\n", WIRE + "assign f = c;\nendmodule\n",
    WIRE + "assign f = a and b or;\nendmodule\n", "", "There is no module.", "module"])
def test_what_is_right_or_means_nothing_stays(text: str) -> None:
    found = mend_text(text)
    assert found.text == text or found.slips


def test_umlauts_in_a_comment_move_nothing() -> None:
    assert mend_text(f"// größer als ß\n{WIRE}f = a;\nendmodule\n").text.endswith("\nassign f = a;\nendmodule\n")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([
    "module TopModule(input a, output f);\n", "endmodule\n", "f = a;\n", "assign ", "always @(*) begin ", "end ",
    "case (a, f) ", "endcase ", "`", "0b1", "output ", ";", "(", ")", "é", "elif ", "wire f", "\n"]), max_size=25).map(
        "".join))
def test_no_text_makes_it_fail(text: str) -> None:
    found = mend_text(text)
    assert bool(found.slips) == (found.text != text)


@pytest.mark.tool
def test_the_tool_mends_what_does_not_compile_and_nothing_else(tmp_path: Path) -> None:
    def mend(text: str) -> dict[str, object]:
        context = ToolContext({"top.sv": text.encode()}, {}, {}, find_sandbox(), tmp_path, tmp_path, {})
        found: dict[str, object] = registry()["verilog.mend"].call(context, {})
        return found

    wrong = f"{WIRE}f = a;\nf = b\nendmodule\n"
    assert mend(wrong)["files"] == {"top.sv": f"{WIRE}assign f = a;\nassign f = b;\nendmodule\n"}
    assert "top.sv:2: outside of `always` an assignment begins with `assign`" in str(mend(wrong)["report"])
    assert mend(f"{WIRE}assign f = a;\nendmodule\n") == {"files": {}, "report": ""}
    assert mend(f"{WIRE}assign f = c;\nendmodule\n") == {"files": {}, "report": ""}
    assert mend("") == {"files": {}, "report": ""}
