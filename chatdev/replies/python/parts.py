"""Parts of a Python file: whether a block is one or a whole new version, and what one looks like."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from chatdev.replies.python.outline import Outline, Statement
from chatdev.workspace.python_facts import functions

_WHOLE_SHARE = 0.6  # a program of its own is a new version when it has at least this share of the old lines


def is_part(old: Outline, new: Outline) -> bool:
    """Whether `new` gives only part of `old`.

    It does when it stands for code left out, when definitions, methods or the start of the program are missing (unless
    it is a program that stands on its own and is not much shorter), when it needs names that only `old` has, or when it
    holds nothing but definitions and `old` more than that.
    """
    if new.elided or any(is_stub(function, match) for function, match in _pairs(old.statements, new.statements)):
        return True
    if missing := set(_definitions(old.statements)) - set(_definitions(new.statements)):
        return not _stands_alone(old, new, missing)
    if (old.acts and not new.acts) or new.needs & old.top_names:
        return True
    if _only_definitions(new):
        return not _only_definitions(old)
    return not old.definitions and new.size < _WHOLE_SHARE * old.size


def is_stub(new: Statement, old: Statement | None) -> bool:
    """Whether `new` is a function of only `...` that stands for a real one."""
    return new.filler == "..." and old is not None and old.kind == "function" and old.filler != "..."


def _only_definitions(outline: Outline) -> bool:
    return all(statement.defines or statement.kind == "doc" for statement in outline.statements)


def _pairs(old: Iterable[Statement], new: Iterable[Statement]) -> Iterator[tuple[Statement, Statement | None]]:
    """Every function of `new`, methods included, with the one of the same name in `old`."""
    by_name = {statement.name: statement for statement in old if statement.defines}
    for statement in new:
        match = by_name.get(statement.name)
        if statement.kind == "function":
            yield statement, match
        elif statement.kind == "class" and match is not None:
            yield from _pairs(match.members, statement.members)


def _definitions(statements: Iterable[Statement], prefix: str = "") -> Iterator[str]:
    for statement in statements:
        if statement.defines:
            yield prefix + statement.name
            yield from _definitions(statement.members, f"{prefix}{statement.name}.")


def _stands_alone(old: Outline, new: Outline, missing: set[str]) -> bool:
    """Whether `new` is a whole program: it uses none of the names it leaves out."""
    if not new.acts or new.size < _WHOLE_SHARE * old.size:
        return False
    methods = {name.split(".")[1] for name in missing if "." in name}
    return not (old.top_names | methods) & new.needs


_LINES = range(2, 41)  # the shortest is taken; without any example a small model loses the form


def example_part(software: Mapping[str, bytes]) -> str:
    """One short function of the software as a delivery would bring it: path line and fenced block; empty when there is
    no short Python function. A small model copies examples, and may copy this one without harm."""
    found = sorted(_short_functions(software), key=lambda pair: (len(pair[1].splitlines()), pair))
    if not found:
        return ""
    path, source = found[0]
    return f"{path}\n```python\n{source}\n```"


def _short_functions(software: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for path, data in software.items():
        if path.endswith(".py"):
            for source in functions(data.decode("utf-8", "replace")):
                if len(source.splitlines()) in _LINES and "```" not in source:
                    yield path, source
