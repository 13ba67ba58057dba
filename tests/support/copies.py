"""`chatdev` as a program of its own that starts at once: a copy of a process that has imported it already.

What runs a company is imported for most of a second, and hundreds of tests start a program that does. Here one process
imports once for all of them, and each program is a copy of it: a child of the tests like any other, with a number,
arguments, a folder, variables, streams and signals of its own, and it ends as Python ends. Where Python itself is to
start in another way (`-c`, a language, a terminal to control), or there is no `clone` of Linux, it starts as ever.
"""

from __future__ import annotations

import atexit
import ctypes
import fcntl
import gc
import json
import os
import platform
import pty
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import pexpect
import ptyprocess  # type: ignore[import-untyped]

from chatdev.cli.app import OWN
from chatdev.config.load import load_company
from chatdev.department import departments
from chatdev.llm.base import count_tokens
from tests.support.checkout import ROOT
from tests.support.processes import start_program

_C = ctypes.PyDLL(None)
_CLONE = {"x86_64": 56, "aarch64": 220}.get(platform.machine()) if sys.platform == "linux" else None
_PARENT, _NUMBER = 0x8000, 0x01200000  # a copy is a child of the tests, and its main thread has a number of its own
_GET_TID_ADDRESS = 40  # of prctl: where the number of a thread is
_OPTIONS = {"cwd", "env", "stdin", "stdout", "stderr", "text", "encoding", "errors", "bufsize", "start_new_session"}
_MODULES = ("chatdev.doctor.checks", "chatdev.isolation.parent", "chatdev.web.server", "chatdev.llm.openai_model",
            "openai", "jsonschema", "referencing.jsonschema")
"""What commands import when they are under way."""


def start_module(name: str, *arguments: str, **options: Any) -> subprocess.Popen[Any]:
    """Start `python -m NAME ARGUMENTS…`, which heeds Ctrl-C; `options` of `subprocess.Popen`."""
    if not _can_copy() or options.keys() - _OPTIONS or not _starts_alike(options.get("env") or os.environ):
        return start_program([sys.executable, "-m", name, *arguments], **options)
    return _Copy([name, *arguments], **options)


def run_module(name: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[Any]:
    """The same to its end; what it prints is kept as text."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with start_module(name, *arguments, **streams | options) as process:
        try:
            out, err = process.communicate(timeout=120)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess([name, *arguments], process.returncode, out, err)


@cache
def _can_copy() -> bool:
    return _CLONE is not None and bool(_place_of_number())


class Terminal(pexpect.spawn):  # type: ignore[type-arg]  # it takes no argument at run time
    """`python -m NAME ARGUMENTS…` on a terminal of its own; `options` of `pexpect.spawn`."""

    def __init__(self, name: str, *arguments: str, **options: Any) -> None:
        super().__init__(sys.executable, ["-m", name, *arguments], encoding="utf-8", codec_errors="replace", **options)

    def _spawnpty(self, args: list[bytes], env: dict[str, str], dimensions: tuple[int, int],
                  **options: Any) -> ptyprocess.PtyProcess:
        if not (_can_copy() and _starts_alike(env)):  # a start of Python has to take the terminal for its own
            own: Any = super()
            process: ptyprocess.PtyProcess = own._spawnpty(args, env=env, dimensions=dimensions, **options)
            return process
        ours, theirs = pty.openpty()
        termios.tcsetwinsize(ours, dimensions)
        copy = start_module(*map(os.fsdecode, args[2:]), env=env, stdin=theirs, stdout=theirs, stderr=theirs,
                            start_new_session=True)
        os.close(theirs)
        copy.returncode = 0  # it is waited for by its number
        return ptyprocess.PtyProcess(copy.pid, ours)


_OF_NO_WEIGHT = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONBREAKPOINT")  # Ray sets the last


def _starts_alike(environment: Mapping[str, str]) -> bool:
    """Whether Python starts with these variables as it did here; what it finds by `PYTHONPATH` is found anew."""
    return _of_python(environment) == _BEGUN_WITH


def _of_python(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LC_", "LANG"))
            and name not in _OF_NO_WEIGHT}


_BEGUN_WITH = _of_python(os.environ)


class _Copy(subprocess.Popen[Any]):
    """A program that only begins in another way than others do."""

    def _execute_child(self, args: list[str], *given: Any) -> None:
        cwd, env, streams, new_session = given[4], given[5], given[9:15], given[-2]
        about = {"run": args, "cwd": str(Path(cwd or ".").absolute()), "env": dict(os.environ if env is None else env),
                 "session": new_session}
        theirs = [number if stream == -1 else stream for number, stream in enumerate((streams[0], *streams[3::2]))]
        original = _original("mcp" if args[1:2] == ["mcp"] else "")
        socket.send_fds(original, [json.dumps(about).encode() + b"\n"], theirs)
        self.pid = int(original.recv(20))
        self._child_created = True
        self._close_pipe_fds(*streams)  # type: ignore[attr-defined]  # of its class


@cache
def _original(kind: str) -> socket.socket:
    """The line to the process that is copied; it ends with the tests. That of `mcp` has all departments' tools, which
    others would have to take leave of when they end."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = start_program([sys.executable, "-m", __name__, str(theirs.fileno()), kind], cwd=ROOT,
                                stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait()
    atexit.register(end)
    return ours


def _serve(control: socket.socket) -> list[str]:
    """Make copies until nobody asks for more. Only in a copy it returns: with what that is to run."""
    while True:
        text, streams, _, _ = socket.recv_fds(control, 1 << 20, 3)
        while text and not text.endswith(b"\n"):
            text += control.recv(1 << 20)
        if not text:
            sys.exit()
        if not (pid := _copy()):
            control.close()
            return _become(json.loads(text), streams)
        control.send(str(pid).encode())
        for stream in streams:
            os.close(stream)


def _copy() -> int:
    """As `os.fork`, but the new process has the same parent as this one."""
    ctypes.pythonapi.PyOS_BeforeFork()
    number = _place_of_number()
    pid: int = _C.syscall(_CLONE, _PARENT | _NUMBER | signal.SIGCHLD, None, None, number, number)
    if pid:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    return pid


def _place_of_number() -> ctypes.c_void_p:
    """Where the C library has the number of the main thread; 0 where the kernel does not say so."""
    place = ctypes.c_void_p()
    _C.prctl(_GET_TID_ADDRESS, ctypes.byref(place), 0, 0, 0)
    return place


def _become(about: Mapping[str, Any], streams: list[int]) -> list[str]:
    """Be the program that is asked for, up to its first line."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    if about["session"]:
        os.setsid()
        if os.isatty(0):
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # as for the first program on a terminal
    os.chdir(about["cwd"])
    os.environ.clear()
    os.environ.update(about["env"])
    sys.path[:1] = [about["cwd"], *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        _open(number, name, bool(number and os.environ.get("PYTHONUNBUFFERED")))
    run: list[str] = about["run"]
    return run


def _open(number: int, name: str, at_once: bool) -> None:
    """Put a stream in the place of that of `sys`."""
    file = open(number, "wb" if number else "rb", buffering=0 if at_once else -1, closefd=False)  # noqa: SIM115
    old = getattr(sys, f"__{name}__")
    new = TextIOWrapper(file, old.encoding, old.errors, line_buffering=name == "stderr" or file.isatty(),
                        write_through=at_once)
    for place in (name, f"__{name}__"):
        setattr(sys, place, new)


if __name__ == "__main__":
    modules = [*(command.path.partition(":")[0] for command in OWN.values()), *_MODULES]
    if sys.argv[2] == "mcp":
        modules.append("mcp.server")
        modules += [path.partition(":")[0] for one in departments().values() for path in one.mcp.values()]
    for module in modules:
        import_module(module)
    load_company("chatdev")  # its texts, and those of every company, are looked through once
    with tempfile.TemporaryDirectory() as folder:  # which no copy comes to know: it gets variables of its own
        os.environ["TIKTOKEN_CACHE_DIR"] = folder
        count_tokens("the vocabulary is read once")
    tempfile.tempdir = None  # a copy looks it up by its own variables
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a copy has no thread but the first"
    gc.collect()
    gc.freeze()
    name, *sys.argv[1:] = _serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(name, run_name="__main__", alter_sys=True)
