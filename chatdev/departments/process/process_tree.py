"""Process trees: which orders of phases a process model allows, in words, and as a chart (tasks, gateways, flows
between them, and where they lie), for pictures and as BPMN."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree

from chatdev.errors import ConfigError, MissingProgram, ToolError

Operator = Literal["phase", "silent", "sequence", "exclusive", "parallel", "loop"]
Instance = tuple[str, ...]
"""One ordered list of phase names: a trace, in the words of process mining."""

MOST_DEPTH = 60
"""So deep may trees be that are mined or read. Nobody follows a deeper one, and Python's stack has an end."""

_SIGNS = {"sequence": "->", "exclusive": "X", "parallel": "+", "loop": "*"}


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """One node with what is below it; equal trees are equal values. A loop has two children: body and redo."""

    operator: Operator
    name: str = ""
    """Of a phase; otherwise empty."""
    children: tuple[ProcessTree, ...] = ()
    depth: int = field(init=False, compare=False, repr=False)
    is_nullable: bool = field(init=False, compare=False, repr=False)
    """Whether the tree allows that nothing at all is run."""
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", 1 + max((child.depth for child in self.children), default=0))
        object.__setattr__(self, "is_nullable", _is_nullable(self))
        object.__setattr__(self, "_hash", hash((self.operator, self.name, self.children)))

    def __hash__(self) -> int:
        return self._hash  # kept: trees are keys of many tables, and a deep one is slow to go through

    def __str__(self) -> str:
        if self.operator == "phase":
            return repr(self.name)
        if self.operator == "silent":
            return "tau"
        return f"{_SIGNS[self.operator]}({', '.join(map(str, self.children))})"

    def walk(self) -> Iterator[ProcessTree]:
        """The node and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def _is_nullable(tree: ProcessTree) -> bool:
    if tree.operator in ("phase", "silent"):
        return tree.operator == "silent"
    if tree.operator == "exclusive":
        return any(child.is_nullable for child in tree.children)
    return all(child.is_nullable for child in tree.children[:1 if tree.operator == "loop" else None])


SILENT = ProcessTree("silent")


def phase(name: str) -> ProcessTree:
    """The tree that runs one phase."""
    return ProcessTree("phase", name)


def sequence(*children: ProcessTree) -> ProcessTree:
    """One after another."""
    return ProcessTree("sequence", children=children)


def exclusive(*children: ProcessTree) -> ProcessTree:
    """Exactly one of them."""
    return ProcessTree("exclusive", children=children)


def parallel(*children: ProcessTree) -> ProcessTree:
    """All of them, freely interleaved."""
    return ProcessTree("parallel", children=children)


def loop(body: ProcessTree, redo: ProcessTree = SILENT) -> ProcessTree:
    """The body, and any number of times the redo part and the body again."""
    return ProcessTree("loop", children=(body, redo))


def optional(tree: ProcessTree) -> ProcessTree:
    """The tree, or nothing."""
    return exclusive(SILENT, tree)


def normalise(tree: ProcessTree) -> ProcessTree:
    """The normal form: the same instances in fewer nodes, and the children of choices and parallels sorted.

    Nested operators of one kind become one, silence stays only where it makes a choice optional, and `loop(tau, x)` is
    written as what it is: x once or several times, or nothing. Trees of equal normal form allow the same; the other
    way round this need not hold (`conformance.find_difference` decides it).
    """
    children = tuple(map(normalise, tree.children))
    return _FORMS[tree.operator](children) if tree.operator in _FORMS else tree


def _form_sequence(children: tuple[ProcessTree, ...]) -> ProcessTree:
    return _join("sequence", [child for child in _flatten("sequence", children) if child != SILENT])


def _form_parallel(children: tuple[ProcessTree, ...]) -> ProcessTree:
    return _join("parallel", sorted((c for c in _flatten("parallel", children) if c != SILENT), key=str))


def _form_exclusive(children: tuple[ProcessTree, ...]) -> ProcessTree:
    ways = set(_flatten("exclusive", children))
    loud = sorted(ways - {SILENT}, key=str)
    if SILENT in ways and not any(child.is_nullable for child in loud):
        return _join("exclusive", [SILENT, *loud])
    return _join("exclusive", loud)


def _form_loop(children: tuple[ProcessTree, ...]) -> ProcessTree:
    body, redo = children
    if body == SILENT:
        return SILENT if redo == SILENT else _form_exclusive((SILENT, _form_loop((redo, SILENT))))
    if redo == SILENT and SILENT in body.children and body.operator == "exclusive":  # any number of times
        return _form_exclusive((SILENT, _form_loop((_form_exclusive(body.children[1:]), SILENT))))
    if redo == SILENT and body.operator == "loop" and body.children[1] == SILENT:
        return body
    return loop(body, redo)


_FORMS: dict[str, Callable[[tuple[ProcessTree, ...]], ProcessTree]] = {
    "sequence": _form_sequence, "parallel": _form_parallel, "exclusive": _form_exclusive, "loop": _form_loop}


def _flatten(operator: Operator, children: Sequence[ProcessTree]) -> list[ProcessTree]:
    """The children, with the grandchildren in the place of a child of the same operator."""
    return [part for child in children for part in (child.children if child.operator == operator else (child,))]


def _join(operator: Operator, children: Sequence[ProcessTree]) -> ProcessTree:
    if len(children) < 2:
        return children[0] if children else SILENT
    return ProcessTree(operator, children=tuple(children))


def rename(tree: ProcessTree, names: Mapping[str, str]) -> ProcessTree:
    """The tree with other names for its phases."""
    if tree.operator == "phase":
        return phase(names[tree.name])
    return ProcessTree(tree.operator, children=tuple(rename(child, names) for child in tree.children))


class ModelSize(NamedTuple):
    """How large a model is to its reader, as Think-on-Process counts it (arXiv 2409.06568, Figure 12)."""

    phases: int
    exclusive_gateways: int
    parallel_gateways: int

    @property
    def gateways(self) -> int:
        """All of them."""
        return self.exclusive_gateways + self.parallel_gateways


def measure_size(tree: ProcessTree) -> ModelSize:
    """Phases and gateways of the chart of the tree: a choice, a loop and a parallel part have two gateways each, where
    ways part and where they meet."""
    operators = [node.operator for node in normalise(tree).walk()]
    return ModelSize(operators.count("phase"), 2 * (operators.count("exclusive") + operators.count("loop")),
                     2 * operators.count("parallel"))


def to_plain(tree: ProcessTree) -> Any:
    """The tree as JSON writes it: a phase's name, None for silence, or a list of the operator and its children."""
    if tree.operator == "phase":
        return tree.name
    return None if tree.operator == "silent" else [tree.operator, *map(to_plain, tree.children)]


def from_plain(value: Any, depth: int = 1) -> ProcessTree:
    """The tree that `to_plain` gave. Raises ConfigError for anything else."""
    if depth > MOST_DEPTH:
        raise ConfigError(f"a process tree may be {MOST_DEPTH} levels deep, not more")
    if value is None:
        return SILENT
    match value:
        case str() if value:
            return phase(value)
        case ["sequence" | "exclusive" | "parallel", _, *_] | ["loop", _, _]:
            return ProcessTree(value[0], children=tuple(from_plain(child, depth + 1) for child in value[1:]))
    raise ConfigError(f"a process tree is the name of a phase, null, or a list of an operator ({', '.join(_SIGNS)}) "
                      f"and its children, of which a loop has two; not {value!r:.80}")


# A process model in words, for the prompt of a model that shall follow it.

RUN = "run {}"
ONE_OF = "run exactly one of {}"
ANY_ORDER = "run {} in any order; all of them are required"
REPEAT_ONE = "run {} once or several times"
IF_NEEDED = "only if it is needed, {}"
LEFT_OUT = "the following part may be left out as a whole:"
WAYS = "follow exactly one of these {} ways:"
STRANDS = "follow all of these {} strands, whose phases may be mixed with each other in any order:"
REPEAT = "run the following part once or several times:"
REDO = "To repeat that part, first do this and start it over:"
NOTHING = "Run nothing at all."


@dataclass(frozen=True, slots=True)
class _Sentence:
    """What is said of one part: words without their place, and the lists below them."""

    words: str
    lists: tuple[ProcessTree, ...] = ()
    redo: ProcessTree | None = None


def describe(tree: ProcessTree, order: Sequence[str] = ()) -> str:
    """The model as text; equal models give equal texts. Where the process leaves the order open, phases come as in
    `order`, the names that are usual first."""
    if normalise(tree) == SILENT:
        return NOTHING + "\n"
    return "\n".join(_write_block(_sort(normalise(tree), order))) + "\n"


def quote(name: str) -> str:
    """A name as the text has it: verbatim, but for quotes, backslashes and control characters in it."""
    return json.dumps(name, ensure_ascii=False)


def _sort(tree: ProcessTree, order: Sequence[str]) -> ProcessTree:
    children = [_sort(child, order) for child in tree.children]
    if tree.operator in ("exclusive", "parallel"):
        children.sort(key=lambda child: _earliest(child, order))
    return ProcessTree(tree.operator, tree.name, tuple(children))


def _earliest(tree: ProcessTree, order: Sequence[str]) -> int:
    """The place of a tree's earliest phase; silence first, names that are not usual last."""
    places = [order.index(node.name) if node.name in order else len(order)
              for node in tree.walk() if node.operator == "phase"]
    return min(places, default=-1)


def _write_block(tree: ProcessTree) -> list[str]:
    """The lines of a part: sentences without lists beside each other, each other one with its list below."""
    steps = tree.children if tree.operator == "sequence" else (tree,)
    lines: list[str] = []
    is_open = False
    for number, sentence in enumerate(map(_plan, steps)):
        text = _place(sentence.words, number, len(steps))
        if is_open and not sentence.lists:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
        is_open = not sentence.lists
        for part in sentence.lists:
            lines += _write_list(part)
        if sentence.redo is not None:
            lines += [REDO, *_write_list(sentence.redo)]
    return lines


def _write_list(tree: ProcessTree) -> list[str]:
    first, *more = _write_block(tree)
    return [f"- {first}", *(f"  {line}" for line in more)]


def _place(words: str, number: int, count: int) -> str:
    """The words as a sentence at its place in a sequence."""
    text = words if words.endswith(":") else f"{words}."
    if count == 1:
        return text[0].upper() + text[1:]
    connective = "First" if number == 0 else "Finally" if number == count - 1 > 1 else "Then"
    return f"{connective}{' ' if words.startswith(('run', 'follow')) else ', '}{text}"


def _plan(tree: ProcessTree) -> _Sentence:
    """What is said of one step."""
    if tree.operator == "exclusive" and SILENT in tree.children:
        ways = tuple(child for child in tree.children if child != SILENT)
        rest = ways[0] if len(ways) == 1 else ProcessTree("exclusive", children=ways)
        inner = _plan(rest)
        has_lists = inner.lists or rest.operator == "sequence"
        return _Sentence(LEFT_OUT, (rest,)) if has_lists else _Sentence(IF_NEEDED.format(inner.words))
    if tree.operator == "loop":
        return _plan_loop(*tree.children)
    return _plan_phases(tree)


def _plan_loop(body: ProcessTree, redo: ProcessTree) -> _Sentence:
    if redo == SILENT and body.operator == "phase":
        return _Sentence(REPEAT_ONE.format(quote(body.name)))
    return _Sentence(REPEAT, (body,), None if redo == SILENT else redo)


def _plan_phases(tree: ProcessTree) -> _Sentence:
    """A phase, a choice or a parallel part; phases alone are one sentence. (A sequence is a block.)"""
    if tree.operator == "phase":
        return _Sentence(RUN.format(quote(tree.name)))
    is_choice = tree.operator == "exclusive"
    if all(child.operator == "phase" for child in tree.children):
        return _Sentence((ONE_OF if is_choice else ANY_ORDER).format(_enumerate(tree, "or" if is_choice else "and")))
    return _Sentence((WAYS if is_choice else STRANDS).format(len(tree.children)), tree.children)


def _enumerate(tree: ProcessTree, word: str) -> str:
    *names, last = (quote(child.name) for child in tree.children)
    return f"{', '.join(names)} {word} {last}"


# A process tree as a chart: tasks, gateways, flows between them, and where they lie, for pictures and as BPMN.

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
