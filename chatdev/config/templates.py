"""Templates of prompts (`render`) and expressions of chains (`compile_expression`), in one Jinja2 environment:
sandboxed, limited, data only, nothing to call but filters. What a model wrote is a value, never a template."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, lru_cache, wraps
from types import BuiltinMethodType
from typing import Any

from jinja2 import (
    ChainableUndefined,
    Environment,
    StrictUndefined,
    Template,
    TemplateError,
    TemplateRuntimeError,
    TemplateSyntaxError,
    Undefined,
    nodes,
)
from jinja2.environment import TemplateExpression
from jinja2.meta import find_undeclared_variables
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

from chatdev.config.json_schema import type_text
from chatdev.errors import ConfigError, ExpressionError
from chatdev.workspace.languages import map_repository

# Jinja2 with limits: a stranger's texts and expressions are rendered in our own process.

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


# Templates and expressions.


def render(template: str, values: Mapping[str, Any], where: str) -> str:
    """`template` with `values`; `where` names it in errors, e.g. `phases.coding.opening`.

    Filters beside Jinja2's own: `listing` (a software as path lines and fenced blocks), `repository_map` (what of it a
    request is about, within a number of tokens), `type_text` (a JSON schema as a type) and `tojson` (plain JSON).
    Raises ConfigError for a syntax error, a variable without a value or an operation the values do not allow.
    """
    try:
        with measure_rendering():
            return _compile(template).render(values)
    except TemplateSyntaxError as error:
        raise ConfigError(f"{where}: {_syntax_message(error)}") from error
    except FAILURES as error:
        raise ConfigError(f"{where}: the template cannot be rendered: {error} (it is given: "
                          f"{', '.join(sorted(values)) or 'nothing'})") from error


@lru_cache(maxsize=1024)
def variables(template: str) -> frozenset[str]:
    """The names a template needs from outside; raises ConfigError for a syntax error."""
    try:
        return frozenset(find_undeclared_variables(_parse(template)))
    except _UNREADABLE as error:  # a filter that is not there, a nest
        raise ConfigError(_syntax_message(error)) from error


@lru_cache(maxsize=1024)
def entries(template: str, name: str) -> frozenset[str]:
    """The entries of the variable `name` that a template asks for: `x` for `inputs.x` and `inputs["x"]`; methods that
    it calls (`inputs.items()`) are none."""
    if name not in template:
        return frozenset()
    tree = _parse(template)
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    dotted = {node.attr for node in tree.find_all(nodes.Getattr)
              if _is_variable(node.node, name) and id(node) not in called}
    indexed = {node.arg.value for node in tree.find_all(nodes.Getitem)
               if _is_variable(node.node, name) and isinstance(node.arg, nodes.Const)}
    return frozenset(dotted | {key for key in indexed if isinstance(key, str)})


def _is_variable(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


def _parse(template: str) -> nodes.Template:
    try:
        return _template_environment().parse(template)
    except _UNREADABLE as error:
        raise ConfigError(_syntax_message(error)) from error


def _syntax_message(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "the template is nested too deeply"
    if isinstance(error, TemplateSyntaxError):
        return f"the template is broken in its line {error.lineno}: {error.message}"
    return f"the template cannot be read: {error}"


@lru_cache(maxsize=1024)
def _compile(template: str) -> Template:
    return _template_environment().from_string(template)


@cache
def _template_environment() -> DataEnvironment:
    return DataEnvironment(StrictUndefined)


class _Missing(ChainableUndefined):
    """A name without a value: false, None, and neither more nor less than anything."""

    def _never(self, *_: Any, **__: Any) -> Any:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _never


class Expression:
    """A compiled expression. `names` are the long-term names it reads; `text` is as written."""

    def __init__(self, text: str, names: frozenset[str], compiled: TemplateExpression) -> None:
        self.text = text
        self.names = names
        self._compiled = compiled

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The value of the expression; missing names count as false and give None.

        Raises ExpressionError when the values do not fit, e.g. a comparison of text with a number.
        """
        try:
            with measure_rendering():
                result = self._compiled(values)
                return list(result) if isinstance(result, Iterator) else result
        except FAILURES as error:
            raise ExpressionError(f"the expression {self.text!r} cannot be evaluated: {error}; "
                                  "check the names and the kinds of values it compares") from error


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """The expression `text`; raises ExpressionError when it is not a Jinja2 expression."""
    try:
        parsed = Parser(_expression_environment(), text, state="variable").parse_expression()
        tree = nodes.Template([nodes.Output([parsed])], lineno=1).set_environment(_expression_environment())
        names = frozenset(find_undeclared_variables(tree))  # type: ignore[arg-type]  # the very template just made
        with measure_rendering():  # what is constant is evaluated at once
            return Expression(text, names, _expression_environment().compile_expression(text))
    except _UNREADABLE as error:
        problem = getattr(error, "message", None) or error
        raise ExpressionError(f"{text!r} is not an expression: {problem}; write something like `test.passed` or "
                              "`not executed and fault == \"build\"`") from error


@cache
def _expression_environment() -> DataEnvironment:
    return DataEnvironment(_Missing)


_UNREADABLE = (TemplateSyntaxError, RecursionError, SyntaxError, OverflowError, ValueError)
"""What reading a template or an expression may raise; ValueError for a number of thousands of digits."""

FAILURES = (TemplateError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, SyntaxError,
            TypeError, ValueError)
"""What evaluating a template or an expression on odd values may raise."""


class DataEnvironment(LimitedEnvironment):
    """Reads `plan.items` as the entry `items` of the mapping, not as the method of the same name."""

    def __init__(self, undefined: type[Undefined]) -> None:
        super().__init__(undefined=undefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)
        self.globals.clear()
        self.add_filter("tojson", to_json)
        self.add_filter("type_text", type_text)
        self.add_filter("listing", listing)
        self.add_filter("repository_map", repository_map)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`obj.attribute`, entries of mappings first."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)


def to_json(value: Any, indent: int | None = 2) -> str:
    """Filter: `value` as JSON for readers, without the HTML escapes of Jinja2's own filter."""
    return json.dumps(value, indent=indent, ensure_ascii=False, default=str)


def listing(software: Any) -> str:
    """Filter: a software (path → text or bytes) as path lines above fenced blocks, sorted by path.

    A fence is longer than any row of backticks inside; files that are not UTF-8 are only named. Anything but a
    mapping is shown as it is, so that a template may list what is not there yet.
    """
    if not isinstance(software, Mapping):
        return "" if software is None else str(software)
    return "\n\n".join(_list_file(path, software[path]) for path in sorted(software))


def repository_map(software: Any, request: str, tokens: int) -> str:
    """Filter: an overview of software in about `tokens` tokens: files relevant to the request as `listing` shows them,
    of the others names, sizes and definitions. Small software is shown whole."""
    if not isinstance(software, Mapping):
        return listing(software)
    found = map_repository(software, request, tokens)
    shown = listing({path: software[path] for path in found.full})
    return shown if found.is_whole else f"{shown}\n\nThere are also, not shown:\n{found.others}".strip()


def _list_file(path: str, content: str | bytes) -> str:
    text = _decode(content)
    if text is None:
        return f"{path} ({len(content)} bytes, binary)"
    fence = "`" * max(3, _longest_row(text) + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{path}\n{fence}{_LANGUAGES.get(path.rpartition('.')[2].lower(), '')}\n{text}{end}{fence}"


def _decode(content: str | bytes) -> str | None:
    """The text of a file; None when it is binary."""
    if isinstance(content, str):
        return content
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _longest_row(text: str) -> int:
    """Length of the longest row of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)


_LANGUAGES = {
    "c": "c", "cpp": "cpp", "cs": "csharp", "css": "css", "go": "go", "h": "c", "html": "html", "java": "java",
    "js": "javascript", "json": "json", "m": "matlab", "md": "markdown", "py": "python", "rb": "ruby", "rs": "rust",
    "sh": "bash", "sql": "sql", "st": "iecst", "sv": "systemverilog", "toml": "toml", "ts": "typescript",
    "v": "verilog", "xml": "xml", "yaml": "yaml", "yml": "yaml",
}


# The meter of a rendering: it counts output and steps, and refuses what exceeds the limits.

MOST_CHARACTERS = 20_000_000  # of a value, and of all that a rendering puts out: a software is 16 MB at most
MOST_STEPS = 200_000  # rounds of loops, calls, filters and comparisons of one rendering
_MOST_SECONDS = 5  # of a processor; one step is over soon, however much it is given
_MOST_MADE = 10 * MOST_CHARACTERS  # by all steps of a rendering, which may keep all of it
_ENTRY = 64  # characters that take about the memory of one entry of a list


class TemplateTooLarge(TemplateRuntimeError):
    """A template or an expression takes more than it may."""


@dataclass(slots=True)
class _Meter:
    """What one rendering has taken so far."""

    steps: int = 0
    characters: int = 0
    made: int = 0
    began: float = field(default_factory=time.thread_time)

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TemplateTooLarge(f"it takes more than {MOST_STEPS} steps")
        if time.thread_time() - self.began > _MOST_SECONDS:
            raise TemplateTooLarge(f"it takes more than {_MOST_SECONDS} seconds")

    def make(self, size: int) -> None:
        self.made += size
        if self.made > _MOST_MADE:
            raise TemplateTooLarge(f"texts of more than {_MOST_MADE // 1_000_000} million characters would be made")

    def add(self, characters: int) -> None:
        self.characters += characters
        refuse_size(self.characters)


_meter: ContextVar[_Meter] = ContextVar("template meter")


@contextmanager
def measure_rendering() -> Iterator[None]:
    """Count anew what is rendered in the block."""
    token = _meter.set(_Meter())
    try:
        yield
    finally:
        _meter.reset(token)


def count_output(value: Any) -> Any:
    """Count output and operands of `~`; the value is returned unchanged."""
    size = size_of(value)
    refuse_size(size)
    if meter := _meter.get(None):
        meter.add(size)
    return value


def count_step(value: Any) -> Any:
    """What something is done with, as it is; that is counted."""
    if meter := _meter.get(None):
        meter.step()
    return value


def count_made(value: Any) -> Any:
    """What a step has made, as it is; counted."""
    if meter := _meter.get(None):
        meter.step()
        meter.make(len(value) if isinstance(value, str | bytes) else
                   _ENTRY * len(value) if isinstance(value, list | tuple | dict) else 0)
    return value


def count_rounds(iterable: Any, weight: int) -> Any:
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


def refuse_size(characters: int) -> None:
    """Raise TemplateTooLarge for a text of too many characters."""
    if characters > MOST_CHARACTERS:
        raise TemplateTooLarge(f"a text of more than {MOST_CHARACTERS // 1_000_000} million characters would be made")


def size_of(value: Any) -> int:
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
