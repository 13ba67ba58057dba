"""Systems within systems: paths, the ports that a system gives its block, and which Goto a From means.

A path names blocks from the top, with `/` between them; a slash in a name is doubled, as in Simulink.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import networkx

from chatdev.departments.simulink.catalogue import BlockType, block_finder
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.ports import CONTROLS, BlockPort
from chatdev.errors import ConfigError

INPORT, OUTPORT, CONNECTION = "Inport", "Outport", "PMIOPort"
_PORT_BLOCKS = (INPORT, OUTPORT, CONNECTION, *CONTROLS)
_NAME = re.compile(r"(?:[^/]|//)+")


def block_type_of(block: DiagramBlock) -> str:
    """What files call a block's type; empty where that is not known."""
    kind = block_finder().known(block.type)
    return kind.block_type if kind else ""


def join_path(*names: str) -> str:
    """The path of a block by the names from the top."""
    return "/".join(name.replace("/", "//") for name in names)


def split_path(path: str) -> list[str]:
    """The names of a path."""
    return [name.replace("//", "/") for name in _NAME.findall(path)]


def systems(model: Diagram, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Diagram]]:
    """All systems with the names of their blocks from the top, the model itself first."""
    yield path, model
    for name, block in model.blocks.items():
        if block.system:
            yield from systems(block.system, (*path, name))


def system_at(model: Diagram, path: Sequence[str]) -> Diagram:
    """The system in the block that these names lead to; raises ConfigError where there is none."""
    found = model
    for number, name in enumerate(path):
        block = found.blocks.get(name)
        if block is None or block.system is None:
            there = [join_path(*path[:number], one) for one, other in found.blocks.items() if other.system]
            raise ConfigError(f"{join_path(*path[:number + 1])!r} is no subsystem of {model.name!r}; "
                              + (f"there are {', '.join(there[:20])}" if there else "there is none here"))
        found = block.system
    return found


def with_system(model: Diagram, path: Sequence[str], system: Diagram) -> Diagram:
    """The model with another system in the block that these names lead to."""
    if not path:
        return system
    block = model.blocks[path[0]]
    inside = with_system(system_at(model, path[:1]), path[1:], system)
    return replace(model, blocks={**model.blocks, path[0]: replace(block, system=inside)})


def ports_of(block: DiagramBlock, kind: BlockType | None) -> list[BlockPort]:
    """The ports of a block of this kind: those that its system makes, if it holds one. Raises ValueError."""
    if block.system is not None:
        return outer_ports(block.system)
    return kind.ports_with(block.parameters) if kind else []


def outer_ports(system: Diagram) -> list[BlockPort]:
    """The ports of the block that holds a system: those of signals by the numbers of its In1 and Out1 blocks, control
    inputs, and physical ones. Raises ValueError where the numbers are none, or a control is there twice."""
    rows = _port_blocks(system)
    inputs, outputs = (_by_number(rows[row], name) for row, name in ((INPORT, "In1"), (OUTPORT, "Out1")))
    for row, control in CONTROLS.items():
        if len(rows[row]) > 1:
            raise ValueError(f"the blocks {', '.join(map(repr, rows[row]))} are both its control {control}; keep one")
    controls = [BlockPort(control, "in", "signal", control) for row, control in CONTROLS.items() if rows[row]]
    return [*(BlockPort(str(number), "in", "signal", name) for number, name in enumerate(inputs, 1)), *controls,
            *(BlockPort(str(number), "out", "signal", name) for number, name in enumerate(outputs, 1)),
            *(BlockPort(port, "conserving", "any", name) for port, name in _terminals(rows[CONNECTION]).items())]


def port_block(system: Diagram, port: str, direction: str) -> str | None:
    """The name of the block inside that makes a port; None for a port that there is not. Raises ValueError as
    `outer_ports`."""
    rows = _port_blocks(system)
    if port in (controls := {control: row for row, control in CONTROLS.items()}):
        return next(iter(rows[controls[port]]), None)
    if port.startswith(("LConn", "RConn")):
        return _terminals(rows[CONNECTION]).get(port)
    numbered = _by_number(rows[INPORT if direction == "in" else OUTPORT], direction)
    return numbered[int(port) - 1] if port.isdecimal() and 0 < int(port) <= len(numbered) else None


def _port_blocks(system: Diagram) -> dict[str, dict[str, DiagramBlock]]:
    rows: dict[str, dict[str, DiagramBlock]] = defaultdict(dict)
    for name, block in system.blocks.items():
        rows[block_type_of(block)][name] = block
    return rows


def _by_number(blocks: Mapping[str, DiagramBlock], what: str) -> list[str]:
    """The names by the numbers of their ports."""
    numbers = {name: block.parameters.get("Port", "1").strip() for name, block in blocks.items()}
    if sorted(numbers.values()) != sorted(str(number) for number in range(1, len(numbers) + 1)):
        raise ValueError(f"its {what} blocks have the ports {_list(numbers)}; give them the numbers 1 to "
                         f"{len(numbers)} (`Port`)")
    return sorted(numbers, key=lambda name: int(numbers[name]))


def _terminals(blocks: Mapping[str, DiagramBlock]) -> dict[str, str]:
    """Physical ports, counted at each side, with the blocks that make them."""
    found: dict[str, str] = {}
    for name in _by_number(blocks, "Connection Port"):
        side = "RConn" if blocks[name].parameters.get("Side", "Left") == "Right" else "LConn"
        found[f"{side}{1 + sum(port.startswith(side) for port in found)}"] = name
    return found


def _list(numbers: Mapping[str, str], most: int = 8) -> str:
    shown = [f"{name} {number}" for name, number in list(numbers.items())[:most]]
    return ", ".join([*shown, "…"] if len(numbers) > most else shown)


def visible_tags(model: Diagram) -> dict[tuple[str, ...], frozenset[str]]:
    """Of each system the tags that Goto and From blocks of other systems share with some of its own."""
    users: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for path, system in systems(model):
        for tag in system.tags():
            users[tag].add(path)
    return {path: frozenset(tag for tag, paths in users.items() if paths - {path}) for path, _ in systems(model)}


def join_systems(model: Diagram, kept: Container[str] = ()) -> Diagram:
    """The model as one level: subsystems and the blocks that are their ports are left out, and what they join is
    joined. Blocks are named by their paths. Subsystems that are `kept` stay with their control inputs, and so do their
    Out1 blocks, between inside and outside. Raises ValueError for ports that there are not."""
    if model.levels == 1:
        return model
    return _Joiner(model, kept).join()


class _Joiner:
    def __init__(self, model: Diagram, kept: Container[str]) -> None:
        self.model, self.kept, self.flat = model, kept, spread(model)
        self.holders = {join_path(*path): system for path, system in systems(model) if path}
        self.through = {f"{holder}/{join_path(name)}" for holder, system in self.holders.items()
                        for row, blocks in _port_blocks(system).items() if row in _PORT_BLOCKS
                        for name in blocks if not (holder in kept and row == OUTPORT)}
        self.drivers = dict[str, End]()  # what each block that is passed through gets

    def join(self) -> Diagram:
        """The model as one level."""
        blocks = {path: block for path, block in self.flat.blocks.items()
                  if path not in self.through and (path not in self.holders or path in self.kept)}
        return replace(self.flat, blocks=blocks, wires=(*self._join_signals(), *self._join_nets()))

    def _join_signals(self) -> list[Wire]:
        lines = list[tuple[End, End]]()
        for wire in (wire for wire in self.flat.wires if not wire.is_physical):
            source, target = self._inner(wire, wire.source, "out"), self._inner(wire, wire.target, "in")
            if target.block in self.through:
                self.drivers.setdefault(target.block, source)
            if target.block not in self.through or self._is_control(wire.target):
                lines.append((source, wire.target if self._is_control(wire.target) else target))
        return [Wire(origin, target) for source, target in lines if (origin := self._origin(source))]

    def _join_nets(self) -> list[Wire]:
        nets = networkx.Graph()
        nets.add_edges_from((self._inner(wire, wire.source, ""), self._inner(wire, wire.target, ""))
                            for wire in self.flat.wires if wire.is_physical)
        ends = [sorted(end for end in net if end.block not in self.through)
                for net in networkx.connected_components(nets)]
        return [Wire(*pair) for row in ends for pair in pairwise(row)]

    def _is_control(self, end: End) -> bool:
        """Whether it is the control input of a subsystem that stays."""
        return end.block in self.kept and end.port in CONTROLS.values()

    def _inner(self, wire: Wire, end: End, row: str) -> End:
        """The end of a wire inside of a subsystem, where it leads to one."""
        if end.block not in self.holders:
            return End(end.block, "RConn1") if end.block in self.through and wire.is_physical else end
        name = port_block(self.holders[end.block], end.port, row)
        if name is None:
            there = ", ".join(port.name for port in outer_ports(self.holders[end.block]))
            raise ValueError(f"line {wire}: {end.block!r} has no port {end.port}; it has {there or 'none'}")
        return End(f"{end.block}/{join_path(name)}", "RConn1" if wire.is_physical else "1")

    def _origin(self, source: End) -> End | None:
        """Where a signal comes from, through the ports of systems; None if it comes from nowhere."""
        for _ in range(2 * len(self.through) + 1):
            if source.block not in self.through:
                return source
            if source.block not in self.drivers:
                return None
            source = self.drivers[source.block]
        return None  # lines around in a circle, without any block


def spread(model: Diagram) -> Diagram:
    """All blocks and lines of all systems side by side, blocks named by their paths; a model of one level as it is."""
    if model.levels == 1:
        return model
    blocks, wires = dict[str, DiagramBlock](), list[Wire]()
    for path, system in systems(model):
        blocks |= {join_path(*path, name): block for name, block in system.blocks.items()}
        wires += [Wire(*(End(join_path(*path, end.block), end.port) for end in wire)) for wire in system.wires]
    return replace(model, blocks=blocks, wires=tuple(wires))
