"""A source text as pyslang sees it: elaborated, or refused with the compiler's words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from chatdev.errors import MissingProgram, ToolError

if TYPE_CHECKING:
    from pyslang import SourceManager, SVInt
    from pyslang.ast import Compilation, InstanceSymbol

FILE = "top.sv"
"""The name under which the source appears in messages."""


class DesignError(ToolError):
    """The source is no design that can be elaborated; the text is the compiler's."""


def too_deep() -> DesignError:
    """What is said of expressions and statements within hundreds of others."""
    return DesignError(f"{FILE} is too deeply nested to be traced; split its longest expressions and else-if chains")


def elaborated(text: str, top: str) -> tuple[Compilation, InstanceSymbol]:
    """The compilation (keep it as long as anything of it) and the instance of the module `top`; raises DesignError."""
    try:
        import pyslang
        from pyslang.ast import Compilation, CompilationFlags, CompilationOptions
        from pyslang.parsing import PreprocessorOptions
        from pyslang.syntax import SyntaxTree
    except ImportError as error:
        raise MissingProgram("tracing needs pyslang: pip install 'chatdev-chain[verilog]'") from error
    options, macros = CompilationOptions(), PreprocessorOptions()
    options.flags = CompilationFlags.AllowUseBeforeDeclare | CompilationFlags.RelaxEnumConversions
    options.topModules = {top}
    macros.predefines = ["__ICARUS__=1"]  # what the simulator is told to read
    bag = pyslang.Bag([options, macros])
    compilation = Compilation(bag)
    try:
        compilation.addSyntaxTree(SyntaxTree.fromText(text, pyslang.SourceManager(), FILE, "", bag))
    except RuntimeError:
        raise too_deep() from None
    errors = [found for found in compilation.getAllDiagnostics() if found.isError()]
    if errors:
        raise DesignError(pyslang.DiagnosticEngine.reportAll(compilation.sourceManager, errors).strip())
    return compilation, compilation.getRoot().topInstances[0]


def constants(scope: Any) -> Callable[[Any], SVInt | None]:
    """An evaluation that knows no signal, only constants."""
    from pyslang.ast import EvalContext

    context = EvalContext(scope)
    return lambda expression: integral(expression.eval(context))


def integral(value: Any) -> SVInt | None:
    """A constant as a number; strings, real numbers and arrays are none."""
    from pyslang import SVInt

    found = getattr(value, "value", None)
    return found if isinstance(found, SVInt) else None


class Source:
    """The lines of a text, and where the nodes of its compilation stand."""

    def __init__(self, text: str, manager: SourceManager) -> None:
        self.lines = text.splitlines()
        self._bytes, self._manager = text.encode(), manager

    def lines_of(self, node: Any) -> tuple[int, int]:
        """First and last line of a node with a `sourceRange`; of a macro: where it is used."""
        span = node.sourceRange
        first, last = (self._manager.getLineNumber(self._manager.getFullyExpandedLoc(place))
                       for place in (span.start, span.end))
        return first, max(first, last)

    def line_of(self, symbol: Any) -> int:
        """The line in which a symbol is declared."""
        return self._manager.getLineNumber(self._manager.getFullyExpandedLoc(symbol.location))

    def text(self, first: int, last: int) -> str:
        return "\n".join(self.lines[first - 1:last])

    def words(self, node: Any) -> str:
        """The text of a node in one line, without comments."""
        span = node.sourceRange
        first, last = (self._manager.getFullyExpandedLoc(place).offset for place in (span.start, span.end))
        return " ".join(_COMMENT.sub(" ", self._bytes[first:last].decode("utf-8", "replace")).split())


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
