"""What the syntax of a source says of every branch of it, also of those that no parameter chooses here: names that lead
out of their module, and statements that wait.

Elaboration (`slang.py`) knows what names refer to, but only in the branches that it takes; a bench that gives other
parameters takes others. Nodes are those of pyslang.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

PRINTS = frozenset(f"{task}{base}" for task in ("display", "write", "strobe", "monitor") for base in ("", "b", "h", "o")
                   ) | {"error", "warning", "info"}
"""Tasks of the system that print. They are let be where what the bench itself prints is marked (`bench.py`)."""
PLACED = frozenset({"fatal", "time", "realtime", "stime"})
"""Those that are let be where they stand in an assertion (`fatal`), or in what is printed."""
_MODULES = frozenset({"ModuleDeclaration", "InterfaceDeclaration", "ProgramDeclaration", "PackageDeclaration"})
_DATA = frozenset({"DataDeclaration", "NetDeclaration"})
_ONCE = frozenset({"InitialBlock", "FinalBlock"})
_WAITS = frozenset({"DelayControl", "Delay3", "OneStepDelay", "CycleDelay", "WaitStatement", "WaitForkStatement",
                    "WaitOrderStatement", "RepeatedEventControl", "SpecifyBlock"})
_EVENTS = frozenset({"EventControl", "EventControlWithExpression", "ImplicitEventControl"})
_NAMED = {"Declarator": "name", "InstanceName": "name", "NamedBlockClause": "name", "NamedLabel": "name",
          "TypedefDeclaration": "name", "LoopGenerate": "identifier", "InterfacePortHeader": "nameOrKeyword"}
"""Nodes that declare a name, and where they have it."""
_CALLABLE = frozenset({"LetDeclaration", "ClassDeclaration", "SequenceDeclaration", "PropertyDeclaration"})
_CALLS = {"InvocationExpression": "left", "ExpressionStatement": "expr", "DisableStatement": "name"}
"""Nodes that call a function or task, or end a block, and where they name it."""
_CLOCKED = frozenset({"AlwaysBlock", "AlwaysFFBlock"})
_AFTER_ASSIGNMENT = ["DelayControl", "TimingControlExpression", "NonblockingAssignmentExpression"]
_COMPUTED = frozenset({"InvocationExpression", "ElementSelectExpression", "ScopedName", "IdentifierSelectName"})
_PASSING = frozenset({
    "ArgumentList", "OrderedArgument", "SimplePropertyExpr", "SimpleSequenceExpr", "InvocationExpression",
    "ParenthesizedExpression", "AddExpression", "SubtractExpression", "MultiplyExpression", "DivideExpression"})
"""Nodes by which a value gets from an argument to a call and to nothing else."""
_BLOCKS = frozenset({"NamedBlockClause", "NamedLabel"})
_EDGE = re.compile(r"\b(?:pos|neg)edge\b")
_LONGEST = 40  # characters of a statement that is shown


@dataclass
class Reach:
    """Names that reach from one module into another, names that are declared nowhere, those of blocks and routines that
    lead elsewhere where these are not, data outside of the modules, what waits, and tasks of the system that stand
    where they do more than check and tell (each with its line)."""

    far: dict[str, int] = field(default_factory=dict)
    relative: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)
    misplaced: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """Names that files declare: interfaces, primitives, and all that can be named or called from elsewhere."""

    interfaces: frozenset[str] = frozenset()
    primitives: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


_NOTHING = Known()


def find_known(roots: Iterable[Any]) -> Known:
    """What the given files below these roots of syntax trees declare."""
    interfaces, primitives, shared = set[str](), set[str](), set[str]()
    for root in roots:
        modules = _modules(root)
        interfaces |= {_text(node.header.name) for node in modules if kind_of(node) == "InterfaceDeclaration"}
        primitives |= {_text(node.name) for node in nodes_below(root) if kind_of(node) == "UdpDeclaration"}
        shared |= {_text(node.header.name) for node in modules} | set(_routines(root))
    return Known(frozenset(interfaces), frozenset(primitives), frozenset(shared))


def find_reach(root: Any, line_of: Callable[[Any], int], known: Known = _NOTHING) -> Reach:
    """Look through all modules below the root of a syntax tree; `line_of` gives the line of a node."""
    own = find_known([root])
    seen = Known(own.interfaces | known.interfaces, own.primitives | known.primitives, own.shared | known.shared)
    reach = Reach(outside={name: line_of(node) for name, node in _loose_data(root)})
    for module in _modules(root):
        scope = _Scope.of(module, seen)
        for node in nodes_below(module):
            for fault, name in scope.faults(node):
                getattr(reach, fault).setdefault(name, line_of(node))
    return reach


@dataclass(frozen=True)
class _Scope:
    """A module: all names that it declares or can see in the file, those of its constants, of its blocks and of its own
    routines, those of its instances of other modules, where its initial and final blocks are, and the primitives."""

    names: frozenset[str]
    constants: frozenset[str]
    blocks: frozenset[str]
    routines: frozenset[str]
    instances: frozenset[str]
    once: tuple[tuple[int, int], ...]
    primitives: frozenset[str]

    @classmethod
    def of(cls, module: Any, seen: Known) -> _Scope:
        nodes = nodes_below(module)
        names = {_text(getattr(node, _NAMED[kind_of(node)])) for node in nodes if kind_of(node) in _NAMED}
        instances = {name for node in nodes for name in _instance_names(node, seen)}
        once = _spans(nodes, _ONCE)
        blocks = {_text(node.name) for node in nodes if kind_of(node) in _BLOCKS}
        routines = set(_routines(module, kind_of(module)))
        constants = {name for node in nodes for name in _constants(node)}
        return cls(frozenset(names | seen.shared), frozenset(constants), frozenset(blocks), frozenset(routines),
                   frozenset(instances), once, seen.primitives)

    def faults(self, node: Any) -> Iterator[tuple[str, str]]:
        """What is wrong with a node: the field of `Reach`, and the name or statement."""
        kind = kind_of(node)
        if kind == "ScopedName" and kind_of(node.parent) != "ScopedName":
            yield from self._path_faults(node)
        elif kind in _CALLS:
            yield from self._call_faults(getattr(node, _CALLS[kind]))
        elif kind == "SystemName" and not _is_in_place(node):
            yield "misplaced", _one_line(node).removeprefix("$")
        elif self._is_wait(node) and not self._is_clock_to_output(node):
            yield "waiting", _one_line(node)[:_LONGEST]

    def _is_wait(self, node: Any) -> bool:
        kind = kind_of(node)
        return kind in _WAITS or (kind in _EVENTS and self._runs_once(node)) or self._is_late(node)

    def _path_faults(self, name: Any) -> Iterator[tuple[str, str]]:
        """The same of a name with dots."""
        first, *others = _parts(name)
        if first not in self.names:
            yield "unknown", first
        elif not self.instances.isdisjoint((first, *others[:-1])):
            yield "far", _one_line(name)
        elif first in self.blocks:
            yield "relative", first

    def _call_faults(self, target: Any) -> Iterator[tuple[str, str]]:
        """The same of what is called."""
        name = _text(target.identifier) if kind_of(target) == "IdentifierName" else ""
        if name and name not in self.names:
            yield "unknown", name
        elif name and name not in self.routines:
            yield "relative", name

    def _is_clock_to_output(self, delay: Any) -> bool:
        """Whether it is a constant delay behind the `<=` of a clocked block."""
        above = [delay, *_above(delay)]
        if [kind_of(node) for node in above[:3]] != _AFTER_ASSIGNMENT or not _waits_for_edge(above):
            return False
        below = nodes_below(delay)
        named = {_text(node.identifier) for node in below if kind_of(node) == "IdentifierName"}
        return named <= self.constants and not any(kind_of(node) in _COMPUTED for node in below)

    def _is_late(self, node: Any) -> bool:
        """Whether it is what stands where a module has parameters, and a primitive its delays."""
        instance = node.parent if kind_of(node) == "ParameterValueAssignment" else None
        return (instance is not None and kind_of(instance) == "HierarchyInstantiation"
                and _text(instance.type) in self.primitives)

    def _runs_once(self, node: Any) -> bool:
        """Whether it is in an initial or final block."""
        place = node.sourceRange.start.offset
        return any(start <= place < end for start, end in self.once)


def _spans(nodes: Iterable[Any], kinds: Container[str]) -> tuple[tuple[int, int], ...]:
    """Where the nodes of these kinds begin and end."""
    return tuple((node.sourceRange.start.offset, node.sourceRange.end.offset) for node in nodes
                 if kind_of(node) in kinds)


def _instance_names(node: Any, seen: Known) -> list[str]:
    """The instances of modules that a node makes."""
    if kind_of(node) != "HierarchyInstantiation" or _text(node.type) in seen.interfaces:
        return []
    return [_text(one.decl.name) for one in node.instances if getattr(one, "decl", None) is not None]


def _constants(node: Any) -> list[str]:
    """The parameters that a node declares."""
    if kind_of(node) != "ParameterDeclaration":
        return []
    return [_text(one.name) for one in node.declarators if kind_of(one) == "Declarator"]


def _waits_for_edge(nodes: Iterable[Any]) -> bool:
    """Whether the first block among the nodes is clocked."""
    block = next((node for node in nodes if kind_of(node) in _CLOCKED), None)
    waits = next((node for node in nodes_below(block) if kind_of(node) in _EVENTS), None) if block else None
    return _EDGE.search(str(waits)) is not None


def _is_in_place(name: Any) -> bool:
    """Whether a task or function of the system is none of those that depend on where they stand, or stands there."""
    word = _one_line(name).removeprefix("$")
    if word == "fatal":
        return any(kind_of(node) == "ActionBlock" for node in _above(name))
    return word not in PLACED or _is_printed(name)


def _is_printed(name: Any) -> bool:
    """Whether the value of a function of the system gets into a print, and nowhere else."""
    for node in _above(name):
        is_call = kind_of(node) == "InvocationExpression" and _one_line(node.left) != _one_line(name)
        called = _one_line(node.left).removeprefix("$") if is_call else ""
        if called in PRINTS | {"fatal"}:
            return True
        if kind_of(node) not in _PASSING or called not in ("", "sformatf"):
            return False
    return False


def _above(node: Any) -> Iterator[Any]:
    """The nodes in which a node is, the nearest first."""
    while (node := node.parent) is not None:
        yield node


def _modules(root: Any) -> list[Any]:
    return [node for node in nodes_below(root) if kind_of(node) in _MODULES]


def _loose_data(root: Any) -> Iterator[tuple[str, Any]]:
    """Variables and nets outside of the modules, which bench and reference could share."""
    for node in root.members if kind_of(root) == "CompilationUnit" else ():
        if kind_of(node) in _DATA:
            yield from ((_text(one.name), node) for one in node.declarators if kind_of(one) == "Declarator")


def _parts(name: Any) -> list[str]:
    """The names of a name with dots, selections left out."""
    if kind_of(name) == "ScopedName":
        return [*_parts(name.left), *_parts(name.right)]
    identifier = getattr(name, "identifier", None)
    return [_text(identifier) if identifier is not None else _one_line(name)]


def _routines(root: Any, within: str = "") -> Iterator[str]:
    """The functions and tasks below a node, and what else can be called; those alone that stand right in a node of the
    kind `within`, where it is named."""
    for node in nodes_below(root):
        if kind_of(node) in _CALLABLE and within in ("", kind_of(node.parent)):
            yield _text(node.name)
        elif kind_of(node) == "FunctionPrototype" and kind_of(node.name) == "IdentifierName" and (
                within in ("", kind_of(node.parent.parent))):
            yield _text(node.name.identifier)


def nodes_below(root: Any) -> list[Any]:
    """The root and all nodes below it, tokens left out."""
    found: list[Any] = []
    root.visit(lambda node: found.append(node) if hasattr(node, "parent") else None)
    return found


def kind_of(node: Any) -> str:
    return str(getattr(node, "kind", "")).rpartition(".")[2]


def _text(token: Any) -> str:
    return str(getattr(token, "valueText", ""))


def _one_line(node: Any) -> str:
    """The text of a node in one line."""
    return " ".join(str(node).split())


# What in a source only checks it, and Icarus Verilog 11 does not know: it can be left out, as it changes nothing of
# what a module does. Nodes are those of pyslang.

_CHECKS = frozenset({"ConcurrentAssertionMember", "PropertyDeclaration", "SequenceDeclaration", "ElabSystemTask",
                     "DefaultDisableDeclaration", "DefaultClockingReference"})
_CHECKING = frozenset({"AssertPropertyStatement", "AssumePropertyStatement", "CoverPropertyStatement",
                       "CoverSequenceStatement", "RestrictPropertyStatement"})
_DEFERRABLE = frozenset({"ImmediateAssertStatement", "ImmediateAssumeStatement", "ImmediateCoverStatement"})
_BRANCHES = frozenset({"IfGenerate", "ElseClause", "LoopGenerate", "StandardCaseItem", "DefaultCaseItem"})


def find_unsimulated(root: Any) -> Iterator[tuple[int, int, str]]:
    """Where the text of a syntax tree has what only checks it, and what Icarus Verilog 11 does not know: concurrent and
    deferred assertions, what they are made of, and tasks of elaboration; with what may stand there instead."""
    end = 0
    for node in nodes_below(root):
        span = node.sourceRange
        if span.start.offset >= end and (instead := _instead_of(node)) is not None:
            end = span.end.offset
            yield span.start.offset, end, instead


def _instead_of(node: Any) -> str | None:
    kind, above = kind_of(node), kind_of(node.parent) if node.parent is not None else ""
    if kind in _CHECKS or (kind == "ClockingDeclaration" and str(node).split()[:1] == ["default"]):
        return "begin end" if above in _BRANCHES else ""
    if kind in _DEFERRABLE and not any(kind_of(one) == "DeferredAssertion" for one in nodes_below(node)):
        return None
    return ";" if kind in _CHECKING | _DEFERRABLE else None


_STATEMENTS = frozenset({"SequentialBlockStatement", "ConditionalStatement", "ForLoopStatement", "ExpressionStatement",
                         "EmptyStatement", "ImmediateAssertStatement"})
_ENDINGS = frozenset({"fatal", "finish", "stop"})


def find_parameter_checks(root: Any) -> Iterator[tuple[int, int, str]]:
    """The same of what ends the simulation in `initial` blocks that only look at parameters, and tell where these do
    not fit; an assertion may end it."""
    for module in _modules(root):
        nodes = nodes_below(module)
        constants = {name for node in nodes for name in _constants(node)}
        for node in nodes:
            if kind_of(node) == "InitialBlock" and _checks_parameters(node, constants):
                yield from _ends_in(node)


def find_ends(root: Any) -> Iterator[tuple[int, int, str]]:
    """The same of all that ends the simulation as if it were done (`$finish`, `$stop`)."""
    for module in _modules(root):
        yield from _ends_in(module, _ENDINGS - {"fatal"})


def _ends_in(block: Any, tasks: Container[str] = _ENDINGS) -> Iterator[tuple[int, int, str]]:
    for call in nodes_below(block):
        if _task_of(call) in tasks and not any(kind_of(one) == "ActionBlock" for one in _above(call)):
            yield call.sourceRange.start.offset, call.sourceRange.end.offset, ";"


def _checks_parameters(block: Any, constants: set[str]) -> bool:
    nodes = nodes_below(block)
    kinds = {kind_of(node) for node in nodes}
    own = {_text(node.name) for node in nodes if kind_of(node) == "Declarator"}
    own.update(re.findall(r"\bfor\s*\(\s*(?:\w+\s+)?(\w+)\s*=", str(block)))
    named = {_text(node.identifier) for node in nodes if kind_of(node) in ("IdentifierName", "IdentifierSelectName")}
    called = {_task_of(node) for node in nodes if kind_of(node) == "ExpressionStatement"}
    asks = kinds | {kind_of(node) for node in _above(block)}
    return (not asks.isdisjoint({"ConditionalStatement", "ImmediateAssertStatement", "IfGenerate", "CaseGenerate"})
            and not re.search(r"Statement\b", " ".join(kinds - _STATEMENTS))
            and named <= constants | own and called <= PRINTS | _ENDINGS)


def _task_of(statement: Any) -> str:
    """The task of the system that a statement calls."""
    call = statement.expr if kind_of(statement) == "ExpressionStatement" else None
    return _one_line(getattr(call, "left", call)).removeprefix("$")
