"""Benches are made to dump everything; reports are read as they stand at the end; wrong outputs have times and bits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.bench import DUMP as DUMPING
from chatdev.departments.verilog.bench import HiddenBench, dump_everything
from chatdev.departments.verilog.bench_report import BenchReport, Mismatch, PrintedLine
from chatdev.departments.verilog.design.records import Part
from chatdev.departments.verilog.mismatch import wrong_outputs
from chatdev.departments.verilog.tracing.trace import History
from chatdev.departments.verilog.waveform.waves import Waves
from tests.departments.verilog.small import BENCH

REPORT = """TIMEOUT
Hint: Output 'q' has no mismatches.
Hint: Output 'out_bytes' has 6 mismatches. First mismatch occurred at time 2220.
Hint: Total mismatched samples is 6 out of 905 samples

Simulation finished at 4526 ps
Mismatches: 6 in 905 samples
"""
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


def test_a_report_is_read_output_by_output() -> None:
    report = BenchReport.read(REPORT)
    assert report.outputs == {"q": Mismatch(0, None), "out_bytes": Mismatch(6, 2220)}
    assert (report.mismatches, report.samples, report.finished_at) == (6, 905, 4526)
    assert not report.passed
    assert report.share == pytest.approx(1 - 6 / 905)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.lists(st.integers(0, 99)))
def test_the_last_total_counts_whatever_was_printed_before(wrong: int, samples: int, faked: list[int]) -> None:
    lines = [f"Mismatches: {number} in 100 samples" for number in faked]
    report = BenchReport.read("\n".join([*lines, f"Mismatches: {wrong} in {samples} samples"]))
    assert (report.mismatches, report.samples) == (wrong, samples)
    assert report.passed == (wrong == 0 and samples > 0)


@given(st.text())
def test_any_text_can_be_read(printed: str) -> None:
    assert BenchReport.read(printed).passed in (True, False)


def test_no_total_is_no_pass() -> None:
    report = BenchReport.read("Hint: Output 'q' has no mismatches.\n")
    assert report.mismatches is None
    assert not report.passed
    assert report.share == 0


def test_a_total_within_a_line_is_none() -> None:
    assert BenchReport.read("so: Mismatches: 0 in 9 samples\n").mismatches is None


@pytest.mark.parametrize("dumps", ["$dumpvars(1,\n stim1.clk,\n q_ref );", "$dumpvars;", "", "if (q) $dumpvars(0);"])
def test_a_bench_dumps_nothing_itself_and_keeps_its_lines(dumps: str) -> None:
    bench = re.sub(r"\$dumpvars[^;]*;", lambda _: dumps, BENCH)
    changed, dumping = dump_everything(bench, "tb")
    assert "$dump" not in changed
    assert changed.count("\n") == bench.count("\n")
    assert dumping == f'module {DUMPING}; initial begin $dumpfile("wave.vcd"); $dumpvars(0, tb); end endmodule\n'


@pytest.fixture
def waves(tmp_path: Path) -> Waves:
    path = tmp_path / "wave.vcd"
    path.write_text(DUMP, encoding="ascii")
    return Waves.open(path)


def report(**times: int | None) -> BenchReport:
    return BenchReport({name: Mismatch(int(time is not None), time) for name, time in times.items()}, 1, 9)


def test_the_wrong_bits_are_those_just_before_the_mismatch(waves: Waves) -> None:
    [wrong] = wrong_outputs(report(q=10, w=None), waves, HiddenBench(""))
    assert (wrong.output, wrong.parts) == ("q", (Part("q", 3, 1), Part("q", 0, 1)))


def test_a_bench_may_compare_after_the_change_at_the_time_of_its_report(waves: Waves) -> None:
    """Before 5 both sides are 0, from 5 on they differ."""
    [wrong] = wrong_outputs(report(q=5), waves, HiddenBench(""))
    assert (wrong.time, wrong.sampled, wrong.parts) == (5, 6, (Part("q", 3, 1), Part("q", 0, 1)))


def test_the_output_that_is_wrong_first_comes_first(waves: Waves) -> None:
    found = wrong_outputs(report(w=20, q=10, z=15), waves, HiddenBench(""))
    assert [wrong.output for wrong in found] == ["q", "z", "w"]


@pytest.mark.parametrize(("since_of", "expected"), [
    ({"q": 390, "w": 395}, ["q", "w"]), ({"q": 395, "w": 390}, ["w", "q"]), ({"q": 300, "w": 2}, ["w", "q"]),
    ({"q": 2, "w": 300, "z": 400}, ["q", "w", "z"]), ({"z": 3}, ["z"]), ({"q": 400, "z": 400}, ["q", "z"])])
def test_outputs_wrong_at_a_complaint_come_in_order_of_time(
        tmp_path: Path, since_of: dict[str, int], expected: list[str]) -> None:
    codes = {f"{output}{end}": f"{output}{end}" for output in "qwz" for end in ("_ref", "_dut")}
    path = tmp_path / "long.vcd"
    path.write_text("$scope module tb $end\n" + "".join(f"$var wire 1 {code} {name} $end\n"
                                                          for name, code in codes.items())
                    + "$upscope $end\n$enddefinitions $end\n" + "".join(
                        f"#{time}\n" + "".join(
                            f"{time % 2}{output}_ref\n{(time + (time >= since_of.get(output, 999))) % 2}{output}_dut\n"
                            for output in "qwz") for time in range(401)), encoding="ascii")
    complaint = BenchReport(mismatches=1, complaints=(PrintedLine("wrong", 400),), is_counted=False)
    assert [wrong.output for wrong in wrong_outputs(complaint, Waves.open(path), HiddenBench(""))] == expected


@pytest.mark.parametrize(("directive", "sampled"), [
    ("`timescale 1ps/1ps", 3), ("`timescale 1 ns / 1 ps", 3000), ("`timescale 10ns/1ps", 30000), ("", 3)])
def test_the_units_of_the_bench_are_turned_into_those_of_the_waveform(waves: Waves, directive: str,
                                                                      sampled: int) -> None:
    assert wrong_outputs(report(q=3), waves, HiddenBench(directive))[0].sampled == sampled


@pytest.mark.parametrize(("bench", "root", "scope"), [
    ("module tb; TopModule dut(.a(a)); endmodule", "tb", "tb.dut"),
    ("module tb; TopModule #(.N(3)) u1 (a); endmodule", "tb", "tb.u1"),
    ("module helper; endmodule module test; helper h(); inner i(); endmodule\n"
     "module inner; generate if (1) begin : on TopModule it(); end endgenerate endmodule", "test", "test.i.on.it"),
    ("module tb; endmodule", "tb", ""), ("nothing", "tb", "")])
def test_the_scope_is_that_of_the_instance(bench: str, root: str, scope: str) -> None:
    layout = HiddenBench(bench).layout
    assert (layout.root, layout.scope) == (root, scope)


def test_a_history_has_the_signals_that_the_waveform_has(waves: Waves) -> None:
    history = History.of(waves, "tb.top_module1", ["q", "clk", "memory"], 10)
    assert next(history.samples_before(10)).values == {"q": "0100", "clk": "1"}
    assert [sample.until for sample in history.samples_before(99)] == [99, 5]
    assert history.complete


@pytest.mark.parametrize("said", ["Mismatches: {} in {} samples\n", "Simulation finished at {}\n",
                                  "Hint: Output 'a' has {} mismatches. First mismatch occurred at time {}.\n"])
def test_a_number_without_end_is_no_report(said: str) -> None:
    assert BenchReport.read(said.replace("{}", "9" * 5000)) == BenchReport()
