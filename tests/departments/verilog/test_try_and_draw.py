"""`verilog.try` and `verilog.draw`: a bench of the company's own, and pictures of the given one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry
from tests.departments.verilog.small import BENCH, REFERENCE, RIGHT

pytestmark = pytest.mark.tool

OWN = """module tb;
  reg clk = 0, a = 0, b = 1;
  wire q, w;
  TopModule dut(.*);
  initial begin
    #1 if (w === 1) $display("PASS a xor b"); else $display("FAIL a xor b: w is %b", w);
    #1 clk = 1; #1 if (q === 0) $display("  PASS q"); else $display("FAIL q is %b", q);
    $finish;
  end
endmodule
"""


def used(name: str, folder: Path, answer: str, own: str | None = None, **inputs: Any) -> Any:
    software = {"top.sv": answer.encode()} | ({"bench/tb.sv": own.encode()} if own is not None else {})
    for place in ("run", "scratch"):
        (folder / place).mkdir()
    context = ToolContext(software, {}, {"bench": None, "reference": None, **inputs}, find_sandbox(), folder / "run",
                          folder / "scratch")
    return registry()[name].call(context, {})


def tried(folder: Path, answer: str, bench: str | None) -> Verdict:
    verdict = used("verilog.try", folder, answer, bench)
    assert isinstance(verdict, Verdict)
    return verdict


def test_a_module_that_agrees_passes(tmp_path: Path) -> None:
    verdict = tried(tmp_path, RIGHT, OWN)
    assert (verdict.passed, verdict.score) == (True, 1.0)
    assert verdict.report == "All 2 cases of the company's own test bench pass."


def test_cases_that_fail_are_shown(tmp_path: Path) -> None:
    verdict = tried(tmp_path, RIGHT.replace("a ^ b", "a & b"), OWN)
    assert (verdict.passed, verdict.score) == (False, 0.5)
    assert verdict.report == "1 of the 2 cases fail:\nFAIL a xor b: w is 0"


@pytest.mark.parametrize(("bench", "outcome", "says"), [
    (None, "no_bench", "There is no test bench bench/tb.sv yet."),
    (OWN.replace(".*", ".nothing(a)"), "bench_broken", "bench/tb.sv:4: "),
    (OWN.replace("$finish", "forever #1 $display(\"%0999d\", a)"), "unfinished",
     "end with $finish"),
    (OWN.replace("PASS", "OK").replace("FAIL", "BAD"), "no_case", "printed no line that begins with PASS or FAIL"),
])
def test_a_bench_that_says_nothing_is_no_pass(tmp_path: Path, bench: str | None, outcome: str, says: str) -> None:
    verdict = tried(tmp_path, RIGHT, bench)
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, outcome)
    assert says in verdict.report


def test_a_module_that_does_not_compile_is_not_tried(tmp_path: Path) -> None:
    verdict = tried(tmp_path, RIGHT.replace("assign w", "asign w"), OWN)
    assert "does not compile" in verdict.report


def test_a_picture_shows_the_first_mismatch_and_stands_in_the_run_folder(tmp_path: Path) -> None:
    drawn = used("verilog.draw", tmp_path, RIGHT.replace("a ^ b", "a | b"), bench=BENCH, reference=REFERENCE)
    ((title, name),) = drawn["pictures"].items()
    assert title.startswith("Waveforms up to the first mismatch, at ")
    picture = (tmp_path / "run" / name).read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "w" in picture


def test_a_right_module_is_drawn_from_the_start(tmp_path: Path) -> None:
    drawn = used("verilog.draw", tmp_path, RIGHT, bench=BENCH, reference=REFERENCE)
    assert list(drawn["pictures"]) == ["Waveforms"]


@pytest.mark.parametrize(("answer", "bench"), [(RIGHT, None), ("module", BENCH), ("", BENCH)])
def test_what_cannot_be_simulated_has_no_picture(tmp_path: Path, answer: str, bench: str | None) -> None:
    assert used("verilog.draw", tmp_path, answer, bench=bench) == {"pictures": {}}
