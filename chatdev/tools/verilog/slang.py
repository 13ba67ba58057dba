"""A source text as a second parser (pyslang) sees it, as plain data, read in the child of this process: some hundred
bytes take gigabytes there, or crash it. `lint.py` says what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate
from chatdev.tools.verilog.design.elaborate import DesignError, icarus_macros

Place = tuple[str, int]
"""A name and its line."""


@dataclass(frozen=True, slots=True)
class NamesFound:
    """Of the errors code, line and names; the modules at the top; the names that reach from one module into another
    (those of blocks of the module itself are fine)."""

    errors: tuple[tuple[str, int, tuple[str, ...]], ...]
    top_modules: tuple[Place, ...]
    hierarchical: tuple[Place, ...]


@isolate(DesignError, MissingProgram)
def find_names(text: str) -> NamesFound:
    """What the names of a source refer to. Raises DesignError for one that cannot be looked through, and
    MissingProgram."""
    source = _SlangSource(text)
    return NamesFound(tuple(source.errors()), tuple(source.top_modules()), tuple(source.hierarchical_names().items()))


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
        try:
            self._compilation.addSyntaxTree(
                self._slang.syntax.SyntaxTree.fromText(text, self._sources, "top.sv", "", bag))
        except RuntimeError:  # too deeply nested to be read: for Icarus Verilog to judge
            return

    def errors(self) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Code, line and names of each error."""
        for found in self._compilation.getAllDiagnostics():
            if found.isError():
                yield _code(found), self._line(found.location), tuple(str(name) for name in found.args)

    def top_modules(self) -> Iterator[Place]:
        """The modules that no other uses."""
        for instance in self._compilation.getRoot().topInstances:
            yield instance.name, self._line(instance.location)

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
