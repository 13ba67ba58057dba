"""The reviewer's eight checks as code: over a model, or over what an investigator wrote down of a picture.

An investigation is `{"blocks": [{"name", "type", "parameters"}], "connections": ["A/1 -> B/1", …]}`. Whatever is wrong
with it is a finding, and the checks go on with the rest.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from chatdev.departments.simulink.catalogue import EXACT, BlockType, Candidate, Catalogue, Found
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire, matlab_text
from chatdev.departments.simulink.hierarchy import (
    block_type_of,
    join_path,
    join_systems,
    outer_ports,
    systems,
    visible_tags,
)
from chatdev.departments.simulink.parts import CHECKS, DiagramFinding, Part, Severity, make_parts, nearest
from chatdev.departments.simulink.ports import count_of, is_physical_name, names_of
from chatdev.departments.simulink.wiring_checks import (
    check_completeness,
    check_duplicates,
    check_names,
    check_nets,
    check_networks,
    check_port_types,
)
from chatdev.errors import ConfigError
from chatdev.tools.base import ToolContext, Verdict, render_file, tool

_MOST_TAGS = 20
"""Tags that a finding lists."""
_MOST = 5000
"""Blocks, and connections, of an investigation that are looked at."""
_BLOCK = '{"name": "Gain1", "type": "Gain", "parameters": {"Gain": "2"}}'


def check_diagram(model: Diagram, known: Catalogue | None = None, *, is_complete: bool = False) -> list[DiagramFinding]:
    """What the eight checks find in a model, in their order. `is_complete` says that a parameter which is not given is
    an omission (of an agent, say), and not the default of MATLAB."""
    tags = visible_tags(model)
    found = [*chain.from_iterable(_check_system(path, system, known, tags[path], is_complete=is_complete)
                                  for path, system in systems(model))]
    try:
        flat = join_systems(model)
    except ValueError:
        return sort_findings(found)  # ports that contradict each other: said by then
    return sort_findings([*found, *check_networks(flat, make_parts(flat, known))])


def _check_system(path: tuple[str, ...], system: Diagram, known: Catalogue | None, outer_tags: Set[str], *,
                  is_complete: bool) -> Iterator[DiagramFinding]:
    """What the checks find in one system, with the paths of blocks inside subsystems."""
    parts = make_parts(system, known)
    written = {name: block.parameters for name, block in system.blocks.items()}
    found = chain(
        check_types(parts) if parts or not path else (), check_extras(system, parts, outer_tags), check_names(system),
        check_systems(system), check_parameters(parts, written, system.wires, is_complete=is_complete),
        check_duplicates(system), check_port_types(system, parts), check_completeness(system, parts),
        check_nets(system))
    for one in found:
        yield replace(one, system=join_path(*path), block=join_path(*path, one.block) if one.block else "") if (
            path) else one


def check_systems(system: Diagram) -> Iterator[DiagramFinding]:
    """Blocks whose ports inside contradict each other, and systems in blocks that hold none."""
    for name, block in system.blocks.items():
        if block.system is None:
            continue
        try:
            outer_ports(block.system)
        except ValueError as error:
            yield DiagramFinding("parameters", "error", str(error), "mend the blocks that are its ports", block=name)
        if block_type_of(block) not in ("SubSystem", ""):
            yield DiagramFinding("block list", "error", f"{name} is a {block.type}, which holds no system",
                                 "let it be a Subsystem, or leave its `system` out", block=name)


def check_investigation(value: Any, known: Catalogue | None = None) -> list[DiagramFinding]:
    """What the eight checks find in an investigation, whatever it is; nothing is raised."""
    read = read_investigation(value)
    return sort_findings([*read.findings, *check_diagram(read.model, known, is_complete=True)])


def sort_findings(findings: Iterable[DiagramFinding]) -> list[DiagramFinding]:
    """By check, and then as they were found; none twice."""
    return sorted(dict.fromkeys(findings), key=lambda one: CHECKS.index(one.check))


@dataclass(frozen=True, slots=True)
class ReadInvestigation:
    """What can be read of an investigation, and what cannot."""

    model: Diagram
    findings: list[DiagramFinding] = field(default_factory=list)


def read_investigation(value: Any, name: str = "model") -> ReadInvestigation:
    """The model that an investigation describes, as far as it can be read; `name` is that of the model."""
    findings: list[DiagramFinding] = []
    if not isinstance(value, Mapping):
        findings.append(_report("block list", f"the investigation is {_excerpt(value)}, not an object",
                                'write {"blocks": […], "connections": […]}'))
        value = {}
    blocks = dict(_read_blocks(_take_list(value, "blocks", findings), findings))
    wires = tuple(_read_wires(_take_list(value, "connections", findings), findings))
    return ReadInvestigation(Diagram(name, blocks, wires), findings)


def _take_list(value: Mapping[Any, Any], key: str, findings: list[DiagramFinding]) -> list[Any]:
    check = "block list" if key == "blocks" else "format"
    found = value.get(key, [])
    if not isinstance(found, list | tuple):
        findings.append(_report(check, f"`{key}` is {_excerpt(found)}, not a list", f"write {key} as a list"))
        return []
    if len(found) > _MOST:
        findings.append(_report(check, f"`{key}` has {len(found)} entries; only {_MOST} are looked at",
                                "leave out what the picture does not show"))
    return list(found[:_MOST])


def _read_blocks(entries: list[Any], findings: list[DiagramFinding]) -> Iterator[tuple[str, DiagramBlock]]:
    names = Counter[str]()
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            findings.append(_report("block list", f"block {number} is {_excerpt(entry)}", f"write it as {_BLOCK}"))
            continue
        name, kind = entry.get("name"), entry.get("type")
        if not isinstance(name, str) or not name.strip() or not isinstance(kind, str) or not kind.strip():
            findings.append(_report("block list", f"block {number} has the name {_excerpt(name)} and the type "
                                    f"{_excerpt(kind)}", f"both are texts; write it as {_BLOCK}"))
            continue
        names[name] += 1
        if names[name] > 1:
            findings.append(DiagramFinding("duplicates", "error", f"{name} is the name of block {number} and of an "
                                           "earlier one", "name each block differently, or remove one", block=name))
            continue
        parameters = dict(_read_parameters(name, entry.get("parameters"), findings))
        try:
            yield name, DiagramBlock(kind.strip(), parameters)
        except ValueError as error:
            findings.append(DiagramFinding("block list", "error", str(error), "write it anew", block=name))


def _read_parameters(block: str, given: Any, findings: list[DiagramFinding]) -> Iterator[tuple[str, str]]:
    if given is None:
        return
    if not isinstance(given, Mapping):
        findings.append(DiagramFinding("parameters", "error", f"the parameters are {_excerpt(given)}, not an object",
                                       'write {"Gain": "2"}', block=block))
        return
    for name, value in given.items():
        try:
            text = matlab_text(value)
        except ValueError as error:
            findings.append(DiagramFinding("parameters", "error", str(error), "give a text or a number", block=block,
                                           parameter=str(name)))
            continue
        if isinstance(value, bool):
            findings.append(DiagramFinding("parameters", "error", f"{value} is Python, not MATLAB",
                                           f"write {text!r} in quotes", block=block, parameter=str(name)))
        yield str(name), text


def _read_wires(entries: list[Any], findings: list[DiagramFinding]) -> Iterator[Wire]:
    for number, entry in enumerate(entries, 1):
        try:
            wire = Wire.read(entry) if isinstance(entry, str) else None
            Diagram("model", wires=(wire,) if wire else ())  # no half characters
        except ValueError as error:
            findings.append(DiagramFinding("format", "error", str(error), "write it as Name/port -> Name/port",
                                           connection=f"{entry:.80}"))
            continue
        if wire is None:
            findings.append(_report("format", f"connection {number} is {_excerpt(entry)}",
                                    'write it as "Gain1/1 -> Scope1/1"'))
            continue
        findings += _judge_sign(entry, wire)
        yield wire


def _judge_sign(text: str, wire: Wire) -> Iterator[DiagramFinding]:
    is_physical = [is_physical_name(end.port) for end in wire]
    if all(is_physical) and "--" not in text:
        yield DiagramFinding("format", "warning", "a physical line has no direction", f"write {wire}",
                             connection=str(wire))
    elif not any(is_physical) and "->" not in text:
        yield DiagramFinding("format", "warning", "`--` joins physical ports; a signal has a direction",
                             f"write {wire} if it leads this way", connection=str(wire))


def _report(check: str, message: str, fix: str) -> DiagramFinding:
    return DiagramFinding(check, "error", message, fix)


def _excerpt(value: Any) -> str:
    text = repr(value)
    return "missing" if value is None else text if len(text) <= 60 else f"{text[:57]}…"


# The tool `simulink.check`.

MODEL_FILE = "model.yaml"
"""The text form of a model in the software."""
_REPORT = Path(__file__).with_name("findings.j2")
_MOST_SHOWN = 40
"""Findings that an agent is told at once."""


@tool(reads=("investigation?", "software?"), name="simulink.check")
def check(context: ToolContext) -> Verdict:
    """Check the blocks and connections that were found in a picture, or else the model in `model.yaml`: block list,
    extra blocks, format, parameters, duplicates, port types, complete ports, nets.

    Passes without errors; warnings and remarks are told, too. `findings` of the verdict are all of them.
    """
    if (investigation := context.values.get("investigation")) is not None:
        return judge_findings(check_investigation(investigation))
    if (data := context.software.get(MODEL_FILE)) is None:
        return Verdict(False, f"There is nothing to check: no investigation, and no {MODEL_FILE}.")
    try:
        model = Diagram.parse(data.decode("utf-8"), MODEL_FILE)
    except UnicodeDecodeError as error:
        return Verdict(False, f"{MODEL_FILE} is not UTF-8 (see byte {error.start}); write it in that encoding.")
    except ConfigError as error:
        return Verdict(False, str(error))
    return judge_findings(check_diagram(model))


def judge_findings(findings: Sequence[DiagramFinding]) -> Verdict:
    """The verdict on what has these findings; `score` falls with each error, and a little with each warning."""
    errors, warnings = (sum(one.severity == severity for one in findings) for severity in ("error", "warning"))
    report = render_file(_REPORT, findings=findings[:_MOST_SHOWN], more=len(findings[_MOST_SHOWN:]), errors=errors)
    return Verdict(not errors, report, 1 / (1 + errors + warnings / 1000), {"findings": list(map(as_plain, findings))})


def as_plain(finding: DiagramFinding) -> Mapping[str, Any]:
    """A finding as JSON values."""
    return {**asdict(finding), "place": finding.place}


# The checks of blocks: are their types known, is each needed, are its parameters such as there are?

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


def check_extras(model: Diagram, parts: Mapping[str, Part], outer_tags: Set[str] = frozenset()
                 ) -> Iterator[DiagramFinding]:
    """Blocks that nothing uses: without any line, with a tag that nobody shares (in other systems, either, where it
    reaches there: `outer_tags`), or that do what another does."""
    used = {end.block for wire in model.wires for end in wire}
    for part in parts.values():
        if part.name not in used and part.ports != ():
            yield DiagramFinding("extra blocks", "warning", f"{part.name} is connected to nothing",
                                 "connect it, or remove it if the picture does not show it", block=part.name)
    yield from _check_tags(model, outer_tags)
    yield from _find_doubles(model, parts)


def _check_tags(model: Diagram, outer_tags: Set[str]) -> Iterator[DiagramFinding]:
    rows: tuple[tuple[int, Severity, str], ...] = ((0, "warning", "From"), (1, "error", "Goto"))
    tags = model.tags()
    for row, severity, what in rows:
        others = ", ".join(islice((f"{tag!r}" for tag, blocks in tags.items() if blocks[1 - row]), _MOST_TAGS))
        mend = f"add the {what} block" + (f", or mend the tag; tags of {what} blocks: {others}" if others else "")
        for tag, blocks in tags.items():
            for name in () if blocks[1 - row] or tag in outer_tags else blocks[row]:
                yield DiagramFinding("extra blocks", severity, f"no {what} has the tag {tag!r} of {name}",
                                     mend, block=name, parameter="GotoTag")


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
        yield from _find_missing(part, part.kind, is_complete=is_complete)
        yield from _find_missing_signs(part, part.kind) if is_complete else ()
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


def _find_missing(part: Part, kind: BlockType, *, is_complete: bool) -> Iterator[DiagramFinding]:
    deciding = [name for name in (*_CHOICES, "GotoTag") if name in kind.parameters and name not in part.given]
    for name in deciding:
        if name == "GotoTag" or len(_choices(kind, name)) > 1:
            yield DiagramFinding("parameters", "error" if is_complete else "remark",
                                 f"{part.name} says no {name}, which decides what it does",
                                 f"give {name}; without it MATLAB takes {kind.parameters[name]}",
                                 block=part.name, parameter=name)


def _find_missing_signs(part: Part, kind: BlockType) -> Iterator[DiagramFinding]:
    if kind.block_type == "Sum" and "Inputs" not in part.given:
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
        if problem := _judge_count(part, value, may_be_names=record.names):
            yield DiagramFinding("parameters", "error", f"{name} is {value!r}: {problem[0]}", problem[1],
                                 block=part.name, parameter=name)
        elif part.ports is not None:
            yield from _find_excess(part, name, value, record.direction, wires)


def _is_there(when: Mapping[str, str | list[str]], values: Mapping[str, str]) -> bool:
    return all(values.get(name) in _values(wanted) for name, wanted in when.items())


def _values(wanted: str | list[str]) -> list[str]:
    return [wanted] if isinstance(wanted, str) else wanted


def _judge_count(part: Part, value: str, *, may_be_names: bool) -> tuple[str, str] | None:
    signs = {"Sum": "+-|", "Product": "*/|"}.get(part.kind.block_type if part.kind else "", "")
    if may_be_names and names_of(value):
        return None
    if count_of(value) is None:
        return "that says no number of ports", "write signs, such as +-, or a number" if signs else "write a number"
    if count_of(value) == 0:
        return "that is no port", "write a number from 1"
    if set(value) <= set("+-*/|") and not set(value) <= set(signs):
        return "these are no signs of this block", f"it takes {' '.join(signs)}" if signs else "write a number"
    return None


def _find_excess(part: Part, name: str, value: str, direction: str, wires: Sequence[Wire]) -> Iterator[DiagramFinding]:
    row, side = ("input", 1) if direction == "in" else ("output", 0)
    there = {one.name for one in part.ports or () if one.direction == direction}
    used = {wire[side].port for wire in wires if wire[side].block == part.name and not wire.is_physical}
    if beyond := sorted(filter(str.isdecimal, used - there), key=int):
        many = f"one {row}" if len(there) == 1 else f"{len(there)} {row}s"
        yield DiagramFinding("parameters", "error", f"{name} is {value!r}, {many}, but the connections use "
                             f"{', '.join(beyond)}", f"let {name} say all {row}s that are used, or mend the "
                             "connections", block=part.name, parameter=name)
