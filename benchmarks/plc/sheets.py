"""The programs in the reference sheets and examples, with what is said of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from chatdev.paths import bundled_folder

COMPANY = bundled_folder("company_config") / "agents4plc"
_FENCE = re.compile(r"^```(?P<kind>\w+)(?P<note>[^\n]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass
class Snippet:
    """A program at a line of a sheet; `mistake` are the first words of what is wrong with it, if something is."""

    place: str
    source: str
    mistake: str = ""
    properties: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return self.place


def read_sheets() -> list[Snippet]:
    """All programs of all sheets."""
    return [snippet for path in sorted((COMPANY / "knowledge").glob("*.md")) for snippet in _read_sheet(path)]


def read_examples() -> list[Snippet]:
    """The solutions of all examples."""
    return [Snippet(folder.name, (folder / "solution.st").read_text(encoding="utf-8"),
                    properties=[(folder / "properties.json").read_text(encoding="utf-8")])
            for folder in sorted((COMPANY / "examples").iterdir())]


def _read_sheet(path: Path) -> list[Snippet]:
    text = path.read_text(encoding="utf-8")
    found: list[Snippet] = []
    for fence in _FENCE.finditer(text):
        line = text.count("\n", 0, fence.start()) + 1
        if fence["kind"] == "st":
            found.append(Snippet(f"{path.stem}:{line}", fence["text"], fence["note"].partition("wrong:")[2].strip()))
        elif fence["kind"] == "properties":
            found[-1].properties.append(fence["text"])
        elif fence["kind"] == "trace":
            found[-1].traces.append(fence["text"])
        else:
            raise AssertionError(f"{path.name}:{line}: a block of the kind {fence['kind']!r} is not checked")
    return found
