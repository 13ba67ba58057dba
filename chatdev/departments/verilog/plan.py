"""The plan of sub-tasks, as a model wrote it: repaired so that it can be run, reviewed by `verilog.plan`, and joined
with the graph of what belongs to each.

After VerilogCoder (arXiv 2408.08927, §3.1). What a Plan Verification Assistant would have to count is counted here, so
that it can look at the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher, get_close_matches
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chatdev.departments.verilog.compilation import render_report
from chatdev.departments.verilog.specification import declared_names, identifiers, listed_ports
from chatdev.errors import MissingProgram, ToolError
from chatdev.tools.base import ToolContext, Verdict, tool

_Shape = TypeVar("_Shape", bound=BaseModel)
_QUOTED = 4  # words in a row that make a quotation, or all of a shorter source, but two at least
_NO_PLAN = -1000.0
_TASK = re.compile(r"(?:^the\s+)?(?:sub[\s_-]?)?task(?:[\s_#-]+(?=\w)|(?=\d))", re.IGNORECASE)


class _ModelOutput(BaseModel):
    """What a model wrote: numbers may stand for texts, and more fields than asked for do no harm."""

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=True)


class Subtask(_ModelOutput):
    """One sub-task: a part of the module to write; `source` is what the specification says of it."""

    content: str
    id: str = ""
    source: str = ""
    parents: tuple[str, ...] = ()


class Plan(_ModelOutput):
    subtasks: tuple[Subtask, ...]


class ExtractedSignal(_ModelOutput):
    name: str
    about: str = ""


class Fact(_ModelOutput):
    """A transition of signals, or an example of their values."""

    text: str


class Extraction(_ModelOutput):
    signals: tuple[ExtractedSignal, ...] = ()
    transitions: tuple[Fact, ...] = ()
    examples: tuple[Fact, ...] = ()


def parse(shape: type[_Shape], value: Any) -> _Shape:
    """`value` in that shape. Raises ToolError that names the first field which does not fit."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        place = ".".join(map(str, (shape.__name__.lower(), *problem["loc"])))
        raise ToolError(f"{place}: {problem['msg']} (given: {problem['input']!r:.80}); "
                        f"it has the fields {', '.join(shape.model_fields)}") from None


def repair_plan(plan: Plan) -> tuple[list[Subtask], list[str]]:
    """The sub-tasks with ids of their own and parents that can all come first, and a note on each thing changed.

    `foreach` with `depends_on` takes such a list; as a model wrote it, one wrong parent would stop the run.
    """
    notes: list[str] = []
    tasks = _number(_drop_repeated(plan.subtasks, notes), notes)
    return _break_circles(_drop_unknown_parents(tasks, notes), notes), notes


def join_loose(tasks: Sequence[Subtask], loose: Collection[str], notes: list[str]) -> list[Subtask]:
    """The sub-tasks with each loose one made a part of the one before it, or the first ones of the one after them.

    What says nothing of its own about the specification is not worth a dialogue, but must not be lost either. Adds a
    note for each.
    """
    groups = _group_loose(tasks, loose)
    now = {task.id: group[0].id for group in groups for task in group}
    notes += [f"sub-task {task.id} is now a part of {now[task.id]}" for task in tasks if now[task.id] != task.id]
    return _break_circles([_join(group, now) for group in groups], notes)


def _group_loose(tasks: Sequence[Subtask], loose: Collection[str]) -> list[list[Subtask]]:
    groups: list[list[Subtask]] = []
    for task in tasks:
        if groups and (task.id in loose or all(one.id in loose for one in groups[-1])):
            groups[-1].append(task)
        else:
            groups.append([task])
    return groups


def _join(group: Sequence[Subtask], now: Mapping[str, str]) -> Subtask:
    first = group[0]
    parents = dict.fromkeys(now[parent] for task in group for parent in task.parents)
    return first.model_copy(update={
        "content": "\n".join(task.content for task in group),
        "source": "\n".join(dict.fromkeys(task.source for task in group if task.source)),
        "parents": tuple(parent for parent in parents if parent != first.id or len(group) == 1)})


def bare_id(name: str) -> str:
    """The id in `Task 3`, `sub-task #3:` or ` 3. `: `3`."""
    plain = " ".join(name.split())
    return _TASK.sub("", plain, count=1).strip(" #.:)") or plain


def _drop_repeated(tasks: Iterable[Subtask], notes: list[str]) -> list[Subtask]:
    """Without those that say the same as one before."""
    first: dict[str, Subtask] = {}
    for task in tasks:
        words = " ".join(re.findall(r"\w+", task.content.casefold()))
        if words in first:
            notes.append(f"sub-task {task.id!r} says the same as {first[words].id!r}; left out")
        first.setdefault(words, task)
    return list(first.values())


def _number(tasks: Iterable[Subtask], notes: list[str]) -> list[Subtask]:
    taken: dict[str, Subtask] = {}
    for number, task in enumerate(tasks, start=1):
        wanted = name = bare_id(task.id) or str(number)
        copy = 1
        while name in taken:
            copy += 1
            name = f"{wanted}-{copy}"
        if copy > 1:
            notes.append(f"two sub-tasks have the id {wanted}; the later one is now {name}")
        taken[name] = task.model_copy(update={"id": name})
    return list(taken.values())


def _drop_unknown_parents(tasks: list[Subtask], notes: list[str]) -> list[Subtask]:
    ids = {task.id for task in tasks}
    kept = []
    for task in tasks:
        parents = dict.fromkeys(map(bare_id, task.parents))
        if unknown := [parent for parent in parents if parent not in ids]:
            notes.append(f"sub-task {task.id} has parents that are no sub-tasks: {', '.join(unknown)}; left out")
        kept.append(task.model_copy(update={"parents": tuple(parent for parent in parents if parent in ids)}))
    return kept


def _break_circles(tasks: list[Subtask], notes: list[str]) -> list[Subtask]:
    """In a circle some sub-task waits for one that is listed after it: that one is no parent any more."""
    places = {task.id: place for place, task in enumerate(tasks)}
    parents = {task.id: list(task.parents) for task in tasks}
    for task in tasks:
        for parent in task.parents:
            if places[parent] >= places[task.id] and _reaches(parents, parent, task.id):
                parents[task.id].remove(parent)
                notes.append(f"sub-task {task.id} waits for {parent}, which waits for {task.id}; "
                             f"{parent} is left out of its parents")
    return [task.model_copy(update={"parents": tuple(parents[task.id])}) for task in tasks]


def _reaches(parents: Mapping[str, Iterable[str]], start: str, wanted: str) -> bool:
    """Whether `start` is `wanted`, or waits for it, directly or not."""
    open_names, seen = [start], set[str]()
    while open_names:
        name = open_names.pop()
        if name == wanted:
            return True
        if name not in seen:
            seen.add(name)
            open_names += parents[name]
    return False


@dataclass(frozen=True, slots=True)
class Gaps:
    """What a plan lacks. `vague` are the ids of sub-tasks that neither name a port nor quote anything, `unquoted` those
    of others that quote nothing; `outputs` are named by no sub-task; `notes` are those of `repair_plan`."""

    vague: list[str]
    unquoted: list[str]
    outputs: list[str]
    notes: list[str]

    @property
    def count(self) -> int:
        return len(self.vague) + len(self.unquoted) + len(self.outputs) + len(self.notes)


@tool(reads=("plan?",), name="verilog.plan")
def review(context: ToolContext) -> Verdict:
    """Compare a plan of sub-tasks with the specification: each sub-task has to quote a sentence, every
    output needs a sub-task, and none stands twice."""
    specification, plan = str(context.inputs.get("task") or ""), context.values.get("plan")
    ports = [port["name"] for port in listed_ports(specification)]
    if plan is None:
        return Verdict(False, render_report("plan", gaps=None, ports=ports), _NO_PLAN)
    gaps = find_gaps(*repair_plan(parse(Plan, plan)), specification)
    return Verdict(not gaps.count, render_report("plan", gaps=gaps, ports=ports), -float(gaps.count), asdict(gaps))


def find_gaps(tasks: Sequence[Subtask], notes: Sequence[str], specification: str) -> Gaps:
    """What a plan lacks, as `repair_plan` gives it. Ports are those that the specification lists; without any, no
    sub-task has to name one."""
    ports = listed_ports(specification)
    names = {port["name"] for port in ports}
    named = {task.id: identifiers(f"{task.content}\n{task.source}") & names for task in tasks}
    unquoted = _tasks_without_quote(tasks, _words(specification))
    vague = [task for task in unquoted if names and not named[task]]
    return Gaps(vague, [task for task in unquoted if task not in vague],
                _outputs_besides(set[str]().union(*named.values()), ports), list(notes))


def _outputs_besides(names: Collection[str], ports: Sequence[Mapping[str, Any]]) -> list[str]:
    return [port["name"] for port in ports
            if port["certain"] and port["direction"] == "output" and port["name"] not in names]


def _tasks_without_quote(tasks: Sequence[Subtask], specification: list[str]) -> list[str]:
    """The ids of the sub-tasks that quote nothing of a specification; none when that is empty."""
    return [task.id for task in tasks if specification and not _quotes(_words(task.source), specification)]


def _quotes(source: list[str], specification: list[str]) -> bool:
    length = max(2, min(_QUOTED, len(source)))
    return not _runs(source, length).isdisjoint(_runs(specification, length))


def _runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    """All that stands in `length` words on end."""
    return set(zip(*(words[n:] for n in range(length)), strict=False))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


# The task and circuit relation graph (TCRG; VerilogCoder, arXiv 2408.08927, §3.1).

try:
    import networkx as nx
except ImportError as error:
    raise MissingProgram("the relation graph needs networkx: pip install 'chatdev-chain[verilog]'") from error

RELATIONS = {("task", "signal"): "IMPLEMENTS", ("signal", "transition"): "SIGNALTRANSITION",
             ("signal", "example"): "EXAMPLES"}

_AS_FAR = 3  # hops: task, signal, transition, signal
_COMPARED = 300  # words of a text at most
_NEAR, _FEWEST = 0.6, 2  # share of the shorter text's words that are the same, and their least number
_NUMBERED = re.compile(r"\s*(?:(?:sub[\s_-]?)?task[\s_#-]*(\S+?)|(\S+?)[.:)])(?:[.:)\s]|$)", re.IGNORECASE)


@tool(reads=("plan", "extraction", "links?"), pure=True)
def relate(context: ToolContext) -> dict[str, Any]:
    """Relate the plan's sub-tasks with the signals, transitions and examples of the specification.

    Sub-tasks that quote nothing of the specification become part of the one before. The result is the
    graph as node-link data (`nodes`, `edges`), `subtasks` (the plan's, in a form that
    `foreach: {depends_on: parents}` takes), `unlinked` (what no identifier links, for a model to answer with `links`)
    and `notes` on everything that was left out or changed. Raises ToolError when a value has another shape.
    """
    tasks, notes = repair_plan(parse(Plan, context.values.get("plan")))
    gaps = find_gaps(tasks, (), str(context.inputs.get("task") or ""))
    tasks = join_loose(tasks, [*gaps.vague, *gaps.unquoted], notes)
    relations = build_graph(tasks, parse(Extraction, context.values.get("extraction")))
    links = context.values.get("links") or []
    if not isinstance(links, list):
        raise ToolError(f"links must be a list of {{from: id, to: id}}, not {links!r:.80}")
    notes += merge_links(relations, links)
    return {**to_json(relations), "subtasks": [task.model_dump(mode="json") for task in tasks],
            "unlinked": unlinked_nodes(relations), "notes": notes}


@tool(reads=("graph",))
def retrieve(
    context: ToolContext, *,
    task: Annotated[str, Field(description="The sub-task: its id or its text.")],
    hops: Annotated[int, Field(ge=1, le=10, description="How far to look: 1 gives signals, 2 their transitions and "
                                                        "examples, more what these have to do with.")] = 2,
) -> str:
    """The signals, transitions and examples of the specification that are related to a sub-task."""
    return _report_on(task, hops, context)


@tool(reads=("graph", "subtask"), name="verilog.related", pure=True)
def look_around(context: ToolContext) -> str:
    """The same of the sub-task that a `foreach` is at, as far as the other signals of its transitions and examples."""
    subtask = context.values.get("subtask")
    name = subtask.get("id") if isinstance(subtask, Mapping) else None
    if name is None:
        raise ToolError(f"`subtask` must be one of the sub-tasks that verilog.relate returned, not {subtask!r:.80}")
    return _report_on(str(name), _AS_FAR, context)


def _report_on(task: str, hops: int, context: ToolContext) -> str:
    """The report on a sub-task, however it is named."""
    relations = from_json(context.values.get("graph"))
    tasks = {data["name"]: data["text"] for _, data in relations.nodes(data=True) if data["type"] == "task"}
    name = find_task(task, tasks)
    found: list[dict[str, Any]] = []
    if name is not None:
        distances = nodes_near(relations, f"task {name}", hops)
        found = [{**relations.nodes[node], "hops": distance} for node, distance in distances.items()]
    signals = [data["name"] for _, data in relations.nodes(data=True) if data["type"] == "signal"]
    return render_report("retrieve", given=task, name=name, tasks=tasks, hops=hops, found=found, signals=signals)


def build_graph(tasks: Sequence[Subtask], extraction: Extraction) -> nx.DiGraph:
    """The graph with every link that an identifier gives. Node ids are `task 1`, `signal q`, `transition 1`…; a node
    has `type`, `name` and `text`, a task also `source`, an edge `type` and `by`: identifier."""
    graph = nx.DiGraph()
    for task in tasks:
        _add_node(graph, "task", task.id, task.content, source=task.source)
    for signal in extraction.signals:
        for name in declared_names(signal.name):
            known = graph.nodes.get(f"signal {name}", {}).get("text", "")
            lines = dict.fromkeys([*known.splitlines(), *signal.about.splitlines()])
            _add_node(graph, "signal", name, "\n".join(lines))
    for kind, facts in (("transition", extraction.transitions), ("example", extraction.examples)):
        for number, fact in enumerate(facts, start=1):
            _add_node(graph, kind, str(number), fact.text)
    _link_identifiers(graph)
    return graph


def merge_links(graph: nx.DiGraph, links: Sequence[Any]) -> list[str]:
    """Add what a model linked, each `{from: id, to: id}`; returns a note for every link that is not taken."""
    return [f"link {number}: {problem}" for number, link in enumerate(links, start=1)
            if (problem := _merge_link(graph, link))]


def unlinked_nodes(graph: nx.DiGraph) -> list[dict[str, str]]:
    """The signals that no task implements, and the tasks, transitions and examples without a signal: `id`, `text`, and
    `wants`, the type of node to link it with."""
    return [{"id": node, "text": data["text"], "wants": wants} for node, data in graph.nodes(data=True)
            if (wants := _missing_type(graph, node, data))]


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


def nodes_near(graph: nx.DiGraph, task: str, hops: int) -> dict[str, int]:
    """The signals, transitions and examples within `hops` of a task's node, nearest first: id -> hops.

    Beyond the paper, whose edges lead no farther than two hops, they are followed both ways from signals on: at three
    hops are the other signals of the transitions and examples found. Other tasks are not passed through.
    """
    circuit = [node for node, data in graph.nodes(data=True) if data["type"] != "task" or node == task]
    distances = nx.single_source_shortest_path_length(graph.to_undirected(as_view=True).subgraph(circuit), task, hops)
    near = sorted((node for node in graph if node in distances), key=distances.__getitem__)
    return {node: distances[node] for node in near if node != task}


def find_node(graph: nx.DiGraph, given: Any) -> str:
    """The id of the node that a model names: its id, in any case and quotes, or its bare name where only one node has
    it. Raises ToolError that says what may be meant."""
    wanted = " ".join(str(given).strip(" `'\".").split())
    if wanted in graph:
        return wanted
    if f"signal {wanted}" in graph:
        return f"signal {wanted}"
    same = [node for node in graph if node.casefold() == wanted.casefold()]
    if len(same) == 1:
        return str(same[0])
    near = same or get_close_matches(wanted, graph, cutoff=0.4)
    raise ToolError(f"there is no node {wanted!r}" + (f"; did you mean {' or '.join(near)}?" if near else ""))


def _add_node(graph: nx.DiGraph, kind: str, name: str, text: str, **more: Any) -> None:
    graph.add_node(f"{kind} {name}", type=kind, name=name, text=text, **more)


def _link_identifiers(graph: nx.DiGraph) -> None:
    signals = {data["name"]: node for node, data in graph.nodes(data=True) if data["type"] == "signal"}
    for node, data in list(graph.nodes(data=True)):
        if data["type"] != "signal":
            mentioned = identifiers(f"{data['text']}\n{data.get('source', '')}")
            for name in (name for name in signals if name in mentioned):
                _link(graph, signals[name], node, "identifier")


def _link(graph: nx.DiGraph, one: str, other: str, by: str) -> bool:
    """Link two nodes in the direction their types have; False when these types have no relation."""
    for start, end in ((one, other), (other, one)):
        relation = RELATIONS.get((graph.nodes[start]["type"], graph.nodes[end]["type"]))
        if relation:
            if not graph.has_edge(start, end):
                graph.add_edge(start, end, type=relation, by=by)
            return True
    return False


def _merge_link(graph: nx.DiGraph, link: Any) -> str:
    """Add one link of a model; what is wrong with it, or nothing."""
    if not isinstance(link, Mapping) or not {"from", "to"} <= link.keys():
        return f"it must be {{from: id, to: id}}, not {link!r:.80}"
    try:
        start, end = find_node(graph, link["from"]), find_node(graph, link["to"])
    except ToolError as error:
        return str(error)
    if _link(graph, start, end, "model"):
        return ""
    return f"{start} and {end} have no relation; there are: {', '.join(map(' to '.join, RELATIONS))}"


def _missing_type(graph: nx.DiGraph, node: str, data: Mapping[str, Any]) -> str:
    """The type of node that is missing beside this one, or nothing."""
    if data["type"] == "signal":
        return "" if graph.in_degree(node) else "task"
    return "" if graph.degree(node) else "signal"


def find_task(given: str, tasks: Mapping[str, str]) -> str | None:
    """The id of the task that is meant by `given`: an id, `task 3`, its text, or a text like it; None without one."""
    if bare_id(given) in tasks:
        return bare_id(given)
    words = {name: _words(text) for name, text in tasks.items()}
    wanted = _words(given)
    if same := [name for name in tasks if words[name] == wanted]:
        return same[0]
    if (numbered := _NUMBERED.match(given)) and (name := numbered[1] or numbered[2]) in tasks:
        return name
    return _nearest_task(wanted, words)


def _nearest_task(wanted: list[str], words: Mapping[str, list[str]]) -> str | None:
    """The one text that shares the most words with `wanted` in the same order, and enough of them."""
    shared = {name: _count_shared(wanted[:_COMPARED], other[:_COMPARED]) for name, other in words.items()}
    most = max(shared.values(), default=0)
    best = [name for name in shared if shared[name] == most]
    shorter = min(len(wanted), len(words[best[0]])) if best else 0
    return best[0] if len(best) == 1 and most >= max(_NEAR * shorter, _FEWEST) else None


def _count_shared(words: list[str], others: list[str]) -> int:
    return sum(block.size for block in SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks())
