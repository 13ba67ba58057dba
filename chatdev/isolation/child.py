"""The child's side: it takes one call after the other from its parent, within limits, until its parent is gone."""

from __future__ import annotations

import contextlib
import gc
import os
import resource
from importlib import import_module

from chatdev.isolation.isolate import IsolatedFunction, decode, read_here
from chatdev.isolation.seccomp import confine

HEAD = 5
"""Bytes before each message: 1 for what it is (`+`; `!` when the child ends after it), 4 for its length."""
_FULL = 256 << 20  # bytes; a child that has taken this much is not used again, for memory is hardly ever given back
_ROOM = 128 << 20  # bytes, for the parsers themselves
_UNKNOWN = 1 << 30  # bytes; where there is no /proc, its parent watches the memory
_FILES = 32
_NONE = (0, 0)


def serve(memory: int, seconds: int) -> None:
    """Answer calls on standard input, which is a socket, until it is closed. Each call may take `memory` bytes beside
    those of the child itself, and `seconds` of a processor."""
    read_here()
    _limit_everything(memory)
    confine()
    gc.freeze()
    _send(b"+" + bytes(HEAD - 1))  # it has started
    while request := _receive():
        _allow(seconds)
        answer = _answer(request)
        last = not answer or _memory_taken() > _FULL
        _send((b"!" if last else b"+") + len(answer).to_bytes(HEAD - 1, "big") + answer)
        if last:
            return


def _answer(request: bytes) -> bytes:
    """Empty when there is not memory enough for it."""
    try:
        module, name, args, options = decode(request)
        if not module.startswith("chatdev."):
            raise LookupError(module)
        function: IsolatedFunction = getattr(import_module(module), name).isolated
        return function.run(args, options)
    except (MemoryError, RecursionError):
        return b""


def _limit_everything(memory: int) -> None:
    with (contextlib.suppress(OSError),
          open("/proc/self/oom_score_adj", "w", encoding="ascii") as file):  # noqa: PTH123 - no pathlib here
        file.write("1000")  # when memory runs out, the kernel is to end this process and no other
    os.chdir("/")
    most_memory = _taken_addresses() + _ROOM + memory
    for what, most in ((resource.RLIMIT_CORE, _NONE), (resource.RLIMIT_FSIZE, _NONE), (resource.RLIMIT_NPROC, _NONE),
                       (resource.RLIMIT_NOFILE, (_FILES, _FILES)), (resource.RLIMIT_AS, (most_memory, most_memory))):
        with contextlib.suppress(ValueError, OSError):  # macOS knows some of them by name alone
            resource.setrlimit(what, most)


def _taken_addresses() -> int:
    """Bytes of addresses that are taken already."""
    try:
        return _pages(0)
    except OSError:
        return _UNKNOWN


def _pages(field: int) -> int:
    """A field of /proc/self/statm, in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[field]) * resource.getpagesize()


def _allow(seconds: int) -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    until = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _memory_taken() -> int:
    """Bytes in memory; where there is no /proc, the most there ever were. On Linux that figure is no use: it begins
    with what the parent had when it started this process."""
    try:
        return _pages(1)
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _receive() -> bytes:
    head = _read(HEAD)
    return _read(int.from_bytes(head[1:], "big")) if head else b""


def _read(count: int) -> bytes:
    pieces = []
    while count:
        piece = os.read(0, min(count, 1 << 20))
        if not piece:
            return b""
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def _send(message: bytes) -> None:
    view = memoryview(message)
    while view:
        view = view[os.write(0, view):]
