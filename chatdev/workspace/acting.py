"""Files that act without anybody starting them (`acting_files.yaml` lists them, each with its reason).

A shell's prompt asks git about the folder, an editor opens it, direnv enters it: what a model, a program or a stranger
wrote must not run on the host by being looked at. A reply with such a file is refused; what comes another way (software
to start from, two branches put together, an older record) is held in the run, but never written into its folder.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any

import yaml

_LIST = Path(__file__).with_name("acting_files.yaml")
_HEAD = "head"
_REPOSITORIES = ({"objects", "refs"}, {"commondir"})
"""What makes a folder a repository beside `HEAD`; `commondir` names another folder that has the rest."""


@dataclass(frozen=True, slots=True)
class ActingName:
    """A pattern of paths that act when they are looked at, and who acts."""

    pattern: re.Pattern[str]
    why: str


def reason_to_withhold(path: str) -> str | None:
    """Reason why the file `path` acts when somebody only opens its folder; None if it does not."""
    folded = "/".join(_fold(part) for part in path.split("/"))
    if not _any_name().search(folded):
        return None
    return next((name.why for name in acting_names() if name.pattern.search(folded)), None)


def bare_repositories(paths: Iterable[str]) -> dict[str, list[str]]:
    """The folders that git takes for repositories, whatever is in their files, each with paths that make it one."""
    return {folder: [paths[0] for paths in makers.values()] for folder, makers in _repositories(paths).items()}


def withheld_files(paths: Iterable[str]) -> dict[str, str]:
    """Those of the paths that must not be written into a folder, and why not: without them nothing in it acts."""
    paths = list(paths)
    found = {path: why for path in paths if (why := reason_to_withhold(path))}
    for makers in _repositories(paths).values():
        found |= dict.fromkeys(makers[_HEAD], "it makes its folder a git repository, whose settings start programs")
    return found


def _repositories(paths: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """The folders that git takes for repositories: by the folded name of what makes it one, `HEAD` first, all paths
    that are spelled so or lie in it. A file system may hold several spellings beside each other.

    git looks for `.git`, and for a folder that is like one: with `HEAD`, `objects` and `refs`. Its `config` may name
    programs, which any command of git in this folder or below it starts.
    """
    inside: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in paths:
        parts = [_fold(part) for part in path.split("/")]
        for level, part in enumerate(parts):
            inside["/".join(parts[:level])][part].append(path)
    found = {}
    for folder, names in inside.items():
        if _HEAD in names and (kind := next((kind for kind in _REPOSITORIES if kind <= names.keys()), None)):
            found[folder] = {name: names[name] for name in (_HEAD, *sorted(kind))}
    return found


@functools.cache
def acting_names() -> tuple[ActingName, ...]:
    """The list."""
    return tuple(ActingName(_compile(pattern), entry["why"]) for entry in listed_files()["refused"]
                 for pattern in entry["names"])


@functools.cache
def _any_name() -> re.Pattern[str]:
    """All names at once: most files have none of them."""
    return re.compile("|".join(name.pattern.pattern for name in acting_names()))


def listed_files() -> Any:
    """What `acting_files.yaml` holds."""
    return yaml.safe_load(_LIST.read_text(encoding="utf-8"))


def _compile(pattern: str) -> re.Pattern[str]:
    """A pattern as an expression to search for in a folded path."""
    whole = re.sub(r"\\[zZ]$", "", translate(pattern.rstrip("/")))
    return re.compile(rf"(?:^|/){whole}{'(?:/|$)' if pattern.endswith('/') else '$'}")


def _fold(part: str) -> str:
    """One part of a path as file systems may take it: without regard to case, Unicode form, invisible characters, and
    blanks and dots at the end."""
    seen = "".join(char for char in unicodedata.normalize("NFKC", part) if unicodedata.category(char) != "Cf")
    return seen.casefold().rstrip(". ")
