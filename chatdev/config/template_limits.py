"""Jinja2 with limits: a company may be a stranger's, and its texts and expressions are rendered in our own process.

Every operation that can make more than it is given (`*`, `**`, `+`, `~`, `%`, filters, methods of texts) is measured
before it is done, what is put out and what is made on the way is counted, and so are the rounds of loops, the calls and
the time of one rendering. What goes beyond is refused as TemplateTooLarge. Methods of texts, lists and mappings that
only make room are not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from types import BuiltinMethodType
from typing import Any

from jinja2 import Environment, nodes
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from chatdev.config.template_meter import (
    TemplateTooLarge,
    count_made,
    count_output,
    count_rounds,
    count_step,
    refuse_size,
    size_of,
)

_MOST_BITS = 10_000  # of a number; Python writes none of more than 4,300 digits
_WIDEST = 1_000  # blanks that a filter or a format may add
_ROUNDS, _BOUNDED, _PART, _COMPARED = (  # filters that no template can name
    "rounds of a loop", "part of a text", "part of a value", "what is compared")
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
_SLOW, _MOST_SLOW = frozenset({"pprint", "title", "urlize", "wordwrap"}), 200_000  # characters that these may be given
_REPEATING = frozenset({"replace", "join", "indent", "wordwrap", "urlize", "xmlattr"})  # a text that they are given
_WIDE_FORMAT = re.compile(r"%[^a-zA-Z%]*(?:\*|\d{4,})")


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """The sandboxed environment of Jinja2, with the limits above."""

    intercepted_binops = frozenset({"*", "**", "+", "%"})  # the operators of `_REFUSE`

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, finalize=count_output)
        for name, made in list(self.filters.items()):
            self.add_filter(name, made)
        self.filters |= {_ROUNDS: count_rounds, _BOUNDED: count_output, _PART: count_made, _COMPARED: count_step}

    def add_filter(self, name: str, made: Callable[..., Any]) -> None:
        """A filter, with the limits."""
        self.filters[name] = _limit_filter(name, made)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """An arithmetic operation, refused where its result would be too large."""
        _REFUSE[operator](left, right)
        return count_made(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call, counted; of the methods of built-in kinds only those that are harmless."""
        if isinstance(__obj, BuiltinMethodType):
            _refuse_method(__obj, args)
        return count_made(super().call(__context, __obj, *args, **kwargs))

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`str.format`, without wide fields."""
        made = super().wrap_str_format(value)
        if made is None:
            return None

        def limited(*args: Any, **kwargs: Any) -> str:
            if _WIDE_FIELD.search(value.__self__):
                raise TemplateTooLarge("the format is too wide")
            refuse_size((1 + value.__self__.count("{")) * size_of([*args, *kwargs.values()]))
            return made(*args, **kwargs)

        return limited

    def _generate(self, source: nodes.Template, *args: Any, **kwargs: Any) -> str:
        """The code of a template, in which loops count their rounds, and `~`, parts and comparisons are measured."""
        _Counted().visit(source)
        for concat in list(source.find_all(nodes.Concat)):
            concat.nodes = [_filter_by(node, _BOUNDED) for node in concat.nodes]
        for loop in list(source.find_all(nodes.For)):
            weight = sum(len(data.data) for data in loop.find_all(nodes.TemplateData))
            loop.iter = _filter_by(loop.iter, _ROUNDS, nodes.Const(weight))
        source.set_environment(self)
        return super()._generate(source, *args, **kwargs)


class _Counted(NodeTransformer):
    """Counts what no method of an environment is asked for."""

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        """A part of a text or a list is made anew."""
        self.generic_visit(node)
        return _filter_by(node, _PART) if isinstance(node.arg, nodes.Slice) else node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        """Comparing takes as long as what is compared."""
        self.generic_visit(node)
        node.expr = _filter_by(node.expr, _COMPARED)
        return node

    def visit_Test(self, node: nodes.Test) -> nodes.Node:
        """Tests compare, too."""
        self.generic_visit(node)
        node.node = _filter_by(node.node, _COMPARED)
        return node


def _filter_by(node: nodes.Node, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(node, name, list(args), [], None, None, lineno=node.lineno)


def _limit_filter(name: str, made: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that measures what it is given, and refuses widths that no text needs."""

    @wraps(made)
    def limited(*args: Any, **kwargs: Any) -> Any:
        args = tuple(_make_whole(one) for one in args)
        given = [one for one in (*args, *kwargs.values()) if not isinstance(one, Context | EvalContext | Environment)]
        _refuse_width(name, given)
        size = sum(map(size_of, given))
        refuse_size(size)
        _refuse_slow(name, size, given)
        if name in _REPEATING and given:
            refuse_size(_pieces(given[0]) * sum(len(one) for one in given[1:] if isinstance(one, str)))
        return count_made(made(*args, **kwargs))

    return limited


def _refuse_slow(name: str, size: int, given: Sequence[Any]) -> None:
    """Refuse long text for operations whose time grows faster than it."""
    if name in _SLOW and size > _MOST_SLOW:
        raise TemplateTooLarge(f"{name!r} is given more than {_MOST_SLOW} characters")
    if name == "sum" and any(isinstance(one, list | tuple) for one in given[1:]):
        raise TemplateTooLarge("'sum' is for numbers")


def _make_whole(value: Any) -> Any:
    """What a filter before this one makes only when it is asked, made now, so that it can be measured."""
    return list(count_rounds(value, 0)) if isinstance(value, Iterator) else value


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
            refuse_size(max(size_of(sequence), len(sequence)) * max(times, 0))


def _refuse_sum(left: Any, right: Any) -> None:
    if not (isinstance(left, int) and isinstance(right, int)):
        refuse_size(size_of(left) + size_of(right))


def _refuse_format(left: Any, right: Any) -> None:
    if isinstance(left, str):
        if _WIDE_FORMAT.search(left):
            raise TemplateTooLarge("the format is too wide")
        refuse_size(len(left) + size_of(right) * max(1, left.count("%")))


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
        refuse_size(size_of(args[0]) + len(owner) * _pieces(args[0]))
    if method.__name__ == "replace" and len(args) > 1 and isinstance(args[1], str):
        refuse_size(len(owner) + (len(owner) + 1) * len(args[1]))


def _pieces(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes | list | tuple | dict) else 1


def _refuse_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TemplateTooLarge("a number gets too large")
