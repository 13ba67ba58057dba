"""A model as it is compared with another one: the kinds of its blocks, its signals' ways and its physical nets."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

from chatdev.departments.simulink.catalogue import BlockType, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock

_LIBRARY_BLOCKS = ("Reference", "SubSystem")
"""What files call blocks of libraries, whatever they are."""
_INPUTS_ALIKE = ("Logic", "MinMax")
_TERMINALS_ALIKE = ("Resistor", "Capacitor", "Inductor", "Busbar")
_FIRST_SIGNS = {"Sum": "+", "Product": "*"}
"""Kinds whose inputs have signs, and the sign of all of them where only their number is given."""
_TAG = "GotoTag"
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

    def blocks_by_kind(self) -> dict[str, list[str]]:
        """The names of the blocks of each kind."""
        found: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            found.setdefault(kind, []).append(name)
        return found


class _Record(NamedTuple):
    """What the catalogue says of a block."""

    kind: str
    defining: tuple[str, ...]
    signs: str

    @classmethod
    def of(cls, block: DiagramBlock) -> Self:
        known = catalogue().of(block.type)
        if known is None:
            return cls(f"unknown: {block.type}", (), "")
        kind, parameters = _kind(known), known.with_defaults(block.parameters)
        return cls(kind, tuple(parameters.get(name, "").strip() for name in _defining_names()[kind]),
                   "".join(_SIGN.findall(parameters.get("Inputs", ""))))

    def place_of_input(self, port: str) -> str:
        """Its sign where inputs have signs, nothing where they are alike, else its number."""
        if self.kind in _FIRST_SIGNS and port.isdecimal():
            return dict(enumerate(self.signs, 1)).get(int(port), _FIRST_SIGNS[self.kind])
        return "" if self.kind in _INPUTS_ALIKE else port

    def place_of_terminal(self, port: str) -> str:
        """Nothing where terminals are alike, else its name."""
        return "" if self.kind in _TERMINALS_ALIKE else port


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
    """The parameters of each kind by which its display names differ, without those that count ports."""
    found: dict[str, set[str]] = {}
    for known in catalogue().types.values():
        counts = {port.count for port in known.ports}
        shown = {name for parameters in known.display.values() for name in parameters} - counts
        found.setdefault(_kind(known), set()).update(shown, {_TAG} & known.parameters.keys())
    return {kind: tuple(sorted(names)) for kind, names in found.items()}
