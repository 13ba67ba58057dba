"""A model as it is compared with another one: the kinds of its blocks, its signals' ways and its physical nets."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from chatdev.departments.simulink.catalogue import BlockType, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.ports import BlockPort

_LIBRARY_BLOCKS = ("Reference", "SubSystem")
"""What files call blocks of libraries, whatever they are."""
_INPUTS_ALIKE = ("Logic", "MinMax")
_TERMINALS_ALIKE = ("Resistor", "Capacitor", "Inductor", "Busbar")
_FIRST_SIGNS = {"Sum": "+", "Product": "*"}
"""Kinds whose inputs have signs, and the sign of all of them where only their number is given."""
_ALSO_DEFINING = {"GotoTag", "relop"}
"""What icons show beside what display names stand for."""
_SIGN = re.compile(r"[-+*/]")


class Pin(NamedTuple):
    """A port of a block in a net; ports of a block that have the same `place` are interchangeable."""

    block: str
    port: str
    place: str


class Way(NamedTuple):
    """From an output to an input; inputs of a block that have the same `place` are interchangeable."""

    source: str
    output: str
    target: str
    place: str


@dataclass(frozen=True, slots=True)
class Comparable:
    """`kinds` and `defining` parameters of all blocks by their names, `ways` of signals, and `nets` of physical ports.
    Lines to blocks that are not there are left out."""

    kinds: Mapping[str, str]
    defining: Mapping[str, tuple[str, ...]]
    ways: Counter[Way]
    nets: tuple[tuple[Pin, ...], ...]

    @classmethod
    def of(cls, diagram: Diagram) -> Self:
        """What is compared of a model."""
        records = {name: _Record.of(block) for name, block in diagram.blocks.items()}
        return cls({name: record.kind for name, record in records.items()},
                   {name: record.defining for name, record in records.items()},
                   Counter(_ways(diagram, records)), tuple(_nets(diagram, records)))

    @property
    def size(self) -> int:
        """How many connections there are."""
        return self.ways.total() + sum(len(net) - 1 for net in self.nets)

    def part(self, blocks: Container[str]) -> Self:
        """What is compared of these blocks alone."""
        kinds = {name: kind for name, kind in self.kinds.items() if name in blocks}
        ways = Counter({way: number for way, number in self.ways.items()
                        if way.source in kinds and way.target in kinds})
        nets = (tuple(pin for pin in net if pin.block in kinds) for net in self.nets)
        return replace(self, kinds=kinds, ways=ways, nets=tuple(net for net in nets if net))

    def blocks_by_kind(self) -> dict[str, list[str]]:
        """The names of the blocks of each kind."""
        found: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            found.setdefault(kind, []).append(name)
        return found


@dataclass(frozen=True, slots=True)
class _Record:
    """What the catalogue says of a block: the place of each of its inputs and terminals, by their names."""

    kind: str
    defining: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    terminals: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, block: DiagramBlock) -> Self:
        known = catalogue().of(block.type)
        if known is None:
            return cls(f"unknown: {block.type}")
        kind, parameters, ports = _kind(known), known.with_defaults(block.parameters), _ports(known, block)
        names = _names(ports, "in")
        inputs = dict(zip(names, _places_of_inputs(kind, names, parameters), strict=True))
        terminals = {port.name: "" if kind in _TERMINALS_ALIKE else port.name for port in ports if port.is_physical}
        shape = "; ".join(" ".join(sorted(places)) for places in (inputs.values(), terminals.values(),
                                                                 _names(ports, "out")))
        shown = [parameters.get(name, "").strip() for name in _defining_names()[kind]]
        return cls(kind, (*shown, shape), inputs, terminals)

    def place_of_input(self, port: str) -> str:
        """What an input is to its block; one that is not there is like no other."""
        return self.inputs.get(port, f"no {port}")

    def place_of_terminal(self, port: str) -> str:
        """The same of a physical port."""
        return self.terminals.get(port, f"no {port}")


def _ports(known: BlockType, block: DiagramBlock) -> list[BlockPort]:
    try:
        return known.ports_with(block.parameters)
    except ValueError:  # a number of ports that is none
        return []


def _names(ports: Sequence[BlockPort], direction: str) -> list[str]:
    """The names of the ports of signals in a direction."""
    return [port.name for port in ports if port.direction == direction and not port.is_physical]


def _places_of_inputs(kind: str, names: Sequence[str], parameters: Mapping[str, str]) -> Sequence[str]:
    """Signs where inputs have signs, nothing where they are alike, else their names."""
    if kind not in _FIRST_SIGNS:
        return [""] * len(names) if kind in _INPUTS_ALIKE else names
    signs = _SIGN.findall(parameters.get("Inputs", ""))
    return signs if len(signs) == len(names) else [_FIRST_SIGNS[kind]] * len(names)


def _ways(diagram: Diagram, records: Mapping[str, _Record]) -> Iterator[Way]:
    signals = ((wire.source, wire.target) for wire in diagram.wires if not wire.is_physical)
    for source, target in dict.fromkeys(signals):
        if source.block in records and target.block in records:
            yield Way(*source, target.block, records[target.block].place_of_input(target.port))


def _nets(diagram: Diagram, records: Mapping[str, _Record]) -> Iterator[tuple[Pin, ...]]:
    for net in diagram.nets():
        pins = [Pin(*end, records[end.block].place_of_terminal(end.port)) for end in sorted(net)
                if end.block in records]
        if pins:
            yield tuple(pins)


def _kind(known: BlockType) -> str:
    return known.type if known.block_type in _LIBRARY_BLOCKS else known.block_type


@functools.cache
def _defining_names() -> Mapping[str, tuple[str, ...]]:
    """The parameters of each kind that say what it does; those that count ports say which ports there are."""
    found: dict[str, set[str]] = {}
    for known in catalogue().types.values():
        counts = {port.count for port in known.ports}
        shown = {name for parameters in known.display.values() for name in parameters} - counts
        found.setdefault(_kind(known), set()).update(shown, _ALSO_DEFINING & known.parameters.keys())
    return {kind: tuple(sorted(names)) for kind, names in found.items()}
