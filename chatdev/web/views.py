"""What a run made that has a look of its own: pictures that its tools left, and what departments show of it.

A department names one function in its field `views`, `(folder, values) → Iterable[RunView]`: the folder of the run, and
the newest result of each of its tools by name. It is called for runs that used a tool of the department. What it knows
of all runs is in its field `boards`, `(studies) → Iterable[RunView]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatdev.department import departments, load
from chatdev.errors import ChatDevError
from chatdev.journal import read_journal
from chatdev.paths import read_plain
from chatdev.runner.recorded import find_journal
from chatdev.web.record import pictures

_LARGEST = 8 << 20  # bytes of a picture
_ROWS, _CELL = 500, 2000
_MOST = 40  # views of a run


@dataclass(frozen=True, slots=True)
class RunView:
    """Something to look at: an SVG or PNG `picture`, a `table` whose first row names its columns, or a `text`. `about`
    says in a sentence what is seen."""

    title: str
    picture: bytes = b""
    table: Sequence[Sequence[str]] = ()
    text: str = ""
    about: str = ""

    @property
    def media_type(self) -> str:
        """Of the picture."""
        return "image/png" if self.picture.startswith(b"\x89PNG") else "image/svg+xml"

    def to_dict(self) -> dict[str, Any]:
        """All but the picture, as plain JSON values."""
        table = [[str(cell)[:_CELL] for cell in row] for row in self.table[:_ROWS]]
        return {"title": self.title, "picture": bool(self.picture), "table": table, "text": self.text,
                "about": self.about}


def experience(studies: Path) -> list[RunView]:
    """What the departments know of all runs. One that fails is a view that says so."""
    found: list[RunView] = []
    for name, department in departments().items():
        if department.boards:
            try:
                found += load(department.boards, f"the boards of the department {name!r}")(studies)
            except Exception as error:  # noqa: BLE001 - the department may be anybody's
                found.append(RunView(f"What {name} knows", about=f"It cannot be shown: {error}"))
    return found


def run_views(folder: Path) -> list[RunView]:
    """All that there is to look at of a run. A department that fails is a view that says so."""
    values = _newest_values(folder)
    found = list(_pictures(folder, values))
    for name, department in departments().items():
        own = {tool: value for tool, value in values.items() if tool.startswith(f"{name}.")}
        if department.views and own:
            try:
                found += load(department.views, f"the views of the department {name!r}")(folder, own)
            except Exception as error:  # noqa: BLE001 - the department may be anybody's, and what it reads a model's
                found.append(RunView(f"What {name} shows", about=f"It cannot be shown: {error}"))
    return found[:_MOST]


def _newest_values(folder: Path) -> dict[str, Any]:
    """The newest result of each tool, by name; of a journal that is damaged, as far as it goes."""
    values: dict[str, Any] = {}
    try:
        for record in read_journal(find_journal(folder)):
            request, result = record.get("request"), record.get("result")
            if record["kind"] == "Activity" and isinstance(request, dict) and isinstance(result, dict) \
                    and isinstance(request.get("tool"), str) and "value" in result:
                values[request["tool"]] = result["value"]
    except ChatDevError:
        return values
    return values


def _pictures(folder: Path, values: Mapping[str, Any]) -> Iterator[RunView]:
    """The pictures in the run's folder, by the titles that tools gave them."""
    there = pictures(folder)
    titles = {name: title for value in values.values() if isinstance(value, dict)
              for title, name in _entries(value.get("pictures"))}
    for name, file in there.items():
        try:
            yield RunView(titles.get(name, name), picture=read_plain(file, _LARGEST))
        except OSError as error:
            yield RunView(name, about=f"It cannot be read: {error.strerror}")


def _entries(found: object) -> Iterable[tuple[str, str]]:
    entries = found.items() if isinstance(found, dict) else ()
    return [(key, value) for key, value in entries if isinstance(key, str) and isinstance(value, str)]
