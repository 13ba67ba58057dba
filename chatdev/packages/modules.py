"""The modules that programs find: packages installed into a folder, all or none of them; an environment for each run,
filled with wheels only; runtimes that runs share; and the job that starts a Python program with them."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from chatdev.errors import ConfigError, MissingProgram, ToolError
from chatdev.packages import pip_script
from chatdev.packages.gateway import Fetcher, Index, open_gateway, pip_folder, sources
from chatdev.packages.imports import (
    Imports,
    Supply,
    distributions,
    imports,
    needs_display,
    normal_name,
    opens_windows,
    refusal_words,
    requirements,
    runtimes,
    third_party_names,
)
from chatdev.packages.interpreter import Interpreter, interpreter
from chatdev.paths import cache_dir, open_plain, read_plain
from chatdev.safe_text import scrub
from chatdev.sandbox.base import Binding, Execution, ProcessLimits, Sandbox, SandboxJob, remove_folder, take_back
from chatdev.workspace.file_tree import EntryPoint, explain_os_errors, find_entry, require_folder, require_plain_files

_SECONDS = 300.0  # for all that one version of a program needs anew
_RUNTIME_SECONDS = 1200.0  # for the whole set of a runtime; some connections are slow
_TOO_FEW = 5.0  # seconds in which nothing can be installed any more
_PAUSE = 0.5  # seconds between two looks at a runtime that another process makes
_LONGEST_NOTE = 1 << 20  # bytes
_ENVIRONMENT = ("bin", "include", "lib", "lib64", "pyvenv.cfg", "share")  # what Python's venv makes
Outcomes = dict[str, str | None]
"""Distribution -> why it is not installed, or None when it is."""


class Modules:
    """The environment in `folder` (made on first use). Several runs of a tool may use it at once."""

    def __init__(self, folder: Path, interpreter: Interpreter) -> None:
        self._folder = folder.parent.resolve() / folder.name
        self._interpreter = interpreter

    @property
    def python(self) -> Path:
        """The interpreter that sees the modules; it exists after `provide`."""
        return self._folder / "bin" / "python"

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """What a sandbox must show for `python` to work."""
        return tuple(map(Binding, (self._interpreter.prefix, *self.folders)))

    @property
    def folders(self) -> tuple[Path, ...]:
        """Where the modules are: the environment, and a runtime."""
        lines = _read_note(self._paths).splitlines()
        shared = [path for line in lines if (path := Path(line)).parent == runtimes_folder() and path.is_dir()
                  and path.name != os.pardir]
        return self._folder, *shared

    @property
    def _packages(self) -> Path:
        return self._folder / "packages"

    @property
    def _paths(self) -> Path:
        major, minor = self._interpreter.version
        return self._folder / "lib" / f"python{major}.{minor}" / "site-packages" / "packages.pth"

    def provide(self, distributions: Mapping[str, str], supply: Supply, sandbox: Sandbox) -> dict[str, str]:
        """Install the distributions for these import names, each settled once per run; import name -> reason for those
        that are not there. Raises what `install` and `Runtime.make` raise."""
        with explain_os_errors("keep modules in", self._folder), self._lock():
            self._require_plain()
            if not self.python.exists():
                self._make_environment()
            prepared = self._shared_runtime(supply.runtime, sandbox)
            known = self._record() | dict.fromkeys(prepared.distributions.values() if prepared else ())
            new = sorted(set(distributions.values()) - known.keys())
            refused: Outcomes = {name: reason for name in new if (reason := supply.refusal(name))}
            installed = self._install([name for name in new if name not in refused], sandbox)
            self._write_record(installed | (refused if supply.asks else {}))
            self._write_paths(prepared)
        known |= refused | installed
        return {name: reason for name, distribution in distributions.items() if (reason := known[distribution])}

    def _require_plain(self) -> None:
        """Raise WorkspaceError when what is written or shown to programs leads somewhere else: the folder may come with
        a stranger's run."""
        parents = [self._paths.parents[level] for level in range(3)]  # lib/python3.11/site-packages
        for folder in (self._folder, self._packages, *parents, *self._folders()):
            if os.path.lexists(folder):
                require_folder(folder)
        require_plain_files(self._folder, ("lock", "runtime", "installed.json", "pyvenv.cfg"))
        require_plain_files(self._paths.parent, (self._paths.name,))

    def _make_environment(self) -> None:
        """What Python takes for one (PEP 405); its own `venv` would start a process that copies more."""
        for name in filter(os.path.lexists, (self._folder / part for part in _ENVIRONMENT)):
            remove_folder(name)  # what is left of one that was not finished, or is a stranger's
        python, version = self._interpreter.executable, ".".join(map(str, self._interpreter.version))
        places = self._paths.parent  # lib/python3.11/site-packages
        for folder in (self._folder, self.python.parent, *reversed(places.parents[:2]), places):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)  # the sandbox may run programs as another user
        settings = self._folder / "pyvenv.cfg"
        settings.write_text(f"home = {python.parent}\ninclude-system-site-packages = false\nversion = {version}\n",
                            encoding="utf-8")
        settings.chmod(0o644)
        for link in ("python3", f"python{version}", "python"):
            (self.python.parent / link).symlink_to(python)  # the last one says that all is there

    def _shared_runtime(self, name: str | None, sandbox: Sandbox) -> Runtime | None:
        """The runtime called `name`, or the one that the run had before, where it is still there."""
        note = self._folder / "runtime"
        if name is None:
            known = (before := _read_note(note)) in runtimes()
            return found if known and (found := runtime(before)).ready else None
        found = runtime(name)
        while not found.ready and not found.make(sandbox):
            time.sleep(_PAUSE)
        note.write_text(name)
        return found

    def _install(self, names: Sequence[str], sandbox: Sandbox) -> Outcomes:
        """All of them together, so that they fit together; else, to know which of them cannot be had, each alone."""
        until = time.monotonic() + _SECONDS
        outcome = self._install_together(names, sandbox, until) if names else None
        if outcome is None or len(names) == 1:
            return dict.fromkeys(names, outcome)
        return {name: self._install_together([name], sandbox, until) for name in names}

    def _install_together(self, names: Sequence[str], sandbox: Sandbox, until: float) -> str | None:
        left = until - time.monotonic()
        if left < _TOO_FEW:
            return refusal_words("late")
        folders = self._folders()
        number = int(folders[-1].name) + 1 if folders else 1
        return install(names, self._packages / str(number), self._interpreter, sandbox, left)

    def _folders(self) -> list[Path]:
        """The folders of the installations, in their order."""
        found = self._packages.iterdir() if self._packages.is_dir() else ()
        return sorted((path for path in found if path.name.isdecimal()), key=lambda path: int(path.name))

    def _write_paths(self, prepared: Runtime | None) -> None:
        """Tell the environment where the packages are."""
        lines = [str(prepared.folder)] if prepared else []
        lines += [f"../../../packages/{folder.name}" for folder in self._folders()]
        self._paths.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _record(self) -> Outcomes:
        """What is known of distributions; nothing where the record says what none says."""
        with contextlib.suppress(ValueError, RecursionError):
            known = json.loads(_read_note(self._folder / "installed.json"))
            if isinstance(known, dict) and all(isinstance(reason, str | None) for reason in known.values()):
                return known
        return {}

    def _write_record(self, outcomes: Outcomes) -> None:
        if outcomes:
            text = json.dumps(self._record() | outcomes, indent=1, ensure_ascii=False)
            (self._folder / "installed.json").write_text(text, encoding="utf-8")

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)
        require_folder(self._folder)
        with os.fdopen(open_plain(self._folder / "lock", os.O_RDWR | os.O_CREAT), "wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _read_note(path: Path) -> str:
    """What a small file says; empty where there is none."""
    return read_plain(path, _LONGEST_NOTE).decode("utf-8", "replace") if os.path.lexists(path) else ""


def runtimes_folder() -> Path:
    """Where the runtimes of all runs are."""
    return cache_dir() / "runtimes"


@dataclass(frozen=True, slots=True)
class Runtime:
    """A named set of modules for one Python."""

    name: str
    modules: tuple[str, ...]
    python: Interpreter

    @property
    def distributions(self) -> Mapping[str, str]:
        """Import name -> distribution, of those that do not belong to Python."""
        known = distributions()
        return {module: known[module] for module in sorted(third_party_names(frozenset(self.modules)))}

    @property
    def folder(self) -> Path:
        """Where its packages are; another set or another Python has another folder."""
        major, minor = self.python.version
        parts = [sysconfig.get_platform(), str(self.python.prefix), *sorted(self.distributions.values())]
        digest = sha256("\n".join(parts).encode()).hexdigest()[:12]
        return runtimes_folder() / f"{self.name}-python{major}.{minor}-{digest}"

    @property
    def ready(self) -> bool:
        """Whether it is there."""
        return self.folder.is_dir()

    def make(self, sandbox: Sandbox) -> bool:
        """Make it there, which takes a minute or more; False when another process is just doing so. Raises ToolError
        with the fix."""
        folder = self.folder
        with explain_os_errors("keep a runtime in", folder.parent):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with (folder.parent / f"{folder.name}.lock").open("w") as lock:  # let go of by closing it, however we end
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
                if not self.ready and (reason := install(self.distributions.values(), folder, self.python, sandbox,
                                                         _RUNTIME_SECONDS)):
                    raise ToolError(f"the runtime {self.name} cannot be installed: {reason}; fix that, or run without "
                                    f"--runtime (pip must reach a package index that has wheels of "
                                    f"{', '.join(self.distributions.values())})")
        return True


def runtime(name: str, python: Interpreter | None = None) -> Runtime:
    """The runtime called `name`, for the Python that runs programs. Raises ConfigError when there is none, and
    MissingProgram when this Python lacks a part that is no package."""
    known = runtimes()
    if name not in known:
        raise ConfigError(f"there is no runtime {name!r}; there are: {', '.join(sorted(known))}")
    found = Runtime(name, tuple(known[name]["modules"]), python or interpreter())
    if "tkinter" in found.modules and not found.python.tkinter:
        raise MissingProgram(f"the runtime {name} needs tkinter: apt-get install python3-tk")
    return found


# Installing packages into a folder, all or none of them.

_LIMITS = ProcessLimits(file_size=2 << 30, disk=8 << 30, open_files=1024)
_PIP = ("--isolated", "--quiet", "--no-input", "--no-color", "--disable-pip-version-check", "--no-cache-dir",
        "--retries=1", "--timeout=30", "--only-binary=:all:", "--no-warn-script-location", "--target=target")
_GATEWAY = re.compile(r"http://127\.0\.0\.1:\d+/[\w-]+/")


def install(distributions: Collection[str], folder: Path, python: Interpreter, sandbox: Sandbox,
            seconds: float) -> str | None:
    """Install the distributions and what they need into the new `folder`: None, or why that cannot be (then there is no
    such folder).

    pip works in the sandbox, on wheels alone, so nothing of a package runs outside it or at all. Raises SandboxError
    when the sandbox fails or is stopped, MissingProgram without pip, WorkspaceError when the disk refuses.
    """
    with _workplace(folder.parent) as work, _index() as (index, fetcher), open_gateway(index, fetcher) as gateway:
        execution = sandbox.run(_job(distributions, work, gateway, python, seconds))
        if execution.exit_status != 0:
            return _reason(execution, index)
        take_back(work)
        (work / "target").rename(folder)
    return None


@contextlib.contextmanager
def _workplace(parent: Path) -> Iterator[Path]:
    with explain_os_errors("install packages in", parent):
        parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=parent, prefix=".installing-"))
        try:
            yield work
        finally:
            remove_folder(work)


@contextlib.contextmanager
def _index() -> Iterator[tuple[Index, Fetcher]]:
    found = sources()
    with contextlib.closing(Fetcher(found)) as fetcher:
        yield Index(found, fetcher), fetcher


def _job(distributions: Collection[str], work: Path, gateway: Path, python: Interpreter, seconds: float) -> SandboxJob:
    pip = pip_folder()
    script = Path(pip_script.__file__).read_text(encoding="utf-8")
    argv = [str(python.executable), "-I", "-S", "-c", script, str(gateway), str(pip.parent), *_PIP, "--",
            *sorted(distributions)]
    return SandboxJob(argv, work, replace(_LIMITS, seconds=seconds),
               bindings=(Binding(python.prefix), Binding(pip), Binding(gateway)))


def _reason(execution: Execution, index: Index) -> str:
    """Why it did not work, without what differs from run to run."""
    if execution.timed_out:
        return refusal_words("late")
    if execution.exceeded:  # never its command line: that is ours
        return f"it takes too much {execution.exceeded}"
    if index.problems:
        return scrub(index.problems[0])
    lines = execution.stderr.splitlines()
    errors = [line for line in lines if line.startswith("ERROR")] or lines or [f"exit status {execution.exit_status}"]
    return scrub(_GATEWAY.sub("", errors[-1].removeprefix("ERROR: ")))[:300]


# A Python program with its modules in place, and the job that starts it.

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
        return opens_windows(set(self.imported))

    @property
    def needs_display(self) -> bool:
        """Whether it cannot start without an X display."""
        return needs_display(set(self.imported))

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
    unknown = refusal_words("unknown")
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
    known = distributions()
    candidates = {name: known.get(name, name) for name in third_party_names(found.required | found.optional)}
    return {name: distribution for name, distribution in candidates.items()
            if name in known or normal_name(distribution) in listed}
