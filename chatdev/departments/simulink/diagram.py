"""A block diagram: blocks with parameters and positions, and the wires between their ports.

Its text form (YAML) is for people to read, compare and edit:

    model: integrator
    blocks:
      Rate: {type: Constant, parameters: {Value: "2"}, position: [30, 40, 60, 70]}
      Integrator: {type: Integrator}
    lines:
      - Rate/1 -> Integrator/1

`->` leads from an output to an input; `--` joins two physical ports (`R1/RConn1 -- C1/LConn1`). A block whose name
would be read otherwise there stands in quotes, as in JSON: `"a/1 -> b"/1 -> Integrator/1`.

A block may hold a system of its own, whose In1, Out1, Connection Port, Enable, Trigger, Action Port and Reset blocks
are its ports (`hierarchy.py`). `variables` are those of the model's workspace or of the mask around a system,
`settings` what Simulink calls the model's parameters:

    model: plant
    settings: {StopTime: "20", Solver: ode45}
    variables: {K: "2*pi"}
    blocks:
      Step: {type: Step}
      Plant:
        type: Subsystem
        system:
          variables: {T: K/2}
          blocks:
            u: {type: In1}
            Lag: {type: Transfer Fcn, parameters: {Denominator: "[T 1]"}}
            y: {type: Out1}
          lines:
            - u/1 -> Lag/1
            - Lag/1 -> y/1
    lines:
      - Step/1 -> Plant/1
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import networkx
import yaml
from pydantic import Field

from chatdev.config.yaml_nodes import Dumper, Key, KeyPath, Node, StrictModel, parse, place_of, read_text, validate_node
from chatdev.departments.simulink.ports import is_physical_name
from chatdev.errors import ConfigError

Position = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels from the upper left corner."""
_WIDEST = 32767  # pixels; what Simulink's canvas takes
_POSITION_NAMES = ("left", "top", "right", "bottom")
_POSITION = f"write [{', '.join(_POSITION_NAMES)}] in pixels, each within {_WIDEST}"
_TAG_ROWS = ("Goto", "From")
_PORT = re.compile(r"\w+")
_HALF = re.compile("[\ud800-\udfff]")  # of a character; no file can hold it
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_SOURCE = re.compile(rf'({_QUOTED}|[^"].*?)/(\w+)\s*(->|--)\s*(.+)', re.DOTALL)
_TARGET = re.compile(rf'({_QUOTED}|[^"].*)/(\w+)', re.DOTALL)
_CHAIN = re.compile(r"/\w+\s*(?:->|--)")
_MISREAD = re.compile(rf'^["\s]|\s$|{_CHAIN.pattern}|[^ -\U0010ffff]')
MOST_LEVELS = 30
"""How deep systems may lie in each other; YAML's own nesting is bounded, too."""
_DOCUMENT_END = "\n...\n"  # what YAML puts behind a text that ends with empty lines
_FORM = "write `Block/1 -> Other/1`, or `R1/RConn1 -- C1/LConn1`"


class End(NamedTuple):
    """A port of a block: "1" or "LConn1" (`ports.BlockPort.name`)."""

    block: str
    port: str

    def __str__(self) -> str:
        quoted = json.dumps(self.block, ensure_ascii=False) if _MISREAD.search(self.block) else self.block
        return f"{quoted}/{self.port}"


class Wire(NamedTuple):
    """A line from an output to an input, or between two physical ports, whose order says nothing."""

    source: End
    target: End

    @property
    def is_physical(self) -> bool:
        """Whether it joins physical ports."""
        return is_physical_name(self.source.port) or is_physical_name(self.target.port)

    def __str__(self) -> str:
        return f"{self.source} {'--' if self.is_physical else '->'} {self.target}"

    @classmethod
    def read(cls, text: str) -> Self:
        """The wire that a line of the text form says; raises ValueError."""
        source = _SOURCE.fullmatch(text.strip())
        if not source:
            raise ValueError(f"{text!r:.80} is no line; {_FORM}")
        target = _TARGET.fullmatch(source[4])
        if not target:
            raise ValueError(f"{source[4]!r:.80} names no port; {_FORM}")
        ends = End(_read_name(source[1]), source[2]), End(_read_name(target[1]), target[2])
        if not target[1].startswith('"') and _CHAIN.search(target[1]):
            raise ValueError(f"{text!r:.80} has more than two ends; write a line for each two, and a name that holds "
                             "an arrow in quotes")
        return cls(*ends)


def _read_name(text: str) -> str:
    if not text.startswith('"'):
        return text.strip()
    try:
        return str(json.loads(text))
    except ValueError:
        raise ValueError(f"{text:.80} is no name in quotes; write it as JSON does") from None


@dataclass(frozen=True, slots=True)
class DiagramBlock:
    """A block: its type (a name or a path in the catalogue), the parameters that differ from the defaults, and the
    system inside if it is a subsystem. Raises ValueError for what the text form cannot hold."""

    type: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    position: Position | None = None
    system: Diagram | None = None

    def __post_init__(self) -> None:
        _refuse_unwritable("type", self.type)
        for name, value in self.parameters.items():
            _refuse_unwritable("parameter", name, value)
        at = self.position
        if at and (at[0] >= at[2] or at[1] >= at[3] or any(abs(pixels) > _WIDEST for pixels in at)):
            raise ValueError(f"the position {list(at)} is none; {_POSITION}")
        if self.system and self.system.settings:
            raise ValueError("settings are those of the whole model; a system in a block has none")


@dataclass(frozen=True, slots=True)
class Diagram:
    """A model, or a system in a block, which bears the block's name. `about` says what it is for; `variables` are
    expressions by name. Raises ValueError for what the text form cannot hold."""

    name: str
    blocks: Mapping[str, DiagramBlock] = field(default_factory=dict)
    wires: tuple[Wire, ...] = ()
    about: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _refuse_unwritable("model", self.name, self.about)
        for name in self.blocks:
            _refuse_unwritable("block", name)
        for name, value in (*self.settings.items(), *self.variables.items()):
            _refuse_unwritable("setting or variable", name, value)
        if self.levels > MOST_LEVELS:
            raise ValueError(f"systems lie in each other more than {MOST_LEVELS} levels deep; make the model flatter")
        object.__setattr__(self, "blocks", {name: _with_name(block, name) for name, block in self.blocks.items()})
        for end in (end for wire in self.wires for end in wire):
            _refuse_unwritable("block", end.block)
            if not _PORT.fullmatch(end.port):
                raise ValueError(f"{end.port!r:.80} is the name of no port; it is a number or a word, such as LConn1")

    @classmethod
    def read(cls, path: Path) -> Diagram:
        """The model in a file of the text form. Raises ConfigError, which names file, line and field."""
        return cls.parse(read_text(path), str(path))

    @classmethod
    def parse(cls, text: str, name: str) -> Diagram:
        """The model of a text; `name` stands for the file in errors. Raises ConfigError."""
        node = parse(text, name)
        if not isinstance(node.value, dict):
            raise ConfigError(f"{name}: no model; it holds `model`, `blocks` and `lines`")
        return _system(validate_node(_ModelForm, node), node, ())

    def text(self) -> str:
        """The text form; `parse` makes the same model of it."""
        heading = {"model": self.name, **_plain_heading(self)}
        lines = [str(wire) for wire in self.wires]
        return (_yaml(heading) + _yaml({"blocks": _plain_blocks(self)}, flow=None) + _yaml({"lines": lines}))

    @property
    def levels(self) -> int:
        """How many systems lie in each other, this one included."""
        return 1 + max((block.system.levels for block in self.blocks.values() if block.system), default=0)

    def nets(self) -> list[frozenset[End]]:
        """The physical ports that are joined, net by net."""
        graph = networkx.Graph()
        graph.add_edges_from(wire for wire in self.wires if wire.is_physical)
        return [frozenset(net) for net in networkx.connected_components(graph)]

    def tags(self) -> dict[str, tuple[list[str], list[str]]]:
        """The tags of Goto and From blocks, and the names of the Goto and of the From blocks that have each."""
        found: dict[str, tuple[list[str], list[str]]] = {}
        for name, block in self.blocks.items():
            kind = block.type.rpartition("/")[2]
            if kind in _TAG_ROWS:
                found.setdefault(block.parameters.get("GotoTag", "A"), ([], []))[_TAG_ROWS.index(kind)].append(name)
        return found

    def with_positions(self, positions: Mapping[str, Position]) -> Self:
        """The same model with these blocks at these places."""
        return replace(self, blocks={name: replace(block, position=positions.get(name, block.position))
                                     for name, block in self.blocks.items()})


def _with_name(block: DiagramBlock, name: str) -> DiagramBlock:
    """The block with its system named as it is."""
    system = block.system
    return replace(block, system=replace(system, name=name)) if system and system.name != name else block


class _Rows(list[str]):
    """Lines, each of which is written on a line of its own."""


class _Dumper(Dumper):
    """Writes the text form."""


_Dumper.add_representer(_Rows, lambda dumper, rows: dumper.represent_sequence("tag:yaml.org,2002:seq", rows, False))


def _yaml(value: Any, flow: bool | None = False) -> str:
    """A part of the text form; `flow=None` writes the innermost mappings and lists on one line."""
    text = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=flow, width=120)
    return f"{str(text).removesuffix(_DOCUMENT_END)}\n" if str(text).endswith(_DOCUMENT_END) else str(text)


def _plain_heading(model: Diagram) -> dict[str, Any]:
    rows = {"about": model.about, "settings": dict(model.settings), "variables": dict(model.variables)}
    return {key: value for key, value in rows.items() if value}


def _plain_blocks(model: Diagram) -> dict[str, Any]:
    found = {}
    for name, block in model.blocks.items():
        rows = {"parameters": dict(block.parameters), "position": list(block.position or ())}
        found[name] = {"type": block.type, **{key: value for key, value in rows.items() if value}}
        if block.system:
            found[name]["system"] = _plain_system(block.system)
    return found


def _plain_system(model: Diagram) -> dict[str, Any]:
    rows = {"blocks": _plain_blocks(model), "lines": _Rows(map(str, model.wires))}
    return {**_plain_heading(model), **{key: value for key, value in rows.items() if value}}


class _BlockForm(StrictModel):
    type: str = Field(min_length=1)
    parameters: dict[str, Any] = Field(default_factory=dict)
    position: list[int] | None = None
    system: _SystemForm | None = None


class _SystemForm(StrictModel):
    about: str = ""
    variables: dict[str, Any] = Field(default_factory=dict)
    blocks: dict[str, _BlockForm] = Field(default_factory=dict)
    lines: list[str] = Field(default_factory=list)


class _ModelForm(_SystemForm):
    model: str = Field(min_length=1)
    settings: dict[str, Any] = Field(default_factory=dict)


def matlab_text(value: Any) -> str:
    """A parameter's value as MATLAB takes it: text as it is, truth as on and off, a list as a vector, a list of lists
    as a matrix of rows. Raises ValueError for a mapping."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, Mapping):
        raise ValueError(f"{dict(value)!r:.80} is no value that MATLAB takes; write a text in quotes")
    if isinstance(value, list | tuple):
        is_matrix = value and all(isinstance(row, list | tuple) for row in value)
        return f"[{('; ' if is_matrix else ' ').join(map(_matlab_part, value))}]"
    return "" if value is None else str(value)


def _matlab_part(value: Any) -> str:
    return matlab_text(value)[1:-1] if isinstance(value, list | tuple) else matlab_text(value)


def _system(form: _SystemForm, node: Node, path: KeyPath) -> Diagram:
    """The model, or the system at a path of the file."""
    blocks = {title: _block(block, node, (*path, "blocks", title)) for title, block in form.blocks.items()}
    name = form.model if isinstance(form, _ModelForm) else str(path[-2])
    settings = _texts(form.settings, node, (*path, "settings")) if isinstance(form, _ModelForm) else {}
    wires = tuple(_wires(form.lines, node, (*path, "lines")))
    variables = _texts(form.variables, node, (*path, "variables"))
    with _at(node, path):
        return Diagram(name, blocks, wires, form.about, settings, variables)


def _block(form: _BlockForm, node: Node, path: KeyPath) -> DiagramBlock:
    parameters = _texts(form.parameters, node, (*path, "parameters"), f"{path[-1]}: ")
    system = _system(form.system, node, (*path, "system")) if form.system else None
    with _at(node, (*path, "position"), f"{path[-1]}: "):
        if form.position is not None and len(form.position) != len(_POSITION_NAMES):
            raise ValueError(f"the position {form.position!r:.80} is none; {_POSITION}")
        return DiagramBlock(form.type, parameters, tuple(form.position) if form.position else None,  # type: ignore[arg-type]  # of that length
                            system)


def _texts(values: Mapping[str, Any], node: Node, path: KeyPath, what: str = "") -> dict[str, str]:
    """Values as MATLAB takes them."""
    found = dict[str, str]()
    for key, value in values.items():
        with _at(node, (*path, key), f"{what}{key}: "):
            found[key] = matlab_text(value)
    return found


def _wires(lines: Iterable[str], node: Node, path: KeyPath) -> Iterable[Wire]:
    for number, line in enumerate(lines):
        with _at(node, (*path, number)):
            yield Wire.read(line)


@contextmanager
def _at(node: Node, path: Sequence[Key], what: str = "") -> Iterator[None]:
    """A ValueError of what is done here is a ConfigError, with its place in the file."""
    try:
        yield
    except ValueError as error:
        raise ConfigError(f"{place_of(node, path)}: {what}{error}") from None


def _refuse_unwritable(what: str, name: str, *texts: str) -> None:
    """Raises ValueError for a name without letters, and for half characters, which no file holds."""
    if not name:
        raise ValueError(f"the {what} has no name; give it one")
    if found := next((text for text in (name, *texts) if _HALF.search(text)), None):
        raise ValueError(f"the {what} {found!r:.80} holds half a character; write it in UTF-8")
