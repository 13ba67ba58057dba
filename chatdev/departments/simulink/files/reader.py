"""From the tree of a file to a model: blocks, lines, systems, masks and settings. What is not understood is counted by
name; it stays in the file's tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import MOST_LEVELS, Diagram, DiagramBlock, End, Position, Wire
from chatdev.departments.simulink.files.blocks import SUBSYSTEM, BlockRecord, block_of, stateflow_type
from chatdev.departments.simulink.files.model_tree import ModelTree
from chatdev.departments.simulink.files.sections import value, values
from chatdev.departments.simulink.ports import is_physical_name
from chatdev.errors import ConfigError
from chatdev.plain_file import read_named

_WIDEST = 32767  # pixels
_NUMBER = re.compile(r"-?\d{1,9}(?:\.\d*)?(?:[eE][-+]?\d{1,3})?")
_SHOWN = 8  # names of a kind that a note lists
_SID_END = re.compile(r"(.+)#(\w+?)(?::(\w{1,20}))?")
_CONTROLS = {name: name for name in ("enable", "trigger", "ifaction", "reset")}
CONTROL_PORTS = {**_CONTROLS, "state": "State"}
"""Ports without a number, by the lower-case names of files."""
_SIDES = {"lconn": "LConn", "rconn": "RConn"}
_MASK_ASSIGNMENT = re.compile(r"\s*([A-Za-z]\w*)\s*=\s*([@&])(\d{1,4})\s*")
_EXPRESSIONS = ("edit", "slider", "dial", "spinbox", "min", "")
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
        yield from (f"{what}: {count}" for what, count in self.others.items())


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
    model, notes = diagram_of(ModelTree.read(data, str(path)), path.stem, str(path))
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
                             settings=tree.settings())
        return model, (*tree.notes, *self._kept.notes())

    def _system(self, section: Element, name: str | None, path: tuple[str, ...], *, about: str = "",
                settings: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None) -> Diagram:
        if len(path) >= MOST_LEVELS:
            raise ConfigError(f"{self._place}: systems lie in each other more than {MOST_LEVELS} levels deep; make the "
                              "model flatter")
        blocks, names = dict[str, DiagramBlock](), dict[str, str]()
        lines = list[Element]()
        for one in section:
            if one.tag == "Block":
                title = value(one, "Name") or ""
                if not title or title in blocks:
                    raise self._wrong(path, f"the block {title!r:.80} is there twice" if title else
                                      "a block has no name")
                blocks[title] = self._block(one, title, path)
                names[title if self._tree.is_classic else value(one, "SID") or ""] = title
            elif one.tag == "Line":
                lines.append(one)
            elif one.tag not in _QUIET:
                self._kept.sections[one.tag] += 1
        wires = [wire for line in lines for wire in self._wires(line, names)]
        try:
            return Diagram(name or "model", blocks, tuple(wires), about, settings or {}, variables or {})
        except ValueError as error:
            raise self._wrong(path, str(error)) from None

    def _wrong(self, path: tuple[str, ...], what: str) -> ConfigError:
        where = "/".join(path).replace("\n", " ")[-200:]
        return ConfigError(f"{self._place}: {f'system {where}: ' if where else ''}{what}")

    # Blocks.

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
                variables = self._mask_variables(section, said)
                system = self._system(inside, title, (*path, title), variables=variables)
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

    def _mask_variables(self, section: Element, said: Mapping[str, str]) -> dict[str, str]:
        """The variables that the mask around a system gives it."""
        found = {name: text for name, kind, text in _mask_parameters(section) if kind in _EXPRESSIONS and name}
        found |= _old_mask_variables(said)
        codes = [value(one, "Initialization") for one in section if one.tag in ("Mask", "Object")]
        codes += [text.text for one in section if one.tag == "Mask" for text in one if text.tag == "Initialization"]
        if any((code or "").strip() for code in [*codes, said.get("MaskInitialization")]):
            self._kept.others["masks whose initialization is a program, which is not run"] += 1
        return found

    # Lines.

    def _wires(self, line: Element, names: Mapping[str, str]) -> Iterator[Wire]:
        """The wires of a line with its branches, from each source to each target; of a physical one, a star."""
        sources, targets, waiting = list[End](), list[End](), [line]
        while waiting:
            section = waiting.pop()
            said = values(section)
            for ends, key in ((sources, "Src"), (targets, "Dst")):
                if (end := self._end(said, key, names)) is not None:
                    ends.append(end)
            waiting += reversed([one for one in section if one.tag == "Branch"])
        ends = [*dict.fromkeys([*sources, *targets])]
        if value(line, "LineType") == "Connection" or any(is_physical_name(end.port) for end in ends):
            yield from (Wire(ends[0], other) for other in ends[1:])
            is_open = len(ends) < 2
        else:
            yield from (Wire(source, target) for source in sources for target in targets)
            is_open = not (sources and targets)
        if is_open:
            self._kept.others["lines with an open end, kept"] += 1

    def _end(self, said: Mapping[str, str], key: str, names: Mapping[str, str]) -> End | None:
        """An end of a line; None where there is none, or its block is not there."""
        if self._tree.is_classic:
            block, port = said.get(f"{key}Block"), said.get(f"{key}Port", "1")
            if block is None:
                return None
        elif (found := _SID_END.fullmatch(said.get(key, ""))) is None:
            return None
        else:
            block = found[1]
            port = CONTROL_PORTS.get(found[2].lower()) or _SIDES.get(found[2].lower(), "") + (found[3] or "1")
        port = CONTROL_PORTS.get(port.lower(), port)
        if block not in names or not re.fullmatch(r"\w{1,20}", port):
            self._kept.others["ends of lines at blocks that there are not, left out"] += 1
            return None
        return End(names[block], port)


def _mask_parameters(section: Element) -> Iterator[tuple[str, str, str]]:
    """Name, kind and value of the parameters of a mask, in any of the forms that it had since R2012."""
    for mask in (one for one in section if one.tag in ("Mask", "Object") and
                 (one.tag == "Mask" or "Simulink.Mask" in (value(one, "ClassName"), value(one, "$ClassName")))):
        for one in mask.iter():
            if one.tag == "MaskParameter":
                text = next((inner.text for inner in one if inner.tag == "Value"), None)
                kind = "text" if one.get("Evaluate") == "off" else one.get("Type", "")
                yield one.get("Name", ""), kind, text or ""
            elif one.tag == "Object" and value(one, "Prompt") is not None and value(one, "Name"):
                kind = "text" if value(one, "Evaluate") == "off" else value(one, "Type") or ""
                yield value(one, "Name") or "", kind, value(one, "Value") or ""


def _old_mask_variables(said: Mapping[str, str]) -> dict[str, str]:
    """The variables of a mask of before R2012: `a=@1;b=@2;` and `2|3`; those with `&` are texts."""
    texts = said.get("MaskValueString", "").split("|")
    found = dict[str, str]()
    for one in said.get("MaskVariables", "").split(";"):
        match = _MASK_ASSIGNMENT.fullmatch(one)
        if match and match[2] == "@" and 0 < int(match[3]) <= len(texts):
            found[match[1]] = texts[int(match[3]) - 1]
    return found
