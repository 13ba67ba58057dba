"""A model under construction: blocks, lines, what may be joined to what, and what a finished model lacks.

The rules for physical lines were found by comparing programs with what MATLAB R2024b answered and saved:

- P1: where one of the two ports has no line yet, it joins the net of the other.
- P2: two ports of one net are not joined again: an error.
- P3: of two nets that are joined at ports which have lines already, MATLAB silently loses an end. Here that is an
  error, or (not `strict`) one net.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from chatdev.departments.simulink.engine.library import (
    BAD_BLOCK_NAME,
    BLOCK_EXISTS,
    BUILT_IN,
    DESTINATION_TAKEN,
    DOMAINS_DIFFER,
    NETS_DIFFER,
    NO_BLOCK_THERE,
    NO_LINE,
    NO_OBJECT,
    NO_PORT,
    NO_PORT_SAID,
    NO_REFERENCE,
    NO_SOLVER,
    NO_SUBSYSTEM,
    ONE_PORT,
    PORTS_THERE,
    RULES_BROKEN,
    SECOND_TAKEN,
    SOLVERS,
    TOO_LARGE,
    UNCONNECTED,
    Library,
    LibraryBlock,
    PortKey,
    one_line,
)
from chatdev.departments.simulink.ports import CONTROLS, BlockPort, is_physical_name

MOST_BLOCKS, MOST_LINES, MOST_PORTS, MOST_LEVELS = 10_000, 40_000, 200_000, 30
PORT_BLOCKS = ("Inport", "Outport", "PMIOPort")
"""What files call the blocks that are numbered ports of the system that they lie in."""
LONGEST_NAME = 1000
_ANY = "any"
_LONGEST_NUMBER = 9  # digits at the end of a name that are counted on
_NAMED_SIGNALS = ("enable", "trigger", "state", "ifaction", "reset")


class Socket(NamedTuple):
    """A port of a block of the model; `side` is in, out, or nothing for a physical port."""

    block: str
    side: str
    port: str

    @property
    def key(self) -> PortKey:
        """Which port of its block it is."""
        return self.side, self.port

    def __str__(self) -> str:
        return f"{self.block}/{self.port}"


class PlacedBlock:
    """A block of the model, perhaps with a system inside; `title` is its name with the line breaks it was given."""

    __slots__ = ("handle", "kind", "own_ports", "parameters", "position", "system", "title")

    def __init__(self, kind: LibraryBlock, title: str, parameters: dict[str, str],
                 ports: dict[PortKey, BlockPort]) -> None:
        self.kind, self.title, self.parameters, self.own_ports = kind, title, parameters, ports
        self.position: tuple[int, ...] | None = None
        self.system: BlockDiagram | None = None
        self.handle = 0.0

    @property
    def ports(self) -> dict[PortKey, BlockPort]:
        """Those at its parameters, or those that its system makes."""
        return self.own_ports if self.system is None else self.system.outer_ports()


class Nets:
    """Which physical ports are joined: a forest of ports, with the domain of each net at its root."""

    def __init__(self) -> None:
        self._above: dict[Socket, Socket] = {}
        self._domains: dict[Socket, str] = {}

    def __contains__(self, port: Socket) -> bool:
        return port in self._above

    def root(self, port: Socket) -> Socket:
        """The port that stands for the net of a port."""
        while (above := self._above.get(port, port)) != port:
            self._above[port] = self._above.get(above, above)
            port = above
        return port

    def domain(self, port: Socket, own: str) -> str:
        """The domain of a port's net, where it has one; a port that takes any takes that of its net."""
        return self._domains.get(self.root(port), own) if own == _ANY else own

    def join(self, one: Socket, other: Socket, domain: str) -> None:
        """Make one net of theirs."""
        self._above.setdefault(one, one)
        self._above.setdefault(other, other)
        top, below = self.root(one), self.root(other)
        self._above[below] = top
        if domain == _ANY:
            domain = self._domains.get(top) or self._domains.get(below, _ANY)
        if domain != _ANY:
            self._domains[top] = domain


class BlockDiagram:
    """A model, or the system in a block, whose name is a path. Raises BuildRefused for what the rules forbid."""

    def __init__(self, name: str, library: Library, *, strict: bool = True, level: int = 1) -> None:
        self.name, self.library, self.strict, self.level = name, library, strict, level
        if level > MOST_LEVELS:
            raise TOO_LARGE.about(most=MOST_LEVELS, things="levels of subsystems")
        self.blocks: dict[str, PlacedBlock] = {}
        self.lines: dict[tuple[Socket, Socket], None] = {}
        self.settings: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self._outer: dict[PortKey, BlockPort] | None = None
        self._sources: dict[Socket, Socket] = {}
        self._nets = Nets()
        self._numbers: dict[str, int] = {}
        self._port_count = 0

    def path(self, block: str) -> str:
        """A block's path, in which a slash of its name is written twice."""
        return f"{self.name}/{block.replace('/', '//')}"

    def block(self, name: str) -> PlacedBlock:
        """The block of this name."""
        found = self.blocks.get(name) or self.blocks.get(one_line(name))
        if found is None:
            raise NO_OBJECT.about(path=f"{self.name}/{name}", block=name)
        return found

    def add_block(self, kind: LibraryBlock, name: str, parameters: dict[str, str], *, unique: bool = False) -> str:
        """Put a block in; returns its name, which is another one where it has to be made `unique`."""
        title, name = name, self._new_name(name)
        if name in self.blocks:
            if not unique:
                raise BLOCK_EXISTS.about(path=self.path(name))
            title = name = self._unused_name(name)
        if len(self.blocks) >= MOST_BLOCKS:
            raise TOO_LARGE.about(most=MOST_BLOCKS, things="blocks")
        if kind.block_type in PORT_BLOCKS and "Port" not in parameters and (number := self._next_number(kind)) > 1:
            parameters = {**parameters, "Port": str(number)}
        self.blocks[name] = PlacedBlock(kind, title, parameters, self._ports_of(kind, name, parameters))
        self._outer = None
        return name

    def _next_number(self, kind: LibraryBlock) -> int:
        return 1 + sum(block.kind.block_type == kind.block_type for block in self.blocks.values())

    def _new_name(self, name: str) -> str:
        name = one_line(name)
        if not name:
            raise BAD_BLOCK_NAME.about(path=f"{self.name}/")
        if len(name) > LONGEST_NAME:
            raise TOO_LARGE.about(most=LONGEST_NAME, things="characters of a name")
        return name

    def _ports_of(self, kind: LibraryBlock, name: str, parameters: Mapping[str, str]) -> dict[PortKey, BlockPort]:
        ports = kind.checked_ports(self.path(name), parameters)
        self._port_count += len(ports)  # of changed blocks, the ports before count too
        if self._port_count > MOST_PORTS:
            raise TOO_LARGE.about(most=MOST_PORTS, things="ports")
        return ports

    def _unused_name(self, name: str) -> str:
        stem = name.rstrip("0123456789")
        if not stem or len(name) - len(stem) > _LONGEST_NUMBER:
            stem = name
        number = self._numbers.get(stem, int(name[len(stem):] or "0"))
        while f"{stem}{number}" in self.blocks or not number:
            number += 1
        self._numbers[stem] = number + 1
        return f"{stem}{number}"

    def set_parameters(self, name: str, parameters: Mapping[str, str]) -> None:
        """Change parameters of a block; lines at ports that it has no longer are taken away."""
        block = self.block(name)
        changed = {**block.parameters, **parameters}
        ports = self._ports_of(block.kind, name, changed)
        block.parameters, self._outer = changed, None
        if ports is not block.own_ports:
            block.own_ports = ports
            self.drop_lines(name)

    def drop_lines(self, name: str) -> None:
        """Take away the lines at ports that a block has no longer."""
        ports = self.block(name).ports
        self._remove(line for line in self.lines if any(end.block == name and end.key not in ports for end in line))

    def rename(self, name: str, new: str) -> None:
        """Give a block another name."""
        title, new = new, self._new_name(new)
        if new in self.blocks and new != name:
            raise BLOCK_EXISTS.about(path=self.path(new))
        self.block(name).title, self._outer = title, None
        self.blocks = {new if old == name else old: block for old, block in self.blocks.items()}
        self.lines = {(_rename_end(one, name, new), _rename_end(other, name, new)): None for one, other in self.lines}
        self._trace()

    def delete_block(self, name: str) -> None:
        """Take a block away, with its lines."""
        self.block(name)
        self._remove(line for line in self.lines if name in (line[0].block, line[1].block))
        del self.blocks[name]
        self._outer = None

    def add_line(self, source: Socket, target: Socket) -> None:
        """Draw a line from an output to an input, or between two physical ports."""
        one, other = self.blocks[source.block].ports[source.key], self.blocks[target.block].ports[target.key]
        if len(self.lines) >= MOST_LINES:
            raise TOO_LARGE.about(most=MOST_LINES, things="lines")
        if one.is_physical != other.is_physical:
            raise DOMAINS_DIFFER.about()
        if one.is_physical:
            self._join(source, target, one.domain, other.domain)
        elif target in self._sources:
            raise DESTINATION_TAKEN.about()
        else:
            self._sources[target] = source
        self.lines[source, target] = None

    def _join(self, source: Socket, target: Socket, one: str, other: str) -> None:
        nets = self._nets
        if source == target:
            raise ONE_PORT.about(end=source)
        one, other = nets.domain(source, one), nets.domain(target, other)
        if one != other and _ANY not in (one, other):
            raise RULES_BROKEN.about()
        if source in nets and target in nets:
            if nets.root(source) == nets.root(target):
                raise SECOND_TAKEN.about()
            if self.strict:
                raise NETS_DIFFER.about(source=source, target=target)
        nets.join(source, target, other if one == _ANY else one)

    def delete_line(self, source: Socket, target: Socket) -> None:
        """Take a line away."""
        found = [line for line in ((source, target), (target, source)) if line in self.lines]
        if not found:
            raise NO_LINE.about(source=source, target=target)
        self._remove(found)

    def _remove(self, lines: Any) -> None:
        for line in list(lines):
            del self.lines[line]
        self._trace()

    def _trace(self) -> None:
        """See anew what is joined, from the lines alone."""
        self._sources = {target: source for source, target in self.lines if source.side}
        self._nets = Nets()
        for source, target in self.lines:
            if not source.side:
                domains = {self.blocks[end.block].ports[end.key].domain for end in (source, target)} - {_ANY}
                self._nets.join(source, target, next(iter(domains), _ANY))

    def socket(self, said: str, side: str) -> Socket:
        """The port that `block/1` means where a line begins (`out`) or ends (`in`)."""
        block, slash, port = said.rpartition("/")
        if not slash or not block:
            raise NO_PORT_SAID.about(end=said)
        name = block if block in self.blocks else one_line(block.replace("//", "/"))
        placed = self.blocks.get(name)
        if placed is None:
            raise NO_PORT.about(end=said).with_hint(NO_BLOCK_THERE.words.format(model=self.name, block=name))
        socket = Socket(name, "" if is_physical_name(port) else side, port)
        if socket.key in placed.ports:
            return socket
        for key in placed.ports if port.lower() in _NAMED_SIGNALS else ():
            if key[1].lower() == port.lower():
                return Socket(name, *key)
        raise NO_PORT.about(end=said).with_hint(PORTS_THERE.words.format(
            block=self.path(name), port=port, there=_ports_there(placed),
            wanted={"in": "input", "out": "output"}.get(socket.side, "physical")))

    def free_ports(self) -> Iterator[tuple[str, BlockPort]]:
        """The ports that have no line, each with its block."""
        used = {end for line in self.lines for end in line}
        return ((name, port) for name, block in self.blocks.items() for key, port in block.ports.items()
                if Socket(name, *key) not in used)

    def plain(self) -> dict[str, Any]:
        """The model as JSON values; `rebuild` makes it again."""
        return {"name": self.name, "settings": self.settings, **self._plain_system()}

    def _plain_system(self) -> dict[str, Any]:
        blocks = [{"name": block.title, "type": block.kind.type, "parameters": block.parameters,
                   "position": block.position,
                   **({"system": block.system._plain_system()} if block.system is not None else {})}
                  for block in self.blocks.values()]
        lines = [line for line in self.lines if all(end.key in self.blocks[end.block].ports for end in line)]
        return {"blocks": blocks, "lines": lines, "variables": self.variables}

    # systems in blocks

    def inside(self, name: str) -> BlockDiagram:
        """The system in a block; of a subsystem that nobody looked into yet, what the library's block holds. Raises
        BuildRefused for a block that is none."""
        block = self.block(name)
        if block.kind.block_type != "SubSystem":
            raise NO_SUBSYSTEM.about(path=self.path(name), kind=block.kind.type)
        if block.system is None:
            block.system = self._library_content(name, block)
        return block.system

    def _library_content(self, name: str, block: PlacedBlock) -> BlockDiagram:
        system = self.new_inside(name)
        known = {row: self.library.at(f"{BUILT_IN}{row}") for row in (*PORT_BLOCKS, *CONTROLS)}
        makers = {("in", "1"): "Inport", ("out", "1"): "Outport",
                  **{("in", control): row for row, control in CONTROLS.items()}}
        for key in block.own_ports:
            if kind := known.get(makers.get(key, "")):
                system.add_block(kind, kind.type, {})
        if len(names := [name for name in ("In1", "Out1") if name in system.blocks]) == 2:
            system.add_line(Socket(names[0], "out", "1"), Socket(names[1], "in", "1"))
        return system

    def new_inside(self, name: str) -> BlockDiagram:
        """An empty system for a block."""
        return BlockDiagram(self.path(name), self.library, strict=self.strict, level=self.level + 1)

    def empty(self, name: str) -> None:
        """Take all out of a subsystem, and so its ports."""
        self.inside(name)
        self.block(name).system = self.new_inside(name)
        self.drop_lines(name)

    def fill(self, name: str, source: BlockDiagram) -> None:
        """Put a copy of a system into a block."""
        system = self.block(name).system = self.new_inside(name)
        for one, block in source.blocks.items():
            placed = system.blocks[system.add_block(block.kind, block.title, dict(block.parameters))]
            placed.position = block.position
            if block.system is not None:
                system.fill(one, block.system)
        for line in source.lines:
            system.add_line(*line)

    def outer_ports(self) -> dict[PortKey, BlockPort]:
        """The ports that a system gives to the block around it."""
        if self._outer is None:
            found: dict[PortKey, BlockPort] = {}
            for row, direction in (("Inport", "in"), ("Outport", "out")):
                for number, name in enumerate(self._by_number(row), 1):
                    found[direction, str(number)] = BlockPort(str(number), direction, "signal", name)
            for row, control in CONTROLS.items():
                if self._by_number(row):
                    found["in", control] = BlockPort(control, "in", "signal", control)
            counts = {"LConn": 0, "RConn": 0}
            for name in self._by_number("PMIOPort"):
                side = "RConn" if self.blocks[name].parameters.get("Side") == "Right" else "LConn"
                counts[side] += 1
                port = f"{side}{counts[side]}"
                found["", port] = BlockPort(port, "conserving", "any", name)
            self._outer = found
        return self._outer

    def _by_number(self, row: str) -> list[str]:
        """The blocks of a kind by the numbers of their ports."""
        numbers = {name: block.parameters.get("Port", "1").strip() for name, block in self.blocks.items()
                   if block.kind.block_type == row}
        return sorted(numbers, key=lambda name: int(numbers[name]) if numbers[name].isdecimal() else 0)


def _rename_end(end: Socket, name: str, new: str) -> Socket:
    return end._replace(block=new) if end.block == name else end


def _ports_there(block: PlacedBlock) -> str:
    """Which ports a block has, in words."""
    rows: dict[str, list[str]] = {}
    for side, port in block.ports:
        rows.setdefault({"in": "input", "out": "output"}.get(side, "physical"), []).append(port)
    return "; ".join(f"{kind} {', '.join(ports)}" for kind, ports in rows.items()) or "no ports"


# What a finished model lacks: lines at its ports, and what a physical network needs to be solved.

_SOLVER, _REFERENCE = "Solver Configuration", "Electrical Reference"
_SHOWN = 5  # blocks of a network that are named
_DIRECTIONS = {"in": "Input", "out": "Output"}


def open_ports(diagram: BlockDiagram) -> list[str]:
    """A warning for each port that has no line."""
    inside = [warning for block in diagram.blocks.values() if block.system for warning in open_ports(block.system)]
    return [*(UNCONNECTED.words.format(direction="Connection" if port.is_physical else _DIRECTIONS[port.direction],
                                       port=port.name, block=diagram.path(block))
              for block, port in diagram.free_ports()), *inside]


def network_faults(diagram: BlockDiagram) -> list[str]:
    """What keeps the physical networks from being solved. A network is what physical lines join through blocks. Two
    that signals alone join may have a solver each. Networks that lead into subsystems are not looked at."""
    if any(block.system and block.system._by_number("PMIOPort") for block in diagram.blocks.values()):
        return []
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
