"""Plain values: what of a model's, a program's or a server's words may go on into prompts, journals and requests.

Their texts can be encoded, their numbers can be written, and their nesting has an end. What comes in as a text is
cleaned or refused by `load_json`; what a tool made is refused by `plain_value`.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

LARGEST = 10_000_000
"""Characters of a value that a tool gives."""
LONGEST_NAME = 80
"""Characters of a name that a model gives to something, as places and headers have it."""
_MOST = 1e15  # nothing that is counted comes near it; not below it is also what is no number (NaN)
_DEEPEST = 100  # levels; far below what Python's own reader takes, which depends on who calls it
_HALVES = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")
_STEERS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


def encodable_text(text: str) -> str:
    """The text with `?` for half characters, which JSON can carry but no file and no later request."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def encodable_values(value: Any) -> Any:
    """JSON values of which every text can be encoded, keys too."""
    if isinstance(value, str):
        return encodable_text(value)
    if isinstance(value, dict):
        return {encodable_values(key): encodable_values(child) for key, child in value.items()}
    return [encodable_values(child) for child in value] if isinstance(value, list) else value


def fields_of(record: Any) -> dict[str, Any]:
    """The fields of a dataclass with slots, by name; unlike `dataclasses.asdict` it copies no value."""
    return {name: getattr(record, name) for name in record.__slots__}


def short_name(name: str, longest: int = LONGEST_NAME) -> str:
    """The name, unless it is long or steers a terminal: then its beginning, and a fingerprint that tells it from every
    other."""
    if len(name) <= longest and not _STEERS.search(name):
        return name
    fingerprint = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{_STEERS.sub('?', name[:longest - 20])}~{fingerprint}"


_GIST = 120  # characters


def describe_value(value: Any, name: str = "") -> str:
    """A value in a few words for a person: the first line of a text, `4 commands` of a list, the names of a mapping."""
    if isinstance(value, list):
        if len(value) < 2:
            return "1 entry" if value else "none"
        return f"{len(value)} {name.replace('_', ' ') if name.endswith('s') else 'entries'}"
    if isinstance(value, dict):
        told = (f"{key}: {describe_value(child, key)}" for key, child in islice(value.items(), 4))
        return shorten(", ".join(told), _GIST)
    text = value if isinstance(value, str) else json.dumps(value)
    return shorten(next((line.strip() for line in text[:10_000].splitlines() if line.strip()), ""), _GIST)


def shorten(text: str, longest: int) -> str:
    """The text; of a longer one its beginning."""
    return text if len(text) <= longest else f"{text[:longest - 2].rstrip()} …"


def load_json(text: str, *, strict: bool = True) -> Any:
    """The value of a JSON text, with `?` for half characters. Raises ValueError, also for NaN, a number without an end,
    and a value that is nested deeper than 100 levels; `strict` is that of `json.loads`."""
    try:
        value = json.loads(text, strict=strict, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    check_depth(value)
    return encodable_values(value) if _HALVES.search(text) else value


def check_depth(value: Any, deepest: int = _DEEPEST) -> None:
    """Raise ValueError for JSON values that are nested deeper than `deepest` levels."""
    level = _full([value])
    for _ in range(deepest - 1):
        if not level:
            return
        level = [child for parent in level for child in _full(parent.values() if isinstance(parent, dict) else parent)]
    if level:
        raise ValueError("nested too deeply")


def plain_value(value: Any) -> Any:
    """What a tool gave, as the journal gives it back. Raises ValueError for what is no JSON value: other objects, NaN,
    half characters, what is nested too deeply or has no end, and more than can be used."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError as error:
        raise ValueError(str(error)) from None
    if len(text) > LARGEST:
        raise ValueError(f"{len(text)} characters of JSON are too much; {LARGEST} are possible")
    return load_json(text)


def is_amount(value: Any) -> bool:
    """Whether a JSON value is a number that can be counted with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _finite(word: str) -> float:
    number = float(word)
    return number if math.isfinite(number) else _refuse(word[:20])


def _full(values: Iterable[Any]) -> list[Any]:
    """Those that hold a further level."""
    return [value for value in values if value and isinstance(value, dict | list)]
