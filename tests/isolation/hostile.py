"""Texts of a few hundred bytes that take a parser down when nothing stops them, and a reader with small limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chatdev.isolation import parent

SMALL = parent.ReadingLimits(memory=192 << 20, seconds=1)
"""Enough for any honest file, and for hostile ones to fail soon."""


def nested_finally(depth: int) -> str:
    """A module that CPython compiles in memory of 2 to the power of `depth`: each `finally` is compiled twice."""
    blocks = "".join(f"{' ' * level}try:0\n{' ' * level}finally:\n" for level in range(depth))
    return f"{blocks}{' ' * depth}0\n"


SLOW = f"f'{'{x}' * 140_000}'"
"""CPython 3.11 takes a time for its parts that grows with the square of their number: 40 s and more."""


def verilog_of(body: str, times: int, module: str) -> str:
    """A source in which macros stand for `body` 2 to the power of `times` times; `module` uses them as `` `m0 ``."""
    doubled = "".join(f"`define m{level} `m{level + 1} `m{level + 1}\n" for level in range(times))
    return f"{doubled}`define m{times} {body}\n{module}"


CRASHING = verilog_of("a +", 16, "module TopModule(input a, output q);\nassign q = `m0 a;\nendmodule\n")
"""pyslang goes down one level of the stack for each term, until there is no stack."""
SWELLING = verilog_of("wire w;", 30, "module TopModule(input a, output q);\n`m0\nassign q = a;\nendmodule\n")
"""Gigabytes of tokens."""
ENDLESS = "".join(f"module m{level}; m{level + 1} a(); m{level + 1} b(); endmodule\n" for level in range(40)).replace(
    "module m0;", "module TopModule(input a, output q); assign q = a;") + "module m40; endmodule\n"
"""Each module is there twice in the one before."""


@contextmanager
def reader_of(monkeypatch: pytest.MonkeyPatch, limits: parent.ReadingLimits = SMALL) -> Iterator[parent.Reader]:
    """A reader with limits of its own, in the place of this process's."""
    reader = parent.Reader(limits)
    monkeypatch.setattr(parent, "ask", reader.ask)
    try:
        yield reader
    finally:
        reader.end()
