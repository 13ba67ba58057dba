"""Simulations that never end or never stop writing are stopped; waveforms are kept for those who want them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.compilation import SIMULATING
from chatdev.departments.verilog.judge import judge_answer
from chatdev.departments.verilog.simulation import (
    SimulationResult,
    reference_as_answer,
    simulate_answer,
    simulate_unexamined,
)
from chatdev.sandbox.kinds import find_sandbox
from tests.departments.verilog.small import BENCH, HEADER, REFERENCE, RIGHT

pytestmark = pytest.mark.tool

SHORT = replace(SIMULATING, cpu=1)
ENDLESS = BENCH.replace("initial #398 $finish;", "initial begin wait (0); end initial forever #0;")


def tried(folder: Path, answer: str = RIGHT, bench: str = BENCH, **how: bool) -> SimulationResult:
    """A simulation with a second of time."""
    return simulate_answer(answer, HiddenBench(bench, REFERENCE), find_sandbox(), folder, limits=SHORT, **how)


def test_an_answer_that_never_ends_is_stopped(tmp_path: Path) -> None:
    found = tried(tmp_path, f"{HEADER}  reg r;\n  initial forever r = a;\nendmodule\n")
    assert (found.outcome, found.report) == ("timed_out", None)


def test_a_bench_that_never_ends_is_no_fault_of_the_answer(tmp_path: Path) -> None:
    found, _ = judge_answer(RIGHT, HiddenBench(ENDLESS, REFERENCE), find_sandbox(), tmp_path, limits=SHORT)
    assert found.outcome == "bench_endless"


def test_output_without_an_end_is_stopped(tmp_path: Path) -> None:
    flood = BENCH.replace("initial #398 $finish;", 'initial forever $display("%0d", {40{clk}});')
    found = simulate_answer(RIGHT, HiddenBench(flood, REFERENCE), find_sandbox(), tmp_path,
                            limits=replace(SIMULATING, written=1 << 16))
    assert found.outcome == "flooded"


def test_waveforms_without_an_end_are_stopped(tmp_path: Path) -> None:
    busy = f"{HEADER}  reg [99999:0] r = 0;\n  always @(posedge clk) r = ~r;\nendmodule\n"
    small = replace(SIMULATING, file_size=1 << 20)
    bench = HiddenBench(BENCH, REFERENCE)
    found = simulate_answer(busy, bench, find_sandbox(), tmp_path, dump=True, limits=small)
    assert found.outcome == "too_much_written"


def test_waveforms_show_the_inside_of_the_answer(tmp_path: Path) -> None:
    found = tried(tmp_path, dump=True)
    assert found.passed
    assert found.waves is not None
    header = found.waves.read_text(encoding="utf-8").partition("$enddefinitions")[0]
    assert "$scope module top_module1" in header
    assert " kept " in header


def test_waveforms_are_not_written_for_nothing(tmp_path: Path) -> None:
    assert tried(tmp_path).waves is None
    assert list(tmp_path.rglob("*.vcd")) == []


def test_the_simulator_finds_no_source(tmp_path: Path) -> None:
    tried(tmp_path)
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"a.out"}


def test_a_reference_with_helpers_can_take_the_place_of_the_answer(tmp_path: Path) -> None:
    reference = REFERENCE.replace("assign w = a ^ b;", "helper h(a, b, w);") + (
        "module helper(input a, b, output w); assign w = a ^ b; endmodule\n")
    bench = HiddenBench(BENCH, reference)
    found = simulate_unexamined(reference_as_answer(reference), bench, find_sandbox(), tmp_path)
    assert found.outcome == "matches"
