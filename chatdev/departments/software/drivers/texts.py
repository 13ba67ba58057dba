"""What people see, and its record: whether two labels are the same, whether a text is among what is shown, and what a
driver has seen, in a file that is whole after every step. Runs in the sandbox, beside the program that is used."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Item = tuple[str, str]
"""The role (`button`, `text` or `field`) and the text of something that is shown."""
_SIGNS = str.maketrans({"×": "*", "✕": "*", "✖": "*", "÷": "/", "−": "-", "–": "-", "＋": "+", "＝": "="})
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_NUMBERS = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)", re.IGNORECASE)
_TOKENS = re.compile(r"\w+|[^\w\s]")


def plain_label(label: str) -> str:
    """A label without what people do not read aloud."""
    text = " ".join(label.translate(_SIGNS).casefold().split())
    return text.rstrip(" :….*") or text


def is_same(label: str, other: str) -> bool:
    """Whether two labels are the same to a user."""
    return plain_label(label) == plain_label(other)


def best_label(labels: Sequence[str], wanted: str) -> list[int]:
    """The places of the labels that are the wanted one, those first that are just the same."""
    exact = [place for place, label in enumerate(labels) if is_same(label, wanted)]
    like = [place for place, label in enumerate(labels) if wanted and plain_label(wanted) in plain_label(label)]
    return list(dict.fromkeys((*exact, *like)))


def is_in(text: str, shown: str) -> bool:
    """Whether `text` stands in what is shown, as whole words; a number also where it is written otherwise (8, 8.0)."""
    if _NUMBER.fullmatch(text.strip()):
        return any(_value(found) == float(text) for found in _NUMBERS.findall(shown))
    words = _TOKENS.findall(text.casefold())
    if not words:
        return False
    before = r"(?<!\w)(?<!\d[.,])" if words[0][0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if words[-1][-1].isalnum() else ""
    return re.search(before + r"\s*".join(map(re.escape, words)) + after, shown.casefold()) is not None


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def readable(items: Sequence[Item], before: Iterable[Item]) -> list[str]:
    """What there is to read: everything but the labels of buttons that were there from the beginning."""
    old = Counter(text for role, text in before if role == "button")
    new = Counter(text for role, text in items if role == "button") - old
    return [text for role, text in items if text.strip() and (role != "button" or text in new)]


def is_shown(text: str, items: Sequence[Item], before: Iterable[Item] = ()) -> bool:
    """Whether a text is among what there is to read, also where it is cut into several items."""
    texts = readable(items, before)
    return any(is_in(text, one) for one in texts) or is_in(text, "\n".join(texts))


# What a driver has seen, in a file that is whole after every step. Runs in the sandbox.

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
