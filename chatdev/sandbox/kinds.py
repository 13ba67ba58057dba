"""The kinds of sandbox: finding one that works on this machine; containers of docker, on Linux, for machines that
cannot have bubblewrap; and plain child processes, to which people consent with `--sandbox none`.

The image of the containers is an empty tree that we make ourselves, so nothing is fetched; the system's programs come
from this machine's `/usr`, read-only, as in bubblewrap. Both therefore judge a program alike.
"""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from chatdev.errors import ConfigError, SandboxError
from chatdev.isolation.seccomp import filter_command
from chatdev.sandbox import bubblewrap
from chatdev.sandbox.base import (
    BOX,
    HOME,
    SCRATCH,
    SETTINGS,
    Binding,
    Execution,
    ProcessLimits,
    Sandbox,
    SandboxJob,
    hand_over,
    prlimit_command,
    signal_from_status,
    spare_user,
    variables_of,
)
from chatdev.sandbox.children import Children, run_interactively

SANDBOXES = ("bubblewrap", "docker", "none")


def find_sandbox(name: str = "bubblewrap") -> Sandbox:
    """The sandbox called `name`. Raises SandboxError, with what to do, when it does not work on this machine, and
    ConfigError when there is none of this name."""
    if name not in SANDBOXES:
        raise ConfigError(f"there is no sandbox {name!r}; there are: {', '.join(SANDBOXES)}")
    if name == "none":
        return Unconfined()
    if name == "docker":
        return _make_working(Docker, why_not(), other="bubblewrap")
    return _make_working(bubblewrap.Bubblewrap, bubblewrap.why_not(), other="docker")


def _make_working(make: Callable[[], Sandbox], reason: str | None, *, other: str) -> Sandbox:
    """A sandbox, unless there is a reason why it does not work here."""
    if reason:
        raise SandboxError(f"no sandbox for the programs that models write: {reason}; or take another one (--sandbox "
                           f"{other}), or accept that they run with your rights: --sandbox none")
    return make()


class Unconfined:
    """`Sandbox` that only tidies: scrubbed environment, home of its own, memory and file limits, group kill.

    It hides neither files nor network, cannot limit the number of processes, and a descendant that starts a session
    of its own outlives the time limit.
    """

    name = "none"

    def __init__(self) -> None:
        self._children = Children()

    def run(self, job: SandboxJob) -> Execution:
        """Run `job` in `job.folder` as the present user; raises SandboxError when it cannot start."""
        if moved := [str(binding.source) for binding in job.bindings if binding.target]:
            raise SandboxError(f"without a sandbox a program sees {', '.join(moved)} only where they are; "
                               "leave out --sandbox none, or install the program on this system")
        with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as home:
            variables = variables_of(job, home)
            limits = prlimit_command(job.limits, count_processes=False) if shutil.which("prlimit") else []
            command = [*limits, *job.argv]
            folder = Path(job.folder).resolve()
            if job.interactive:
                return run_interactively(command, env=variables, cwd=folder)
            return self._children.run(command, job, env=variables, cwd=folder)

    def stop_all(self) -> None:
        """Kill whatever is still running, and run nothing any more; safe from any thread."""
        self._children.stop_all()


# Untrusted programs in containers of docker, on Linux: for machines that have docker and cannot have bubblewrap.

IMAGE = "chatdev-sandbox:1"
_FOLDERS = ("usr", "etc", "proc", "dev", "sys", "tmp", "home", HOME.lstrip("/"), BOX.lstrip("/"))
_OPEN = ("tmp", HOME.lstrip("/"))  # for everybody: what docker puts there has the rights of the image's folder
_LINKS = ("bin", "sbin", "lib", "lib64")
_PER_ENTRY = 4096  # bytes of a folder in memory for which it may hold one more file
_SECONDS = 30.0  # for docker to answer, on a busy machine
_OURS = ("PATH", "HOME", "XDG_CONFIG_HOME")  # what the docker command needs of our environment, beside DOCKER_…
_LOCKED = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--ipc=private", "--pull=never")
_CHILD = ("/bin/sh", "-c", '"$@"; exit "$?"', "sh")  # signals do not end the first process of a container
_PYTHON = os.path.realpath(sys.executable)  # applies the filter of system calls inside, beside docker's own
_GRACE = 10.0  # seconds after which a container ends itself, if we are not there any more to remove it


class Docker:
    """`Sandbox` by docker. The kernel holds the memory and the number of processes of the whole container.

    Every program has a container of its own, which is removed with all that runs in it when the program is over, its
    time is up, or `stop_all` is called. As root the program becomes a spare user, as in bubblewrap.
    """

    name = "docker"

    def __init__(self) -> None:
        self._children = Children()
        self._lock = threading.Lock()
        self._running: set[str] = set()

    def run(self, job: SandboxJob) -> Execution:
        """Run `job`; `exit_status` is None when a signal ended it. Raises SandboxError when docker cannot start it."""
        _make_image()
        user = spare_user() if os.geteuid() == 0 else os.geteuid()
        if os.geteuid() == 0:
            hand_over(job.folder, user)
        name = f"chatdev-{secrets.token_hex(8)}"
        command = command_line(job, name, user)
        with self._lock:
            self._running.add(name)
        try:
            if job.interactive:
                return run_interactively(command, env=docker_environment())
            return self._correct(self._children.run(command, job, env=docker_environment()), job, name)
        finally:
            self._remove(name)

    def stop_all(self) -> None:
        """Kill whatever is still running, and run nothing any more; safe from any thread."""
        self._children.stop_all()
        with self._lock:
            names = tuple(self._running)
        for name in names:
            self._remove(name)

    def _correct(self, execution: Execution, job: SandboxJob, name: str) -> Execution:
        """What docker says of the end, in place of what its command line does: that one has errors of its own."""
        if execution.exceeded == "command":
            return execution
        state = _state(name)
        if state.get("Status") not in ("running", "exited"):
            reason = execution.stderr.strip() or ("it took too long" if execution.timed_out else "no reason")
            raise SandboxError(f"docker could not start {job.argv[0]}: {reason}")
        if state["OOMKilled"] and not execution.exceeded:  # perhaps one of many: the others may have run on
            return replace(execution, exit_status=None, signal=int(signal.SIGKILL), exceeded="memory", timed_out=False)
        if execution.timed_out or execution.exceeded:
            return execution
        if state["Status"] == "running":
            raise SandboxError(f"docker lost hold of {job.argv[0]}: {execution.stderr.strip() or 'no reason'}")
        return signal_from_status(replace(execution, exit_status=state["ExitCode"]))

    def _remove(self, name: str) -> None:
        _docker("rm", "--force", "--volumes", name)
        with self._lock:
            self._running.discard(name)


def command_line(job: SandboxJob, name: str, user: int) -> list[str]:
    """The whole command line; the container is not removed by itself, so that its end can be asked for."""
    variables = variables_of(job, HOME)
    terminal = ["--interactive", *(["--tty"] if sys.stdin.isatty() else [])] if job.interactive else []
    ending = () if job.interactive else ("timeout", "--signal=KILL", str(job.limits.seconds + _GRACE))
    return [
        "docker", "run", f"--name={name}", "--label=chatdev", *_LOCKED, f"--user={user}:{user}",
        f"--network={'host' if job.network else 'none'}",
        f"--memory={job.limits.memory}", f"--memory-swap={job.limits.memory}",
        f"--pids-limit={job.limits.processes}", "--hostname=sandbox", f"--workdir={BOX}", "--log-driver=none",
        *(["--interactive"] if job.stdin is not None else terminal),
        *(f"--tmpfs={folder}:rw,nosuid,nodev,exec,mode=1777,size={size},nr_inodes={size // _PER_ENTRY}"
          for folder, size in SCRATCH.items()),
        *_mounts(job), *(f"--env={key}={value}" for key, value in variables.items()),
        IMAGE, *_CHILD, *ending, *filter_command(_PYTHON), *prlimit_command(job.limits, count_processes=False),
        *job.argv,
    ]


@functools.cache
def why_not() -> str | None:
    """None when docker works here, else the reason and what to do; found by asking it, once."""
    if not sys.platform.startswith("linux"):
        return "the docker sandbox shows programs this machine's /usr, which must be that of a Linux system"
    if not shutil.which("docker"):
        return "docker is not installed: apt-get install docker.io"
    done = _docker("version", "--format={{.Server.Os}}")
    if done.returncode == 0 and done.stdout.strip() == "linux":
        return _probe()
    reason = done.stderr.strip().splitlines()[-1:] or [f"it serves {done.stdout.strip() or 'nothing'}"]
    return (f"docker is installed, but its service does not answer ({reason[0]}); start it (systemctl start docker), "
            "and let this user use it (adduser $USER docker, then log in again)")


def _probe() -> str | None:
    """None when a program runs and may write to its folder; not so where docker runs on another machine, in a virtual
    one, or without root's rights."""
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            done = Docker().run(SandboxJob(["touch", "probe"], Path(folder), ProcessLimits(seconds=_SECONDS)))
    except SandboxError as error:
        return str(error)
    if done.exit_status == 0:
        return None
    return (f"docker answers, but programs in it cannot use files of ours ({done.stderr.strip() or 'no reason'}); it "
            "takes a docker service on this machine that runs as root (docker context use default)")


def _mounts(job: SandboxJob) -> Iterator[str]:
    """Read-only, but for the folder of the job. What stands in memory (`SCRATCH`) may hold a binding, too."""
    shown = [Binding(Path("/usr")), *(Binding(Path(path)) for path in SETTINGS if Path(path).exists()),
             Binding(Path(sys.base_prefix)), *job.bindings]
    targets = {binding.target or str(binding.source.absolute()): binding.source.absolute() for binding in shown}
    for target, source in targets.items():
        if target == "/usr" or not target.startswith("/usr/"):
            yield _mount(source, target, "readonly")
    yield _mount(job.folder.resolve(), BOX)


def _mount(source: Path, target: str, *more: str) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(["type=bind", f"source={source}", f"target={target}", *more])
    return f"--mount={text.getvalue()}"


def _state(name: str) -> Mapping[str, Any]:
    """State of a container; empty if docker has none."""
    done = _docker("container", "inspect", "--format={{json .State}}", name)
    found: Mapping[str, Any] = json.loads(done.stdout) if done.returncode == 0 else {}
    return found


@functools.cache
def _make_image() -> None:
    """The image, if it is not there: folders and links to `/usr`, and nothing in them."""
    if _docker("image", "inspect", IMAGE).returncode == 0:
        return
    tree = io.BytesIO()
    with tarfile.open(fileobj=tree, mode="w") as tar:
        for path in (*_FOLDERS, *_LINKS):
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode, entry.linkname = tarfile.DIRTYPE, 0o1777 if path in _OPEN else 0o755, ""
            if path in _LINKS:
                entry.type, entry.linkname = tarfile.SYMTYPE, f"usr/{path}"
            tar.addfile(entry)
    done = _docker("import", "-", IMAGE, content=tree.getvalue())
    if done.returncode != 0:
        raise SandboxError(f"docker cannot make the image {IMAGE}: {done.stderr.strip()}")


def _docker(*arguments: str, content: bytes | None = None) -> subprocess.CompletedProcess[str]:
    """A short command to docker; one that takes too long has failed."""
    given: Mapping[str, Any] = {"stdin": subprocess.DEVNULL} if content is None else {"input": content}
    try:
        done = subprocess.run(["docker", *arguments], capture_output=True, timeout=_SECONDS, check=False,
                              env=docker_environment(), **given)
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(arguments, 1, "", f"docker {arguments[0]}: {error}")
    return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.decode(errors="replace"),
                                       done.stderr.decode(errors="replace"))


def docker_environment() -> dict[str, str]:
    """Environment of the docker command, without keys."""
    return {name: value for name, value in os.environ.items() if name in _OURS or name.startswith("DOCKER_")}
