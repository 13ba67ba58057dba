"""What the syntax of a source says of every branch of it, also of those that no parameter chooses here: names that lead
out of their module, and statements that wait.

Elaboration (`slang.py`) knows what names refer to, but only in the branches that it takes; a bench that gives other
parameters takes others. Nodes are those of pyslang.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

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
_LONGEST = 40  # characters of a statement that is shown


@dataclass
class Reach:
    """Names that reach from one module into another, names that are declared nowhere, those of blocks and routines that
    lead elsewhere where these are not, data outside of the modules, and what waits (each with its line)."""

    far: dict[str, int] = field(default_factory=dict)
    relative: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    outside: dict[str, int] = field(default_factory=dict)
    waiting: dict[str, int] = field(default_factory=dict)


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
        interfaces |= {_text(node.header.name) for node in modules if _kind(node) == "InterfaceDeclaration"}
        primitives |= {_text(node.name) for node in _nodes(root) if _kind(node) == "UdpDeclaration"}
        shared |= {_text(node.header.name) for node in modules} | set(_routines(root))
    return Known(frozenset(interfaces), frozenset(primitives), frozenset(shared))


def find_reach(root: Any, line_of: Callable[[Any], int], known: Known = _NOTHING) -> Reach:
    """Look through all modules below the root of a syntax tree; `line_of` gives the line of a node."""
    own = find_known([root])
    seen = Known(own.interfaces | known.interfaces, own.primitives | known.primitives, own.shared | known.shared)
    reach = Reach(outside={name: line_of(node) for name, node in _loose_data(root)})
    for module in _modules(root):
        scope = _Scope.of(module, seen)
        for node in _nodes(module):
            for fault, name in scope.faults(node):
                getattr(reach, fault).setdefault(name, line_of(node))
    return reach


@dataclass(frozen=True)
class _Scope:
    """A module: all names that it declares or can see in the file, those of its blocks and of its own routines, those
    of its instances of other modules, where its initial and final blocks are, and the primitives."""

    names: frozenset[str]
    blocks: frozenset[str]
    routines: frozenset[str]
    instances: frozenset[str]
    once: tuple[tuple[int, int], ...]
    primitives: frozenset[str]

    @classmethod
    def of(cls, module: Any, seen: Known) -> _Scope:
        nodes = _nodes(module)
        names = {_text(getattr(node, _NAMED[_kind(node)])) for node in nodes if _kind(node) in _NAMED}
        instances = {_text(one.decl.name) for node in nodes if _kind(node) == "HierarchyInstantiation"
                     for one in node.instances
                     if getattr(one, "decl", None) is not None and _text(node.type) not in seen.interfaces}
        once = tuple((node.sourceRange.start.offset, node.sourceRange.end.offset) for node in nodes
                     if _kind(node) in _ONCE)
        blocks = {_text(node.name) for node in nodes if _kind(node) in ("NamedBlockClause", "NamedLabel")}
        routines = set(_routines(module, _kind(module)))
        return cls(frozenset(names | seen.shared), frozenset(blocks), frozenset(routines), frozenset(instances), once,
                   seen.primitives)

    def faults(self, node: Any) -> Iterator[tuple[str, str]]:
        """What is wrong with a node: the field of `Reach`, and the name or statement."""
        kind = _kind(node)
        if kind == "ScopedName" and _kind(node.parent) != "ScopedName":
            yield from self._path_faults(node)
        elif kind in _CALLS:
            target = getattr(node, _CALLS[kind])
            name = _text(target.identifier) if _kind(target) == "IdentifierName" else ""
            if name and name not in self.names:
                yield "unknown", name
            elif name and name not in self.routines:
                yield "relative", name
        elif kind in _WAITS or (kind in _EVENTS and self._runs_once(node)) or self._is_late(node):
            yield "waiting", _one_line(node)[:_LONGEST]

    def _path_faults(self, name: Any) -> Iterator[tuple[str, str]]:
        """The same of a name with dots."""
        first, *others = _parts(name)
        if first not in self.names:
            yield "unknown", first
        elif not self.instances.isdisjoint((first, *others[:-1])):
            yield "far", _one_line(name)
        elif first in self.blocks:
            yield "relative", first

    def _is_late(self, node: Any) -> bool:
        """Whether it is what stands where a module has parameters, and a primitive its delays."""
        instance = node.parent if _kind(node) == "ParameterValueAssignment" else None
        return (instance is not None and _kind(instance) == "HierarchyInstantiation"
                and _text(instance.type) in self.primitives)

    def _runs_once(self, node: Any) -> bool:
        """Whether it is in an initial or final block."""
        place = node.sourceRange.start.offset
        return any(start <= place < end for start, end in self.once)


def _modules(root: Any) -> list[Any]:
    return [node for node in _nodes(root) if _kind(node) in _MODULES]


def _loose_data(root: Any) -> Iterator[tuple[str, Any]]:
    """Variables and nets outside of the modules, which bench and reference could share."""
    for node in root.members if _kind(root) == "CompilationUnit" else ():
        if _kind(node) in _DATA:
            yield from ((_text(one.name), node) for one in node.declarators if _kind(one) == "Declarator")


def _parts(name: Any) -> list[str]:
    """The names of a name with dots, selections left out."""
    if _kind(name) == "ScopedName":
        return [*_parts(name.left), *_parts(name.right)]
    identifier = getattr(name, "identifier", None)
    return [_text(identifier) if identifier is not None else _one_line(name)]


def _routines(root: Any, within: str = "") -> Iterator[str]:
    """The functions and tasks below a node, and what else can be called; those alone that stand right in a node of the
    kind `within`, where it is named."""
    for node in _nodes(root):
        if _kind(node) in _CALLABLE and within in ("", _kind(node.parent)):
            yield _text(node.name)
        elif _kind(node) == "FunctionPrototype" and _kind(node.name) == "IdentifierName" and (
                within in ("", _kind(node.parent.parent))):
            yield _text(node.name.identifier)


def _nodes(root: Any) -> list[Any]:
    """The root and all nodes below it, tokens left out."""
    found: list[Any] = []
    root.visit(lambda node: found.append(node) if hasattr(node, "parent") else None)
    return found


def _kind(node: Any) -> str:
    return str(getattr(node, "kind", "")).rpartition(".")[2]


def _text(token: Any) -> str:
    return str(getattr(token, "valueText", ""))


def _one_line(node: Any) -> str:
    """The text of a node in one line."""
    return " ".join(str(node).split())
