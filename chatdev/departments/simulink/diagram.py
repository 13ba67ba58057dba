"""A block diagram: blocks with parameters and positions, and the wires between their ports.

Its text form (YAML) is for people to read, compare and edit:

    model: integrator
    blocks:
      Rate: {type: Constant, parameters: {Value: "2"}, position: [30, 40, 60, 70]}
      Integrator: {type: Integrator}
    lines:
      - Rate/1 -> Integrator/1

`->` leads from an output to an input; `--` joins two physical ports (`R1/RConn1 -- C1/LConn1`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import networkx
import yaml
from pydantic import Field

from chatdev.config.validation import StrictModel, validate_node
from chatdev.config.yaml_nodes import Dumper, Node, parse, place_of, read_text
from chatdev.departments.simulink.ports import is_physical_name
from chatdev.errors import ConfigError

Position = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels from the upper left corner."""
_ARROW, _JOIN = " -> ", " -- "
_WIDEST = 32767  # pixels; what Simulink's canvas takes


class End(NamedTuple):
    """A port of a block: "1" or "LConn1" (`ports.BlockPort.name`)."""

    block: str
    port: str

    def __str__(self) -> str:
        return f"{self.block}/{self.port}"


class Wire(NamedTuple):
    """A line from an output to an input, or between two physical ports, whose order says nothing."""

    source: End
    target: End

    @property
    def is_physical(self) -> bool:
        """Whether it joins physical ports."""
        return is_physical_name(self.source.port) or is_physical_name(self.target.port)

    def __str__(self) -> str:
        return f"{self.source}{_JOIN if self.is_physical else _ARROW}{self.target}"

    @classmethod
    def read(cls, text: str) -> Self:
        """The wire that a line of the text form says; raises ValueError."""
        for sign in (_ARROW, _JOIN):
            before, found, after = text.partition(sign)
            if found:
                return cls(_read_end(before), _read_end(after))
        raise ValueError(f"{text!r} is no line; write `Block/1 -> Other/1`, or `R1/RConn1 -- C1/LConn1`")


def _read_end(text: str) -> End:
    block, slash, port = text.strip().rpartition("/")
    if not slash or not block or not port:
        raise ValueError(f"{text.strip()!r} names no port; write `Block/1`")
    return End(block, port)


@dataclass(frozen=True, slots=True)
class DiagramBlock:
    """A block: its type (a name or a path in the catalogue) and the parameters that differ from the defaults."""

    type: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Diagram:
    """A model. `about` says what it is for."""

    name: str
    blocks: Mapping[str, DiagramBlock] = field(default_factory=dict)
    wires: tuple[Wire, ...] = ()
    about: str = ""

    @classmethod
    def read(cls, path: Path) -> Self:
        """The model in a file of the text form. Raises ConfigError, which names file, line and field."""
        return cls.parse(read_text(path), str(path))

    @classmethod
    def parse(cls, text: str, name: str) -> Self:
        """The model of a text; `name` stands for the file in errors. Raises ConfigError."""
        node = parse(text, name)
        if not isinstance(node.value, dict):
            raise ConfigError(f"{name}: no model; it holds `model`, `blocks` and `lines`")
        form = validate_node(_ModelForm, node)
        blocks = {title: DiagramBlock(block.type, {key: matlab_text(value) for key, value in block.parameters.items()},
                                      _position(block.position, node, title)) for title, block in form.blocks.items()}
        return cls(form.model, blocks, tuple(_wires(form.lines, node)), form.about)

    def text(self) -> str:
        """The text form; `parse` makes the same model of it."""
        blocks = {name: {"type": block.type,
                         **({"parameters": dict(block.parameters)} if block.parameters else {}),
                         **({"position": list(block.position)} if block.position else {})}
                  for name, block in self.blocks.items()}
        heading = {"model": self.name, **({"about": self.about} if self.about else {})}
        lines = [str(wire) for wire in self.wires]
        return _yaml(heading) + _yaml({"blocks": blocks}, flow=None) + _yaml({"lines": lines})

    def nets(self) -> list[frozenset[End]]:
        """The physical ports that are joined, net by net."""
        graph = networkx.Graph()
        graph.add_edges_from(wire for wire in self.wires if wire.is_physical)
        return [frozenset(net) for net in networkx.connected_components(graph)]

    def with_positions(self, positions: Mapping[str, Position]) -> Self:
        """The same model with these blocks at these places."""
        return replace(self, blocks={name: replace(block, position=positions.get(name, block.position))
                                     for name, block in self.blocks.items()})


def _yaml(value: Any, flow: bool | None = False) -> str:
    """A part of the text form; `flow=None` writes the innermost mappings and lists on one line."""
    return str(yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=flow, width=120))


class _BlockForm(StrictModel):
    type: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    position: list[int] | None = None


class _ModelForm(StrictModel):
    model: str = Field(min_length=1)
    about: str = ""
    blocks: dict[str, _BlockForm] = Field(default_factory=dict)
    lines: list[str] = Field(default_factory=list)


def matlab_text(value: Any) -> str:
    """A parameter's value as MATLAB takes it: text as it is, truth as on and off, a list as a vector."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{' '.join(map(matlab_text, value))}]"
    return "" if value is None else str(value)


def _position(given: list[int] | None, node: Node, block: str) -> Position | None:
    if given is None:
        return None
    if len(given) != 4 or given[0] >= given[2] or given[1] >= given[3] or any(abs(at) > _WIDEST for at in given):
        raise ConfigError(f"{place_of(node, ('blocks', block, 'position'))}: {block}: the position {given} is none; "
                          f"write [left, top, right, bottom] in pixels, each within {_WIDEST}")
    left, top, right, bottom = given
    return left, top, right, bottom


def _wires(lines: Iterable[str], node: Node) -> Iterable[Wire]:
    for number, line in enumerate(lines):
        try:
            yield Wire.read(line)
        except ValueError as error:
            raise ConfigError(f"{place_of(node, ('lines', number))}: {error}") from None
