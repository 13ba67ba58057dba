"""What programs hand to MATLAB's functions, checked: texts, parameters, positions, paths, statements of `eval`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from chatdev.departments.simulink.engine.arrays import MatlabArray
from chatdev.departments.simulink.engine.messages import (
    BAD_POSITION,
    NO_PAIRS,
    NOT_A_TEXT,
    NOT_EVALUATED,
    TOO_FEW,
)

_SLASH = re.compile(r"(?<!/)/(?!/)")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_TOKEN = re.compile(r"""
    [^\S\n]*(?:(?P<text>'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*")|(?P<vector>\[[^\]\n]*\])
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z][\w.]*)|(?P<sign>[=(),;\n]))""",
                    re.VERBOSE)
_WIDEST = 32767  # pixels of the canvas


def at_least(arguments: Sequence[Any], number: int, function: str, form: str) -> None:
    """Raise BuildRefused where a function is given fewer values."""
    if len(arguments) < number:
        raise TOO_FEW.about(function=function, wanted=form)


def text_of(value: Any, what: str) -> str:
    """A value that has to be a text."""
    if not isinstance(value, str):
        raise NOT_A_TEXT.about(what=what, given=_shown(value), fix="a text in quotation marks")
    return value


def parameter_text(name: str, value: Any) -> str:
    """A parameter's value: MATLAB takes a text, whatever it says."""
    if isinstance(value, str):
        return value
    what = f"The value of parameter '{name}'"
    if isinstance(value, bool):
        raise NOT_A_TEXT.about(what=what, given=value, fix="'on'" if value else "'off'")
    if isinstance(value, int | float):
        raise NOT_A_TEXT.about(what=what, given=value, fix=f"'{value:g}'" if isinstance(value, float) else f"'{value}'")
    if isinstance(value, list | tuple):
        flat = value.flat() if isinstance(value, MatlabArray) else value
        numbers = " ".join(f"{number:g}" if isinstance(number, float) else str(number) for number in flat[:9])
        raise NOT_A_TEXT.about(what=what, given=_shown(value), fix=f"'[{numbers}]'")
    raise NOT_A_TEXT.about(what=what, given=_shown(value), fix="a text in quotation marks")


def pairs_of(function: str, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Parameters, each with its value."""
    if len(values) % 2:
        raise NO_PAIRS.about(function=function, name=_shown(values[-1]))
    for name, value in zip(values[::2], values[1::2], strict=True):
        yield text_of(name, "the name of a parameter"), value


def position_of(path: str, value: Any) -> tuple[int, ...]:
    """Left, top, right and bottom, in pixels."""
    if isinstance(value, str):
        numbers: Any = [float(word) for word in value.strip("[] ").replace(",", " ").split() if _NUMBER.fullmatch(word)]
    elif isinstance(value, MatlabArray):
        numbers = value.flat()
    else:
        raise BAD_POSITION.about(block=path, given=_shown(value))
    if (len(numbers) != 4 or not all(abs(number) <= _WIDEST for number in numbers)
            or numbers[0] >= numbers[2] or numbers[1] >= numbers[3]):
        raise BAD_POSITION.about(block=path, given=_shown(value))
    return tuple(round(number) for number in numbers)


def split_path(path: str) -> list[str]:
    """The names in a path; a slash in a name is written twice."""
    return [part.replace("//", "/") for part in _SLASH.split(path)]


def matlab_statements(text: str) -> Iterator[tuple[str, str, list[Any]]]:
    """What statements say: a variable and its value, or a function and its values."""
    for tokens in _token_rows(text):
        kinds = [kind for kind, _ in tokens]
        words = [value for _, value in tokens]
        if len(tokens) == 3 and kinds[0] == "name" and words[1] == "=" and kinds[2] != "name":
            yield words[0], "", [words[2]]
        elif kinds[0] == "name" and len(tokens) == 1:
            yield "", words[0], []
        elif kinds[0] == "name" and all(kind == "name" for kind in kinds):
            yield "", words[0], words[1:]  # as in: close all
        elif (len(tokens) > 2 and kinds[0] == "name" and words[1] == "(" and words[-1] == ")"
              and all(word == "," for word in words[3:-1:2]) and "sign" not in kinds[2:-1:2]):
            yield "", words[0], words[2:-1:2]
        else:
            raise NOT_EVALUATED.about(statement=text.strip()[:200])


def _token_rows(text: str) -> Iterator[list[tuple[str, Any]]]:
    row: list[tuple[str, Any]] = []
    at = 0
    text = text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise NOT_EVALUATED.about(statement=text[:200])
        at = found.end()
        kind, word = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "sign" and word in ";\n":
            if row:
                yield row
            row = []
        else:
            row.append((kind, _value(kind, word)))
    if row:
        yield row


def _value(kind: str, word: str) -> Any:
    if kind == "text":
        return word[1:-1].replace(word[0] * 2, word[0])
    return float(word) if kind == "number" else word


def _shown(value: Any) -> str:
    return repr(value)[:80]
