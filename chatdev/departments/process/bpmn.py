"""A process model as BPMN 2.0 (OMG formal/2011-01-03), the notation that modelling programs read."""

from __future__ import annotations

from xml.etree import ElementTree

from chatdev.departments.process.flow_graph import Flow, FlowGraph, FlowNode, readable

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
