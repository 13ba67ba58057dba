"""What is read backwards from a time is what reading from the start gives."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import groupby
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.departments.verilog.waveform import vcd
from chatdev.departments.verilog.waveform.vcd import Malformed, WaveformError
from chatdev.departments.verilog.waveform.waves import (
    Row,
    Waves,
    find_steps,
    read_steps_before,
    steps_until,
    values_before,
)

CODES = {"!": 1, "!!": 4, "\"!": 1, "0": 2, "1!": 8, "$": 1}
NAMES = {f"tb.n{number}": code for number, code in enumerate(CODES)} | {"tb.u.shared": "!!"}
REAL = "r!"
HEADER = ("$timescale 1ps $end\n$scope module tb $end\n"
          + "".join(f"$var wire {width} {code} n{number} $end\n" for number, (code, width) in enumerate(CODES.items()))
          + f"$var real 64 {REAL} real $end\n$scope module u $end\n$var wire 4 !! shared $end\n$upscope $end\n"
          + "$upscope $end\n$enddefinitions $end\n")


@st.composite
def changes(draw: st.DrawFn) -> str:
    code = draw(st.sampled_from([*CODES, REAL]))
    if code == REAL:
        return f"r{draw(st.sampled_from(['1.5', '-3e7', '0']))} {REAL}"
    if draw(st.booleans()):
        return f"{draw(st.sampled_from('01xzXZ'))}{code}"
    return f"{draw(st.sampled_from('bB'))}{draw(st.text('01xz', min_size=1, max_size=CODES[code]))} {code}"


sections = st.one_of(changes(), changes(), changes(), changes(), st.sampled_from([
    "$dumpoff\nx!\nbx !!\n$end", "$dumpon\n1!\nb11 !!\n$end", "$dumpall\n$end", "$comment nothing 1! $end", ""]))
steps = st.lists(st.tuples(st.integers(0, 3), st.lists(sections, max_size=5)), max_size=40)


def body_of(written: Iterable[tuple[int, Iterable[str]]], before: Iterable[str]) -> str:
    lines, now = [*before], 0
    for later, some in written:
        now += later
        lines += [f"#{now}", *some]
    return "".join(f"{line}\n" for line in lines)


def read_words(waves: Waves, until: float) -> list[tuple[int, str, str]]:
    """What `Waves.changes` gives, of a reader that knows no lines."""
    one_by_one = ((moment, {code: value}) for moment, code, value in vcd.read_changes(waves.path, CODES, until))
    return [(moment, name, step[code]) for moment, step in find_steps(one_by_one, {})
            for name, code in NAMES.items() if code in step]


def read_slowly(waves: Waves, time: int) -> list[Row]:
    """All rows before a time, from all changes, word by word."""
    values, rows = {name: "x" * waves.signals[name].width for name in NAMES}, []
    for moment, some in groupby(read_words(waves, time), lambda change: change[0]):
        values |= {name: bits for _, name, bits in some}
        rows.append(Row(moment, dict(values)))
    return rows


def dumped(folder: Path, body: str) -> Waves:
    path = folder / "made.vcd"
    path.write_bytes((HEADER + body).encode())
    return Waves.open(path)


@pytest.fixture
def in_small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"_PROBE": 40, "_TAIL": 24, "_SMALL": 48, "_PIECE": 96, "_FALSE_HITS": 2, "_MOST_LINES": 3}
    for name, size in sizes.items():
        monkeypatch.setattr(f"{Waves.__module__}.{name}", size)


def assert_same(waves: Waves, time: int, count: int) -> None:
    expected = read_slowly(waves, time)
    assert waves.rows_before(NAMES, time, count) == expected[-count:]
    assert [*waves.changes(NAMES, time)] == read_words(waves, time)
    assert [*waves.changes(NAMES)] == read_words(waves, inf)
    unknown = {name: "x" * waves.signals[name].width for name in NAMES}
    assert waves.values_at(NAMES, time) == (expected[-1].values if expected else unknown)


def use_lookback_alone(waves: Waves, time: int, count: int) -> None:
    """Raises Malformed where the file would be read from its start."""
    widths = {code: CODES[code] for code in CODES}
    values_before(waves.path, widths, waves.codes, time)
    read_steps_before(waves.path, widths, waves.codes, time, count)
    deque(steps_until(waves.path, widths, waves.codes, time), maxlen=0)


@settings(max_examples=150, deadline=None)
@given(steps, st.lists(changes(), max_size=3), st.integers(0, 60), st.integers(1, 12))
@pytest.mark.usefixtures("in_small_pieces")
def test_files_of_one_change_a_line(tmp_path_factory: pytest.TempPathFactory, written: list[tuple[int, list[str]]],
                                    before: list[str], time: int, count: int) -> None:
    waves = dumped(tmp_path_factory.mktemp("lines"), body_of(written, before))
    assert_same(waves, time, count)
    use_lookback_alone(waves, time, count)


@settings(max_examples=60, deadline=None)
@given(steps, st.sampled_from(["\r\n", " ", "\t", "\n\n", " \n"]), st.integers(0, 60), st.integers(1, 12))
def test_files_of_any_other_form(tmp_path_factory: pytest.TempPathFactory, written: list[tuple[int, list[str]]],
                                 space: str, time: int, count: int) -> None:
    body = body_of(written, ()).replace("\n", space)
    assert_same(dumped(tmp_path_factory.mktemp("words"), f"{body}\n"), time, count)


@pytest.mark.parametrize("body", [
    "#0\r\n1!\r\n", "#0 1!\n", "#0\nb1\n!!\n", "#0\n$comment\n1!\n$end\n", "#0\nb11  !!\n"])
def test_what_is_not_one_change_a_line_is_left_to_the_words(tmp_path: Path, body: str) -> None:
    waves = dumped(tmp_path, body)
    with pytest.raises(Malformed):
        use_lookback_alone(waves, 5, 2)
    assert_same(waves, 5, 2)


LONG = "".join(f"#{time}\n{time % 2}!\nb{time % 16:b} !!\n" for time in range(5000))


@pytest.mark.parametrize(("end", "complaint"), [
    ("1%\n", "line 15015: .*no declared signal"), ("#17\n", "line 15015: .*goes back, from 4999 to 17"),
    ("b10102 !!\n", "line 15015: .*no value of 4 bits"), ("hello\n", "line 15015: 'hello' is neither"),
    ("1!", "line 15015: .*middle of a line"), ("#12", "line 15015: .*middle of a line")])
def test_damage_near_the_time_is_told_with_its_line(tmp_path: Path, end: str, complaint: str) -> None:
    waves = dumped(tmp_path, LONG + end)
    with pytest.raises(WaveformError, match=complaint):
        waves.rows_before(NAMES, 10_000, 3)


def test_a_large_file_is_read_in_part(tmp_path: Path) -> None:
    """Else the damage in its middle would be told."""
    after = "".join(f"#{time}\n{time % 2}!\nb1 !!\n" for time in range(5000, 15_000))
    waves = dumped(tmp_path, f"{LONG}hello\n{after}")
    assert [row.time for row in waves.rows_before(["tb.n0"], 14_000, 3)] == [13_997, 13_998, 13_999]
    assert waves.values_at(["tb.n0", "tb.n1"], 14_000) == {"tb.n0": "1", "tb.n1": "0001"}
