"""Names that a Python program uses and defines nowhere: a button without its function starts well and fails when it is
pressed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatdev.tools.software.static import SourceError
from chatdev.workspace.entry import is_test
from chatdev.workspace.python_source import one_at_a_time, parse

_GIVEN = {"_"}  # what a program may be given at run time (gettext)
_MAKERS = {"exec", "globals", "vars", "setattr"}  # a file that uses these may define names where nobody sees it


def undefined_names(files: Mapping[str, bytes]) -> list[SourceError]:
    """The first use of each such name, file by file; the files must compile. Nothing is said of files that import `*`
    or may make names as they run."""
    return [error for path, source in files.items() if path.endswith(".py") and not is_test(path)
            for error in _undefined(path, source)]


def _undefined(path: str, source: bytes) -> Iterator[SourceError]:
    from pyflakes.checker import Checker
    from pyflakes.messages import UndefinedName

    text = source.decode("utf-8", errors="replace")
    if any(f"{maker}(" in text for maker in _MAKERS):
        return
    tree = parse(source, path)
    try:
        with one_at_a_time:  # it parses annotations that are strings
            messages = Checker(tree, path).messages
    except RecursionError:  # nested beyond what can be looked through
        return
    first: dict[str, int] = {}
    for message in messages:
        if isinstance(message, UndefinedName):
            name = str(message.message_args[0])
            first[name] = min(message.lineno, first.get(name, message.lineno))
    lines = text.splitlines()
    for name, line in sorted(first.items(), key=lambda item: item[1]):
        if name not in _GIVEN:
            yield SourceError(path, line, f"NameError: name {name!r} is not defined", lines[line - 1].strip())
