"""Two process models in one picture: their charts below each other, and marked in each what the other has not."""

from __future__ import annotations

from itertools import combinations, product
from typing import Literal

from chatdev.departments.process.chart import (
    Flow,
    FlowGraph,
    FlowNode,
    Mark,
    cut_off,
    draw_flow,
    draw_page,
    draw_shapes,
    draw_text,
    to_picture,
)
from chatdev.departments.process.process_tree import ProcessTree

MARKS = (Mark("#b45309", "#fdf0e0", "9 4", "only in A"), Mark("#1d4ed8", "#e3ecfd", "2 4", "only in B"))
"""Of what only the first and only the second model has: told apart by dashes and words, too, as not everybody and no
printer sees colours."""
_HEAD, _GAP, _LEGEND, _LEAST_WIDTH = 34, 24, 30, 560  # pixels
_LETTER = 8


def draw_comparison(one: tuple[str, ProcessTree], other: tuple[str, ProcessTree], kind: Literal["svg", "png"]) -> bytes:
    """The picture of two models and their names. Raises MissingProgram for a PNG without resvg."""
    graphs = draw_flow(one[1]), draw_flow(other[1])
    own = find_own(graphs[0], graphs[1]), find_own(graphs[1], graphs[0])
    width = max(_LEAST_WIDTH, *(graph.extent[0] for graph in graphs))
    shapes = _draw_legend("all else is in both" if any(own) else "no task, flow or gateway is in only one of them")
    top = _LEGEND
    for letter, (name, _), graph, mark, marked in zip("AB", (one, other), graphs, MARKS, own, strict=True):
        title = f"{letter}: {cut_off(name, (width - 60) // _LETTER)}"
        shapes += [draw_text(20, top + 20, title, 13, bold=True, anchor="start"),
                   *draw_shapes(graph, top + _HEAD, mark, marked)]
        top += _HEAD + graph.extent[1] + _GAP
    return to_picture(draw_page(width, top, shapes, MARKS), kind)


def find_own(graph: FlowGraph, other: FlowGraph) -> set[str | Flow]:
    """What the other chart has not: tasks by their names; flows that are part of no way from a task to the next that
    the other has; gateways that part or join no two tasks as one of the other does. Nodes by their ids."""
    here, there = _Neighbours(graph), _Neighbours(other)
    ways, turns = set().union(*map(there.successions, other.flows)), set().union(*map(there.turns, other.gateways()))
    names = {node.name for node in other.nodes if node.kind == "task"}
    return {*(flow for flow in graph.flows if ways.isdisjoint(here.successions(flow))),
            *(node.id for node in graph.nodes if node.kind == "task" and node.name not in names),
            *(node.id for node in graph.gateways() if turns.isdisjoint(here.turns(node)))}


class _Neighbours:
    """Which tasks come next to each other in a chart, through gateways only; `(begin)` and `(end)` are tasks, too."""

    def __init__(self, graph: FlowGraph) -> None:
        self._names = {node.id: node.name if node.kind == "task" else f"({'begin' if node.kind == 'start' else 'end'})"
                       for node in graph.nodes if node.kind not in ("exclusive", "parallel")}
        self._ahead: dict[str, list[str]] = {}
        self._back: dict[str, list[str]] = {}
        for flow in graph.flows:
            self._ahead.setdefault(flow.source, []).append(flow.target)
            self._back.setdefault(flow.target, []).append(flow.source)

    def successions(self, flow: Flow) -> set[tuple[str, str]]:
        """From which task to which next one the flow leads."""
        return set(product(self._reach(flow.source, self._back), self._reach(flow.target, self._ahead)))

    def turns(self, gateway: FlowNode) -> set[tuple[str, bool, frozenset[str]]]:
        """Each two tasks that come next on different ways behind (True) or before a gateway, and its kind."""
        return {(gateway.kind, links is self._ahead, frozenset(pair))
                for links in (self._ahead, self._back)
                for one, other in combinations(links.get(gateway.id, ()), 2)
                for pair in product(self._reach(one, links), self._reach(other, links))}

    def _reach(self, begin: str, links: dict[str, list[str]]) -> set[str]:
        """The tasks that are come to from a node, itself among them."""
        seen, queue = {begin}, [begin]
        for node in queue:
            more = [] if node in self._names else [one for one in links.get(node, ()) if one not in seen]
            seen.update(more)
            queue += more
        return {self._names[node] for node in seen if node in self._names}


def _draw_legend(rest: str) -> list[str]:
    shapes, x = [], 20
    for mark in MARKS:
        shapes += [f'<rect x="{x}" y="9" width="34" height="16" rx="4" fill="{mark.fill}" stroke="{mark.line}" '
                   f'stroke-width="2.4" stroke-dasharray="{mark.dashes}"/>',
                   draw_text(x + 44, 21, mark.words, 11, anchor="start")]
        x += 140
    return [*shapes, draw_text(x, 21, rest, 11, anchor="start")]
