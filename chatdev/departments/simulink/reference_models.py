"""The models that companies are measured on: ours, with the counts of SimuGen's Table 1, and more of growing size."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.departments.simulink.diagram import Diagram
from chatdev.errors import ConfigError

FOLDER = Path(__file__).with_name("models")
Domain = Literal["control", "mechanics", "electrical", "events", "discrete"]
Half = Literal["open", "unseen"]
"""Unseen models are judged once, at the end; nobody looks at them before."""


@dataclass(frozen=True, slots=True)
class ReferenceModel:
    """A model that is to be made again. `explanation` is what a user writes beside its picture, or instead of one;
    `paper` the example of SimuGen that has its counts, or empty; `simulation` is how it is simulated, as an acceptance
    says it."""

    name: str
    domain: str
    half: str
    explanation: str
    paper: str
    diagram: Diagram
    simulation: Mapping[str, Any] = field(default_factory=dict)


class _Entry(StrictModel):
    name: str = Field(min_length=1)
    domain: Domain
    set: Half
    explanation: str = Field(min_length=1)
    paper: str = ""
    simulation: dict[str, Any] = Field(default_factory=dict)


class _Index(StrictModel):
    models: list[_Entry] = Field(min_length=1)


def read_reference_models(folder: Path) -> dict[str, ReferenceModel]:
    """The models of a folder, by name, in the order of its index. Raises ConfigError."""
    index = folder / "index.yaml"
    entries = validate_node(_Index, read(index)).models
    found = {entry.name: _read_model(folder, entry) for entry in entries}
    if len(found) < len(entries):
        raise ConfigError(f"{index}: two models have the same name; rename one of them")
    return found


def _read_model(folder: Path, entry: _Entry) -> ReferenceModel:
    path = folder / f"{entry.name}.yaml"
    diagram = Diagram.read(path)
    if diagram.name != entry.name:
        raise ConfigError(f"{path}: it is named {diagram.name!r}; name it {entry.name!r}, as the index does")
    return ReferenceModel(entry.name, entry.domain, entry.set, entry.explanation, entry.paper, diagram,
                          entry.simulation)


@functools.cache
def reference_models() -> Mapping[str, ReferenceModel]:
    """The models that come with the package."""
    return MappingProxyType(read_reference_models(FOLDER))
