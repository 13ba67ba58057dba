"""Reading Python source that may be anything: syntax errors are the only errors, and warnings stay out of the way."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()  # Python's warning filters are shared by all threads


def parse(source: bytes, path: str) -> ast.Module:
    """The syntax tree of `source`; raises SyntaxError only."""
    with _quiet(path):
        return ast.parse(source, path)


def check(source: bytes, path: str) -> None:
    """Compile `source` without running it; raises SyntaxError only."""
    with _quiet(path):
        compile(source, path, "exec", dont_inherit=True)


@contextmanager
def _quiet(path: str) -> Iterator[None]:
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:  # NUL bytes; nested beyond reason
            raise SyntaxError(str(error) or "nested too deeply", (path, 1, 1, None)) from error
