"""Which way an `if`, a `case` or an edge between two statements goes, for given values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyslang import SVInt
    from pyslang.ast import CaseStatementCondition, Expression

Value = Callable[["Expression"], "SVInt | None"]
"""The value of an expression, None when it cannot be told."""


class Decision(Protocol):
    """A place at which a process goes one of several ways."""

    def branch(self, value: Value) -> int | None:
        """The number of the way, None when it cannot be told."""
        ...

    def consulted(self, branch: int) -> Sequence[Expression]:
        """The expressions that were looked at before it went this way."""
        ...


class If:
    """Way 0 when every expression is true, else way 1; x and z are not true, as in the language. One with patterns is
    not `plain`: of that nothing can be told."""

    def __init__(self, expressions: Sequence[Expression], plain: bool = True) -> None:
        self._expressions, self._plain = expressions, plain

    def branch(self, value: Value) -> int | None:
        found = [value(expression) for expression in self._expressions] if self._plain else [None]
        if any(one is not None and not is_true(one) for one in found):
            return 1
        return None if None in found else 0

    def consulted(self, branch: int) -> Sequence[Expression]:
        return self._expressions


class Case:
    """The number of the first item with a label that matches, or the number of items when none does."""

    def __init__(self, expression: Expression, labels: Sequence[Sequence[Expression]],
                 condition: CaseStatementCondition) -> None:
        self._expression, self._labels, self._wild = expression, labels, _WILD[condition.name]

    def branch(self, value: Value) -> int | None:
        found = value(self._expression)
        if found is None or self._wild is None:
            return None
        for number, labels in enumerate(self._labels):
            for label in map(value, labels):
                if label is None:
                    return None
                if _match(bits(found), bits(label), self._wild):
                    return number
        return len(self._labels)

    def consulted(self, branch: int) -> Sequence[Expression]:
        return [self._expression, *(label for labels in self._labels[:branch + 1] for label in labels)]


def twins(labels: Iterable[Expression], value: Value) -> list[Expression]:
    """The labels that have the same value as another."""
    same = defaultdict[str, list["Expression"]](list)
    for label in labels:
        known = value(label)
        if known is not None:
            same[bits(known)].append(label)
    return [label for group in same.values() if len(group) > 1 for label in group]


_WILD = {"Normal": "", "WildcardJustZ": "z", "WildcardXOrZ": "xz", "Inside": None}


def is_true(value: Any) -> bool:
    """Whether a value counts as true: a bit of it is 1."""
    return "1" in bits(value)


def bits(value: Any) -> str:
    """A value as 0, 1, x and z, the most significant first, in its full width."""
    from pyslang import LiteralBase

    if value.isSigned:  # negative ones would be written with a sign
        return "".join(str(value[place]) for place in reversed(range(value.bitWidth)))
    text: str = value.toString(LiteralBase.Binary, False)
    return text.rjust(value.bitWidth, text[0] if text[0] in "xz" else "0")


def _match(left: str, right: str, wild: str) -> bool:
    return all(a == b or a in wild or b in wild for a, b in zip(left, right, strict=True))
