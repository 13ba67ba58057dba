"""The slice that pyverilog's parser allows, for comparison: all assignments of a signal, and the conditions around.

VerilogCoder (arXiv 2408.08927) traces on pyverilog's syntax tree; this does the same with its latest release (1.3.0),
without elaboration: a signal is its name, whole, in whichever module. It is optional: pip install pyverilog==1.3.0
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Driver:
    """What one assignment reads, and its line with those of the conditions around it."""

    reads: frozenset[str]
    lines: frozenset[int]


class Parser:
    """pyverilog's parser. Building its tables takes most of the time that a file takes, and is done once here."""

    def __init__(self) -> None:
        """Raises ImportError where pyverilog is not installed."""
        from pyverilog.vparser import parser

        self._refuses = parser.ParseError
        with tempfile.TemporaryDirectory() as folder:
            self._parser = parser.VerilogParser(outputdir=folder, debug=False)

    def __call__(self, text: str) -> Any:
        """The syntax tree of a source, None when it cannot be parsed."""
        self._parser.lexer.reset_lineno()
        try:
            return self._parser.parse(text, debug=0)
        except self._refuses:
            return None


def sliced(tree: Any, outputs: Iterable[str], levels: int) -> list[set[int]]:
    """The lines within 1, 2, … levels of the outputs."""
    drivers = defaultdict[str, list[Driver]](list)
    for target, driver in _drivers(tree, frozenset(), frozenset()):
        drivers[target].append(driver)
    wanted, seen, lines, found = set(outputs), set[str](), set[int](), []
    for _ in range(levels):
        seen |= wanted
        here = [driver for name in wanted for driver in drivers[name]]
        lines |= {line for driver in here for line in driver.lines}
        wanted = {name for driver in here for name in driver.reads} - seen
        found.append(set(lines))
    return found


def _drivers(node: Any, reads: frozenset[str], lines: frozenset[int]) -> Iterator[tuple[str, Driver]]:
    """Every assignment below a node, with what the nodes around it add."""
    kind = type(node).__name__
    if kind in {"Assign", "NonblockingSubstitution", "BlockingSubstitution"}:
        driver = Driver(reads | _names(node.right), lines | {node.lineno})
        yield from ((target, driver) for target in _names(node.left))
        return
    if kind == "Always":
        reads |= _names(node.sens_list)
        lines |= {sens.lineno for sens in node.sens_list.list if sens.type in {"posedge", "negedge"}}
    elif kind == "IfStatement":
        reads, lines = reads | _names(node.cond), lines | {node.cond.lineno}
    elif kind == "CaseStatement":
        reads, lines = reads | _names(node.comp), lines | {node.comp.lineno}
    elif kind == "Case" and node.cond:
        lines |= {label.lineno for label in node.cond}
    for child in node.children():
        yield from _drivers(child, reads, lines)


def _names(node: Any) -> frozenset[str]:
    found = {node.name} if type(node).__name__ == "Identifier" else set()
    return frozenset(found.union(*(_names(child) for child in node.children())))
