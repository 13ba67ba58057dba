"""The shapes of one signal in a timing diagram: lines for bits, hexagons for buses. Sizes are in pixels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from chatdev.tools.verilog.waveform.pairs import shown
from chatdev.tools.verilog.waveform.spans import Span

_NARROWEST_BIT, _NARROWEST_BOX = 2.0, 5.0  # what is narrower is drawn as one block
_CHARACTER = 6.7  # the width of one, of the size that values have
_SLANT = 4.0
_ARROW = 14.0  # between rising edges that have arrows


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
    """A value of a bus: the corners, the text with the place of its middle, and what is told to those who point there.
    """

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


def drawn(spans: Sequence[Span], scale: Scale, height: int, *, clock: bool) -> Lane:
    """The shapes of a signal; a clock has arrows where it rises."""
    lane, wide = Lane(), list[Span]()
    narrowest = _NARROWEST_BIT if len(spans[0].bits) == 1 else _NARROWEST_BOX
    for narrow, group in groupby(spans, key=lambda span: scale.x(span.end) - scale.x(span.start) < narrowest):
        run = list(group)
        if narrow and len(run) > 1:
            lane.busy.append((scale.x(run[0].start), scale.x(run[-1].end) - scale.x(run[0].start)))
        else:
            wide += run
    if len(spans[0].bits) == 1:
        _draw_bit(lane, wide, scale, height)
        lane.arrows = _rising(wide, scale) if clock else []
    else:
        lane.boxes = [_box(span, scale, height) for span in wide]
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


def _rising(spans: Sequence[Span], scale: Scale) -> list[float]:
    edges = [scale.x(late.start) for early, late in pairwise(spans)
             if (early.bits, late.bits) == ("0", "1") and early.end == late.start]
    return edges if all(late - early >= _ARROW for early, late in pairwise(edges)) else []


def _box(span: Span, scale: Scale, height: int) -> Box:
    left, right = scale.x(span.start), scale.x(span.end)
    value = shown(span.bits)
    return Box(points=" ".join(f"{x:g},{y:g}" for x, y in _corners(span, scale, height)),
               text=_fitting(value, right - left - 2 * _SLANT), middle=round((left + right) / 2, 2),
               title=f"{value} from {span.start} to {span.end}", unknown=bool(span.bits.strip("01")))


def _corners(span: Span, scale: Scale, height: int) -> Iterator[tuple[float, float]]:
    """A hexagon; straight at an end that is only cut off."""
    left, right, top, bottom = scale.x(span.start), scale.x(span.end), 3.0, height - 3.0
    slant = min(_SLANT, (right - left) / 2)
    first = 0.0 if span.start == scale.start else slant
    last = 0.0 if span.end == scale.end else slant
    yield from ((left + first, top), (right - last, top), (right, height / 2), (right - last, bottom),
                (left + first, bottom), (left, height / 2))


def _fitting(text: str, width: float) -> str:
    """As much of a value as there is room for; nothing where that would mean nothing."""
    room = int(width / _CHARACTER)
    if len(text) <= room:
        return text
    return f"{text[:room - 1]}…" if room > 3 else ""
