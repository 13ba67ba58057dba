"""What the agents agree on: an investigation, which is the model as JSON values.

`{"model": name, "about": text, "blocks": [{"name", "type", "parameters"}], "connections": ["A/1 -> B/1", …]}`. A
display name in it stands for its block and parameters; a model that is given keeps its positions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chatdev.departments.simulink.catalogue import block_finder
from chatdev.departments.simulink.checks import read_investigation
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, matlab_text
from chatdev.departments.simulink.files.package import is_classic_text
from chatdev.departments.simulink.files.reader import read_data
from chatdev.departments.simulink.wiring_checks import order_wires
from chatdev.errors import ConfigError, ToolError
from chatdev.paths import data_of
from chatdev.replies import Unreadable
from chatdev.replies.forms import read_json

MODEL = "model"
"""What a model is called for which nobody has a name."""
_NO_NAME = re.compile(r"\W+", re.ASCII)
_LONGEST = 63  # characters that MATLAB lets a name have


def read_given(text: str, name: str) -> dict[str, Any]:
    """The investigation in what a user hands in: the text form of a model, JSON, or a list of blocks in JSON. `name` is
    that of the input. Raises ToolError."""
    is_json = text.lstrip().startswith(("{", "["))
    value = _read_json(text, name) if is_json else to_investigation(parse_model(text, name))
    if isinstance(value, list):
        value = {"blocks": [{"name": one, "type": one} if isinstance(one, str) else one for one in value]}
    unreadable = [one for one in read_investigation(value).findings if one.check in ("block list", "format")]
    if unreadable:
        raise ToolError(f"the input `{name}`: {unreadable[0].message}; {unreadable[0].fix}")
    if not value.get("blocks"):
        raise ToolError(f"the input `{name}` has no blocks; list at least one")
    return {"model": MODEL, **value}


def _read_json(text: str, name: str) -> Any:
    try:
        return read_json(text, {})
    except Unreadable as error:
        raise ToolError(f"the input `{name}` is no JSON: {error}; write it as JSON, or in the text form of a "
                        "model") from None


def parse_model(text: str, name: str) -> Diagram:
    """The model in an input: in its text form, or a file of Simulink. Raises ToolError, which names input, line and
    field."""
    place = f"the input `{name}`"
    try:
        if found := data_of(text):
            return read_data(found[1], found[0].rpartition(".")[0] or "model", place)[0]
        return read_data(text.encode(), "model", place)[0] if is_classic_text(text) else Diagram.parse(text, place)
    except ConfigError as error:
        raise ToolError(str(error)) from None


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
    return {**investigation, "blocks": [settle_block(block) for block in investigation["blocks"]]}


def settle_block(block: Any) -> Any:
    """A block of an investigation, the same way."""
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
