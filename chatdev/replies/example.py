"""An example of a partial change, taken from the software itself: a small model copies examples, and may copy this one
without harm."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from io import StringIO

from chatdev.workspace.python_source import parse

_LINES = range(2, 41)  # the shortest is taken; without any example a small model loses the form


def example_part(software: Mapping[str, bytes]) -> str:
    """One short function of the software as a delivery would bring it: path line and fenced block; empty when there is
    no short Python function."""
    found = sorted(_functions(software), key=lambda pair: (len(pair[1].splitlines()), pair))
    if not found:
        return ""
    path, source = found[0]
    return f"{path}\n```python\n{source}\n```"


def _functions(software: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for path, data in software.items():
        if not path.endswith(".py"):
            continue
        text = data.decode("utf-8", "replace")
        try:
            body = parse(text).body
        except SyntaxError:
            continue
        lines = list(StringIO(text, newline=""))  # as Python counts them
        for node in body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                source = _source(lines, node)
                if len(source.splitlines()) in _LINES and "```" not in source:
                    yield path, source


def _source(lines: list[str], node: ast.FunctionDef) -> str:
    """What `ast.get_source_segment` gives, which splits the whole text into lines again for every node."""
    *before, last = lines[node.lineno - 1:node.end_lineno]
    return "".join((*before, last.encode()[:node.end_col_offset].decode()))
