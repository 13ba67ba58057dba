"""The reviewer's eight checks as code: over a model, or over what an investigator wrote down of a picture.

An investigation is `{"blocks": [{"name", "type", "parameters"}], "connections": ["A/1 -> B/1", …]}`. Whatever is wrong
with it is a finding, and the checks go on with the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from chatdev.departments.simulink.block_checks import check_extras, check_parameters, check_types
from chatdev.departments.simulink.catalogue import Catalogue
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, Wire, matlab_text
from chatdev.departments.simulink.parts import CHECKS, DiagramFinding, make_parts
from chatdev.departments.simulink.ports import is_physical_name
from chatdev.departments.simulink.wiring_checks import (
    check_completeness,
    check_duplicates,
    check_names,
    check_nets,
    check_port_types,
)

_MOST = 5000
"""Blocks, and connections, of an investigation that are looked at."""
_BLOCK = '{"name": "Gain1", "type": "Gain", "parameters": {"Gain": "2"}}'
_KEYS = ("blocks", "connections")


def check_diagram(model: Diagram, known: Catalogue | None = None, *, is_complete: bool = False) -> list[DiagramFinding]:
    """What the eight checks find in a model, in their order. `is_complete` says that a parameter which is not given is
    an omission (of an agent, say), and not the default of MATLAB."""
    parts = make_parts(model, known)
    written = {name: block.parameters for name, block in model.blocks.items()}
    return sort_findings(chain(
        check_types(parts), check_extras(model, parts), check_names(model),
        check_parameters(parts, written, model.wires, is_complete=is_complete), check_duplicates(model),
        check_port_types(model, parts), check_completeness(model, parts), check_nets(model)))


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
        findings.append(_malformed("block list", f"the investigation is {_shown(value)}, not an object",
                                   'write {"blocks": […], "connections": […]}'))
        value = {}
    blocks = dict(_read_blocks(_take_list(value, "blocks", findings), findings))
    wires = tuple(_read_wires(_take_list(value, "connections", findings), findings))
    return ReadInvestigation(Diagram(name, blocks, wires), findings)


def _take_list(value: Mapping[Any, Any], key: str, findings: list[DiagramFinding]) -> list[Any]:
    check = "block list" if key == "blocks" else "format"
    found = value.get(key, [])
    if not isinstance(found, list | tuple):
        findings.append(_malformed(check, f"`{key}` is {_shown(found)}, not a list", f"write {key} as a list"))
        return []
    if len(found) > _MOST:
        findings.append(_malformed(check, f"`{key}` has {len(found)} entries; only {_MOST} are looked at",
                                   "leave out what the picture does not show"))
    return list(found[:_MOST])


def _read_blocks(entries: list[Any], findings: list[DiagramFinding]) -> Iterator[tuple[str, DiagramBlock]]:
    names = Counter[str]()
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, Mapping):
            findings.append(_malformed("block list", f"block {number} is {_shown(entry)}", f"write it as {_BLOCK}"))
            continue
        name, kind = entry.get("name"), entry.get("type")
        if not isinstance(name, str) or not name.strip() or not isinstance(kind, str) or not kind.strip():
            findings.append(_malformed("block list", f"block {number} has the name {_shown(name)} and the type "
                                       f"{_shown(kind)}", f"both are texts; write it as {_BLOCK}"))
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
        findings.append(DiagramFinding("parameters", "error", f"the parameters are {_shown(given)}, not an object",
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
            findings.append(_malformed("format", f"connection {number} is {_shown(entry)}",
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


def _malformed(check: str, message: str, fix: str) -> DiagramFinding:
    return DiagramFinding(check, "error", message, fix)


def _shown(value: Any) -> str:
    text = repr(value)
    return "missing" if value is None else text if len(text) <= 60 else f"{text[:57]}…"
