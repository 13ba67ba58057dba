"""Whether a block of Python is a whole new version of a file or only the part that changes."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator

from chatdev.replies.python.outline import Code, Function, Unit, is_ellipsis, without_docstring

_WHOLE_SHARE = 0.6  # a program of its own is a new version when it has at least this share of the old lines


def is_part(old: Code, new: Code) -> bool:
    """Whether `new` gives only part of `old`.

    It does when it stands for code left out, when definitions, methods or the start of the program are missing (unless
    it is a program that stands on its own and is not much shorter), when it needs names that only `old` has, or when it
    holds nothing but definitions and `old` more than that.
    """
    if new.elided or any(is_stub(unit, match) for unit, match in _pairs(old.units, new.units)):
        return True
    if missing := set(_definitions(old.units)) - set(_definitions(new.units)):
        return not _stands_alone(old, new, missing)
    if (starts(old) and not starts(new)) or _needed(new.tree) & _bound_at_top(old):
        return True
    if all(unit.defines or unit.kind == "doc" for unit in new.units):
        return any(not unit.defines and unit.kind != "doc" for unit in old.units)
    return not any(unit.defines for unit in old.units) and new.size < _WHOLE_SHARE * old.size


def is_stub(new: Unit, old: Unit | None) -> bool:
    """Whether `new` is a function of only `...` that stands for a real one."""
    return _only_ellipsis(new) and old is not None and old.kind == "function" and not _only_ellipsis(old)


def _only_ellipsis(unit: Unit) -> bool:
    if not isinstance(unit.node, Function):
        return False
    return all(is_ellipsis(node) for node in without_docstring(unit.node)) and any(map(is_ellipsis, unit.node.body))


def _pairs(old: Iterable[Unit], new: Iterable[Unit]) -> Iterator[tuple[Unit, Unit | None]]:
    """Every function of `new`, methods included, with the one of the same name in `old`."""
    named = {unit.name: unit for unit in old if unit.defines}
    for unit in new:
        match = named.get(unit.name)
        if unit.kind == "function":
            yield unit, match
        elif unit.kind == "class" and match is not None:
            yield from _pairs(match.members, unit.members)


def _definitions(units: Iterable[Unit], prefix: str = "") -> Iterator[str]:
    for unit in units:
        if unit.defines:
            yield prefix + unit.name
            yield from _definitions(unit.members, f"{prefix}{unit.name}.")


def starts(code: Code) -> bool:
    """Whether the module does something when it is run."""
    return any(unit.kind in ("guard", "other") for unit in code.units)


def _stands_alone(old: Code, new: Code, missing: set[str]) -> bool:
    """Whether `new` is a program that needs nothing of what it leaves out."""
    if not starts(new) or new.size < _WHOLE_SHARE * old.size:
        return False
    methods = {name.split(".")[1] for name in missing if "." in name}
    return not (_bound_at_top(old) | methods) & _needed(new.tree)


def _bound_at_top(code: Code) -> set[str]:
    """Names that the module defines, assigns or imports."""
    imported = {(alias.asname or alias.name).split(".")[0] for unit in code.units
                if isinstance(unit.node, ast.Import | ast.ImportFrom) for alias in unit.node.names}
    return imported | {name for unit in code.units if unit.name for name in unit.name.split(", ")}


def _needed(tree: ast.Module) -> set[str]:
    """Names and attributes of `self` that `tree` uses and does not define."""
    used: set[str] = set()
    bound = set(dir(builtins))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name):
                (used if isinstance(node.ctx, ast.Load) else bound).add(name)
            case _:
                bound |= _bound_by(node)
    return used - bound


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.FunctionDef(name=str(name)) | ast.AsyncFunctionDef(name=str(name)) | ast.ClassDef(name=str(name)):
            return {name}
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.arg(arg=str(name)):
            return {name}
        case ast.alias():
            return {(node.asname or node.name).split(".")[0]}
    return set()
