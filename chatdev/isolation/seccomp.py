"""A seccomp filter (classic BPF): system calls by which a program could take what no limit counts, or reach the kernel
parts that sandboxes are usually broken out of. To the program the kernel seems to be one without them (ENOSYS), which
every runtime copes with. See seccomp(2); the numbers are those of the kernel's system call tables.

Sockets are those of the machine itself, of the internet (there is none in the sandbox) and the kernel's list of
network interfaces; every other family seems not to be compiled in.

The process that parses has a stricter one: what a parser never does is forbidden to it (EACCES), such as to write a
file, start a program, make a socket or signal a process.
"""

from __future__ import annotations

import errno
import platform
import struct
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from chatdev.errors import SandboxError
from chatdev.isolation.isolate import isolate

_ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_…, column in the table
_CLONE, _SOCKET, _SOCKETPAIR, _SET_OPTION = (56, 220), (41, 198), (53, 199), (54, 208)
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
    "open_by_handle_at": (304, 265), "fanotify_init": (300, 262),
    # keeps the pages of others in pipes, of which only the places count
    "vmsplice": (278, 75),
}
_UNFIT = {"splice": (275, 76), "tee": (276, 77)}  # likewise; who calls them copes with files that are not fit for it
_SOCKETS = {  # family, protocols: ICMP, TCP, UDP; NETLINK_ROUTE
    "AF_UNIX": (1, (0, 1)), "AF_INET": (2, (0, 1, 6, 17)), "AF_INET6": (10, (0, 6, 17, 58)), "AF_NETLINK": (16, (0,)),
}
_NEVER_READS = {  # what only somebody does who took a parser over; -1 where a kind of machine has no such call
    # programs, threads, other processes
    "execve": (59, 221), "execveat": (322, 281), "fork": (57, -1), "vfork": (58, -1), "clone": _CLONE,
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "setpgid": (109, 154),
    # sockets
    "socket": _SOCKET, "socketpair": _SOCKETPAIR,
    # files: made, changed or removed
    "creat": (85, -1), "openat2": (437, 437), "truncate": (76, 45), "ftruncate": (77, 46), "fallocate": (285, 47),
    "mknod": (133, -1), "mknodat": (259, 33), "mkdir": (83, -1), "mkdirat": (258, 34), "rmdir": (84, -1),
    "unlink": (87, -1), "unlinkat": (263, 35), "rename": (82, -1), "renameat": (264, 38), "renameat2": (316, 276),
    "link": (86, -1), "linkat": (265, 37), "symlink": (88, -1), "symlinkat": (266, 36),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1),
    "fchown": (93, 55), "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    # the machine
    "mount": (165, 40), "umount2": (166, 39), "move_mount": (429, 429), "pivot_root": (155, 41), "chroot": (161, 51),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104),
    "reboot": (169, 142), "settimeofday": (164, 170), "clock_settime": (227, 112), "sethostname": (170, 161),
}
_OPEN, _OPEN_AT, _LIMIT = (2, -1), (257, 56), (302, 261)
_WRITES = 0o1 | 0o2 | 0o100 | 0o1000 | 0o20000000  # O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, __O_TMPFILE
_SOL_SOCKET, _BUFFER_SIZES = 1, (7, 8)  # SO_SNDBUF, SO_RCVBUF
_NEW_NAMESPACES = 0x7E020000  # CLONE_NEW* flags (NEWTIME is for clone3 and unshare only)
_X32 = 0x40000000  # marks calls of the x32 interface, which have numbers of their own
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, (16, 24, 32)  # offsets in struct seccomp_data (little endian)
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000  # to fail, with an errno added; with none, nothing is done and all seems well
_REFUSE, _FORBID = _FAIL | errno.ENOSYS, _FAIL | errno.EACCES
_NO_NEW_RIGHTS, _SET_FILTER, _MODE_FILTER = 38, 22, 2  # of prctl(2)
_INSTRUCTION = 8  # bytes
_Instruction = tuple[int, int, int, int]
_APPLY = """
import ctypes, os, sys
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]
calls = bytes.fromhex(sys.argv[1])
program = Program(len(calls) // 8, calls)
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(22, ctypes.c_ulong(2), ctypes.byref(program), ctypes.c_ulong(0), ctypes.c_ulong(0)) != 0:
    sys.exit("no filter of system calls: " + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[2], sys.argv[2:])
"""


def system_call_filter(machine: str | None = None, *, only_reads: bool = False) -> bytes | None:
    """The filter for `machine` (this one by default), or None for a kind of machine whose numbers are not known;
    `only_reads`: of the process that parses."""
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in _program(*known, only_reads))


def filter_own_calls(calls: bytes) -> None:
    """Put this process under the filter, and all that it starts; it gets no new rights any more. Raises OSError."""
    import ctypes  # not needed by who makes filters only

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]

    libc, none = ctypes.CDLL(None, use_errno=True), ctypes.c_ulong(0)
    program = Program(len(calls) // _INSTRUCTION, calls)
    for step in ((_NO_NEW_RIGHTS, ctypes.c_ulong(1), none), (_SET_FILTER, ctypes.c_ulong(_MODE_FILTER),
                                                             ctypes.byref(program))):
        if libc.prctl(*step, none, none) != 0:
            raise OSError(ctypes.get_errno(), "no filter of system calls")


def filter_command(python: str) -> list[str]:
    """The start of a command line that puts what follows it under the filter, for those who have no other way to; it
    needs a Python, and PR_SET_NO_NEW_PRIVS. Empty where there is no filter."""
    calls = system_call_filter()
    return [python, "-I", "-S", "-c", _APPLY, calls.hex()] if calls else []


def _program(architecture: int, column: int, only_reads: bool) -> Iterator[_Instruction]:
    """Instructions: code, how many to skip when true, when false, and the value."""
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _IF_EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _REFUSE
    yield _LOAD, 0, 0, _NUMBER
    yield _IF_AT_LEAST, 0, 1, _X32
    yield _RETURN, 0, 0, _REFUSE
    yield from _refusals(_REFUSED, column, _REFUSE)
    yield from _refusals(_UNFIT, column, _FAIL | errno.EINVAL)
    if only_reads:
        yield from _refusals(_NEVER_READS, column, _FORBID)
        for call, argument in ((_OPEN, 1), (_OPEN_AT, 2)):
            yield from _for_call(call[column], list(_read_rules(argument)))
        yield from _for_call(_LIMIT[column], list(_own_limit_rules()))
    for call, rules in ((_CLONE, _clone_rules), (_SOCKET, _socket_rules), (_SOCKETPAIR, _socket_rules),
                        (_SET_OPTION, _option_rules)):
        yield from _for_call(call[column], list(rules()))
    yield _RETURN, 0, 0, _ALLOW


def _refusals(calls: Mapping[str, tuple[int, int]], column: int, answer: int) -> Iterator[_Instruction]:
    for numbers in calls.values():
        yield from _for_call(numbers[column], [(_RETURN, 0, 0, answer)])


def _for_call(number: int, rules: Sequence[_Instruction]) -> Iterator[_Instruction]:
    """Rules for one call. They decide: after them the number is not there any more to compare with others."""
    if number < 0:
        return
    yield _IF_EQUAL, 0, len(rules), number
    yield from rules


def _read_rules(argument: int) -> Iterator[_Instruction]:
    """Files are opened to be read: the flags."""
    yield _LOAD, 0, 0, _ARGUMENTS[argument]
    yield _IF_ANY, 0, 1, _WRITES
    yield _RETURN, 0, 0, _FORBID
    yield _RETURN, 0, 0, _ALLOW


def _own_limit_rules() -> Iterator[_Instruction]:
    """Limits are those of the process itself: the first argument."""
    yield _LOAD, 0, 0, _ARGUMENTS[0]
    yield _IF_EQUAL, 1, 0, 0
    yield _RETURN, 0, 0, _FORBID
    yield _RETURN, 0, 0, _ALLOW


def _clone_rules() -> Iterator[_Instruction]:
    """Processes and threads, but no namespaces: the first argument."""
    yield _LOAD, 0, 0, _ARGUMENTS[0]
    yield _IF_ANY, 0, 1, _NEW_NAMESPACES
    yield _RETURN, 0, 0, _REFUSE
    yield _RETURN, 0, 0, _ALLOW


def _socket_rules() -> Iterator[_Instruction]:
    """Which families there are, and which protocols of them: the first and the third argument."""
    yield _LOAD, 0, 0, _ARGUMENTS[0]
    for family, protocols in _SOCKETS.values():
        rules = list(_protocol_rules(protocols))
        yield _IF_EQUAL, 0, len(rules), family
        yield from rules
    yield _RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT


def _protocol_rules(protocols: Sequence[int]) -> Iterator[_Instruction]:
    yield _LOAD, 0, 0, _ARGUMENTS[2]
    for protocol in protocols:
        yield _IF_EQUAL, 0, 1, protocol
        yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _FAIL | errno.EPROTONOSUPPORT


def _option_rules() -> Iterator[_Instruction]:
    """A socket keeps the size of its buffers, by which the memory in it is counted."""
    yield _LOAD, 0, 0, _ARGUMENTS[1]
    yield _IF_EQUAL, 1, 0, _SOL_SOCKET
    yield _RETURN, 0, 0, _ALLOW
    yield _LOAD, 0, 0, _ARGUMENTS[2]
    for option in _BUFFER_SIZES:
        yield _IF_EQUAL, 0, 1, option
        yield _RETURN, 0, 0, _FAIL
    yield _RETURN, 0, 0, _ALLOW


# The parsing child: no network, and only the system calls a parser makes. Where a kernel does not allow one of these
# restrictions, the child does without it; `chatdev doctor` says so.

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
