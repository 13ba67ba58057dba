"""What in a source only checks it, and Icarus Verilog 11 does not know: it can be left out, as it changes nothing of
what a module does. Nodes are those of pyslang."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from chatdev.departments.verilog.reach import kind_of, nodes_below

_CHECKS = frozenset({"ConcurrentAssertionMember", "PropertyDeclaration", "SequenceDeclaration", "ElabSystemTask",
                     "DefaultDisableDeclaration", "DefaultClockingReference"})
_CHECKING = frozenset({"AssertPropertyStatement", "AssumePropertyStatement", "CoverPropertyStatement",
                       "CoverSequenceStatement", "RestrictPropertyStatement"})
_DEFERRABLE = frozenset({"ImmediateAssertStatement", "ImmediateAssumeStatement", "ImmediateCoverStatement"})
_BRANCHES = frozenset({"IfGenerate", "ElseClause", "LoopGenerate", "StandardCaseItem", "DefaultCaseItem"})


def find_unsimulated(root: Any) -> Iterator[tuple[int, int, str]]:
    """Where the text of a syntax tree has what only checks it, and what Icarus Verilog 11 does not know: concurrent and
    deferred assertions, what they are made of, and tasks of elaboration; with what may stand there instead."""
    end = 0
    for node in nodes_below(root):
        span = node.sourceRange
        if span.start.offset >= end and (instead := _instead_of(node)) is not None:
            end = span.end.offset
            yield span.start.offset, end, instead


def _instead_of(node: Any) -> str | None:
    kind, above = kind_of(node), kind_of(node.parent) if node.parent is not None else ""
    if kind in _CHECKS or (kind == "ClockingDeclaration" and str(node).split()[:1] == ["default"]):
        return "begin end" if above in _BRANCHES else ""
    if kind in _DEFERRABLE and not any(kind_of(one) == "DeferredAssertion" for one in nodes_below(node)):
        return None
    return ";" if kind in _CHECKING | _DEFERRABLE else None
