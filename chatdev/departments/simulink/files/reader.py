"""From the tree of a file to a model: blocks, lines, systems, masks and settings. What is not understood is counted by
name; it stays in the file's tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import MOST_LEVELS, Diagram, DiagramBlock, End, Position, Wire
from chatdev.departments.simulink.files import masks
from chatdev.departments.simulink.files.blocks import SUBSYSTEM, BlockRecord, block_of, stateflow_type
from chatdev.departments.simulink.files.model_tree import ModelTree
from chatdev.departments.simulink.files.sections import value, values
from chatdev.departments.simulink.ports import is_physical_name
from chatdev.errors import ConfigError
from chatdev.paths import read_named

_WIDEST = 32767  # pixels
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d*)?(?:[eE][-+]?\d{1,3})?")
_SHOWN = 8  # names of a kind that a note lists
_SID_END = re.compile(r"(.+)#(\w+?)(?::(\w{1,20}))?")
_CONTROLS = {name: name for name in ("enable", "trigger", "ifaction", "reset")}
CONTROL_PORTS = {**_CONTROLS, "state": "State"}
"""Ports without a number, by the lower-case names of files."""
_SIDES = {"lconn": "LConn", "rconn": "RConn"}
_ASSIGNMENT = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*([^=\[\]'\"%]+|\[[^;\n\[\]'\"%]*\])")
_QUIET = frozenset({"P", "Block", "Line", "System", "Mask", "PortCounts", "InstanceData", "LinkData", "PortProperties",
                    "Port", "List", "Object", "Array", "Interface", "MaskDefaults"})
"""Sections of a system or a block that are read, or say only how something looks or is logged."""


@dataclass(slots=True)
class _Kept:
    """What is not understood, counted by name."""

    sections: Counter[str] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    parameters: Counter[str] = field(default_factory=Counter)
    others: Counter[str] = field(default_factory=Counter)

    def notes(self) -> Iterator[str]:
        """A line for each kind."""
        if self.sections:
            yield f"kept, and not looked at: {_list(self.sections)}"
        if self.types:
            yield f"blocks whose types the catalogue does not know: {_list(self.types)}"
        if self.parameters:
            yield f"kept, parameters that the catalogue does not know: {_list(self.parameters)}"
        yield from (f"{what}: {count}" for what, count in self.others.items() if count)


def _list(counted: Counter[str]) -> str:
    rows = [f"{name} ({count})" for name, count in counted.most_common(_SHOWN)]
    return ", ".join([*rows, f"and {len(counted) - _SHOWN} more"] if len(counted) > _SHOWN else rows)


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was read: all its bytes, and the model in it."""

    data: bytes
    diagram: Diagram


def read_file(path: Path) -> tuple[Diagram, tuple[str, ...], Source]:
    """The model in a .slx or .mdl file, what was not understood of it, and the file itself. Raises ConfigError, which
    names the file, the place and the fix."""
    try:
        data = read_named(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}; check the path, or make the file "
                          "smaller") from None
    return read_data(data, path.stem, str(path))


def read_data(data: bytes, name: str, place: str) -> tuple[Diagram, tuple[str, ...], Source]:
    """The same of a file's bytes; `name` is that of the model where the file says none."""
    model, notes = diagram_of(ModelTree.read(data, place), name, place)
    return model, notes, Source(data, model)


def diagram_of(tree: ModelTree, name: str, place: str) -> tuple[Diagram, tuple[str, ...]]:
    """The model of a tree, and what was not understood of it. Raises ConfigError, which begins with `place`."""
    return _Reader(tree, place).read(name)


class _Reader:
    def __init__(self, tree: ModelTree, place: str) -> None:
        self._tree, self._place, self._kept = tree, place, _Kept()
        self._defaults = tree.defaults()

    def read(self, name: str) -> tuple[Diagram, tuple[str, ...]]:
        tree = self._tree
        system = tree.system(tree.model, self._place)
        if system is None:
            raise ConfigError(f"{self._place}: the model has no system; it is half a file, save it anew in Simulink")
        for one in (one for root in tree.roots.values() for one in root if one.tag == "Stateflow"):
            self._kept.sections["Stateflow"] += sum(1 for chart in one.iter("chart"))
        about = value(tree.model, "Description") or ""
        model = self._system(system, value(tree.model, "Name") if tree.is_classic else name, (), about=about,
                             settings=tree.settings(), variables=self._workspace())
        return model, (*tree.notes, *self._kept.notes())

    def _workspace(self) -> dict[str, str]:
        """The variables that the model's own programs set, where these do nothing else."""
        found = dict[str, str]()
        for name in ("PreLoadFcn", "PostLoadFcn", "InitFcn"):
            code = value(self._tree.model, name) or ""
            if not code.strip():
                continue
            rows = [row for row in re.split(r"[;\n]", code) if row.strip()]
            matches = [_ASSIGNMENT.fullmatch(row) for row in rows]
            if all(matches):
                found |= {match[1]: match[2].strip() for match in matches if match}
            else:
                self._kept.others[f"programs of the model that are not run ({name})"] += 1
        return found

    def _system(self, section: Element, name: str | None, path: tuple[str, ...], *, about: str = "",
                settings: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None) -> Diagram:
        if len(path) >= MOST_LEVELS:
            raise ConfigError(f"{self._place}: systems lie in each other more than {MOST_LEVELS} levels deep; make the "
                              "model flatter")
        blocks, names = self._blocks(section, path)
        reader = LineReader(names, self._tree.is_classic)
        wires = [wire for line in section if line.tag == "Line" for wire in self._wires(line, reader)]
        self._kept.sections.update(one.tag for one in section if one.tag not in _QUIET)
        try:
            return Diagram(name or "model", blocks, tuple(wires), about, settings or {}, variables or {})
        except ValueError as error:
            raise self._wrong(path, str(error)) from None

    def _wrong(self, path: tuple[str, ...], what: str) -> ConfigError:
        where = "/".join(path).replace("\n", " ")[-200:]
        return ConfigError(f"{self._place}: {f'system {where}: ' if where else ''}{what}")

    # Blocks.

    def _blocks(self, section: Element, path: tuple[str, ...]) -> tuple[dict[str, DiagramBlock], dict[str, str]]:
        """The blocks of a system, and their names by how its lines call them."""
        blocks, names = dict[str, DiagramBlock](), dict[str, str]()
        for one in (one for one in section if one.tag == "Block"):
            title = value(one, "Name") or ""
            if not title or title in blocks:
                raise self._wrong(path, f"the block {title!r:.80} is there twice" if title else "a block has no name")
            blocks[title] = self._block(one, title, path)
            names[title if self._tree.is_classic else value(one, "SID") or ""] = title
        return blocks, names

    def _block(self, section: Element, title: str, path: tuple[str, ...]) -> DiagramBlock:
        said = values(section)
        for one in section:
            if one.tag == "InstanceData":
                said |= values(one)
            elif one.tag not in _QUIET:
                self._kept.sections[one.tag] += 1
        record = BlockRecord(said.get("BlockType", ""), said)
        system = None
        if record.block_type == SUBSYSTEM and not stateflow_type(said):
            inside = self._tree.system(section, self._place)
            if inside is not None:
                variables = masks.variables_of(section, said)
                self._kept.others["masks whose initialization is a program, which is not run"] += masks.has_program(
                    section, said)
                system = self._system(inside, title, (*path, title), variables=variables,
                                      about=said.get("Description", ""))
        try:
            found = block_of(record, self._defaults.get(record.block_type, {}), system)
            block = found.block
            self._kept.parameters.update(found.unknown)
            if block.type not in catalogue().types:
                self._kept.types[block.type] += 1
            return DiagramBlock(block.type, block.parameters, self._position(said.get("Position")), system)
        except ValueError as error:
            raise self._wrong((*path, title), str(error)) from None

    def _position(self, text: str | None) -> Position | None:
        if text is None:
            return None
        numbers = [float(number) for number in _NUMBER.findall(text[:200])]
        if len(numbers) == 4 and all(abs(number) <= _WIDEST for number in numbers):
            left, top, right, bottom = (round(number) for number in numbers)
            if left < right and top < bottom:
                return left, top, right, bottom
        self._kept.others["positions that are none, left out"] += 1
        return None

    def _wires(self, line: Element, reader: LineReader) -> tuple[Wire, ...]:
        found = reader.read(line)
        self._kept.others["ends of lines at blocks that there are not, kept"] += found.lost
        self._kept.others["lines with an open end, kept"] += not found.wires
        return found.wires


class ReadLine(NamedTuple):
    """What a line of a file draws: its wires, and how many of its ends are at blocks that there are not. A line without
    wires has an open end."""

    wires: tuple[Wire, ...]
    lost: int


@dataclass(frozen=True, slots=True)
class LineReader:
    """Reads the lines of a system: `names` are those of its blocks, by how the file's lines call them."""

    names: Mapping[str, str]
    is_classic: bool

    @classmethod
    def of(cls, blocks: Mapping[str, Element], *, is_classic: bool) -> LineReader:
        """For a system with these blocks by their names."""
        return cls({(name if is_classic else value(one, "SID") or ""): name for name, one in blocks.items()},
                   is_classic)

    def read(self, line: Element) -> ReadLine:
        """From each source to each target of the line with its branches; of a physical one, a star."""
        sources, targets = ([end for _, port, name in self._ends(line, key) if name for end in [End(name, port)]]
                            for key in ("Src", "Dst"))
        lost = sum(not name for key in ("Src", "Dst") for _, _, name in self._ends(line, key))
        ends = [*dict.fromkeys([*sources, *targets])]
        if value(line, "LineType") == "Connection" or any(is_physical_name(end.port) for end in ends):
            return ReadLine(tuple(Wire(ends[0], other) for other in ends[1:]), lost)
        return ReadLine(tuple(dict.fromkeys(Wire(source, target) for source in sources for target in targets)), lost)

    def blocks(self, line: Element) -> list[str]:
        """The blocks at the ends of a line, by name; empty for one that there is not."""
        return [name for key in ("Src", "Dst") for _, _, name in self._ends(line, key)]

    def _ends(self, line: Element, key: str) -> Iterator[tuple[str, str, str]]:
        """Block, port and the block's name of each end of a kind."""
        waiting = [line]
        while waiting:
            section = waiting.pop()
            waiting += reversed([one for one in section if one.tag == "Branch"])
            block, port = self._classic_end(section, key) if self.is_classic else _numbered_end(value(section, key))
            port = CONTROL_PORTS.get(port.lower(), port)
            if block is not None:
                yield block, port, self.names.get(block, "") if re.fullmatch(r"\w{1,20}", port) else ""

    @staticmethod
    def _classic_end(section: Element, key: str) -> tuple[str | None, str]:
        return value(section, f"{key}Block"), value(section, f"{key}Port") or "1"


def _numbered_end(text: str | None) -> tuple[str | None, str]:
    """The block's number and the port of `3#out:1`; none where the text says none."""
    found = _SID_END.fullmatch(text or "")
    if found is None:
        return None, ""
    kind = found[2].lower()
    return found[1], CONTROL_PORTS.get(kind) or _SIDES.get(kind, "") + (found[3] or "1")
