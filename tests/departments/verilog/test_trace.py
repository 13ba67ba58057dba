"""`verilog.trace`: the report on a wrong answer names the line that is wrong."""

from __future__ import annotations

import random
import re
import tracemalloc

import pytest

from benchmarks.verilog.mutants import Mutant, mutants
from chatdev.departments.verilog import mismatch
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.simulation import simulate_answer
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolArgumentsError, ToolContext
from tests.departments.verilog.designs import LOCK, UNIT, Sample
from tests.departments.verilog.small import BENCH, HEADER, REFERENCE, RIGHT, Desk, told_nothing_of

WRONG = RIGHT.replace("kept <= a;", "kept <= b;").replace("a ^ b", "a | b")


def test_the_report_has_the_active_lines_and_the_values_of_both_sides(desk: Desk) -> None:
    verdict = desk.use("trace", WRONG)
    lines = dict(enumerate(WRONG.splitlines(), 1))
    assert not verdict.passed
    assert verdict.evidence["output"] in ("q", "w")
    assert all(f"{number:6} | {lines[number]}" in verdict.report for number in verdict.evidence["lines"])
    assert "_ref" in verdict.report
    assert "!=" in verdict.report


def test_an_agent_may_ask_for_one_output(desk: Desk) -> None:
    assert "kept <= b;" in desk.use("trace", WRONG, outputs=["q"]).report
    assert "kept <= b;" not in desk.use("trace", WRONG, outputs=["w"]).report


def test_an_output_without_a_mismatch_is_refused_with_those_that_have_one(desk: Desk) -> None:
    with pytest.raises(ToolArgumentsError, match="none of z has a mismatch; those that have one: "):
        desk.use("trace", WRONG, outputs=["z"])


@pytest.mark.parametrize("levels", [0, 13])
def test_levels_that_help_nobody_are_refused(desk: Desk, levels: int) -> None:
    with pytest.raises(ToolArgumentsError, match="levels"):
        desk.use("trace", WRONG, levels=levels)


def test_more_levels_are_offered_as_long_as_there_are_more(desk: Desk) -> None:
    assert "trace with levels=2" in desk.use("trace", WRONG, outputs=["q"], levels=1).report
    assert "Nothing that leads there lies further back" in desk.use("trace", WRONG, outputs=["q"], levels=9).report


def test_edges_that_are_left_out_are_told(desk: Desk) -> None:
    shared = WRONG.replace("  reg kept;\n", "  reg kept, one, two;\n  always @(posedge clk)\n    one <= a;\n"
                           "  always @(posedge clk)\n    two <= b;\n").replace("clk) kept", "clk)\n    kept")
    report = desk.use("trace", shared, outputs=["q"]).report
    assert "Not shown: the edges that most blocks wait for, in line 7." in report
    assert "     7 |" not in report
    assert "Not shown" not in desk.use("trace", WRONG, outputs=["q"]).report


def test_no_more_levels_are_offered_than_may_be_asked_for(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mismatch, "_DEEPEST", 1)
    deepest = desk.use("trace", WRONG, outputs=["q"], levels=1).report
    assert "levels=" not in deepest
    assert "More lies further back than a trace may show." in deepest


def test_a_report_shows_each_line_once_and_has_an_end(desk: Desk) -> None:
    counter = WRONG.replace("assign w = a | b;", """reg [1:0] n = 0;
  always @(posedge clk) if (n != 3)
    n <= n + 1;
  assign w = n[1] | b;""")
    report = desk.use("trace", counter, outputs=["w"], levels=12).report
    numbers = re.findall(r"^ +(\d+) \| ", report, re.MULTILINE)
    assert len(numbers) == len(set(numbers)) > 3
    assert re.search(r"^  \(and lines? [\d, ]+, shown above\)$", report, re.MULTILINE)
    wires = "".join(f"  logic w{n}; always_comb w{n} = w{n + 1}; // {'long ' * 150}\n" for n in reversed(range(20)))
    deep = WRONG.replace("assign w = a | b;", f"wire w20;\n{wires}  assign w20 = a | b, w = w0;")
    report = desk.use("trace", deep, outputs=["w"], levels=12).report
    assert len(report) <= 6000
    assert re.search(r"\d further signals are left out, as this report has an end; what is to be seen there stands in "
                     r"lines? \d+(–\d+)?", report)


def test_rows_of_the_table_make_room_for_lines(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = WRONG.replace("assign w = a | b;", """reg [5:0] n = 0;
  always @(posedge clk) n <= n + 1;
  assign w = n[5] | b;""")
    context = ToolContext({"top.sv": counter.encode()}, {}, {"bench": BENCH, "reference": REFERENCE}, find_sandbox(),
                          desk.folder, desk.folder)
    whole = mismatch.trace_software(context, 3, ["w"]).report
    monkeypatch.setattr(mismatch, "_ROWS", (16, 1))
    shorter = mismatch.trace_software(context, 3, ["w"], longest=len(whole) - 10).report
    assert len(shorter) <= len(whole) - 10
    assert "left out" not in shorter
    assert re.findall(r"^ +\d+ \| .*", shorter, re.MULTILINE) == re.findall(r"^ +\d+ \| .*", whole, re.MULTILINE)


NARROWER = "".join(f"wire [{n + 2}:0] v{n} = v{n + 1};\n" for n in reversed(range(120))).replace("= v120", "= {122{a}}")
LONG = "a" + "".join(f" // {'long ' * 30}\n | (a & b)" for n in range(90))


@pytest.mark.parametrize(("wrong", "says"), [
    (f"{NARROWER}assign w = v0[0];", r"^- and \d+ more$"),
    (f"assign w = {LONG};", r"^\(the rest is left out, as this report has an end\)$")])
def test_a_report_is_never_longer_than_it_may_be(wrong: str, says: str, desk: Desk) -> None:
    report = desk.use("trace", WRONG.replace("assign w = a | b;", wrong), outputs=["w"], levels=12).report
    assert len(report) <= 6000
    assert re.search(says, report, re.MULTILINE)


def test_a_signal_that_is_leapt_over_is_named_and_in_the_table(desk: Desk) -> None:
    counter = WRONG.replace("assign w = a | b;", """reg [5:0] n = 0; reg late = 0;
  always @(posedge clk) begin n <= n + 1; late <= n == 2; end
  assign w = late;""")
    report = desk.use("trace", counter, outputs=["w"], levels=3).report
    assert re.search(r"^time .*\bn\b", report, re.MULTILINE)
    assert "set before: late, n." in report or "set before: n" in report


def test_lines_that_write_the_bits_beside_are_named(desk: Desk) -> None:
    parts = WRONG.replace("assign w = a | b;", """wire [1:0] v;
  assign v[0] = a | b;
  assign v[1] = a ^ b;
  assign w = v[0];""")
    report = desk.use("trace", parts, outputs=["w"], levels=3).report
    number = parts.split("\n").index("  assign v[1] = a ^ b;") + 1
    assert f"`v` is written in line {number}, too." in report


def test_an_input_that_changes_with_the_clock_is_told(desk: Desk) -> None:
    hasty = BENCH.replace("always @(negedge clk) {a, b} <= $random;", "")
    hasty = hasty.replace("always #5 clk = ~clk;", "always begin #5 {a, b} = $random; clk = 1; #5 clk = 0; end")
    told = "(b changed at the very edge, and the new value counts)"
    assert told in desk.use("trace", WRONG, bench=hasty, outputs=["q"]).report
    assert told not in desk.use("trace", WRONG, outputs=["q"]).report


def test_no_line_of_bench_or_reference_is_told(desk: Desk) -> None:
    assert told_nothing_of(desk.use("trace", WRONG).report, BENCH, REFERENCE)


@pytest.mark.parametrize("answer", [RIGHT, HEADER, HEADER + "endmodule", "", b"\xff\xfe", None])
def test_what_has_no_mismatch_to_trace_is_reported_as_by_simulate(desk: Desk, answer: str | bytes | None) -> None:
    traced, simulated = desk.use("trace", answer), desk.use("simulate", answer)
    if simulated.evidence["outcome"] != "mismatches":
        assert (traced.report, traced.passed) == (simulated.report, simulated.passed)


def test_without_a_bench_nothing_is_traced(desk: Desk) -> None:
    assert desk.use("trace", WRONG, bench=None, reference=None) == desk.use("simulate", WRONG, bench=None,
                                                                           reference=None)


def test_what_only_the_simulator_takes_still_gets_its_waveform(desk: Desk) -> None:
    strange = WRONG.replace("endmodule", "  localparam real half = 0.5;\n  wire [half * 4 : 0] odd = 0;\nendmodule")
    verdict = desk.use("trace", strange)
    assert "q_ref" in verdict.report
    assert "cannot be traced" in verdict.report
    assert "top.sv:7" in verdict.report


def test_a_bench_may_count_time_in_other_units_than_its_waveform(desk: Desk) -> None:
    verdict = desk.use("trace", WRONG, bench=BENCH.replace("1 ps/1 ps", "1 ns/1 ps"), outputs=["q"])
    assert "kept <= b;" in verdict.report
    assert "000 in the waveform" in verdict.report


def test_a_dump_of_fifty_megabytes_is_traced_in_little_memory(
        desk: Desk, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A register of 10,000 bits changes 5,200 times, and the mistake comes after 5,120 of them."""
    busy = "reg kept;\n  reg [12:0] count = 0;\n  reg [9999:0] wide = {5000{2'b10}};"
    late = "begin\n    count <= count + 1;\n    wide <= ~wide;\n    kept <= count[12] & count[10] ? b : a;\n  end"
    answer = WRONG.replace("reg kept;", busy).replace("kept <= b;", late).replace("a | b", "a ^ b")
    long = BENCH.replace("#398", "#52000")
    bench, folder = HiddenBench(long, REFERENCE), tmp_path_factory.mktemp("waves")
    waves = simulate_answer(answer, bench, find_sandbox(), folder, dump=True).waves
    assert waves is not None
    assert waves.stat().st_size > 50e6
    tracemalloc.start()
    verdict = desk.use("trace", answer, bench=long)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "? b : a" in verdict.report
    assert peak < 16e6


def some(sample: Sample, count: int) -> list[Mutant]:
    """Mutants by chance, each of another operator, that the compiler does not refuse at once."""
    every = mutants(sample.answer)
    random.Random(5).shuffle(every)
    return list({mutant.operator: mutant for mutant in every}.values())[:count]


@pytest.mark.parametrize("sample", [LOCK, UNIT], ids=["lock", "unit"])
def test_the_right_design_passes(desk: Desk, sample: Sample) -> None:
    verdict = desk.use("trace", sample.answer, sample.bench, sample.reference)
    assert verdict.passed, verdict.report


@pytest.mark.parametrize(("sample", "mutant"), [
    pytest.param(sample, mutant, id=f"{name}-{mutant.operator}-{mutant.line}")
    for name, sample in {"lock": LOCK, "unit": UNIT}.items() for mutant in some(sample, 6)])
def test_the_mistake_in_a_mutant_is_among_the_lines(desk: Desk, sample: Sample, mutant: Mutant) -> None:
    verdict = desk.use("trace", mutant.text, sample.bench, sample.reference, levels=4)
    if verdict.evidence["outcome"] == "mismatches":
        assert mutant.line in verdict.evidence["lines"], verdict.report
    assert verdict.evidence["outcome"] in ("mismatches", "matches", "tool_limitation"), verdict.report
