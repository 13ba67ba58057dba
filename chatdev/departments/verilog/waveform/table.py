"""The rows before a mismatch as a table for agents, after the waveform tracing of VerilogCoder (arXiv 2408.08927).

A bench compares before the updates of the time it names, so the last row here is the one before that time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from chatdev.departments.verilog.messages import render_report
from chatdev.departments.verilog.waveform.comparison import (
    REFERENCE,
    Pair,
    differing_bits,
    find_pairs,
    pair_columns,
    range_text,
    short_names,
    value_text,
)
from chatdev.departments.verilog.waveform.waves import Row, Waves

_BINARY = 64  # bits
_LOOK_BACK = 8  # times as many rows are read as are shown, for most of them may be folded


@dataclass(frozen=True, slots=True)
class _Fold:
    """Rows that are left out, since they are the two before them in turns."""

    count: int
    until: int


@dataclass(frozen=True, slots=True)
class OutputDifference:
    """An output whose values differ in a row: its short name, both values (in binary up to 64 bits), and the bits at
    fault, empty when it has but one."""

    name: str
    expected: str
    given: str
    bits: str


def render_table(waves: Waves, names: Sequence[str], time: int, *, count: int = 20) -> str:
    """The last `count` rows before `time` in units of the waveform, one column for each full name.

    `q_ref` and `q_dut` stand side by side, with `!=` between them where the bench finds them different; rows that only
    repeat what came before (a clock ticking) are folded. Raises WaveformError.
    """
    columns = pair_columns(names)
    rows = waves.rows_before(columns, time, _LOOK_BACK * count)
    labels = short_names(columns)
    header = ["time", *_join_cells(columns, [labels[name] for name in columns])]
    lines = [header, *(_line(entry, columns) for entry in _last_entries(_fold(rows), count))]
    last = rows[-1] if rows else None
    return render_report("table", time=time, timescale=waves.timescale, lines=_align(lines), last=last,
                         paired=bool(find_pairs(columns)),
                         differences=output_differences(last, columns) if last else [])


def output_differences(row: Row, names: Sequence[str]) -> list[OutputDifference]:
    """The outputs that differ in a row."""
    labels = short_names(names)
    found = []
    for pair in find_pairs(names):
        expected, given = row.values[pair.reference], row.values[pair.answer]
        if bits := differing_bits(expected, given):
            values = (expected, given) if len(expected) <= _BINARY else (value_text(expected), value_text(given))
            found.append(OutputDifference(labels[pair.reference].removesuffix(REFERENCE), *values,
                                    range_text(bits) if len(expected) > 1 else ""))
    return found


def _fold(rows: Sequence[Row]) -> list[Row | _Fold]:
    """The rows, with runs of at least two that repeat the two shown before them put together; never the last row."""
    entries: list[Row | _Fold] = []
    run: list[Row] = []
    for row in rows[:-1]:
        if row.values == _values_in_turn(entries, len(run)):
            run.append(row)
            continue
        entries += [*_fold_run(run), row]
        run = []
    return [*entries, *_fold_run(run), *rows[-1:]]


def _values_in_turn(entries: Sequence[Row | _Fold], place: int) -> Mapping[str, str] | None:
    """The values whose turn it is at that place of a run; None where no two rows stand before it."""
    match entries:
        case [*_, Row() as first, Row() as second]:
            return (second if place % 2 else first).values
    return None


def _fold_run(run: Sequence[Row]) -> Sequence[Row | _Fold]:
    return [_Fold(len(run), run[-1].time)] if len(run) > 1 else run


def _last_entries(entries: Sequence[Row | _Fold], count: int) -> Sequence[Row | _Fold]:
    """The last entries, at least `count` of them, so that the two rows that a fold speaks of are there."""
    start = max(0, len(entries) - count)
    fold = next((at for at in range(start, min(start + 2, len(entries))) if isinstance(entries[at], _Fold)), start + 2)
    return entries[fold - 2:]


def _line(entry: Row | _Fold, columns: Sequence[str]) -> list[str] | str:
    if isinstance(entry, _Fold):
        return f"… {entry.count} more rows in which the two above take turns, until {entry.until}"
    wrong = {pair for pair in find_pairs(columns)
             if differing_bits(entry.values[pair.reference], entry.values[pair.answer])}
    return [str(entry.time), *_join_cells(columns, [value_text(entry.values[name]) for name in columns], wrong)]


def _join_cells(columns: Sequence[str], texts: Sequence[str], wrong: Set[Pair] = frozenset()) -> list[str]:
    """One cell for each column, with a narrow one within each pair."""
    within = {pair.answer: "!=" if pair in wrong else "" for pair in find_pairs(columns)}
    return [cell for name, text in zip(columns, texts, strict=True)
            for cell in ([within[name], text] if name in within else [text])]


def _align(lines: Sequence[list[str] | str]) -> list[str]:
    """The lines as text, their cells below each other."""
    cells = [line for line in lines if not isinstance(line, str)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [line if isinstance(line, str) else
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
