"""The commands that build and start software in a language of `languages.yaml`, their programs, drivers' jobs, and rows
of `chatdev doctor`: which languages, windows and pages can be judged here."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Self

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.drivers.step import VISIT, Driven, Step, drive
from chatdev.doctor.diagnosis import Probe, ProbeResult, absence, success
from chatdev.packages.interpreter import interpreter
from chatdev.packages.modules import DISPLAY
from chatdev.sandbox.base import Binding, ProcessLimits, Sandbox, SandboxJob
from chatdev.workspace.file_tree import EntryPoint, write_file
from chatdev.workspace.languages import Language, languages, matches

_BUILD_SECONDS = 120.0
_OPEN_FILES = 1024
_TYPING = 'mkfifo "$HOME/.typed" && exec 0<>"$HOME/.typed" && printf %s "$0" >&0 && exec "$@"'
"""A shell line that types $0 into a program and then waits, as a person would: the input does not end."""
_MOST_TYPED = 16_000  # characters: what is typed waits in a pipe, and a pipe holds 64 KiB
_HEADERS = (".h", ".hh", ".hpp", ".hxx")
_SHOWN = "/usr"  # what every sandbox shows of this machine


@dataclass(frozen=True, slots=True)
class Project:
    """Software in `language`. `programs` has the path of each program it needs, None for one this machine lacks."""

    language: Language
    files: Mapping[str, bytes]
    entry: EntryPoint
    programs: Mapping[str, str | None]

    @classmethod
    def from_files(cls, language: Language, files: Mapping[str, bytes]) -> Self:
        """Find the entry of software in `language`, and what this machine has to build and start it."""
        return cls(language, files, language.entry(files), find_programs(language))

    @property
    def missing_programs(self) -> list[str]:
        """The programs it needs that are not there."""
        return [name for name, path in self.programs.items() if path is None]

    @property
    def windows(self) -> bool:
        """Whether it opens windows on an X display."""
        pattern = self.language.windows
        return bool(pattern) and any(matches(pattern, self._text(path)) for path in self._sources())

    @property
    def command(self) -> str:
        """How a person starts it once it is built."""
        return " ".join(self._words(self.language.run))

    def build_jobs(self, folder: Path) -> Iterator[SandboxJob]:
        """The jobs that check and build it in `folder`, in order."""
        is_library = self.entry.path is None and self.language.library is not None
        for words in (self.language.library or ()) if is_library else self.language.build:
            each = self._sources() if "{each}" in words else [""]
            for path in each:
                yield self._job(self._words(words, each=path), folder, _BUILD_SECONDS)

    def start_job(self, folder: Path, seconds: float = 0) -> SandboxJob:
        """The job that starts it in `folder`, where it is built; 0 seconds are no limit."""
        return self._job(self._words(self.language.run), folder, seconds)

    def test_job(self, argv: Sequence[str], folder: Path, seconds: float) -> SandboxJob:
        """The job that runs its tests in `folder`, where it is built."""
        return self._job(argv, folder, seconds)

    def job_of(self, folder: Path, seconds: float, start: Start, *, ends: bool) -> SandboxJob:
        """The job of a start in `folder`, where it is built, without anybody looking: only what comes in is typed, and
        with `ends` nothing after it; windows are drawn to nowhere."""
        job = self._job([*self._words(self.language.run), *start.arguments], folder, seconds)
        argv = _shell_command(DISPLAY.read_text(encoding="utf-8"), job.argv) if self.windows else job.argv
        if ends:
            return replace(job, argv=argv, stdin=start.stdin or None)
        return replace(job, argv=_shell_command(_TYPING, argv, (start.stdin or "")[:_MOST_TYPED]))

    def _job(self, argv: Sequence[str], folder: Path, seconds: float) -> SandboxJob:
        limits = ProcessLimits(seconds=seconds, address_space=self.language.memory << 30, open_files=_OPEN_FILES)
        shown = [path for pattern in self.language.shows for path in Path("/").glob(pattern.lstrip("/"))]
        program = self.programs.get(argv[0]) or argv[0]
        return SandboxJob([program, *argv[1:]], folder, limits, env=self.language.env, bindings=[*map(Binding, shown)])

    def _words(self, words: Sequence[str], each: str = "") -> list[str]:
        """A command line of the table, filled in."""
        entry = PurePosixPath(self.entry.path or "")
        one = {"entry": str(entry), "folder": str(entry.parent), "class": self._class(), "each": each}
        several = {"{sources}": self._sources, "{program}": self._program,
                   "{headers}": self._headers, "{libraries}": self._libraries}
        return [filled for word in words
                for filled in (several[word]() if word in several else [word.format_map(one)])]

    def _sources(self) -> list[str]:
        return self.language.sources(self.files)

    def _program(self) -> list[str]:
        """The sources of one program: without those where another one starts."""
        return [path for path in self._sources()
                if path == self.entry.path or not self.language.may_start(self.files[path])]

    def _headers(self) -> list[str]:
        folders = {str(PurePosixPath(path).parent) for path in self.files if path.endswith(_HEADERS)}
        return [f"-I{folder}" for folder in sorted(folders)]

    def _libraries(self) -> list[str]:
        text = "\n".join(self._text(path) for path in self._sources())
        return [f"-l{library}" for pattern, library in self.language.links.items() if matches(pattern, text)]

    def _class(self) -> str:
        """The entry's full class name, by its package."""
        path = self.entry.path
        if path is None:
            return ""
        package = re.search(r"^[ \t]*package\s+([\w.]+)\s*;", self._text(path), re.MULTILINE)
        return ".".join([*(package.groups() if package else ()), PurePosixPath(path).stem])

    def _text(self, path: str) -> str:
        return self.files[path].decode("utf-8", errors="replace")


def find_programs(language: Language) -> dict[str, str | None]:
    """The path of each program that `language` needs, None for one that this machine lacks."""
    shown = (_SHOWN, *language.shows)
    return {need.split("|")[0]: _path_of(need.split("|"), shown) for need in language.needs}


def find_program(name: str, language: Language) -> str | None:
    """The path of a program that a sandbox for `language` can start; None where there is none."""
    return _path_of([name], (_SHOWN, *language.shows))


def _path_of(names: Sequence[str], shown: Sequence[str]) -> str | None:
    """Where the first of these programs lies that a sandbox which shows `shown` can start."""
    paths = (shutil.which(name) for name in names)
    return next((path for path in paths if path and any(Path(path).resolve().is_relative_to(place) for place in shown)),
                None)


def _shell_command(script: str, argv: Sequence[str], name: str = "sh") -> list[str]:
    return ["/bin/sh", "-c", script, name, *argv]


# The jobs by which software is used by steps: a driver within a window's program, or beside a page or service.

_NOT_TKINTER = "only windows of tkinter can be used by steps"


def drive_window(sandbox: Sandbox, job: SandboxJob, steps: Sequence[Step], *, inside: bool = False) -> Driven:
    """How a program with windows, which `job` starts on a display, went; `inside`: a driver can be in its process. Of
    others there is only the picture."""
    if inside:
        return drive(sandbox, job, steps)
    found = drive(sandbox, job, (), seconds=job.limits.seconds)
    return replace(found, trouble=_NOT_TKINTER if steps else "")


def drive_page(sandbox: Sandbox, folder: Path, path: str, document: bytes, steps: Sequence[Step]) -> Driven | None:
    """How the page at `path` in `folder` went, with its document as it was written; None without a browser."""
    if not (browser := _browser()):
        return None
    write_file(folder, path, document)
    return drive(sandbox, _visit(folder, SandboxJob((), folder), browser=True), steps, page=path, browser=browser)


def drive_service(sandbox: Sandbox, job: SandboxJob, steps: Sequence[Step]) -> Driven | None:
    """How requests to a service went, which `job` starts; None where a page needs a browser that is not here."""
    browser = _browser() if any(step.kind != "request" for step in steps) else []
    if browser is None:
        return None
    return drive(sandbox, _visit(job.folder, job, browser=bool(browser)), steps, program=job.argv, browser=browser)


def _visit(folder: Path, job: SandboxJob, *, browser: bool) -> SandboxJob:
    """The job of a driver that starts what `job` does, with a browser beside it or without."""
    python, language = interpreter(), _page_language()
    shown = [path for pattern in language.shows for path in Path("/").glob(pattern.lstrip("/"))] if browser else []
    space = language.memory << 30 if browser else job.limits.address_space
    limits = ProcessLimits(address_space=space, open_files=_OPEN_FILES)
    return SandboxJob([str(python.executable), *VISIT], folder, limits, env=job.env,
                      bindings=[*job.bindings, *map(Binding, (python.prefix, *shown))])


def _browser() -> list[str] | None:
    """The command line of a browser that can be driven; None where there is none."""
    language = _page_language()
    program = find_programs(language).get(language.driven[0])
    return [program, *language.driven[1:]] if program else None


def _page_language() -> Language:
    return next(language for language in languages() if language.driven)


# The rows of `chatdev doctor` about programs: whether those with windows and those in each language can be judged.


def probes() -> Iterator[Probe]:
    """Of programs with windows, then of each language."""
    yield Probe("software", "windows", _check_windows)
    yield from (Probe("software", language.name, partial(_check_toolchain, language)) for language in languages())


def _check_windows() -> ProbeResult:
    """Whether programs with windows can be tried."""
    needed = {"xvfb": shutil.which("Xvfb") is not None, "python3-tk": interpreter().tkinter}
    if missing := [package for package, there in needed.items() if not there]:
        names = {"xvfb": "an X server (Xvfb)", "python3-tk": "tkinter"}
        return absence(f"{' and '.join(names[package] for package in missing)} not installed: programs with windows "
                      "are not judged", packages=missing)
    return success("Xvfb and tkinter")


def _check_toolchain(language: Language) -> ProbeResult:
    """Whether software in `language` can be built and run."""
    programs = find_programs(language)
    if lacking := [name for name, path in programs.items() if path is None]:
        return absence(f"{' and '.join(lacking)} not installed: not judged", packages=language.install.split())
    return success(", ".join(map(str, programs.values())))
