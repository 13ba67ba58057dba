"""Which file of the software a block is for: the one it names, or the only one that it can be meant for."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from chatdev.replies.blocks import Block
from chatdev.replies.languages import fits, usual_name
from chatdev.replies.problem import unreadable
from chatdev.replies.python.reader import NotPython, read, read_part
from chatdev.replies.search_replace import Changes
from chatdev.workspace.safe_paths import safe_path

_PROGRAMMING = ("import", "function", "class", "call")
_JAVA_CLASS = re.compile(r"^\s*public\s+(?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s+(\w+)", re.MULTILINE)


def safe_target(name: str, block: Block, files: Collection[str]) -> str:
    """The path of the software that `name` means for a block: changes are for a file that is there, so they find it in
    its folder when no other has its name. Raises UnsafePath."""
    path = safe_path(name)
    if block.kind != "changes" or path in files:
        return path
    namesakes = [other for other in files if PurePosixPath(other).name == PurePosixPath(path).name]
    return namesakes[0] if len(namesakes) == 1 else path


def only_path(block: Block, only: Sequence[str]) -> str | None:
    """The one file that may be written, for a nameless block that can be it; `only` are patterns."""
    if len(only) != 1 or set("*?[") & set(only[0]):
        return None
    return only[0] if fits(only[0], block.language) or block.language == "text" or not block.word else None


def guess_path(block: Block, software: Mapping[str, str]) -> str | None:
    """The file meant by a nameless block; None when it is no program.

    The only file of its language, else the only one that has what the block changes, else the class it defines,
    else `main`. `software` maps paths to texts. Raises Unreadable when several files are possible.
    """
    if block.changes:
        return _file_searched(block.changes, software)
    language = block.language if block.word else _language_by_content(block.text)
    if language is None or usual_name(language) is None:
        return None
    existing = {path: text for path, text in software.items() if fits(path, language)}
    if len(existing) == 1:
        return next(iter(existing))
    defining = _file_defining(block.text, existing) if language == "python" else None
    return defining or _file_by_content(block.text, language, existing)


def _language_by_content(content: str) -> str | None:
    """`python` when a block without a language word is a Python program, else None."""
    try:
        outline = read(content)
    except NotPython:
        return None
    return "python" if any(statement.kind in _PROGRAMMING for statement in outline.statements) else None


def _file_searched(changes: Changes, software: Mapping[str, str]) -> str:
    """The only file that holds all the lines searched for."""
    changes.require_complete(None)
    parts = ["".join(change.search).strip() for change in changes.found]
    found = [path for path, text in software.items() if all(part and part in text for part in parts)]
    if len(found) != 1:
        raise unreadable("which_file_searched", count=len(found))
    return found[0]


def _file_defining(content: str, software: Mapping[str, str]) -> str | None:
    """The only file that defines something of what the block defines."""
    given = _definitions(content)
    found = [path for path, text in software.items() if given & _definitions(text)]
    return found[0] if len(found) == 1 else None


def _file_by_content(content: str, language: str, existing: Collection[str]) -> str | None:
    """The class that the block defines, else `main`; of files that are there only a main program is replaced so."""
    name = usual_name(language, _stem(language, content))
    if name in existing and not (language == "python" and _has_main_guard(content)):
        raise unreadable("which_file", files=sorted(existing))
    return name


def _definitions(text: str) -> set[str]:
    """Names of the functions and classes a Python text defines, methods given without their class included."""
    try:
        return read_part(text).definitions
    except NotPython:
        return set()


def _stem(language: str, content: str) -> str:
    """What to call a file by its content: its public class, else `main`."""
    if language == "java":
        found = _JAVA_CLASS.search(content)
        return found[1] if found else "Main"
    if language != "python":
        return "main"
    try:
        outline = read_part(content)
    except NotPython:
        return "main"
    public = [statement.name for statement in outline.statements
              if statement.kind == "class" and not statement.name.startswith("_")]
    return public[0].lower() if len(public) == 1 and not outline.acts else "main"


def _has_main_guard(content: str) -> bool:
    try:
        return any(statement.kind == "guard" for statement in read(content).statements)
    except NotPython:
        return False
