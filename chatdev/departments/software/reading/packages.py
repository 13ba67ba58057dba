"""`software.packages`: what must be installed for the program, and in which file its language says so.

Python's imports are found by its parser. Of the other languages `packages.yaml` knows how a source loads something, and
what of it comes with the language or is a part of the program.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict

from chatdev.departments.software import knowledge
from chatdev.packages import known_modules
from chatdev.packages.imports import imports, third_party_names
from chatdev.tools.base import ToolContext
from chatdev.tools.function import tool
from chatdev.workspace.languages import captures, has_python, matches, page_entry
from chatdev.workspace.python_errors import syntax_errors
from chatdev.workspace.snapshot import is_test

_MOST = 50  # names; what loads more is no program


class _Sources(BaseModel):
    """One row of `packages.yaml`, where the fields are explained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    suffixes: tuple[str, ...]
    loads: str
    own: tuple[str, ...] = ()
    part: str = ""
    declares: str = ""
    needs: tuple[str, ...] = ()

    def names(self, files: Mapping[str, bytes]) -> set[str]:
        """The packages that these sources need; empty without a source."""
        sources = [data.decode("utf-8", errors="replace") for path, data in files.items()
                   if PurePosixPath(path).suffix in self.suffixes and not is_test(path)]
        declared = {name for source in sources if self.declares for name in captures(self.declares, source)}
        return {*self.needs, *self._loaded(sources, declared)} if sources else set()

    def _loaded(self, sources: list[str], declared: set[str]) -> Iterator[str]:
        for source in sources:
            for name in captures(self.loads, source):
                if name not in declared and not any(matches(pattern, name) for pattern in self.own):
                    yield next(captures(self.part, name), name) if self.part else name


@tool(reads=("software",))
def packages(ctx: ToolContext) -> dict[str, Any]:
    """Name the packages that the program needs from outside its language, and the file that says so.

    Returns `names`, sorted, and `file`, such as `requirements.txt` or `package.json`. Both are empty when the program
    needs nothing but what comes with its language, when it is a page, and for languages without such a file.
    """
    file, names = packages_needed(ctx.software)
    return {"names": sorted(names, key=str.lower)[:_MOST], "file": file}


def packages_needed(files: Mapping[str, bytes]) -> tuple[str, set[str]]:
    """The file in which the software names the packages that it needs, and these; both empty when it needs none."""
    if has_python(files):
        names = _python_packages(files)
        return ("requirements.txt", names) if names else ("", names)
    if page_entry(files):  # it has no other packages than those that it loads itself
        return "", set()
    found = ((file, {name for row in rows for name in row.names(files)}) for file, rows in _rows().items())
    return next(((file, names) for file, names in found if names), ("", set()))


def _python_packages(files: Mapping[str, bytes]) -> set[str]:
    """The distributions behind the imports; none for files that do not compile."""
    broken = {error.path for error in syntax_errors(files)}
    sound = {path: data for path, data in files.items() if path not in broken}
    modules = third_party_names(frozenset(imports(sound).all_names))
    return {known_modules.distributions().get(module, module) for module in modules}


@functools.cache
def _rows() -> Mapping[str, tuple[_Sources, ...]]:
    return {file: tuple(_Sources(**row) for row in rows) for file, rows in knowledge.package_files().items()}
