"""Jinja2 with limits: a company may be a stranger's, and its texts and expressions are rendered in our own process.

Every operation that can make more than it is given (`*`, `**`, `+`, `~`, `%`, filters, methods of texts) is measured
before it is done, what is put out is counted, and so are the rounds of loops and the calls of one rendering. What goes
beyond is refused as TemplateTooLarge. Methods of texts, lists and mappings that only make room are not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from types import BuiltinMethodType
from typing import Any

from jinja2 import Environment, TemplateRuntimeError, Undefined, nodes
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_CHARACTERS = 20_000_000  # of a value, and of all that a rendering puts out: a software is 16 MB at most
MOST_STEPS = 200_000  # rounds of loops, calls and filters of one rendering
_MOST_BITS = 10_000  # of a number; Python writes none of more than 4,300 digits
_WIDEST = 1_000  # blanks that a filter or a format may add
_ROUNDS, _BOUNDED = "rounds of a loop", "part of a text"  # filters that no template can name
_WIDE_FIELD = re.compile(r":[^{}]*(?:\d{4,}|\{)")
_HARMLESS = """capitalize casefold count endswith find index isalnum isalpha isascii isdecimal isdigit isidentifier
    islower isnumeric isspace istitle isupper join lower lstrip partition removeprefix removesuffix replace rfind rindex
    rpartition rsplit rstrip split splitlines startswith strip swapcase title upper"""
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(re.findall(r"\w+", _HARMLESS)),
    bytes: frozenset({"decode", "startswith", "endswith", "count", "find", "splitlines", "split"}),
    list: frozenset({"count", "index", "copy"}), tuple: frozenset({"count", "index"}),
    dict: frozenset({"items", "keys", "values", "get", "copy"}),
}
_WIDENING = frozenset({"center", "indent", "tojson", "round", "batch", "slice"})  # by a number
_REPEATING = frozenset({"replace", "join", "indent", "wordwrap", "urlize", "xmlattr"})  # a text that they are given
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{4,})")


class TemplateTooLarge(TemplateRuntimeError):
    """A template or an expression takes more than it may."""


@dataclass(slots=True)
class _Meter:
    """What one rendering has taken so far."""

    steps: int = 0
    characters: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TemplateTooLarge(f"it takes more than {MOST_STEPS} steps")

    def add(self, characters: int) -> None:
        self.characters += characters
        _refuse_size(self.characters)


_meter: ContextVar[_Meter] = ContextVar("template meter")


@contextmanager
def measure_rendering() -> Iterator[None]:
    """Count anew what is rendered in the block."""
    token = _meter.set(_Meter())
    try:
        yield
    finally:
        _meter.reset(token)


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """The sandboxed environment of Jinja2, with the limits above."""

    intercepted_binops = frozenset({"*", "**", "+", "%"})  # the operators of `_REFUSE`

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, finalize=_count_output)
        for name, made in list(self.filters.items()):
            self.add_filter(name, made)
        self.filters[_ROUNDS], self.filters[_BOUNDED] = _count_rounds, _count_output

    def add_filter(self, name: str, made: Callable[..., Any]) -> None:
        """A filter, with the limits."""
        self.filters[name] = _limit_filter(name, made)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An arithmetic operation, refused where its result would be too large."""
        _REFUSE[operator](left, right)
        return super().call_binop(context, operator, left, right)

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call, counted; of the methods of built-in kinds only those that are harmless."""
        _step()
        if isinstance(__obj, BuiltinMethodType):
            _refuse_method(__obj, args)
        return super().call(__context, __obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format`, without wide fields."""
        made = super().wrap_str_format(value)
        if made is None:
            return None

        def limited(*args: Any, **kwargs: Any) -> str:
            if _WIDE_FIELD.search(value.__self__):
                raise TemplateTooLarge("the format is too wide")
            _refuse_size((1 + value.__self__.count("{")) * _size([*args, *kwargs.values()]))
            return made(*args, **kwargs)

        return limited

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        """The code of a template, in which loops count their rounds and `~` is measured."""
        for concat in list(source.find_all(nodes.Concat)):
            concat.nodes = [nodes.Filter(node, _BOUNDED, [], [], None, None, lineno=concat.lineno)
                            for node in concat.nodes]
        for loop in list(source.find_all(nodes.For)):
            weight = sum(len(data.data) for data in loop.find_all(nodes.TemplateData))
            loop.iter = nodes.Filter(loop.iter, _ROUNDS, [nodes.Const(weight)], [], None, None, lineno=loop.lineno)
        source.set_environment(self)
        return super()._generate(source, *args, **kwargs)


def _step() -> None:
    if meter := _meter.get(None):
        meter.step()


def _count_output(value: Any) -> Any:
    """What is put out, or put together with `~`, as it is; counted."""
    size = _size(value)
    _refuse_size(size)
    if meter := _meter.get(None):
        meter.add(size)
    return value


def _count_rounds(iterable: Any, weight: int) -> Any:
    """The values of a loop, counted as they are taken; `weight` characters of text stand in its body."""
    if isinstance(iterable, Undefined):
        return iterable
    return _rounds(iterable, weight)


def _rounds(iterable: Iterable[Any], weight: int) -> Iterator[Any]:
    meter = _meter.get(None)
    for value in iterable:
        if meter:
            meter.step()
            meter.add(weight)
        yield value


def _limit_filter(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that measures what it is given, and refuses widths that no text needs."""

    @wraps(made)
    def limited(*args: Any, **kwargs: Any) -> Any:
        _step()
        args = tuple(_make_whole(one) for one in args)
        given = [one for one in (*args, *kwargs.values()) if not isinstance(one, Context | EvalContext | Environment)]
        _refuse_width(name, given)
        _refuse_size(sum(map(_size, given)))
        if name in _REPEATING and given:
            _refuse_size(_pieces(given[0]) * sum(len(one) for one in given[1:] if isinstance(one, str)))
        return made(*args, **kwargs)

    return limited


def _make_whole(value: Any) -> Any:
    """What a filter before this one makes only when it is asked, made now, so that it can be measured."""
    return list(_rounds(value, 0)) if isinstance(value, Iterator) else value


def _refuse_width(name: str, given: Sequence[Any]) -> None:
    if name in _WIDENING and any(isinstance(one, int) and abs(one) > _WIDEST for one in given[1:]):
        raise TemplateTooLarge(f"{name!r} is given a number greater than {_WIDEST}")
    if name == "format" and given and _WIDE_FORMAT.search(str(given[0])):
        raise TemplateTooLarge("the format is too wide")


def _refuse_power(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        _refuse_bits(left.bit_length() * max(right, 0))


def _refuse_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        _refuse_bits(left.bit_length() + right.bit_length())
    for sequence, times in ((left, right), (right, left)):
        if isinstance(sequence, str | bytes | list | tuple) and isinstance(times, int):
            _refuse_size(max(_size(sequence), len(sequence)) * max(times, 0))


def _refuse_sum(left: Any, right: Any) -> None:
    if not (isinstance(left, int) and isinstance(right, int)):
        _refuse_size(_size(left) + _size(right))


def _refuse_format(left: Any, right: Any) -> None:
    if isinstance(left, str):
        if _WIDE_FORMAT.search(left):
            raise TemplateTooLarge("the format is too wide")
        _refuse_size(len(left) + _size(right) * max(1, left.count("%")))


_REFUSE: Mapping[str, Callable[[Any, Any], None]] = {
    "**": _refuse_power, "*": _refuse_product, "+": _refuse_sum, "%": _refuse_format}


def _refuse_method(method: BuiltinMethodType, args: tuple[Any, ...]) -> None:
    owner: Any = method.__self__
    allowed = next((names for kind, names in _METHODS.items() if isinstance(owner, kind)), frozenset[str]())
    if method.__name__ not in allowed:
        raise TemplateTooLarge(f"there is no method {method.__name__!r} here; use a filter")
    if method.__name__ == "join" and args:
        if isinstance(args[0], Iterator):
            raise TemplateTooLarge("`join` of what is not made yet; use the filter `join`")
        _refuse_size(_size(args[0]) + len(owner) * _pieces(args[0]))
    if method.__name__ == "replace" and len(args) > 1 and isinstance(args[1], str):
        _refuse_size(len(owner) + (len(owner) + 1) * len(args[1]))


def _pieces(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple | dict) else 1


def _refuse_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TemplateTooLarge("a number gets too large")


def _refuse_size(characters: int) -> None:
    if characters > MOST_CHARACTERS:
        raise TemplateTooLarge(f"a text of more than {MOST_CHARACTERS // 1_000_000} million characters would be made")


def _size(value: Any) -> int:
    """About how many characters the value is when it is written out; it stops counting beyond the limit."""
    if isinstance(value, str | bytes):
        return len(value)
    found, waiting = 0, [value]
    while waiting and found <= MOST_CHARACTERS:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            found += len(one)
        elif isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
            found += len(one)
        elif isinstance(one, list | tuple):
            waiting += one
            found += len(one)
        else:
            found += 1
    return found
