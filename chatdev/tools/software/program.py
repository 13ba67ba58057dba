"""A Python program made ready to start: its entry, its modules, and the job for a sandbox."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.sandbox.base import Job, Limits, Sandbox
from chatdev.tools.software import knowledge
from chatdev.tools.software.installing.supply import Supply
from chatdev.tools.software.interpreter import interpreter
from chatdev.tools.software.modules import Modules
from chatdev.tools.software.static import Imports, imports, normalised, requirements, third_party
from chatdev.workspace.entry import Entry, find_entry

_HEADLESS = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "QT_QPA_PLATFORM": "offscreen",
             "MPLBACKEND": "Agg"}
_DISPLAY = Path(__file__).with_name("display.sh")


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its modules in place; `missing` says of required modules why they could not be had."""

    entry: Entry
    modules: Modules
    imported: frozenset[str]
    installed: tuple[str, ...]
    missing: Mapping[str, str]

    @property
    def windows(self) -> bool:
        """Whether it opens windows."""
        return knowledge.opens_windows(set(self.imported))

    @property
    def needs_display(self) -> bool:
        """Whether it cannot start without an X display."""
        return knowledge.needs_display(set(self.imported))

    @property
    def command(self) -> str:
        """How a person starts it."""
        return " ".join(("python", *self.entry.argv))

    def job(self, folder: Path, seconds: float, arguments: Sequence[str] = ()) -> Job:
        """The job that starts it in `folder` without anybody looking: no input, windows drawn to nowhere."""
        argv = [str(self.modules.python), *self.entry.argv, *arguments]
        if self.needs_display:
            argv = ["/bin/sh", "-c", _DISPLAY.read_text(encoding="utf-8"), "sh", *argv]
        return Job(argv, folder, Limits(seconds=seconds), env={"PYTHONUNBUFFERED": "1", **_HEADLESS},
                   bindings=self.modules.bindings)


def prepare(files: Mapping[str, bytes], run_folder: Path, sandbox: Sandbox, supply: Supply) -> Program:
    """Find the entry of a program that compiles and provide its modules below `run_folder`: what `modules.yaml` knows
    or the software's requirements.txt lists, as far as `supply` allows it."""
    found = imports(files)
    modules = Modules(run_folder / "modules", interpreter())
    wanted = _wanted(found, requirements(files))
    failed = modules.provide(wanted, supply, sandbox)
    have = wanted.keys() - failed.keys()
    unknown = knowledge.refusal("unknown")
    return Program(find_entry(files), modules, frozenset(found.every), tuple(sorted(wanted[name] for name in have)),
                   {name: failed.get(name, unknown) for name in sorted(third_party(found.required) - have)})


def lacks(program: Program) -> str:
    """What this machine lacks to show the program's windows; empty when it has everything."""
    needed = {"an X server (apt-get install xvfb)": program.needs_display and not shutil.which("Xvfb"),
              "tkinter (apt-get install python3-tk)": "tkinter" in program.imported and not interpreter().tkinter}
    return " and ".join(name for name, absent in needed.items() if absent)


def _wanted(found: Imports, listed: set[str]) -> dict[str, str]:
    """Import name -> distribution, of what may be installed: a misspelt import must not install a stranger's work."""
    known = knowledge.distributions()
    candidates = {name: known.get(name, name) for name in third_party(found.required | found.optional)}
    return {name: distribution for name, distribution in candidates.items()
            if name in known or normalised(distribution) in listed}
