"""What programs hand to MATLAB's functions, checked: texts, parameters, positions, paths, statements, arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from chatdev.departments.simulink.engine.library import BAD_POSITION, NO_PAIRS, NOT_A_TEXT, NOT_EVALUATED, TOO_FEW

_SLASH = re.compile(r"(?<!/)/(?!/)")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_TOKEN = re.compile(r"""
    [^\S\n]*(?:(?P<text>'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*")|(?P<vector>\[[^\]\n]*\])
    |(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<name>[A-Za-z][\w.]*)|(?P<sign>[=(),;\n]))""",
                    re.VERBOSE)
_CALL = re.compile(r"(name)+|name\((value(,value)*)?\)")
_WIDEST = 32767  # pixels of the canvas


def at_least(arguments: Sequence[Any], number: int, function: str, form: str) -> None:
    """Raise BuildRefused where a function is given fewer values."""
    if len(arguments) < number:
        raise TOO_FEW.about(function=function, wanted=form)


def text_of(value: Any, what: str) -> str:
    """A value that has to be a text."""
    if not isinstance(value, str):
        raise NOT_A_TEXT.about(what=what, given=_brief(value), fix="a text in quotation marks")
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
        raise NOT_A_TEXT.about(what=what, given=_brief(value), fix=f"'[{numbers}]'")
    raise NOT_A_TEXT.about(what=what, given=_brief(value), fix="a text in quotation marks")


def value_text(value: Any) -> str:
    """A number, text or array as an expression of MATLAB."""
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{'; '.join(value_text(row)[1:-1] if isinstance(row, list) else '' for row in value)}]" if any(
            isinstance(row, list) for row in value) else f"[{' '.join(map(value_text, value))}]"
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def pairs_of(function: str, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Parameters, each with its value."""
    if len(values) % 2:
        raise NO_PAIRS.about(function=function, name=_brief(values[-1]))
    for name, value in zip(values[::2], values[1::2], strict=True):
        yield text_of(name, "the name of a parameter"), value


def position_of(path: str, value: Any) -> tuple[int, ...]:
    """Left, top, right and bottom, in pixels."""
    numbers = _numbers_of(value)
    if len(numbers) == 4 and all(abs(number) <= _WIDEST for number in numbers):
        left, top, right, bottom = map(round, numbers)
        if left < right and top < bottom:
            return left, top, right, bottom
    raise BAD_POSITION.about(block=path, given=_brief(value))


def _numbers_of(value: Any) -> list[float]:
    """The numbers of an array or of its text; none of what MATLAB takes for neither."""
    if isinstance(value, str):
        return [float(word) for word in value.strip("[] ").replace(",", " ").split() if _NUMBER.fullmatch(word)]
    return value.flat() if isinstance(value, MatlabArray) else []


def split_path(path: str) -> list[str]:
    """The names in a path; a slash in a name is written twice."""
    return [part.replace("//", "/") for part in _SLASH.split(path)]


def matlab_statements(text: str) -> Iterator[tuple[str, str, list[Any]]]:
    """What statements say: a variable and its value, or a function and its values."""
    for tokens in _token_rows(text):
        form = "".join(str(word) if kind == "sign" else "name" if kind == "name" else "value" for kind, word in tokens)
        words = [word for kind, word in tokens if kind != "sign"]
        if form == "name=value":
            yield words[0], "", words[1:]
        elif _CALL.fullmatch(form):  # f, f a b, f(1, 'a')
            yield "", words[0], words[1:]
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


def _brief(value: Any) -> str:
    return repr(value)[:80]


# MATLAB's arrays, as far as programs that build models use them: `matlab.double([30, 30, 60, 60])`.


class MatlabArray(list[Any]):
    """A row, or rows of the same length."""

    convert: type = float

    def __init__(self, initializer: Any = (), size: Any = None, is_complex: bool = False) -> None:
        rows = initializer if isinstance(initializer, Iterable) else (initializer,)
        super().__init__(self._row(row) if isinstance(row, Iterable) else type(self).convert(row) for row in rows)
        if len({len(row) if isinstance(row, list) else -1 for row in self}) > 1:
            raise ValueError("initializer must be a rectangular nested sequence")

    def _row(self, row: Iterable[Any]) -> list[Any]:
        return [type(self).convert(value) for value in row]

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        nested = bool(self) and isinstance(self[0], list)
        return (len(self), len(self[0])) if nested else (1, len(self))

    def flat(self) -> list[Any]:
        """All values, row by row."""
        return [value for row in self for value in (row if isinstance(row, list) else [row])]


class double(MatlabArray):
    """Numbers with a point."""


class single(MatlabArray):
    """The same, shorter."""


class logical(MatlabArray):
    """Truths."""

    convert = bool


class int8(MatlabArray):
    """Whole numbers."""

    convert = int


class int16(int8):
    """Whole numbers."""


class int32(int8):
    """Whole numbers."""


class int64(int8):
    """Whole numbers."""


class uint8(int8):
    """Whole numbers."""


class uint16(int8):
    """Whole numbers."""


class uint32(int8):
    """Whole numbers."""


class uint64(int8):
    """Whole numbers."""
