"""Values of parameters in MATLAB's language: `[1 2; 3 4]`, `2*pi`, `1e-3`, `0:0.1:1`, `sqrt(2)*K`.

An own small reader with limits; nothing is ever evaluated by Python. It knows numbers, vectors, matrices, ranges,
operators, some functions and the variables it is given; what else MATLAB knows is refused by name.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

Values = numpy.ndarray[Any, numpy.dtype[Any]]
"""A matrix, as every value of MATLAB is; a number has one row and one column."""
MOST_ELEMENTS = 10_000
_LONGEST, _DEEPEST = 20_000, 60  # characters of a text; parentheses and brackets in each other
_MOST_IN_A_ROW, _MOST_WORK = 300, 50_000_000  # operations without parentheses; steps of the functions that take many
_TOKEN = re.compile(r"""
    (?P<number>(?:\d+(?:\.(?![*/^'])\d*)?|\.\d+)(?:[eEdD][+-]?\d+)?)
  | (?P<name>[A-Za-z]\w*)
  | (?P<operator>\.\*|\./|\.\^|\.'|==|~=|!=|<=|>=|&&|\|\||[-+*/^()\[\]{},;:<>&|~!'\n])
  | (?P<blank>[ \t]+|\.\.\.[^\n]*\n)
""", re.VERBOSE)
_LEVELS = (("||", "|"), ("&&", "&"), ("<", "<=", ">", ">=", "==", "~=", "!="), (":",), ("+", "-"),
           ("*", "/", ".*", "./"))
_CONSTANTS = {"pi": math.pi, "eps": 2.0**-52, "inf": math.inf, "Inf": math.inf, "nan": math.nan, "NaN": math.nan,
              "true": 1.0, "false": 0.0, "realmax": 1.7976931348623157e308, "realmin": 2.2250738585072014e-308}
_ELEMENTWISE: dict[str, Callable[[Values], Values]] = {
    "sin": numpy.sin, "cos": numpy.cos, "tan": numpy.tan, "asin": numpy.arcsin, "acos": numpy.arccos,
    "atan": numpy.arctan, "sinh": numpy.sinh, "cosh": numpy.cosh, "tanh": numpy.tanh, "exp": numpy.exp,
    "log": numpy.log, "log10": numpy.log10, "log2": numpy.log2, "sqrt": numpy.sqrt, "abs": numpy.abs,
    "sign": numpy.sign, "floor": numpy.floor, "ceil": numpy.ceil, "fix": numpy.trunc,
    "round": lambda a: numpy.sign(a) * numpy.floor(numpy.abs(a) + 0.5), "deg2rad": numpy.deg2rad,
    "rad2deg": numpy.rad2deg, "double": lambda a: a, "single": lambda a: a, "logical": lambda a: (a != 0) * 1.0,
}
_PAIRWISE: dict[str, Callable[[Values, Values], Values]] = {
    "atan2": numpy.arctan2, "hypot": numpy.hypot, "mod": numpy.mod, "rem": numpy.fmod, "power": numpy.power,
    "times": numpy.multiply, "rdivide": numpy.divide, "plus": numpy.add, "minus": numpy.subtract,
}


class ExpressionFault(ValueError):
    """A text is no expression that is known here; the message says why."""


@dataclass(frozen=True, slots=True)
class Tree:
    """An expression: `kind` is number, name, call, matrix, transpose, unary or an operator, with its parts."""

    kind: str
    value: Any = None
    parts: tuple[Tree, ...] = ()
    depth: int = 1

    @classmethod
    def of(cls, kind: str, value: Any = None, *parts: Tree) -> Tree:
        """With the depth of its parts. Raises ExpressionFault where that is too great."""
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth > _MOST_IN_A_ROW:
            raise ExpressionFault(f"it has more than {_MOST_IN_A_ROW} operations in a row; put parts of it in "
                                  "parentheses")
        return cls(kind, value, parts, depth)


def value_of(text: str, variables: Mapping[str, Values] | None = None) -> Values:
    """What an expression says, as a matrix. Raises ExpressionFault."""
    with numpy.errstate(all="ignore"):
        return _Evaluator(variables or {}).value(parse_expression(text))


@functools.lru_cache(4096)
def parse_expression(text: str) -> Tree:
    """The tree of an expression. Raises ExpressionFault."""
    return _Parser(text).read()


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise ExpressionFault(f"it is longer than {_LONGEST} characters")
        self._text, self._at, self._depth = text, 0, 0
        self._tokens = [*_tokens(text)]
        self._brackets: list[str] = []

    def read(self) -> Tree:
        tree = self._level(0)
        if self._kind() != "end":
            raise ExpressionFault(f"{self._text[:60]!r} goes on with {self._token()!r}, where it should end")
        return tree

    def _skip(self) -> bool:
        """Leaves blanks behind; whether there were any."""
        start = self._at
        while self._at < len(self._tokens) and (self._tokens[self._at][0] == "blank" or (
                self._brackets[-1:] != ["["] and self._tokens[self._at][1] == "\n")):
            self._at += 1
        return self._at > start

    def _kind(self) -> str:
        self._skip()
        return self._tokens[self._at][0] if self._at < len(self._tokens) else "end"

    def _token(self) -> str:
        self._skip()
        return self._tokens[self._at][1] if self._at < len(self._tokens) else "the end"

    def _take(self, *wanted: str) -> str:
        """The next operator, if it is one of these."""
        if self._kind() == "operator" and self._token() in wanted:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return ""

    def _is_next_element(self) -> bool:
        """In a matrix, whether a blank here ends an element: `[1 -2]` has two, `[1 - 2]` and `[1-2]` one."""
        if self._brackets[-1:] != ["["]:
            return False
        start = self._at
        after_blank = self._skip()
        if after_blank and self._at + 1 < len(self._tokens):
            kind, token = self._tokens[self._at]
            starts = kind != "operator" or token in "([" or (
                token in "+-~!" and self._tokens[self._at + 1][0] != "blank")
            self._at = start
            return starts
        self._at = start
        return False

    def _level(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self._unary()
        left = self._level(level + 1)
        while not self._is_next_element() and (operator := self._take(*_LEVELS[level])):
            right = self._level(level + 1)
            if operator == ":" and left.kind == ":" and len(left.parts) == 2:
                left = Tree.of(":", None, *left.parts, right)
            else:
                left = Tree.of(operator, None, left, right)
        return left

    def _unary(self) -> Tree:
        self._deepen()
        if operator := self._take("-", "+", "~", "!"):
            tree = Tree.of("unary", "~" if operator == "!" else operator, self._unary())
        else:
            tree = self._power()
        self._depth -= 1
        return tree

    def _power(self) -> Tree:
        left = self._atom()
        while not self._is_next_element() and (operator := self._take("^", ".^")):
            sign = self._take("-", "+")
            right = self._atom()
            left = Tree.of(operator, None, left, Tree.of("unary", sign, right) if sign else right)
        return left

    def _atom(self) -> Tree:
        kind, token = self._kind(), self._token()
        if kind == "number":
            self._at += 1
            tree = Tree("number", float(token.lower().replace("d", "e")))
        elif kind == "name":
            self._at += 1
            is_call = self._at < len(self._tokens) and self._tokens[self._at][1] == "("
            tree = Tree.of("call", token, *self._arguments()) if is_call else Tree("name", token)
        elif self._take("("):
            self._brackets.append("(")
            tree = self._level(0)
            self._close(")")
        elif self._take("["):
            tree = self._matrix()
        else:
            raise ExpressionFault(f"{self._text[:60]!r} has {token!r} where a number or a name should be")
        while self._at < len(self._tokens) and self._tokens[self._at][1] in ("'", ".'"):
            self._at += 1
            tree = Tree.of("transpose", None, tree)
        return tree

    def _arguments(self) -> list[Tree]:
        self._at += 1
        self._brackets.append("(")
        found = [] if self._token() == ")" else [self._level(0)]
        while self._take(","):
            found.append(self._level(0))
        self._close(")")
        return found

    def _matrix(self) -> Tree:
        self._deepen()
        self._brackets.append("[")
        rows: list[list[Tree]] = [[]]
        while self._token() != "]":
            if self._take(";", "\n"):
                rows.append([])
            elif not self._take(","):
                rows[-1].append(self._level(0))
        self._close("]")
        self._depth -= 1
        return Tree.of("matrix", None, *(Tree.of("row", None, *row) for row in rows if row))

    def _close(self, bracket: str) -> None:
        if not self._take(bracket):
            raise ExpressionFault(f"{self._text[:60]!r} has {self._token()!r} where {bracket!r} should be")
        self._brackets.pop()

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionFault(f"it is nested more than {_DEEPEST} deep")


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            raise ExpressionFault(f"{text[:60]!r} has {text[at]!r}, which is not known here")
        found.append((str(match.lastgroup), match[0]))
        at = match.end()
    return found


class _Evaluator:
    def __init__(self, variables: Mapping[str, Values]) -> None:
        self._variables, self._work = variables, 0

    def value(self, tree: Tree) -> Values:
        """The value of a tree, of at most MOST_ELEMENTS."""
        if tree.kind == "number":
            found = numpy.array([[tree.value]])
        elif tree.kind == "name":
            found = self._name(tree.value)
        elif tree.kind == "matrix":
            found = self._matrix(tree)
        elif tree.kind == "transpose":
            found = self.value(tree.parts[0]).T
        elif tree.kind == "call":
            found = self._call(tree.value, [self.value(part) for part in tree.parts])
        else:
            found = _operate(tree.value if tree.kind == "unary" else tree.kind, [*map(self.value, tree.parts)])
        if found.size > MOST_ELEMENTS:
            raise ExpressionFault(f"it has more than {MOST_ELEMENTS} elements")
        return found

    def _name(self, name: str) -> Values:
        if name in self._variables:
            return numpy.atleast_2d(numpy.asarray(self._variables[name], dtype=float))
        if name in _CONSTANTS:
            return numpy.array([[_CONSTANTS[name]]])
        raise ExpressionFault(f"the variable {name!r} has no value; set it, or write the number")

    def _matrix(self, tree: Tree) -> Values:
        try:
            parts = [[self.value(part) for part in row.parts] for row in tree.parts]
            if sum(part.size for row in parts for part in row) > MOST_ELEMENTS:
                raise ExpressionFault(f"it has more than {MOST_ELEMENTS} elements")
            rows = [numpy.hstack(row) for row in parts]
            return numpy.asarray(numpy.vstack(rows)) if rows else numpy.zeros((0, 0))
        except ValueError as error:
            if isinstance(error, ExpressionFault):
                raise
            raise ExpressionFault("the rows of a matrix are not of equal length") from None

    def _call(self, name: str, given: list[Values]) -> Values:
        if name in self._variables and len(given) == 1:
            index = given[0].ravel().astype(int) - 1
            values = self._name(name).ravel()
            if not all(0 <= number < values.size for number in index):
                raise ExpressionFault(f"{name} has {values.size} elements; the index goes beyond")
            return numpy.asarray(values[index].reshape(1, -1))
        if name in _ELEMENTWISE and len(given) == 1:
            return numpy.asarray(_ELEMENTWISE[name](given[0]), dtype=float)
        if name in _PAIRWISE and len(given) == 2:
            return _pairwise(_PAIRWISE[name], given[0], given[1])
        if name in _OTHERS and given:
            self._work += _WORK[name](given) if name in _WORK else 0
            if self._work > _MOST_WORK:
                raise ExpressionFault(f"{name} takes too long with so many values; write the numbers")
            try:
                return numpy.atleast_2d(numpy.asarray(_OTHERS[name](*given), dtype=float))
            except (TypeError, ValueError, OverflowError, numpy.linalg.LinAlgError) as error:
                raise ExpressionFault(f"{name} does not take these values ({error})"[:200]) from None
        raise ExpressionFault(f"the function {name!r} with {len(given)} values is not known here; write the number")


def _size(given: Sequence[Values]) -> tuple[int, int]:
    rows = int(given[0].ravel()[0])
    columns = int(given[1].ravel()[0]) if len(given) > 1 else int(given[0].ravel()[-1])
    if max(rows, 1) * max(columns, 1) > MOST_ELEMENTS:
        raise ExpressionFault(f"it has more than {MOST_ELEMENTS} elements")
    return max(rows, 0), max(columns, 0)


def _extreme(of: Callable[..., Values], between: Callable[..., Values]) -> Callable[..., Values]:
    return lambda *given: between(*given) if len(given) == 2 else of(given[0])


_OTHERS: dict[str, Callable[..., Any]] = {
    "zeros": lambda *size: numpy.zeros(_size(size)), "ones": lambda *size: numpy.ones(_size(size)),
    "eye": lambda *size: numpy.eye(*_size(size)), "diag": lambda a: numpy.diag(a.ravel() if 1 in a.shape else a),
    "linspace": lambda a, b, n=None: numpy.linspace(
        float(a[0, 0]), float(b[0, 0]), 100 if n is None else _size([numpy.array([[1.0]]), n])[1]),
    "conv": lambda a, b: numpy.convolve(a.ravel(), b.ravel()), "numel": lambda a: a.size,
    "length": lambda a: max(a.shape), "sum": lambda a: a.sum(), "prod": lambda a: a.prod(),
    "max": _extreme(numpy.max, numpy.maximum), "min": _extreme(numpy.min, numpy.minimum),
    "poly": lambda roots: numpy.real(numpy.poly(roots.ravel())), "inv": numpy.linalg.inv,
}


_WORK: dict[str, Callable[[Sequence[Values]], int]] = {
    "conv": lambda given: given[0].size * given[-1].size, "poly": lambda given: given[0].size**2,
    "inv": lambda given: given[0].shape[0]**3}
"""About how many steps a function takes, of those that take more than values have elements."""


def _pairwise(operate: Callable[[Values, Values], Values], left: Values, right: Values) -> Values:
    if max(left.shape[0], right.shape[0]) * max(left.shape[1], right.shape[1]) > MOST_ELEMENTS:
        raise ExpressionFault(f"it has more than {MOST_ELEMENTS} elements")
    try:
        return numpy.asarray(operate(left, right), dtype=float)
    except ValueError:
        raise ExpressionFault(f"sizes {left.shape} and {right.shape} do not fit each other") from None


def _operate(operator: str, given: list[Values]) -> Values:
    if len(given) == 1:
        return numpy.asarray({"-": -given[0], "+": given[0], "~": (given[0] == 0) * 1.0}[operator])
    if operator == ":":
        return _range(given)
    left, right = given
    are_matrices = left.size > 1 and right.size > 1
    if operator == "*" and are_matrices:
        return _pairwise(numpy.matmul, left, right)
    if operator == "^" and left.size > 1:
        power = right.ravel()
        if right.size == 1 and power[0] in range(1001) and left.shape[0] == left.shape[1]:
            return numpy.linalg.matrix_power(left, int(power[0]))
        raise ExpressionFault("a matrix has powers that are whole numbers only; .^ is element by element")
    if operator == "/" and right.size > 1:
        raise ExpressionFault("division by a matrix is not known here; ./ is element by element")
    return _pairwise(_OPERATIONS[operator], left, right)


_OPERATIONS: dict[str, Callable[[Values, Values], Values]] = {
    "+": numpy.add, "-": numpy.subtract, "*": numpy.multiply, ".*": numpy.multiply, "/": numpy.divide,
    "./": numpy.divide, "^": numpy.power, ".^": numpy.power, "<": lambda a, b: (a < b) * 1.0,
    "<=": lambda a, b: (a <= b) * 1.0, ">": lambda a, b: (a > b) * 1.0, ">=": lambda a, b: (a >= b) * 1.0,
    "==": lambda a, b: (a == b) * 1.0, "~=": lambda a, b: (a != b) * 1.0, "!=": lambda a, b: (a != b) * 1.0,
    "&": lambda a, b: ((a != 0) & (b != 0)) * 1.0, "&&": lambda a, b: ((a != 0) & (b != 0)) * 1.0,
    "|": lambda a, b: ((a != 0) | (b != 0)) * 1.0, "||": lambda a, b: ((a != 0) | (b != 0)) * 1.0,
}


def _range(given: list[Values]) -> Values:
    first, step, last = (float(given[0][0, 0]), float(given[1][0, 0]) if len(given) == 3 else 1.0,
                         float(given[-1][0, 0]))
    if not all(map(math.isfinite, (first, step, last))):
        raise ExpressionFault("a range needs finite numbers")
    if step == 0 or (last - first) / step < 0:
        return numpy.zeros((1, 0))
    count = math.floor((last - first) / step * (1 + 1e-14) + 1e-10) + 1
    if count > MOST_ELEMENTS:
        raise ExpressionFault(f"it has more than {MOST_ELEMENTS} elements")
    return (first + step * numpy.arange(count)).reshape(1, -1)
