"""MATLAB scripts that build a model by `add_block`, `add_line` and `set_param`, read without running anything.

The grammar is that of calls with constant arguments: texts, numbers, vectors, variables that hold such values, joined
texts and sums. Each call goes to the stand-in for MATLAB (`engine/`), which refuses what MATLAB refuses; whatever else
a script holds is refused with its line.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from chatdev.config.yaml_nodes import read_text
from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.engine.arguments import MatlabArray, double
from chatdev.departments.simulink.engine.library import BuildRefused, Library
from chatdev.departments.simulink.engine.session import FUNCTIONS, Session
from chatdev.departments.simulink.saved_model import SavedModel, UnreadableModel
from chatdev.errors import ConfigError

_LARGEST = 16 << 20  # characters
_DEEPEST = 40  # brackets
_BUILDS = ("new_system", "add_block", "delete_block", "add_line", "delete_line", "set_param", "get_param",
           "load_system", "evalin", "assignin", "Simulink.BlockDiagram.arrangeSystem",
           "Simulink.SubSystem.deleteContents")
_CLOSES = ("close_system", "bdclose")
_SAYS_NOTHING = (*_CLOSES, "save_system", "open_system", "sim", "clear", "clc", "close", "disp", "fprintf", "warning",
                 "figure", "drawnow", "format")
_KEYWORDS = ("if", "for", "while", "function", "switch", "try", "parfor", "classdef", "global", "persistent", "return",
             "break", "continue", "end", "else", "elseif", "catch", "case", "otherwise", "end")
_TOKENS = re.compile(r"""
    (?P<blank>[^\S\n]+|\.\.\.[^\n]*\n)|(?P<comment>%\{[^\S\n]*\n(?:.*\n)*?\s*%\}[^\n]*|%[^\n]*)
    |(?P<text>'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*")|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<name>[A-Za-z]\w*(?:\.[A-Za-z]\w*)*)|(?P<sign>[-+*/()\[\]{},;=\n])|(?P<other>.)""", re.VERBOSE | re.ASCII)
_FORMAT = re.compile(r"%(?:(%)|([dgsi]))|\\(.)", re.DOTALL)
_FIX = ("nothing of a script is run here; write calls of new_system, add_block, set_param and add_line with constant "
        "arguments, or hand in the model itself (.slx, .mdl)")


def read_script(path: Path) -> tuple[Diagram, tuple[str, ...]]:
    """The model that a script builds, and what the stand-in for MATLAB warned of. Raises ConfigError, which names file,
    line and fix."""
    return parse_script(read_text(path), str(path))


def parse_script(text: str, name: str) -> tuple[Diagram, tuple[str, ...]]:
    """The same of a text; `name` stands for the file in errors."""
    if len(text) > _LARGEST:
        raise ConfigError(f"{name} is longer than {_LARGEST >> 20} MB; make it shorter")
    library = Library(catalogue().plain())
    session = Session(library, Path(), strict=True)
    session.output = io.StringIO()
    reader = _Reader(_tokens(text, name), session, name)
    reader.read()
    if len(session.systems) != 1:
        found = ", ".join(session.systems) or "none"
        raise ConfigError(f"{name}: a script builds one model, and this one builds {found}; call new_system once")
    built = next(iter(session.systems.values()))
    try:
        saved = SavedModel.model_validate({**built.plain(), "refused": [], "order": 1}, strict=False)
        diagram = saved.rebuild(library, strict=True)
    except (UnreadableModel, ValueError) as error:
        raise ConfigError(f"{name}: {error!s:.500}") from None
    return diagram, tuple(dict.fromkeys(line.removeprefix("Warning: ")
                                        for line in session.output.getvalue().splitlines()))


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    is_apart: bool
    """Whether a blank or a line break stands before it."""


def _tokens(text: str, name: str) -> list[_Token]:
    found, line, is_apart = list[_Token](), 1, True
    for match in _TOKENS.finditer(text.replace("\r\n", "\n").replace("\r", "\n") + "\n"):
        kind, word = str(match.lastgroup), match[0]
        if kind not in ("blank", "comment"):
            if word.startswith("'") and not is_apart and found and found[-1].text not in "([{,;=+-*/\n":
                raise ConfigError(f"{name}:{line}: ' transposes here; {_FIX}")
            found.append(_Token(kind, word, line, is_apart))
        is_apart = kind in ("blank", "comment") or word == "\n"
        line += word.count("\n")
    return found


class _Reader:
    """Reads the statements of a script one after the other."""

    def __init__(self, tokens: Sequence[_Token], session: Session, name: str) -> None:
        self._tokens, self._session, self._name = tokens, session, name
        self._at, self._depth = 0, 0
        self._variables: dict[str, Any] = {"pi": 3.141592653589793, "true": True, "false": False, "newline": "\n"}

    def read(self) -> None:
        """All of them."""
        while self._at < len(self._tokens):
            if self._take(",", ";", "\n"):
                continue
            self._statement()
            if self._at < len(self._tokens) and not self._take(",", ";", "\n"):
                raise self._error(f"{self._next.text!r:.40} stands behind the statement")

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else _Token("end", "", self._line, True)

    @property
    def _line(self) -> int:
        return self._tokens[min(self._at, len(self._tokens) - 1)].line if self._tokens else 1

    def _error(self, message: str, line: int | None = None, fix: str = _FIX) -> ConfigError:
        return ConfigError(f"{self._name}:{line or self._line}: {message}; {fix}")

    def _take(self, *signs: str) -> str:
        """The next token, if it is one of these signs."""
        if self._next.kind == "sign" and self._next.text in signs:
            self._at += 1
            return self._tokens[self._at - 1].text
        return ""

    def _need(self, sign: str) -> None:
        if not self._take(sign):
            raise self._error(f"{sign!r} is missing before {self._next.text!r:.40}")

    # statements

    def _statement(self) -> None:
        first = self._next
        if first.kind != "name":
            raise self._error(f"{first.text!r:.40} begins no statement")
        if first.text == "if" and self._is_closing():
            return
        if first.text in _KEYWORDS:
            raise self._error(f"`{first.text}` is no call")
        self._at += 1
        if self._take("="):
            if "." in first.text:
                raise self._error(f"{first.text} is a field")
            self._variables[first.text] = self._expression()
        elif self._take("("):
            self._call(first, self._arguments())
        elif first.text in _SAYS_NOTHING:
            while self._next.text not in (",", ";", "\n", ""):
                self._at += 1
        else:
            raise self._error(f"{first.text!r:.60} is no call", first.line)

    def _is_closing(self) -> bool:
        """`if bdIsLoaded(m), close_system(m, 0), end`, with which scripts begin, is passed over: nothing is loaded."""
        end = next((at for at in range(self._at, len(self._tokens)) if self._tokens[at].text == "end"), self._at)
        names = [token.text for token in self._tokens[self._at + 1:end] if token.kind == "name"
                 and token.text not in self._variables]
        if end == self._at or names[:1] != ["bdIsLoaded"] or not set(names[1:]) <= set(_CLOSES):
            return False
        self._at = end + 1
        return True

    def _arguments(self) -> list[Any]:
        """Behind the opening bracket."""
        found: list[Any] = []
        while not self._take(")"):
            if found:
                self._need(",")
            found.append(self._expression())
        return found

    def _call(self, name: _Token, arguments: Sequence[Any]) -> Any:
        if name.text in _SAYS_NOTHING:
            return None
        if name.text in _TEXTS:
            try:
                return _TEXTS[name.text](*arguments)
            except (TypeError, ValueError, KeyError, IndexError, OverflowError):
                raise self._error(f"{name.text} with these arguments is not understood", name.line) from None
        if name.text not in _BUILDS:
            raise self._error(f"the function {name.text:.60} is not read", name.line)
        try:
            return FUNCTIONS[name.text][0](self._session, *arguments)
        except BuildRefused as refused:
            words = " ".join(str(refused).split())
            raise self._error(f"MATLAB would refuse this {name.text}: {words}", name.line,
                              refused.hint or "correct the call") from None

    # expressions

    def _expression(self) -> Any:
        """Sums of products; in brackets, `a -b` are two elements."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"brackets lie in each other more than {_DEEPEST} deep")
        value = self._product()
        while self._next.text in ("+", "-") and not self._ends_element():
            sign = self._take("+", "-")
            value = self._numbers(value, self._product(), (lambda a, b: a + b) if sign == "+" else (lambda a, b: a - b))
        self._depth -= 1
        return value

    def _ends_element(self) -> bool:
        """Whether a sign begins a new element of a vector: `[1 -2]`, but not `[1 - 2]`."""
        following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else self._next
        return self._in_vector and self._next.is_apart and not following.is_apart

    _in_vector = False

    def _product(self) -> Any:
        value = self._factor()
        while sign := self._take("*", "/"):
            value = self._numbers(value, self._factor(), (lambda a, b: a * b) if sign == "*" else (lambda a, b: a / b))
        return value

    def _numbers(self, left: Any, right: Any, compute: Callable[[float, float], float]) -> Any:
        rows = [_flat(left), _flat(right)]
        length = max(map(len, rows))
        if any(isinstance(one, str | list) for row in rows for one in row) or {*map(len, rows)} - {1, length}:
            raise self._error("only numbers, and vectors of one length, are computed with")
        try:
            found = [compute(float(a), float(b)) for a, b in zip(*(row * (length // len(row)) for row in rows),
                                                                 strict=True)]
        except (ZeroDivisionError, OverflowError):
            raise self._error("this is no finite number") from None
        return double(found) if any(isinstance(value, MatlabArray) for value in (left, right)) else found[0]

    def _factor(self) -> Any:
        is_negative = False
        while sign := self._take("+", "-"):
            is_negative ^= sign == "-"
        value = self._value()
        return self._numbers(0.0, value, lambda a, b: a - b) if is_negative else value

    def _value(self) -> Any:
        if self._take("("):
            outside, self._in_vector = self._in_vector, False
            value = self._expression()
            self._in_vector = outside
            self._need(")")
            return value
        if closing := {"[": "]", "{": "}"}.get(self._take("[", "{")):
            return self._vector(closing)
        token = self._next
        self._at += 1
        if token.kind == "text":
            return token.text[1:-1].replace(token.text[0] * 2, token.text[0])
        if token.kind == "number":
            return float(token.text)
        if token.kind != "name":
            raise self._error(f"{token.text!r:.40} is no value", token.line)
        return self._named_value(token)

    def _named_value(self, token: _Token) -> Any:
        """Of a variable, or a call."""
        if self._next.text == "(" and not (self._in_vector and self._next.is_apart) and self._take("("):
            outside, self._in_vector = self._in_vector, False
            arguments = self._arguments()
            self._in_vector = outside
            return self._call(token, arguments)
        if token.text not in self._variables:
            raise self._error(f"the variable {token.text:.60} has no constant value", token.line)
        return self._variables[token.text]

    def _vector(self, closing: str) -> Any:
        """Numbers as a row or rows, texts joined; a list of texts between braces."""
        rows = self._rows(closing)
        flat = [*itertools.chain(*rows)]
        if closing == "}":
            return flat
        if any(isinstance(value, str) for value in flat):
            return self._text(rows)
        if not all(isinstance(value, float | MatlabArray) for value in flat):
            raise self._error("a vector has numbers")
        numbers = [[*itertools.chain(*map(_flat, row))] for row in rows]
        try:
            return double(numbers if len(rows) > 1 else numbers[0])
        except ValueError:
            raise self._error("the rows have different lengths") from None

    def _text(self, rows: list[list[Any]]) -> str:
        if len(rows) > 1 or not all(isinstance(value, str | float) for value in rows[0]):
            raise self._error("texts are joined with texts, in one row")
        return _char(*rows[0])

    def _rows(self, closing: str) -> list[list[Any]]:
        """The elements up to the closing bracket; at least one row."""
        outside, self._in_vector = self._in_vector, True
        rows: list[list[Any]] = [[]]
        while not self._take(closing):
            if self._take(";", "\n"):
                rows += [[]] if rows[-1] else []
            elif not self._take(","):
                if self._next.kind == "end":
                    raise self._error(f"{closing!r} is missing")
                rows[-1].append(self._expression())
        self._in_vector = outside
        return [row for row in rows if row] or [[]]


def _flat(value: Any) -> list[Any]:
    return value.flat() if isinstance(value, MatlabArray) else [value]


def _char(*codes: Any) -> str:
    return "".join(one if isinstance(one, str) else chr(int(one)) for one in codes)


def _format(form: str, *values: Any) -> str:
    """sprintf of a constant format: %d, %g, %s, and signs behind a backslash."""
    rest = iter(values)

    def write(found: re.Match[str]) -> str:
        if found[3]:
            return {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[found[3]]
        return "%" if found[1] else _number_text(next(rest))

    try:
        text = _FORMAT.sub(write, form)
    except (StopIteration, RuntimeError):
        raise ValueError(form) from None
    if "%" in _FORMAT.sub("", form) or next(rest, None) is not None:
        raise ValueError(form)
    return text


def _number_text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.5g}" if value % 1 else f"{value:.0f}"


_TEXTS: dict[str, Callable[..., Any]] = {
    "char": _char, "sprintf": _format, "num2str": _number_text, "int2str": _number_text,
    "strcat": lambda *texts: "".join(map(_number_text, texts))}
