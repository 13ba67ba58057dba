"""What is missing in a finished model: lines at its ports, and what a physical network cannot be solved without."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from chatdev.departments.simulink.engine.messages import NO_REFERENCE, NO_SOLVER, SOLVERS, UNCONNECTED
from chatdev.departments.simulink.engine.rules import BlockDiagram, Socket

_SOLVER, _REFERENCE = "Solver Configuration", "Electrical Reference"
_SHOWN = 5  # blocks of a network that are named
_DIRECTIONS = {"in": "Input", "out": "Output"}


def open_ports(diagram: BlockDiagram) -> list[str]:
    """A warning for each port that has no line."""
    return [UNCONNECTED.words.format(direction="Connection" if port.is_physical else _DIRECTIONS[port.direction],
                                     port=port.name, block=diagram.path(block))
            for block, port in diagram.free_ports()]


def network_faults(diagram: BlockDiagram) -> list[str]:
    """What keeps the physical networks from being solved. A network is what physical lines join through blocks. Two
    that signals alone join may have a solver each."""
    return [*_solver_faults(diagram), *_reference_faults(diagram)]


def _solver_faults(diagram: BlockDiagram) -> Iterator[str]:
    for blocks in _networks(diagram, lambda domain: domain != "signal"):
        if not _of_type(diagram, blocks, _SOLVER):
            yield NO_SOLVER.words.format(blocks=_list_names(blocks))
    for blocks in _networks(diagram, lambda domain: domain not in ("signal", "ps")):
        if len(found := _of_type(diagram, blocks, _SOLVER)) > 1:
            yield SOLVERS.words.format(blocks=_list_names(blocks), solvers=_list_names(found))


def _reference_faults(diagram: BlockDiagram) -> Iterator[str]:
    if _REFERENCE not in diagram.library.types:
        return
    for blocks in _networks(diagram, lambda domain: domain in ("electrical", "any")):
        ports = (port for name in blocks for port in diagram.blocks[name].ports.values())
        if not _of_type(diagram, blocks, _REFERENCE) and any(port.domain == "electrical" for port in ports):
            yield NO_REFERENCE.words.format(blocks=_list_names(blocks))


def _networks(diagram: BlockDiagram, counts: Callable[[str], bool]) -> list[list[str]]:
    """The blocks that lines join whose domain counts, network by network."""
    beside: dict[str, dict[str, None]] = {}
    for source, target in diagram.lines:
        if not source.side and counts(_domain(diagram, source)) and counts(_domain(diagram, target)):
            beside.setdefault(source.block, {})[target.block] = None
            beside.setdefault(target.block, {})[source.block] = None
    networks: list[list[str]] = []
    seen: set[str] = set()
    for name in beside:
        if name not in seen:
            networks.append(_reach(beside, name))
            seen.update(networks[-1])
    return networks


def _reach(beside: Mapping[str, Iterable[str]], start: str) -> list[str]:
    """The blocks of the network that a block is in."""
    found, edge = {start: None}, [start]
    while edge:
        new = [block for block in beside[edge.pop()] if block not in found]
        found |= dict.fromkeys(new)
        edge.extend(new)
    return list(found)


def _domain(diagram: BlockDiagram, end: Socket) -> str:
    return diagram.blocks[end.block].ports[end.key].domain


def _of_type(diagram: BlockDiagram, blocks: Sequence[str], kind: str) -> list[str]:
    return [name for name in blocks if diagram.blocks[name].kind.type == kind]


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:_SHOWN]) + more
