"""`verilog.judge` passes what is right and no cheat."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.verilog.judge import cheat as try_cheat
from benchmarks.verilog.judge import (
    cheats,
    digest_of,
    judge_files,
    judge_twins,
    mistakes,
    rows_that_hold,
    stub,
    study,
    told,
    twins,
)
from benchmarks.verilog.judge import filled as cheat
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.judge import judge_answer
from chatdev.departments.verilog.simulation import simulate_unexamined
from chatdev.departments.verilog.target import Target
from chatdev.departments.verilog.verilogeval import VerilogProblem
from chatdev.sandbox.kinds import find_sandbox
from tests.departments.verilog.small import BENCH, HEADER, REFERENCE, RIGHT, Desk, told_nothing_of

pytestmark = pytest.mark.tool

PROBLEM = VerilogProblem("Prob999_small", "sequential", "Build it.", BENCH, REFERENCE)


def test_a_right_answer_passes(desk: Desk) -> None:
    verdict = desk.use("judge", RIGHT)
    assert (verdict.passed, verdict.judged, verdict.score) == (True, True, 1.0)


def test_a_wrong_one_does_not(desk: Desk) -> None:
    assert not desk.use("judge", RIGHT.replace("a ^ b", "a & b")).passed
    assert not desk.use("judge", stub(PROBLEM)).passed


@pytest.mark.parametrize("about", cheats())
def test_no_cheat_passes(desk: Desk, about: str) -> None:
    verdict = desk.use("judge", cheat(cheats()[about], PROBLEM))
    assert (verdict.passed, verdict.judged) == (False, True)
    assert told_nothing_of(verdict.report, BENCH)


def test_as_many_samples_must_be_compared_as_with_the_reference(desk: Desk) -> None:
    """A bench that ends sooner with an answer that leaves an output open, as no rule forbids."""
    bench = BENCH.replace("initial #398 $finish;", "initial begin #99 if (q_dut === 1'bz) $finish; #299 $finish; end")
    bench = bench.replace("if ({q_ref", "if (1'b0 && {q_ref")
    verdict = desk.use("judge", RIGHT.replace("assign q = kept;", ""), bench)
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "other_samples")
    assert "19 samples were compared instead of 79" in verdict.report


@pytest.mark.parametrize("delay", ["#(5)", "#(5, 6)", "#5", "#(DELAY)"])
def test_a_primitive_has_no_delay_in_any_form(desk: Desk, delay: str) -> None:
    """What looks like the parameters of a module is the delay of a primitive."""
    primitive = "primitive same(o, i); output o; input i; table 0:0; 1:1; endtable endprimitive\n"
    body = "  parameter DELAY = 5;\n  wire c;\n  same c_late(c, a);\n  same (q, c);\n  assign w = a;\nendmodule\n"
    assert desk.use("simulate", primitive + HEADER + body).evidence["outcome"] == "mismatches"
    for late in (body.replace("same c", f"same {delay} c"), body.replace("same (", f"same {delay} (")):
        verdict = desk.use("judge", primitive + HEADER + late)
        assert (verdict.passed, verdict.evidence["outcome"]) == (False, "refused")
        assert "waits" in verdict.report


def recorded(bench: HiddenBench) -> list[str]:
    """What the reference gives after each edge of this bench's clock."""
    recorder = REFERENCE.replace("endmodule", 'always @(clk) $strobe("seen %b%b", q, w);\nendmodule')
    with TemporaryDirectory() as folder:
        log = simulate_unexamined(RIGHT, replace(bench, reference=recorder), find_sandbox(), Path(folder)).log
    return re.findall(r"^seen (..)$", log, re.MULTILINE)


def recorded_twice(bench: HiddenBench, number: int) -> list[list[str]]:
    """The same with the inputs, with the bench's own draws and with those that a number leads to."""
    recorder = REFERENCE.replace("endmodule", 'always @(clk) $strobe("seen %b%b%b%b", q, w, a, b);\nendmodule')
    logs = []
    for one in (bench, bench.change_draws(number)):
        with TemporaryDirectory() as folder:
            logs.append(simulate_unexamined(RIGHT, replace(one, reference=recorder), find_sandbox(), Path(folder)).log)
    return [re.findall(r"^seen (....)$", log, re.MULTILINE) for log in logs]


def table_of_both_runs(bench: HiddenBench, number: int) -> str:
    """A module that counts edges, finds out by the inputs which of two runs it is in, and looks up what `q` was."""
    usual, other = recorded_twice(bench, number)
    fork = next(n for n, (one, two) in enumerate(zip(usual, other, strict=True)) if one[2:] != two[2:])
    rows = "\n".join(f"{n}: q <= is_other ? 1'b{two[0]} : 1'b{one[0]};"
                     for n, (one, two) in enumerate(zip(usual, other, strict=True)))
    return HEADER.replace("output q", "output reg q") + f"""
      integer n = 0;
      reg is_other = 0;
      assign w = a ^ b;
      always @(posedge clk or negedge clk) begin
        if (n == {fork + 1}) is_other = {{a, b}} == 2'b{other[fork][2:]};
        case (n) {rows} default: ; endcase
        n = n + 1;
      end
    endmodule
    """


def replay_of(bench: HiddenBench) -> str:
    """A module that counts edges and looks up what the reference was seen to do."""
    values = recorded(bench)
    assert len(set(values)) > 2
    rows = "\n".join(f"{n}: {{q, w}} <= 2'b{value};" for n, value in enumerate(values))
    return HEADER.replace("output q, output w", "output reg q, output reg w") + f"""
      integer n = 0;
      initial {{q, w}} = 2'bx0;
      always @(posedge clk or negedge clk) begin
        case (n) {rows} default: ; endcase
        n = n + 1;
      end
    endmodule
    """


def outcome_of(answer: str, bench: HiddenBench, number: int | None = None) -> str:
    with TemporaryDirectory() as folder:
        found, _ = judge_answer(answer, bench, find_sandbox(), Path(folder), other_draws=number)
    return found.outcome


def test_the_second_run_cannot_be_known_before() -> None:
    """A table of both runs passes where somebody knows the number, so that it is a secret of each judgement."""
    bench = HiddenBench(BENCH, REFERENCE)
    table = table_of_both_runs(bench, 5)
    assert outcome_of(table, bench, 5) == "matches"
    assert outcome_of(table, bench) == "other_stimulus"
    assert outcome_of(table, bench, 6) == "other_stimulus"


@pytest.mark.parametrize("draw", ["$random(seed)", "$urandom(seed)", "$dist_uniform(seed, 0, 3)"])
def test_a_seed_of_the_bench_tells_nothing_of_the_second_run(draw: str) -> None:
    text = BENCH.replace("$random", draw).replace("always #5", "integer seed = 3;\n  always #5")
    assert len({str(recorded_twice(HiddenBench(text, REFERENCE), number)[1]) for number in (1, 2, 3 << 20)}) == 3


def test_a_verdict_has_the_number_that_repeats_it(desk: Desk) -> None:
    numbers = {desk.use("judge", RIGHT).evidence["other_draws"] for _ in range(2)}
    assert len(numbers) == 2
    assert desk.use("judge", RIGHT, BENCH.replace("$random", "{b, !a}")).evidence["other_draws"] is None


DRAWS = {
    "$random": "$random", "$urandom": "$urandom", "a range": "$urandom_range(3)", "two ends": "$urandom_range(3, 0)",
    "a seed": "$random(seed)", "a seed without a sign": "$urandom ( seed )",
    "a distribution": "$dist_uniform(seed, 0, (1 << (2)) - 1)", "a normal one": "$dist_normal(seed, 1, 2)",
    "a macro": "`DRAWN",
}


@pytest.mark.parametrize("draw", DRAWS)
def test_what_only_replays_the_samples_of_the_bench_does_not_pass(draw: str) -> None:
    """A bench that draws other inputs shows it. One that always does the same cannot."""
    text = BENCH.replace("$random", DRAWS[draw]).replace("always #5", "integer seed = 3;\n  always #5")
    bench = HiddenBench(f"`define DRAWN $random(seed)\n{text}", REFERENCE)
    assert outcome_of(replay_of(bench), bench) == "other_stimulus"
    assert outcome_of(RIGHT, bench) == "matches"


def test_what_a_given_file_draws_counts_as_well() -> None:
    given = {"stimulus.sv": "module stimulus(input clk, output reg a, output reg b);\ninteger seed = 1;\n"
                            "initial {a, b} = 0;\nalways @(negedge clk) {a, b} <= $random(seed);\nendmodule\n"}
    text = BENCH.replace("always @(negedge clk) {a, b} <= $random;", "stimulus s(clk, a, b);")
    bench = HiddenBench(text.replace("reg clk = 0, a = 0, b = 0;", "reg clk = 0; wire a, b;"), REFERENCE,
                        Target.named(None, given))
    assert outcome_of(replay_of(bench), bench) == "other_stimulus"
    assert outcome_of(RIGHT, bench) == "matches"


def test_a_bench_that_takes_no_other_draws_is_simulated_with_its_own() -> None:
    check = "initial if ($random(seed) !== 32'h80032a00) errors = 9;"
    bench = HiddenBench(BENCH.replace("always #5", f"integer seed = 3; {check}\n  always #5"), REFERENCE)
    assert outcome_of(RIGHT, bench) == "matches"


def test_helpers_may_have_the_names_of_the_reference_s(desk: Desk) -> None:
    helper = "module part(input a, b, output w); assign w = a ^ b; endmodule\n"
    reference = REFERENCE.replace("assign w = a ^ b;", "part part(.a(a), .b(b), .w(w));") + helper
    answer = RIGHT.replace("assign w = a ^ b;", "part p(.a(a), .b(b), .w(w));") + helper
    assert desk.use("judge", answer, reference=reference).passed
    wrong = answer.replace("assign w = a ^ b;", "assign w = a & b;")
    assert desk.use("judge", wrong, reference=reference).evidence["outcome"] == "mismatches"


def test_what_stands_beside_the_module_may_clash_with_the_bench(desk: Desk) -> None:
    bench = "function shared(input i); shared = i; endfunction\n" + BENCH
    verdict = desk.use("judge", "function shared(input i); shared = ~i; endfunction\n" + RIGHT, bench)
    assert (verdict.passed, verdict.evidence["outcome"]) == (False, "clash")


def test_what_an_answer_prints_is_no_report(desk: Desk) -> None:
    loud = RIGHT.replace("endmodule", 'final $display("\\nMismatches: 9 in 9 samples");\nendmodule')
    assert desk.use("judge", loud).passed
    assert desk.use("judge", loud.replace("a ^ b", "a").replace("9 in", "0 in")).evidence["outcome"] == "mismatches"
    unmarked = BENCH.replace("always #5", "string s; initial if (errors) $display(s);\n  always #5")
    assert desk.use("judge", loud, unmarked).evidence["outcome"] == "refused"
    assert desk.use("judge", RIGHT, unmarked).passed


_WRAPS = ("{}", "`ifdef __ICARUS__\n{}\n`endif", "if (DEPTH == 4) begin {} end", "`define X {joined}\n`X",
          "`define L(t) t\n`L({joined})", "// \u2028\n{}", "wire \\a\u00a0;\n{}", "wire \\// ;\n{}", "/* // */ {}",
          "generate {} endgenerate", "case (DEPTH) 4: begin {} end endcase",
          "for (genvar i = 3; i < DEPTH; i = i + 1) begin {} end")
_KINDS = [about for about, body in cheats().items() if "{{ head }}" in body]
_HEAD, _HEAD_WITH_DEPTH = (cheat(head, PROBLEM) for head in ("{{ head }}", "{{ head_with_depth }}"))


def disguise(text: str, wrap: str) -> str:
    """The text with the body of its module in a wrap."""
    before, head, rest = text.partition(_HEAD)
    body, end, after = rest.partition("endmodule")
    joined = body.strip().replace("\n", " \\\n")
    return before + head + wrap.replace("{joined}", joined).replace("{}", body) + "\n" + end + after


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(_KINDS), st.lists(st.sampled_from(_WRAPS), min_size=1, max_size=2))
def test_no_disguise_helps_a_cheat(desk: Desk, about: str, wraps: list[str]) -> None:
    """Kinds of cheats with their bodies in what hides them."""
    text = functools.reduce(disguise, wraps, cheat(cheats()[about], PROBLEM)).replace(_HEAD, _HEAD_WITH_DEPTH)
    assert not desk.use("judge", text).passed


def test_without_a_reference_the_simulation_has_the_last_word(desk: Desk) -> None:
    alone = BENCH + REFERENCE
    assert desk.use("judge", RIGHT, alone, reference=None).evidence["outcome"] == "matches"
    assert not desk.use("judge", RIGHT.replace("a ^ b", "a"), alone, reference=None).passed


def test_without_a_bench_nothing_is_verified(desk: Desk) -> None:
    verdict = desk.use("judge", RIGHT, bench=None)
    assert (verdict.passed, verdict.judged) == (True, False)


def test_without_an_answer_it_does_not_pass(desk: Desk) -> None:
    assert not desk.use("judge", None).passed


def test_the_study_finds_no_mistake_in_a_sound_judge() -> None:
    results = study([PROBLEM], {PROBLEM.name: PROBLEM}, find_sandbox())
    for about, body in list(cheats().items())[:3]:
        results["cheats"][about] = try_cheat([PROBLEM], body, find_sandbox())
    assert mistakes(results) == []
    assert results["references"]["solved"] == 1
    assert "| is the reference itself | 1 | 1 | 1 |" in told(results)


def test_a_replay_is_one_by_the_rule_of_verilogeval() -> None:
    """It matches all that its bench compares, so that what refuses it is more than the simulation."""
    for about in ("replays by counting how often its inputs change", "replays what it knows by delays"):
        row = try_cheat([PROBLEM], cheats()[about], find_sandbox())
        assert (row["solved"], row["official"]) == (0, 1)


def test_rows_hold_while_judge_and_cheat_stay_as_they_are() -> None:
    (first, body), (second, _), *_ = cheats().items()
    known = {"cheats": {second: {"digest": "of yore"}, first: {"digest": digest_of(body)}, "gone": {"digest": "x"}}}
    assert rows_that_hold(known) == {first: known["cheats"][first]}
    assert rows_that_hold({}) == {}
    assert {"design", "waveform", "isolation", "verilog"} == {path.parent.name for path in judge_files()}


def test_the_study_tells_of_mistakes() -> None:
    results = {"references": {"failed": ["Prob003_step_one"]}, "stubs": {"passed": ["Prob001_zero", "Prob004_vector2"]},
               "cheats": {"peeks": {"solved": 1}, "lies": {"solved": 0}},
               "twins": {"a block": ["let: refused"], "a delay": []}}
    assert len(mistakes(results)) == 4


KINDS = [about for about, row in twins()["kinds"].items() if "simulator" not in row]


@pytest.mark.parametrize("about", KINDS)
def test_of_twins_only_the_honest_one_passes_without_a_remark(about: str) -> None:
    data = twins()
    assert judge_twins(find_sandbox(), {**data, "kinds": {about: data["kinds"][about]}}) == {about: []}
