"""An example of a partial change, taken from the software itself: a small model copies examples, and may copy this one
without harm."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from chatdev.replies.python.reader import functions

_LINES = range(2, 41)  # the shortest is taken; without any example a small model loses the form


def example_part(software: Mapping[str, bytes]) -> str:
    """One short function of the software as a delivery would bring it: path line and fenced block; empty when there is
    no short Python function."""
    found = sorted(_short_functions(software), key=lambda pair: (len(pair[1].splitlines()), pair))
    if not found:
        return ""
    path, source = found[0]
    return f"{path}\n```python\n{source}\n```"


def _short_functions(software: Mapping[str, bytes]) -> Iterator[tuple[str, str]]:
    for path, data in software.items():
        if path.endswith(".py"):
            for source in functions(data.decode("utf-8", "replace")):
                if len(source.splitlines()) in _LINES and "```" not in source:
                    yield path, source
