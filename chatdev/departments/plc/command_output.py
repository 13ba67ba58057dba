"""What the commands of `chatdev plc` take, read and print (lines as compilers write them, JSON)."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import interrupted_status
from chatdev.cli.shared_options import read_text_file
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize, scrub

if TYPE_CHECKING:
    from chatdev.departments.plc.project import SourceProject
    from chatdev.departments.plc.source_check import SourceCheck, SourceProof
    from chatdev.departments.plc.source_run import SourceRun
    from chatdev.departments.plc.st.core import Dialect
    from chatdev.departments.plc.st.diagnostics import Diagnostic
    from chatdev.departments.plc.unit_tests import UnitTestResult


def as_json(data: Any) -> str:
    """The data for machines."""
    return scrub(json.dumps(data, ensure_ascii=False, indent=1))


def diagnostic_lines(file: Path, check: SourceCheck) -> list[str]:
    """A line for each diagnostic, which editors and CI find the place by."""
    return note_lines(file, check.diagnostics)


def note_lines(file: Path, notes: Sequence[Diagnostic]) -> list[str]:
    """The same for diagnostics alone."""
    return [f"{file}:{one.span.line}:{one.span.column}: {one.severity}: {one.message}"
            f"{f' ({one.hint})' if one.hint else ''}" for one in notes]


def mended_lines(file: Path, mended: Sequence[Diagnostic]) -> list[str]:
    """A line for each diagnostic that was mended."""
    return [f"{file}:{one.span.line}:{one.span.column}: mended: {one.message}" for one in mended]


def check_data(file: Path, check: SourceCheck) -> dict[str, Any]:
    """A check, for JSON."""
    return {"file": str(file), "ok": not check.errors, "entry": check.entry,
            "variables": [asdict(one) for one in check.variables], "assertions": list(check.assertions),
            "diagnostics": [_diagnostic(one) for one in check.diagnostics]}


def proof_data(project: SourceProject, proof: SourceProof) -> dict[str, Any]:
    """A proof, for JSON: all that was asked, with its verdict and the cycles that show it."""
    from chatdev.departments.plc.project import place_check
    from chatdev.departments.plc.report.listing import describe_property

    found = []
    for number, one in enumerate(proof.outcomes, 1):
        data = asdict(one)
        asked = data.pop("asked")
        cycles = [cycle | {"changed": dict(cycle["changed"]), "lines": _lines(project, cycle["lines"])}
                  for cycle in data.pop("cycles")]
        found.append({"number": number, "asked": describe_property(one.asked, project.name_line), **asked, **data,
                      "cycles": cycles, "contradicted": one.is_contradicted})
    verdict = proof.verdict if proof.outcomes or not proof.check.errors else None
    checks = place_check(project, proof.check)
    return files_data(checks) | {"verdict": verdict, "options": asdict(proof.options),
                                 "dialect": asdict(proof.dialect), "properties": found}


def files_data(checks: Mapping[Path, SourceCheck]) -> dict[str, Any]:
    """The checks of a program's files, for JSON: of one as itself, of several as `files`."""
    every = [check_data(file, check) for file, check in checks.items()]
    return every[0] if len(every) == 1 else {"files": every}


def _lines(project: SourceProject, lines: Sequence[int]) -> list[int] | list[str]:
    """Lines that ran: their numbers, of several files with the file."""
    return list(lines) if project.is_plain else [project.name_line(line) for line in lines]


def run_data(project: SourceProject, seen: SourceRun, dialect: Dialect) -> dict[str, Any]:
    """A run, for JSON."""
    from chatdev.departments.plc.unit_tests import problems_of

    return {"file": str(project.files[0]), "files": [str(file) for file in project.files], "dialect": asdict(dialect),
            "passed": seen.passed, "columns": [column.name for column in seen.trace.columns],
            "rows": [[_json_value(value) for value in row] for row in seen.trace.rows],
            "milliseconds": seen.milliseconds, "lines": [_lines(project, ran) for ran in seen.lines],
            "problems": list(problems_of(project, seen))}


def result_data(one: UnitTestResult) -> dict[str, Any]:
    """How a test ended, for JSON."""
    return {"name": one.name, "file": str(one.file), "line": one.line, "passed": one.passed,
            "failures": list(one.failures), "error": one.error}


def _json_value(value: Any) -> Any:
    """JSON has no infinity and no NaN: as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _diagnostic(one: Diagnostic) -> dict[str, Any]:
    return {"line": one.span.line, "column": one.span.column, "end_line": one.span.end_line,
            "end_column": one.span.end_column, "severity": one.severity, "code": one.code, "message": one.message,
            "hint": one.hint, "fix": asdict(one.fix) if one.fix else None}


# The files that are read: one that cannot be read spoils no other.


def read_files(paths: Sequence[Path], libraries: Sequence[Path] = ()) -> SourceProject:
    """The program in these files, for a command that needs all of it. Raises ConfigError for what cannot be read; what
    else is to be said of a file's form is said on standard error."""
    from chatdev.departments.plc.project import read_project

    project = read_project(paths, libraries)
    unreadable = [f"program: {one.message}" if str(file) in one.message else f"program: {file}: {one.message}"
                  f"{f' ({one.hint})' if one.hint else ''}" for file in project.files if file in project.unreadable
                  for one in project.notes[file] if one.severity == "error"]
    if unreadable:
        raise ConfigError("\n".join(unreadable))
    return project


def tell_notes(project: SourceProject) -> None:
    """Say on standard error what is to be said of the files' form."""
    for file, notes in project.notes.items():
        for line in note_lines(file, notes):
            click.echo(sanitize(line), err=True)


def read_noting(file: Path, what: str) -> str:
    """The text of a table or list, which need not be UTF-8; that it is not is said on standard error. Raises
    ConfigError."""
    from chatdev.departments.plc.source_file import NoText, decode_source

    try:
        return read_text_file(file, what)
    except ConfigError as refused:
        try:
            data = file.read_bytes() if file.is_file() else None
        except OSError:
            data = None
        if data is None:
            raise
        try:
            found = decode_source(data)
        except NoText as error:
            raise ConfigError(f"{what}: {file}: {error}") from refused
    for line in note_lines(file, found.notes):
        click.echo(sanitize(line), err=True)
    return found.text


# What the commands take.

Command = Callable[..., Any]
ChooseDialect = Callable[["SourceProject"], "Dialect"]

entry_option = click.option("--entry", metavar="NAME",
                            help="The PROGRAM or FUNCTION_BLOCK that runs in every scan. [default: the PROGRAM, else "
                                 "the last block that no other one uses]")
json_option = click.option("--json", "form", flag_value="json", default="text", help="Print one JSON object.")
_sarif_option = click.option("--sarif", "form", flag_value="sarif", help="Print SARIF, for code hosts and editors.")


verifier_option = click.option("--with", "verifier", type=click.Choice(["plcverif-cli"]),
                               help="Ask this verifier (PLCverif) for a second opinion on each property, if it is on "
                                    "the PATH with nuXmv or cbmc. It runs in the sandbox.")
with_option = click.option("--with", "compilers", multiple=True, type=click.Choice(["iec2c", "iec2iec", "plc"]),
                           help="Ask this compiler, too, if it is on the PATH: matiec (iec2c, iec2iec) or RuSTy (plc). "
                                "It runs in the sandbox.")


library_option = click.option("--library", "libraries", multiple=True, type=click.Path(path_type=Path), metavar="PATH",
                              help="Files or a folder of a library that the program uses; may be given several times.")


def cycle_option(told: str) -> Callable[[Command], Command]:
    """Add `--cycle-ms`, with what it is by default."""
    return click.option("--cycle-ms", type=click.IntRange(1, 2**31 - 1), metavar="N",
                        help=f"Milliseconds from one scan to the next. [default: {told}]")


def _read_defines(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    from chatdev.departments.plc.st.core import Dialect

    try:
        return Dialect(defines=names).defines
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def dialect_options(command: Command) -> Command:
    """Add what is chosen of the language, as `choose`: the dialect of a program, by what its files are where the user
    does not say it."""
    @wraps(command)
    def collect(*, kind: Any, mod_zero: Any, defines: tuple[str, ...], allows_missing: bool, **given: Any) -> Any:
        from chatdev.departments.plc.st.core import Dialect

        def choose(project: SourceProject) -> Dialect:
            stubs = tuple(name.lower() for name in project.graphical)
            return Dialect(kind or project.dialect, mod_zero, defines, allows_missing, stubs=stubs)

        return command(choose=choose, **given)

    extended: Command = collect
    for add in (
        click.option("--mod-zero", type=click.Choice(["fault", "zero"]), default="fault", show_default=True,
                     help="What x MOD 0 is: a run-time fault, or 0 as in IEC 61131-3."),
        click.option("--dialect", "kind", type=click.Choice(["iec", "codesys", "twincat", "siemens"]),
                     help="Whose language it is; docs/plc.md tells what differs. [default: twincat for its objects, "
                          "siemens for .scl, codesys for .EXP, else iec]"),
        click.option("--allow-missing", "allows_missing", is_flag=True,
                     help="Take names of libraries that are not there for stubs, of which nothing is known."),
        click.option("--define", "defines", multiple=True, metavar="NAME", callback=_read_defines,
                     help="Let `{IF defined (NAME)}` hold; may be given several times. Nothing else is defined."),
    ):
        extended = add(extended)
    return extended


turns_option = click.option("--most-turns", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True,
                            metavar="N", help="More turns of a loop in one scan are a run-time fault.")


def form_options(command: Command) -> Command:
    """Add `--json` and `--sarif`, as `form`."""
    return json_option(_sarif_option(command))


_READ = ("paths", "libraries", "properties", "tables", "requirement")  # options whose files are watched
_SETTLE, _PAUSE = 0.2, 0.5  # seconds without a change before a file counts as written; between two looks


def watch_option(command: Command) -> Command:
    """Add `--watch`: the command again whenever one of its files changes, until Ctrl-C."""
    @wraps(command)
    def collect(*, watches: bool, **given: Any) -> Any:
        if not watches:
            return command(**given)
        read = ((value if isinstance(value, tuple) else (value,)) for name, value in given.items() if name in _READ)
        files = [one for value in read for one in value if one]
        while True:
            seen = _look_at(files)
            status = _run_once(command, given)
            try:
                changed = _await_change(files, seen)
            except KeyboardInterrupt:
                sys.exit(status)
            now = datetime.now().astimezone()
            click.echo(click.style(f"\n{now:%H:%M:%S}  {sanitize(changed)} has changed", dim=True))

    return click.option("--watch", "watches", is_flag=True,
                        help="Do it again whenever a file changes, until Ctrl-C.")(collect)


def _run_once(command: Command, given: Mapping[str, Any]) -> Any:
    """The exit code of a command, which has said why; where Ctrl-C ended it, that is the end."""
    try:
        command(**given)
    except SystemExit as ended:
        if ended.code == interrupted_status():
            raise
        return ended.code
    return 0


def _look_at(files: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """When each file was written and how long it is; of a folder the files of programs in it."""
    from chatdev.departments.plc.project import ENDINGS

    found = {}
    for named in files:
        inside = (one for one in named.rglob("*") if one.suffix.lower() in ENDINGS) if named.is_dir() else [named]
        for file in inside:
            with suppress(OSError):
                state = file.stat()
                found[file] = state.st_mtime_ns, state.st_size
    return found


def _await_change(files: Sequence[Path], seen: Mapping[Path, tuple[int, int]]) -> str:
    """Wait until a file has changed, and then until none is being written; its name."""
    while (now := _look_at(files)) == seen:
        time.sleep(_PAUSE)
    while True:
        time.sleep(_SETTLE)
        if (later := _look_at(files)) == now:
            different = sorted(str(file) for file in {*seen, *now} if seen.get(file) != now.get(file))
            return different[0] + (f" and {len(different) - 1} more" if len(different) > 1 else "")
        now = later


def proof_options(command: Command) -> Command:
    """Add PATH and what a proof takes, as `paths`, `libraries`, `properties`, `entry`, `options` and `choose`."""
    @wraps(command)
    def collect(*, seconds: float, most_k: int, cycle_ms: int | None, overflow: bool, most_turns: int,
                **given: Any) -> Any:
        from chatdev.departments.plc.source_check import ProofOptions

        return command(options=ProofOptions(seconds, most_k, cycle_ms, overflow, most_turns), **given)

    extended: Command = dialect_options(collect)
    for add in (
        click.option("--overflow", is_flag=True, help="Integers may not overflow, either."),
        turns_option,
        cycle_option("the task's, else any from 1 to 1000"),
        click.option("--most-k", type=click.IntRange(1, 1000), default=30, show_default=True, metavar="K",
                     help="How many scans are looked at."),
        click.option("--seconds", type=click.FloatRange(min=0.1, max=86_400), default=10.0, show_default=True,
                     help="What each property may take."),
        entry_option,
        click.option("--properties", type=click.Path(path_type=Path), metavar="JSON",
                     help="A list of properties, in the form of PLCverif's patterns (docs/plc.md)."),
        library_option,
        click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH..."),
    ):
        extended = add(extended)
    return extended


def refuse_entry(checks: Iterable[SourceCheck]) -> None:
    """Raise ConfigError where the routine of `--entry` is not there: the option is wrong, not the program."""
    for check in checks:
        for one in check.diagnostics:
            if one.code == "no-such-entry":
                raise ConfigError(f"--entry: {one.message}{f' ({one.hint})' if one.hint else ''}")
