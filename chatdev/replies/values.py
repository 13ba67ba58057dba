"""Values in a response, written the way models write them: JSON, lists, and the choice of an option."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chatdev.config.json_schema import EndlessSchema
from chatdev.plain_values import load_json
from chatdev.replies.fences import scan
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable
from chatdev.replies.schema_match import find_violations
from chatdev.workspace.python_facts import literal_as_json

_STRING_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*+"?|,(?=\s*[}\]])|\b(?:True|False|None|true|false|null)\b', re.DOTALL)
_TO_JSON = {"True": "true", "False": "false", "None": "null", ",": ""}
_TO_PYTHON = {"true": "True", "false": "False", "null": "None"}
_BRACKET = re.compile(r"[{\[]")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+•]|\(?\d{1,4}[.)])[ \t]+(?P<text>.*)")
_SHOWN = 160  # characters of a validation error


def read_json(text: str, schema: Mapping[str, Any]) -> Any:
    """The JSON value in `text`: a fenced block, or the bare value.

    Trailing commas, `True`/`None` and single quotes are forgiven. With a schema the first candidate that is valid
    counts. Raises Unreadable: no value was found, or each violation with the path of its field.
    """
    problems: list[ReplyProblem] = []
    for candidate in _candidates(text):
        try:
            value = _read_value(candidate)
        except ValueError as error:
            problems = problems or [ReplyProblem("not_json", {"why": str(error)})]
            continue
        violations = _violations(value, schema)
        if not violations:
            return value
        problems = violations
    raise Unreadable(*problems or [ReplyProblem("no_json")])


def _candidates(text: str) -> Iterator[str]:
    """Texts that may be the value, likeliest first."""
    yield from (block.content for block in scan(text) if block.content.strip())
    stripped = text.strip()
    found = _BRACKET.search(stripped)
    start = found.start() if found else -1
    if stripped and start <= 0:
        yield stripped
    end = stripped.rfind("}" if stripped[start:start + 1] == "{" else "]")
    if end > start >= 0 and stripped[start:end + 1] != stripped:
        yield stripped[start:end + 1]


def _read_value(text: str) -> Any:
    """The value written in `text`. Raises ValueError with the first, strict reading's complaint."""
    try:
        return _read_strictly(text)
    except ValueError as error:
        complaint = error
    try:
        return _read_strictly(_replace_words(text, _TO_JSON))
    except ValueError:
        pass
    try:
        return _read_literal(_replace_words(text, _TO_PYTHON))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise complaint from None


def _read_strictly(text: str) -> Any:
    try:
        return load_json(text, strict=False)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno} column {error.colno}: {error.msg}") from None


def _replace_words(text: str, words: Mapping[str, str]) -> str:
    """`text` with words and surplus commas outside double-quoted strings replaced."""
    return _STRING_OR_WORD.sub(lambda found: words.get(found[0], found[0]), text)


def _read_literal(text: str) -> Any:
    """A Python literal as JSON values. Raises SyntaxError and what `json` raises."""
    return load_json(literal_as_json(text))


def _violations(value: Any, schema: Mapping[str, Any]) -> list[ReplyProblem]:
    """How `value` violates the schema, each with the path of the field."""
    if not schema:
        return []
    try:
        found = find_violations(value, schema)
    except EndlessSchema as error:
        found = [("$", f"it cannot be held against the schema: {error}")]
    return [ReplyProblem("not_of_schema", {"field": _field(path), "why": _shorten(message)})
            for path, message in found]


def _field(json_path: str) -> str:
    """The path of a field; empty for the value itself."""
    return json_path.removeprefix("$").removeprefix(".")


def _shorten(message: str) -> str:
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
        raise unreadable("no_list")
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
    items: list[list[str]] = []
    for line, match in found:
        if match and _indent(match) == outermost:
            items.append([match["text"]])
        elif items and line.strip() and line[0] in " \t":
            items[-1].append(line.strip())
    return list(map("\n".join, items))


def _indent(item: re.Match[str]) -> int:
    return len(item["indent"].expandtabs(4))


_EDGES = " \t\r\n\"'`*_“”‘’.,;:!?()[]{}<>#-•"
_PAUSE = re.compile(r"[^\S\n]*+(?:[.;:!(–—\n]|(?<=\s)-\s|(?:(?<=\s)|,\s++)(?:because|since|as)\b)", re.IGNORECASE)
_LONGEST = 20_000  # more text than this chooses nothing


def read_choice(text: str, options: Sequence[str]) -> str:
    """The option that `text` chooses, as declared; case, quotes and words around it don't matter.

    In order: the first line is the option; the first line begins with it and pauses; the first line names exactly
    one; the whole text names exactly one. Of options that contain one another the longest named counts. Raises
    Unreadable with the options.
    """
    first = next((line for line in text.split("\n") if line.strip()), "")[:_LONGEST]
    plain = {_normalize(option): option for option in options}
    choice = plain.get(_normalize(first)) or _choice_at_beginning(first.lstrip(_EDGES), options)
    if choice is not None:
        return choice
    for part in (first, text[:_LONGEST]):
        named = {option for option, _ in _mentions(part, options)}
        if len(named) == 1:
            return named.pop()
    raise unreadable("no_choice", options=list(options))


def _choice_at_beginning(text: str, options: Sequence[str]) -> str | None:
    for option, match in _mentions(text, options):
        if match.start() == 0 and _PAUSE.match(text[match.end():].lstrip("\"'`*_”’")):
            return option
    return None


def _normalize(text: str) -> str:
    stripped = text.strip()
    kept = stripped.strip(_EDGES) or stripped
    return " ".join(kept.casefold().split())


def _mentions(text: str, options: Sequence[str]) -> list[tuple[str, re.Match[str]]]:
    """Every mention of an option in `text`, in order; where options overlap, the longest."""
    by_length = sorted(options, key=len, reverse=True)
    if not by_length:
        return []
    words = ("|".join(f"(?P<o{index}>{_pattern(option)})" for index, option in enumerate(by_length)))
    found = re.finditer(rf"(?<![\w+#])(?:{words})(?![\w+#])", text, re.IGNORECASE)
    return [(by_length[int((match.lastgroup or "o0")[1:])], match) for match in found]


def _pattern(option: str) -> str:
    """The option's words, with any blanks, hyphens or underscores between them."""
    return r"[\s_-]*".join(re.escape(word) for word in re.split(r"[\s_-]+", option) if word)
