"""What a driver has seen, in a file that is whole after every step. Runs in the sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from chatdev.departments.software.drivers.texts import Item, readable

_MOST_SEEN, _MOST_NAMES = 1000, 200


class Notes:
    """Keeps `told.json` in `folder`; `nonce` says that it is of this driver."""

    def __init__(self, folder: Path, nonce: str) -> None:
        self._folder = folder
        self._before: list[Item] = []
        self._told: dict[str, Any] = {"nonce": nonce, "begun": False, "ended": False, "steps": [], "names": [],
                                      "seen": "", "trouble": ""}

    def begin(self, before: list[Item], names: Iterable[str]) -> None:
        """Note what is there before the first step, with the labels of what can be pressed."""
        self._before = before
        self._told |= {"begun": True, "seen": self._cut(text for _, text in before), "names": self._plain(names)}
        self._write()

    @property
    def count(self) -> int:
        """How many steps are noted."""
        return len(self._told["steps"])

    def add(self, problem: str, items: Sequence[Item], names: Iterable[str], is_new: bool) -> None:
        """Note a step: what was wrong, what can then be read, and the labels of what can be pressed."""
        self._told["steps"].append({"problem": problem, "seen": self._cut(readable(items, self._before)),
                                    "new": is_new})
        self._told["names"] = self._plain(names)
        self._write()

    def fail(self, trouble: str) -> None:
        """Note why nothing can be used."""
        self._told["trouble"] = trouble[:_MOST_SEEN]
        self._write()

    def end(self) -> None:
        """Note that all is done."""
        self._told["ended"] = True
        self._write()

    def _plain(self, names: Iterable[str]) -> list[str]:
        return [" ".join(name.split())[:80] for name in names if name.strip()][:_MOST_NAMES]

    def _cut(self, texts: Iterable[str]) -> str:
        return "\n".join(texts)[:_MOST_SEEN]

    def _write(self) -> None:
        new = self._folder / "told.new"
        new.write_text(json.dumps(self._told), encoding="utf-8")
        new.replace(self._folder / "told.json")
