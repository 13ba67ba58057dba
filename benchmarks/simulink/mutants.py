"""Ways to spoil a right model, as agents do: each kind with the check that has to tell it.

A mutant is an investigation (`checks.read_investigation`), made of a model's own.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, End, Wire
from chatdev.departments.simulink.parts import Part, make_parts

Investigation = dict[str, Any]
Spoiler = Callable[[Diagram, dict[str, Part]], Iterator[Investigation]]
KINDS: dict[str, tuple[str, Spoiler]] = {}
"""Each kind with the check that tells it, and what makes all its mutants of a model."""


def investigation_of(model: Diagram) -> Investigation:
    """What a perfect investigator would write down of a model."""
    return {"blocks": [{"name": name, "type": block.type, "parameters": dict(block.parameters)}
                       for name, block in model.blocks.items()],
            "connections": [str(wire) for wire in model.wires]}


def mutants(model: Diagram, seed: int = 0, most: int = 3) -> Iterator[tuple[str, str, Investigation]]:
    """Kind, check and mutant; at most so many of each kind, taken by lot."""
    parts = make_parts(model)
    lots = random.Random(seed)
    for kind, (check, spoil) in KINDS.items():
        found = list(spoil(model, parts))
        yield from ((kind, check, one) for one in lots.sample(found, min(most, len(found))))


def _kind(name: str, check: str) -> Callable[[Spoiler], Spoiler]:
    def add(spoil: Spoiler) -> Spoiler:
        KINDS[name] = check, spoil
        return spoil
    return add


def _with_wires(model: Diagram, wires: list[Wire | str]) -> Investigation:
    return investigation_of(model) | {"connections": list(map(str, wires))}


def _with_block(model: Diagram, name: str, /, **changes: Any) -> Investigation:
    found = investigation_of(model)
    found["blocks"] = [block | changes if block["name"] == name else block for block in found["blocks"]]
    return found


def _with_parameter(model: Diagram, name: str, parameter: str, value: Any) -> Investigation:
    return _with_block(model, name, parameters={**model.blocks[name].parameters, parameter: value})


@_kind("a block is left out", "format")
def _drop_block(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name in {end.block for wire in model.wires for end in wire}:
        found = investigation_of(model)
        found["blocks"] = [block for block in found["blocks"] if block["name"] != name]
        yield found


@_kind("a block is there that nothing uses", "extra blocks")
def _add_block(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name in model.blocks:
        found = investigation_of(model)
        extra = next(block for block in found["blocks"] if block["name"] == name)
        found["blocks"].append(copy.deepcopy(extra) | {"name": f"{name} again"})
        yield found


@_kind("a block is there twice", "duplicates")
def _double_block(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for block in investigation_of(model)["blocks"]:
        found = investigation_of(model)
        found["blocks"].append(block)
        yield found


@_kind("a block does what another does", "extra blocks")
def _double_work(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, block in model.blocks.items():
        into = [wire for wire in model.wires if wire.target.block == name and not wire.is_physical]
        if into and block.type not in ("Out1", "Goto"):
            found = investigation_of(model)
            found["blocks"].append({"name": "Twin", "type": block.type, "parameters": dict(block.parameters)})
            found["connections"] += [str(Wire(wire.source, End("Twin", wire.target.port))) for wire in into]
            yield found


@_kind("a type is invented", "block list")
def _invent_type(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    yield from (_with_block(model, name, type=f"Super {block.type}X") for name, block in model.blocks.items())


@_kind("a display name stands for the type", "block list")
def _show_type(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, part in parts.items():
        for display in part.kind.display if part.kind else ():
            if catalogue().of(display) is None:
                yield _with_block(model, name, type=display, parameters={})


@_kind("an entry is no block", "block list")
def _garble_block(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for entry in (None, "Gain", {"name": "Gain"}, {"name": 3, "type": "Gain"}, ["Gain", "Gain"]):
        found = investigation_of(model)
        found["blocks"].append(entry)
        yield found


@_kind("a connection is left out", "complete ports")
def _drop_wire(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for number, wire in enumerate(model.wires):
        rest = [*model.wires[:number], *model.wires[number + 1:]]
        used = {end for other in rest for end in other}
        lost = [end for end in (wire if wire.is_physical else wire[1:]) if end not in used]
        if any(parts[end.block].ports and any(other.block == end.block for other in used) for end in lost):
            yield _with_wires(model, list(rest))


@_kind("a connection is there twice", "duplicates")
def _double_wire(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for wire in model.wires:
        again = Wire(wire.target, wire.source) if wire.is_physical else wire
        yield _with_wires(model, [*model.wires, again])


@_kind("an input has two sources", "duplicates")
def _second_source(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    signals = [wire for wire in model.wires if not wire.is_physical]
    for wire, other in zip(signals, [*signals[1:], *signals[:1]], strict=True):
        if wire.source != other.source:
            yield _with_wires(model, [*model.wires, Wire(other.source, wire.target)])


@_kind("a direction is turned round", "port types")
def _flip_wire(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for number, wire in enumerate(model.wires):
        ends = [(wire.target, "out"), (wire.source, "in")]
        if not wire.is_physical and not all(any(port.direction == wanted for port in parts[end.block].named(end.port))
                                            or _is_counted(parts[end.block], wanted) for end, wanted in ends):
            turned = Wire(wire.target, wire.source)
            yield _with_wires(model, [*model.wires[:number], turned, *model.wires[number + 1:]])


def _is_counted(part: Part, direction: str) -> bool:
    return any(port.count and port.direction == direction for port in part.kind.ports) if part.kind else True


@_kind("a port is none of the block", "port types")
def _wrong_port(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for number, wire in enumerate(model.wires):
        part = parts[wire.target.block]
        if part.ports is not None and not _is_counted(part, "in"):
            port = "LConn9" if wire.is_physical else "9"
            wrong = Wire(wire.source, End(wire.target.block, port))
            yield _with_wires(model, [*model.wires[:number], wrong, *model.wires[number + 1:]])


@_kind("a signal is joined to a terminal", "port types")
def _mix_domains(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    terminals = [end for wire in model.wires if wire.is_physical for end in wire]
    outputs = [wire.source for wire in model.wires if not wire.is_physical]
    yield from (_with_wires(model, [*model.wires, Wire(output, end)]) for output, end in
                zip(outputs, terminals, strict=False))


@_kind("ports of two physical domains are joined", "port types")
def _mix_physics(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    ends = {port.domain: End(name, port.name) for name, part in parts.items() for port in part.ports or ()
            if port.is_physical and port.domain != "any"}
    if len(ends) > 1:
        yield _with_wires(model, [*model.wires, Wire(*list(ends.values())[:2])])


@_kind("a connection names no port", "format")
def _lose_port(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for number, wire in enumerate(model.wires):
        text = f"{wire.source} -> {wire.target.block}"
        if "/" not in wire.target.block:
            yield _with_wires(model, [*model.wires[:number], text, *model.wires[number + 1:]])


@_kind("connections are written as a chain", "format")
def _chain_wires(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for first in model.wires:
        for second in model.wires:
            if first.target.block == second.source.block and not first.is_physical and not second.is_physical:
                yield _with_wires(model, [*(w for w in model.wires if w not in (first, second)),
                                          f"{first} -> {second.target}"])


@_kind("a connection names no block", "format")
def _misname_end(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for number, wire in enumerate(model.wires):
        wrong = Wire(wire.source, End(f"{wire.target.block}x", wire.target.port))
        yield _with_wires(model, [*model.wires[:number], wrong, *model.wires[number + 1:]])


@_kind("a name holds a slash", "format")
def _slash_name(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name in model.blocks:
        found = _with_block(model, name, name=f"{name}/a")
        renamed = [Wire(*(End(f"{name}/a", end.port) if end.block == name else end for end in wire))
                   for wire in model.wires]
        yield found | {"connections": list(map(str, renamed))}


@_kind("a sign is missing", "parameters")
def _drop_sign(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, part in parts.items():
        signs = part.values.get("Inputs", "")
        if set(signs) and set(signs) <= set("+-*/") and len(signs) > 1 and part.kind and part.kind.block_type in (
                "Sum", "Product"):
            yield _with_parameter(model, name, "Inputs", signs[1:])


@_kind("a sign is too many", "complete ports")
def _add_sign(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, part in parts.items():
        signs = part.values.get("Inputs", "")
        if set(signs) and set(signs) <= set("+-*/|") and part.kind and part.kind.block_type in ("Sum", "Product"):
            yield _with_parameter(model, name, "Inputs", f"{signs}{signs[-1]}")


@_kind("a choice is lost", "parameters")
def _lose_choice(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, block in model.blocks.items():
        for choice in ("Operator", "relop", "Function", "GotoTag"):
            if choice in block.parameters:
                yield _with_block(model, name, parameters={k: v for k, v in block.parameters.items() if k != choice})


@_kind("a choice is none", "parameters")
def _garble_choice(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, block in model.blocks.items():
        yield from (_with_parameter(model, name, choice, f"{block.parameters[choice]}x!") for choice in
                    ("Operator", "relop", "Function", "GotoTag") if choice in block.parameters)


@_kind("a parameter is misspelt", "parameters")
def _misspell(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, part in parts.items():
        for known in list(part.kind.parameters)[:2] if part.kind else ():
            if len(known) > 3:
                yield _with_parameter(model, name, f"{known[:-1]}{known[-1] * 2}", "1")


@_kind("a value is a boolean of Python", "parameters")
def _write_python(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for name, part in parts.items():
        switches = [known for known, value in part.kind.parameters.items() if value == "on"] if part.kind else []
        yield from (_with_parameter(model, name, known, value) for known in switches[:1] for value in ("True", True))


@_kind("a From has no Goto", "extra blocks")
def _mistag(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for _, froms in model.tags().values():
        yield from (_with_parameter(model, name, "GotoTag", "Elsewhere") for name in froms)


@_kind("two Goto blocks have one tag", "duplicates")
def _share_tag(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    tags = [(tag, gotos[0]) for tag, (gotos, _) in model.tags().items() if gotos]
    yield from (_with_parameter(model, name, "GotoTag", tag) for (tag, _), (_, name) in pairwise(tags))


def _without_type(model: Diagram, kind: str) -> Iterator[Investigation]:
    gone = {name for name, block in model.blocks.items() if block.type == kind}
    if gone:
        found = investigation_of(model)
        found["blocks"] = [block for block in found["blocks"] if block["name"] not in gone]
        found["connections"] = [str(wire) for wire in model.wires if not gone & {end.block for end in wire}]
        yield found


@_kind("no Solver Configuration", "complete ports")
def _drop_solver(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    return _without_type(model, "Solver Configuration")


@_kind("no Electrical Reference", "complete ports")
def _drop_reference(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    return _without_type(model, "Electrical Reference")


@_kind("two Solver Configurations", "complete ports")
def _double_solver(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    for wire in model.wires:
        for end in wire:
            if wire.is_physical and parts[end.block].kind and model.blocks[end.block].type == "Solver Configuration":
                found = investigation_of(model)
                found["blocks"].append({"name": "Solver 2", "type": "Solver Configuration"})
                found["connections"].append(str(Wire(End("Solver 2", "RConn1"), end)))
                yield found


@_kind("a line joins a net to itself", "nets")
def _close_net(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    drawn = {frozenset(wire) for wire in model.wires}
    for net in model.nets():
        ends = sorted(net)
        yield from (_with_wires(model, [*model.wires, Wire(one, other)]) for one in ends for other in ends
                    if one < other and frozenset((one, other)) not in drawn)


@_kind("a line joins two nets", "nets")
def _join_nets(model: Diagram, parts: dict[str, Part]) -> Iterator[Investigation]:
    nets = [sorted(net) for net in model.nets()]
    yield from (_with_wires(model, [*model.wires, Wire(one[0], other[0])]) for one, other in pairwise(nets))
