"""Where new statements go in a module or a class."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from chatdev.replies.python.edits import code_of
from chatdev.replies.python.outline import Code, Kind, Unit
from chatdev.replies.search_replace import indentation


@dataclass(frozen=True)
class Room:
    """The body of a module, or of the class `owner`. Places are line indices to insert before."""

    code: Code
    units: Sequence[Unit]
    indent: str = ""
    owner: Unit | None = None

    @cached_property
    def statements(self) -> frozenset[str]:
        """All statements, without layout and comments."""
        return frozenset(code for unit in self.units if (code := code_of(unit.node)) is not None)

    @property
    def blanks(self) -> int:
        """Blank lines around a definition (PEP 8)."""
        return 1 if self.owner else 2

    @property
    def end(self) -> int:
        """Behind everything."""
        return self._behind(self.units[-1]) if self.owner else len(self.code.lines)

    @property
    def definitions(self) -> int:
        """For a function or class: at the end of a class; in a module before what the module does when it is run."""
        if self.owner:
            return self.end
        guard = next((index for index, unit in enumerate(self.units) if unit.kind == "guard"), None)
        if guard is not None:
            return self._before(guard)
        if defined := [unit for unit in self.units if unit.defines]:
            return self._behind(defined[-1])
        action = next((index for index, unit in enumerate(self.units) if unit.kind == "other"), None)
        return self.end if action is None else self._before(action)

    def constants(self, unit: Unit) -> int:
        """For an assignment: with those at the top, or behind the definitions when it uses one."""
        defined = {other.name for other in self.units if other.defines}
        used = {node.id for node in ast.walk(unit.node) if isinstance(node, ast.Name)}
        if not self.owner and defined & used:
            return self.definitions
        return self._behind_top("doc", "import", "assign")

    def imports(self, unit: Unit) -> int:
        """For an import: with those at the top."""
        future = isinstance(unit.node, ast.ImportFrom) and unit.node.module == "__future__"
        return self._behind_top("doc") if future else self._behind_top("doc", "import")

    def _behind_top(self, *kinds: Kind) -> int:
        """Behind the statements of these kinds that the body begins with."""
        count = next((index for index, unit in enumerate(self.units) if unit.kind not in kinds), len(self.units))
        if count:
            return self._behind(self.units[count - 1])
        return self.code.comment_above(self.units[0]) if self.owner else self._behind_header()

    def _behind_header(self) -> int:
        """Behind the comments at the top of the file (interpreter, encoding, licence)."""
        lines = self.code.lines
        end = next((index for index, line in enumerate(lines) if not line.startswith("#")), len(lines))
        return end if not self.units or end < self.units[0].start else min(2, self.code.comment_above(self.units[0]))

    def _before(self, index: int) -> int:
        return self._behind(self.units[index - 1]) if index else self.code.comment_above(self.units[0])

    def _behind(self, unit: Unit) -> int:
        return self.code.behind(unit) if unit.defines else unit.end


def module_room(code: Code) -> Room:
    """The body of the module."""
    return Room(code, code.units)


def class_room(code: Code, owner: Unit) -> Room:
    """The body of a class."""
    return Room(code, owner.members, indentation(code.lines[owner.members[0].start]), owner)
