"""Two runs of one bench in one waveform: the answer, the reference's outputs beside it, and where they differ."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.waveform.comparison import DifferingStep, Pair, differing_steps, merge_reference
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.departments.verilog.waveform.waves import Waves

HEAD = """$timescale 1ps $end
$scope module tb $end
$var wire 1 ! clk $end
$scope module dut $end
$var wire 4 " q [3:0] $end
$var reg 8 #1 inner [7:0] $end
$upscope $end
$upscope $end
$enddefinitions $end
"""
Written = dict[int, dict[str, int]]
SIDES = {name: Pair("tb.q_ref", "tb.q_dut") for name in ("tb.q_ref", "tb.q_dut")}
written = st.dictionaries(st.integers(0, 40), st.fixed_dictionaries(
    {}, optional={"!": st.integers(0, 1), '"': st.integers(0, 15), "#1": st.integers(0, 255)}), max_size=12)


def write(path: Path, changes: Written) -> Path:
    lines = [HEAD]
    for time, values in sorted(changes.items()):
        lines += [f"#{time}\n", *(f"b{value:b} {code}\n" if code != "!" else f"{value}!\n"
                                  for code, value in values.items())]
    path.write_text("".join(lines), encoding="ascii")
    return path


def steps_of(waves: Waves, names: dict[str, str]) -> dict[int, dict[str, str]]:
    """What changed at each time, under other names."""
    return {time: {names[name]: bits for name, bits in step.items()} for time, step in waves.steps(names)}


@given(ours=written, theirs=written)
def test_both_are_in_the_merged_waveform(tmp_path_factory: pytest.TempPathFactory, ours: Written,
                                         theirs: Written) -> None:
    folder = tmp_path_factory.mktemp("waves")
    answer, reference = write(folder / "a.vcd", ours), write(folder / "r.vcd", theirs)
    found = merge_reference(answer, reference, "tb.dut", ["q", "none"], folder / "m.vcd")
    merged = Waves.open(folder / "m.vcd")
    assert merged.signals.keys() == {"tb.dut.q", "tb.dut.inner", "tb.q_ref", "tb.q_dut"}
    inner = {"tb.dut.q": "tb.dut.q", "tb.dut.inner": "tb.dut.inner"}
    assert steps_of(merged, inner) == steps_of(Waves.open(answer), inner)
    assert steps_of(merged, {"tb.q_ref": "q"}) == steps_of(Waves.open(reference), {"tb.dut.q": "q"})
    assert steps_of(merged, {"tb.q_dut": "q"}) == steps_of(Waves.open(answer), {"tb.dut.q": "q"})
    assert found == [*differing_steps(merged.steps(SIDES), SIDES)]


def test_where_the_outputs_differ_is_told(tmp_path: Path) -> None:
    answer = write(tmp_path / "a.vcd", {0: {'"': 1}, 5: {'"': 2}, 20: {'"': 3}})
    reference = write(tmp_path / "r.vcd", {0: {'"': 1}, 5: {'"': 4}, 30: {'"': 3}})
    assert merge_reference(answer, reference, "tb.dut", ["q"], tmp_path / "m.vcd") == [
        DifferingStep(5, ("q",), True, ()), DifferingStep(20, ("q",), True, ()), DifferingStep(30, (), False, ("q",))]


@pytest.mark.parametrize("body", ["#5 1!\n", "#5\nb1 \"", "#5\n1?\nnonsense\n"])
def test_a_damaged_waveform_is_told(tmp_path: Path, body: str) -> None:
    (tmp_path / "a.vcd").write_text(HEAD + body, encoding="ascii")
    with pytest.raises(WaveformError, match=r"a\.vcd"):
        merge_reference(tmp_path / "a.vcd", tmp_path / "a.vcd", "tb.dut", ["q"], tmp_path / "m.vcd")
