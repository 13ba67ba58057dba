"""Merging part of a Python file into it: definitions, imports and constants are exchanged, every other byte stays."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from chatdev.replies.problem import Unreadable
from chatdev.replies.python.edits import (
    Edits,
    Import,
    code_of,
    header_end,
    imports_of,
    missing_imports,
    moved,
    same_header,
)
from chatdev.replies.python.outline import Code, Function, Unit, without_docstring
from chatdev.replies.python.parts import is_stub, starts
from chatdev.replies.python.places import Room, class_room, module_room
from chatdev.replies.search_replace import indentation, refuse_width

_MOST_UNITS = 1000  # statements that one part may bring; each takes a walk through the file


def merge(path: str, old: Code, part: Code) -> str:
    """The text of `old` with `part` in it.

    Same-named functions, classes and constants are replaced, methods also inside their class; what is new goes where
    it belongs. Raises Unreadable when it is not clear what is meant.
    """
    if len(part.units) > _MOST_UNITS:
        raise Unreadable(f"{path}: {len(part.units)} statements to put into the file; give the whole file instead, "
                         "marked `whole` behind the fence")
    merging = _Merging(path, old, part, Edits(old))
    merging.body(part.units, module_room(old))
    if not merging.problems and not merging.applied:
        merging.problem("the block holds no code to put into the file")
    if merging.problems:
        raise Unreadable(*merging.problems)
    return merging.edits.result()


@dataclass(slots=True)
class _Merging:
    path: str
    old: Code
    part: Code
    edits: Edits
    problems: list[str] = field(default_factory=list)
    applied: int = 0
    """Statements of the part that have their place, changed or not."""
    imported: set[Import] = field(init=False)
    """What the file imports before."""

    def __post_init__(self) -> None:
        self.imported = imports_of(self.old)

    def moved(self, start: int, end: int, indent: str) -> str:
        """Lines of the part, indented as deep as they belong."""
        refuse_width(self.path, indent)
        return moved(self.part, start, end, indent)

    def problem(self, text: str) -> None:
        """Note why something cannot be merged."""
        self.problems.append(f"{self.path}: {text}")

    def body(self, units: Sequence[Unit], room: Room) -> None:
        """Merge the statements of a module's or class's body."""
        given = Counter((unit.defines, unit.name) for unit in units if unit.name)
        seen: Counter[tuple[bool, str]] = Counter()
        for unit in units:
            if unit.kind in ("doc", "ellipsis"):
                continue
            if unit.name:
                key = (unit.defines, unit.name)
                self.named(unit, room, given[key], seen[key])
                seen[key] += 1
            else:
                self.nameless(unit, room)

    def nameless(self, unit: Unit, room: Room) -> None:
        """Merge an import, the main guard or any other statement."""
        if unit.kind == "import":
            self.applied += 1
            if text := missing_imports(self.imported, self.part, unit):
                self.edits.insert(room.imports(unit), text, 0)
        elif unit.kind == "guard":
            guards = [other for other in room.units if other.kind == "guard"]
            self.replace(guards[0], unit) if guards else self.add(unit, room, room.end)
        elif code_of(unit.node) in room.statements or isinstance(unit.node, ast.Pass):
            self.applied += 1
        elif not room.owner and starts(self.old) and self.is_example(unit.node):
            return
        else:
            line = self.part.lines[unit.start].strip()
            self.problem(f"it is not clear where `{line[:80]}` belongs: put it into a function, "
                         f"use SEARCH/REPLACE, or give the file as a whole, marked `whole` behind the fence")

    def is_example(self, node: ast.stmt) -> bool:
        """Whether a statement only shows how something of the file is used (`print(add(1, 2))`)."""
        defined = {unit.name for unit in (*self.old.units, *self.part.units) if unit.defines}
        calls = [node.value] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else []
        if calls and isinstance(calls[0].func, ast.Name) and calls[0].func.id == "print":
            calls = [argument for argument in calls[0].args if isinstance(argument, ast.Call)]
        return any(isinstance(call.func, ast.Name) and call.func.id in defined for call in calls)

    def named(self, unit: Unit, room: Room, given: int, index: int) -> None:
        """Merge a definition or an assignment; `index` counts those of the same name before it."""
        matches = [other for other in room.units if other.name == unit.name and other.defines == unit.defines]
        if not matches:
            self.new(unit, room)
        elif len(matches) != given:
            self.problem(f"`{unit.name}` stands {len(matches)} times in the file and {given} times "
                         f"in the block: use SEARCH/REPLACE")
        elif unit.kind == "class" and matches[index].kind == "class":
            self.class_(matches[index], unit)
        else:
            self.definition(matches[index], unit)

    def new(self, unit: Unit, room: Room) -> None:
        """Merge something the body does not have: a method without its class, or a real addition."""
        if not room.owner and _is_method(unit.node):
            owners = self.owners(unit)
            if owners is None:
                return
            if owners:
                self.named(unit, class_room(self.old, owners[0]), 1, 0)
                return
        self.add(unit, room, room.definitions if unit.defines else room.constants(unit))

    def owners(self, method: Unit) -> list[Unit] | None:
        """The class a bare method belongs to: none or one; None after a problem was noted."""
        classes = [unit for unit in self.old.units if unit.kind == "class"]
        having = [unit for unit in classes if any(member.name == method.name for member in unit.members)]
        fitting = having or classes
        if len(fitting) <= 1:
            return fitting
        names = ", ".join(unit.name for unit in fitting)
        why = "is a method of several classes" if having else "could belong to several classes"
        self.problem(f"`{method.name}` {why} ({names}): give it inside its class")
        return None

    def class_(self, old: Unit, new: Unit) -> None:
        """Replace a class, or merge its members when the part gives only some of them."""
        missing = {member.name for member in old.members if member.name} - {member.name for member in new.members}
        stubs = any(is_stub(member, _named(old.members, member.name)) for member in new.members)
        if not missing and not stubs and not self.part.elisions(new):
            self.replace(old, new)
            return
        if old.members[0].start < header_end(self.old, old) or new.members[0].start < header_end(self.part, new):
            self.problem(f"class `{old.name}` stands on one line: give it as a whole")
            return
        self.applied += 1
        if not same_header(old.node, new.node):
            indent = indentation(self.old.lines[old.start])
            header = self.moved(new.start, header_end(self.part, new), indent)
            self.edits.replace(old.start, header_end(self.old, old), header)
        self.body(new.members, class_room(self.old, old))

    def definition(self, old: Unit, new: Unit) -> None:
        """Replace a function or a constant, unless the new one leaves its body out."""
        if is_stub(new, old) or (_only_pass(new.node) and self.part.elisions(new)):
            return
        if self.part.elisions(new):
            self.problem(f"`{new.name}` leaves code out: give it completely")
            return
        self.replace(old, new)

    def replace(self, old: Unit, new: Unit) -> None:
        """Put the text of `new` in the place of `old`."""
        self.applied += 1
        if self.shares_line(old) or self.shares_line(new):
            return
        if self.old.lines[old.start:old.end] != self.part.lines[new.start:new.end]:
            indent = indentation(self.old.lines[old.start])
            self.edits.replace(old.start, old.end, self.moved(new.start, new.end, indent))

    def add(self, unit: Unit, room: Room, place: int) -> None:
        """Put `unit`, with the comment above it, at a place of its room."""
        self.applied += 1
        if self.part.elisions(unit) and not unit.members:
            self.problem(f"`{unit.name}` leaves code out: give it completely")
        elif not self.shares_line(unit):
            blanks = room.blanks if unit.defines or unit.kind == "guard" else 0
            self.edits.insert(place, self.moved(self.part.comment_above(unit), unit.end, room.indent), blanks)

    def shares_line(self, unit: Unit) -> bool:
        """Whether other code stands on a line of `unit`; that is a problem, for lines are what is exchanged."""
        if unit.shared:
            self.problem(f"`{unit.name or 'the main guard'}` shares a line with other code: use SEARCH/REPLACE")
        return unit.shared


def _named(units: Iterable[Unit], name: str) -> Unit | None:
    return next((unit for unit in units if unit.defines and unit.name == name), None)


def _is_method(node: ast.stmt) -> bool:
    """Whether a function is written as a method."""
    if not isinstance(node, Function):
        return False
    first = [*node.args.posonlyargs, *node.args.args][:1]
    decorators = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
    bound = bool(first) and first[0].arg in ("self", "cls")
    return bound or bool(decorators & {"staticmethod", "classmethod", "property"})


def _only_pass(node: ast.stmt) -> bool:
    return isinstance(node, Function) and all(isinstance(item, ast.Pass) for item in without_docstring(node))
