"""The checks of a diagram's blocks: are their types known, is each needed, are its parameters such as there are."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from chatdev.departments.simulink.catalogue import BlockType
from chatdev.departments.simulink.diagram import Diagram, Wire
from chatdev.departments.simulink.lookup import EXACT, Candidate, Found
from chatdev.departments.simulink.parts import DiagramFinding, Part, Severity, nearest
from chatdev.departments.simulink.ports import count_of

_COMMON = {"SampleTime", "OutDataTypeStr", "Position", "Orientation", "ShowName", "NamePlacement", "FontName",
           "FontSize", "ForegroundColor", "BackgroundColor", "Description", "Tag", "UserData", "Priority", "RndMeth",
           "SaturateOnIntegerOverflow", "OutMin", "OutMax", "BlockMirror", "BlockRotation", "MaskDisplay", "CopyFcn"}
"""What very many blocks of Simulink have, whether the catalogue lists it or not."""
_CHOICES = ("Operator", "relop", "logicop", "Function")
"""Parameters without which a block says nothing of what it does."""
_RELATIONS = ["==", "~=", "<", "<=", ">=", ">"]  # what every `relop` may be
_TAG = re.compile(r"[A-Za-z]\w{0,62}", re.ASCII)
_PYTHON = {"True": "on", "False": "off", "None": ""}
_Judgement = tuple[Severity, str, str]  # with message and fix
_TRUTH = {"true": "on", "1": "on", "yes": "on", "false": "off", "0": "off", "no": "off"}


def check_types(parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """Types that the catalogue does not have."""
    if not parts:
        yield DiagramFinding("block list", "error", "there is no block", "list every block that the picture shows")
    for part in parts.values():
        if part.found.way not in ("type", "path"):
            message, fix = _explain_type(part.found)
            yield DiagramFinding("block list", "error", message, fix, block=part.name)


def _explain_type(found: Found) -> tuple[str, str]:
    meant = list(map(_write_meaning, found.candidates))
    if found.sure:
        return f"{found.name!r} is another name of {found.sure.block.type}", f"write {meant[0]}"
    if found.way in EXACT:
        return f"{found.name!r} may be {len(meant)} blocks", f"say which: {'; or '.join(meant)}"
    return (f"there is no block type {found.name!r} in the catalogue",
            f"look at the picture again; like it: {'; '.join(meant)}" if meant else "take the type from the catalogue")


def _write_meaning(one: Candidate) -> str:
    parameters = ", ".join(f"{name}: {value}" for name, value in one.parameters.items())
    return f"type {one.block.type}" + (f" with {parameters}" if parameters else "")


def check_extras(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """Blocks that nothing uses: without any line, with a tag that nobody shares, or that do what another does."""
    used = {end.block for wire in model.wires for end in wire}
    for part in parts.values():
        if part.name not in used and part.ports != ():
            yield DiagramFinding("extra blocks", "warning", f"{part.name} is connected to nothing",
                                 "connect it, or remove it if the picture does not show it", block=part.name)
    for tag, (gotos, froms) in model.tags().items():
        if not froms:
            yield from (DiagramFinding("extra blocks", "warning", f"no From has the tag {tag!r} of the Goto {name}",
                                       _other_tags(model, tag, 1), block=name, parameter="GotoTag") for name in gotos)
        if not gotos:
            yield from (DiagramFinding("extra blocks", "error", f"no Goto has the tag {tag!r} of the From {name}",
                                       _other_tags(model, tag, 0), block=name, parameter="GotoTag") for name in froms)
    yield from _find_doubles(model, parts)


def _other_tags(model: Diagram, tag: str, row: int) -> str:
    what = ("Goto", "From")[row]
    others = [f"{other!r}" for other, names in model.tags().items() if other != tag and names[row]]
    return f"add the {what} block" + (f", or mend the tag; the tags of {what} blocks: {', '.join(others)}"
                                      if others else "")


def _find_doubles(model: Diagram, parts: Mapping[str, Part]) -> Iterator[DiagramFinding]:
    """Blocks with inputs that have type, parameters and sources of an earlier one."""
    sources: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for wire in model.wires:
        if not wire.is_physical:
            sources[wire.target.block].append((wire.target.port, str(wire.source)))
    seen: dict[object, str] = {}
    for part in parts.values():
        if part.kind is None or part.name not in sources:
            continue
        work = (part.kind.type, *sorted(part.values.items()), *sorted(sources[part.name]))
        first = seen.setdefault(work, part.name)
        if first != part.name:
            yield DiagramFinding("extra blocks", "warning", f"{part.name} does what {first} does, with the same inputs",
                                 "remove it unless the picture shows both", block=part.name)


def check_parameters(parts: Mapping[str, Part], written: Mapping[str, Mapping[str, str]], wires: Sequence[Wire], *,
                     is_complete: bool) -> Iterator[DiagramFinding]:
    """Parameters that a block does not have, values that cannot be, and what is missing. `written` are the parameters
    as they are written, by block; `is_complete` says that all that matters has to be given."""
    for part in parts.values():
        if part.kind is None:
            continue
        names = written.get(part.name, {})
        for name, value in names.items():
            yield from _check_name(part.kind, part.name, name)
            yield from (DiagramFinding("parameters", severity, message, fix, block=part.name, parameter=name)
                        for severity, message, fix in _judge_value(part.kind, _known_name(part.kind, name), value))
        yield from _find_missing(part, is_complete=is_complete)
        yield from _check_counts(part, wires)


def _known_name(kind: BlockType, name: str) -> str:
    return next((one for one in kind.parameters if one.lower() == name.lower()), name)


def _check_name(kind: BlockType, block: str, name: str) -> Iterator[DiagramFinding]:
    known = _known_name(kind, name)
    if known in kind.parameters or name in _COMMON or not kind.parameters:
        if known != name:
            yield DiagramFinding("parameters", "remark", f"{kind.type} calls the parameter {known}",
                                 f"write {known}", block=block, parameter=name)
        return
    near = nearest(name, [*kind.parameters, *_COMMON], 1)
    yield DiagramFinding("parameters", "error" if near else "warning",
                         f"{kind.type} has no parameter {name!r}" + ("" if near else " that the catalogue knows"),
                         f"did you mean {near[0]}?" if near else f"it has {', '.join(kind.parameters)}",
                         block=block, parameter=name)


def _judge_value(kind: BlockType, name: str, value: str) -> Iterator[_Judgement]:
    default = kind.parameters.get(name, "")
    if value in _PYTHON:
        yield "error", f"{value} is Python, not MATLAB", f"write {_PYTHON[value] or 'a value'!r} in quotes"
    elif default in ("on", "off"):
        if value not in ("on", "off"):
            yield "error", f"{value!r} is neither on nor off", f"write {_TRUTH.get(value.lower(), 'on or off')}"
    elif name == "GotoTag" and not _TAG.fullmatch(value):
        yield "error", f"{value!r} is no tag", "a tag is a letter and then letters, digits and _"
    elif choices := _choices(kind, name):
        yield from _judge_choice(kind, name, value, choices)
    elif not value.strip() and default:
        yield "error", f"{name} is empty", f"give a value, such as {default}"


def _choices(kind: BlockType, name: str) -> list[str]:
    """The values of a parameter that chooses: what decides about ports, or what display names stand for."""
    of_ports = [value for port in kind.ports if name in port.when for value in _values(port.when[name])]
    shown = [parameters[name] for parameters in kind.display.values() if name in parameters] if name in _CHOICES else []
    shown += _RELATIONS if name == "relop" else []
    return list(dict.fromkeys([kind.parameters.get(name, ""), *of_ports, *shown])) if of_ports or shown else []


def _judge_choice(kind: BlockType, name: str, value: str, choices: Sequence[str]) -> Iterator[_Judgement]:
    if value in choices:
        return
    same = [one for one in choices if one.lower() == value.strip().lower()]
    shown = [parameters[name] for display, parameters in kind.display.items()
             if name in parameters and display.lower() == value.strip().lower()]
    if meant := next(iter(same + shown), None):
        yield "error", f"{value!r} is no {name} of {kind.type}", f"write {meant}"
    else:
        yield "warning", f"{value!r} is no {name} of {kind.type} that the catalogue knows", \
            f"known: {', '.join(filter(None, choices))}"


def _find_missing(part: Part, *, is_complete: bool) -> Iterator[DiagramFinding]:
    kind = part.kind
    if kind is None:
        return
    severity: Severity = "error" if is_complete else "remark"
    for name in (*_CHOICES, "GotoTag"):
        if name in kind.parameters and name not in part.given and (
                name == "GotoTag" or len(_choices(kind, name)) > 1):
            yield DiagramFinding("parameters", severity, f"{part.name} says no {name}, which decides what it does",
                                 f"give {name}; without it MATLAB takes {kind.parameters[name]}",
                                 block=part.name, parameter=name)
    if is_complete and kind.block_type == "Sum" and "Inputs" not in part.given:
        yield DiagramFinding("parameters", "warning", f"{part.name} does not say its signs",
                             f"give Inputs, such as +-; without it MATLAB takes {kind.parameters.get('Inputs', '++')}",
                             block=part.name, parameter="Inputs")


def _check_counts(part: Part, wires: Sequence[Wire]) -> Iterator[DiagramFinding]:
    """Parameters that say how many ports there are, against what they may say and the ports that lines use."""
    for record in part.kind.ports if part.kind else ():
        name = record.count
        if name is None or not _is_there(record.when, part.values):
            continue
        value = part.values.get(name, "").strip()
        if problem := _judge_count(part.kind.block_type if part.kind else "", value):
            yield DiagramFinding("parameters", "error", f"{name} is {value!r}: {problem[0]}", problem[1],
                                 block=part.name, parameter=name)
        elif part.ports is not None:
            yield from _find_excess(part, name, value, record.direction, wires)


def _is_there(when: Mapping[str, str | list[str]], values: Mapping[str, str]) -> bool:
    return all(values.get(name) in _values(wanted) for name, wanted in when.items())


def _values(wanted: str | list[str]) -> list[str]:
    return [wanted] if isinstance(wanted, str) else wanted


def _judge_count(block_type: str, value: str) -> tuple[str, str] | None:
    signs = {"Sum": "+-|", "Product": "*/|"}.get(block_type, "")
    if count_of(value) is None:
        return "that says no number of ports", "write signs, such as +-, or a number" if signs else "write a number"
    if count_of(value) == 0:
        return "that is no port", "write a number from 1"
    if set(value) <= set("+-*/|") and not set(value) <= set(signs):
        return "these are no signs of this block", f"it takes {' '.join(signs)}" if signs else "write a number"
    return None


def _find_excess(part: Part, name: str, value: str, direction: str, wires: Sequence[Wire]) -> Iterator[DiagramFinding]:
    there = {one.name for one in part.ports or () if one.direction == direction and not one.is_physical}
    ends = [wire.target if direction == "in" else wire.source for wire in wires if not wire.is_physical]
    beyond = sorted({end.port for end in ends if end.block == part.name and end.port.isdecimal()} - there, key=int)
    if beyond:
        row = "input" if direction == "in" else "output"
        many = f"one {row}" if len(there) == 1 else f"{len(there)} {row}s"
        yield DiagramFinding("parameters", "error", f"{name} is {value!r}, {many}, but the connections use "
                             f"{', '.join(beyond)}", f"let {name} say all {row}s that are used, or mend the "
                             "connections", block=part.name, parameter=name)
