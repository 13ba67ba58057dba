"""A source text as a second parser (pyslang) sees it, as plain data, read in the child of this process: some hundred
bytes take gigabytes there, or crash it. `lint.py` says what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate
from chatdev.tools.verilog.design.elaborate import DesignError, icarus_macros
from chatdev.tools.verilog.reach import Reach, find_reach

Place = tuple[str, int]
"""A name and its line."""


@dataclass(frozen=True, slots=True)
class NamesFound:
    """Of the errors code, line and names; what the parser does not understand; names that reach from one module into
    another (those of blocks of the module itself are fine), that are declared nowhere, or outside of the modules; and
    what waits."""

    errors: tuple[tuple[str, int, tuple[str, ...]], ...]
    unreadable: tuple[Place, ...]
    hierarchical: tuple[Place, ...]
    unknown: tuple[Place, ...]
    outside: tuple[Place, ...]
    waiting: tuple[Place, ...]


@isolate(DesignError, MissingProgram)
def find_names(text: str) -> NamesFound:
    """What the names of a source refer to. Raises DesignError for one that cannot be looked through, and
    MissingProgram."""
    source = _SlangSource(text)
    reach = source.reach()
    return NamesFound(tuple(source.errors()), tuple(source.syntax_errors()),
                      tuple((reach.far | source.hierarchical_names()).items()), tuple(reach.unknown.items()),
                      tuple(reach.outside.items()), tuple(reach.waiting.items()))


@isolate(DesignError, MissingProgram)
def find_warnings(text: str, codes: frozenset[str]) -> list[tuple[int, str]]:
    """Line and text of the warnings with one of these codes. Raises as `find_names` does."""
    return list(_SlangSource(text).warnings(codes))


class _SlangSource:
    """An elaborated source text."""

    def __init__(self, text: str) -> None:
        try:
            import pyslang
        except ImportError as error:
            raise MissingProgram("pyslang cannot be imported, which reads Verilog: pip install 'chatdev-chain[verilog]'"
                                 ) from error
        self._slang: Any = pyslang
        ast = self._slang.ast
        options = ast.CompilationOptions()
        options.flags = ast.CompilationFlags.AllowUseBeforeDeclare
        bag = self._slang.Bag([options, icarus_macros()])
        self._sources = self._slang.SourceManager()
        self._compilation = ast.Compilation(bag)
        self._tree = None
        try:
            self._tree = self._slang.syntax.SyntaxTree.fromText(text, self._sources, "top.sv", "", bag)
            self._compilation.addSyntaxTree(self._tree)
        except RuntimeError:  # too deeply nested to be read: for Icarus Verilog to judge
            return

    def errors(self) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Code, line and names of each error."""
        for found in self._compilation.getAllDiagnostics():
            if found.isError():
                yield _code(found), self._line(found.location), tuple(str(name) for name in found.args)

    def syntax_errors(self) -> Iterator[Place]:
        """What the parser does not understand, in its words."""
        engine = self._slang.DiagnosticEngine(self._sources)
        for found in self._tree.diagnostics if self._tree else ():
            if found.isError():
                yield engine.formatMessage(found), self._line(found.location)

    def reach(self) -> Reach:
        """What the syntax says of every branch."""
        return find_reach(self._tree.root, lambda node: self._line(node.sourceRange.start)) if self._tree else Reach()

    def hierarchical_names(self) -> dict[str, int]:
        """Names that reach from one module into another, with the line of their last use."""
        ast, found = self._slang.ast, {}

        def look(node: Any) -> Any:
            if isinstance(node, ast.HierarchicalValueExpression):
                start = node.sourceRange.start
                if self._module_at(start) != self._module_at(node.symbol.location):
                    found[str(node.syntax).strip()] = self._line(start)
            return ast.VisitAction.Advance

        self._compilation.getRoot().visit(look)
        return found

    def warnings(self, codes: frozenset[str]) -> Iterator[tuple[int, str]]:
        """Line and text of the warnings with one of these codes."""
        diagnostics = list(self._compilation.getAllDiagnostics())
        if not any(found.isError() for found in diagnostics):
            self._compilation.freeze()
            analysis = self._slang.analysis
            options = analysis.AnalysisOptions()
            options.flags = analysis.AnalysisFlags.CheckUnused
            manager = analysis.AnalysisManager(options)
            manager.analyze(self._compilation)
            diagnostics += manager.getDiagnostics()
        engine = self._slang.DiagnosticEngine(self._sources)
        for found in diagnostics:
            if _code(found) in codes:
                yield self._line(found.location), engine.formatMessage(found)

    def _line(self, location: Any) -> int:
        return int(self._sources.getLineNumber(self._sources.getFullyExpandedLoc(location)))

    def _module_at(self, location: Any) -> str:
        """The name of the module in whose text this place is."""
        offset = self._sources.getFullyExpandedLoc(location).offset
        ranges = [(definition.name, definition.syntax.sourceRange) for definition in self._compilation.getDefinitions()]
        return next((name for name, place in ranges if place.start.offset <= offset <= place.end.offset), "")


def _code(diagnostic: Any) -> str:
    return str(diagnostic.code).removeprefix("DiagCode(").removesuffix(")")
