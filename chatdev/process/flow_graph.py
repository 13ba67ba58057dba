"""A process tree as a chart: tasks, gateways and the flows between them, for BPMN and for pictures."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from chatdev.errors import MissingProgram, ToolError
from chatdev.process.process_tree import ProcessTree, normalise

NodeKind = Literal["start", "end", "task", "exclusive", "parallel"]
_SHAPES = {"start": 'shape=circle, label=""', "end": 'shape=doublecircle, label="", width=0.25',
           "exclusive": 'shape=diamond, label="×"', "parallel": 'shape=diamond, label="+"'}


@dataclass(frozen=True, slots=True)
class FlowNode:
    """A task, a gateway, or where the process begins and ends."""

    id: str
    kind: NodeKind
    name: str = ""
    """Of a task: the phase."""


@dataclass(slots=True)
class FlowGraph:
    """Nodes, and flows from one id to another, in the order of the process."""

    nodes: list[FlowNode] = field(default_factory=list)
    flows: list[tuple[str, str]] = field(default_factory=list)

    def add(self, kind: NodeKind, name: str = "") -> str:
        """A new node; returns its id."""
        self.nodes.append(FlowNode(f"{kind}_{len(self.nodes) + 1}", kind, name))
        return self.nodes[-1].id

    def gateways(self) -> Iterator[FlowNode]:
        """Where ways part or meet."""
        return (node for node in self.nodes if node.kind in ("exclusive", "parallel"))


def draw_flow(tree: ProcessTree) -> FlowGraph:
    """The chart of a tree. A choice, a loop and a parallel part have a gateway before and one behind them."""
    graph = FlowGraph()
    begin = graph.add("start")
    last = _add(graph, normalise(tree), begin)
    graph.flows.append((last, graph.add("end")))
    return graph


def _add(graph: FlowGraph, tree: ProcessTree, before: str) -> str:
    """Add a tree behind a node; the id of its own last node."""
    if tree.operator == "silent":
        return before
    if tree.operator == "phase":
        task = graph.add("task", tree.name)
        graph.flows.append((before, task))
        return task
    if tree.operator == "sequence":
        for child in tree.children:
            before = _add(graph, child, before)
        return before
    if tree.operator == "loop":
        return _add_loop(graph, tree, before)
    return _add_branches(graph, "parallel" if tree.operator == "parallel" else "exclusive", tree.children, before)


def _add_loop(graph: FlowGraph, tree: ProcessTree, before: str) -> str:
    body, redo = tree.children
    meet = graph.add("exclusive")
    graph.flows.append((before, meet))
    last = _add(graph, body, meet)
    part = graph.add("exclusive")
    graph.flows += [(last, part), (_add(graph, redo, part), meet)]
    return part


def _add_branches(graph: FlowGraph, kind: NodeKind, children: Sequence[ProcessTree], before: str) -> str:
    part = graph.add(kind)
    graph.flows.append((before, part))
    lasts = [_add(graph, child, part) for child in children]
    meet = graph.add(kind)
    graph.flows += [(last, meet) for last in lasts]
    return meet


def to_dot(graph: FlowGraph, title: str = "") -> str:
    """The chart in graphviz's language."""
    lines = [f"  {node.id} [{_SHAPES.get(node.kind) or f'shape=box, style=rounded, label={_quote(node.name)}'}];"
             for node in graph.nodes]
    flows = [f"  {one} -> {other};" for one, other in graph.flows]
    head = f"  rankdir=LR; label={_quote(title)}; labelloc=t; node [fontname=Helvetica]; fontname=Helvetica;"
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
    """A graphviz string; JSON's escapes of quotes, backslashes and line ends are graphviz's too."""
    return json.dumps(text, ensure_ascii=False)
