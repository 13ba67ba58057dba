"""Which modules software needs and may have: what Python files import and ask for, what is known of third-party modules
(`modules.yaml`, `runtimes.yaml`), and what a run says of packages."""

from __future__ import annotations

import configparser
import contextlib
import functools
import re
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from chatdev.isolation.isolate import isolate
from chatdev.paths import bundled_table
from chatdev.workspace.file_tree import is_test
from chatdev.workspace.python_facts import imported_names

_LISTS = re.compile(r"(?:[\w.-]+/)?requirements[\w.-]*\.(?:txt|in)|requirements/[\w.-]+\.(?:txt|in)")
_LONGEST, _LONGEST_LINE = 100_000, 2_000  # bytes; the time of both readers grows with the square of a line
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\]\s*)?(?:[=<>!~;#(].*)?$")


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


def imports(files: Mapping[str, bytes], *, tests: bool = False) -> Imports:
    """The imports of all Python files that are not tests, or of those that are; the files must compile."""
    every: dict[bool, set[str]] = {True: set(), False: set()}
    own = own_modules(files)
    for path, source in files.items():
        if path.endswith(".py") and is_test(path) == tests:
            with contextlib.suppress(SyntaxError):  # it takes too much to be looked through
                for name, may_fail in imported_names(source, path):
                    every[may_fail].add(name)
    required = frozenset(every[False] - own)
    return Imports(required, frozenset(every[True] - own - required))


def third_party_names(names: frozenset[str]) -> frozenset[str]:
    """Those that do not belong to Python itself."""
    return names - sys.stdlib_module_names - {"__main__"}


def requirements(files: Mapping[str, bytes]) -> set[str]:
    """Normalised names of the distributions that software asks for in requirements files, pyproject.toml and setup.cfg,
    for itself or its tests (versions, URLs and options are left out)."""
    lists = [data.decode("utf-8", errors="replace") for path, data in files.items() if _LISTS.fullmatch(path)]
    lines = [line for text in lists for line in text.splitlines()]
    for name, read in {"pyproject.toml": pyproject_requirements, "setup.cfg": setup_requirements}.items():
        with contextlib.suppress(ValueError):
            lines += read(files.get(name, b""))
    return {normal_name(found[1]) for line in lines if (found := _REQUIREMENT.match(line))}


@isolate(ValueError)
def pyproject_requirements(source: bytes) -> list[str]:
    """What pyproject.toml lists as dependencies: the project's own, optional ones and groups (PEP 621, PEP 735), and
    those of tools such as Poetry. Raises ValueError for what is no TOML, or too long."""
    return list(_dependencies(tomllib.loads(_short_text(source))))


def _dependencies(table: Mapping[str, Any]) -> Iterator[str]:
    for key, child in table.items():
        if "dependencies" in key or key == "dependency-groups":
            yield from _names_in(child)
        elif isinstance(child, dict):
            yield from _dependencies(child)


def _names_in(child: Any) -> Iterator[str]:
    """The dependencies of a list, or of a table, whose keys are their names or the names of lists."""
    if isinstance(child, list):
        yield from (one for one in child if isinstance(one, str))
    elif isinstance(child, dict):
        for name, value in child.items():
            yield from _names_in(value) if isinstance(value, list) else (name,)


@isolate(ValueError)
def setup_requirements(source: bytes) -> list[str]:
    """What setup.cfg lists as dependencies of setuptools. Raises ValueError for what cannot be read."""
    settings = configparser.RawConfigParser()
    try:
        settings.read_string(_short_text(source))
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    extras = dict(settings["options.extras_require"]) if settings.has_section("options.extras_require") else {}
    options = [settings.get("options", name, fallback="") for name in ("install_requires", "tests_require")]
    return [line for text in (*options, *extras.values()) for line in text.splitlines()]


def normal_name(distribution: str) -> str:
    """A distribution's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _short_text(source: bytes) -> str:
    """The text of a list that nobody would call long; raises ValueError for another."""
    if len(source) > _LONGEST or any(len(line) > _LONGEST_LINE for line in source.splitlines()):
        raise ValueError(f"longer than {_LONGEST} bytes, or {_LONGEST_LINE} in a line")
    return source.decode("utf-8")


def own_modules(files: Mapping[str, bytes]) -> set[str]:
    """Every name under which the program's own files could be imported, whichever folder is on the path."""
    own: set[str] = set()
    for path in files:
        if path.endswith(".py"):
            own |= {*PurePosixPath(path).with_suffix("").parts}
    return own


# What is known of third-party modules (`modules.yaml`) and of the prepared sets of them (`runtimes.yaml`).


@functools.cache
def _data(name: str) -> dict[str, Any]:
    data: dict[str, Any] = bundled_table(Path(__file__).with_name(name))
    return data


def distributions() -> dict[str, str]:
    """Import name -> distribution, of the modules that may always be installed."""
    names: dict[str, str] = _data("modules.yaml")["distributions"]
    return names


def refusal_words(why: str) -> str:
    """Why a module is not installed, in words for agents."""
    words: str = _data("modules.yaml")["refusals"][why]
    return words


def runtimes() -> dict[str, dict[str, Any]]:
    """The prepared sets of modules: name -> about, modules."""
    return _data("runtimes.yaml")


def needs_display(modules: set[str]) -> bool:
    """Whether a program that imports `modules` opens X windows."""
    return not modules.isdisjoint(_data("modules.yaml")["display"])


def draws_by_tkinter(modules: Collection[str]) -> bool:
    """Whether the windows of a program that imports `modules` are those of tkinter."""
    return not set(modules).isdisjoint(_data("modules.yaml")["tkinter"])


def opens_windows(modules: set[str]) -> bool:
    """Whether a program that imports `modules` is one with windows, drawn to a display or to memory."""
    return needs_display(modules) or not modules.isdisjoint(_data("modules.yaml")["windows"])


# What a run says of packages: whether they may be installed, who is asked, and which are there from the start.

Policy = Literal["auto", "ask", "never"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
"""From the most liberal to the strictest."""


@dataclass(frozen=True, slots=True)
class Supply:
    """`ask` is called with the name of a package and says whether it may be installed; None: there is nobody to ask.
    `runtime` is the name of a prepared set of packages."""

    policy: Policy = "auto"
    ask: Callable[[str], bool] | None = None
    runtime: str | None = None

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of a tool that say so."""
        return {"install": self.policy, "ask": self.ask, "runtime": self.runtime}

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Supply:
        """From the options of a tool; what is not among them has its default."""
        return cls(options.get("install", "auto"), options.get("ask"), options.get("runtime"))

    @property
    def asks(self) -> bool:
        """Whether a refusal is somebody's answer, which holds for the whole run."""
        return self.policy == "ask" and self.ask is not None

    def refusal(self, distribution: str) -> str | None:
        """Why it may not be installed, or None when it may; this may ask."""
        if self.policy == "auto":
            return None
        if self.policy == "never":
            return refusal_words("off")
        if self.ask is None:
            return refusal_words("nobody")
        return None if self.ask(distribution) else refusal_words("declined")


def strictest_policy(*policies: Policy | None) -> Policy:
    """The strictest of those given."""
    return max((policy for policy in policies if policy), key=POLICIES.index, default="auto")
