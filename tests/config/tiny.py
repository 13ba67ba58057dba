"""A small company for tests, and variations of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from chatdev.config.check_company import ToolFacts
from chatdev.config.load import load_company
from chatdev.config.schema import CompanyConfig
from chatdev.config.yaml_nodes import Key
from chatdev.errors import ConfigError

TINY = """\
company: tiny
about: A company for tests.
background: A small company.
inputs:
  task: {about: What to build., required: true}
  style: {default: plain}
  sketch: {kind: image}
  bench: {kind: file, hidden: true}
roles:
  boss: {title: Boss, prompt: "You answer for {{ task }}."}
  coder: {title: Coder, prompt: You write., tools: [docs.find]}
phases:
  planning:
    about: Plan the work.
    instructor: boss
    assistant: coder
    reads: [task]
    writes: plan
    opening: Plan {{ task }}.
  coding:
    about: Write the program.
    instructor: boss
    assistant: coder
    reads: [task, plan, "software?"]
    writes: software
    solution: {form: files}
    feedback: software.run
    guidance: {assistant: "Follow {{ plan }}."}
    opening: "Build {{ task }} by {{ plan }}. {% if software %}{{ software | listing }}{% endif %}{{ feedback.report }}"
chain:
  - phase: planning
  - phase: coding
  - {tool: software.run, writes: test}
success: test.passed
"""

TOOLS = {facts.name: facts for facts in (
    ToolFacts("software.run", ("software",)), ToolFacts("docs.find"), ToolFacts("docs.read", ("plan",)),
    ToolFacts("docs.make", ("plan?",), writes_files=True),
)}


def tiny(folder: Path, changes: str = "") -> Path:
    """The YAML file of the tiny company below `folder`, or of one that extends it with `changes`."""
    own = folder / "own"
    base = own / "tiny" if changes else folder / "tiny"
    base.mkdir(parents=True, exist_ok=True)
    (base / "company.yaml").write_text(TINY, encoding="utf-8")
    if not changes:
        return base / "company.yaml"
    (own / "company.yaml").write_text(f"extends: tiny\n{changes}\n", encoding="utf-8")
    return own / "company.yaml"


def loaded(folder: Path, changes: str = "") -> CompanyConfig:
    """The tiny company with `changes`, checked with its tools."""
    return load_company(tiny(folder, changes), tools=TOOLS)


def refused(folder: Path, changes: str) -> str:
    """The lines of the refusal, without the folder."""
    with pytest.raises(ConfigError) as error:
        loaded(folder, changes)
    return str(error.value).replace(f"{folder}/", "")


def paths(value: Any, path: tuple[Key, ...] = ()) -> list[tuple[Key, ...]]:
    """Every key path of a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, inner in items for found in paths(inner, (*path, key)))]
