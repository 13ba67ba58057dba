"""What is wrong with a drawn chart: whether a BPMN file's diagram can be read, whoever laid it out.

It knows nothing of how charts are made: it reads shapes and way points from the file, and looks at every pair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, NamedTuple
from xml.etree import ElementTree

_OMG = "http://www.omg.org/spec/"
SPACES = {"bpmn": f"{_OMG}BPMN/20100524/MODEL", "bpmndi": f"{_OMG}BPMN/20100524/DI", "dc": f"{_OMG}DD/20100524/DC",
          "di": f"{_OMG}DD/20100524/DI"}
Fault = Literal["not drawn", "loose end", "shape on shape", "flow through shape", "flow on flow", "crossing"]
Point = tuple[float, float]
Segment = tuple[Point, Point]


class Box(NamedTuple):
    """A shape's left, upper, right and lower side."""

    left: float
    top: float
    right: float
    bottom: float

    def has_on_border(self, point: Point) -> bool:
        """Whether the point lies on one of the four sides."""
        x, y = point
        return (self.left <= x <= self.right and self.top <= y <= self.bottom
                and (x in (self.left, self.right) or y in (self.top, self.bottom)))

    def overlaps(self, other: Box) -> bool:
        """Whether the insides have a point in common."""
        return (self.left < other.right and other.left < self.right
                and self.top < other.bottom and other.top < self.bottom)

    def is_run_through_by(self, segment: Segment) -> bool:
        """Whether the segment has a point within the box, the border not counted (Liang, Barsky 1984)."""
        (x, y), (to_x, to_y) = segment
        begin, end = 0.0, 1.0
        for at, by, low, high in ((x, to_x - x, self.left, self.right), (y, to_y - y, self.top, self.bottom)):
            if not by:
                if not low < at < high:
                    return False
                continue
            near, far = sorted(((low - at) / by, (high - at) / by))
            begin, end = max(begin, near), min(end, far)
        return begin < end


@dataclass(frozen=True, slots=True)
class Line:
    """A flow as it is drawn."""

    source: str
    target: str
    points: tuple[Point, ...]

    @property
    def segments(self) -> list[Segment]:
        """Its straight parts."""
        return [part for part in pairwise(self.points) if part[0] != part[1]]


def find_drawing_faults(text: str) -> Counter[Fault]:
    """How often each fault is there; empty for a chart without any."""
    boxes, lines, missing = _read(text)
    found: Counter[Fault] = Counter({"not drawn": missing} if missing else {})
    found.update("shape on shape" for one, other in combinations(boxes.values(), 2) if one.overlaps(other))
    for line in lines:
        ends = ((line.source, line.points[0]), (line.target, line.points[-1]))
        found.update("loose end" for id, point in ends if id in boxes and not boxes[id].has_on_border(point))
        found.update("flow through shape" for box in boxes.values() if any(map(box.is_run_through_by, line.segments)))
    for one, other in combinations(lines, 2):
        found.update(_find_meetings(one, other))
    return found


def _read(text: str) -> tuple[dict[str, Box], list[Line], int]:
    """Shapes by the ids of their nodes, flows, and how many nodes and flows are not drawn."""
    root = ElementTree.fromstring(text)
    process = root.find("bpmn:process", SPACES)
    assert process is not None
    shapes = {shape.get("bpmnElement"): shape.find("dc:Bounds", SPACES)
              for shape in root.iterfind(".//bpmndi:BPMNShape", SPACES)}
    edges = {edge.get("bpmnElement"): edge.findall("di:waypoint", SPACES)
             for edge in root.iterfind(".//bpmndi:BPMNEdge", SPACES)}
    boxes, lines, missing = {}, [], 0
    for element in process:
        id = element.get("id", "")
        if element.tag.endswith("}sequenceFlow") and len(edges.get(id, ())) > 1:
            points = tuple((float(one.get("x", "nan")), float(one.get("y", "nan"))) for one in edges[id])
            lines.append(Line(element.get("sourceRef", ""), element.get("targetRef", ""), points))
        elif (bounds := shapes.get(id)) is not None:
            x, y, width, height = (float(bounds.get(key, "nan")) for key in ("x", "y", "width", "height"))
            boxes[id] = Box(x, y, x + width, y + height)
        else:
            missing += 1
    return boxes, lines, missing


def _find_meetings(one: Line, other: Line) -> Iterator[Fault]:
    """Where two flows meet though they share no node, or cross though they share one. Flows that leave or enter the
    same node may run together, as they mean the same there."""
    related = {one.source, one.target} & {other.source, other.target}
    for part, another in ((part, another) for part in one.segments for another in other.segments):
        if not _boxes_touch(part, another):
            continue
        sides = (*_sides(part, another), *_sides(another, part))
        if sides == (0, 0, 0, 0):
            if not related and _common_length(part, another):
                yield "flow on flow"
        elif related:
            if sides[0] * sides[1] < 0 and sides[2] * sides[3] < 0:
                yield "crossing"
        elif sides[0] * sides[1] <= 0 and sides[2] * sides[3] <= 0:
            yield "crossing"


def _boxes_touch(one: Segment, other: Segment) -> bool:
    return all(min(one[0][axis], one[1][axis]) <= max(other[0][axis], other[1][axis])
               and min(other[0][axis], other[1][axis]) <= max(one[0][axis], one[1][axis]) for axis in (0, 1))


def _sides(line: Segment, points: Sequence[Point]) -> tuple[int, int]:
    """On which side of the line each point lies: 1, -1, or 0 on it."""
    (x, y), (to_x, to_y) = line
    turns = ((to_x - x) * (at_y - y) - (to_y - y) * (at_x - x) for at_x, at_y in points)
    first, second = ((turn > 0) - (turn < 0) for turn in turns)
    return first, second


def _common_length(one: Segment, other: Segment) -> float:
    """Of two segments of one line, along the axis in which they are longer."""
    axis = 0 if one[0][0] != one[1][0] else 1
    spans = [sorted(point[axis] for point in part) for part in (one, other)]
    return max(0.0, min(spans[0][1], spans[1][1]) - max(spans[0][0], spans[1][0]))


def told_faults(faults: Mapping[Fault, int]) -> str:
    """The faults in words."""
    return ", ".join(f"{fault} {count}" for fault, count in sorted(faults.items())) or "none"
