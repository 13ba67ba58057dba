"""The filter of system calls, by what the kernel makes of it."""

from __future__ import annotations

import struct

import pytest

from chatdev.isolation.seccomp import system_call_filter
from tests.sandbox.conftest import RunPython

pytestmark = pytest.mark.tool

_NEW_USER = 0x10000000


@pytest.mark.parametrize("call", [
    "os.memfd_create('x')",
    "raw('shmget', 0, 1 << 30, 0o1600)",
    f"raw('unshare', {_NEW_USER})",
    "raw('ptrace', 16, 1, 0, 0)",
    "raw('vmsplice', os.pipe()[1], 0, 0, 0)",
])
def test_these_calls_seem_not_to_exist(run_python: RunPython, call: str) -> None:
    done = run_python("import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                      "def raw(name, *arguments):\n"
                      "  if getattr(libc, name)(*arguments) < 0: raise OSError(ctypes.get_errno(), name)\n" + call)
    assert "[Errno 38]" in done.stderr


def test_only_a_clone_into_a_namespace_of_its_own_is_refused(run_python: RunPython) -> None:
    done = run_python("import ctypes, os, platform, signal, threading\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                      "number = {'x86_64': 56, 'aarch64': 220}[platform.machine()]\n"
                      f"print(libc.syscall(number, {_NEW_USER} | signal.SIGCHLD, 0, 0, 0, 0), ctypes.get_errno())\n"
                      "thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()\n"
                      "print(os.system('true'))")
    assert done.stdout == "-1 38\nthread\n0\n"


def test_the_sockets_that_programs_need_are_there(run_python: RunPython) -> None:
    done = run_python("import asyncio, socket\n"
                      "print([name for _, name in socket.if_nameindex()])  # by NETLINK_ROUTE\n"
                      "async def main():\n"
                      "    async def answer(reader, writer): writer.write(await reader.readline()); writer.close()\n"
                      "    server = await asyncio.start_server(answer, '127.0.0.1', 0)\n"
                      "    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())\n"
                      "    writer.write(b'echo\\n')\n"
                      "    print(await reader.read())\n"
                      "asyncio.run(main())\n"
                      "for family in (socket.AF_INET, socket.AF_INET6):\n"
                      "    socket.socket(family, socket.SOCK_DGRAM).close()\n"
                      "    socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP).close()\n")
    assert (done.stdout, done.stderr) == ("['lo']\nb'echo\\n'\n", "")


def test_a_socket_keeps_the_size_of_its_buffers(run_python: RunPython) -> None:
    done = run_python("import socket\nend, _ = socket.socketpair()\n"
                      "for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):\n"
                      "    before = end.getsockopt(socket.SOL_SOCKET, option)\n"
                      "    end.setsockopt(socket.SOL_SOCKET, option, before * 4)\n"
                      "    print(end.getsockopt(socket.SOL_SOCKET, option) == before)\n"
                      "end.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)\n"
                      "print(end.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))\n")
    assert done.stdout == "True\nTrue\n1\n"


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_jump_leaves_the_filter(machine: str) -> None:
    program = list(struct.iter_unpack("=HBBI", system_call_filter(machine) or b""))
    assert len(program) > 40
    for place, (code, if_true, if_false, _) in enumerate(program):
        if code & 7 == 5:
            assert place + 1 + max(if_true, if_false) < len(program)


def test_a_kind_of_machine_that_is_not_known_has_no_filter() -> None:
    assert system_call_filter("pdp11") is None
