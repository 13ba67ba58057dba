"""One block for one file: a whole new version, search/replace changes, or a part to merge."""

from __future__ import annotations

from chatdev.replies.elision import elided_line
from chatdev.replies.languages import is_python
from chatdev.replies.problem import Unreadable
from chatdev.replies.python.broken import read_around
from chatdev.replies.python.merge import merge
from chatdev.replies.python.outline import Outline
from chatdev.replies.python.parts import is_part
from chatdev.replies.python.reader import NotPython, fault, read, read_part
from chatdev.replies.search_replace import apply_changes, is_search_replace, read_changes

_READING = 16  # how often a text can be looked through while Python source of its length is read and merged into
_FRAGMENT = 0.5  # of the lines before: what a file that does not parse may shrink to without being marked `whole`


def updated(path: str, old: str | None, content: str, *, whole: bool = False) -> str:
    """The new text of the file `path`, given its text so far (None: it is new) and a block's content.

    `whole` forces replacement. Raises Unreadable when it is not clear what is meant, when code is left out that
    cannot be filled in, or when the result no longer parses although the file did.
    """
    if is_search_replace(content):
        return _changed(path, old, content)
    if old is None or whole or not old.strip():
        return _complete(path, content)
    if is_python(path):
        return _python(path, old, content)
    line = elided_line(path, content)
    if line is not None:
        raise Unreadable(f"{path}: line {line} leaves code out: give SEARCH/REPLACE blocks or the whole file")
    return content


def effort(path: str, old: str, content: str) -> int:
    """How many characters must be looked at to bring a block's content into the file `path` with the text `old`."""
    looks = content.count("SEARCH") if is_search_replace(content) else 1
    return len(old) * (looks + (_READING if is_python(path) else 0))


def is_partial(path: str, old: str, content: str) -> bool:
    """Whether `content` is part of the file, not a new version of it."""
    if is_search_replace(content):
        return True
    if not is_python(path):
        return elided_line(path, content) is not None
    try:
        return is_part(read(old), read_part(content))
    except NotPython:
        return False


def _complete(path: str, content: str) -> str:
    """`content` as the whole file, if nothing is left out in it."""
    if is_python(path):
        try:
            code = read(content)
        except NotPython:
            return content
        elided = [line for line in code.elided if code.lines[line].lstrip().startswith("#")]
        line = elided[0] + 1 if elided else None
    else:
        line = elided_line(path, content)
    if line is not None:
        raise Unreadable(f"{path}: line {line} leaves code out: give the whole file")
    return content


def _changed(path: str, old: str | None, content: str) -> str:
    """The file after its search/replace changes."""
    changes = read_changes(content, path)
    if old is None and any(line.strip() for change in changes for line in change.search):
        raise Unreadable(f"{path}: there is no such file to change")
    text = apply_changes(old or "", changes, path)
    if is_python(path) and old is not None:
        _require_parsing(path, old, text)
    return text


def _require_parsing(path: str, old: str, new: str) -> None:
    if (why := fault(new)) and not fault(old):
        raise Unreadable(f"{path}: does not parse after this change: {why}")


def _python(path: str, old: str, content: str) -> str:
    """The new text of an existing Python file."""
    try:
        existing = read(old)
    except NotPython as error:
        return _into_broken(path, old, content, str(error))
    try:
        new = read_part(content)
    except NotPython as error:
        raise Unreadable(f"{path}: the block does not parse: {error}") from None
    if not is_part(existing, new):
        return content
    text = merge(path, existing, new)
    _require_parsing(path, old, text)
    return text


def _into_broken(path: str, old: str, content: str, why: str) -> str:
    """A file that does not parse gets whole functions in the place of its own; else it can only be replaced."""
    existing, new = read_around(old), _read_part(content)
    if existing and new and new.definitions and is_part(existing, new):
        return merge(path, existing, new)
    if _filled(content) < _FRAGMENT * _filled(old):
        raise Unreadable(f"{path}: does not parse at the moment ({why}), so a part cannot be merged: "
                         f"give the whole file or SEARCH/REPLACE blocks")
    return _complete(path, content)


def _read_part(content: str) -> Outline | None:
    try:
        return read_part(content)
    except NotPython:
        return None


def _filled(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


def definitions(text: str) -> set[str]:
    """Names of the functions and classes a Python text defines, methods given without their class included."""
    outline = _read_part(text)
    return outline.definitions if outline else set()
