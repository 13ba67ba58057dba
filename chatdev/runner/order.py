"""What a run is asked to do, as its journal keeps it: with the record of the replies it can be done again anywhere."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from chatdev.config.profiles import ModelProfile
from chatdev.llm.base import Image
from chatdev.runner.options import RunOptions
from chatdev.secrets import PLACEHOLDER

_KEPT = ("model", "base_url", "sandbox", "language", "install", "runtime")
"""The options that a run which is gone on with has again."""


@dataclass(frozen=True, slots=True)
class Order:
    """Everything that shapes a run but the replies of models and tools.

    `company` is the resolved YAML and `source` how it was loaded (`name`, `sets`, `without`; empty: from nowhere).
    `inputs` holds all values, hidden ones too. `software` and `values` are what there is at the start: files, and
    long-term memory. `profiles` are those of the models in it, by which a replay goes whatever they are later.
    """

    company: str
    source: Mapping[str, Any]
    inputs: Mapping[str, Any]
    images: Mapping[str, Image] = field(default_factory=dict)
    software: Mapping[str, bytes] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    profiles: Sequence[ModelProfile] = ()

    def filled(self, options: RunOptions) -> RunOptions:
        """`options`, the unset ones among them as they were when the order was given."""
        known = {option.name for option in fields(RunOptions)}
        return replace(options, **{name: value for name, value in self.options.items()
                                   if name in known and getattr(options, name) is None
                                   and PLACEHOLDER not in str(value)})  # an address with a password is given anew

    def to_record(self) -> dict[str, Any]:
        """The order as plain JSON values; bytes in base64."""
        return {
            "company": self.company, "source": dict(self.source), "inputs": dict(self.inputs),
            "images": {name: [image.media_type, b64encode(image.data).decode()] for name, image in self.images.items()},
            "software": {path: b64encode(data).decode() for path, data in self.software.items()},
            "values": dict(self.values), "options": dict(self.options),
            "profiles": [profile.model_dump() for profile in self.profiles],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Order:
        """The order that `to_record` wrote. Raises KeyError, TypeError or ValueError for anything else."""
        images = {name: Image(b64decode(data), media_type) for name, (media_type, data) in record["images"].items()}
        software = {path: b64decode(data) for path, data in record["software"].items()}
        profiles = [ModelProfile.model_validate(profile) for profile in record["profiles"]]
        return cls(record["company"], record["source"], record["inputs"], images, software, record["values"],
                   record["options"], profiles)


def kept(options: RunOptions) -> dict[str, Any]:
    """The options that an order keeps."""
    return {name: value for name in _KEPT if (value := getattr(options, name, None)) is not None}
