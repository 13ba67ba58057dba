"""What a design is made of: its texts as pyslang reads them, and where their nodes stand; and the assignments, each
with what it reads, under which conditions, and where it stands."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from chatdev.departments.verilog.target import ANSWER, ICARUS, VERILATOR, Target
from chatdev.errors import MissingProgram

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyslang import Bag, SourceLocation, SVInt
    from pyslang.ast import CaseStatementCondition, CompilationOptions, Expression
    from pyslang.syntax import SyntaxTree


Kind = Literal["continuous", "always_comb", "clocked", "latch", "initial", "port", "function"]
"""`port` is the wire between an instance and what surrounds it; `function` is a statement of a function or task."""


Value = Callable[["Expression"], "SVInt | None"]
"""The value of an expression, None when it is not known."""

_WILD = {"Normal": "", "WildcardJustZ": "z", "WildcardXOrZ": "xz", "Inside": None}


class Part(NamedTuple):
    """`width` bits of a signal from bit `low` on, counted from the right end of its value.

    The signal's name starts below the top module: `state`, `u1.count`, `lane[2].sum`.
    """

    signal: str
    low: int
    width: int

    @property
    def mask(self) -> int:
        return (1 << self.width) - 1 << self.low

    def covers(self, other: Part) -> bool:
        return self.signal == other.signal and not other.mask & ~self.mask

    def overlaps(self, other: Part) -> bool:
        return self.signal == other.signal and self.low < other.low + other.width and other.low < self.low + self.width


@dataclass(frozen=True, slots=True)
class Lines:
    """Source lines from `first` to `last`, counted from 1."""

    first: int
    last: int

    def __iter__(self) -> Any:
        return iter(range(self.first, self.last + 1))


@dataclass(frozen=True, slots=True)
class Loop:
    """The outermost loop around an assignment: its number in the process, the line of its head, and the variables that
    it and those within count by."""

    number: int
    line: int
    variables: frozenset[str] = frozenset()


class Decision(Protocol):
    """A place at which a process goes one of several ways; `branches` are their numbers."""

    @property
    def branches(self) -> range:
        ...

    def branch(self, value: Value) -> int | None:
        """The number of the way, None when it is not known."""
        ...

    def expressions_for(self, branch: int) -> Sequence[Expression]:
        """The expressions that were looked at before it went this way."""
        ...


class IfDecision:
    """Way 0 when every expression is true, else way 1; x and z are not true, as in the language. One with patterns is
    not `plain`: nothing is known of that."""

    branches = range(2)

    def __init__(self, expressions: Sequence[Expression], plain: bool = True) -> None:
        self._expressions, self._plain = expressions, plain

    def branch(self, value: Value) -> int | None:
        found = [value(expression) for expression in self._expressions] if self._plain else [None]
        if any(one is not None and not is_true(one) for one in found):
            return 1
        return None if None in found else 0

    def expressions_for(self, branch: int) -> Sequence[Expression]:
        return self._expressions


class CaseDecision:
    """The number of the first item with a label that matches, or the number of items when none does."""

    def __init__(self, expression: Expression, labels: Sequence[Sequence[Expression]],
                 condition: CaseStatementCondition) -> None:
        self._expression, self._labels, self._wild = expression, labels, _WILD[condition.name]
        self.branches = range(len(labels) + 1)

    def branch(self, value: Value) -> int | None:
        found = value(self._expression)
        if found is None or self._wild is None:
            return None
        for number, labels in enumerate(self._labels):
            for label in map(value, labels):
                if label is None:
                    return None
                if _labels_match(bits(found), bits(label), self._wild):
                    return number
        return len(self._labels)

    def expressions_for(self, branch: int) -> Sequence[Expression]:
        return [self._expression, *(label for labels in self._labels[:branch + 1] for label in labels)]


def repeated_labels(labels: Iterable[Expression], value: Value) -> list[Expression]:
    """The labels that have the same value as another."""
    same = defaultdict[str, list["Expression"]](list)
    for label in labels:
        known = value(label)
        if known is not None:
            same[bits(known)].append(label)
    return [label for group in same.values() if len(group) > 1 for label in group]


def is_true(value: Any) -> bool:
    """Whether a value counts as true: a bit of it is 1."""
    return "1" in bits(value)


def bits(value: Any) -> str:
    """A value as 0, 1, x and z, the most significant first, in its full width."""
    if value.isSigned:  # negative ones would be written with a sign
        return "".join(str(value[place]) for place in reversed(range(value.bitWidth)))
    text: str = value.toString(import_pyslang().LiteralBase.Binary, False)
    return text.rjust(value.bitWidth, text[0] if text[0] in "xz" else "0")


def _labels_match(left: str, right: str, wild: str) -> bool:
    return all(a == b or a in wild or b in wild for a, b in zip(left, right, strict=True))


@dataclass(frozen=True, slots=True)
class Condition:
    """Which way a decision (`if`, `case`) went for an assignment to be reached.

    `subject` is the expression that is looked at, in the lines `head`; `text` adds the label of a `case`, and `lines`
    its line. `holds` is False for what must not be so (an `else`). `declared` are the lines of the constants named
    there, `repeats` those of labels of the same `case` that have the same value, so that one of them never matches.
    """

    subject: str
    text: str
    holds: bool
    head: tuple[int, ...]
    lines: tuple[int, ...]
    declared: tuple[int, ...]
    repeats: tuple[int, ...]
    reads: tuple[Part, ...]
    calls: tuple[str, ...]
    branch: int
    decision: Decision = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Trigger:
    """What makes a process run: an `edge` of a signal, or any change of it (`change`)."""

    edge: Literal["posedge", "negedge", "change"]
    part: Part
    line: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """One assignment. `targets` are the bits it may write; it surely writes all of them when `exact`.

    `data` are the signals whose values it takes (indices of its left side included), `selects` those that choose
    between them (`?:`), `calls` the functions it enters, `declared` the lines of the constants it names. Assignments of
    one `process` run in the order of the source. `value` and `operation` are pyslang's expressions: the value, and what
    carries the assignment out when it is evaluated.
    """

    kind: Kind
    targets: tuple[Part, ...]
    exact: bool
    lines: Lines
    text: str
    data: tuple[Part, ...]
    selects: tuple[Part, ...]
    conditions: tuple[Condition, ...]
    calls: tuple[str, ...]
    declared: tuple[int, ...]
    process: int
    blocking: bool
    loop: Loop | None
    value: Any = field(compare=False, repr=False)
    operation: Any = field(compare=False, repr=False)

    @property
    def control(self) -> tuple[Part, ...]:
        """The signals that decide whether, and which of its data, it takes."""
        return unique([*(part for condition in self.conditions for part in condition.reads), *self.selects])

    @property
    def entered_functions(self) -> frozenset[str]:
        """The names of the functions that it may enter, for its value or in the conditions around it."""
        return frozenset((*self.calls, *(call for one in self.conditions for call in one.calls)))

    @property
    def all_lines(self) -> frozenset[int]:
        """Its own lines, and those of the constants in it and of the conditions and the loop around it."""
        loop = [self.loop.line] if self.loop else []
        around = ((*one.lines, *one.declared, *one.repeats) for one in self.conditions)
        return frozenset((*self.lines, *self.declared, *loop, *itertools.chain.from_iterable(around)))

    @property
    def sources(self) -> set[str]:
        """The names of the signals that it depends on."""
        return {part.signal for part in (*self.data, *self.control)}

    def writes(self, part: Part) -> bool:
        return any(target.overlaps(part) for target in self.targets)


@dataclass(frozen=True, eq=False)
class Process:
    """What runs as one: an `always` block, a function, or a single assignment outside of both.

    `in_order` is False when its statements may not all be reached in order (a
    `return`, `disable` or delay amid them). `always_written` are the signals of which it writes something on every way.
    `arguments` are the symbols of a function's. `promises_logic` is True of an `always_comb`.
    """

    kind: Kind
    triggers: tuple[Trigger, ...]
    assignments: tuple[Assignment, ...]
    in_order: bool = True
    always_written: frozenset[str] = frozenset()
    arguments: tuple[Any, ...] = ()
    promises_logic: bool = False

    @property
    def is_clocked(self) -> bool:
        return any(trigger.edge != "change" for trigger in self.triggers)

    @functools.cached_property
    def signals(self) -> tuple[str, ...]:
        """All that it names."""
        return tuple({part.signal: None for found in self.assignments
                      for part in (*found.targets, *found.data, *found.control)})

    @functools.cached_property
    def written(self) -> frozenset[str]:
        """The signals of which it may write something."""
        return frozenset(target.signal for one in self.assignments for target in one.targets)

    def writers(self, part: Part) -> tuple[Assignment, ...]:
        """Its assignments that may write any of these bits."""
        if part not in self._writers:
            self._writers[part] = tuple(one for one in self.assignments if one.writes(part))
        return self._writers[part]

    @functools.cached_property
    def _writers(self) -> dict[Part, tuple[Assignment, ...]]:
        return {}

    def writable_bits(self, part: Part) -> int:
        """Those of a part that it may write."""
        return part.mask & mask_of(part.signal, (target for one in self.writers(part) for target in one.targets))

    @functools.cached_property
    def is_nonblocking(self) -> bool:
        """Whether nothing that it writes is seen in the same run."""
        return not any(one.blocking for one in self.assignments)


def mask_of(signal: str, targets: Iterable[Part]) -> int:
    """The bits of a signal that are among the targets."""
    mask = 0
    for target in targets:
        if target.signal == signal:
            mask |= target.mask
    return mask


def unique(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Without repetition, in the same order."""
    return tuple(dict.fromkeys(parts))


# The texts of a design as pyslang reads them, and where its nodes stand.

_FOLDER = "of-the-design/"  # pyslang names files from where it is
_OURS = "the-answer.sv"  # a given file may be called as answers are
_DEEPEST = 16  # headers within headers
_OWN_MACROS = ("__slang__", "__slang_major__", "__slang_minor__", *(f"SV_COV_{name}" for name in (
    "START", "STOP", "RESET", "CHECK", "MODULE", "HIER", "ASSERTION", "FSM_STATE", "STATEMENT", "TOGGLE", "OVERFLOW",
    "ERROR", "NOCOV", "OK", "PARTIAL")))
_MACROS = {ICARUS: ("__ICARUS__=1",), VERILATOR: ("VERILATOR=1", "verilator=1", "verilator3=1")}
_PLACE = re.compile(rf"[./]*{_FOLDER}")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


class Source:
    """An answer and what is given with it. Raises MissingProgram without pyslang."""

    def __init__(self, text: str, target: Target, options: CompilationOptions) -> None:
        import_pyslang()
        from pyslang import Bag, SourceManager

        self._target, self._texts = target.including(text), {_OURS: text, **target.texts}
        self._bytes = {name: one.encode() for name, one in self._texts.items()}
        self._starts, self.lines = dict[str, int](), list[str]()
        for name, one in self._texts.items():
            self._starts[name] = len(self.lines)
            self.lines += one.splitlines()
        self.manager = SourceManager()
        self.bag: Bag = Bag([options, self._preprocessing()])

    def trees(self) -> Iterator[SyntaxTree]:
        """The syntax of the given files, then that of the answer. Raises RuntimeError for what is too deeply nested."""
        from pyslang.syntax import SyntaxTree

        buffers = {name: self.manager.assignText(f"/{_FOLDER}{name}", text) for name, text in self._texts.items()}
        macros = dict[str, Any]()  # those of one file hold in the next ones
        for name in (*self._target.sources, _OURS):
            tree = SyntaxTree.fromBuffer(buffers[name], self.manager, self.bag, inheritedMacros=[*macros.values()])
            if any("TooDeep" in str(found.code) for found in tree.diagnostics):
                raise RuntimeError(f"{name} is too deeply nested")
            yield tree
            if name in self._target.macro_files:
                macros |= _macros_in(tree)

    def is_given(self, location: SourceLocation) -> bool:
        """Whether a place is in a given file."""
        return self._file_at(self.manager.getFullyExpandedLoc(location)) != _OURS

    def line_at(self, location: SourceLocation) -> int:
        """The line of a place; of a macro: where it is used."""
        place = self.manager.getFullyExpandedLoc(location)
        above = self._starts[self._file_at(place)] if len(self._starts) > 1 else 0
        return above + self.manager.getLineNumber(place)

    def place_of(self, location: SourceLocation) -> str:
        """File and line of a place, as `fifo.sv:3`."""
        place = self.manager.getFullyExpandedLoc(location)
        return f"{self._file_at(place)}:{self.manager.getLineNumber(place)}"

    def name_files(self, text: str) -> str:
        """What pyslang says, its files under the names that users know."""
        return _PLACE.sub("", text).replace(_OURS, ANSWER)

    def lines_of(self, node: Any) -> tuple[int, int]:
        """First and last line of a node with a `sourceRange`."""
        first, last = self.line_at(node.sourceRange.start), self.line_at(node.sourceRange.end)
        return first, max(first, last)

    def line_of(self, symbol: Any) -> int:
        """The line in which a symbol is declared."""
        return self.line_at(symbol.location)

    def text(self, first: int, last: int) -> str:
        """The lines from `first` to `last`."""
        return "\n".join(self.lines[first - 1:last])

    def words(self, node: Any) -> str:
        """The text of a node in one line, without comments."""
        span = node.sourceRange
        first, last = (self.manager.getFullyExpandedLoc(place) for place in (span.start, span.end))
        found = self._bytes[self._file_at(first)][first.offset:last.offset]
        return " ".join(_COMMENT.sub(" ", found.decode("utf-8", "replace")).split())

    def _file_at(self, location: SourceLocation) -> str:
        name = self.manager.getFileName(location).rpartition(_FOLDER)[2]
        return name if name in self._starts else _OURS

    def _preprocessing(self) -> Any:
        """The macros that there are for the simulator and no others: a source can hide nothing from one of the two.
        No file of this machine is read: what is included was given."""
        from pyslang.parsing import PreprocessorOptions

        macros = PreprocessorOptions()
        macros.predefines, macros.undefines = list(_MACROS[self._target.simulator]), list(_OWN_MACROS)
        macros.predefines = [*macros.predefines, *(f"{name}={value}" for name, value in self._target.defines)]
        macros.additionalIncludePaths = [Path(f"/{_FOLDER}")]  # what a header includes counts from there, too
        are_given = all(map(self._target.includes_only_given, self._texts.values()))
        macros.maxIncludeDepth = _DEEPEST if self._target.texts and are_given else 0
        return macros


def _macros_in(tree: SyntaxTree) -> dict[str, Any]:
    """The definitions of macros in what is not left out of a file, by name."""
    from pyslang.parsing import Token, TriviaKind

    found = dict[str, Any]()

    def look(node: Any) -> None:
        for trivia in node.trivia if isinstance(node, Token) else ():
            directive: Any = trivia.syntax() if trivia.kind == TriviaKind.Directive else None
            if directive is not None and directive.kind.name == "DefineDirective":
                found[directive.name.valueText] = directive

    tree.root.visit(look)
    return found


@functools.cache
def import_pyslang() -> Any:
    """The module, looked up but once as every value needs it; raises MissingProgram."""
    try:
        import pyslang
    except ImportError as error:
        raise MissingProgram("pyslang cannot be imported, which reads Verilog: pip install 'chatdev-chain[verilog]'"
                             ) from error
    return pyslang


def name_of(member: Any) -> str:
    """The name of a member of one of pyslang's enumerations; its `.name` takes four times as long."""
    name: str = member._name_
    return name
