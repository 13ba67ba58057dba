"""A reader with small limits, and words at which its child takes memory, spins or dies: stand-ins for texts that do
this to a real parser. Such texts are not kept here, for they take down other people's programs, too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chatdev.isolation import parent

SMALL = parent.ReadingLimits(memory=192 << 20, seconds=1)
"""Enough for any honest file, and for hostile ones to fail soon."""

SWELLS, SPINS, DIES, WORKS = "stand-in: swells", "stand-in: spins", "stand-in: dies", "stand-in: works for a while"
"""Any text with one of these, in a comment for example, does so to the child; the last is read after half a second."""

_STANDING_IN = f"""
import os, time
from chatdev.isolation.isolate import IsolatedFunction
run, held = IsolatedFunction.run, []
def stand_in(function, args, options):
    said = repr(args)
    while {SWELLS!r} in said:
        held.append(bytearray(1 << 20))
    while {SPINS!r} in said:
        pass
    if {DIES!r} in said:
        os.abort()
    until = time.process_time() + 0.5
    while {WORKS!r} in said and time.process_time() < until:
        pass
    return run(function, args, options)
IsolatedFunction.run = stand_in
"""
_SERVE = "from chatdev.isolation.isolate import serve"


@contextmanager
def reader_of(monkeypatch: pytest.MonkeyPatch, limits: parent.ReadingLimits = SMALL) -> Iterator[parent.Reader]:
    """A reader with limits of its own, in the place of this process's, whose child minds the words above."""
    assert _SERVE in parent._START
    monkeypatch.setattr(parent, "_START", parent._START.replace(_SERVE, f"exec({_STANDING_IN!r}, {{}}); {_SERVE}"))
    reader = parent.Reader(limits)
    monkeypatch.setattr(parent, "ask", reader.ask)
    try:
        yield reader
    finally:
        reader.end()
