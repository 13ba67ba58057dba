"""From a model to a file: a change of a file that was read leaves the rest of it as it is; a new file begins with an
empty model. Of all parts only those are written that Simulink needs, as far as that is known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from xml.etree.ElementTree import Element, SubElement

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.files import masks
from chatdev.departments.simulink.files.blocks import SUBSYSTEM, TURNS, is_link_known, record_of
from chatdev.departments.simulink.files.empty_files import new_classic, new_package
from chatdev.departments.simulink.files.model_tree import ModelTree
from chatdev.departments.simulink.files.package import is_text_package
from chatdev.departments.simulink.files.reader import CONTROL_PORTS, LineReader, Source
from chatdev.departments.simulink.files.sections import add_section, set_value, value
from chatdev.departments.simulink.hierarchy import ports_of
from chatdev.departments.simulink.layout import place
from chatdev.departments.simulink.ports import BlockPort

_EXPERIMENTAL = "experimental: not opened in Simulink yet; build_model.m is the safe way into MATLAB"
_MOST_PLACED = 400  # blocks of a system that are laid out; more stand in rows
_ROW, _APART, _SIZE = 20, 100, 30  # blocks, pixels, pixels
_PORT_KINDS = ("in", "out", "enable", "trigger", "state", "lconn", "rconn", "ifaction", "reset")
"""In the order of `Ports`, by the names of PortCounts."""


def write_file(model: Diagram, source: object, ending: str) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of a .slx or .mdl file that holds a model, and what is to be known of them; where `source` is a file of
    that kind, with the rest of that file. Raises ConfigError for what such a file cannot hold."""
    if isinstance(source, Source) and (ending == ".mdl" or not _is_classic(source.data)):
        return _change(model, source, ending)
    lost = ("what is not in the model is lost: the old file is of another kind",) if isinstance(source, Source) else ()
    tree = new_classic(model) if ending == ".mdl" else new_package(model)
    empty = Diagram(model.name)
    writer = _Writer(tree)
    writer.change_model(empty, model)
    return tree.data(b""), (*lost, *writer.notes(), _EXPERIMENTAL)


def _is_classic(data: bytes) -> bool:
    return not (data.startswith(b"PK") or is_text_package(data))


def _change(model: Diagram, source: Source, ending: str) -> tuple[bytes, tuple[str, ...]]:
    same_form = _is_classic(source.data) or is_text_package(source.data) == (ending == ".mdl")
    if model == source.diagram and same_form:
        return source.data, ()
    tree = ModelTree.read(source.data, "the file that is changed")
    writer = _Writer(tree)
    writer.change_model(source.diagram, model)
    if same_form:
        return tree.data(source.data), (*writer.notes(), _EXPERIMENTAL)
    assert tree.package is not None  # a classic file has no other form
    package = tree.changed_package()
    return package.text() if ending == ".mdl" else package.zip(), (*writer.notes(), _EXPERIMENTAL)


class _Writer:
    """Changes a tree from one model to another."""

    def __init__(self, tree: ModelTree) -> None:
        self._tree, self._notes = tree, Counter[str]()
        self._last_sid = max((number for root in tree.roots.values() for one in root.iter("Block")
                              if (number := _number(value(one, "SID")))), default=0)
        self._counts_in_element = any(True for root in tree.roots.values() for _ in root.iter("PortCounts")) or (
            not tree.is_classic and not any(True for root in tree.roots.values() for _ in root.iter("Block")))

    def notes(self) -> Iterator[str]:
        """What is to be known of the file."""
        yield from (f"{what}: {count}" for what, count in self._notes.items() if count)

    def change_model(self, old: Diagram, new: Diagram) -> None:
        """Change the tree of `old` to that of `new`."""
        tree = self._tree
        settings: dict[str, str | None] = {name: new.settings.get(name) for name in (*old.settings, *new.settings)
                                           if old.settings.get(name) != new.settings.get(name)}
        tree.set_settings(settings)
        if old.about != new.about:
            set_value(tree.model, "Description", new.about or None)
        if old.variables != new.variables:
            set_value(tree.model, "PreLoadFcn", "".join(f"{name} = {text};\n" for name, text in new.variables.items())
                      or None)
        if tree.is_classic and old.name != new.name:
            set_value(tree.model, "Name", new.name)
        system = tree.system(tree.model, "the model")
        assert system is not None  # the reader refuses a model without one
        self._change_system(system, old, new)
        if not tree.is_classic:
            set_value(system, "SIDHighWatermark", str(self._last_sid))

    def _change_system(self, section: Element, old: Diagram, new: Diagram) -> None:
        new = _with_places(new, new.blocks.keys() - old.blocks.keys())
        sections = {value(one, "Name") or "": one for one in section if one.tag == "Block"}
        at_first = dict(sections)
        for name in old.blocks.keys() - new.blocks.keys():
            section.remove(sections.pop(name))
        for name, block in new.blocks.items():
            before = old.blocks.get(name)
            if before is None:
                sections[name] = self._add_block(section, name)
                self._change_block(sections[name], DiagramBlock(block.type), block, new, is_new=True)
            elif before.type != block.type:
                self._replace_block(sections[name], block, new)
            elif before != block or _degree(old, name) != _degree(new, name):
                self._change_block(sections[name], before, block, new)
        self._change_lines(section, {**at_first, **sections}, old, new)

    # Blocks.

    def _add_block(self, section: Element, name: str) -> Element:
        self._last_sid += 1
        sid = str(self._last_sid)
        made = Element("Block")
        for key, text in (("BlockType", ""), ("Name", name), ("SID", sid)):
            if self._tree.is_classic:
                set_value(made, key, text, "word" if key == "BlockType" else "text")
            else:
                made.set(key, text)
        last = max((number for number, one in enumerate(section, 1) if one.tag in ("P", "Block")), default=0)
        section.insert(last, made)
        return made

    def _replace_block(self, section: Element, block: DiagramBlock, model: Diagram) -> None:
        """A block becomes one of another type; of the old one only name, number and place stay."""
        kept = ("BlockType", "Name", "SID", "Position", "ZOrder")
        for one in [*section]:
            if one.tag != "P" or one.get("Name") not in kept:
                section.remove(one)
        self._change_block(section, DiagramBlock(block.type, {}, block.position), block, model, is_new=True)

    def _change_block(self, section: Element, old: DiagramBlock, new: DiagramBlock, model: Diagram, *,
                      is_new: bool = False) -> None:
        record = record_of(new)
        before = {} if is_new else dict(record_of(old).values)
        if is_new:
            set_value(section, "BlockType", record.block_type, "word")
            self._note_new(new)
        self._set_counts(section, new, model, None if is_new else old)
        if new.position and (is_new or old.position != new.position):
            set_value(section, "Position", f"[{', '.join(map(str, new.position))}]", "list")
        if [before.get(name) for name in TURNS] != [record.values.get(name) for name in TURNS]:
            before = {name: text for name, text in before.items() if name not in TURNS}
            for name in ("Orientation", *TURNS):
                set_value(section, name, None)
        for name, text in record.values.items():
            if before.get(name) != text:
                _set_parameter(section, name, text)
        kind = catalogue().types.get(new.type)
        for name in before.keys() - record.values.keys():
            _set_parameter(section, name, kind.parameters.get(name) if kind else None)
        self._change_inside(section, old, new, record.block_type)

    def _change_inside(self, section: Element, old: DiagramBlock, new: DiagramBlock, block_type: str) -> None:
        """The system in a block, and the mask around it."""
        if block_type != SUBSYSTEM or new.system is None:
            return
        inside = self._tree.system(section, f"the block {value(section, 'Name')!r}")
        before = old.system or Diagram(new.system.name)
        if inside is None:
            inside = add_section(section, "System", {"Name": new.system.name} if self._tree.is_classic else {})
        if before.variables != new.system.variables:
            self._notes["masks that are written anew, without their looks"] += masks.set_variables(
                section, new.system.variables, is_classic=self._tree.is_classic)
        if before.about != new.system.about:
            set_value(section, "Description", new.system.about or None)
        self._change_system(inside, before, new.system)

    def _note_new(self, block: DiagramBlock) -> None:
        kind = catalogue().of(block.type)
        if kind is None:
            self._notes[f"blocks of the type {block.type!r:.60}, which the catalogue does not know"] += 1
        elif not is_link_known(kind.type):
            self._notes["links whose names in the library may have line breaks that are not known here"] += 1
        elif kind.block_type == SUBSYSTEM and block.system is None:
            self._notes["subsystems and functions without contents, written empty"] += 1

    def _set_counts(self, section: Element, block: DiagramBlock, model: Diagram, old: DiagramBlock | None) -> None:
        """Write how many ports a block has, as far as that is known, else, of a new one, how many are wired."""
        name = value(section, "Name") or ""
        ports = _ports(block)
        counts = _counts(ports, model, name)
        if old is not None and (ports is None or _counts(_ports(old), model, name) == counts):
            return
        for one in [one for one in section if one.tag == "PortCounts"]:
            section.remove(one)
        if self._counts_in_element:
            section.insert(0, Element("PortCounts", {kind: str(counts[kind]) for kind in _PORT_KINDS if counts[kind]}))
        else:
            row = [str(counts[kind]) for kind in _PORT_KINDS]
            while row and row[-1] == "0":
                row.pop()
            set_value(section, "Ports", f"[{', '.join(row)}]", "list")

    # Lines.

    def _change_lines(self, section: Element, sections: Mapping[str, Element], old: Diagram, new: Diagram) -> None:
        """Lines that draw what there still is stay; the wires of a source, or a net, that changed are drawn anew."""
        reader = LineReader.of(sections, is_classic=self._tree.is_classic)
        before, after = _bundles(old), _bundles(new)
        kept = {key for key, wires in before.items() if after.get(key) == wires}
        gone = old.blocks.keys() - new.blocks.keys()
        names = dict[End, str]()
        for line in [one for one in section if one.tag == "Line"]:
            wires = reader.read(line).wires
            if not gone.isdisjoint(reader.blocks(line)) or (wires and _key(wires[0], before) not in kept):
                section.remove(line)
                names |= {wire.source: text for wire in wires[:1] if (text := value(line, "Name"))}
        for key, bundle in after.items():
            if key not in kept:
                last = max((number for number, one in enumerate(section, 1) if one.tag in ("P", "Block", "Line")),
                           default=0)
                section.insert(last, self._line(sections, sorted(bundle), names))

    def _line(self, sections: Mapping[str, Element], wires: Sequence[Wire], names: Mapping[End, str]) -> Element:
        """A line with a branch for each target."""
        source = wires[0].source
        line = Element("Line")
        if source in names:
            set_value(line, "Name", names[source])
        if wires[0].is_physical:
            self._set_kind(line, "LineType", "Connection")
        self._set_end(line, "Src", source, sections)
        for wire in wires:
            part = line if len(wires) == 1 else SubElement(line, "Branch")
            if part is not line and wire.is_physical:
                self._set_kind(part, "ConnectType", "DEST_SRC")
            self._set_end(part, "Dst", wire.target, sections)
        return line

    def _set_kind(self, section: Element, name: str, text: str) -> None:
        if self._tree.is_classic:
            set_value(section, name, text)
        else:
            section.set(name, text)

    def _set_end(self, section: Element, key: str, end: End, sections: Mapping[str, Element]) -> None:
        port = end.port
        if self._tree.is_classic:
            set_value(section, f"{key}Block", end.block)
            control = port.lower() if port.lower() in CONTROL_PORTS else port
            set_value(section, f"{key}Port", control, "word" if port.isdecimal() or control != port
                      or port in CONTROL_PORTS else "text")
            return
        side, number = (port[:5].lower(), port[5:]) if port.startswith(("LConn", "RConn")) else (
            "out" if key == "Src" else "in", port)
        written = f"{side}:{number}" if number.isdecimal() else port.lower()
        set_value(section, key, f"{value(sections[end.block], 'SID')}#{written}")


def _number(text: str | None) -> int:
    """A block's number; 0 where it is none, or has two parts."""
    return int(text) if text and text.isdecimal() and len(text) < 10 else 0


def _set_parameter(section: Element, name: str, text: str | None) -> None:
    """Write a parameter where the file has it: among the values, or those of a link."""
    inside = next((one for one in section if one.tag == "InstanceData" and value(one, name) is not None), section)
    set_value(inside, name, text, "word" if text in ("on", "off") else "text")


def _ports(block: DiagramBlock) -> list[BlockPort] | None:
    """The ports of a block; None where nobody knows them."""
    kind = catalogue().of(block.type)
    if kind is None or (block.system is None and kind.block_type in (SUBSYSTEM, "S-Function", "M-S-Function")):
        return None
    try:
        return ports_of(block, kind)
    except ValueError:
        return None


def _degree(model: Diagram, name: str) -> int:
    """How many wires a block has whose ports nobody knows; 0 for others."""
    block = model.blocks[name]
    return sum(name in (wire.source.block, wire.target.block) for wire in model.wires) if (
        catalogue().of(block.type) is None) else 0


def _counts(ports: Iterable[BlockPort] | None, model: Diagram, name: str) -> Counter[str]:
    """How many ports of each kind there are; where that is not known, up to the last one that has a wire."""
    found = Counter[str]()
    if ports is not None:
        for port in ports:
            found[_kind(port.name, port.direction)] += 1
        return found
    for wire in model.wires:
        for end, direction in ((wire.source, "out"), (wire.target, "in")):
            if end.block == name:
                kind = _kind(end.port, direction)
                number = end.port.removeprefix("LConn").removeprefix("RConn")
                found[kind] = max(found[kind], int(number) if number.isdecimal() and len(number) < 5 else 1)
    return found


def _kind(port: str, direction: str) -> str:
    if port.startswith(("LConn", "RConn")):
        return port[:5].lower()
    return direction if port.isdecimal() else port.lower()


def _bundles(model: Diagram) -> dict[object, frozenset[Wire]]:
    """The wires that one line with its branches draws: those of a source, and those of a net, as a star."""
    found = defaultdict[object, set[Wire]](set)
    for wire in model.wires:
        if not wire.is_physical:
            found[wire.source].add(wire)
    for net in model.nets():
        first, *others = sorted(net)
        found[net] = {Wire(first, other) for other in others}
    return {key: frozenset(wires) for key, wires in found.items()}


def _key(wire: Wire, bundles: Mapping[object, frozenset[Wire]]) -> object:
    """The bundle that a wire belongs to."""
    if not wire.is_physical:
        return wire.source
    return next((key for key in bundles if isinstance(key, frozenset) and wire.source in key), None)


def _with_places(model: Diagram, names: Set[str]) -> Diagram:
    """The model with a place for each of these blocks: laid out, or, where there are very many, in rows."""
    missing = [name for name, block in model.blocks.items() if name in names and not block.position]
    if not missing:
        return model
    if len(model.blocks) <= _MOST_PLACED:
        found = place(model).blocks
        return model.with_positions({name: position for name in missing if (position := found[name].position)})
    taken = max((block.position[3] for block in model.blocks.values() if block.position), default=0)
    return model.with_positions({
        name: (left, top, left + _SIZE, top + _SIZE) for number, name in enumerate(missing)
        for left, top in [(_APART * (1 + number % _ROW), taken + _APART * (1 + number // _ROW))]})
