"""A source text as a second parser (pyslang) sees it, as plain data, read in the child of this process: some hundred
bytes take gigabytes there, or crash it. `answer.py` says what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.records import Source, import_pyslang
from chatdev.departments.verilog.outside_names import (
    Reach,
    find_ends,
    find_known,
    find_parameter_checks,
    find_reach,
    find_unsimulated,
)
from chatdev.departments.verilog.target import USUAL, Target
from chatdev.errors import MissingProgram
from chatdev.isolation.isolate import isolate

Place = tuple[str, int]
"""A name and its line."""

_TRUNCATION, _UPWARD, _NO_TIMESCALE = "WidthTruncate", "UpwardHierarchicalName", "MissingTimeScale"


@dataclass(frozen=True, slots=True)
class NamesFound:
    """Of the errors code, line and names; what the parser does not understand; names that reach from one module into
    another (those of blocks of the module itself are fine), that are declared nowhere, that may lead elsewhere where a
    block is not there, or that are declared outside of the modules; what waits, and tasks of the system in the wrong
    place."""

    errors: tuple[tuple[str, int, tuple[str, ...]], ...]
    unreadable: tuple[Place, ...]
    hierarchical: tuple[Place, ...]
    unknown: tuple[Place, ...]
    relative: tuple[Place, ...]
    outside: tuple[Place, ...]
    waiting: tuple[Place, ...]
    misplaced: tuple[Place, ...]


@isolate(DesignError, MissingProgram)
def find_names(text: str, target: Target = USUAL) -> NamesFound:
    """What the names of an answer refer to. Raises DesignError for one that cannot be looked through, and
    MissingProgram."""
    source = _SlangSource(text, target)
    reach = source.reach()
    return NamesFound(tuple(source.errors()), tuple(source.syntax_errors()),
                      tuple((reach.far | source.hierarchical_names()).items()), tuple(reach.unknown.items()),
                      tuple(reach.relative.items()), tuple(reach.outside.items()), tuple(reach.waiting.items()),
                      tuple(reach.misplaced.items()))


@isolate(DesignError, MissingProgram)
def find_escapes(answer: str, beside: dict[str, str], target: Target) -> tuple[Place, ...] | None:
    """The names of an answer that lead out of it where a bench makes it, with the parameters that it gets there; None
    where nobody can say. `beside` are bench and reference, by the names of files. Raises as `find_names` does."""
    return _SlangSource(answer, replace(target, given=(*target.given, *beside.items()))).escapes(target.top)


@isolate(DesignError, MissingProgram)
def find_warnings(text: str, codes: frozenset[str], target: Target = USUAL) -> list[tuple[int, str]]:
    """Line and text of the warnings with one of these codes; the lines of given files stand behind those of the answer.
    Raises as `find_names` does."""
    return list(_SlangSource(text, target).warnings(codes))


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance of the answer's module in a bench: its hierarchical name, its parameters with the values that they
    have there (of whole numbers), and name, direction (`in`, `out`, `inout`) and width of its ports; 0 where a port is
    no plain vector."""

    path: str
    parameters: tuple[tuple[str, str], ...]
    ports: tuple[tuple[str, str, int], ...]


@isolate(DesignError, MissingProgram)
def find_instances(answer: str, beside: dict[str, str], target: Target) -> tuple[Instance, ...]:
    """The instances of the answer's module that a bench makes (`beside`, as for `find_escapes`). Raises as `find_names`
    does."""
    source = _SlangSource(answer, replace(target, given=(*target.given, *beside.items())))
    return tuple(source.instances_of(target.top))


@isolate(DesignError, MissingProgram)
def find_given_faults(target: Target, beside: dict[str, str], strangers: frozenset[str]
                      ) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Code, place (`fifo.sv:3`) and names of the errors in given files, with the parameters that bench and reference
    (`beside`) give their modules; of one that nobody makes only what does not depend on these, as the codes of
    `strangers` (of modules that are not there). Raises as `find_names`.
    """
    files = (*target.given, *beside.items())
    return tuple(_SlangSource("", replace(target, given=files)).given_faults(frozenset(target.sources), strangers))


@isolate(DesignError, MissingProgram)
def find_checks(text: str) -> tuple[tuple[int, int, str], ...]:
    """Where a text has assertions and checks that Icarus Verilog 11 does not know, with what may stand there instead.
    Raises as `find_names` does."""
    tree = _SlangSource(text, USUAL).tree
    return tuple(find_unsimulated(tree.root)) if tree else ()


@isolate(DesignError, MissingProgram)
def find_endings(text: str, every: bool) -> tuple[tuple[int, int, str], ...]:
    """The same of what ends the simulation: `every` such statement, or those where parameters do not fit (`initial if
    (W < 1) $finish;`)."""
    tree = _SlangSource(text, USUAL).tree
    return tuple((find_ends if every else find_parameter_checks)(tree.root)) if tree else ()


@dataclass(frozen=True, slots=True)
class Missing:
    """An instance of a `module` that is declared nowhere: its hierarchical name, and the ports that are connected by
    name."""

    module: str
    path: str
    ports: tuple[str, ...]

    @property
    def root(self) -> str:
        """The top module above it."""
        return self.path.partition(".")[0]


@isolate(DesignError, MissingProgram)
def find_missing(bench: str, target: Target) -> tuple[tuple[str, ...], tuple[Missing, ...]]:
    """The top modules of a test bench, and the instances of modules that neither it nor the given files declare. Raises
    as `find_names` does."""
    source = _SlangSource(bench, target)
    return source.tops(), tuple(source.missing())


@isolate(DesignError, MissingProgram)
def find_parameters(answer: str, bench: str, scope: str, target: Target) -> tuple[tuple[str, str], ...]:
    """The parameters of the answer with the values that its instance `scope` in a bench gives them; those that are no
    whole numbers are left out. Raises as `find_names` does."""
    source = _SlangSource(answer, replace(target, given=(*target.given, ("bench.sv", bench)), parameters=()))
    return next((one.parameters for one in source.instances_of(target.top) if one.path == scope), ())


class _SlangSource:
    """An elaborated source text."""

    def __init__(self, text: str, target: Target) -> None:
        self._slang: Any = import_pyslang()
        ast = self._slang.ast
        options = ast.CompilationOptions()
        options.flags = ast.CompilationFlags.AllowUseBeforeDeclare
        options.paramOverrides = [f"{name}={value}" for name, value in target.parameters]
        self._source = Source(text, target, options)
        self._compilation = ast.Compilation(self._source.bag)
        self.tree = None
        self._given = []
        try:
            *self._given, self.tree = self._source.trees()
        except RuntimeError:  # too deeply nested to be read: for Icarus Verilog to judge
            return
        for tree in (*self._given, self.tree):
            self._compilation.addSyntaxTree(tree)

    def errors(self) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Code, line and names of each error."""
        for found in self._compilation.getAllDiagnostics():
            if found.isError() and not self._source.is_given(found.location):
                yield _code(found), self._line(found.location), tuple(str(name) for name in found.args)

    def syntax_errors(self) -> Iterator[Place]:
        """What the parser does not understand, in its words."""
        engine = self._slang.DiagnosticEngine(self._source.manager)
        for found in self.tree.diagnostics if self.tree else ():
            if found.isError():
                yield engine.formatMessage(found), self._line(found.location)

    def reach(self) -> Reach:
        """What the syntax says of every branch."""
        if self.tree is None:
            return Reach()
        return find_reach(self.tree.root, self._line_of, find_known(tree.root for tree in self._given))

    def hierarchical_names(self) -> dict[str, int]:
        """Names that reach from one module into another, with the line of their last use; interfaces are there to be
        reached into."""
        ast, found = self._slang.ast, {}
        interfaces = {one.name for one in self._compilation.getDefinitions()
                      if getattr(one, "definitionKind", None) == ast.DefinitionKind.Interface}

        def look(node: Any) -> Any:
            if isinstance(node, ast.HierarchicalValueExpression):
                start = node.sourceRange.start
                if self._module_at(node.symbol.location) not in {self._module_at(start), *interfaces}:
                    found[str(node.syntax).strip()] = self._line(start)
            return ast.VisitAction.Advance

        self._compilation.getRoot().visit(look)
        return found

    def escapes(self, top: str) -> tuple[Place, ...] | None:
        """The names in the instances of the module `top`, and in what these make, that lead out of them."""
        diagnostics = self._compilation.getAllDiagnostics()
        if not self._instances(top) or self.tree is None or any(
                found.isError() and _code(found) != _NO_TIMESCALE for found in diagnostics):
            return None
        found = {str(one.args[0]): self._line(one.location) for one in diagnostics
                 if _code(one) == _UPWARD and not self._source.is_given(one.location)}
        return tuple(found.items())

    def instances_of(self, top: str) -> Iterator[Instance]:
        """The instances of a module."""
        for one in self._instances(top):
            ports = tuple((port.name, port.direction.name.lower(), port.type.bitWidth if port.type.isIntegral else 0)
                          for port in one.body.portList if hasattr(port, "direction"))
            yield Instance(one.hierarchicalPath, tuple(self.parameters(one)), ports)

    def _instances(self, top: str) -> list[Any]:
        found = list[Any]()
        self._compilation.getRoot().visit(lambda node: found.append(node)
                                          if node.kind == self._slang.ast.SymbolKind.Instance
                                          and node.body.definition.name == top else None)
        return found

    def given_faults(self, files: frozenset[str], strangers: frozenset[str]
                     ) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Code, place and names of the errors in these files."""
        alone = {one.name for one in self._compilation.getRoot().topInstances
                 if any(not getattr(each, "isLocalParam", True) for each in one.body.parameters)}
        for found in self._compilation.getAllDiagnostics():
            place = self._source.place_of(found.location)
            if found.isError() and place.rpartition(":")[0] in files and self._is_sure(found, alone, strangers):
                yield _code(found), place, tuple(map(str, found.args))

    def _is_sure(self, found: Any, alone: set[str], strangers: frozenset[str]) -> bool:
        """Whether an error is one whatever the parameters are of modules that stand `alone`."""
        code = _code(found)
        is_of_syntax = any(found.location == one.location for tree in self._given for one in tree.diagnostics)
        return code != _NO_TIMESCALE and (is_of_syntax or code in strangers
                                          or self._module_at(found.location) not in alone)

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
        engine, shifts = self._slang.DiagnosticEngine(self._source.manager), self._shifts()
        for found in diagnostics:
            is_meant = _code(found) == _TRUNCATION and found.location in shifts
            if _code(found) in codes and not is_meant:
                yield self._line(found.location), engine.formatMessage(found)

    def _shifts(self) -> set[Any]:
        """Where `{q, bit}` is put where `q` fits, as a shift register does; what is too wide falls out on purpose."""
        kinds, found = self._slang.ast.ExpressionKind, set[Any]()

        def look(node: Any) -> None:
            if node.kind == kinds.Conversion and node.operand.kind == kinds.Concatenation:
                first = [one.type.bitWidth for one in node.operand.operands][:1]
                if first == [node.type.bitWidth] != [1]:
                    found.add(node.sourceRange.start)

        self._compilation.getRoot().visit(look)
        return found

    def tops(self) -> tuple[str, ...]:
        """The modules that no other instantiates."""
        return tuple(one.name for one in self._compilation.getRoot().topInstances
                     if not self._source.is_given(one.body.definition.location))

    def missing(self) -> Iterator[Missing]:
        """The instances of modules that are not there."""
        found = list[Any]()
        self._compilation.getRoot().visit(lambda node: found.append(node)
                                          if node.kind == self._slang.ast.SymbolKind.UninstantiatedDef else None)
        for one in found:
            yield Missing(one.definitionName, one.hierarchicalPath, tuple(filter(None, one.portNames)))

    def parameters(self, instance: Any) -> Iterator[tuple[str, str]]:
        """The values of an instance's parameters."""
        for parameter in instance.body.parameters:
            value = getattr(parameter, "value", None)
            if isinstance(getattr(value, "value", None), self._slang.SVInt) and not parameter.isLocalParam:
                yield parameter.name, str(value)

    def _line(self, location: Any) -> int:
        return self._source.line_at(location)

    def _line_of(self, node: Any) -> int:
        return self._line(node.sourceRange.start)

    def _module_at(self, location: Any) -> str:
        """The name of the module in whose text this place is."""
        place = self._source.manager.getFullyExpandedLoc(location)
        ranges = [(definition.name, definition.syntax.sourceRange) for definition in self._compilation.getDefinitions()]
        return next((name for name, span in ranges if span.start.buffer == place.buffer
                     and span.start.offset <= place.offset <= span.end.offset), "")


def _code(diagnostic: Any) -> str:
    return str(diagnostic.code).removeprefix("DiagCode(").removesuffix(")")
