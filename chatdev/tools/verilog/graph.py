"""The task and circuit relation graph (TCRG; VerilogCoder, arXiv 2408.08927, §3.1).

Nodes are tasks, signals, transitions and examples; an edge goes from a task to a signal (IMPLEMENTS), and from a signal
to a transition (SIGNALTRANSITION) or an example (EXAMPLES). Where the original asks a model about every pair, here a
signal that a text names is linked without asking; what stays alone is one question to a model, whose answer is `links`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from chatdev.errors import MissingProgram, ToolError
from chatdev.tools.verilog.identifiers import declared, identifiers
from chatdev.tools.verilog.plan import Extraction, Subtask

try:
    import networkx as nx
except ImportError as error:
    raise MissingProgram("the relation graph needs networkx: pip install 'chatdev-chain[verilog]'") from error

RELATIONS = {("task", "signal"): "IMPLEMENTS", ("signal", "transition"): "SIGNALTRANSITION",
             ("signal", "example"): "EXAMPLES"}


def build(tasks: Sequence[Subtask], extraction: Extraction) -> nx.DiGraph:
    """The graph with every link that an identifier gives. Node ids are `task 1`, `signal q`, `transition 1`…; a node
    has `type`, `name` and `text`, a task also `source`, an edge `type` and `by`: identifier."""
    graph = nx.DiGraph()
    for task in tasks:
        _add(graph, "task", task.id, task.content, source=task.source)
    for signal in extraction.signals:
        for name in declared(signal.name):
            known = graph.nodes.get(f"signal {name}", {}).get("text", "")
            _add(graph, "signal", name, "\n".join(dict.fromkeys([*known.splitlines(), *signal.about.splitlines()])))
    for kind, facts in (("transition", extraction.transitions), ("example", extraction.examples)):
        for number, fact in enumerate(facts, start=1):
            _add(graph, kind, str(number), fact.text)
    _link_identifiers(graph)
    return graph


def merge(graph: nx.DiGraph, links: Sequence[Any]) -> list[str]:
    """Add what a model linked, each `{from: id, to: id}`; returns a note for every link that is not taken."""
    return [f"link {number}: {problem}" for number, link in enumerate(links, start=1)
            if (problem := _merged(graph, link))]


def unlinked(graph: nx.DiGraph) -> list[dict[str, str]]:
    """The signals that no task implements, and the tasks, transitions and examples without a signal: `id`, `text`, and
    `wants`, the type of node to link it with."""
    return [{"id": node, "text": data["text"], "wants": wants} for node, data in graph.nodes(data=True)
            if (wants := _wants(graph, node, data))]


def to_json(graph: nx.DiGraph) -> dict[str, Any]:
    """Node-link data: `nodes` and `edges`, plain JSON values."""
    data: dict[str, Any] = nx.node_link_data(graph, edges="edges")
    return data


def from_json(data: Any) -> nx.DiGraph:
    """The graph that `to_json` gave, whatever was put beside it. Raises ToolError for anything else."""
    try:
        return nx.node_link_graph(data, edges="edges")
    except (nx.NetworkXError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ToolError(f"this is no relation graph ({error!r}); give what verilog.relate returned") from None


def around(graph: nx.DiGraph, task: str, hops: int) -> dict[str, int]:
    """The signals, transitions and examples within `hops` of a task's node, nearest first: id -> hops.

    Beyond the paper, whose edges lead no farther than two hops, they are followed both ways from signals on: at three
    hops are the other signals of the transitions and examples found. Other tasks are not passed through.
    """
    circuit = [node for node, data in graph.nodes(data=True) if data["type"] != "task" or node == task]
    distances = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True).subgraph(circuit), task, hops)
    near = sorted((node for node in graph if node in distances), key=distances.__getitem__)
    return {node: distances[node] for node in near if node != task}


def node_of(graph: nx.DiGraph, given: Any) -> str:
    """The id of the node that a model names: its id, in any case and quotes, or its bare name where only one node has
    it. Raises ToolError that says what may be meant."""
    wanted = " ".join(str(given).strip(" `'\".").split())
    if wanted in graph:
        return wanted
    same = [node for node in graph if node.casefold() == wanted.casefold()]
    named = [node for node, data in graph.nodes(data=True) if data["name"] == wanted and data["type"] == "signal"]
    if len(found := same or named) == 1:
        return str(found[0])
    near = found or get_close_matches(wanted, graph, cutoff=0.4)
    raise ToolError(f"there is no node {wanted!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


def _add(graph: nx.DiGraph, kind: str, name: str, text: str, **more: Any) -> None:
    graph.add_node(f"{kind} {name}", type=kind, name=name, text=text, **more)


def _link_identifiers(graph: nx.DiGraph) -> None:
    signals = {data["name"]: node for node, data in graph.nodes(data=True) if data["type"] == "signal"}
    for node, data in list(graph.nodes(data=True)):
        if data["type"] != "signal":
            mentioned = identifiers(f"{data['text']}\n{data.get('source', '')}")
            for name in (name for name in signals if name in mentioned):
                _relate(graph, signals[name], node, "identifier")


def _relate(graph: nx.DiGraph, one: str, other: str, by: str) -> bool:
    """Link two nodes in the direction their types have; False when these types have no relation."""
    for start, end in ((one, other), (other, one)):
        relation = RELATIONS.get((graph.nodes[start]["type"], graph.nodes[end]["type"]))
        if relation:
            if not graph.has_edge(start, end):
                graph.add_edge(start, end, type=relation, by=by)
            return True
    return False


def _merged(graph: nx.DiGraph, link: Any) -> str:
    """Add one link of a model; what is wrong with it, or nothing."""
    if not isinstance(link, Mapping) or not {"from", "to"} <= link.keys():
        return f"it must be {{from: id, to: id}}, not {link!r:.80}"
    try:
        start, end = node_of(graph, link["from"]), node_of(graph, link["to"])
    except ToolError as error:
        return str(error)
    if _relate(graph, start, end, "model"):
        return ""
    return f"{start} and {end} have no relation; there are: {', '.join(map(' to '.join, RELATIONS))}"


def _wants(graph: nx.DiGraph, node: str, data: Mapping[str, Any]) -> str:
    """The type of node that is missing beside this one, or nothing."""
    if data["type"] == "signal":
        return "" if graph.in_degree(node) else "task"
    return "" if graph.degree(node) else "signal"
