"""Models as JSON: the list of blocks and connections that agents agree on, with all else that the text form has.

`{"model": name, "blocks": [{"name", "type", "parameters", "position", "system"}], "connections": ["A/1 -> B/1", …]}`; a
`system` has `blocks`, `connections` and `variables`. The text form itself, written as JSON, is read, too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from chatdev.config.yaml_nodes import Dumper, read_text
from chatdev.departments.simulink.agreement import MODEL, settle_block
from chatdev.departments.simulink.diagram import Diagram
from chatdev.errors import ConfigError

_FORM = '{"model": "name", "blocks": [{"name": "A", "type": "Gain"}], "connections": ["A/1 -> B/1"]}'


def write_list(model: Diagram) -> str:
    """The list of a model."""
    return json.dumps({"model": model.name, **_plain(model)}, ensure_ascii=False, indent=1) + "\n"


def _plain(system: Diagram) -> dict[str, Any]:
    blocks = []
    for name, block in system.blocks.items():
        rows = {"parameters": dict(block.parameters), "position": list(block.position or ()),
                "system": _plain(block.system) if block.system else None}
        blocks.append({"name": name, "type": block.type, **{key: value for key, value in rows.items() if value}})
    heading = {"about": system.about, "settings": dict(system.settings), "variables": dict(system.variables)}
    return {**{key: value for key, value in heading.items() if value}, "blocks": blocks,
            "connections": [str(wire) for wire in system.wires]}


def read_list(path: Path) -> Diagram:
    """The model of a list in a file; display names of blocks are taken as the blocks they mean. Raises ConfigError."""
    return parse_list(read_text(path), str(path))


def parse_list(text: str, name: str) -> Diagram:
    """The same of a text; `name` stands for the file in errors."""
    try:
        value = json.loads(text)
        if isinstance(value, Mapping) and isinstance(value.get("blocks"), list):
            value = {"model": value.get("model", MODEL), **_text_form(value, "")}
        form = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True)  # it takes what JSON's escapes mean
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{name}: it is no JSON: {error}; write {_FORM}") from None
    return Diagram.parse(form, name)


def _text_form(value: Mapping[str, Any], place: str) -> dict[str, Any]:
    """A system as the text form has it."""
    blocks: dict[str, Any] = {}
    for number, given in enumerate(value.get("blocks") or [], 1):
        block = settle_block({"name": given, "type": given} if isinstance(given, str) else given)
        if not isinstance(block, Mapping) or not isinstance(name := block.get("name"), str):
            raise ConfigError(f"{place}block {number} has no name; write {_FORM}")
        if name in blocks:
            raise ConfigError(f"{place}two blocks are called {name!r}; give each its own name")
        blocks[name] = _block_form(block, f"{place}{name}: ")
    rest = {key: one for key, one in value.items() if key not in ("model", "blocks", "connections")}
    return {**rest, "blocks": blocks, "lines": value.get("connections") or []}


def _block_form(block: Mapping[str, Any], place: str) -> dict[str, Any]:
    form = {key: one for key, one in block.items() if key != "name"}
    if isinstance(system := block.get("system"), Mapping):
        form["system"] = _text_form(system, place)
    return form
