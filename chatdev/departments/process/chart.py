"""A process tree as a chart: tasks, gateways, flows between them, where they lie, and how often a log took them; as a
picture (SVG, PNG)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from textwrap import wrap
from typing import Literal, NamedTuple
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

from chatdev.departments.process.conformance import TreePath, Visits
from chatdev.departments.process.process_tree import SILENT, ProcessTree, normalise

NodeKind = Literal["start", "end", "task", "exclusive", "parallel"]

PAGE = 1100
"""Pixels: longer sequences go on in the next line."""
_LEAST_ROOM = 400  # pixels for what lies within gateways, however little of the page is left
_SIZES = {"start": 36, "end": 36, "exclusive": 50, "parallel": 50}
_TASK_HEIGHT, _LEAST_TASK, _MOST_TASK, _LETTER, _LINES = 80, 100, 240, 8, 4  # pixels; lines of a long name
_GAP, _ROW_GAP, _MARGIN = 46, 30, 20
_TURN = 36  # pixels from a node to where its flow turns into the next line
_MOST_LABEL = 18  # letters
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class FlowNode:
    """A task, a gateway, or where the process begins and ends; `x` and `y` are its middle, in pixels to the right and
    down."""

    id: str
    kind: NodeKind
    x: int
    y: int
    name: str = ""
    """Of a task: the phase, as it can be read; of a gateway where ways part: what is asked there."""
    counts: tuple[int, int] | None = None
    """Of a task: how often the log ran it, and in how many of its cases."""

    @property
    def width(self) -> int:
        """Of a task as its name needs; of others as programs for BPMN draw them."""
        return _SIZES.get(self.kind) or _task_width(self.name)

    @property
    def height(self) -> int:
        """In pixels, as the width."""
        return _SIZES.get(self.kind, _TASK_HEIGHT)


class Flow(NamedTuple):
    """From a node to a node, by their ids, along straight lines between points; `times` is how often the log
    took it."""

    source: str
    target: str
    points: tuple[tuple[int, int], ...]
    times: int | None = None

    @property
    def label_at(self) -> tuple[int, int]:
        """Where its count stands: the middle of the foot of a label beside the node that it leaves."""
        (x, y), (turn_x, turn_y) = self.points[:2]
        if turn_x == x:  # it leaves below the node
            way = 1 if self.points[2][0] > x else -1
            return x + way * (_SIZES["exclusive"] // 2 + _GAP // 2), turn_y - 5
        return x + (_GAP // 2 if turn_x > x else -_GAP // 2), y - 5


@dataclass(slots=True)
class FlowGraph:
    """The nodes of a chart and the flows between them; `cases` is how many of the log are counted."""

    nodes: list[FlowNode] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    cases: int | None = None

    def add(self, kind: NodeKind, x: int, y: int, name: str = "", counts: tuple[int, int] | None = None) -> FlowNode:
        """A new node, with an id of its own."""
        self.nodes.append(FlowNode(f"{kind}_{len(self.nodes) + 1}", kind, x, y, name, counts))
        return self.nodes[-1]

    def connect(self, source: FlowNode, target: FlowNode, row: int, count: int | None = None) -> None:
        """A new flow in the row at this height: from the side of a node that lies in it, else from below the node."""
        way = 1 if source.x < target.x else -1
        begin, end = ([(node.x + side * node.width // 2, row)] if node.y == row else
                      [(node.x, node.y + node.height // 2), (node.x, row)]
                      for node, side in ((source, way), (target, -way)))
        self.flows.append(Flow(source.id, target.id, (*begin, *reversed(end)), count))

    def turn(self, source: FlowNode, target: FlowNode, between: int, way: int, count: int | None) -> None:
        """A new flow to the first node of the next line, along the free height between the two."""
        begin, end = source.x + way * source.width // 2, target.x - way * target.width // 2
        right, left = begin + way * _TURN, end - way * _TURN
        self.flows.append(Flow(source.id, target.id, (
            (begin, source.y), (right, source.y), (right, between), (left, between), (left, target.y),
            (end, target.y)), count))

    @property
    def extent(self) -> tuple[int, int]:
        """Width and height, in pixels."""
        corners = [(node.x + node.width // 2, node.y + node.height // 2) for node in self.nodes]
        corners += [point for flow in self.flows for point in flow.points]
        return max((x for x, _ in corners), default=0) + _MARGIN, max((y for _, y in corners), default=0) + _MARGIN

    def gateways(self) -> Iterator[FlowNode]:
        """Where ways part or meet."""
        return (node for node in self.nodes if node.kind in ("exclusive", "parallel"))

    def choices(self) -> dict[str, list[Flow]]:
        """The flows that leave each exclusive gateway with several of them; first that at its side, which goes on."""
        heights = {node.id: node.y for node in self.nodes if node.kind == "exclusive"}
        found: dict[str, list[Flow]] = {}
        for flow in self.flows:
            if flow.source in heights:
                found.setdefault(flow.source, []).append(flow)
        return {id: sorted(flows, key=lambda flow: flow.points[0][1] != heights[id])
                for id, flows in found.items() if len(flows) > 1}


def draw_flow(tree: ProcessTree, visits: Visits | None = None, page: int = PAGE) -> FlowGraph:
    """The chart of a tree, with the counts of `conformance.count_visits(normalise(tree), log)`. A choice, a loop and a
    parallel part have a gateway before and one behind them; a sequence that is longer than the page is wide (pixels)
    goes on below."""
    pen = _Pen(FlowGraph(cases=visits and visits.cases), visits)
    block = _measure(normalise(tree), (), page)
    half, row = _SIZES["start"] // 2, _MARGIN + _TASK_HEIGHT // 2
    inner = _MARGIN + 2 * half + _GAP
    begin = pen.graph.add("start", _MARGIN + half, row, "start")
    first, last = pen.draw(block, inner, row, 1) if block.width else (None, begin)
    end = pen.graph.add("end", last.x + last.width // 2 + _GAP + half, row + block.leave, "end")
    pen.graph.connect(begin, first or end, row, pen.count(()))
    if first:
        pen.graph.connect(last, end, row + block.leave, pen.count(()))
    return pen.graph


class _Place(NamedTuple):
    """Where a part of a sequence lies, from where the sequence begins; `between` is the free height above the part, if
    it is the first of a line."""

    x: int
    y: int
    between: int | None = None


class _Block(NamedTuple):
    """A tree with the room that its chart takes: its width, none if it is silent; what lies above and below the row in
    which it is entered; how far below that row it is left; and where its parts lie."""

    tree: ProcessTree
    path: TreePath
    width: int
    above: int
    below: int
    leave: int = 0
    parts: Sequence[_Block] = ()
    places: Sequence[_Place] = ()


def _measure(tree: ProcessTree, path: TreePath, room: int) -> _Block:
    """The room for a tree in normal form; the silent part of a choice comes last."""
    half = _TASK_HEIGHT // 2
    if tree == SILENT:
        return _Block(tree, path, 0, 0, 0)
    if tree.operator == "phase":
        return _Block(tree, path, _task_width(readable(tree.name)), half, half)
    if tree.operator == "sequence":
        return _measure_sequence(tree, path, room)
    within = max(room - 2 * (_SIZES["exclusive"] + _GAP), _LEAST_ROOM)
    parts = sorted((_measure(child, (*path, number), within) for number, child in enumerate(tree.children)),
                   key=lambda part: not part.width)
    rows = [0]
    for one, other in pairwise(parts):
        rows.append(rows[-1] + one.below + _ROW_GAP + other.above)
    width = max(part.width for part in parts) + 2 * (_SIZES["exclusive"] + _GAP)
    return _Block(tree, path, width, half, rows[-1] + parts[-1].below, parts[0].leave, parts,
                  [_Place(0, row) for row in rows])


def _measure_sequence(tree: ProcessTree, path: TreePath, room: int) -> _Block:
    within = max(room - 2 * _GAP, _LEAST_ROOM)
    parts = [_measure(child, (*path, number), within) for number, child in enumerate(tree.children)]
    lines = _break(parts, room) if sum(part.width + _GAP for part in parts) - _GAP <= room else _break(parts, within)
    margin = _GAP if len(lines) > 1 else 0
    places: list[_Place] = []
    width = y = below = 0
    for line in lines:
        x = margin
        between = below + _ROW_GAP // 2 if places else None
        y = below + _ROW_GAP + line[0].above if places else 0
        for part in line:
            places.append(_Place(x, y, between))
            below, between = max(below, y + part.below), None
            x, y = x + part.width + _GAP, y + part.leave
        width = max(width, x - _GAP + margin)
    return _Block(tree, path, width, _TASK_HEIGHT // 2, below, y, parts, places)


def _break(parts: Sequence[_Block], room: int) -> list[list[_Block]]:
    """The parts in lines."""
    lines: list[list[_Block]] = [[]]
    used = 0
    for part in parts:
        if lines[-1] and used + part.width > room:
            lines.append([])
            used = 0
        lines[-1].append(part)
        used += part.width + _GAP
    return lines


@dataclass(frozen=True, slots=True)
class _Pen:
    """Draws blocks into a graph, with counts."""

    graph: FlowGraph
    visits: Visits | None

    def count(self, path: TreePath) -> int | None:
        """How often the log ran this part."""
        return self.visits and self.visits.runs[path]

    def draw(self, block: _Block, x: int, y: int, way: int) -> tuple[FlowNode, FlowNode]:
        """Draw a block that begins at `x` and goes to the right (`way` 1) or the left (-1); its first and last node."""
        if block.tree.operator == "sequence":
            return self._draw_sequence(block, x, y, way)
        if block.tree.operator == "phase":
            counts = self.visits and (self.visits.runs[block.path], self.visits.reached[block.path])
            task = self.graph.add("task", x + way * block.width // 2, y, readable(block.tree.name), counts)
            return task, task
        return self._draw_ways(block, x, y, way)

    def _draw_ways(self, block: _Block, x: int, y: int, way: int) -> tuple[FlowNode, FlowNode]:
        """A choice, a loop or a parallel part."""
        is_loop = block.tree.operator == "loop"
        kind: NodeKind = "parallel" if block.tree.operator == "parallel" else "exclusive"
        half = _SIZES[kind] // 2
        names = ("", "repeat?") if is_loop else (_question(block), "")
        before = self.graph.add(kind, x + way * half, y, names[0])
        behind = self.graph.add(kind, x + way * (block.width - half), y + block.leave, names[1])
        for number, (part, place) in enumerate(zip(block.parts, block.places, strict=True)):
            leads_back = number == 1 and is_loop
            source, target = (behind, before) if leads_back else (before, behind)
            row, count = y + place.y, self.count(part.path)
            if not part.width:
                self.graph.connect(source, target, row, count)
                continue
            room = (block.width - part.width) // 2
            begin, there = (block.width - room, -way) if leads_back else (room, way)
            first, last = self.draw(part, x + way * begin, row, there)
            self.graph.connect(source, first, row, count)
            self.graph.connect(last, target, row + part.leave, count)
        return before, behind

    def _draw_sequence(self, block: _Block, x: int, y: int, way: int) -> tuple[FlowNode, FlowNode]:
        count = self.count(block.path)
        ends = [self.draw(part, x + way * place.x, y + place.y, way)
                for part, place in zip(block.parts, block.places, strict=True)]
        for (_, last), (first, _), place in zip(ends, ends[1:], block.places[1:], strict=False):
            if place.between is None:
                self.graph.connect(last, first, y + place.y, count)
            else:
                self.graph.turn(last, first, y + place.between, way, count)
        return ends[0][0], ends[-1][1]


def _question(block: _Block) -> str:
    """What is asked where ways part."""
    if block.tree.operator == "parallel":
        return "all"
    ways = [part.tree for part in block.parts if part.width]
    told = f"{' or '.join(readable(way.name) for way in ways)}?"
    if len(told) <= _MOST_LABEL and {way.operator for way in ways} == {"phase"}:
        return told
    return "needed?" if len(ways) < len(block.parts) else f"1 of {len(ways)}?"


def _task_width(name: str) -> int:
    """Room for the name in one line, of a long one in a few."""
    letters = _LETTER * _length(name)
    return max(_LEAST_TASK, min(letters, _MOST_TASK), letters // _LINES // 2 * 2) + 20


def _length(text: str) -> int:
    """In letters of usual width; of most Asian scripts one takes two."""
    return len(text) + sum(east_asian_width(letter) in "WF" for letter in text)


def readable(text: str) -> str:
    """The text with an escape (`\\x07`) for every character that nobody sees, that turns the order of others round, or
    that XML cannot hold. Tabs and line ends stay."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


# The picture.

_INK, _SOFT, _FILL, _LINE = "#1f2933", "#5b6770", "#eef3f8", "#7b8794"


class Mark(NamedTuple):
    """How parts of a chart look that stand out: the colour of their lines and of what tasks are filled with, the dashes
    of lines as SVG has them, and what is written in tasks."""

    line: str
    fill: str
    dashes: str
    words: str


def draw_picture(graph: FlowGraph, kind: Literal["svg", "png"], title: str = "") -> bytes:
    """The chart as a picture. Raises MissingProgram for a PNG without resvg."""
    return to_picture(draw_svg(graph, title), kind)


def to_picture(svg: str, kind: Literal["svg", "png"]) -> bytes:
    """An SVG as the picture that is wanted. Raises MissingProgram for a PNG without resvg."""
    if kind == "svg":
        return svg.encode()
    from chatdev.runner.raster import rasterise

    return rasterise(svg.encode(), 2.0)


def draw_svg(graph: FlowGraph, title: str = "") -> str:
    """The chart as SVG; flows are the thicker the oftener they were taken."""
    top = 24 if title else 0
    width, height = graph.extent
    lines = [draw_text(width // 2, 18, cut_off(title, max(width // 9, 10)), 13, bold=True)] if title else []
    return draw_page(width, height + top, [*lines, *draw_shapes(graph, top)])


def draw_page(width: int, height: int, shapes: Iterable[str], marks: Iterable[Mark] = ()) -> str:
    """The SVG of this size with these shapes, of which some are drawn with marks."""
    arrows = "".join(f'<marker id="{_arrow(colour)}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" '
                     f'markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0.5 L10 5 L0 9.5 z" '
                     f'fill="{colour}"/></marker>' for colour in (_LINE, *(mark.line for mark in marks)))
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f"font-family=\"'DejaVu Sans', Verdana, Helvetica, Arial, sans-serif\" text-anchor=\"middle\">",
        f"<defs>{arrows}</defs>", f'<rect width="{width}" height="{height}" fill="#ffffff"/>', *shapes,
        "</svg>"]) + "\n"


def draw_shapes(graph: FlowGraph, top: int = 0, mark: Mark | None = None, marked: Collection[str | Flow] = ()
                ) -> list[str]:
    """The shapes of a chart, so many pixels down the page; `marked` flows and nodes (by their ids) stand out."""
    most = max((flow.times or 0 for flow in graph.flows), default=0)
    return [f'<g transform="translate(0 {top})">',
            *(_flow_shape(flow, most, mark if flow in marked else None) for flow in graph.flows),
            *(_node_shape(node, graph.cases, mark if node.id in marked else None) for node in graph.nodes),
            *(draw_text(*flow.label_at, f"{flow.times:,}", 10, _SOFT) for flow in _flows_with_labels(graph)), "</g>"]


def _arrow(colour: str) -> str:
    return f"arrow{colour.removeprefix('#')}"


def _flows_with_labels(graph: FlowGraph) -> list[Flow]:
    """The flows whose counts are told: those that leave a choice, and the first. Others follow from these."""
    chosen = {id(flow) for flows in graph.choices().values() for flow in flows}
    return [flow for flow in graph.flows
            if flow.times is not None and (id(flow) in chosen or flow.source.startswith("start"))]


def _flow_shape(flow: Flow, most: int, mark: Mark | None) -> str:
    width = 2.4 if mark else 1.3 if flow.times is None else 0.8 + 3 * flow.times / (most or 1)
    dashes = mark.dashes if mark else "4 3" if flow.times == 0 else ""
    told = "" if flow.times is None else f"<title>{flow.times:,} times</title>"
    points = " ".join(f"{x},{y}" for x, y in flow.points)
    colour = mark.line if mark else _LINE
    return (f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width:.2f}"{_dash(dashes)} '
            f'stroke-linejoin="round" marker-end="url(#{_arrow(colour)})">{told}</polyline>')


def _dash(dashes: str) -> str:
    return f' stroke-dasharray="{dashes}"' if dashes else ""


def _node_shape(node: FlowNode, cases: int | None, mark: Mark | None) -> str:
    x, y = node.x, node.y
    if node.kind == "task":
        return _task_shape(node, cases, mark)
    if node.kind in ("start", "end"):
        width = 1.5 if node.kind == "start" else 4
        return f'<circle cx="{x}" cy="{y}" r="17" fill="#fff" stroke="{_INK}" stroke-width="{width}"/>'
    sign = "M-8 0 H8 M0 -8 V8" if node.kind == "parallel" else "M-6 -6 L6 6 M6 -6 L-6 6"
    asked = draw_text(x, y - 29, node.name, 10) if node.name and node.kind == "exclusive" else ""
    fill, colour, width, dashes = (mark.fill, mark.line, 2.4, mark.dashes) if mark else ("#fff", _INK, 1.5, "")
    return (f'<g transform="translate({x} {y})"><path d="M0 -24 L24 0 L0 24 L-24 0 z" fill="{fill}" '
            f'stroke="{colour}" stroke-width="{width}"{_dash(dashes)}/><path d="{sign}" stroke="{colour}" '
            f'stroke-width="3"/></g>{asked}')


def _task_shape(node: FlowNode, cases: int | None, mark: Mark | None) -> str:
    left, top = node.x - node.width // 2, node.y - node.height // 2
    told, below, colour = escape(node.name), mark.words if mark else "", mark.line if mark else _SOFT
    if node.counts and not mark:
        runs, reached = node.counts
        share = tell_share(reached / (cases or 1))
        below = f"{runs:,} · {share}"
        told += f": {runs:,} times, in {share} of the cases"
    letters = max((node.width - 14) // _LETTER, 4)
    room = _LINES - bool(below)
    lines = wrap(" ".join(node.name.split()), letters) or [""]
    if len(lines) > room:
        lines = [*lines[:room - 1], cut_off(" ".join(lines[room - 1:]), letters)]
    begin = node.y - 8 * (len(lines) - 1) + 4 - (9 if below else 0)
    shown = [draw_text(node.x, begin + 16 * number, line, 13) for number, line in enumerate(lines)]
    if below:
        shown.append(draw_text(node.x, node.y + 31, below, 11, colour))
    fill, line, width, dashes = (mark.fill, mark.line, 2.4, mark.dashes) if mark else (_FILL, _INK, 1.3, "")
    return (f'<g><title>{told}</title><rect x="{left}" y="{top}" width="{node.width}" height="{node.height}" rx="9" '
            f'fill="{fill}" stroke="{line}" stroke-width="{width}"{_dash(dashes)}/>{"".join(shown)}</g>')


def tell_share(share: float) -> str:
    """A share in whole percents; neither none nor all where it is only near to it."""
    text = f"{share:.0%}"
    return "<1%" if share > 0 and text == "0%" else ">99%" if share < 1 and text == "100%" else text


def draw_text(x: int, y: int, text: str, size: int, colour: str = _INK, *, bold: bool = False, anchor: str = "") -> str:
    """The shape of a line of text, in the middle of `x` or as the `anchor` of SVG says."""
    weight = ' font-weight="bold"' if bold else ""
    anchored = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{weight}{anchored}>{escape(text)}</text>'


def cut_off(text: str, most: int) -> str:
    """The text as it can be read, of at most so many letters."""
    text = readable(text)
    return text if len(text) <= most else f"{text[:most - 1]}…"
