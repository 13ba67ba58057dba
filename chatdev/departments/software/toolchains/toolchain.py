"""One pipeline for software in every language: check it, build it, start it, use it; and the toolchains of pages and of
the languages in `languages.yaml`, built with the programs of this machine."""

from __future__ import annotations

import contextlib
import posixpath
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.drivers.step import Driven, Step
from chatdev.departments.software.reading.static import data_errors
from chatdev.departments.software.toolchains.project import (
    Project,
    drive_page,
    drive_service,
    drive_window,
    find_program,
)
from chatdev.departments.software.toolchains.python import PythonToolchain
from chatdev.departments.software.toolchains.verdict import (
    TEST_SECONDS,
    Finding,
    OwnTests,
    facts_of,
    is_given,
    judge_tests,
    rule_of_ending,
    verdict,
)
from chatdev.errors import ToolError, WorkspaceError
from chatdev.sandbox.base import BOX, Execution, SandboxJob, remove_folder
from chatdev.tools.base import ToolContext, throwaway_copy
from chatdev.workspace.file_tree import explain_os_errors, write_file, write_tree
from chatdev.workspace.languages import (
    Language,
    captures,
    has_python,
    language_of,
    languages,
    matches,
    unsupported_languages,
)
from chatdev.workspace.python_errors import SourceError, stable_text

# The toolchain of the languages in `languages.yaml`: check and build with the programs of this machine, then start.

_COMPILER_LINES, _COMPILER_CHARACTERS = 15, 1500
_SECONDS_FOR_WINDOWS = 3.0  # what a display and the first window take to come up, roughly


class TableToolchain:
    """Implements `Toolchain` for one software in a language of the table."""

    def __init__(self, context: ToolContext, language: Language) -> None:
        self._sandbox = context.sandbox
        self._context = context
        self._language = language
        self._project = Project.from_files(language, context.software)

    @property
    def typed_command(self) -> str | None:
        """What a person types to start it, as a pattern; None for a library."""
        return self._language.command if self._project.entry.path else None

    @property
    def windows(self) -> bool:
        """Whether it opens windows."""
        return self._project.windows

    def check(self) -> Finding | None:
        """JSON that cannot be read, no file to start, or a program that this machine lacks."""
        if errors := data_errors(self._project.files):
            return Finding("does_not_compile", {"errors": errors})
        finding = self._obstacle()
        return finding and self._add_evidence(finding)

    def build(self, folder: Path) -> Finding | None:
        """Run the build commands; the first one that fails."""
        write_tree(folder, self._additions())
        for job in self._project.build_jobs(folder):
            execution = self._sandbox.run(job)
            if execution.exit_status != 0:
                return self._add_evidence(self._build_failure(execution, folder))
        return None

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """How the start went, by what was written and how it ended."""
        if self._project.entry.path is None:
            sources = self._language.sources(self._project.files)
            return self._add_evidence(Finding("library", {"command": "", "files": len(sources), "imported": ()}))
        seconds = self._language.seconds + (_SECONDS_FOR_WINDOWS if self._project.windows else 0)
        execution = self._sandbox.run(self._project.job_of(folder, seconds, start, ends=ends))
        stderr = execution.stderr
        quiet = replace(execution, stderr=self._drop_noise(stderr))
        facts = {"command": shlex.join((*self._project.command.split(), *start.arguments)), "seconds": int(seconds),
                 **facts_of(quiet, self._project.files, self._places(folder)),
                 "missing": self._missing_modules(stderr), "lacks": "a working display"}
        return self._add_evidence(Finding(self._rule(execution), facts), execution)

    def drive(self, folder: Path, steps: Sequence[Step]) -> Driven | None:
        """How it went when somebody made these requests to what it serves; of one with windows, only how it looks."""
        if self._project.entry.path is None:
            return None
        seconds = self._language.seconds + _SECONDS_FOR_WINDOWS
        if self._project.windows:
            return drive_window(self._sandbox, self._project.job_of(folder, seconds, Start(), ends=True), steps)
        return drive_service(self._sandbox, self._project.start_job(folder), steps) if steps else None

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """Built in `folder`, the job that starts it for a person."""
        if self._project.entry.path is None:
            raise ToolError(verdict(self._nothing_to_run()).report)
        if missing := self._project.missing_programs:
            raise ToolError(f"{self._language.name} software needs {' and '.join(missing)}: apt-get install "
                            f"{self._language.install}")
        if finding := self.build(folder):
            raise ToolError(verdict(finding).report)
        return self._project.start_job(folder)

    def _obstacle(self) -> Finding | None:
        """Why it cannot be built or started here."""
        project, language = self._project, self._language
        if project.entry.path is None and not self._is_library():
            return self._nothing_to_run()
        if project.missing_programs:
            return Finding("no_toolchain", {"language": language.name, "lacks": " and ".join(project.missing_programs),
                                            "packages": language.install})
        if project.windows and not shutil.which("Xvfb"):
            return Finding("no_display", {"lacks": "an X server (apt-get install xvfb)"})
        return None

    def _is_library(self) -> bool:
        """Whether it need not start: no source of it could, it is a package, or it was there before the run."""
        declared = self._language.declared
        is_package = declared is not None and declared.file in self._project.files
        could_start = bool(self._language.page or self._project.entry.candidates)
        return is_given(self._context) or is_package or not could_start

    def own_tests(self, folder: Path) -> OwnTests | None:
        """How its tests go in `folder`, by the first way to run them that it has."""
        for way in self._language.tests:
            if found := self._find_in(way.files, way.holds):
                argv = [word.replace("{1}", found[1] if found.re.groups else "") for word in way.run]
                if not (program := find_program(way.needs, self._language)):
                    return OwnTests(shlex.join(argv), None, said=f"{way.needs} is not here")
                execution = self._sandbox.run(self._project.test_job([program, *argv[1:]], folder, TEST_SECONDS))
                said = f"{execution.stdout}\n{execution.stderr}"
                return judge_tests(shlex.join(argv), execution, [*captures(way.failed, said)] if way.failed else ())
        return None

    def _find_in(self, paths: str, holds: str) -> re.Match[str] | None:
        """What the first file of such a path that holds something holds there."""
        files = self._project.files
        texts = (data.decode("utf-8", "replace") for path, data in files.items() if re.search(paths, path))
        return next((found for text in texts if (found := re.search(holds, text, re.MULTILINE))), None)

    def _nothing_to_run(self) -> Finding:
        return Finding("nothing_to_run", {"candidates": self._project.entry.candidates, "language": self._language.name,
                                          "expected": self._language.named[0]})

    def _additions(self) -> dict[str, bytes]:
        """The files that the build needs and the software lacks."""
        files = self._project.files
        return {path: text.encode() for path, text in self._language.adds.items() if path not in files}

    def _add_evidence(self, finding: Finding, execution: Execution | None = None) -> Finding:
        ending = {"exit_status": execution.exit_status, "signal": execution.signal,
                  "timed_out": execution.timed_out} if execution else {}
        return replace(finding, evidence={"language": self._language.name, "command": self._project.command, **ending})

    def _build_failure(self, execution: Execution, folder: Path) -> Finding:
        """The rule for a build that failed, with the first lines of what was said."""
        if execution.exceeded:
            return Finding("exceeded", {"exceeded": execution.exceeded})
        said = stable_text(self._drop_noise(execution.stderr + execution.stdout), self._places(folder))
        if execution.timed_out:
            said = f"(stopped after {execution.seconds:.0f} seconds)\n{said}"
        lines = "\n".join(said.strip().splitlines()[:_COMPILER_LINES])[:_COMPILER_CHARACTERS]
        missing = self._missing_modules(execution.stderr)
        return Finding("missing_module" if missing else "does_not_compile", {"missing": missing, "compiler": lines})

    def _rule(self, execution: Execution) -> str:
        language, stderr = self._language, execution.stderr
        if language.no_display and matches(language.no_display, stderr):
            return "no_display"
        if self._missing_modules(stderr):
            return "missing_module"
        if language.crash and matches(language.crash, stderr):
            return "crashed"
        return rule_of_ending(execution, self._project.files)

    def _missing_modules(self, stderr: str) -> list[str]:
        """The modules it asked for and did not get, each once."""
        return list(dict.fromkeys(captures(self._language.missing, stderr)))

    def _drop_noise(self, stderr: str) -> str:
        noise = self._language.noise
        return "\n".join(line for line in stderr.splitlines() if not noise or not re.search(noise, line))

    def _places(self, folder: Path) -> Mapping[str, str]:
        """What differs between sandboxes and runs, and must not be seen in a report."""
        here = folder.resolve()
        return {f"file://{BOX}/": "", f"file://{here}/": "", f"{BOX}/": "", f"{here}/": ""}


# One pipeline for software in every language (check it, build it, start it, use it), and the toolchain of pages.


class Toolchain(Protocol):
    """How one software is checked, built and started, after the language that it is in. A `Finding` is what a rule of
    `rules.yaml` has to say of it."""

    @property
    def typed_command(self) -> str | None:
        """What a person types to start it, as a pattern, up to the arguments; None where nobody types a command."""

    @property
    def windows(self) -> bool:
        """Whether it opens windows, so that nobody types anything."""

    def check(self) -> Finding | None:
        """What stands in the way, as far as that is known before anything of it runs."""

    def build(self, folder: Path) -> Finding | None:
        """Make it ready in `folder`, a copy of it that passed `check`; what stands in the way."""

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """How a start in `folder`, where it is built, went: nobody looks, and only its text is typed. With `ends` the
        input is over after that; otherwise whoever types may type more."""

    def drive(self, folder: Path, steps: Sequence[Step]) -> Driven | None:
        """How it went when somebody did these steps in `folder`, where it is built: in its window, on its page, or with
        requests to what it serves; without steps, how it looks. None where nobody can use it so."""

    def own_tests(self, folder: Path) -> OwnTests | None:
        """How the tests that it brings go in `folder`, where it is built; None where there are none."""

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """The job that starts it for a person, built in `folder`, a copy of `source`. Raises ToolError, with the
        reason, when it cannot be started."""


def toolchain_of(context: ToolContext) -> Toolchain:
    """The toolchain for the software of `context`: that of Python where there is any, else that of its language."""
    if language := language_of(context.software):
        return (PageToolchain if language.page else TableToolchain)(context, language)
    return PythonToolchain(context) if has_python(context.software) else NoToolchain(context)


class NoToolchain:
    """Implements `Toolchain` for software that nothing here can start."""

    typed_command: str | None = None
    windows = False

    def __init__(self, context: ToolContext) -> None:
        self._files = context.software
        self._rule = "library" if is_given(context) else "nothing_to_run"

    def check(self) -> Finding:
        """Its language, where that is known, or that there is nothing."""
        if names := unsupported_languages(self._files):
            runnable = ["Python", *(language.name for language in languages())]
            return Finding("unsupported_language", {"names": names, "runnable": runnable})
        return Finding(self._rule, {"candidates": (), "files": len(self._files), "imported": ()})

    def build(self, folder: Path) -> Finding:
        """As `check`."""
        return self.check()

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """As `check`."""
        return self.check()

    def drive(self, folder: Path, steps: Sequence[Step]) -> None:
        """None."""

    def own_tests(self, folder: Path) -> None:
        """None."""

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """Raises ToolError."""
        raise ToolError(f"{source} holds no Python program to start")


@dataclass(frozen=True, slots=True)
class BuiltSoftware:
    """Software that was built once, to be copied for every trial of it."""

    folder: Path
    scratch: Path

    @contextlib.contextmanager
    def copy(self, files: Mapping[str, str]) -> Iterator[Path]:
        """A fresh copy with these files beside the software's, which is gone afterwards."""
        with explain_os_errors("make a throwaway copy in", self.scratch):
            folder = Path(tempfile.mkdtemp(dir=self.scratch))
        try:
            with explain_os_errors("make a throwaway copy in", self.scratch):
                shutil.copytree(self.folder, folder, symlinks=True, dirs_exist_ok=True)
            for name, text in files.items():
                with contextlib.suppress(WorkspaceError):  # the software has a folder where its user's file belongs
                    write_file(folder, name, text.encode("utf-8", "replace"))
            yield folder
        finally:
            remove_folder(folder)


@contextlib.contextmanager
def build_and_start(toolchain: Toolchain, context: ToolContext) -> Iterator[tuple[Finding, BuiltSoftware | None]]:
    """The first finding of check, build and start, and the software as it was built, None where it was not. What starts
    is a copy of that, so that it can be tried further as if nobody had used it."""
    if finding := toolchain.check():
        yield finding, None
        return
    with throwaway_copy(context.scratch, context.software) as folder:
        if finding := toolchain.build(folder):
            yield finding, None
            return
        built = BuiltSoftware(folder, context.scratch)
        with built.copy({}) as copy:
            finding = toolchain.start(copy, Start())
        yield finding, built


def judge(toolchain: Toolchain, context: ToolContext) -> Finding:
    """The first finding of check, build and start."""
    with build_and_start(toolchain, context) as (finding, _):
        return finding


# The toolchain of pages: a browser opens one, and its console and its document are judged.

_DOCTYPE = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<!doctype[^>]*>)?", re.IGNORECASE)
_LOADED = re.compile(r"""<(?:script\b[^>]{0,999}?\bsrc|link\b(?=[^>]{0,999}\bstylesheet\b)[^>]{0,999}?\bhref)"""
                     r"""\s{0,99}=\s{0,99}["']?([^"'\s>]+)""", re.IGNORECASE)
_FOREIGN = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_QUERY = re.compile(r"[?#].*")
_CONSOLE = re.compile(r':CONSOLE:(?P<line>\d{1,9})\] "(?P<message>.{0,2000}?)", source: (?P<source>\S*+) \(\d+\)$',
                      re.MULTILINE | re.DOTALL)
_ERROR = re.compile(r"Uncaught|Access to .* blocked by CORS policy", re.DOTALL)
_UNSEEN = re.compile(r"<(?P<tag>script|style|template|noscript)\b|<!--", re.IGNORECASE)
_UNSEEN_ENDS = {tag: re.compile(rf"</{tag}\s*+>", re.IGNORECASE) for tag in ("script", "style", "template", "noscript")}
_COMMENT_ENDS = re.compile("-->")
_BODY, _BODY_ENDS = re.compile(r"<body\b", re.IGNORECASE), re.compile("</body>", re.IGNORECASE)
_MOST_ERRORS = 5
_ASKS = "asks for input"
"""The error of a page that wants something typed, as the preamble of the table has it thrown."""


class PageToolchain(TableToolchain):
    """Implements `Toolchain` for a page: there is nothing to type, and nothing ends by itself."""

    @property
    def typed_command(self) -> str | None:
        """None: nobody types a command to a page."""
        return None

    def start(self, folder: Path, start: Start, *, ends: bool = False) -> Finding:
        """How the page opened. Nothing is typed."""
        seconds = self._language.seconds
        execution = self._sandbox.run(self._project.start_job(folder, seconds))
        log = stable_text(execution.stderr, self._places(folder))
        finding = judge_page(execution, log, self._project.files, self._project.entry.path or "")
        facts = {"command": "", "seconds": int(seconds), **finding.facts}
        return self._add_evidence(Finding(finding.rule, facts), execution)

    def drive(self, folder: Path, steps: Sequence[Step]) -> Driven | None:
        """How it went when somebody did these steps on the page as it was written; None without a browser for that."""
        path = self._project.entry.path
        return drive_page(self._sandbox, folder, path, self._project.files[path], steps) if path else None

    def play(self, folder: Path, source: Path) -> SandboxJob:
        """Pages are shown by the person's own browser: raises ToolError with the address."""
        if path := self._project.entry.path:
            raise ToolError(f"the software is a page: open {(source / path).resolve()} in a browser")
        return super().play(folder, source)

    def _obstacle(self) -> Finding | None:
        path = self._project.entry.path
        if path and (missing := missing_files(self._project.files, path)):
            return Finding("missing_file", {"missing": missing})
        return super()._obstacle()

    def _additions(self) -> dict[str, bytes]:
        """What a page needs that nobody looks at, too."""
        path = self._project.entry.path
        preamble = self._language.page.replace("{asks}", _ASKS)
        opened = {path: insert_preamble(self._project.files[path], preamble)} if path else {}
        return {**super()._additions(), **opened}


def insert_preamble(document: bytes, preamble: str) -> bytes:
    """The document with `preamble` in its first line, behind the doctype, so that all lines keep their numbers."""
    end = _DOCTYPE.match(document)
    place = end.end() if end else 0
    return document[:place] + preamble.strip().encode() + document[place:]


def missing_files(files: Mapping[str, bytes], path: str) -> list[str]:
    """The scripts and style sheets that the page at `path` loads from the software, which has no such files."""
    folder = posixpath.dirname(path)
    local = [unquote(_QUERY.sub("", url)) for url in _loaded_urls(files, path) if not _FOREIGN.match(url)]
    return [name for name in local if posixpath.normpath(posixpath.join(folder, name)) not in files]


def judge_page(execution: Execution, stderr: str, files: Mapping[str, bytes], path: str) -> Finding:
    """The finding on the page at `path`; `stderr` is the browser's log with paths of the software relative to it."""
    errors = _errors(stderr, files)
    if errors:
        return _failure(errors, [url for url in _loaded_urls(files, path) if _FOREIGN.match(url)])
    if execution.exceeded:
        return Finding("exceeded", {"exceeded": execution.exceeded})
    if execution.timed_out:
        return Finding("never_loaded")
    if execution.exit_status != 0:
        return Finding("browser_failed", {"ending": execution.exit_status or execution.signal})
    return Finding("empty_page" if _is_empty(execution) else "page_opened")


def _failure(errors: list[SourceError], foreign: list[str]) -> Finding:
    if errors[0].message.endswith(f"Error: {_ASKS}"):
        return Finding("asks_for_input")
    if foreign and "is not defined" in errors[0].message:
        return Finding("missing_module", {"missing": foreign, "errors": errors})
    return Finding("script_failed", {"errors": errors})


def _loaded_urls(files: Mapping[str, bytes], path: str) -> list[str]:
    return _LOADED.findall(files[path].decode("utf-8", errors="replace"))


def _errors(stderr: str, files: Mapping[str, bytes]) -> list[SourceError]:
    """The first uncaught errors on the console."""
    said: list[Mapping[str, Any]] = [match.groupdict() for match in _CONSOLE.finditer(stderr)]
    return [_source_error(entry, files) for entry in said if _ERROR.match(entry["message"])][:_MOST_ERRORS]


def _source_error(entry: Mapping[str, str], files: Mapping[str, bytes]) -> SourceError:
    path, line = unquote(entry["source"]), int(entry["line"])
    lines = files.get(path, b"").decode("utf-8", errors="replace").splitlines()
    source = lines[line - 1].strip()[:200] if 0 < line <= len(lines) else ""
    return SourceError(path, line, entry["message"], source)


def _is_empty(execution: Execution) -> bool:
    """Whether the document shows nothing; one that was too long to be kept whole surely shows something."""
    return not execution.truncated and not _body_of(_visible_part(execution.stdout)).strip()


def _visible_part(document: str) -> str:
    """The document without scripts, styles and comments. An end that is missing once is not looked for again."""
    kept, place, missing = list[str](), 0, set[re.Pattern[str]]()
    start = _UNSEEN.search(document)
    while start:
        ends = _UNSEEN_ENDS[start["tag"].lower()] if start["tag"] else _COMMENT_ENDS
        end = None if ends in missing else ends.search(document, start.end())
        if end is None:
            missing.add(ends)
        else:
            kept.append(document[place:start.start()])
            place = end.end()
        start = _UNSEEN.search(document, end.end() if end else start.end())
    return "".join((*kept, document[place:]))


def _body_of(document: str) -> str:
    """What stands between the first `<body>` and the last `</body>`; empty when it has none."""
    *_, end = (None, *_BODY_ENDS.finditer(document))
    start = _BODY.search(document)
    inside = document.find(">", start.end()) + 1 if start else 0
    return document[inside:end.start()] if inside and end else ""
