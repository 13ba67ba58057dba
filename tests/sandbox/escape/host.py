"""The host around a hostile program: things it would like to have, and a picture of all of them."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from chatdev.departments.software.run import run
from chatdev.sandbox.base import Execution, ProcessLimits, Sandbox, SandboxJob
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, Verdict
from tests.sandbox.conftest import processes_with

PROGRAMS: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("programs.yaml").read_text(encoding="utf-8"))
KEY = "a-key-of-the-host-4711"
ESCAPED = "it got out"
_BEGINNING = f"""\
import ctypes, errno, os
OUT = {ESCAPED[:4]!r} + {ESCAPED[4:]!r}  # in two parts: no traceback shows it
def call(x86_64, aarch64, *arguments):
    number = x86_64 if os.uname().machine == "x86_64" else aarch64
    refused = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments) < 0
    why = errno.errorcode[ctypes.get_errno()] if refused else ""
    print(why if why in ("EPERM", "EACCES", "ENOSYS", "ESRCH") else OUT, why)
"""
_NARROW = {"memory": 256 << 20, "address_space": 256 << 20, "disk": 32 << 20, "file_size": 8 << 20, "written": 4 << 20,
           "processes": 32}


@dataclass
class Narrow:
    """A sandbox with less room, so that a bomb goes off soon, on a busy machine too."""

    sandbox: Sandbox
    program: Mapping[str, Any]
    name: str = "narrow"

    def run(self, job: SandboxJob) -> Execution:
        return self.sandbox.run(replace(job, limits=limits_of(self.program, job.limits)))

    def stop_all(self) -> None:
        self.sandbox.stop_all()


def limits_of(program: Mapping[str, Any], usual: ProcessLimits) -> ProcessLimits:
    """The limits of a program: narrow ones, and those it has of its own (`memory` in MiB)."""
    own = {name: program[name] for name in ("seconds", "processes", "address_space") if name in program}
    own |= {"memory": program["memory"] << 20} if "memory" in program else {}
    return replace(usual, **{**_NARROW, **own})


@dataclass
class Host:
    """A home with a key, a journal, a process and servers; and where programs are judged."""

    folder: Path
    sandbox: Sandbox
    outside: Path
    process: subprocess.Popen[bytes]
    port: int
    mark: str
    """The name of the second server; also in the command line of whatever must not run on."""
    called: list[str] = field(default_factory=list)
    """Connections that came to the servers."""

    def judge(self, program: Mapping[str, Any]) -> Verdict:
        """What `software.run` says of the program, after everything was seen to be as it was."""
        before = self._picture()
        verdict = self._run(program, self.sandbox)
        self._assert_unharmed(before, program["name"])
        return verdict

    def run_apart(self, run: Callable[[], None], what: str) -> None:
        """Call `run`, which runs `what` by itself; afterwards everything must be as it was."""
        before = self._picture()
        run()
        self._assert_unharmed(before, what)

    def source(self, program: Mapping[str, Any]) -> str:
        """The program as it is run."""
        return f"{_BEGINNING}{self._filled(program['code'])}\n"

    def _assert_unharmed(self, before: Mapping[str, str], what: str) -> None:
        harm = self._harm(before)
        assert not harm, f"{what}: {harm}"

    def escapes(self, program: Mapping[str, Any]) -> bool:
        """Whether the program gets what it wants without a sandbox."""
        before = self._picture()
        verdict = self._run(program, Unconfined())
        return ESCAPED in verdict.report or bool(self._harm(before))

    def _run(self, program: Mapping[str, Any], sandbox: Sandbox) -> Verdict:
        software = {"main.py": self.source(program).encode()}
        software |= {path: self._filled(text).encode() for path, text in program.get("files", {}).items()}
        scratch = self.folder / "scratch"
        scratch.mkdir()
        context = ToolContext(software, {}, {}, Narrow(sandbox, program), self.folder / "run", scratch,
                              {"install": "never"})
        verdict = run.call(context, {})
        assert isinstance(verdict, Verdict)
        return verdict

    def _harm(self, before: Mapping[str, str]) -> list[str]:
        """All that is not as it was."""
        found = {
            "files of the host": self._picture() != before,
            "something left of the throwaway copy": any((self.folder / "scratch").iterdir()),
            f"calls of {self.called}": self.called != [],
            "the process of the host is gone": self.process.poll() is not None,
            "a process that runs on": processes_with(self.mark) != [],
            "our priority": os.getpriority(os.PRIO_PROCESS, 0) < 0,
        }
        return [harm for harm, there in found.items() if there]

    def _picture(self) -> dict[str, str]:
        """Every file of the host's own folder by its content, and whether something appeared elsewhere."""
        files = {str(path): path.read_text() for path in sorted((self.folder / "home").rglob("*")) if path.is_file()}
        return {**files, "outside": str(self.outside.exists()), "name": socket.gethostname(),
                "beside": str({path.name for path in self.folder.iterdir()} - {"run", "scratch"})}

    def _filled(self, text: str) -> str:
        home = self.folder / "home"
        return text.format(home=home, secret_file=home / ".key", journal=home / "journal.jsonl",
                           victim=home / "victim.txt", pid=self.process.pid, port=self.port, mark=self.mark,
                           outside=self.outside)


@contextlib.contextmanager
def opened(folder: Path, sandbox: Sandbox) -> Iterator[Host]:
    """A host in `folder`; the environment of this process must hold the key already."""
    home = folder / "home"
    home.mkdir()
    for name in (".key", "victim.txt", "journal.jsonl"):
        (home / name).write_text(f"{KEY}\n")
    with (contextlib.ExitStack() as stack, tempfile.TemporaryDirectory() as elsewhere):
        process = stack.enter_context(subprocess.Popen([sys.executable, "-c", "input()", "victim-process"],
                                                       stdin=subprocess.PIPE, env={**os.environ, "KEY": KEY}))
        stack.callback(process.kill)
        servers = [stack.enter_context(socket.create_server(("127.77.0.1", 0))),
                   stack.enter_context(socket.socket(socket.AF_UNIX))]
        mark = f"escape-{secrets.token_hex(6)}"
        servers[1].bind(f"\0{mark}")
        servers[1].listen()
        host = Host(folder, sandbox, Path(elsewhere) / "escaped.txt", process, servers[0].getsockname()[1], mark)
        for server in servers:
            threading.Thread(target=_listen, args=(server, host.called), daemon=True).start()
        yield host


def _listen(server: socket.socket, called: list[str]) -> None:
    with contextlib.suppress(OSError):  # closed
        while True:
            connection, _ = server.accept()
            connection.close()
            called.append(str(server.getsockname()))
