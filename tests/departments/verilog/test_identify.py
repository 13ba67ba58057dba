"""Telling elements by their waveforms: what made a waveform is never ruled out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.verilog.identify import ELEMENTS, Observation, WaveTable, contradictions, observations
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolArgumentsError, ToolContext, registry

CLOCK = "0101010101010101"


def survivors(samples: WaveTable) -> list[str]:
    return [element for element in ELEMENTS if not contradictions(samples, element)]


def said(tmp_path: Path, **arguments: object) -> str:
    context = ToolContext({}, {}, {}, find_sandbox("none"), tmp_path, tmp_path)
    report = registry()["verilog.identify"].call(context, arguments)
    assert isinstance(report, str)
    return report


def test_a_flip_flop_is_told_with_its_next_values(tmp_path: Path) -> None:
    report = said(tmp_path, clock=list("0101010101"), data={"a": list("x000000111")}, output=list("xxx1111110"),
                  times=[f"{5 * row}ns" for row in range(10)])
    assert report.startswith("The output is that of a flip-flop of the rising edge (always @(posedge clock)); all else")
    assert "the output is 1 at 40ns and 0 at 45ns, though there was no falling edge in between" in report
    assert report.endswith("a=0 output=x -> 1\na=0 output=1 -> 1\na=1 output=1 -> 0")


def test_a_latch_is_told_by_what_passes_while_it_is_open() -> None:
    samples = WaveTable.of("0001111000111000", "x000101111101111", {"d": "0110101111101000"})
    assert survivors(samples) == ["high"]
    assert observations(samples, "high") == [Observation(("0",), "", "0"), Observation(("1",), "", "1")]


def test_too_few_samples_are_ambiguous(tmp_path: Path) -> None:
    report = said(tmp_path, clock=[0, 1, 0, 1], data={"d": [0, 0, 0, 0]}, output=[0, 0, 0, 0])
    assert report.startswith("Ambiguous: the samples fit a flip-flop of the rising edge")


def test_what_changes_at_any_time_is_unknown(tmp_path: Path) -> None:
    """Asynchronous resets do that."""
    report = said(tmp_path, clock=list("00111000111"), output=list("01010110011"), data={"d": ["0"] * 11})
    assert report.startswith("Unknown: the samples rule out every element. An asynchronous reset")


def test_without_data_only_what_must_hold_is_judged(tmp_path: Path) -> None:
    report = said(tmp_path, clock=list("01010101"), output=list("x0011001"))
    assert "combinational logic nor of next values" in report
    assert "combinational logic of" not in report


def test_a_counter_has_more_state_than_its_highest_bit(tmp_path: Path) -> None:
    report = said(tmp_path, clock=list(CLOCK), data={"enable": ["1"] * 16}, output=list("0000111100001111"[1:] + "1"))
    assert "there is more state behind it" in report


@pytest.mark.parametrize(("arguments", "complaint"), [
    ({"clock": [0, 1, 0], "output": [0, 1]}, "there are 3 of clock, 2 of output"),
    ({"clock": [0], "output": [0]}, "at least 2"),
    ({"clock": [0, 1], "output": [0, 1], "data": {"d": [1]}}, "1 of data 'd'"),
    ({"clock": [0, "up"], "output": [0, 1]}, "a clock is 0, 1 or x, and not 'up'"),
    ({"clock": "0101", "output": [0, 1]}, "clock: Input should be a valid list"),
])
def test_samples_that_make_no_table_are_refused(tmp_path: Path, arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(ToolArgumentsError, match=complaint):
        said(tmp_path, **arguments)


rows = st.lists(st.tuples(st.sampled_from("01"), st.integers(0, 3), st.booleans()), min_size=2, max_size=24)
functions = st.lists(st.sampled_from("01"), min_size=16, max_size=16)


def made(element: str, steps: Sequence[tuple[str, int, bool]], function: Sequence[str]) -> WaveTable:
    """What the element shows when clock and two bits of data go through the steps; data that change together with the
    clock count before or after it as the third part of a step says."""
    clock, output, state = [step[0] for step in steps], list[str](), "x"
    for row, (level, data, early) in enumerate(steps):
        before = clock[row - 1] if row else level
        taken = steps[row - 1][1] if early and row else data
        if element == "combinational":
            state = function[2 * data + int(level)]
        elif element in {"high", "low"}:
            is_open = "1" if element == "high" else "0"
            state = function[data] if level == is_open else function[taken] if before == is_open else state
        elif (before, level) == (("0", "1") if element == "rising" else ("1", "0")):
            state = function[4 + 2 * taken + int(state)] if state != "x" else function[taken]
        output.append(state)
    data_bits = [f"{step[1]:02b}" for step in steps]
    return WaveTable.of(clock, output, {"a": [bits[0] for bits in data_bits], "b": [bits[1] for bits in data_bits]})


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_telling_waveform_leaves_one_element(element: str) -> None:
    """A slow clock, and a second bit of data that passes (of combinational logic: while the clock is high)."""
    function = "00010001" if element == "combinational" else "010100110011"
    clock_and_data = zip("00001111000011110000", "10000000101100011110", strict=True)
    steps = [(level, int(bit), True) for level, bit in clock_and_data]
    assert survivors(made(element, steps, function)) == [element]


def with_gaps(samples: WaveTable, gaps: set[int]) -> WaveTable:
    """The samples with some entries unknown; a gap is 8 times its row and a number for the column."""
    columns = [list(column) for column in (samples.clock, samples.output, *samples.data.values())]
    for gap in gaps:
        if gap // 8 < len(samples.output) and gap % 8 < len(columns):
            columns[gap % 8][gap // 8] = None
    clock, output, *data = columns
    return WaveTable(samples.times, clock, dict(zip(samples.data, data, strict=True)), output)


@given(st.sampled_from(ELEMENTS), rows, functions, st.sets(st.integers(0, 191)))
def test_the_element_that_made_a_waveform_is_never_ruled_out(
        element: str, steps: list[tuple[str, int, bool]], function: list[str], gaps: set[int]) -> None:
    samples = made(element, steps, function)
    assert contradictions(samples, element) == []
    assert contradictions(with_gaps(samples, gaps), element) == []


@given(st.sampled_from(["rising", "falling"]), rows, functions)
def test_next_values_are_those_of_the_function(element: str, steps: list[tuple[str, int, bool]],
                                               function: list[str]) -> None:
    """Where the data count before the edge, as in simulations."""
    samples = made(element, [(level, data, True) for level, data, _ in steps], function)
    for one in observations(samples, element):
        data = int("".join(one.inputs), 2)
        assert one.after == (function[data] if one.before == "x" else function[4 + 2 * data + int(one.before)])
