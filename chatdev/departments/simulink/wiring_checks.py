"""The checks of a diagram's connections: is each between ports that there are and that fit, is none there twice, is
every port connected, and can the lines of the physical networks be drawn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

import networkx

from chatdev.departments.simulink.catalogue import BlockType
from chatdev.departments.simulink.diagram import Diagram, End, Wire
from chatdev.departments.simulink.parts import DiagramFinding, Part, has_own_ports, nearest
from chatdev.departments.simulink.ports import BlockPort, is_physical_name

_SOLVER = "Solver Configuration"
_REFERENCES = ("Electrical Reference", "Grounded Neutral (Three-Phase)")


def check_names(model: Diagram) -> Iterator[DiagramFinding]:
    """Connections of blocks that there are not, and names that MATLAB takes for paths."""
    for name in model.blocks:
        if "/" in name:
            yield DiagramFinding("format", "error", f"MATLAB takes {name!r} for a path",
                                 f"name the block without /, such as {name.replace('/', ' ').strip()!r}", block=name)
    for wire in model.wires:
        for name in dict.fromkeys(end.block for end in wire):
            if name not in model.blocks:
                near = nearest(name, model.blocks, 1)
                yield DiagramFinding("format", "error", f"there is no block {name!r}",
                                     f"did you mean {near[0]!r}?" if near else "add it to the blocks, or mend the name",
                                     connection=str(wire))


def check_duplicates(model: Diagram) -> Iterator[DiagramFinding]:
    """Blocks, connections and tags that are there twice, and inputs with two sources."""
    plain = Counter(" ".join(name.split()) for name in model.blocks)
    for name in model.blocks:
        if plain[" ".join(name.split())] > 1:
            yield DiagramFinding("duplicates", "error", f"{name!r} differs from another block's name by blanks only",
                                 "rename one of them", block=name)
    for tag, (gotos, _) in model.tags().items():
        if len(gotos) > 1:
            yield DiagramFinding("duplicates", "error", f"{len(gotos)} Goto blocks have the tag {tag!r}: "
                                 f"{', '.join(gotos)}", "give each a tag of its own", block=gotos[1],
                                 parameter="GotoTag")
    yield from _find_doubles(model.wires)


def _find_doubles(wires: Sequence[Wire]) -> Iterator[DiagramFinding]:
    seen: set[object] = set()
    sources: dict[End, End] = {}
    for wire in wires:
        key = frozenset(wire) if wire.is_physical else wire
        if key in seen:
            yield DiagramFinding("duplicates", "error", "the connection is there twice", "remove one of them",
                                 connection=str(wire))
        elif not wire.is_physical and wire.target in sources:
            yield DiagramFinding("duplicates", "error", f"the input {wire.target} has a source already: "
                                 f"{sources[wire.target]}", "an input takes one line: remove one of the two, lead it "
                                 "to another input, or add a block that joins both", connection=str(wire))
        seen.add(key)
        sources.setdefault(wire.target, wire.source)


def check_port_types(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """Ports that there are not, an input as source, an output as target, and ports of different domains."""
    wrong: set[End] = set()
    for wire in model.wires:
        ports = [_port(parts, wire, end) for end in wire]
        problems = [*_find_missing_ports(parts, wire), *(_judge_domains(wire, *ports) if all(ports) else ())]
        yield from (DiagramFinding("port types", "error", message, fix, connection=str(wire))
                    for message, fix in problems)
        wrong.update(wire if problems else ())
    for net in model.nets():
        if not wrong.intersection(net):
            yield from _judge_net(net, parts)


def _port(parts: Mapping[str, Part], wire: Wire, end: End) -> BlockPort | None:
    """The port that an end of a wire means; None where it is not known, or is none."""
    part = parts.get(end.block)
    found = part.named(end.port) if part else []
    wanted = "out" if end is wire.source else "in"
    return next((one for one in found if one.direction == wanted), None) or next(iter(found), None)


def _find_missing_ports(parts: Mapping[str, Part], wire: Wire) -> Iterator[tuple[str, str]]:  # message, fix
    for end, wanted in ((wire.source, "out"), (wire.target, "in")):
        if (part := parts.get(end.block)) and part.kind and part.ports is not None:
            yield from _judge_end(part, part.kind, end, wanted, wire)


def _judge_end(part: Part, kind: BlockType, end: End, wanted: str, wire: Wire) -> Iterator[tuple[str, str]]:
    found = {one.direction for one in part.named(end.port)}
    if not found and not _is_counted(kind, end, wanted):
        yield f"{kind.type} has no port {end.port}", f"{end.block} has: {part.list_ports()}"
    elif found and wanted not in found and not wire.is_physical:
        is_row, wanted_row = ("an input", "an output") if wanted == "out" else ("an output", "an input")
        yield (f"{end} is {is_row}, and cannot be a {'source' if wanted == 'out' else 'target'}",
               f"turn the connection round, or take {wanted_row} of {end.block}; it has: {part.list_ports()}")


def _is_counted(kind: BlockType, end: End, wanted: str) -> bool:
    """Whether a parameter says how many such ports there are: then that parameter is wrong, perhaps."""
    counted = any(port.direction == wanted and port.count for port in kind.ports)
    return counted and end.port.isdecimal() and end.port != "0"


def _judge_domains(wire: Wire, one: BlockPort | None, other: BlockPort | None) -> Iterator[tuple[str, str]]:
    if one is None or other is None:
        return
    domains = {one.domain, other.domain} - {"any"}
    if len(domains) > 1 or (wire.is_physical and not (one.is_physical and other.is_physical)):
        names = [f"{end} is {port.domain}" for end, port in zip(wire, (one, other), strict=True)]
        yield f"the ports are of different domains: {', '.join(names)}", _bridge(one.domain, other.domain)


def _bridge(one: str, other: str) -> str:
    pair = {one, other}
    if pair == {"signal", "ps"}:
        return "lead the line through a Simulink-PS Converter or a PS-Simulink Converter"
    if "signal" in pair:
        return "measure with a sensor and a PS-Simulink Converter, or drive a controlled source through a " \
               "Simulink-PS Converter"
    if "ps" in pair:
        return "join the physical signal to the port of a source or a sensor that takes or gives one"
    return "join ports of the same domain only"


def _judge_net(net: frozenset[End], parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    ports = {end: port for end in sorted(net) if (port := _terminal(parts, end))}
    domains = sorted({port.domain for port in ports.values()} - {"any"})
    where = " -- ".join(map(str, sorted(net)))
    if len(domains) > 1:
        yield DiagramFinding("port types", "error", f"the net joins {' and '.join(domains)} ports",
                             "join ports of the same domain only", connection=where)
    elif domains == ["ps"] and len(ports) == len(net):
        yield from _judge_sources([str(end) for end, port in ports.items() if port.direction == "out"], where)


def _judge_sources(givers: Sequence[str], where: str) -> Iterator[DiagramFinding]:
    """Of the net of a physical signal."""
    if len(givers) != 1:
        found = f"these sources: {', '.join(givers)}" if givers else "no source"
        yield DiagramFinding("port types", "error", f"the net of a physical signal has {found}",
                             "one output feeds all its inputs", connection=where)


def _terminal(parts: Mapping[str, Part], end: End) -> BlockPort | None:
    part = parts.get(end.block)
    return next(iter(part.named(end.port)), None) if part else None


def check_completeness(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """Ports without a line."""
    if len(model.blocks) > 1 and not model.wires:
        yield DiagramFinding("complete ports", "error", "there is no connection", "list every line of the picture")
    used = _used_ports(model.wires)
    for part in parts.values():
        yield from _find_open_ports(part, used[part.name])


def check_networks(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """What every physical network has to have, wherever the systems are in which it lies."""
    for network in _networks(model, parts):
        yield from chain(_judge_solvers(network), _judge_references(network))


def _used_ports(wires: Sequence[Wire]) -> dict[str, set[tuple[str, str]]]:
    """Of each block the names of the ports that have a line; those of signals with their direction."""
    used: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for wire in wires:
        for end, row in zip(wire, ("out", "in"), strict=True):
            used[end.block].add((end.port, "" if wire.is_physical else row))
    return used


def _find_open_ports(part: Part, used: set[tuple[str, str]]) -> Iterator[DiagramFinding]:
    if part.kind and has_own_ports(part.kind, part.block):
        yield DiagramFinding("complete ports", "remark", f"what is in {part.name} decides which ports it has, so "
                             "nothing is said of its connections", "compare them with the picture", block=part.name)
    ports = part.ports or ()
    if not used and all(port.direction == "in" for port in ports):
        return  # a scope that shows nothing: the check for extra blocks tells it
    for port in ports:
        if (port.name, "" if port.is_physical else port.direction) not in used:
            yield _tell_open(part, port)


def _tell_open(part: Part, port: BlockPort) -> DiagramFinding:
    label = f"{port.name} ({port.label})" if port.label else port.name
    if port.direction == "out":
        return DiagramFinding("complete ports", "remark", f"nothing uses the output {label} of {part.name}",
                              "connect it if the picture does", block=part.name)
    row = "terminal" if port.is_physical else "input"
    return DiagramFinding("complete ports", "error", f"the {row} {label} of {part.name} is not connected",
                          f"add the connection that ends at {End(part.name, port.name)}", block=part.name)


def _networks(model: Diagram, parts: Mapping[str, Part]) -> list[list[Part]]:
    """The blocks that physical lines join, network by network; those with blocks of which nothing is known are left
    out."""
    graph = networkx.Graph()
    graph.add_edges_from((wire.source.block, wire.target.block) for wire in model.wires if wire.is_physical)
    order = {name: number for number, name in enumerate(model.blocks)}
    networks = [sorted(names, key=order.__getitem__) for names in networkx.connected_components(graph)
                if all(name in parts and parts[name].kind for name in names)]
    return [[parts[name] for name in names] for names in sorted(networks, key=lambda names: order[names[0]])]


def _judge_solvers(network: Sequence[Part]) -> Iterator[DiagramFinding]:
    solvers = [part.name for part in network if part.type == _SOLVER]
    if len(solvers) != 1:
        yield DiagramFinding("complete ports", "error", "a physical network has exactly one Solver Configuration; that "
                             f"of {_names(network)} has {len(solvers)}",
                             f"keep one of {', '.join(solvers)}" if solvers else
                             "join a Solver Configuration to any of its nets", block=network[0].name)


def _judge_references(network: Sequence[Part]) -> Iterator[DiagramFinding]:
    domains = {port.domain for part in network for port in part.ports or ()}
    if "electrical" in domains and not any(part.type in _REFERENCES for part in network):
        yield DiagramFinding("complete ports", "error", "an electrical network has an Electrical Reference; that of "
                             f"{_names(network)} has none", "join an Electrical Reference to its ground",
                             block=network[0].name)


def _names(network: Sequence[Part], most: int = 4) -> str:
    more = f" and {len(network) - most} more" if len(network) > most else ""
    return ", ".join(part.name for part in network[:most]) + more


def check_nets(model: Diagram) -> Iterator[DiagramFinding]:
    """Physical lines that MATLAB refuses, because their ends are joined already, or draws wrongly, because each end
    belongs to a net of its own."""
    lines: dict[frozenset[End], Wire] = {}  # the other checks tell what is there twice, or mixed
    for wire in model.wires:
        if all(is_physical_name(end.port) for end in wire):
            lines.setdefault(frozenset(wire), wire)
    net_of: dict[End, set[End]] = {}
    for wire in lines.values():
        nets = [net_of.get(end, {end}) for end in wire]
        if nets[0] & nets[1]:
            yield DiagramFinding("nets", "error", "both ends are in one net already; MATLAB says: The second port "
                                 "already has a line connection", "remove the connection: it adds nothing",
                                 connection=str(wire))
        elif min(map(len, nets)) > 1:
            yield DiagramFinding("nets", "warning", "each end is in a net of its own already, and MATLAB loses one of "
                                 "the lines", "list the connections of a net one after the other, so that each adds a "
                                 "port that is still free", connection=str(wire))
        joined = nets[0] | nets[1]
        net_of.update(dict.fromkeys(joined, joined))


def order_wires(wires: Sequence[Wire]) -> tuple[Wire, ...]:
    """The same wires; those of each physical net come where its first one was, in an order in which every line adds a
    free port."""
    graph = networkx.Graph()
    graph.add_edges_from(wire for wire in wires if wire.is_physical)
    pairs: dict[frozenset[End], list[Wire]] = defaultdict(list)
    for wire in wires:
        pairs[frozenset(wire)].append(wire)
    ordered: list[Wire] = []
    done: set[frozenset[End]] = set()
    for wire in wires:
        if not wire.is_physical:
            ordered.append(wire)
            continue
        for edge in networkx.edge_bfs(graph, wire.source) if frozenset(wire) not in done else ():
            if frozenset(edge) not in done:
                done.add(frozenset(edge))
                ordered += pairs[frozenset(edge)]
    return tuple(ordered)
