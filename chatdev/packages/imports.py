"""Which modules Python software imports that are not its own, and which distributions it asks for."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from chatdev.workspace.python_reading import imported_names
from chatdev.workspace.snapshot import is_test


@dataclass(frozen=True, slots=True)
class Imports:
    """Top-level names of imported modules that are not the program's own; `optional` ones may fail (they stand in a
    `try` that catches it), `required` ones may not."""

    required: frozenset[str]
    optional: frozenset[str]

    @property
    def all_names(self) -> set[str]:
        """All of them."""
        return set(self.required | self.optional)


def imports(files: Mapping[str, bytes]) -> Imports:
    """The imports of all Python files that are not tests; the files must compile."""
    every: dict[bool, set[str]] = {True: set(), False: set()}
    own = _own_modules(files)
    for path, source in files.items():
        if path.endswith(".py") and not is_test(path):
            with contextlib.suppress(SyntaxError):  # it takes too much to be looked through
                for name, may_fail in imported_names(source, path):
                    every[may_fail].add(name)
    required = frozenset(every[False] - own)
    return Imports(required, frozenset(every[True] - own - required))


def third_party_names(names: frozenset[str]) -> frozenset[str]:
    """Those that do not belong to Python itself."""
    return names - sys.stdlib_module_names - {"__main__"}


def requirements(files: Mapping[str, bytes]) -> set[str]:
    """Normalised distribution names listed in requirements.txt (versions, URLs and options are left out)."""
    text = files.get("requirements.txt", b"").decode("utf-8", errors="replace")
    names = (re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\]\s*)?(?:[=<>!~;#].*)?$", line)
             for line in text.splitlines())
    return {normal_name(match[1]) for match in names if match}


def normal_name(distribution: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _own_modules(files: Mapping[str, bytes]) -> set[str]:
    """Every name under which the program's own files could be imported, whichever folder is on the path."""
    own: set[str] = set()
    for path in files:
        if path.endswith(".py"):
            own |= {*PurePosixPath(path).with_suffix("").parts}
    return own
