"""The texts of a design as pyslang reads them, and where its nodes stand.

Lines are counted through: first those of the answer, then those of the given files, as if these stood below it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chatdev.departments.verilog.target import ANSWER, ICARUS, VERILATOR, Target
from chatdev.errors import MissingProgram

if TYPE_CHECKING:
    from pyslang import Bag, SourceLocation
    from pyslang.ast import CompilationOptions
    from pyslang.syntax import SyntaxTree

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
        for name in (*self._target.sources, _OURS):
            tree = SyntaxTree.fromBuffer(buffers[name], self.manager, self.bag)
            if any("TooDeep" in str(found.code) for found in tree.diagnostics):
                raise RuntimeError(f"{name} is too deeply nested")
            yield tree

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
        are_given = all(map(self._target.includes_only_given, self._texts.values()))
        macros.maxIncludeDepth = _DEEPEST if self._target.texts and are_given else 0
        return macros


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
