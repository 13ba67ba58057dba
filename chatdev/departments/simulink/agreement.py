"""What the agents agree on: an investigation, which is the model as JSON values.

`{"model": name, "about": text, "blocks": [{"name", "type", "parameters"}], "connections": ["A/1 -> B/1", …]}`. A display
name in it stands for its block and parameters; a model that is given keeps its positions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chatdev.departments.simulink.checks import check_investigation, read_investigation, sort_findings
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, matlab_text
from chatdev.departments.simulink.lookup import block_finder
from chatdev.departments.simulink.parts import DiagramFinding
from chatdev.departments.simulink.wiring_checks import order_wires
from chatdev.errors import ConfigError, ToolError
from chatdev.replies import Unreadable
from chatdev.replies.values import read_json

MODEL = "model"
"""What a model is called for which nobody has a name."""
_NO_NAME = re.compile(r"\W+", re.ASCII)
_LONGEST = 63  # characters that MATLAB lets a name have


def read_given(text: str, name: str) -> dict[str, Any]:
    """The investigation in what a user hands in: the text form of a model, JSON, or a list of blocks in JSON. `name` is
    that of the input. Raises ToolError."""
    try:
        if not text.lstrip().startswith(("{", "[")):
            return to_investigation(Diagram.parse(text, f"the input `{name}`"))
        value = read_json(text, {})
    except ConfigError as error:
        raise ToolError(str(error)) from None
    except Unreadable as error:
        raise ToolError(f"the input `{name}` is no JSON: {error}; write it as JSON, or in the text form of a model") from None
    if isinstance(value, list):
        value = {"blocks": [{"name": one, "type": one} if isinstance(one, str) else one for one in value]}
    read = read_investigation(value)
    if not value.get("blocks") or any(one.check in ("block list", "format") for one in read.findings):
        found = read.findings[0] if read.findings else None
        raise ToolError(f"the input `{name}`: {found.message}; {found.fix}" if found else
                        f"the input `{name}` has no blocks; list at least one")
    return {"model": value.get("model") or MODEL, **value}


def to_investigation(model: Diagram) -> dict[str, Any]:
    """A model as an investigation."""
    return {"model": model.name, "about": model.about,
            "blocks": [{"name": name, "type": block.type, "parameters": dict(block.parameters)}
                       for name, block in model.blocks.items()],
            "connections": [str(wire) for wire in model.wires]}


def settle(investigation: Any) -> Any:
    """The investigation with every display name that is certain as its block and parameters, and truth as MATLAB writes
    it; what cannot be read stays as it is."""
    if not isinstance(investigation, Mapping) or not isinstance(investigation.get("blocks"), list):
        return investigation
    return {**investigation, "blocks": [_settle_block(block) for block in investigation["blocks"]]}


def _settle_block(block: Any) -> Any:
    if not isinstance(block, Mapping) or not isinstance(block.get("type"), str):
        return block
    sure = block_finder().find(block["type"]).sure
    given = block.get("parameters") or {}
    if not isinstance(given, Mapping):
        return block
    parameters = {name: matlab_text(value) if isinstance(value, bool) else value for name, value in given.items()}
    if sure is None:
        return {**block, "parameters": parameters}
    return {**block, "type": sure.block.type, "parameters": {**sure.parameters, **parameters}}


def agreed_model(investigation: Any, given: Diagram | None = None) -> Diagram:
    """The model that was agreed on, with the positions of the given one; its physical lines are in an order in which
    they can be drawn."""
    value = settle(investigation)
    model = read_investigation(value).model
    named = value if isinstance(value, Mapping) else {}
    places = given.blocks if given else {}
    blocks = {name: _at_place(block, places.get(name)) for name, block in model.blocks.items()}
    return Diagram(model_name(named.get("model") or (given.name if given else "")), blocks, order_wires(model.wires),
                   str(named.get("about") or (given.about if given else "")))


def model_name(text: object) -> str:
    """A name that MATLAB takes for a model, after this text."""
    name = _NO_NAME.sub("_", str(text or "")).strip("_")
    return (name if name[:1].isalpha() else f"{MODEL}_{name}".rstrip("_"))[:_LONGEST]


def _at_place(block: DiagramBlock, before: DiagramBlock | None) -> DiagramBlock:
    if before is None or settled_type(before) != settled_type(block):
        return block
    return replace(block, position=before.position)


def settled_type(block: DiagramBlock) -> str:
    """The name in the catalogue, where the type is one of its names."""
    sure = block_finder().find(block.type).sure
    return sure.block.type if sure else block.type


def review_investigation(investigation: Any, seen: Sequence[Mapping[str, Any]] = (), given: Diagram | None = None,
                         touched: Sequence[str] = ()) -> list[DiagramFinding]:
    """What is wrong with an investigation by the eight checks, by the list of blocks that were `seen` first, and by the
    `given` model, of which only the blocks that are `touched` may change."""
    value = settle(investigation)
    model = read_investigation(value).model
    return sort_findings([*check_investigation(value), *_compare_lists(seen, model),
                          *(_find_unasked(given, model, touched) if given else ())])


def _compare_lists(seen: Sequence[Mapping[str, Any]], model: Diagram) -> Iterator[DiagramFinding]:
    """Blocks of the first list that are not there, and blocks that it does not have; a block may have got another
    name."""
    blocks = {str(one.get("name")): _settle_block(one).get("type") for one in seen if isinstance(one, Mapping)}
    if not blocks:
        return
    first, now = Counter(blocks.values()), Counter(settled_type(block) for block in model.blocks.values())
    for name, kind in blocks.items():
        if name not in model.blocks and now[kind] < first[kind]:
            yield DiagramFinding("block list", "warning", f"the block {name} ({kind}) of the first list is missing",
                                 "add it with its connections, unless the picture does not show it", block=name)
    for name, block in model.blocks.items():
        if name not in blocks and now[settled_type(block)] > first[settled_type(block)]:
            yield DiagramFinding("extra blocks", "warning", f"the first list has no block {name}",
                                 "remove it, unless the picture shows it", block=name)


def _find_unasked(given: Diagram, model: Diagram, touched: Sequence[str]) -> Iterator[DiagramFinding]:
    """What is not as it was, although nobody asked for that."""
    for name, block in given.blocks.items():
        if name in touched:
            continue
        now = model.blocks.get(name)
        if now is None:
            yield DiagramFinding("block list", "error", f"the block {name} is gone, and nobody asked for that",
                                 f"give it back: {_write(name, block)}", block=name)
        elif (settled_type(now), dict(now.parameters)) != (settled_type(block), dict(block.parameters)):
            yield DiagramFinding("block list", "error", f"the block {name} is changed, and nobody asked for that",
                                 f"give it back as it was: {_write(name, block)}", block=name)
    kept = {name for name in given.blocks if name not in touched}
    wires = [{_key(wire): wire for wire in one.wires if {end.block for end in wire} <= kept} for one in (given, model)]
    for key in wires[0].keys() - wires[1].keys():
        yield DiagramFinding("block list", "error", "the connection is gone, and nobody asked for that", "give it back",
                             connection=str(wires[0][key]))
    for key in wires[1].keys() - wires[0].keys():
        yield DiagramFinding("block list", "error", "the connection is new, and nobody asked for it", "remove it",
                             connection=str(wires[1][key]))


def _key(wire: tuple[End, End]) -> object:
    return frozenset(wire) if getattr(wire, "is_physical", False) else tuple(wire)


def _write(name: str, block: DiagramBlock) -> str:
    return f"{name} is {block.type}" + (f" with {dict(block.parameters)}" if block.parameters else "")
