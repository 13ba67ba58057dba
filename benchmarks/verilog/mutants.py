"""Faults put into working Verilog: twelve operators, each a mistake that engineers and models make.

Every change is made at a place that pyslang's syntax tree gives, so that comments and layout stay as they are, and the
line of the mistake is known.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from chatdev.departments.verilog.design.elaborate import elaborate
from chatdev.departments.verilog.target import USUAL, Target

_SWAPS = {"&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&", "+": "-", "-": "+", "==": "!=", "!=": "==", "<": "<=",
          "<=": "<", ">": ">=", ">=": ">", "<<": ">>", ">>": "<<", "~^": "^", "^~": "^"}
_NUMBER = re.compile(r"(?:(?P<size>\d+)?'(?P<base>s?[bdh]))?(?P<digits>[0-9a-f]+)", re.IGNORECASE)
_BASES = {"b": 2, "d": 10, "h": 16}
_RESET = re.compile(r"\b\w*(?:reset|rst)\w*\b", re.IGNORECASE)
_WIDTH = re.compile(r"\b(?:reg|wire|logic|output)\s+(?:signed\s+)?\[(?P<left>[1-9]\d*)\s*:\s*0\]")


@dataclass(frozen=True, slots=True)
class Mutant:
    """A source with one mistake. `line` is where it is, counted from 1; for something that is missing, the line of what
    it is missing from."""

    operator: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """Put `new` in place of some bytes; the mistake is in the line of byte `place`."""

    operator: str
    start: int
    end: int
    new: str
    place: int


def mutants(text: str, target: Target = USUAL) -> list[Mutant]:
    """All mutants of a source, in the order of the operators and then of the places; raises DesignError."""
    compilation, instance, _source = elaborate(text, target)
    finder = _Finder(text.encode(), instance.body.definition.location.buffer)
    instance.body.visit(finder.visit)
    finder.declarations()
    found: dict[str, Mutant] = {}
    for edit in sorted(finder.edits, key=lambda one: (one.operator, one.start, one.new)):
        changed = (finder.source[:edit.start] + edit.new.encode() + finder.source[edit.end:]).decode()
        found.setdefault(changed, Mutant(edit.operator, changed, finder.source[:edit.place].count(b"\n") + 1))
    del compilation  # the nodes live as long as it does
    return [mutant for changed, mutant in found.items() if changed != text]


class _Finder:
    """Finds the places for every operator."""

    def __init__(self, source: bytes, buffer: Any) -> None:
        self.source, self._buffer = source, buffer
        self.edits: list[_Edit] = []

    def visit(self, node: Any) -> None:
        """Look at a node of the design."""
        kind = getattr(getattr(node, "kind", None), "name", "")
        syntax = getattr(node, "syntax", None)
        if kind in _AT and syntax is not None and syntax.sourceRange.start.buffer == self._buffer:
            for look in _AT[kind]:
                self.edits += look(self, node)

    def declarations(self) -> None:
        """Look at the widths of signals."""
        for found in _WIDTH.finditer(self.source.decode("latin-1")):
            start, end = found.span("left")
            self.edits.append(_Edit("bit width", start, end, str(int(found["left"]) - 1), start))

    def text(self, node: Any) -> str:
        start, end = self.span(node)
        return self.source[start:end].decode()

    @staticmethod
    def span(node: Any) -> tuple[int, int]:
        """First byte and the byte after the last one, without what is around it."""
        place = node.syntax.sourceRange
        return place.start.offset, place.end.offset

    def _put(self, operator: str, node: Any, new: str) -> _Edit:
        start, end = self.span(node)
        return _Edit(operator, start, end, new, start)

    def _operator(self, node: Any) -> Iterator[_Edit]:
        token = getattr(_bare(node.syntax), "operatorToken", None)
        swapped = _SWAPS.get(token.valueText) if token else None
        if token and swapped:
            start, end = token.range.start.offset, token.range.end.offset
            yield _Edit("operator swap", start, end, swapped, start)

    def _operands(self, node: Any) -> Iterator[_Edit]:
        if node.op.name in {"Subtract", "LessThan", "GreaterThan", "LogicalShiftLeft", "LogicalShiftRight", "Divide"}:
            yield from self._exchange(node.left, node.right)

    def _choices(self, node: Any) -> Iterator[_Edit]:
        yield from self._exchange(node.left, node.right)

    def _pieces(self, node: Any) -> Iterator[_Edit]:
        for one, other in itertools.pairwise(node.operands):
            yield from self._exchange(one, other)

    def _exchange(self, one: Any, other: Any) -> Iterator[_Edit]:
        (start, middle), (again, end) = ((place.start.offset, place.end.offset)
                                         for place in (one.sourceRange, other.sourceRange))
        new = self.source[again:end] + self.source[middle:again] + self.source[start:middle]
        yield _Edit("swapped operands", start, end, new.decode(), start)

    def _constant(self, node: Any) -> Iterator[_Edit]:
        found = _NUMBER.fullmatch(self.text(node))
        if found:
            base = (found["base"] or "d").lower()[-1]
            number = int(found["digits"], _BASES[base]) ^ 1
            prefix = f"{found['size'] or ''}'{found['base']}" if found["base"] else ""
            yield self._put("constant", node, prefix + format(number, {"h": "x"}.get(base, base)))

    def _if(self, node: Any) -> Iterator[_Edit]:
        condition = node.syntax.predicate.sourceRange
        start, end = condition.start.offset, condition.end.offset
        words = self.source[start:end].decode()
        yield _Edit("reset polarity" if _RESET.search(words) else "negated condition", start, end, f"!({words})", start)
        if node.syntax.elseClause:
            clause = node.syntax.elseClause.sourceRange
            yield _Edit("dropped else", clause.start.offset, clause.end.offset, "", start)
        if _RESET.search(words) and not words.strip().startswith(("!", "~")):
            yield from self._reset_values(node.ifTrue)

    def _reset_values(self, branch: Any) -> Iterator[_Edit]:
        def visit(node: Any) -> None:
            if getattr(getattr(node, "kind", None), "name", "") == "Assignment":
                taken = node.syntax.right
                start, end = taken.sourceRange.start.offset, taken.sourceRange.end.offset
                found.append(_Edit("reset value", start, end, f"~({self.source[start:end].decode()})", start))

        found: list[_Edit] = []
        branch.visit(visit)
        yield from found

    def _case(self, node: Any) -> Iterator[_Edit]:
        head = node.syntax.expr.sourceRange.start.offset
        for item in node.syntax.items:
            place = item.sourceRange
            yield _Edit("missing case item", place.start.offset, place.end.offset, "", head)

    def _edge(self, node: Any) -> Iterator[_Edit]:
        start, end = self.span(node)
        for found in re.finditer(rb"\b(posedge|negedge)\b", self.source[start:end]):
            new = "negedge" if found[1] == b"posedge" else "posedge"
            yield _Edit("wrong edge", start + found.start(), start + found.end(), new, start + found.start())

    def _assignment(self, node: Any) -> Iterator[_Edit]:
        token = node.syntax.operatorToken
        if token.valueText in {"=", "<="} and self._procedural(node):
            start, end = token.range.start.offset, token.range.end.offset
            yield _Edit("blocking", start, end, "<=" if token.valueText == "=" else "=", start)
        yield from self._transitions(node.right)

    @staticmethod
    def _procedural(node: Any) -> bool:
        return bool(node.syntax.parent.kind.name == "ExpressionStatement")

    def _transitions(self, taken: Any) -> Iterator[_Edit]:
        """Another state of the same set, wherever a named one is assigned."""
        def visit(node: Any) -> None:
            if getattr(getattr(node, "kind", None), "name", "") == "NamedValue" and node.symbol.kind.name in _STATES:
                names = [one.name for one in node.symbol.parentScope if one.kind == node.symbol.kind]
                other = names[(names.index(node.symbol.name) + 1) % len(names)]
                found.append(self._put("state transition", node, other))

        found: list[_Edit] = []
        taken.visit(visit)
        yield from found


def _bare(syntax: Any) -> Any:
    """Without parentheses."""
    while syntax.kind.name == "ParenthesizedExpression":
        syntax = syntax.expression
    return syntax


_STATES = {"Parameter", "EnumValue", "TransparentMember"}
_AT: dict[str, list[Callable[[_Finder, Any], Iterator[_Edit]]]] = {
    "BinaryOp": [_Finder._operator, _Finder._operands], "ConditionalOp": [_Finder._choices],
    "Concatenation": [_Finder._pieces], "IntegerLiteral": [_Finder._constant], "Conditional": [_Finder._if],
    "Case": [_Finder._case], "Timed": [_Finder._edge], "Assignment": [_Finder._assignment],
}
