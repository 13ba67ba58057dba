"""A Python program with its modules in place, and the job that starts it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chatdev.packages import known_modules
from chatdev.packages.imports import Imports, imports, normal_name, requirements, third_party_names
from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import Modules
from chatdev.packages.supply import Supply
from chatdev.sandbox.base import ProcessLimits, Sandbox, SandboxJob
from chatdev.workspace.snapshot import EntryPoint, find_entry

DISPLAY = Path(__file__).with_name("display.sh")
"""A shell script that gives the program that it is given a display; it exits with 97 where there is none."""
_HEADLESS = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "QT_QPA_PLATFORM": "offscreen",
             "MPLBACKEND": "Agg"}


@dataclass(frozen=True, slots=True)
class PreparedProgram:
    """A program with its modules in place; `missing` says of required modules why they could not be had."""

    entry: EntryPoint
    modules: Modules
    imported: frozenset[str]
    installed: tuple[str, ...]
    missing: Mapping[str, str]

    @property
    def windows(self) -> bool:
        """Whether it opens windows."""
        return known_modules.opens_windows(set(self.imported))

    @property
    def needs_display(self) -> bool:
        """Whether it cannot start without an X display."""
        return known_modules.needs_display(set(self.imported))

    @property
    def command(self) -> str:
        """How a person starts it."""
        return " ".join(("python", *self.entry.argv))

    def job(self, folder: Path, seconds: float, arguments: Sequence[str] = ()) -> SandboxJob:
        """The job that starts it in `folder` without anybody looking: no input, windows drawn to nowhere."""
        argv = [str(self.modules.python), *self.entry.argv, *arguments]
        if self.needs_display:
            argv = ["/bin/sh", "-c", DISPLAY.read_text(encoding="utf-8"), "sh", *argv]
        return SandboxJob(argv, folder, ProcessLimits(seconds=seconds), env={"PYTHONUNBUFFERED": "1", **_HEADLESS},
                          bindings=self.modules.bindings)


def prepare_program(files: Mapping[str, bytes], run_folder: Path, sandbox: Sandbox, supply: Supply) -> PreparedProgram:
    """Find the entry of a program that compiles and provide its modules below `run_folder`: what `modules.yaml` knows
    or the software asks for in its own lists (`requirements`), as far as `supply` allows it."""
    found = imports(files)
    modules = Modules(run_folder / "modules", interpreter())
    wanted = _installable(found, requirements(files))
    failed = modules.provide(wanted, supply, sandbox)
    have = wanted.keys() - failed.keys()
    unknown = known_modules.refusal("unknown")
    missing = {name: failed.get(name, unknown) for name in sorted(third_party_names(found.required) - have)}
    return PreparedProgram(find_entry(files), modules, frozenset(found.all_names),
                           tuple(sorted(wanted[name] for name in have)), missing)


def modules_of_tests(files: Mapping[str, bytes], *, pytest: bool) -> dict[str, str]:
    """Import name -> distribution, of what the software's own tests need: by the same rules what they import; with
    `pytest` that, and its plugins that the software asks for."""
    listed = requirements(files)
    plugins = {name.replace("-", "_"): name for name in listed if name.startswith("pytest-")}
    return _installable(imports(files, tests=True), listed) | ({"pytest": "pytest", **plugins} if pytest else {})


def missing_for_windows(program: PreparedProgram) -> str:
    """What this machine lacks to show the program's windows; empty when it has everything."""
    needed = {"an X server (apt-get install xvfb)": program.needs_display and not shutil.which("Xvfb"),
              "tkinter (apt-get install python3-tk)": "tkinter" in program.imported and not interpreter().tkinter}
    return " and ".join(name for name, absent in needed.items() if absent)


def _installable(found: Imports, listed: set[str]) -> dict[str, str]:
    """Import name -> distribution, of what may be installed: a misspelt import must not install a stranger's work."""
    known = known_modules.distributions()
    candidates = {name: known.get(name, name) for name in third_party_names(found.required | found.optional)}
    return {name: distribution for name, distribution in candidates.items()
            if name in known or normal_name(distribution) in listed}
