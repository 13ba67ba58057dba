"""A phase as it runs: what its YAML leaves to the model's sizes and to the values at hand is put in.

`solution.most` may be the name of a size, and `solution.as_file` a template. What comes of the template is the name of
a file that is written, whoever said the values in it: it is checked like one that stands in the YAML.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from chatdev.config.phases import Phase
from chatdev.config.profiles import Sizes
from chatdev.config.templates import render
from chatdev.errors import ConfigError, UnsafePath
from chatdev.workspace.acting import reason_to_withhold
from chatdev.workspace.snapshot import safe_path


def settle(phase: Phase, values: Mapping[str, Any], sizes: Sizes) -> Phase:
    """The phase with a number for the name of a size, and with the name of its one file. Raises ConfigError for a name
    that cannot be rendered, or that no file of the software can have."""
    solution, found = phase.solution, dict[str, Any]()
    if isinstance(solution.most, str):
        found["most"] = sizes.number(solution.most)
    if solution.as_file and is_template(solution.as_file):
        found["as_file"] = _file_named(solution.as_file, values)
    return phase.model_copy(update={"solution": solution.model_copy(update=found)}) if found else phase


def is_template(name: str) -> bool:
    """Whether a file's name still has to be rendered."""
    return "{" in name


def unsafe_name(name: str) -> str:
    """Reason why no file of the software can have this name (wildcards count as letters); empty if one can."""
    try:
        plain = safe_path(re.sub(r"[*?\[\]]", "x", name))
    except UnsafePath as problem:
        return str(problem)
    if why := reason_to_withhold(plain):
        return f"{name!r} may not be written: {why}"
    return "" if len(plain) == len(name) else f"{name!r} is not in its plain form"


def _file_named(template: str, values: Mapping[str, Any]) -> str:
    name = render(template, values, "solution.as_file").strip()
    if problem := unsafe_name(name):
        raise ConfigError(f"solution.as_file: {problem}; a phase without a file to write is left out by `when`")
    return name
