"""Which file a block without a name is meant for."""

from __future__ import annotations

import re
from collections.abc import Mapping

from chatdev.replies.languages import fits, is_python, usual_name
from chatdev.replies.problem import Unreadable
from chatdev.replies.python.reader import NotPython, read, read_part
from chatdev.replies.search_replace import is_search_replace, read_changes
from chatdev.replies.update import definitions

_PROGRAMMING = ("import", "function", "class", "call")
_JAVA_CLASS = re.compile(r"^\s*public\s+(?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s+(\w+)", re.MULTILINE)


def language_by_content(content: str) -> str | None:
    """`python` when a block without a language word is a Python program, else None."""
    try:
        outline = read(content)
    except NotPython:
        return None
    return "python" if any(statement.kind in _PROGRAMMING for statement in outline.statements) else None


def file_of_nameless(language: str | None, content: str, software: Mapping[str, str]) -> str | None:
    """The file meant by a nameless block in `language`; None when it is no program.

    The only file of that language, else the only one that has what the block changes, else the class it defines,
    else `main`. `software` maps paths to texts. Raises Unreadable when several files are possible.
    """
    if is_search_replace(content):
        return _file_searched(content, software)
    usual = usual_name(language) if language else None
    if usual is None or language is None:
        return None
    existing = [path for path in software if fits(path, language)]
    if len(existing) == 1:
        return existing[0]
    if is_python(usual) and (path := _file_defining(content, {path: software[path] for path in existing})):
        return path
    name = usual_name(language, _stem(language, content)) or usual
    if name in software and not (is_python(name) and _has_main_guard(content)):
        raise Unreadable(f"a code block has no file name: say which file it changes ({', '.join(sorted(existing))})")
    return name


def _file_searched(content: str, software: Mapping[str, str]) -> str:
    """The only file that holds all the lines searched for."""
    changes = read_changes(content, "a block without a file name")
    wanted = ["".join(change.search).strip() for change in changes]
    found = [path for path, text in software.items() if all(part and part in text for part in wanted)]
    if len(found) != 1:
        raise Unreadable(f"SEARCH/REPLACE blocks have no file name, and their lines are in {len(found)} files")
    return found[0]


def _file_defining(content: str, software: Mapping[str, str]) -> str | None:
    given = definitions(content)
    found = [path for path, text in software.items() if given & definitions(text)]
    return found[0] if len(found) == 1 else None


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
