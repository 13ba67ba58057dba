"""Reading Python source that may be anything: syntax errors are the only errors, and warnings stay out of the way.

To be called in the child of this process alone (`isolation/`): some hundred bytes may take gigabytes here, or a minute,
or crash Python. Where all the same several threads of a process do so, they read one at a time: they share the warning
filters, and in Python 3.11 the depth of the tree that is being built (`SystemError: AST constructor recursion depth
mismatch`).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

one_at_a_time = Lock()
"""To hold while a library may parse Python; the functions here hold it themselves."""
_ERRORS = ValueError, TypeError, RecursionError, MemoryError, OverflowError  # NUL bytes, lists as keys, deep nesting
_TOO_MUCH = "nested too deeply, or takes too much memory to compile"
_MANY_DOTS = 20_000
_MANY_PARTS = 500
_LONG_NAME = re.compile(r"(?:\.[\s\\]*+\w++[\s\\]*+)++")


def parse(source: bytes | str, path: str = "<unknown>") -> ast.Module:
    """The syntax tree of `source`; raises SyntaxError only."""
    _refuse_endless_names(source, path)
    with _quiet(path):
        return ast.parse(source, path)


def literal(source: str) -> Any:
    """The value of a Python literal; raises SyntaxError only, also when it is no literal."""
    with _quiet("<literal>"):
        return ast.literal_eval(source.strip())


def check(source: bytes, path: str) -> None:
    """Compile `source` without running it; raises SyntaxError only."""
    _refuse_endless_names(source, path)
    with _quiet(path):
        compile(source, path, "exec", dont_inherit=True)


def _refuse_endless_names(source: bytes | str, path: str) -> None:
    """`import a.a.a…` takes Python a time that grows with the square of its length: 10 s for 200 KB."""
    text = source if isinstance(source, str) else source.decode("latin-1")
    if text.count(".") > _MANY_DOTS and any(name[0].count(".") > _MANY_PARTS for name in _LONG_NAME.finditer(text)):
        raise SyntaxError(f"a name of more than {_MANY_PARTS} parts", (path, 1, 1, None))


@contextmanager
def _quiet(path: str) -> Iterator[None]:
    with one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except _ERRORS as error:
            why = _TOO_MUCH if isinstance(error, MemoryError) else str(error) or "nested too deeply"
            raise SyntaxError(why, (path, 1, 1, None)) from error
