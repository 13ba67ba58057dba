"""JSON values and lists in a response, written the way models write them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from chatdev.engine.solution.fences import scan
from chatdev.engine.solution.json_text import load_json
from chatdev.engine.solution.problem import Unreadable
from chatdev.workspace.python_source import literal

_STRING_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*[}\]])|\b(?:True|False|None|true|false|null)\b', re.DOTALL)
_TO_JSON = {"True": "true", "False": "false", "None": "null", ",": ""}
_TO_PYTHON = {"true": "True", "false": "False", "null": "None"}
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\(?\d{1,4}[.)])[ \t]+(?P<text>.*)")
_SHOWN = 160  # characters of a validation error


def read_json(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON value in `text`: a fenced block, or the bare value.

    Trailing commas, `True`/`None` and single quotes are forgiven. With a schema the first candidate that is valid
    counts. Raises Unreadable: no value was found, or each violation with the path of its field.
    """
    problems: list[str] = []
    for candidate in _candidates(text):
        try:
            value = _value(candidate)
        except ValueError as error:
            problems = problems or [f"the answer is not valid JSON: {error}"]
            continue
        violations = _violations(value, schema)
        if not violations:
            return value
        problems = violations
    raise Unreadable(*problems or ["no JSON value was found"])


def _candidates(text: str) -> Iterator[str]:
    """Texts that may be the value, likeliest first."""
    for block in scan(text):
        if block.content.strip():
            yield block.content
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        yield stripped
    starts = [index for index in (text.find("{"), text.find("[")) if index >= 0]
    if starts:
        start = min(starts)
        end = text.rfind("}" if text[start] == "{" else "]")
        if end > start and text[start:end + 1] != stripped:
            yield text[start:end + 1]
    if stripped and not starts:
        yield stripped


def _value(text: str) -> Any:
    """The value written in `text`. Raises ValueError with the first, strict reading's complaint."""
    try:
        return _strict(text)
    except ValueError as error:
        complaint = error
    try:
        return _strict(_replaced(text, _TO_JSON))
    except ValueError:
        pass
    try:
        return _literal(_replaced(text, _TO_PYTHON))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise complaint from None


def _strict(text: str) -> Any:
    try:
        return load_json(text, strict=False, constant=_refuse)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} column {error.colno}: {error.msg}") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON value")


def _replaced(text: str, words: Mapping[str, str]) -> str:
    """`text` with words and surplus commas outside double-quoted strings replaced."""
    return _STRING_OR_WORD.sub(lambda found: words.get(found[0], found[0]), text)


def _literal(text: str) -> Any:
    """A Python literal as JSON values. Raises SyntaxError and what `json` raises."""
    return load_json(json.dumps(literal(text), allow_nan=False))


def _violations(value: Any, schema: Mapping[str, Any]) -> list[str]:
    """How `value` violates the schema, each with the path of the field."""
    if not schema:
        return []
    from jsonschema.validators import validator_for  # slow to import

    errors = sorted(validator_for(schema)(schema).iter_errors(value), key=lambda error: error.json_path)
    return [f"{_field(error.json_path)}: {_short(error.message)}" for error in errors]


def _field(json_path: str) -> str:
    return json_path.removeprefix("$").removeprefix(".") or "the value"


def _short(message: str) -> str:
    return message if len(message) <= _SHOWN else f"{message[:_SHOWN // 2]} … {message[-_SHOWN // 2:]}"


def read_list(text: str) -> list[Any]:
    """The items of a JSON list, or of lines with bullets or numbers; deeper lines belong to the item above.

    Raises Unreadable when there is neither, or when the list is empty.
    """
    bare = text.lstrip()[:1] not in ("[", "{", "`", "~")
    items = (_bullets(text) if bare else []) or _json_items(text) or _bullets(text)
    items = [item.strip() if isinstance(item, str) else item for item in items]
    items = [item for item in items if item != ""]
    if not items:
        raise Unreadable("no list was found: give one item per line, each beginning with '- '")
    return items


def _json_items(text: str) -> list[Any]:
    try:
        value = read_json(text, {})
    except Unreadable:
        return []
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, list) else []


def _bullets(text: str) -> list[str]:
    found = [(line, _ITEM.fullmatch(line)) for line in text.replace("\r\n", "\n").split("\n")]
    outermost = min((_indent(match) for _, match in found if match), default=0)
    items: list[str] = []
    for line, match in found:
        if match and _indent(match) == outermost:
            items.append(match["text"])
        elif items and line.strip() and line[0] in " \t":
            items[-1] += "\n" + line.strip()
    return items


def _indent(item: re.Match[str]) -> int:
    return len(item["indent"].expandtabs(4))
