"""The checks of a diagram's connections: is each between ports that there are and that fit, is none there twice, is
every port connected, and can the lines of the physical networks be drawn."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import networkx

from chatdev.departments.simulink.diagram import Diagram, End, Wire
from chatdev.departments.simulink.parts import DiagramFinding, Part, nearest
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
    seen: set[object] = set()
    sources: dict[End, Wire] = {}
    for wire in model.wires:
        key = frozenset(wire) if wire.is_physical else wire
        if key in seen:
            yield DiagramFinding("duplicates", "error", "the connection is there twice", "remove one of them",
                                 connection=str(wire))
        elif not wire.is_physical and wire.target in sources:
            yield DiagramFinding("duplicates", "error", f"the input {wire.target} has a source already: "
                                 f"{sources[wire.target].source}", "an input takes one line: remove one of the two, "
                                 "lead it to another input, or add a block that joins both", connection=str(wire))
        seen.add(key)
        sources.setdefault(wire.target, wire)


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
    for end, wanted, row in ((wire.source, "out", "output"), (wire.target, "in", "input")):
        part = parts.get(end.block)
        if part is None or part.ports is None or part.kind is None:
            continue
        found = part.named(end.port)
        if not found and not _is_counted(part, end, wanted):
            yield f"{part.kind.type} has no port {end.port}", f"{end.block} has: {part.list_ports()}"
        elif found and not wire.is_physical and not any(one.direction == wanted for one in found):
            other = "an input" if wanted == "out" else "an output"
            yield (f"{end} is {other}, and cannot be a {'source' if wanted == 'out' else 'target'}",
                   f"turn the connection round, or take an {row} of {end.block}; it has: {part.list_ports()}")


def _is_counted(part: Part, end: End, wanted: str) -> bool:
    """Whether a parameter says how many such ports there are: then that parameter is wrong, perhaps."""
    return end.port.isdecimal() and end.port != "0" and any(
        port.direction == wanted and port.count for port in (part.kind.ports if part.kind else ()))


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
    ends = sorted(net)
    ports = {end: port for end in ends if (part := parts.get(end.block)) for port in part.named(end.port)[:1]}
    domains = sorted({port.domain for port in ports.values()} - {"any"})
    where = " -- ".join(map(str, ends))
    if len(domains) > 1:
        yield DiagramFinding("port types", "error", f"the net joins {' and '.join(domains)} ports",
                             "join ports of the same domain only", connection=where)
    elif domains == ["ps"] and len(ports) == len(ends):
        givers = [str(end) for end, port in ports.items() if port.direction == "out"]
        if len(givers) != 1:
            yield DiagramFinding("port types", "error", f"the net of a physical signal has {len(givers)} sources"
                                 + (f": {', '.join(givers)}" if givers else ""), "one output feeds all its inputs",
                                 connection=where)


def check_completeness(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """Ports without a line, and what every physical network has to have."""
    if len(model.blocks) > 1 and not model.wires:
        yield DiagramFinding("complete ports", "error", "there is no connection", "list every line of the picture")
    sources = {wire.source for wire in model.wires if not wire.is_physical}
    targets = {wire.target for wire in model.wires if not wire.is_physical}
    joined = {end for wire in model.wires if wire.is_physical for end in wire}
    used = {end.block for wire in model.wires for end in wire}
    for part in parts.values():
        ports = part.ports or ()
        if part.name not in used and all(port.direction == "in" for port in ports):
            continue  # a scope that shows nothing: the check for extra blocks tells it
        for port in ports:
            end = End(part.name, port.name)
            label = f"{port.name} ({port.label})" if port.label else port.name
            if port.direction == "out" and end not in sources | joined:
                yield DiagramFinding("complete ports", "remark", f"nothing uses the output {label} of {part.name}",
                                     "connect it if the picture does", block=part.name)
            elif port.direction != "out" and end not in (joined if port.is_physical else targets):
                row = "terminal" if port.is_physical else "input"
                yield DiagramFinding("complete ports", "error", f"the {row} {label} of {part.name} is not connected",
                                     f"add the connection that ends at {end}", block=part.name)
    yield from _check_networks(model, parts)


def _check_networks(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    graph = networkx.Graph()
    graph.add_edges_from((wire.source.block, wire.target.block) for wire in model.wires if wire.is_physical)
    networks = [sorted(network, key=list(model.blocks).index) for network in networkx.connected_components(graph)
                if all(name in parts and parts[name].kind for name in network)]  # of others nothing is known
    for network in sorted(networks, key=lambda network: list(model.blocks).index(network[0])):
        kinds = {name: kind.type for name in network if (kind := parts[name].kind)}
        solvers = [name for name, kind in kinds.items() if kind == _SOLVER]
        if len(solvers) != 1:
            yield DiagramFinding("complete ports", "error", "a physical network has exactly one Solver Configuration; "
                                 f"that of {_names(network)} has {len(solvers)}",
                                 "join a Solver Configuration to any of its nets" if not solvers else
                                 f"keep one of {', '.join(solvers)}", block=network[0])
        is_electrical = any(port.domain == "electrical" for name in network for port in parts[name].ports or ())
        if is_electrical and not set(kinds.values()) & set(_REFERENCES):
            yield DiagramFinding("complete ports", "error", "an electrical network has an Electrical Reference; that "
                                 f"of {_names(network)} has none", "join an Electrical Reference to its ground",
                                 block=network[0])


def _names(network: Sequence[str], most: int = 4) -> str:
    return ", ".join(network[:most]) + (f" and {len(network) - most} more" if len(network) > most else "")


def check_nets(model: Diagram) -> Iterator[DiagramFinding]:
    """Physical lines that MATLAB refuses, because their ends are joined already, or draws wrongly, because each end
    belongs to a net of its own."""
    net_of: dict[End, int] = {}
    members: dict[int, list[End]] = defaultdict(list)
    drawn: set[frozenset[End]] = set()
    for number, wire in enumerate(model.wires):
        ends = frozenset(wire)
        if not (is_physical_name(wire.source.port) and is_physical_name(wire.target.port)) or ends in drawn:
            continue  # the check of port types or of duplicates tells it
        drawn.add(ends)
        nets = [net_of.get(end) for end in wire]
        if nets[0] is not None and nets[0] == nets[1]:
            yield DiagramFinding("nets", "error", "both ends are in one net already; MATLAB says: The second port "
                                 "already has a line connection", "remove the connection: it adds nothing",
                                 connection=str(wire))
            continue
        if nets[0] is not None and nets[1] is not None:
            yield DiagramFinding("nets", "warning", "each end is in a net of its own already, and MATLAB loses one of "
                                 "the lines", "list the connections of a net one after the other, so that each adds a "
                                 "port that is still free (`order_wires` does)", connection=str(wire))
        for old in (net for net in nets if net is not None):
            members[number] += members.pop(old)
        members[number] += [end for end in wire if end not in net_of]
        net_of.update(dict.fromkeys(members[number], number))


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
