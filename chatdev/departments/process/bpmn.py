"""Process models as BPMN 2.0 files (OMG formal/2011-01-03): written from a chart, and read back where they are made of
blocks, as charts of trees are."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

from chatdev.departments.process.chart import Flow, FlowGraph, FlowNode, readable
from chatdev.departments.process.process_tree import (
    MOST_DEPTH,
    SILENT,
    ProcessTree,
    exclusive,
    loop,
    normalise,
    optional,
    parallel,
    phase,
    sequence,
)
from chatdev.errors import ConfigError

_OMG = "http://www.omg.org/spec/"
_MODEL = f"{_OMG}BPMN/20100524/MODEL"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SPACES = {"bpmn": _MODEL, "bpmndi": f"{_OMG}BPMN/20100524/DI", "dc": f"{_OMG}DD/20100524/DC",
           "di": f"{_OMG}DD/20100524/DI", "xsi": _XSI}
_TAGS = {"start": "startEvent", "end": "endEvent", "task": "task", "exclusive": "exclusiveGateway",
         "parallel": "parallelGateway"}


def write_bpmn(graph: FlowGraph, name: str = "process model", *, executable: bool = False) -> str:
    """The chart as a BPMN file: what it says, and in its diagram part where everything lies.

    One that is `executable` asks a variable at each choice, called as the gateway: the number of the way to take, as
    the flows are named. Without a way of that number the first is taken, which goes on.
    """
    for prefix, space in _SPACES.items():
        ElementTree.register_namespace(prefix, space)
    root = ElementTree.Element(_tag("bpmn:definitions"), id="definitions", targetNamespace="urn:chatdev:process")
    process = _add(root, "bpmn:process", id="process", name=readable(name), isExecutable=str(executable).lower())
    plane = _add(_add(root, "bpmndi:BPMNDiagram", id="diagram"), "bpmndi:BPMNPlane", id="plane", bpmnElement="process")
    elements = {node.id: _add_node(process, plane, node, graph.cases) for node in graph.nodes}
    ids = {id(flow): f"flow_{number}" for number, flow in enumerate(graph.flows, start=1)}
    choices = graph.choices()
    numbers = {id(flow): number for flows in choices.values() for number, flow in enumerate(flows, start=1)}
    for flow in graph.flows:
        _add(elements[flow.target], "bpmn:incoming").text = ids[id(flow)]
    for flow in graph.flows:
        _add(elements[flow.source], "bpmn:outgoing").text = ids[id(flow)]
        number = numbers.get(id(flow))
        _add_flow(process, plane, ids[id(flow)], flow, number, executable=executable)
    if executable:
        for gateway, flows in choices.items():
            elements[gateway].set("default", ids[id(flows[0])])
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _add_node(process: ElementTree.Element, plane: ElementTree.Element, node: FlowNode,
              cases: int | None) -> ElementTree.Element:
    shape = _add(plane, "bpmndi:BPMNShape", id=f"{node.id}_shape", bpmnElement=node.id,
                 **{"isMarkerVisible": "true"} if node.kind == "exclusive" else {})
    _add(shape, "dc:Bounds", x=node.x - node.width // 2, y=node.y - node.height // 2, width=node.width,
         height=node.height)
    if node.name and node.kind != "task":
        above = node.kind in ("exclusive", "parallel")
        _add_label(shape, node.x, node.y - 26 if above else node.y + 34, 8 * len(node.name))
    element = _add(process, f"bpmn:{_TAGS[node.kind]}", id=node.id, **{"name": node.name} if node.name else {})
    if node.counts:
        runs, reached = node.counts
        _add(element, "bpmn:documentation").text = f"{runs} times, in {reached} of {cases} cases"
    return element


def _add_flow(process: ElementTree.Element, plane: ElementTree.Element, id: str, flow: Flow, number: int | None, *,
              executable: bool) -> None:
    """A flow; those that leave a choice are named by their number, if something decides by it, and their count."""
    told = _label_of(flow, number, executable=executable) if number else ""
    element = _add(process, "bpmn:sequenceFlow", id=id, sourceRef=flow.source, targetRef=flow.target,
                   **{"name": told} if told else {})
    if executable and number and number > 1:
        condition = _add(element, "bpmn:conditionExpression", **{f"{{{_XSI}}}type": "bpmn:tFormalExpression"})
        condition.text = f"{flow.source} == {number}"
    edge = _add(plane, "bpmndi:BPMNEdge", id=f"{id}_edge", bpmnElement=id)
    for x, y in flow.points:
        _add(edge, "di:waypoint", x=x, y=y)
    if told:
        _add_label(edge, *flow.label_at, 8 * len(told))


def _label_of(flow: Flow, number: int, *, executable: bool) -> str:
    times = "" if flow.times is None else f"({flow.times})" if executable else str(flow.times)
    return f"{number} {times}".strip() if executable else times


def _add_label(parent: ElementTree.Element, x: int, foot: int, width: int) -> None:
    _add(_add(parent, "bpmndi:BPMNLabel"), "dc:Bounds", x=x - width // 2, y=foot - 14, width=width, height=14)


def _add(parent: ElementTree.Element, tag: str, **attributes: object) -> ElementTree.Element:
    return ElementTree.SubElement(parent, tag if tag.startswith("{") else _tag(tag),
                                  {key: str(value) for key, value in attributes.items()})


def _tag(name: str) -> str:
    prefix, _, bare = name.partition(":")
    return f"{{{_SPACES[prefix]}}}{bare}"


# The reader: the elements of one process, and the tree to which its blocks come down.

MOST_BYTES, MOST_ELEMENTS = 20_000_000, 50_000
"""Of a BPMN file, and of its process."""
_DEEPEST = 200
_MOST_WAYS = 6  # of an inclusive gateway
_GATEWAYS = {"exclusiveGateway": "exclusive", "parallelGateway": "parallel", "inclusiveGateway": "inclusive"}
_TASKS = {"task", "userTask", "serviceTask", "scriptTask", "manualTask", "businessRuleTask", "sendTask", "receiveTask",
          "callActivity"}
_IGNORED = {"documentation", "extensionElements", "laneSet", "textAnnotation", "association", "dataObject", "group",
            "dataObjectReference", "dataStoreReference", "ioSpecification", "property", "category", "auditing",
            "monitoring", "supportedInterfaceRef", "correlationSubscription", "resourceRole", "incoming", "outgoing"}
_KNOWN = {*_GATEWAYS, *_TASKS, "startEvent", "endEvent", "subProcess"}
_TRIGGERS = {"startEvent": {"messageEventDefinition", "timerEventDefinition", "signalEventDefinition",
                            "conditionalEventDefinition"},
             "endEvent": {"messageEventDefinition", "signalEventDefinition"}}
"""By event: what may trigger it, or it tell, without another order of tasks."""
_REPEATS = {"standardLoopCharacteristics", "multiInstanceLoopCharacteristics"}


@dataclass(slots=True)
class _Element:
    """An element of a process: what it is, what it is called, and its line in the file."""

    kind: str
    id: str
    name: str
    line: int
    source: str = ""
    target: str = ""
    has: set[str] = field(default_factory=set)
    """What is written within it."""
    inside: list[_Element] = field(default_factory=list)
    """The elements of a sub-process."""

    @property
    def odd(self) -> list[str]:
        """What is written within it that no tree has."""
        has = {*self.has, *(one.kind for one in self.inside)}
        events = {one for one in self.has if one.endswith("EventDefinition")} - _TRIGGERS.get(self.kind, set())
        return sorted(has & _REPEATS | events)

    @property
    def steps(self) -> list[_Element]:
        """What a sub-process shows of its inside; nothing where it is drawn collapsed and is a task."""
        return [one for one in self.inside if one.kind not in _IGNORED]

    def __str__(self) -> str:
        named = f' "{self.name}"' if self.name else ""
        return f"{self.kind}{named} ({self.id or 'without id'}, line {self.line})"


def read_bpmn(file: Path) -> ProcessTree:
    """The process tree of a BPMN file, in normal form. Raises ConfigError for a file that cannot be read, holds
    elements that no tree has, or is not made of blocks."""
    try:
        size = file.stat().st_size
        data = file.read_bytes() if size <= MOST_BYTES else b""
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from None
    if size > MOST_BYTES:
        raise ConfigError(f"{file} has {size / 1e6:.0f} MB; a BPMN file may have {MOST_BYTES / 1e6:.0f}")
    return parse_bpmn(data, str(file))


def parse_bpmn(data: bytes, place: str = "the BPMN file") -> ProcessTree:
    """`read_bpmn` of what a file holds; `place` names it in errors."""
    reader = _Reader(place)
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        told = expat.ErrorString(error.code)
        raise ConfigError(f"{place}:{error.lineno}: no XML that can be read ({told})") from None
    return _Net(reader.elements(), place).reduce()


class _Reader:
    """Takes the elements of the processes of a file; entities and document types are refused."""

    def __init__(self, place: str) -> None:
        self._place, self._open = place, list[str]()
        self._processes: dict[str, list[_Element]] = {}
        self._inside: list[tuple[int, list[_Element]]] = []  # process and sub-processes that are open, with their depth
        self._count = 0
        self.parser = expat.ParserCreate(None, "}")
        self.parser.StartElementHandler, self.parser.EndElementHandler = self._start, self._end
        self.parser.StartDoctypeDeclHandler = self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: object) -> None:
        raise self._error("a BPMN file has no document type and no entities; export it anew")

    def _error(self, reason: str) -> ConfigError:
        return ConfigError(f"{self._place}:{self.parser.CurrentLineNumber}: {reason}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        space, _, kind = tag.rpartition("}")
        if not self._open and (space, kind) != (_MODEL, "definitions"):
            raise self._error(f"this is no BPMN 2.0 file: it begins with <{kind[:40]}> of the name space "
                              f"{space[:80]!r}, not with <definitions> of {_MODEL!r}")
        self._open.append(kind)
        if len(self._open) > _DEEPEST:
            raise self._error(f"elements lie in each other deeper than {_DEEPEST} levels")
        if space == _MODEL:
            self._take(kind, attributes)

    def _take(self, kind: str, attributes: dict[str, str]) -> None:
        depth = len(self._open)
        if kind == "process":
            self._inside = [(depth, self._processes.setdefault(attributes.get("id", ""), []))]
        elif self._inside and depth == self._inside[-1][0] + 1:
            self._count += 1
            if self._count > MOST_ELEMENTS:
                raise self._error(f"a process may have {MOST_ELEMENTS} elements, not more")
            element = _Element(
                "eventSubProcess" if attributes.get("triggeredByEvent") == "true" else kind, attributes.get("id", ""),
                attributes.get("name", ""), self.parser.CurrentLineNumber, attributes.get("sourceRef", ""),
                attributes.get("targetRef", ""))
            self._inside[-1][1].append(element)
            if kind == "subProcess":
                self._inside.append((depth, element.inside))
        elif self._inside and self._inside[-1][1] and depth == self._inside[-1][0] + 2:
            self._inside[-1][1][-1].has.add(kind)

    def _end(self, tag: str) -> None:
        self._open.pop()
        if self._inside and len(self._open) < self._inside[-1][0]:
            self._inside.pop()

    def elements(self) -> list[_Element]:
        """Those of the one process that has any. Raises ConfigError where there are none, or several have some."""
        full = {id: found for id, found in self._processes.items() if found}
        if len(full) != 1:
            raise ConfigError(f"{self._place}: " + (
                f"there are {len(full)} processes ({', '.join(map(repr, list(full)[:8]))}); keep one in the file"
                if full else "there is no process with elements in it"))
        return next(iter(full.values()))


class _Edge(NamedTuple):
    """A flow, and what is done along it, in order."""

    source: int
    target: int
    steps: list[ProcessTree]

    @property
    def tree(self) -> ProcessTree:
        """What is done along it."""
        return sequence(*self.steps) if len(self.steps) > 1 else self.steps[0] if self.steps else SILENT


class _Net:
    """A process as a net of gateways with flows between them, which is made smaller block by block until one flow is
    left: tasks become what is done along a flow, flows that part and meet at the same gateways become one."""

    def __init__(self, elements: Iterable[_Element], place: str) -> None:
        self._place = place
        self._kinds: list[str] = []
        self._names: list[str] = []
        self._into: list[dict[int, None]] = []
        self._out: list[dict[int, None]] = []
        self._edges: dict[int, _Edge] = {}
        self._number = 0
        self._build(list(elements))

    def _error(self, reason: str) -> ConfigError:
        return ConfigError(f"{self._place}: {reason}")

    def _add(self, kind: str, name: str) -> int:
        self._kinds.append(kind)
        self._names.append(name)
        self._into.append({})
        self._out.append({})
        return len(self._kinds) - 1

    def _link(self, source: int, target: int, steps: list[ProcessTree]) -> None:
        if steps and steps[-1].depth > 2 * MOST_DEPTH:  # before the normal form
            raise self._error(f"blocks lie in each other deeper than {MOST_DEPTH} levels")
        self._number += 1
        self._edges[self._number] = _Edge(source, target, steps)
        self._out[source][self._number] = self._into[target][self._number] = None

    def _unlink(self, number: int) -> _Edge:
        edge = self._edges.pop(number)
        del self._out[edge.source][number], self._into[edge.target][number]
        return edge

    def _build(self, elements: list[_Element]) -> None:
        flows = [one for one in elements if one.kind == "sequenceFlow"]
        nodes = [one for one in elements if one.kind not in {"sequenceFlow", *_IGNORED}]
        for refuse in (self._refuse_strange, self._refuse_loose, self._refuse_unconnected, self._refuse_data):
            refuse(nodes, flows)
        self.begin, self.end = self._add("begin", ""), self._add("end", "")
        meets = self._add("exclusive", "the end events")
        self._link(meets, self.end, [])
        ends: dict[str, tuple[int, int]] = {}
        for node in nodes:
            if node.kind == "startEvent":
                ends[node.id] = self.begin, self.begin
            elif node.kind == "endEvent":
                ends[node.id] = meets, meets
            else:
                ends[node.id] = self._add_step(node)
        for flow in flows:
            self._link(ends[flow.source][1], ends[flow.target][0], [])

    def _add_step(self, node: _Element) -> tuple[int, int]:
        """Where flows enter a task or gateway, and where they leave it. A task where flows meet takes each; one that
        several leave goes on along all."""
        kind = _GATEWAYS.get(node.kind, "")
        before = self._add(kind or "exclusive", str(node))
        behind = self._add(kind or "parallel", str(node))
        self._link(before, behind, [] if kind else [self._read_step(node)])
        return before, behind

    def _read_step(self, node: _Element) -> ProcessTree:
        """The tree of a task or of the inside of a sub-process."""
        return _Net(node.steps, f"{self._place}: {node}").reduce() if node.steps else phase(node.name or node.id)

    def _refuse_strange(self, nodes: Sequence[_Element], flows: Sequence[_Element]) -> None:
        """Raise ConfigError for elements that are in no tree, with every one."""
        if strange := [f"{node} with {', '.join(node.odd)}" if node.odd else node
                       for node in nodes if node.odd or node.kind not in _KNOWN]:
            raise self._error(f"these elements are not read: {_some(strange)}; a model may have tasks, "
                              "sub-processes, exclusive, parallel and inclusive gateways, start and end events, flows")
        starts = [node for node in nodes if node.kind == "startEvent"]
        if len(starts) != 1:
            raise self._error(f"a process has one start event, not {_some(starts) if starts else 'none'}")

    def _refuse_loose(self, nodes: Sequence[_Element], flows: Sequence[_Element]) -> None:
        """Raise ConfigError for elements without an id of their own, and for flows that lead nowhere."""
        ids = Counter(node.id for node in nodes)
        if twice := [node for node in nodes if ids[node.id] > 1 or not node.id]:
            raise self._error(f"each element needs an id of its own: {_some(twice)}")
        if loose := [flow for flow in flows if not {flow.source, flow.target} <= ids.keys()]:
            raise self._error(f"these flows lead from or to nothing that is there: {_some(loose)}")

    def _refuse_unconnected(self, nodes: Sequence[_Element], flows: Sequence[_Element]) -> None:
        """Raise ConfigError for what no flow leads to or from."""
        ids = {node.id for node in nodes}
        starts, ends = ({node.id for node in nodes if node.kind == kind} for kind in ("startEvent", "endEvent"))
        wrong = ((ids - {flow.target for flow in flows}) ^ starts) | ((ids - {flow.source for flow in flows}) ^ ends)
        if found := [node for node in nodes if node.id in wrong]:
            raise self._error("these have no flow in or out where there must be one, or one where there must be none: "
                              f"{_some(found)}")

    def _refuse_data(self, nodes: Sequence[_Element], flows: Sequence[_Element]) -> None:
        """Raise ConfigError where flows that leave no gateway are chosen among."""
        kinds = {node.id: node.kind for node in nodes if node.kind not in _GATEWAYS}
        if more := [flow for flow in flows if "conditionExpression" in flow.has and flow.source in kinds]:
            raise self._error(f"conditions on flows out of tasks are not read: {_some(more)}; put an inclusive gateway "
                              "behind the task")
        begins = [flow for flow in flows if kinds.get(flow.source) == "startEvent"]
        if len(begins) > 1:
            raise self._error(f"one flow leaves the start event, not {_some(begins)}; put a gateway behind it")

    def reduce(self) -> ProcessTree:
        """The tree. Raises ConfigError where the net is not made of blocks."""
        waiting = deque(range(len(self._kinds)))
        queued = set(waiting)
        while waiting:
            node = waiting.popleft()
            queued.discard(node)
            for near in self._shrink(node):
                if near not in queued:
                    queued.add(near)
                    waiting.append(near)
        if len(self._edges) != 1:
            left = [*dict.fromkeys(self._names[node] for edge in self._edges.values() for node in edge[:2]
                                   if self._names[node])]
            raise self._error(f"the process is not made of blocks (ways that part at one gateway and meet at another "
                              f"of its kind, or loops between exclusive ones); look at {_some(left)}")
        [edge] = self._edges.values()
        if (tree := normalise(edge.tree)).depth > MOST_DEPTH:
            raise self._error(f"blocks lie in each other deeper than {MOST_DEPTH} levels")
        return tree

    def _shrink(self, node: int) -> Sequence[int]:
        """Make the net smaller at a node; the nodes where something changed."""
        if self._kinds[node] in ("begin", "end"):
            return ()
        if len(self._into[node]) == len(self._out[node]) == 1:
            first, second = next(iter(self._into[node])), next(iter(self._out[node]))
            if first != second:
                before, behind = self._unlink(first), self._unlink(second)
                before.steps.extend(behind.steps)
                self._link(before.source, behind.target, before.steps)
                return before.source, behind.target
        targets: dict[int, list[int]] = {}
        for number in self._out[node]:
            targets.setdefault(self._edges[number].target, []).append(number)
        for target, numbers in targets.items():
            if target != node and self._kinds[node] == self._kinds[target] and self._merge(node, target, numbers):
                return node, target
        return ()

    def _merge(self, node: int, target: int, numbers: Sequence[int]) -> bool:
        """Make one flow of those that lead from one gateway to another of its kind; whether that was possible."""
        if self._kinds[node] == "exclusive" and (back := self._ways_back(node, target)):
            redo = _choose([self._unlink(number).tree for number in back])
            body = _choose([self._unlink(number).tree for number in numbers])
            self._link(node, target, [loop(body, redo)])
            return True
        is_whole = len(numbers) == len(self._out[node]) == len(self._into[target])
        if len(numbers) == 1 or (self._kinds[node] == "inclusive" and not is_whole):
            return False
        self._link(node, target, [self._combine(node, [self._unlink(number).tree for number in numbers])])
        return True

    def _ways_back(self, node: int, target: int) -> list[int]:
        """The flows from the end of a loop to its begin: nothing but its body leaves the begin or enters the end."""
        if any(self._edges[number].target != target for number in self._out[node]) or any(
                self._edges[number].source != node for number in self._into[target]):
            return []
        return [number for number in self._out[target] if self._edges[number].target == node]

    def _combine(self, node: int, ways: list[ProcessTree]) -> ProcessTree:
        """The ways between two gateways of one kind."""
        if self._kinds[node] == "exclusive":
            return exclusive(*ways)
        if self._kinds[node] == "parallel":
            return parallel(*ways)
        ways = sorted(ways, key=str)
        if any(way.is_nullable for way in ways):
            return parallel(*map(optional, ways))
        if len(ways) > _MOST_WAYS:
            raise self._error(f"{self._names[node]}: an inclusive gateway may have {_MOST_WAYS} ways, not {len(ways)}")
        return exclusive(*(parallel(way, *map(optional, ways[number + 1:])) for number, way in enumerate(ways)))


def _choose(ways: Sequence[ProcessTree]) -> ProcessTree:
    return ways[0] if len(ways) == 1 else exclusive(*ways)


def _some(found: Sequence[object]) -> str:
    return ", ".join(map(str, found[:8])) + (f" and {len(found) - 8} more" if len(found) > 8 else "")
