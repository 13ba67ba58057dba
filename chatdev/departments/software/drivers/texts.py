"""What people see: whether two labels are the same, and whether a text is among what is shown. Runs in the sandbox,
beside the program that is used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

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
