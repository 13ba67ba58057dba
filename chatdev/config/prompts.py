"""Templates of prompts: what they name, and rendering them. What a model wrote is a value, never a template."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, nodes
from jinja2.meta import find_undeclared_variables

from chatdev.config.environment import FAILURES, DataEnvironment
from chatdev.errors import ConfigError


def render(template: str, values: Mapping[str, Any], where: str) -> str:
    """`template` with `values`; `where` names it in errors, e.g. `phases.coding.opening`.

    Filters beside Jinja2's own: `listing` (a software as path lines and fenced blocks) and `tojson` (plain JSON).
    Raises ConfigError for a syntax error, a variable without a value or an operation the values do not allow.
    """
    try:
        return _compiled(template).render(values)
    except TemplateSyntaxError as error:
        raise ConfigError(f"{where}: {_syntax(error)}") from error
    except FAILURES as error:
        raise ConfigError(f"{where}: the template cannot be rendered: {error} (it is given: "
                          f"{', '.join(sorted(values)) or 'nothing'})") from error


@lru_cache(maxsize=1024)
def variables(template: str) -> frozenset[str]:
    """The names a template needs from outside; raises ConfigError for a syntax error."""
    return frozenset(find_undeclared_variables(_parsed(template)))


@lru_cache(maxsize=1024)
def entries(template: str, name: str) -> frozenset[str]:
    """The entries of the variable `name` that a template asks for: `x` for `inputs.x` and `inputs["x"]`; methods that
    it calls (`inputs.items()`) are none."""
    tree = _parsed(template)
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    dotted = {node.attr for node in tree.find_all(nodes.Getattr) if _is(node.node, name) and id(node) not in called}
    indexed = {node.arg.value for node in tree.find_all(nodes.Getitem)
               if _is(node.node, name) and isinstance(node.arg, nodes.Const)}
    return frozenset(dotted | {key for key in indexed if isinstance(key, str)})


def _is(node: nodes.Node, name: str) -> bool:
    return isinstance(node, nodes.Name) and node.name == name


def _parsed(template: str) -> nodes.Template:
    try:
        return _environment().parse(template)
    except (TemplateSyntaxError, RecursionError) as error:
        raise ConfigError(_syntax(error)) from error


def _syntax(error: TemplateSyntaxError | RecursionError) -> str:
    if isinstance(error, RecursionError):
        return "the template is nested too deeply"
    return f"the template is broken in its line {error.lineno}: {error.message}"


@lru_cache(maxsize=1024)
def _compiled(template: str) -> Template:
    return _environment().from_string(template)


@cache
def _environment() -> DataEnvironment:
    return DataEnvironment(StrictUndefined)
