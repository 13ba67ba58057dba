"""Simulink's records of blocks and the catalogue's types: which block a record means, and which record a block has.

A record is what a file says of a block: `BlockType`, or `Reference` with the `SourceBlock` in a library, and the
parameters that differ from what Simulink takes else, which is not always what the library's block has (a new Mux has
two inputs, a record that says nothing of them four).
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.departments.simulink.catalogue import BlockType, Candidate, block_finder, catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.ports import merge_parameters

_NAMES = Path(__file__).with_name("simulink_names.yaml")
_LIBRARIES = ("simulink", "simulink3")  # the same library, by the name it once had
_DATA_TYPES = frozenset({"OutDataTypeStr", "SaturateOnIntegerOverflow", "InputSameDT", "RndMeth", "LockScale",
                         "DisplayOption"})
"""Parameters that are read where a record says them, but not from the defaults."""
_BOOKKEEPING = frozenset({
    "BlockType", "Name", "SID", "Ports", "Position", "ZOrder", "SourceBlock", "SourceType", "LibraryVersion",
    "UserData", "UserDataPersistent", "ShowName", "HideAutomaticName", "NameLocation", "NamePlacement", "FontName",
    "FontSize", "FontWeight", "FontAngle", "BackgroundColor", "ForegroundColor", "DropShadow", "BlockRotation",
    "BlockMirror", "Description", "Priority", "Tag", "AttributesFormatString", "IconDisplay", "ShowPortLabels",
    "MinAlgLoopOccurrences", "PropExecContextOutsideSubsystem", "RTWSystemCode", "FunctionWithSeparateData", "Opaque",
    "RequestExecContextInheritance", "MaskHideContents", "ContentPreviewEnabled", "LibrarySourceProduct",
    "LibrarySourceBlock", "DialogController", "DialogControllerArgs", "PortRotationType", "sg_icon_stat",
    "sg_mask_display", "sggui_pos", "sg_list_contents", "sginterface", "block_version", "SystemSampleTime",
    "ContentPreview", "AncestorBlock", "LinkData"})
"""What says where a block is, how it looks or who wrote it: kept in its file, no parameter of a block."""
_TRIGGERED = "Triggered Subsystem"
_SUBSYSTEMS = (("ActionPort", "If Action Subsystem"), ("ResetPort", "Resettable Subsystem"),
               ("TriggerPort", _TRIGGERED), ("EnablePort", "Enabled Subsystem"))
SUBSYSTEM = "SubSystem"
_ORIENTATION = {"0": "right", "90": "down", "180": "left", "270": "up"}
_MIRRORED = {"right": "left", "left": "right", "down": "up", "up": "down"}
TURNS = ("BlockRotation", "BlockMirror")
_TURNED = {"right": {}, "left": {"BlockMirror": "on"}, "up": {"BlockRotation": "270"},
           "down": {"BlockRotation": "270", "BlockMirror": "on"}}


class _Names(StrictModel):
    defaults: dict[str, dict[str, str]]
    variants: dict[str, dict[str, list[str]]]
    breaks: list[str]
    source_types: dict[str, str]


@dataclass(frozen=True, slots=True)
class BlockRecord:
    """What a file says of a block beside its name and place: its `block_type`, and all values by their names."""

    block_type: str
    values: Mapping[str, str]


class _Known(NamedTuple):
    """What is known of Simulink's own records: the type that a block type means, and those that it means with other
    values."""

    plain: Mapping[str, BlockType]
    variants: Mapping[str, tuple[tuple[BlockType, Mapping[str, list[str]]], ...]]
    defaults: Mapping[str, Mapping[str, str]]
    breaks: Mapping[str, str]
    source_types: Mapping[str, str]


@functools.cache
def _own_names() -> _Known:
    names = validate_node(_Names, read(_NAMES))
    plain, variants = dict[str, BlockType](), defaultdict[str, list[tuple[BlockType, dict[str, list[str]]]]](list)
    for kind in catalogue().types.values():
        if kind.type in names.variants:
            variants[kind.block_type].append((kind, names.variants[kind.type]))
        else:
            plain.setdefault(kind.block_type, kind)
    breaks = dict[str, str]()
    for path in names.breaks:
        parts = path.split("/")
        breaks |= {_plain("/".join(parts[:number])): "/".join(parts[:number]) for number in range(1, len(parts) + 1)}
    return _Known(plain, {name: tuple(kinds) for name, kinds in variants.items()}, names.defaults, breaks,
                  names.source_types)


def _plain(path: str) -> str:
    return " ".join(path.split())


# From a record to a block.

class ReadBlock(NamedTuple):
    """The block that a record means, and the names of its parameters that are not in the catalogue."""

    block: DiagramBlock
    unknown: tuple[str, ...] = ()


def block_of(record: BlockRecord, defaults: Mapping[str, str], system: Diagram | None = None) -> ReadBlock:
    """The block that a record means; `defaults` are what its file says of its block type. Of a type that the catalogue
    does not know, all parameters are taken over."""
    given = dict(record.values)
    said = {name: text for name, text in given.items() if name not in _BOOKKEEPING}
    is_plain = record.block_type not in ("Reference", SUBSYSTEM)
    unsaid = {name: text for name, text in {**_own_names().defaults.get(record.block_type, {}), **defaults}.items()
              if name not in _DATA_TYPES} if is_plain else {}
    turned = _orientation(given)
    kind = _kind_of(record, {**unsaid, **said}, system)
    if kind is None:
        parameters = {**{name: text for name, text in said.items()
                         if defaults.get(name) != text and name != "Orientation"}, **turned}
        return ReadBlock(DiagramBlock(_unknown_type(record), parameters, None, system))
    unknown = tuple(name for name in said if name not in kind.parameters and defaults.get(name) != said[name]
                    and name != "Orientation")
    return ReadBlock(DiagramBlock(kind.type, {**_differing(kind, {**unsaid, **said}), **turned}, None, system), unknown)


def _kind_of(record: BlockRecord, values: Mapping[str, str], system: Diagram | None) -> BlockType | None:
    """The type of the catalogue that a record means."""
    known = catalogue()
    if record.block_type == SUBSYSTEM:
        return known.types.get(_subsystem_type(record, system))
    if record.block_type != "Reference":
        of_values = (kind for kind, wanted in _own_names().variants.get(record.block_type, ())
                     if all(values.get(name) in texts for name, texts in wanted.items()))
        return next(of_values, _own_names().plain.get(record.block_type))
    path = _plain(record.values.get("SourceBlock", ""))
    library, _, name = path.partition("/")
    return known.at(path) or (known.at(f"simulink/{name}") if library in _LIBRARIES else None)


def _subsystem_type(record: BlockRecord, system: Diagram | None) -> str:
    """What a subsystem is by the control ports within; of a Stateflow block, what it says it is."""
    if chart := stateflow_type(record.values):
        return chart
    inside = dict[str, DiagramBlock]()
    for block in system.blocks.values() if system else ():
        if kind := catalogue().of(block.type):
            inside[kind.block_type] = block
    if {"EnablePort", "TriggerPort"} <= inside.keys():
        return "Enabled and Triggered Subsystem"
    found = next((name for row, name in _SUBSYSTEMS if row in inside), "")
    if found == _TRIGGERED and inside["TriggerPort"].parameters.get("TriggerType") == "function-call":
        return "Function-Call Subsystem"
    return found or ("Atomic Subsystem" if record.values.get("TreatAsAtomicUnit") == "on" else "Subsystem")


def stateflow_type(values: Mapping[str, str]) -> str:
    """What a subsystem that holds a chart or a function is called; empty for another one."""
    if said := values.get("SFBlockType", "").replace("NONE", ""):
        return said
    is_chart = values.get("MaskType") == "Stateflow" or values.get("ErrorFcn", "").startswith("Stateflow.")
    return "Chart" if is_chart else ""


def _unknown_type(record: BlockRecord) -> str:
    """What a block is called that the catalogue does not know: by its path in a library, else by its block type."""
    if record.block_type == SUBSYSTEM:
        return stateflow_type(record.values) or "Subsystem"
    return (_plain(record.values.get("SourceBlock", "")) if record.block_type == "Reference" else "") or (
        record.block_type or "Reference")


def _differing(kind: BlockType, values: Mapping[str, str]) -> dict[str, str]:
    """The parameters of a type that are not as the library has them."""
    return {name: values[name] for name, default in kind.parameters.items() if values.get(name, default) != default}


def _orientation(values: Mapping[str, str]) -> dict[str, str]:
    """Which way a block is turned, in the words of old files; nothing for to the right."""
    side = values.get("Orientation") or _ORIENTATION.get(values.get("BlockRotation", "0").split(".")[0], "right")
    if "Orientation" not in values and values.get("BlockMirror") == "on":
        side = _MIRRORED.get(side, side)
    return {} if side == "right" else {"Orientation": side}


# From a block to a record.

def record_of(block: DiagramBlock) -> BlockRecord:
    """What a file says of a block. Defaults are left out only where a record that says nothing means the same."""
    plain = {name: text for name, text in block.parameters.items() if name != "Orientation"}
    turned = _TURNED.get(block.parameters.get("Orientation", "right"), {})
    record = _record(replace(block, parameters=plain))
    return replace(record, values={**record.values, **turned})


def _record(block: DiagramBlock) -> BlockRecord:
    found = _sure(block.type)
    if found is None:
        is_path = "/" in block.type
        rows = {"SourceBlock": block.type, "SourceType": block.type.rpartition("/")[2]} if is_path else {}
        return BlockRecord("Reference" if is_path else block.type, {**rows, **block.parameters})
    kind = found.block
    values = merge_parameters({}, {**found.parameters, **_with_own_case(kind, block.parameters)})
    if kind.block_type == "Reference":
        return BlockRecord("Reference", {**_link(kind), **values})
    if kind.block_type == SUBSYSTEM:
        atomic = {"TreatAsAtomicUnit": "on"} if kind.parameters.get("TreatAsAtomicUnit") == "on" else {}
        own = {"SFBlockType": kind.type} if kind.type == "MATLAB Function" else {}
        return BlockRecord(SUBSYSTEM, {**atomic, **own, **values})
    return BlockRecord(kind.block_type, {**_unlike_record(kind), **values})


@functools.lru_cache(1000)
def _sure(name: str) -> Candidate | None:
    """The block that a name means without a doubt."""
    kind = catalogue().of(name)
    return Candidate(kind) if kind else block_finder().find(name).sure


def _with_own_case(kind: BlockType, parameters: Mapping[str, str]) -> dict[str, str]:
    """The parameters with the catalogue's names, whose case MATLAB does not regard."""
    known = {name.lower(): name for name in kind.parameters}
    return {name if name in kind.parameters else known.get(name.lower(), name): text
            for name, text in parameters.items()}


def _unlike_record(kind: BlockType) -> dict[str, str]:
    """What a block of the library has, where a record that says nothing means otherwise."""
    known = _own_names()
    plain = {**known.plain[kind.block_type].parameters, **known.defaults.get(kind.block_type, {})}
    wanted = next((row for one, row in known.variants.get(kind.block_type, ()) if one is kind), {})
    return {**{name: text for name, text in kind.parameters.items()
               if plain.get(name, text) != text and name not in _DATA_TYPES},
            **{name: texts[0] for name, texts in wanted.items()}}


def _link(kind: BlockType) -> dict[str, str]:
    """Where a link leads, with the line breaks of the library's names as far as they are known."""
    path, known = kind.path, _own_names()
    parts = path.split("/")
    for number in range(len(parts), 0, -1):
        if found := known.breaks.get(_plain("/".join(parts[:number]))):
            path = "/".join([found, *parts[number:]])
            break
    last = path.rpartition("/")[2]
    own = last if path.split("/")[0] != "simulink" else _plain(last)
    return {"SourceBlock": path, "SourceType": known.source_types.get(kind.type, own)}


def is_link_known(type_name: str) -> bool:
    """Whether the name of a library's block was seen in a file as it is written here."""
    kind = catalogue().types.get(type_name)
    return kind is None or kind.block_type != "Reference" or _plain(kind.path) in _own_names().breaks


def canonical(model: Diagram) -> Diagram:
    """The model as it comes back from a file: each block by the type that its record means, and without parameters that
    say what is so anyway."""
    blocks = dict[str, DiagramBlock]()
    for name, block in model.blocks.items():
        system = canonical(block.system) if block.system else None
        read_back = block_of(record_of(block), {}, system).block
        blocks[name] = replace(read_back, position=block.position)
    return replace(model, blocks=blocks)
