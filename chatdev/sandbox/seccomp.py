"""A seccomp filter (classic BPF): system calls by which a program could take what no limit counts, or reach the kernel
parts that sandboxes are usually broken out of. To the program the kernel seems to be one without them (ENOSYS), which
every runtime copes with. See seccomp(2); the numbers are those of the kernel's system call tables.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_…, column in the table
_CLONE = (56, 220)
_REFUSED = {
    # memory that belongs to no process and no folder
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190),
    # rights in a namespace of its own: to mount, among others; and what `clone` can do with flags out of our sight
    "unshare": (272, 97), "setns": (308, 268), "clone3": (435, 435),
    # key rings, which no namespace parts
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    # large, and seldom needed
    "io_uring_setup": (425, 425), "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265),
}
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEW* flags (NEWTIME is for clone3 and unshare only)
_X32 = 0x40000000  # marks calls of the x32 interface, which have numbers of their own
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data (little endian)
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.ENOSYS


def system_call_filter(machine: str | None = None) -> bytes | None:
    """The filter for `machine` (this one by default), or None for a kind of machine whose numbers are not known."""
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    architecture, column = known
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in _program(architecture, column))


def _program(architecture: int, column: int) -> Iterator[tuple[int, int, int, int]]:
    """Instructions: code, how many to skip when true, when false, and the value."""
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _IF_EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _REFUSE
    yield _LOAD, 0, 0, _NUMBER
    yield _IF_AT_LEAST, 0, 1, _X32
    yield _RETURN, 0, 0, _REFUSE
    for numbers in _REFUSED.values():
        yield _IF_EQUAL, 0, 1, numbers[column]
        yield _RETURN, 0, 0, _REFUSE
    yield _IF_EQUAL, 0, 3, _CLONE[column]
    yield _LOAD, 0, 0, _FIRST_ARGUMENT
    yield _IF_ANY, 0, 1, _NEW_NAMESPACES
    yield _RETURN, 0, 0, _REFUSE
    yield _RETURN, 0, 0, _ALLOW
