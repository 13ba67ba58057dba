"""Expressions of a company: `until`, `when`, `over`, `success` (design §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from jinja2 import ChainableUndefined, TemplateSyntaxError, nodes
from jinja2.environment import TemplateExpression
from jinja2.meta import find_undeclared_variables
from jinja2.parser import Parser

from chatdev.config.environment import FAILURES, DataEnvironment
from chatdev.errors import ExpressionError


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
            result = self._compiled(values)
            return list(result) if isinstance(result, Iterator) else result
        except FAILURES as error:
            raise ExpressionError(f"the expression {self.text!r} cannot be evaluated: {error}; "
                                  "check the names and the kinds of values it compares") from error


@lru_cache(maxsize=1024)
def compile_expression(text: str) -> Expression:
    """The expression `text`; raises ExpressionError when it is not a Jinja2 expression."""
    try:
        parsed = Parser(_environment(), text, state="variable").parse_expression()
        tree = nodes.Template([nodes.Output([parsed])], lineno=1).set_environment(_environment())
        names = frozenset(find_undeclared_variables(tree))  # type: ignore[arg-type]  # the very template just made
        return Expression(text, names, _environment().compile_expression(text))
    except (TemplateSyntaxError, RecursionError, SyntaxError, OverflowError, ValueError) as error:
        problem = getattr(error, "message", None) or error
        raise ExpressionError(f"{text!r} is not an expression: {problem}; write something like `test.passed` or "
                              "`not executed and fault == \"build\"`") from error


@cache
def _environment() -> DataEnvironment:
    return DataEnvironment(_Missing)
