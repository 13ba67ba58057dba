"""First mismatches, from what a bench prints and what the waveform holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.tools.verilog.bench import BenchReport, Mismatch, answer_scope, wrong_outputs
from chatdev.tools.verilog.design.records import Part
from chatdev.tools.verilog.tracing.history import History
from chatdev.tools.verilog.waveform.waves import Waves

DUMP = """$timescale 1ps $end
$scope module tb $end
$var wire 4 ! q_ref [3:0] $end
$var wire 4 " q_dut [3:0] $end
$scope module top_module1 $end
$var wire 4 " q [3:0] $end
$var wire 1 % clk $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
b0 !
b0 "
0%
#5
b1101 !
b100 "
1%
#10
b1111 "
"""


@pytest.fixture
def waves(tmp_path: Path) -> Waves:
    path = tmp_path / "wave.vcd"
    path.write_text(DUMP, encoding="ascii")
    return Waves.open(path)


def report(**times: int | None) -> BenchReport:
    return BenchReport({name: Mismatch(int(time is not None), time) for name, time in times.items()}, 1, 9)


def test_the_wrong_bits_are_those_just_before_the_mismatch(waves: Waves) -> None:
    [wrong] = wrong_outputs(report(q=10, w=None), waves, "")
    assert (wrong.output, wrong.parts) == ("q", (Part("q", 3, 1), Part("q", 0, 1)))


def test_the_output_that_is_wrong_first_comes_first(waves: Waves) -> None:
    assert [wrong.output for wrong in wrong_outputs(report(w=20, q=10, z=15), waves, "")] == ["q", "z", "w"]


@pytest.mark.parametrize(("directive", "sampled"), [
    ("`timescale 1ps/1ps", 3), ("`timescale 1 ns / 1 ps", 3000), ("`timescale 10ns/1ps", 30000), ("", 3)])
def test_the_units_of_the_bench_are_turned_into_those_of_the_waveform(waves: Waves, directive: str,
                                                                      sampled: int) -> None:
    assert wrong_outputs(report(q=3), waves, directive)[0].sampled == sampled


@pytest.mark.parametrize(("bench", "scope"), [
    ("TopModule dut(.a(a));", "tb.dut"), ("TopModule #(.N(3)) u1 (a);", "tb.u1"), ("nothing", "tb.top_module1")])
def test_the_scope_is_that_of_the_instance(bench: str, scope: str) -> None:
    assert answer_scope(bench) == scope


def test_a_history_has_the_signals_that_the_waveform_has(waves: Waves) -> None:
    history = History.of(waves, "tb.top_module1", ["q", "clk", "memory"], 10)
    assert next(history.samples_before(10)).values == {"q": "0100", "clk": "1"}
    assert [sample.until for sample in history.samples_before(99)] == [99, 5]
    assert history.complete
