"""The modules of one run: an environment of its own beside the software, filled with wheels only.

A wheel is unpacked, never run, outside the sandbox: pip runs in our interpreter with the run's folder as `--target`,
and the environment's own interpreter, where an installed module could act, starts in the sandbox only.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from chatdev.errors import ToolError
from chatdev.sandbox.base import Binding
from chatdev.secrets import is_secret_name, scrubbed
from chatdev.tools.software.interpreter import Interpreter
from chatdev.workspace.problems import explained

_SECONDS = 180.0  # for one package with what it needs
_PIP = ("install", "--quiet", "--no-input", "--disable-pip-version-check", "--timeout=15",
        "--retries=1", "--only-binary=:all:", "--implementation=cp")


class Modules:
    """The environment in `folder` (made on first use). Several runs of a tool may use it at once."""

    def __init__(self, folder: Path, interpreter: Interpreter) -> None:
        self._folder = folder.resolve()
        self._interpreter = interpreter

    @property
    def python(self) -> Path:
        """The interpreter that sees the modules; it exists after `provide`."""
        return self._folder / "bin" / "python"

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """What a sandbox must show for `python` to work."""
        return Binding(self._interpreter.prefix), Binding(self._folder)

    def provide(self, distributions: Mapping[str, str]) -> dict[str, str]:
        """Install the distributions for these import names, each at most once per run; import name -> reason for
        those that failed."""
        with explained("keep modules in", self._folder), self._locked():
            if not self.python.exists():
                self._make()
            record = self._folder / "installed.json"  # distribution -> why it failed, or null
            known: dict[str, str | None] = json.loads(record.read_text()) if record.exists() else {}
            for distribution in sorted(set(distributions.values()) - known.keys()):
                known[distribution] = self._install(distribution)
                record.write_text(json.dumps(known, indent=1), encoding="utf-8")
        return {name: reason for name, distribution in distributions.items() if (reason := known[distribution])}

    def _make(self) -> None:
        command = [str(self._interpreter.executable), "-I", "-m", "venv", "--without-pip", str(self._folder)]
        if failure := _run(command, 60.0):
            raise ToolError(f"cannot make the environment for modules in {self._folder}: {failure}")
        self._folder.chmod(0o755)  # the sandbox may run programs as another user

    def _install(self, distribution: str) -> str | None:
        """None, or why it cannot be installed."""
        major, minor = self._interpreter.version
        target = self._folder / "lib" / f"python{major}.{minor}" / "site-packages"
        return _run([sys.executable, "-I", "-m", "pip", *_PIP, f"--python-version={major}.{minor}",
                     f"--target={target}", distribution], _SECONDS)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _run(command: list[str], seconds: float) -> str | None:
    """None, or the last thing the command said before it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, check=False,
                              stdin=subprocess.DEVNULL, umask=0o022, env=_environment())
    except subprocess.TimeoutExpired:
        return f"not finished after {seconds:.0f} seconds"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return None
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    return scrubbed(errors[-1])[:300] if errors else f"exit status {done.returncode}"


def _environment() -> dict[str, str]:
    """Ours without what redirects pip's target, and without secrets but those in the addresses of its index."""
    return {name: value for name, value in os.environ.items()
            if name not in ("PIP_TARGET", "PIP_USER", "PIP_PREFIX", "PIP_ROOT") and not is_secret_name(name)}
