"""Every input of every bundled company, given to each of its tools: whichever a tool opens is declared as a place."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatdev.config.load import companies, load_company
from chatdev.config.schema import CompanyConfig
from chatdev.config.yaml_nodes import dump
from chatdev.errors import ToolError
from chatdev.runner.consent import place_inputs, tools_of
from chatdev.runner.toolbox import KnownTools
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import PlaceInput, ToolContext, tool

TOOLS = KnownTools()
COMPANIES = {one.name: load_company(one.folder, tools=TOOLS) for one in companies() if not one.problem}
CANARY = "canary-bird"
READ_BY_TEMPLATES = {"hints", "example", "patches", "develop", "first_processes"}
"""Inputs that no tool looks at."""
SOFTWARE = {"main.py": b"print(1)\n", "main.st": b"PROGRAM p\nEND_PROGRAM\n",
            "TopModule.sv": b"module TopModule(input a, output b); assign b = a; endmodule\n"}
_EXAMPLES: dict[str, Any] = {"string": "x", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}
_ACTS = ("open", "sqlite3.", "socket.", "os.", "glob.", "shutil.", "pathlib.", "tempfile.", "urllib.", "ftplib.")
_seen: list[str] | None = None


def note_event(event: str, args: tuple[Any, ...]) -> None:
    """Python tells this of whatever reaches files, databases and sockets."""
    if _seen is not None and event.startswith(_ACTS) and CANARY in repr(args):
        _seen.append(event)


sys.addaudithook(note_event)


class Watched(dict[str, Any]):
    """Inputs that know which of them were looked at."""

    def __init__(self, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.read.add(name)
        return super().get(name, default)


def forms(folder: Path) -> Iterator[str]:
    """A place, in every form that a tool might take for one."""
    file = folder / f"{CANARY}.sqlite"
    file.write_text("not what it seems")
    yield from (str(file), f"{file}#mine", f"sqlite:///{file}#mine", folder.as_uri() + f"/{CANARY}",
                f"postgresql://{CANARY}.invalid/x#mine", f"http://{CANARY}.invalid:9/x")


def opened(company: CompanyConfig, name: str, values: dict[str, Any], folder: Path) -> tuple[list[str], set[str]]:
    """What a tool opened that has the canary's name, and which inputs it looked at."""
    global _seen
    schema = TOOLS.tool(name).parameters if name in TOOLS else {}
    arguments = {key: _EXAMPLES[field.get("type", "string")] for key, field in schema.get("properties", {}).items()
                 if key in schema.get("required", ())}
    inputs = Watched({**dict.fromkeys(company.inputs), **values})
    context = ToolContext(SOFTWARE, {"task": "x", "proposed": "Coding"}, inputs, sandbox=find_sandbox("none"),
                          run_folder=folder, scratch=folder)
    _seen = []
    try:
        called = TOOLS.tool(name) if name in TOOLS else _tool_of_test(name)
        called.call(context, arguments)
    except (ToolError, KeyError):  # KeyError: of what the chain has written before, which is not here
        pass
    finally:
        events, _seen = _seen, None
    return events, inputs.read


def _tool_of_test(name: str) -> Any:
    return {"mine.peek": peek}[name]


@tool(name="mine.peek")
def peek(context: ToolContext) -> str:
    """Look into a file that an input names."""
    return Path(context.inputs["secret"]).read_text(encoding="utf-8")


@pytest.mark.tool
@pytest.mark.parametrize("company", COMPANIES)
def test_a_tool_opens_no_input_that_it_does_not_declare(company: str, tmp_path: Path) -> None:
    config = COMPANIES[company]
    (tmp_path / "company.yaml").write_text(dump(config), encoding="utf-8")
    looked, places = set[str](), place_inputs(config, TOOLS)
    for name in tools_of(config, TOOLS):
        for key, declared in config.inputs.items():
            for number, form in enumerate(forms(tmp_path)):
                value: Any = {"a.sv": form} if declared.kind == "files" else form
                events, read = opened(config, name, {key: value}, tmp_path)
                looked |= read
                if key not in places:
                    assert not events, f"{name} opens the input {key!r}: declare it, @tool(places={{{key!r}: …}})"
                if number == 0 and key not in read:
                    break  # the tool does not look at this one
    assert set(config.inputs) - looked <= READ_BY_TEMPLATES | {"task"}


@pytest.mark.tool
def test_the_walk_sees_the_places_that_there_are(tmp_path: Path) -> None:
    config = COMPANIES["top"]
    (tmp_path / "company.yaml").write_text(dump(config), encoding="utf-8")
    assert set(place_inputs(config, TOOLS)) == {"pool"}
    file, with_name, *_ = forms(tmp_path)
    assert opened(config, "process.recall", {"pool": with_name}, tmp_path)[0]
    assert opened(config, "mine.peek", {"secret": file}, tmp_path)[0] == ["open"]


def test_a_declared_place_needs_a_default_that_the_company_has() -> None:
    """What is called chatdev's own place is one that a bundled company names."""
    for config in COMPANIES.values():
        for name, taken in place_inputs(config, TOOLS).items():
            assert isinstance(taken, PlaceInput)
            assert config.inputs[name].default == taken.default
            assert json.dumps(taken.default)
