"""What a second parser (pyslang) says of an answer that Icarus Verilog compiles alone: names from outside, and lint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from chatdev.errors import MissingProgram
from chatdev.tools.verilog.answer import TOP, rule_message
from chatdev.tools.verilog.messages import Message, word_list

_ALWAYS = re.compile(r"\balways\s*@\s*(?:\*|\(\s*\*\s*\))")
_LATCH = frozenset({"InferredLatch"})
_ICARUS = "__ICARUS__=1"  # as Icarus Verilog defines it, so that an answer can hide nothing from one of the two


def outside_names(text: str) -> list[Message]:
    """The rules that an answer breaks by names that are not its own, or by modules that are not used. Raises
    MissingProgram without pyslang."""
    source = _SlangSource(text)
    outside = [rule_message("stranger", line, found=", ".join(names)) for code, line, names in source.errors()
                 if code in word_list("strangers")]
    return [*outside, *source.unused_modules(), *source.hierarchical_names()]


def lint(text: str) -> list[Message]:
    """Warnings that tell an engineer something, such as inferred latches, by line; each once. Raises MissingProgram
    without pyslang."""
    found = {*_SlangSource(text).warnings(word_list("lint") - _LATCH),
             *_SlangSource(_ALWAYS.sub("always_comb", text)).warnings(_LATCH)}  # it looks for latches there alone
    return [Message(says, line=line, severity="warning") for line, says in sorted(found)]


def undriven_signals(text: str) -> list[Message]:
    """The signals that are read and that nothing ever gives a value, by line. Raises MissingProgram without pyslang."""
    found = {*_SlangSource(text).warnings(word_list("undriven"))}
    return [Message(says, line=line) for line, says in sorted(found)]


class _SlangSource:
    """An elaborated source text."""

    def __init__(self, text: str) -> None:
        self._slang = _pyslang()
        ast, parsing = self._slang.ast, self._slang.parsing
        options, macros = ast.CompilationOptions(), parsing.PreprocessorOptions()
        options.flags = ast.CompilationFlags.AllowUseBeforeDeclare
        macros.predefines = [_ICARUS]
        bag = self._slang.Bag([options, macros])
        self._sources = self._slang.SourceManager()
        self._compilation = ast.Compilation(bag)
        try:
            self._compilation.addSyntaxTree(
                self._slang.syntax.SyntaxTree.fromText(text, self._sources, "top.sv", "", bag))
        except RuntimeError:  # too deeply nested to be read: for Icarus Verilog to judge
            return

    def errors(self) -> Iterator[tuple[str, int, list[str]]]:
        """Code, line and names of each error."""
        for found in self._compilation.getAllDiagnostics():
            if found.isError():
                yield _code(found), self._line(found.location), [str(name) for name in found.args]

    def unused_modules(self) -> Iterator[Message]:
        """Modules at the top beside `TopModule`."""
        for instance in self._compilation.getRoot().topInstances:
            if instance.name != TOP:
                yield rule_message("unused_module", self._line(instance.location), found=instance.name)

    def hierarchical_names(self) -> list[Message]:
        """Names that reach from one module into another; those of blocks of the module itself are fine."""
        ast, found = self._slang.ast, {}

        def look(node: Any) -> Any:
            if isinstance(node, ast.HierarchicalValueExpression):
                start = node.sourceRange.start
                if self._module_at(start) != self._module_at(node.symbol.location):
                    name = str(node.syntax).strip()
                    found[name] = rule_message("hierarchical_name", self._line(start), found=name)
            return ast.VisitAction.Advance

        self._compilation.getRoot().visit(look)
        return list(found.values())

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


def _pyslang() -> ModuleType:
    try:
        import pyslang
    except ImportError as error:
        raise MissingProgram("pyslang not found, which reads Verilog; install it: pip install "
                             "'chatdev-chain[verilog]'") from error
    return pyslang
