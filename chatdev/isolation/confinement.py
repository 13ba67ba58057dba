"""Kernel restrictions of the parsing child beside its limits: no network, and only the system calls a parser makes.
Where a kernel does not allow one of them, the child does without it; `chatdev doctor` says so."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass

from chatdev.errors import SandboxError
from chatdev.isolation.isolate import isolate
from chatdev.isolation.seccomp import filter_own_calls, system_call_filter

_NEW_NETWORK, _NEW_USER = 0x40000000, 0x10000000  # CLONE_NEWNET, CLONE_NEWUSER


@dataclass(frozen=True)
class Confinement:
    """Whether the filter of system calls holds, and whether there is no network."""

    filtered: bool = False
    networkless: bool = False


_held = Confinement()


def confine() -> None:
    """Give up for good what this process needs for nothing."""
    global _held
    if sys.platform == "linux":
        _held = Confinement(networkless=_leave_network(), filtered=_filter_calls())


@isolate(SandboxError)
def confinement() -> Confinement:
    """What holds the child. Raises SandboxError."""
    return _held


def _leave_network() -> bool:
    """Go into a network namespace of our own, in which there is nothing: as root, else by a user namespace."""
    import ctypes

    unshare = ctypes.CDLL(None).unshare
    return any(unshare(flags) == 0 for flags in (_NEW_NETWORK, _NEW_USER | _NEW_NETWORK))


def _filter_calls() -> bool:
    with suppress(OSError):
        if calls := system_call_filter(only_reads=True):
            filter_own_calls(calls)
            return True
    return False
