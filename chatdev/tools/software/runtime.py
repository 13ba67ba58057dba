"""Runtimes: sets of packages that are installed once for all runs, in the user's cache, and shown to programs."""

from __future__ import annotations

import fcntl
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from chatdev.errors import ConfigError, MissingProgram, ToolError
from chatdev.paths import cache_dir
from chatdev.sandbox.base import Sandbox
from chatdev.tools.software import knowledge
from chatdev.tools.software.installing.install import install
from chatdev.tools.software.interpreter import Interpreter, interpreter
from chatdev.tools.software.static import third_party
from chatdev.workspace.problems import explained

_SECONDS = 1200.0  # for the whole set; some connections are slow


@dataclass(frozen=True, slots=True)
class Runtime:
    """A named set of modules for one Python."""

    name: str
    modules: tuple[str, ...]
    python: Interpreter

    @property
    def distributions(self) -> Mapping[str, str]:
        """Import name -> distribution, of those that do not belong to Python."""
        known = knowledge.distributions()
        return {module: known[module] for module in sorted(third_party(frozenset(self.modules)))}

    @property
    def folder(self) -> Path:
        """Where its packages are; another set or another Python has another folder."""
        major, minor = self.python.version
        parts = [sysconfig.get_platform(), str(self.python.prefix), *sorted(self.distributions.values())]
        digest = sha256("\n".join(parts).encode()).hexdigest()[:12]
        return cache_dir() / "runtimes" / f"{self.name}-python{major}.{minor}-{digest}"

    @property
    def ready(self) -> bool:
        """Whether it is there."""
        return self.folder.is_dir()

    def make(self, sandbox: Sandbox) -> bool:
        """Make it there, which takes a minute or more; False when another process is just doing so. Raises ToolError
        with the mend."""
        folder = self.folder
        with explained("keep a runtime in", folder.parent):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with (folder.parent / f"{folder.name}.lock").open("w") as lock:  # let go of by closing it, however we end
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
                if not self.ready and (reason := install(self.distributions.values(), folder, self.python, sandbox,
                                                         _SECONDS)):
                    raise ToolError(f"the runtime {self.name} cannot be installed: {reason}; mend that, or run without "
                                    f"--runtime (pip must reach a package index that has wheels of "
                                    f"{', '.join(self.distributions.values())})")
        return True


def runtime(name: str, python: Interpreter | None = None) -> Runtime:
    """The runtime called `name`, for the Python that runs programs. Raises ConfigError when there is none, and
    MissingProgram when this Python lacks a part that is no package."""
    known = knowledge.runtimes()
    if name not in known:
        raise ConfigError(f"there is no runtime {name!r}; there are: {', '.join(sorted(known))}")
    found = Runtime(name, tuple(known[name]["modules"]), python or interpreter())
    if "tkinter" in found.modules and not found.python.tkinter:
        raise MissingProgram(f"the runtime {name} needs tkinter: apt-get install python3-tk")
    return found
