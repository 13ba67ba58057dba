"""Templates of prompts (`render`) and expressions of chains (`compile_expression`), in one Jinja2 environment:
sandboxed, data only, nothing to call but filters. What a model wrote is a value, never a template."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from jinja2 import ChainableUndefined, StrictUndefined, Template, TemplateError, TemplateSyntaxError, Undefined, nodes
from jinja2.environment import TemplateExpression
from jinja2.meta import find_undeclared_variables
from jinja2.parser import Parser

from chatdev.config.schema_text import type_text
from chatdev.config.template_limits import LimitedEnvironment
from chatdev.config.template_meter import measure_rendering
from chatdev.errors import ConfigError, ExpressionError
from chatdev.workspace.repository_map import map_repository


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
