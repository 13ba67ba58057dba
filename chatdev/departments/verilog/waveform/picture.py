"""A waveform for readers: a timing diagram as SVG, one lane for each signal, and the rows before a mismatch as a table
for agents, after the waveform tracing of VerilogCoder (arXiv 2408.08927)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from math import log2
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template

from chatdev.departments.verilog.compilation import render_report
from chatdev.departments.verilog.waveform.comparison import (
    REFERENCE,
    Pair,
    Span,
    differing_bits,
    differing_spans,
    find_pairs,
    pair_columns,
    range_text,
    read_spans,
    short_names,
    value_text,
)
from chatdev.departments.verilog.waveform.recorded import window
from chatdev.departments.verilog.waveform.vcd import WaveformError
from chatdev.departments.verilog.waveform.waves import Row, Waves

WIDTH, LEFT, RIGHT = 1000, 176, 16  # pixels: of the picture, and beside the lanes
_ROLES = 70  # pixels more beside them, where `reference` and `answer` stand behind names
TOP, LANE, GAP, BOTTOM = 46, 26, 10, 44
_CLOCK = re.compile(r"cl(oc)?k", re.IGNORECASE)
_LABEL = 20  # characters
_TICKS = 10  # at most
_GUIDES, _MARKS = 13, 4  # pixels between those that are drawn each
_NARROWEST_BIT, _NARROWEST_BOX = 2.0, 5.0  # what is narrower is drawn as one block
_CHARACTER = 6.7  # the width of one, of the size that values have
_SLANT = 4.0
_ARROW = 14.0  # between rising edges that have arrows


@dataclass(frozen=True, slots=True)
class PlacedLane:
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


@dataclass(frozen=True, slots=True)
class TimeUnit:
    """In which times are told: `name` (`ns`), and how many units of the waveform one is."""

    name: str
    size: int = 1

    def text(self, time: int) -> str:
        """A time of the waveform: `12.5`."""
        whole, rest = divmod(time, self.size)
        return f"{whole}.{rest * 1000 // self.size:03}".rstrip("0").rstrip(".") if rest else str(whole)


def draw_diagram(waves: Waves, signals: Sequence[str], mismatch_times: Iterable[int], *, start: int, end: int,
                 unit: TimeUnit | None = None) -> str:
    """The signals (full names) from `start` to `end` as an SVG 1000 pixels wide, in the colours of light or dark pages.

    `q_ref` and `q_dut` are drawn below each other and shaded where they differ; `mismatch_times` are marked. Times are
    given in units of the waveform, and told in the `unit`. Raises WaveformError.
    """
    if not signals or not 0 <= start < end:
        raise WaveformError(f"a diagram of {len(signals)} signals from {start} to {end} shows nothing; "
                            "name signals, and a start of at least 0 that is before the end")
    unit, names = _fitting_unit(waves, unit, end - start), pair_columns(signals)
    left = LEFT + (_ROLES if find_pairs(names) else 0)
    found, scale = read_spans(waves, names, start, end), Scale(start, end, left, WIDTH - RIGHT)
    rows, bands = _place_lanes(names, found, scale, unit)
    marks = _drop_close_marks((scale.x(time), time) for time in sorted(mismatch_times) if start <= time <= end)
    return _template().render(
        width=WIDTH, left=left, top=TOP, lane=LANE, height=rows[-1].y + LANE + BOTTOM,
        bottom=rows[-1].y + LANE, rows=rows, bands=bands, unit=unit, start=start, end=end, marks=marks,
        differing=any(band.shades for band in bands), **_kinds_of_bits(rows),
        ticks=[(scale.x(time), unit.text(time)) for time in _ticks(start, end, unit.size)],
        guides=_guides(rows, found, scale))


def _fitting_unit(waves: Waves, unit: TimeUnit | None, span: int) -> TimeUnit:
    """The unit, or that of the waveform where less than one of it is drawn."""
    return unit if unit and unit.size <= span else TimeUnit(waves.timescale)


def _kinds_of_bits(rows: Sequence[PlacedLane]) -> dict[str, bool]:
    """Which kinds of bits there are that the legend explains."""
    return {"unknown": any(row.lane.hatched or any(box.unknown for box in row.lane.boxes) for row in rows),
            "floating": any(row.lane.floating for row in rows)}


def _place_lanes(names: Sequence[str], found: dict[str, list[Span]], scale: Scale,
                 unit: TimeUnit) -> tuple[list[PlacedLane], list[Band]]:
    labels, both = short_names(names), find_pairs(names)
    references, answers = {pair.reference: pair for pair in both}, {pair.answer for pair in both}
    rows, bands, y = list[PlacedLane](), list[Band](), TOP
    for name in names:
        role = _role(name, references, answers)
        if role == "answer":
            y -= GAP - 2  # close to the reference
        lane = draw_lane(found[name], scale, LANE, unit, clock=role == "clock")
        rows.append(PlacedLane(y, role, _shorten_name(labels[name], _LABEL), name, lane))
        if name in references:
            shades = differing_spans(found[name], found[references[name].answer])
            label = _shorten_name(labels[name].removesuffix(REFERENCE), _LABEL)
            bands.append(Band(y - 4, 2 * LANE + 10, label, [(scale.x(a), scale.x(b) - scale.x(a)) for a, b in shades]))
        y += LANE + GAP
    return rows, bands


def _role(name: str, references: dict[str, Pair], answers: set[str]) -> str:
    if name in references:
        return "reference"
    if name in answers:
        return "answer"
    return "clock" if _CLOCK.fullmatch(name.rpartition(".")[2]) else ""


def _shorten_name(name: str, room: int) -> str:
    """The end of a name."""
    return name if len(name) <= room else f"…{name[1 - room:]}"


def _ticks(start: int, end: int, unit: int) -> range:
    """Times at round distances in the unit."""
    step, factors = unit, 0
    while (end - start) // step >= _TICKS:
        step = step * 5 // 2 if factors % 3 == 1 else step * 2  # 1, 2, 5, 10, …
        factors += 1
    return range(-(-start // step) * step, end + 1, step)


def _guides(rows: Sequence[PlacedLane], found: dict[str, list[Span]], scale: Scale) -> list[float]:
    """Where the first clock rises; nowhere when that is too often for the eye."""
    clock = next((row.name for row in rows if row.role == "clock"), None)
    if clock is None:
        return []
    edges = [scale.x(late.start) for early, late in pairwise(found[clock]) if (early.bits, late.bits) == ("0", "1")]
    return edges if all(late - early >= _GUIDES for early, late in pairwise(edges)) else []


def _drop_close_marks(marks: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    """The first of the marks that would cover each other."""
    return [next(group) for _, group in groupby(marks, key=lambda mark: mark[0] // _MARKS)]


@functools.cache
def _template() -> Template:
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=True)
    return environment.from_string((Path(__file__).parent / "picture.j2").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Scale:
    """From times to pixels."""

    start: int
    end: int
    left: float
    right: float

    def x(self, time: int) -> float:
        """Pixels from the left."""
        return round(self.left + (self.right - self.left) * (time - self.start) / (self.end - self.start), 2)


@dataclass(frozen=True, slots=True)
class Box:
    """A value of a bus: the corners, the text with the place of its middle, and what a pointer on it shows."""

    points: str
    text: str
    middle: float
    title: str
    unknown: bool


@dataclass(slots=True)
class Lane:
    """What to draw, from 0 at the top of the lane downwards: `line` and `floating` are the `d` of paths, `hatched` and
    `busy` are (x, width), `arrows` the places of rising edges."""

    line: str = ""
    floating: str = ""
    hatched: list[tuple[float, float]] = field(default_factory=list)
    busy: list[tuple[float, float]] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    arrows: list[float] = field(default_factory=list)


def draw_lane(spans: Sequence[Span], scale: Scale, height: int, unit: TimeUnit, *, clock: bool) -> Lane:
    """The shapes of a signal; a clock has arrows where it rises."""
    lane, wide = Lane(), list[Span]()
    is_bit = all(len(span.bits) == 1 for span in spans)  # a file may say two widths of one signal
    narrowest = _NARROWEST_BIT if is_bit else _NARROWEST_BOX
    for narrow, group in groupby(spans, key=lambda span: scale.x(span.end) - scale.x(span.start) < narrowest):
        run = list(group)
        if narrow and len(run) > 1:
            lane.busy.append((scale.x(run[0].start), scale.x(run[-1].end) - scale.x(run[0].start)))
        else:
            wide += run
    if is_bit:
        _draw_bit(lane, wide, scale, height)
        lane.arrows = _rising_edges(wide, scale) if clock else []
    else:
        lane.boxes = [_box(span, scale, height, unit) for span in wide]
    return lane


def _draw_bit(lane: Lane, spans: Sequence[Span], scale: Scale, height: int) -> None:
    levels = {"0": height - 3, "1": 3, "z": height / 2}
    line, before = list[str](), None
    for span in spans:
        left, right = scale.x(span.start), scale.x(span.end)
        joined = before is not None and before.end == span.start and before.bits in "01"
        if span.bits in "01":
            level = levels[span.bits]
            line.append(f"V{level}H{right}" if joined else f"M{left} {level}H{right}")
        elif span.bits == "z":
            lane.floating += f"M{left} {levels['z']}H{right}"
        else:
            lane.hatched.append((left, right - left))
        before = span
    lane.line = "".join(line)


def _rising_edges(spans: Sequence[Span], scale: Scale) -> list[float]:
    edges = [scale.x(late.start) for early, late in pairwise(spans)
             if (early.bits, late.bits) == ("0", "1") and early.end == late.start]
    return edges if all(late - early >= _ARROW for early, late in pairwise(edges)) else []


def _box(span: Span, scale: Scale, height: int, unit: TimeUnit) -> Box:
    left, right = scale.x(span.start), scale.x(span.end)
    value, when = value_text(span.bits), f"from {unit.text(span.start)} to {unit.text(span.end)}"
    return Box(points=" ".join(f"{x:g},{y:g}" for x, y in _corners(span, scale, height)),
               text=_shorten_value(value, right - left - 2 * _SLANT), middle=round((left + right) / 2, 2),
               title=f"{value} {when}", unknown=bool(span.bits.strip("01")))


def _corners(span: Span, scale: Scale, height: int) -> Iterator[tuple[float, float]]:
    """A hexagon; straight at an end that is only cut off."""
    left, right, top, bottom = scale.x(span.start), scale.x(span.end), 3.0, height - 3.0
    slant = min(_SLANT, (right - left) / 2)
    first = 0.0 if span.start == scale.start else slant
    last = 0.0 if span.end == scale.end else slant
    yield from ((left + first, top), (right - last, top), (right, height / 2), (right - last, bottom),
                (left + first, bottom), (left, height / 2))


def _shorten_value(text: str, width: float) -> str:
    """As much of a value as there is room for; nothing where that would mean nothing."""
    room = int(width / _CHARACTER)
    if len(text) <= room:
        return text
    return f"{text[:room - 1]}…" if room > 3 else ""


# The rows before a mismatch as a table for agents, after the waveform tracing of VerilogCoder (arXiv 2408.08927).

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
    return next(render_tables(waves, names, time, [count]))


def render_tables(waves: Waves, names: Sequence[str], time: int, counts: Sequence[int]) -> Iterator[str]:
    """The same with as many rows as each of `counts`, of which the first is the largest; the waveform is read once."""
    columns = pair_columns(names)
    rows = waves.rows_before(columns, time, _LOOK_BACK * counts[0])
    for count in counts:
        yield _table_of(rows[-_LOOK_BACK * count:], columns, time, waves.timescale, count)


def _table_of(rows: Sequence[Row], columns: Sequence[str], time: int, timescale: str, count: int) -> str:
    labels = short_names(columns)
    header = ["time", *_join_cells(columns, [labels[name] for name in columns])]
    lines = [header, *(_line(entry, columns) for entry in _last_entries(_fold(rows), count))]
    last = rows[-1] if rows else None
    return render_report("table", time=time, timescale=timescale, lines=_align(lines), last=last,
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


# A waveform for viewers: what they read to show the signals that matter, at the time that matters.

_FRAMES = 3  # of 200 pixels, whose width in time is what GTKWave's zoom says (as a power of 1/2)


def viewer_files(waves: Waves, dump: str, signals: Sequence[str], time: int | None) -> dict[str, str]:
    """By their endings: a save file of GTKWave, and a command file of Surfer (`surfer --command-file`). They open the
    file `dump` beside them with these signals (full names), and a cursor at `time` in units of the waveform; GTKWave
    shows what a picture would."""
    known = [waves.signals[name] for name in signals if name in waves.signals]
    start, end = window([one.name for one in known], waves, None if time is None else time + 1)
    zoom = -log2(max(1, end - start) / _FRAMES)
    marker = f"*{zoom:.6f} {-1 if time is None else time}{' -1' * 26}\n"
    cursor = "" if time is None else f"cursor_set {time}\ngoto_cursor\n"
    return {
        ".gtkw": (f'[dumpfile] "{dump}"\n[timestart] {start}\n{marker}'
                  + "".join(f"{one.name}{one.range}\n" for one in known)),
        ".sucl": f"load_file {dump}\n" + "".join(f"variable_add {one.name}\n" for one in known) + f"zoom_fit\n{cursor}",
    }


_VARIABLE, _USE = re.compile(r"--(\w+): (#\w+)"), re.compile(r"var\(--(\w+)\)")
_DARK = re.compile(r"@media \(prefers-color-scheme: dark\) \{.*?\} \}\n", re.DOTALL)


def resolve_colours(svg: str) -> str:
    """The picture with the colours of a light page in it, for viewers that know no variables of CSS: they draw all in
    black."""
    light = _DARK.sub("", svg)
    colours = dict(_VARIABLE.findall(light))
    return _USE.sub(lambda found: colours[found[1]], light)
