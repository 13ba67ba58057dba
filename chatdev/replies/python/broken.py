"""Reading a Python file that does not parse around its broken functions, so that others can take their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from chatdev.replies.fences import indentation
from chatdev.replies.python.outline import Outline
from chatdev.replies.python.reader import LINE, NotPython, read_lines

_MOST_BROKEN = 8  # functions; each costs another look at the file
_FUNCTION = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)")
_GOES_ON = re.compile(r"\s*(?:#|[)\]}]|$)")  # how a line begins that says nothing of where a function ends


def read_around(text: str) -> Outline | None:
    """`text` as a module in which each function that does not parse is a statement without content; None when something
    else does not parse."""
    lines = LINE.findall(text)
    shown = list(lines)
    for _ in range(_MOST_BROKEN + 1):
        try:
            return replace(read_lines(shown), lines=lines)
        except NotPython as error:
            if not _hide_function(shown, error.line - 1):
                return None
    return None


def _hide_function(lines: list[str], broken: int) -> bool:
    """Empty the function around a line, in place; False when there is none, or it is empty already."""
    for start in range(min(broken, len(lines) - 1), -1, -1):
        found = _FUNCTION.match(lines[start])
        end = _function_end(lines, start) if found else 0
        if found and end > broken:
            indent, gap = indentation(lines[start]), end - start - 2
            head = f"{indent}def {found['name']}("
            hidden = [f"{head}): ...\n"] if gap < 0 else [f"{head}\n", *["\n"] * gap, f"{indent}): ...\n"]
            if lines[start:end] == hidden:
                return False
            lines[start:end] = hidden
            return True
    return False


def _function_end(lines: Sequence[str], start: int) -> int:
    """The line after a function; a comment above what follows belongs to that."""
    own = len(indentation(lines[start]))
    end = filled = start + 1
    for end in range(start + 1, len(lines)):
        if not _GOES_ON.match(lines[end]) and len(indentation(lines[end])) <= own:
            break
        if lines[end].strip() and (len(indentation(lines[end])) > own or not lines[end].lstrip().startswith("#")):
            filled = end + 1
    return filled
