"""A process tree as a chart: tasks, gateways, flows between them, and where they lie, for pictures and as BPMN.

Every operator is a block of rows. Its first child lies in the row of the flow that enters and leaves the block, the
others below it, and lowest the flow that leaves the block out; what leads back in a loop runs below its body, from
right to left. So no flow meets another with which it shares neither beginning nor end, and none runs through a task or
a gateway. Sizes come bottom-up and places top-down, each node once.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from chatdev.departments.process.process_tree import SILENT, ProcessTree, normalise
from chatdev.errors import MissingProgram, ToolError

NodeKind = Literal["start", "end", "task", "exclusive", "parallel"]

_SIZES = {"start": 36, "end": 36, "exclusive": 50, "parallel": 50}
_TASK_HEIGHT, _LEAST_TASK, _MOST_TASK, _LETTER, _LINES = 80, 100, 240, 8, 4  # pixels; lines of a long name
_GAP, _ROW_GAP, _MARGIN = 40, 30, 20
_SHAPES = {"start": 'shape=circle, label=""', "end": 'shape=doublecircle, label="", width=0.25',
           "exclusive": 'shape=diamond, label="×"', "parallel": 'shape=diamond, label="+"'}
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
    """Of a task: the phase, as it can be read."""

    @property
    def width(self) -> int:
        """Of a task as its name needs; of others as programs for BPMN draw them."""
        return _SIZES.get(self.kind) or _task_width(self.name)

    @property
    def height(self) -> int:
        """In pixels, as the width."""
        return _SIZES.get(self.kind, _TASK_HEIGHT)


class Flow(NamedTuple):
    """From a node to a node, by their ids, along straight lines between points."""

    source: str
    target: str
    points: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class FlowGraph:
    """The nodes of a chart and the flows between them."""

    nodes: list[FlowNode] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)

    def add(self, kind: NodeKind, x: int, y: int, name: str = "") -> FlowNode:
        """A new node, with an id of its own."""
        self.nodes.append(FlowNode(f"{kind}_{len(self.nodes) + 1}", kind, x, y, name))
        return self.nodes[-1]

    def connect(self, source: FlowNode, target: FlowNode, row: int) -> None:
        """A new flow in the row at this height: from the side of a node that lies in it, else from below the node."""
        way = 1 if source.x < target.x else -1
        begin, end = ([(node.x + side * node.width // 2, row)] if node.y == row else
                      [(node.x, node.y + node.height // 2), (node.x, row)]
                      for node, side in ((source, way), (target, -way)))
        self.flows.append(Flow(source.id, target.id, (*begin, *reversed(end))))

    def gateways(self) -> Iterator[FlowNode]:
        """Where ways part or meet."""
        return (node for node in self.nodes if node.kind in ("exclusive", "parallel"))


def draw_flow(tree: ProcessTree) -> FlowGraph:
    """The chart of a tree. A choice, a loop and a parallel part have a gateway before and one behind them."""
    graph, block = FlowGraph(), _measure(normalise(tree))
    half, row = _SIZES["start"] // 2, _MARGIN + _TASK_HEIGHT // 2
    inner = _MARGIN + 2 * half + _GAP
    begin = graph.add("start", _MARGIN + half, row)
    first, last = _draw(graph, block, inner, row, 1) if block.width else (None, begin)
    end = graph.add("end", inner + block.width + _GAP * bool(first) + half, row)
    graph.connect(begin, first or end, row)
    if first:
        graph.connect(last, end, row)
    return graph


class _Block(NamedTuple):
    """A tree with the room that its chart takes: its width, none if it is silent; what lies above and below the row in
    which it is entered and left; and how far below that row its parts have theirs."""

    tree: ProcessTree
    width: int
    above: int
    below: int
    parts: Sequence[_Block] = ()
    rows: Sequence[int] = ()


def _measure(tree: ProcessTree) -> _Block:
    """The room for a tree in normal form; the silent part of a choice comes last."""
    half = _TASK_HEIGHT // 2
    if tree == SILENT:
        return _Block(tree, 0, 0, 0)
    if tree.operator == "phase":
        return _Block(tree, _task_width(readable(tree.name)), half, half)
    parts = [_measure(child) for child in tree.children]
    widths = [part.width for part in parts]
    if tree.operator == "sequence":
        below = max(part.below for part in parts)
        return _Block(tree, sum(widths) + _GAP * (len(parts) - 1), half, below, parts)
    parts.sort(key=lambda part: not part.width)
    rows = list(accumulate((one.below + _ROW_GAP + other.above for one, other in pairwise(parts)), initial=0))
    return _Block(tree, max(widths) + 2 * (_SIZES["exclusive"] + _GAP), half, rows[-1] + parts[-1].below, parts, rows)


def _draw(graph: FlowGraph, block: _Block, x: int, y: int, way: int) -> tuple[FlowNode, FlowNode]:
    """Draw a block that begins at `x` and goes to the right (`way` 1) or the left (-1); its first and its last node."""
    if block.tree.operator == "phase":
        task = graph.add("task", x + way * block.width // 2, y, readable(block.tree.name))
        return task, task
    if block.tree.operator == "sequence":
        return _draw_sequence(graph, block, x, y, way)
    kind: NodeKind = "parallel" if block.tree.operator == "parallel" else "exclusive"
    half = _SIZES[kind] // 2
    before, behind = graph.add(kind, x + way * half, y), graph.add(kind, x + way * (block.width - half), y)
    for number, (part, row) in enumerate(zip(block.parts, block.rows, strict=True)):
        leads_back = number == 1 and block.tree.operator == "loop"
        source, target = (behind, before) if leads_back else (before, behind)
        if not part.width:
            graph.connect(source, target, y + row)
            continue
        room = (block.width - part.width) // 2
        begin, there = (block.width - room, -way) if leads_back else (room, way)
        first, last = _draw(graph, part, x + way * begin, y + row, there)
        graph.connect(source, first, y + row)
        graph.connect(last, target, y + row)
    return before, behind


def _draw_sequence(graph: FlowGraph, block: _Block, x: int, y: int, way: int) -> tuple[FlowNode, FlowNode]:
    ends = []
    for part in block.parts:
        ends.append(_draw(graph, part, x, y, way))
        x += way * (part.width + _GAP)
    for (_, last), (first, _) in pairwise(ends):
        graph.connect(last, first, y)
    return ends[0][0], ends[-1][1]


def _task_width(name: str) -> int:
    """Room for the name in one line, of a long one in a few."""
    letters = _LETTER * len(name)
    return max(_LEAST_TASK, min(letters, _MOST_TASK), letters // _LINES // 2 * 2) + 20


def readable(text: str) -> str:
    """The text with an escape (`\\x07`) for every character that nobody sees, that turns the order of others round, or
    that XML cannot hold. Tabs and line ends stay."""
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


def to_dot(graph: FlowGraph, title: str = "") -> str:
    """The chart in graphviz's language."""
    lines = [f"  {node.id} [{_SHAPES.get(node.kind) or f'shape=box, style=rounded, label={_quote(node.name)}'}];"
             for node in graph.nodes]
    flows = [f"  {flow.source} -> {flow.target};" for flow in graph.flows]
    head = f"  rankdir=LR; label={_quote(readable(title))}; labelloc=t; node [fontname=Helvetica]; fontname=Helvetica;"
    return "\n".join(["digraph process {", head, *lines, *flows, "}"]) + "\n"


def draw_picture(graph: FlowGraph, kind: Literal["svg", "png"], title: str = "") -> bytes:
    """The chart as a picture. Raises MissingProgram without graphviz."""
    program = shutil.which("dot")
    if program is None:
        raise MissingProgram("drawing a process model needs graphviz, which is not installed; install it (Debian, "
                             "Ubuntu: `apt install graphviz`), or take the BPMN file, which other programs draw")
    try:
        done = subprocess.run([program, f"-T{kind}"], input=to_dot(graph, title).encode(), capture_output=True,
                              check=False, timeout=120)
    except subprocess.TimeoutExpired:
        raise ToolError("graphviz did not draw the process model within two minutes; it is too large") from None
    if done.returncode:
        raise ToolError(f"graphviz failed: {done.stderr.decode('utf-8', 'replace').strip()}")
    return done.stdout


def _quote(text: str) -> str:
    """A graphviz string: its escapes begin with a backslash, its entities with an ampersand."""
    plain = text.expandtabs(4).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + plain.replace("\n", "\\n") + '"'


# BPMN 2.0 (OMG formal/2011-01-03), the notation that modelling programs read.

_OMG = "http://www.omg.org/spec/"
_SPACES = {"bpmn": f"{_OMG}BPMN/20100524/MODEL", "bpmndi": f"{_OMG}BPMN/20100524/DI", "dc": f"{_OMG}DD/20100524/DC",
           "di": f"{_OMG}DD/20100524/DI"}
_TAGS = {"start": "startEvent", "end": "endEvent", "task": "task", "exclusive": "exclusiveGateway",
         "parallel": "parallelGateway"}


def write_bpmn(graph: FlowGraph, name: str = "process model") -> str:
    """The chart as a BPMN file: what it says, and in its diagram part where everything lies."""
    for prefix, space in _SPACES.items():
        ElementTree.register_namespace(prefix, space)
    root = ElementTree.Element(_tag("bpmn:definitions"), id="definitions", targetNamespace="urn:chatdev:process")
    process = _add(root, "bpmn:process", id="process", name=readable(name), isExecutable="false")
    diagram = _add(root, "bpmndi:BPMNDiagram", id="diagram")
    plane = _add(diagram, "bpmndi:BPMNPlane", id="plane", bpmnElement="process")
    elements = {node.id: _add_node(process, plane, node) for node in graph.nodes}
    ids = [(f"flow_{number}", flow) for number, flow in enumerate(graph.flows, start=1)]
    for id, flow in ids:
        _add(elements[flow.target], "bpmn:incoming").text = id
    for id, flow in ids:
        _add(elements[flow.source], "bpmn:outgoing").text = id
        _add_flow(process, plane, id, flow)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _add_node(process: ElementTree.Element, plane: ElementTree.Element, node: FlowNode) -> ElementTree.Element:
    shape = _add(plane, "bpmndi:BPMNShape", id=f"{node.id}_shape", bpmnElement=node.id,
                 **{"isMarkerVisible": "true"} if node.kind == "exclusive" else {})
    _add(shape, "dc:Bounds", x=node.x - node.width // 2, y=node.y - node.height // 2, width=node.width,
         height=node.height)
    return _add(process, f"bpmn:{_TAGS[node.kind]}", id=node.id, **{"name": node.name} if node.name else {})


def _add_flow(process: ElementTree.Element, plane: ElementTree.Element, id: str, flow: Flow) -> None:
    _add(process, "bpmn:sequenceFlow", id=id, sourceRef=flow.source, targetRef=flow.target)
    edge = _add(plane, "bpmndi:BPMNEdge", id=f"{id}_edge", bpmnElement=id)
    for x, y in flow.points:
        _add(edge, "di:waypoint", x=x, y=y)


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    return ElementTree.SubElement(parent, _tag(tag), {key: str(value) for key, value in attributes.items()})


def _tag(name: str) -> str:
    prefix, _, bare = name.partition(":")
    return f"{{{_SPACES[prefix]}}}{bare}"
