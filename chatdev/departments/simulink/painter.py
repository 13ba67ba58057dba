"""A model as a picture in SVG that looks like Simulink's own: blocks with their names, ports, and orthogonal wires.

The same model gives the same picture, byte for byte. Whatever names and parameters hold is text, never markup.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from html import escape

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.frames import LINE, MARK_SIZE, NAME_SIZE, Box, Frame, Point, Terminal
from chatdev.departments.simulink.layout import Picture, arrange
from chatdev.departments.simulink.routing import Route
from chatdev.departments.simulink.symbols import FONT, SPACING, TEXT, clean, shorten, text_width
from chatdev.runner.raster import rasterise

_PADDING = 20
_INK, _NAME_INK, _WIRE, _LOST = "#1a1a1a", "#1f3864", "#1a1a1a", "#c00000"
_DOMAINS = {"ps": "#8a4b08", "electrical": "#0b3fa8", "three_phase": "#6a1b9a", "rotational": "#4b7a12",
            "translational": "#1b6e3c", "thermal": "#b3261e", "hydraulic": "#0b6a8a", "any": "#505050"}
_HEAD = 6  # pixels; the length of an arrowhead
_PAIR = re.compile(r"(-?[\d.]+),(-?[\d.]+)")
_BEYOND_FONT = "\u0530"  # the first letter for which the font of ours may not do
_SMALLEST = 7.0  # pixels; smaller text could not be read


def draw(diagram: Diagram) -> str:
    """The model as SVG. Blocks that have no position are placed."""
    return paint(arrange(diagram))


def draw_png(diagram: Diagram, scale: float = 2.0) -> bytes:
    """The model as PNG, `scale` pixels for each of its own. Raises MissingProgram without a renderer or a font."""
    svg = draw(diagram)
    return rasterise(svg.encode(), scale, max(svg) >= _BEYOND_FONT)


def paint(picture: Picture) -> str:
    """A picture as SVG."""
    view = view_of(picture)
    width, height = math.ceil(view.right - view.left), math.ceil(view.bottom - view.top)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="{_number(view.left)} {_number(view.top)} {width} {height}" '
             f'font-family="{FONT}, Verdana, Arial, sans-serif" letter-spacing="{SPACING}" fill="none" '
             'stroke-linejoin="round">',
             f"<title>{escape(clean(picture.diagram.name))}</title>",
             *(f"<desc>{escape(clean(fault))}</desc>" for fault in picture.faults),
             f'<rect x="{_number(view.left)}" y="{_number(view.top)}" width="{width}" height="{height}" fill="#fff"/>']
    for route in picture.routes:
        parts.extend(_wires(route, picture))
    for frame in picture.frames.values():
        parts.extend(_block(frame, picture))
    return "\n".join([*parts, "</svg>", ""])


def view_of(picture: Picture) -> Box:
    boxes: list[tuple[float, float, float, float]] = [
        box for frame in picture.frames.values() for box in (frame.box, frame.room)]
    points = [point for route in picture.routes for path in route.paths for point in path.points]
    boxes += [(x, y, x, y) for x, y in points]
    lefts, tops, rights, bottoms = zip(*boxes or [(0, 0, 100, 60)], strict=True)
    return Box(math.floor(min(lefts)) - _PADDING, math.floor(min(tops)) - _PADDING, max(rights) + _PADDING,
               max(bottoms) + _PADDING)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _pairs(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _wires(route: Route, picture: Picture) -> Iterator[str]:
    colour = _DOMAINS.get(route.domain, _WIRE)
    for path in route.paths:
        points: list[tuple[float, float]] = list(path.points)
        if not route.is_physical and path.target.role == "in":
            points[-1] = points[-1][0] + path.target.way[0] * _HEAD / 2, points[-1][1] + path.target.way[1] * _HEAD / 2
            yield _head(path.points[-1], path.target.way, colour)
        yield f'<polyline points="{_pairs(points)}" stroke="{colour}" stroke-width="1.3"/>'
    for x, y in route.dots:
        yield f'<circle cx="{x}" cy="{y}" r="2.8" fill="{colour}"/>'
    first = route.terminals[0]
    for terminal in route.lost:
        if terminal != first:
            points = [picture.frames[end.end.block].place_of(end) for end in (first, terminal)]
            yield (f'<polyline points="{_pairs(points)}" stroke="{_LOST}" stroke-width="1.3" '
                   'stroke-dasharray="5 4"/>')


def _head(tip: Point, way: Point, colour: str) -> str:
    (x, y), (right, down) = tip, way
    back = x + right * _HEAD, y + down * _HEAD
    wings = [(back[0] + sign * down * 3.5, back[1] + sign * right * 3.5) for sign in (1, -1)]
    return f'<polygon points="{_pairs([tip, *wings])}" fill="{colour}"/>'


def _block(frame: Frame, picture: Picture) -> Iterator[str]:
    yield f"<g><title>{escape(clean(frame.title))} ({escape(clean(frame.block.type))})</title>"
    yield from _outline(frame)
    yield from _inside(frame)
    wired = {terminal.end for route in picture.routes for terminal in route.terminals}
    for terminal in frame.terminals:
        yield from _port(frame, terminal, terminal.end in wired)
    yield from _name(frame)
    yield "</g>"


def _outline(frame: Frame) -> Iterator[str]:
    box, kind = frame.box, frame.face.symbol.outline
    style = f'fill="#fff" stroke="{_INK}" stroke-width="1.2"'
    wide, high = box.right - box.left, box.bottom - box.top
    shapes: dict[str, list[tuple[float, float]]] = {
        "triangle": [(0, 0), (1, 0.5), (0, 1)], "goto": [(0, 0), (0.8, 0), (1, 0.5), (0.8, 1), (0, 1)],
        "from": [(0, 0), (1, 0), (1, 1), (0, 1), (0.2, 0.5)]}
    if kind in shapes:
        yield f'<polygon points="{_pairs(frame.turned(u, v) for u, v in shapes[kind])}" {style}/>'
    elif kind == "circle":
        yield (f'<ellipse cx="{_number(box.left + wide / 2)}" cy="{_number(box.top + high / 2)}" '
               f'rx="{_number(wide / 2)}" ry="{_number(high / 2)}" {style}/>')
    elif kind != "bare":
        corner = min(wide, high) / 2 if kind == "oval" else 1
        fill = _INK if kind == "bar" else "#fff"
        yield (f'<rect x="{_number(box.left)}" y="{_number(box.top)}" width="{_number(wide)}" '
               f'height="{_number(high)}" rx="{_number(corner)}" fill="{fill}" stroke="{_INK}" stroke-width="1.2"/>')


def _inside(frame: Frame) -> Iterator[str]:
    symbol = frame.face.symbol
    if symbol.strokes:
        domains = (terminal.port.domain for terminal in frame.terminals if terminal.port.domain not in ("any", "ps"))
        colour = _DOMAINS.get(next(domains, ""), _INK) if symbol.outline == "bare" else _INK
        path = _PAIR.sub(lambda at: _pairs([frame.turned(float(at[1]) / 100, float(at[2]) / 100)]), symbol.strokes)
        yield f'<path d="{path}" stroke="{colour}" stroke-width="1.3"/>'
    lines = [line for line in frame.face.lines if line]
    if lines and symbol.outline != "bar":
        yield from _lettering(frame, lines)


def _lettering(frame: Frame, lines: list[str]) -> Iterator[str]:
    outline, box = frame.face.symbol.outline, frame.box
    x, y = frame.turned(0.36 if outline == "triangle" else 0.5, 0.5)
    across, down = {"triangle": (0.62, 0.62), "goto": (0.8, 0.92), "from": (0.8, 0.92)}.get(outline, (0.92, 0.92))
    room = (box.right - box.left) * across
    size = _fitting(lines, room, (box.bottom - box.top) * down)
    for number, line in enumerate(lines):
        middle = y + (number - (len(lines) - 1) / 2) * size * 1.3
        yield _text(shorten(line, size, room), x, middle + size * 0.36, size)
    if frame.face.fraction:
        half = max(text_width(line, size) for line in lines) / 2 + 3
        yield f'<path d="M{_pairs([(x - half, y)])} H{_number(x + half)}" stroke="{_INK}"/>'


def _fitting(lines: list[str], room: float, height: float) -> float:
    """The size in which the lines fit, as far as it can still be read."""
    widest = max(text_width(line, 1) for line in lines) or 1
    return max(_SMALLEST, min(TEXT, room / widest, height / (1.3 * len(lines))))


def _text(line: str, x: float, y: float, size: float, anchor: str = "middle", colour: str = _INK) -> str:
    return (f'<text x="{_number(x)}" y="{_number(y)}" font-size="{_number(size)}" text-anchor="{anchor}" '
            f'fill="{colour}">{escape(line)}</text>')


def _port(frame: Frame, terminal: Terminal, is_wired: bool) -> Iterator[str]:
    (x, y), (right, down) = frame.place_of(terminal), terminal.way
    if terminal.role == "both":
        colour = _DOMAINS.get(terminal.port.domain, _INK)
        yield f'<rect x="{x - 2.5}" y="{y - 2.5}" width="5" height="5" fill="{colour}"/>'
    elif not is_wired:
        near, far = (x, y), (x + right * 4, y + down * 4)
        tip, foot = (far, near) if terminal.role == "out" else (near, far)
        wings = [(foot[0] + sign * down * 3, foot[1] + sign * right * 3) for sign in (1, -1)]
        yield f'<polyline points="{_pairs([wings[0], tip, wings[1]])}" stroke="{_INK}"/>'
    if terminal.mark:
        mark = shorten(clean(terminal.mark), MARK_SIZE, max(20.0, frame.size[0] * 0.55))
        anchor = {1: "end", -1: "start"}.get(right, "middle")
        inset = 7 if frame.face.symbol.outline == "circle" else 5
        yield _text(mark, x - right * inset if right else x, y - down * inset + MARK_SIZE * 0.36, MARK_SIZE,
                    "middle" if inset == 7 else anchor)


def _name(frame: Frame) -> Iterator[str]:
    room = frame.room
    for number, line in enumerate(frame.name):
        yield _text(line, (room.left + room.right) / 2, room.top + LINE * (number + 1) - 3, NAME_SIZE,
                    colour=_NAME_INK)
