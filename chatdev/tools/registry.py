"""Which tools there are: a table of import paths, and what departments and other packages add to it."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import entry_points
from types import MappingProxyType

from chatdev.department import installed_departments, load
from chatdev.errors import ToolError
from chatdev.tools.base import Tool

_TOOLS = {
    "retrieval.search": "chatdev.tools.retrieval.search:search",
    "value.check": "chatdev.tools.value.check:check",
}
ENTRY_POINTS = "chatdev.tools"
"""Entry-point group for tools without a department of their own: `department.verb = "module:tool"`."""


class Registry(Mapping[str, Tool]):
    """Tools by name, each imported when it is first asked for."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = MappingProxyType(dict(sorted(paths.items())))

    def __getitem__(self, name: str) -> Tool:
        return _load(name, self._paths[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths


def registry() -> Registry:
    """The tools of this installation; raises ToolError when two packages bring the same name."""
    return _read_registry(tuple(sys.path))


@functools.cache  # every run asks, and looking into all packages takes longer than a call of a model takes us
def _read_registry(_path: tuple[str, ...]) -> Registry:
    found: dict[str, tuple[str, str]] = {}
    for name, path, owner in _rows():
        other, theirs = found.setdefault(name, (path, owner))
        if other != path:
            raise ToolError(f"the tool {name!r} is there twice: {other} in {theirs} and {path} in {owner}; uninstall "
                            "one of the packages or rename its tool")
    return Registry({name: path for name, (path, _) in found.items()})


def _rows() -> Iterator[tuple[str, str, str]]:
    """Name, import path and owner of every tool."""
    yield from ((name, path, "chatdev itself") for name, path in _TOOLS.items())
    for one in installed_departments():
        yield from ((name, path, one.owner) for name, path in (one.department.tools if one.department else {}).items())
    for point in entry_points(group=ENTRY_POINTS):
        yield point.name, point.value, f"the package {point.dist.name if point.dist else point.module}"


@functools.cache
def _load(name: str, path: str) -> Tool:
    found = load(path, f"the tool {name!r}")
    if not isinstance(found, Tool):
        raise ToolError(f"the tool {name!r}: {path} is no tool; decorate the function with @tool")
    return replace(found, name=name)  # whatever the folders of its package are called
