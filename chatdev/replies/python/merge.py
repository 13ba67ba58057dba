"""Merging part of a Python file into it: definitions, imports and constants are exchanged, every other byte stays."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile

from chatdev.replies.fences import indentation
from chatdev.replies.hunks import refuse_width
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable
from chatdev.replies.python.reader import Import, Kind, Outline, Statement, is_stub

# Where new statements go in a module or a class, and edits by lines.

_FUTURE = "__future__"
_HEADER = re.compile(r"#!|#.*coding[:=]")  # the interpreter, the encoding: they must stay at the top


@dataclass(frozen=True)
class InsertionPoints:
    """Places in the body of a module, or of the class `owner`: line indices to insert before."""

    outline: Outline
    statements: Sequence[Statement]
    indent: str = ""
    owner: Statement | None = None

    @cached_property
    def texts(self) -> frozenset[str]:
        """Fingerprints of the statements that have no name."""
        return frozenset(statement.text for statement in self.statements if statement.text is not None)

    @property
    def blanks(self) -> int:
        """Blank lines around a definition (PEP 8)."""
        return 1 if self.owner else 2

    @property
    def end(self) -> int:
        """After everything."""
        return self._line_after(self.statements[-1]) if self.owner else len(self.outline.lines)

    @property
    def definitions(self) -> int:
        """For a function or class: at the end of a class; in a module before what the module does when it is run."""
        if self.owner:
            return self.end
        kinds = [statement.kind for statement in self.statements]
        if "guard" in kinds:
            return self._line_before(kinds.index("guard"))
        definitions = [statement for statement in self.statements if statement.defines]
        if definitions:
            return self._line_after(definitions[-1])
        action = next((index for index, statement in enumerate(self.statements) if statement.acts), None)
        return self.end if action is None else self._line_before(action)

    def constants(self, statement: Statement) -> int:
        """For an assignment: with those at the top, or after the definitions when it uses one."""
        names = {other.name for other in self.statements if other.defines}
        if not self.owner and names & statement.uses:
            return self.definitions
        return self._line_after_top("doc", "import", "assign")

    def imports(self, statement: Statement) -> int:
        """For an import: with those at the top."""
        future = all(name and module == _FUTURE for module, name, _ in statement.imports)
        return self._line_after_top("doc") if future else self._line_after_top("doc", "import")

    def _line_after_top(self, *kinds: Kind) -> int:
        """After the statements of these kinds that the body begins with."""
        count = next((index for index, statement in enumerate(self.statements) if statement.kind not in kinds),
                     len(self.statements))
        if count:
            return self._line_after(self.statements[count - 1])
        return self.outline.comment_start(self.statements[0]) if self.owner else self._line_after_header()

    def _line_after_header(self) -> int:
        """After the comments at the top of the file (interpreter, encoding, licence)."""
        lines = self.outline.lines
        end = next((index for index, line in enumerate(lines) if not line.startswith("#")), len(lines))
        if not self.statements or end < self.statements[0].start:
            return end
        return sum(1 for _ in takewhile(_HEADER.match, lines[:2]))  # the comment below them is about the statement

    def _line_before(self, index: int) -> int:
        if index:
            return self._line_after(self.statements[index - 1])
        return self.outline.comment_start(self.statements[0])

    def _line_after(self, statement: Statement) -> int:
        return self.outline.end_of(statement) if statement.defines else statement.end


def module_points(outline: Outline) -> InsertionPoints:
    """The places in the body of the module."""
    return InsertionPoints(outline, outline.statements)


def class_points(outline: Outline, owner: Statement) -> InsertionPoints:
    """The places in the body of a class."""
    return InsertionPoints(outline, owner.members, indentation(outline.lines[owner.members[0].start]), owner)


@dataclass(slots=True)
class Edits:
    """Changes to a text's `lines`, made all at once by `result`; `(start, end, text)` from line 0, end excluded."""

    lines: Sequence[str]
    _edits: list[tuple[int, int, str]] = field(default_factory=list)

    def replace(self, start: int, end: int, text: str) -> None:
        """New text for some lines; it takes over their line ends, or the lack of one at the end of the file."""
        text = self._adapt_line_ends(text)
        if not self.lines[end - 1].endswith(("\n", "\r")):
            text = text.rstrip("\r\n")
        self._edits.append((start, end, text))

    def insert(self, place: int, text: str, blanks: int) -> None:
        """New lines before the line `place`, surrounded by `blanks` blank lines (0: the usual distance)."""
        lead = "\n" * self._lead(place, blanks)
        follows = self.lines[place] if place < len(self.lines) else ""
        if follows.strip() and (blanks or follows.startswith(("def ", "async ", "class ", "@"))):
            text += "\n" * (blanks or 2)
        self._edits.append((place, place, self._adapt_line_ends(lead + text)))

    def _lead(self, place: int, blanks: int) -> int:
        """How many line ends must come before new lines at `place`."""
        if not place:
            return 0
        before = 0
        while before < min(blanks, place) and not self.lines[place - 1 - before].strip():
            before += 1
        ends = place < len(self.lines) or self.lines[-1].endswith(("\n", "\r"))
        return blanks - before + (not ends)

    def result(self) -> str:
        """The text with all edits made."""
        out: list[str] = []
        position = 0
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2]):
            out += [*self.lines[position:start], text]
            position = end
        return "".join([*out, *self.lines[position:]])

    def _adapt_line_ends(self, text: str) -> str:
        """`text` with the line ends that the file uses."""
        text = text.replace("\r\n", "\n")
        return text.replace("\n", "\r\n") if self.lines[:1] and self.lines[0].endswith("\r\n") else text


# The merge.

_MOST_STATEMENTS = 1000  # that one part may bring; each takes a walk through the file


def merge(path: str, old: Outline, part: Outline) -> str:
    """The text of `old` with `part` in it.

    Same-named functions, classes and constants are replaced, methods also inside their class; what is new goes where
    it belongs. Raises Unreadable when it is not clear what is meant.
    """
    if len(part.statements) > _MOST_STATEMENTS:
        raise unreadable("too_many_statements", path=path, count=len(part.statements))
    merging = _Merge(path, old, part, Edits(old.lines), old.imports)
    merging.merge_body(part.statements, module_points(old))
    if not merging.problems and not merging.applied:
        merging.add_problem("no_code")
    if merging.problems:
        raise Unreadable(*merging.problems)
    return merging.edits.result()


@dataclass(slots=True)
class _Merge:
    path: str
    old: Outline
    part: Outline
    edits: Edits
    imports: set[Import]
    """What the file imports before."""
    problems: list[ReplyProblem] = field(default_factory=list)
    applied: int = 0
    """Statements of the part that have their place, changed or not."""

    def add_problem(self, code: str, **facts: object) -> None:
        """Note why something cannot be merged."""
        self.problems.append(ReplyProblem(code, {"path": self.path, **facts}))

    def merge_body(self, statements: Sequence[Statement], points: InsertionPoints) -> None:
        """Merge the statements of a module's or class's body."""
        given = Counter((statement.defines, statement.name) for statement in statements if statement.name)
        seen: Counter[tuple[bool, str]] = Counter()
        for statement in statements:
            if statement.kind in ("doc", "ellipsis"):
                continue
            if statement.name:
                key = (statement.defines, statement.name)
                self.merge_named(statement, points, given[key], seen[key])
                seen[key] += 1
            else:
                self.merge_nameless(statement, points)

    def merge_nameless(self, new: Statement, points: InsertionPoints) -> None:
        """Merge an import, the main guard or any other statement."""
        match new.kind:
            case "import":
                self.applied += 1
                if text := self.missing_imports(new):
                    self.edits.insert(points.imports(new), text, 0)
            case "guard":
                guard = next((other for other in points.statements if other.kind == "guard"), None)
                if guard:
                    self.replace(guard, new)
                else:
                    self.add(new, points, points.end)
            case "pass":
                self.applied += 1
            case _:
                self.merge_action(new, points)

    def merge_action(self, new: Statement, points: InsertionPoints) -> None:
        """Merge a statement that stands for itself: only one that is there already has its place."""
        if new.text in points.texts:
            self.applied += 1
        elif points.owner or not self.old.acts or not self.is_example(new):
            line = self.part.lines[new.start].strip()
            self.add_problem("unclear_place", line=line[:80])

    def is_example(self, new: Statement) -> bool:
        """Whether a statement only shows how something of the file is used (`print(add(1, 2))`)."""
        return not (self.old.definitions | self.part.definitions).isdisjoint(new.calls)

    def missing_imports(self, new: Statement) -> str:
        """The text of an import without what is imported already; empty when that is all of it."""
        missing = [name for name in new.imports if name not in self.imports]
        if len(missing) == len(new.imports) and not new.shares_line:
            return self.part.indent_lines(new.start, new.end, "")
        return _import_line(missing) if missing else ""

    def merge_named(self, new: Statement, points: InsertionPoints, given: int, index: int) -> None:
        """Merge a definition or an assignment; `index` counts those of the same name before it."""
        matches = [other for other in points.statements if other.name == new.name and other.defines == new.defines]
        if not matches:
            self.add_new(new, points)
        elif len(matches) != given:
            self.add_problem("different_count", name=new.name, in_file=len(matches), in_block=given)
        elif new.kind == "class" and matches[index].kind == "class":
            self.merge_class(matches[index], new)
        else:
            self.replace_definition(matches[index], new)

    def add_new(self, new: Statement, points: InsertionPoints) -> None:
        """Merge something the body does not have: a method without its class, or a real addition."""
        if new.is_method and not points.owner:
            owners = self.possible_owners(new)
            if len(owners) == 1:
                self.merge_named(new, class_points(self.old, owners[0]), 1, 0)
                return
            if owners:
                return
        self.add(new, points, points.definitions if new.defines else points.constants(new))

    def possible_owners(self, method: Statement) -> list[Statement]:
        """The classes that a bare method may belong to; a problem is noted when there are several."""
        classes = [statement for statement in self.old.statements if statement.kind == "class"]
        having = [owner for owner in classes if any(member.name == method.name for member in owner.members)]
        owners = having or classes
        if len(owners) > 1:
            self.add_problem("method_of_several" if having else "method_without_class", name=method.name,
                             classes=[owner.name for owner in owners])
        return owners

    def merge_class(self, old: Statement, new: Statement) -> None:
        """Replace a class, or merge its members when the part gives only some of them."""
        if self.is_complete(old, new):
            self.replace(old, new)
            return
        same_header = old.header is not None and old.header == new.header
        if (old.one_line or new.one_line) and not (same_header and _is_empty(new)):
            self.add_problem("class_on_one_line", name=old.name)
            return
        self.applied += 1
        if not same_header:
            indent = indentation(self.old.lines[old.start])
            header = self.indent_lines(new.start, self.part.header_end(new), indent)
            self.edits.replace(old.start, self.old.header_end(old), header)
        self.merge_body(new.members, class_points(self.old, old))

    def is_complete(self, old: Statement, new: Statement) -> bool:
        """Whether the class `new` leaves nothing of `old` out."""
        missing = {member.name for member in old.members if member.name} - {member.name for member in new.members}
        stubs = any(is_stub(member, _definition(old.members, member.name)) for member in new.members)
        return not (missing or stubs or self.part.elisions(new))

    def replace_definition(self, old: Statement, new: Statement) -> None:
        """Replace a function or a constant, unless the new one leaves its body out."""
        elided = self.part.elisions(new)
        if is_stub(new, old) or (elided and new.filler == "pass"):
            return
        if elided:
            self.add_problem("definition_elided", name=new.name)
            return
        self.replace(old, new)

    def replace(self, old: Statement, new: Statement) -> None:
        """Put the text of `new` in the place of `old`."""
        self.applied += 1
        if self.shares_line(old) or self.shares_line(new):
            return
        if self.old.lines[old.start:old.end] != self.part.lines[new.start:new.end]:
            indent = indentation(self.old.lines[old.start])
            self.edits.replace(old.start, old.end, self.indent_lines(new.start, new.end, indent))

    def add(self, new: Statement, points: InsertionPoints, place: int) -> None:
        """Put a statement, with the comment above it, at a place of the file."""
        self.applied += 1
        if self.part.elisions(new) and not new.members:
            self.add_problem("definition_elided", name=new.name)
        elif not self.shares_line(new):
            blanks = points.blanks if new.defines or new.kind == "guard" else 0
            self.edits.insert(place, self.indent_lines(self.part.comment_start(new), new.end, points.indent), blanks)

    def indent_lines(self, start: int, end: int, indent: str) -> str:
        """Lines of the part, indented as deep as they belong."""
        refuse_width(self.path, indent)
        return self.part.indent_lines(start, end, indent)

    def shares_line(self, statement: Statement) -> bool:
        """Whether other code stands on a line of it; that is a problem, for lines are what is exchanged."""
        if statement.shares_line:
            self.add_problem("line_shared", name=statement.name)
        return statement.shares_line


def _definition(statements: Iterable[Statement], name: str) -> Statement | None:
    return next((statement for statement in statements if statement.defines and statement.name == name), None)


def _is_empty(owner: Statement) -> bool:
    """Whether a class has nothing to merge."""
    return all(member.kind in ("doc", "pass", "ellipsis") for member in owner.members)


def _import_line(imports: Sequence[Import]) -> str:
    """The names of one import statement, written anew."""
    module, name, _ = imports[0]
    names = ", ".join((name or module) + (f" as {given}" if given else "") for module, name, given in imports)
    return f"from {module} import {names}\n" if name else f"import {names}\n"
