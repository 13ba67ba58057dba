"""A timing diagram as SVG: one lane for each signal, reference and answer of an output below each other."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template

from chatdev.tools.verilog.waveform.lanes import Lane, Scale, drawn
from chatdev.tools.verilog.waveform.pairs import REFERENCE, Pair, pairs, short_names, side_by_side
from chatdev.tools.verilog.waveform.spans import Span, differences, spans
from chatdev.tools.verilog.waveform.vcd import WaveformError, Waves

WIDTH, LEFT, RIGHT = 1000, 176, 16  # pixels: of the picture, and beside the lanes
TOP, LANE, GAP, BOTTOM = 46, 26, 10, 44
_CLOCK = re.compile(r"cl(oc)?k", re.IGNORECASE)
_LABEL = 20  # characters
_TICKS = 10  # at most
_GUIDES, _MARKS = 13, 4  # pixels between those that are drawn each


@dataclass(frozen=True, slots=True)
class Placed:
    """A lane with its place: `role` is `reference`, `answer`, `clock` or empty, `label` the name as far as it fits."""

    y: int
    role: str
    label: str
    name: str
    lane: Lane


@dataclass(frozen=True, slots=True)
class Band:
    """The two lanes of one output; `shades` are where they differ: pixels from the left and widths."""

    y: int
    height: int
    label: str
    shades: Sequence[tuple[float, float]]


def diagram(waves: Waves, signals: Sequence[str], mismatch_times: Iterable[int], *, start: int, end: int) -> str:
    """The signals (full names) from `start` to `end` as an SVG 1000 pixels wide, in the colours of light or dark pages.

    `q_ref` and `q_dut` are drawn below each other and shaded where they differ; `mismatch_times`, in units of the
    waveform, are marked. Raises WaveformError.
    """
    if not signals or not 0 <= start < end:
        raise WaveformError(f"a diagram of {len(signals)} signals from {start} to {end} shows nothing; "
                            "name signals, and a start of at least 0 that is before the end")
    names = side_by_side(signals)
    found, scale = spans(waves, names, start, end), Scale(start, end, LEFT, WIDTH - RIGHT)
    rows, bands = _placed(names, found, scale)
    marks = _apart((scale.x(time), time) for time in sorted(mismatch_times) if start <= time <= end)
    return _template().render(
        width=WIDTH, left=LEFT, top=TOP, lane=LANE, height=rows[-1].y + LANE + BOTTOM,
        bottom=rows[-1].y + LANE, rows=rows, bands=bands, unit=waves.timescale, start=start, end=end, marks=marks,
        ticks=[(scale.x(time), time) for time in _ticks(start, end)], guides=_guides(rows, found, scale),
        unknown=any(row.lane.hatched or any(box.unknown for box in row.lane.boxes) for row in rows),
        floating=any(row.lane.floating for row in rows))


def _placed(names: Sequence[str], found: dict[str, list[Span]], scale: Scale) -> tuple[list[Placed], list[Band]]:
    labels, both = short_names(names), pairs(names)
    references, answers = {pair.reference: pair for pair in both}, {pair.answer for pair in both}
    rows, bands, y = list[Placed](), list[Band](), TOP
    for name in names:
        role = _role(name, references, answers)
        if role == "answer":
            y -= GAP - 2  # close to the reference
        lane = drawn(found[name], scale, LANE, clock=role == "clock")
        rows.append(Placed(y, role, _fitting(labels[name], _LABEL), name, lane))
        if name in references:
            shades = differences(found[name], found[references[name].answer])
            label = _fitting(labels[name].removesuffix(REFERENCE), _LABEL // 2)
            bands.append(Band(y - 4, 2 * LANE + 10, label, [(scale.x(a), scale.x(b) - scale.x(a)) for a, b in shades]))
        y += LANE + GAP
    return rows, bands


def _role(name: str, references: dict[str, Pair], answers: set[str]) -> str:
    if name in references:
        return "reference"
    if name in answers:
        return "answer"
    return "clock" if _CLOCK.fullmatch(name.rpartition(".")[2]) else ""


def _fitting(name: str, room: int) -> str:
    """The end of a name."""
    return name if len(name) <= room else f"…{name[1 - room:]}"


def _ticks(start: int, end: int) -> range:
    """Times at round distances."""
    step, factors = 1, 0
    while (end - start) // step >= _TICKS:
        step = step * 5 // 2 if factors % 3 == 1 else step * 2  # 1, 2, 5, 10, …
        factors += 1
    return range(-(-start // step) * step, end + 1, step)


def _guides(rows: Sequence[Placed], found: dict[str, list[Span]], scale: Scale) -> list[float]:
    """Where the first clock rises; nowhere when that is too often for the eye."""
    clock = next((row.name for row in rows if row.role == "clock"), None)
    if clock is None:
        return []
    edges = [scale.x(late.start) for early, late in pairwise(found[clock]) if (early.bits, late.bits) == ("0", "1")]
    return edges if all(late - early >= _GUIDES for early, late in pairwise(edges)) else []


def _apart(marks: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """The first of the marks that would cover each other."""
    return [next(group) for _, group in groupby(marks, key=lambda mark: mark[0] // _MARKS)]


@functools.cache
def _template() -> Template:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    return environment.from_string((Path(__file__).parent / "picture.j2").read_text(encoding="utf-8"))
