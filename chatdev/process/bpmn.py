"""A process model as BPMN 2.0 (OMG formal/2011-01-03), the notation that modelling programs read."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from chatdev.process.flow_graph import FlowGraph, FlowNode

_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/MODEL"
_TAGS = {"start": "startEvent", "end": "endEvent", "task": "task", "exclusive": "exclusiveGateway",
         "parallel": "parallelGateway"}
MOST_NODES = 250
"""So many nodes of a chart are laid out; it takes the square of their number, for these ten seconds."""

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_bpmn(graph: FlowGraph, name: str = "process model", layout: bool = True) -> str:
    """The chart as a BPMN file. Its diagram part, which says where everything lies, comes from the package bpmn-io. A
    file without it is made where that is not installed or not wanted, or the chart is too large for any page; most
    programs then lay it out themselves."""
    ElementTree.register_namespace("bpmn", _NAMESPACE)
    root = ElementTree.Element(_tag("definitions"), {"id": "definitions", "targetNamespace": "urn:chatdev:process"})
    process = ElementTree.SubElement(root, _tag("process"), {"id": "process", "name": _clean(name),
                                                             "isExecutable": "false"})
    for node in graph.nodes:
        _add_node(process, node, graph.flows)
    for number, (one, other) in enumerate(graph.flows, start=1):
        ElementTree.SubElement(process, _tag("sequenceFlow"), {"id": f"flow_{number}", "sourceRef": one,
                                                               "targetRef": other})
    ElementTree.indent(root)
    text = ElementTree.tostring(root, "unicode")
    return _declare(_lay_out(text) if layout and len(graph.nodes) <= MOST_NODES else text)


def _add_node(process: ElementTree.Element, node: FlowNode, flows: list[tuple[str, str]]) -> None:
    element = ElementTree.SubElement(process, _tag(_TAGS[node.kind]), {"id": node.id})
    if node.name:
        element.set("name", _clean(node.name))
    for side, tag in ((1, "incoming"), (0, "outgoing")):
        for number, flow in enumerate(flows, start=1):
            if flow[side] == node.id:
                ElementTree.SubElement(element, _tag(tag)).text = f"flow_{number}"


def _lay_out(text: str) -> str:
    """The file with a diagram part, or as it is: bpmn-io is young, and nothing else depends on it."""
    try:
        from bpmn_io import LayoutError, ParseError, layout_process
    except ImportError:
        return text
    try:
        return str(layout_process(text))
    except (LayoutError, ParseError):
        return text


def _declare(text: str) -> str:
    return text if text.startswith("<?xml") else f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _tag(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"


def _clean(text: str) -> str:
    """XML cannot hold control characters, however they are written."""
    return _NOT_XML.sub("�", text)
