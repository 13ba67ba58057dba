"""`chatdev plc`: Structured Text is checked, run and proved, without any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import read_text_file, write_file
from chatdev.departments.plc.command_output import (
    as_json,
    check_data,
    cycle_option,
    diagnostic_lines,
    dialect_options,
    entry_option,
    form_options,
    json_option,
    library_option,
    mended_lines,
    note_lines,
    proof_data,
    proof_options,
    read_files,
    read_noting,
    refuse_entry,
    result_data,
    run_data,
    tell_notes,
    turns_option,
    verifier_option,
    watch_option,
    with_option,
)
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.departments.plc.command_output import ChooseDialect
    from chatdev.departments.plc.project import SourceProject
    from chatdev.departments.plc.source_check import ProofOptions, SourceCheck, SourceProof
    from chatdev.departments.plc.source_file import SourceText
    from chatdev.departments.plc.source_run import SourceRun
    from chatdev.departments.plc.st.core import Dialect
    from chatdev.departments.plc.unit_tests import UnitTestResult
    from chatdev.sandbox.base import Sandbox

UNDECIDED = 7
"""Exit code of `verify` and `explain` where something is neither proved nor refuted."""
_STATUS = {"PROVED": 0, "VIOLATED": 1, "BOUNDED": UNDECIDED, "UNKNOWN": UNDECIDED}


@click.group("plc")
def command() -> None:
    """Check, run and verify PLC programs in Structured Text (IEC 61131-3). No model is called."""


@command.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@library_option
@click.option("--each", is_flag=True, help="Every file is a program by itself.")
@entry_option
@with_option
@click.option("--fix", "mends", is_flag=True,
              help="First mend in each file what is certainly meant otherwise: a missing `;`, `=` for `:=`, an END_ "
                   "that ends nothing. Files of XML are left as they are.")
@dialect_options
@form_options
@watch_option
@report_outcome
def check(paths: tuple[Path, ...], libraries: tuple[Path, ...], each: bool,  # noqa: PLR0913 - options of a command
          entry: str | None, compilers: tuple[str, ...], mends: bool, choose: ChooseDialect, form: str) -> int:
    """Say what is wrong in each PATH, as `file:line:column: error: …`. Several files, a folder, or a project of
    TwinCAT (.plcproj) are one program. Exits with 1 if there are errors (warnings are none), with 2 if a file cannot
    be read; the others are checked all the same."""
    from chatdev.departments.plc.project import read_project

    project = read_project(paths, libraries)
    dialect = choose(project)
    if mends:
        for file, source in project.plain_files():
            _mend(file, source, entry, dialect)
        project = read_project(paths, libraries)
    checks = _check_files(project, libraries, each, entry, dialect)
    refuse_entry(checks.values())
    if compilers:
        _ask_compilers(compilers, project, checks)
    if form == "sarif":
        from chatdev.departments.plc.report.sarif import check_sarif

        click.echo(as_json(check_sarif(checks)))
    elif form == "json":
        click.echo(as_json({"dialect": asdict(dialect),
                            "files": [check_data(file, one) for file, one in checks.items()]}))
    else:
        _show_checks(checks, each)
    return 2 if project.unreadable else int(any(one.errors for one in checks.values()))


def _check_files(project: SourceProject, libraries: Sequence[Path], each: bool, entry: str | None, dialect: Dialect
                 ) -> dict[Path, SourceCheck]:
    from chatdev.departments.plc.project import check_project, read_project
    from chatdev.departments.plc.source_check import SourceCheck

    if not each:
        checks = check_project(project, entry, dialect)
        is_right = not any(one.errors for one in checks.values())
        return _check_tests(project, checks, dialect) if is_right and project.has_tests else checks
    alone = [read_project([file], libraries) for file in project.containers if file in project.own]
    found = {file: one for single in alone for file, one in check_project(single, entry, dialect).items()}
    unread = {file: SourceCheck("", tuple(project.notes[file])) for file in project.files if file not in found}
    return {file: (found | unread)[file] for file in (*project.files, *found)}


def _check_tests(project: SourceProject, checks: dict[Path, SourceCheck], dialect: Dialect) -> dict[Path, SourceCheck]:
    """The checks of a program without errors, with what is to be said of its tests."""
    from chatdev.departments.plc.unit_tests import check_blocks

    for file, one in check_blocks(project, dialect):
        checks[file] = replace(checks[file], diagnostics=(*checks[file].diagnostics, one))
    return checks


def _mend(file: Path, source: SourceText, entry: str | None, dialect: Dialect) -> None:
    """Mend a file, which keeps its encoding, line ends and byte order mark, and say on standard error what was
    mended."""
    from chatdev.departments.plc.source_check import mend_source

    found = mend_source(source.written, entry, dialect=dialect)
    if found.source != source.written:
        write_file(file, found.source.encode(source.encoding))
    for line in mended_lines(file, found.mended):
        click.echo(sanitize(line), err=True)


def _ask_compilers(names: Sequence[str], project: SourceProject, checks: dict[Path, SourceCheck]) -> None:
    """Add what other compilers say of each file of plain text to the checks."""
    from chatdev.departments.plc.adapters.verifiers import ask_compiler

    sandbox = _find_sandbox()
    for file, source in project.plain_files():
        said = tuple(one for name in names for one in ask_compiler(name, source.text, sandbox))
        checks[file] = replace(checks[file], diagnostics=checks[file].diagnostics + said)


def _find_sandbox() -> Sandbox:
    from chatdev.config.settings import user_settings
    from chatdev.sandbox.kinds import find_sandbox

    return find_sandbox(user_settings().sandbox or "bubblewrap")


def _show_checks(checks: Mapping[Path, SourceCheck], each: bool) -> None:
    """A line for each finding and each good file; of a program of several files, what it is at the end."""
    for file, found in checks.items():
        for line in diagnostic_lines(file, found):
            click.echo(sanitize(line))
        if not found.errors:
            entry = f": {found.entry or f'a library of {found.contents}'}" if each or len(checks) == 1 else ""
            click.echo(f"{click.style('OK', fg='green')} {sanitize(f'{file}{entry}')}")
    if each or len(checks) == 1:
        return
    wrong = sum(bool(one.errors) for one in checks.values())
    whole = next(iter(checks.values()))
    entry = whole.entry or f"a library of {whole.contents}"
    click.echo(sanitize(f"{wrong} of {len(checks)} files have errors" if wrong else f"{len(checks)} files: {entry}"))


@command.command("run")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@library_option
@click.option("--inputs", type=click.Path(path_type=Path), metavar="CSV",
              help="A column for each input, a row for each scan; an empty cell keeps the value. Columns of other "
                   "variables say what is expected. `CYCLE_TIME()` is the time of a scan.")
@click.option("--cycles", type=click.IntRange(1, 100_000), metavar="N",
              help="This many scans. [default: as many as CSV has rows; without CSV 20]")
@cycle_option("the task's, else 100")
@turns_option
@entry_option
@click.option("--out", type=click.Path(path_type=Path), metavar="CSV",
              help="Where the trace is written. [default: standard output]")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.png|FILE.svg", help="Draw the signals.")
@click.option("--signals", metavar="A,B,C", help="Draw these, in this order.")
@dialect_options
@json_option
@report_outcome
def run(paths: tuple[Path, ...], libraries: tuple[Path, ...], inputs: Path | None,  # noqa: PLR0913 - options
        cycles: int | None, cycle_ms: int | None, entry: str | None, choose: ChooseDialect, form: str, **written: Any
        ) -> int:
    """Run the program in PATH scan by scan. Exits with 1 after a run-time fault, an `//#ASSERT` that does not hold, or
    a value that is not as expected."""
    from chatdev.departments.plc.unit_tests import problems_of

    out, plot, signals = written["out"], written["plot"], written["signals"]
    picture = _picture_form(plot)
    project = read_files(paths, libraries)
    dialect = choose(project)
    tell_notes(project)
    seen = _simulate(project, entry, inputs, dialect, cycle_ms=cycle_ms or project.cycle_ms, cycles=cycles,
                     most_turns=written["most_turns"])
    if plot:
        _draw(seen, plot, picture, signals)
    if form == "json":
        click.echo(as_json(run_data(project, seen, dialect)))
    elif out:
        write_file(out, seen.csv)
    else:
        click.echo(sanitize(seen.csv), nl=False)
    for line in problems_of(project, seen):
        click.echo(sanitize(line), err=True)
    return 0 if seen.passed else 1


def _simulate(project: SourceProject, entry: str | None, inputs: Path | None, dialect: Dialect, **options: Any
              ) -> SourceRun:
    from chatdev.departments.plc.simulation.trace import WrongTrace
    from chatdev.departments.plc.source_check import SourceRefused
    from chatdev.departments.plc.source_run import simulate_source

    entry = entry or project.entry or None
    try:
        return simulate_source(project.text, entry, _read_table(inputs), dialect=dialect, **options)
    except SourceRefused as error:
        raise ConfigError(f"{project.files[0]}: {_first_error(project, entry, dialect) or error}") from None
    except WrongTrace as error:
        raise ConfigError(f"{inputs or '--cycles'}: {error}") from None


def _first_error(project: SourceProject, entry: str | None, dialect: Dialect) -> str:
    """Where a program of several files has its first error; empty for one file, whose lines are the reader's."""
    from chatdev.departments.plc.project import check_project

    if project.is_plain:
        return ""
    checks = check_project(project, entry, dialect)
    found = next((line for file, one in checks.items() for line in note_lines(file, one.errors)), "")
    return f"the program has errors, the first one is {found}" if found else ""


def _read_table(inputs: Path | None) -> str:
    table = read_noting(inputs, "--inputs") if inputs else ""
    if inputs and not table.strip():
        raise ConfigError(f"{inputs}: the file is empty; its first line names inputs, and each line below is a scan")
    return table


def _picture_form(plot: Path | None) -> str:
    form = plot.suffix.lower().removeprefix(".") if plot else "svg"
    if form not in ("png", "svg"):
        raise ConfigError(f"--plot: {plot} is neither a .png nor a .svg file; give it one of these endings")
    return form


def _draw(seen: SourceRun, plot: Path, form: str, signals: str | None) -> None:
    from chatdev.departments.plc.report.run_plot import plot_run

    try:
        picture = plot_run(seen, form, signals.split(",") if signals else ())  # type: ignore[arg-type]
    except ValueError as error:
        raise ConfigError(f"--plot: {error}") from None
    write_file(plot, picture)


@command.command("test")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@library_option
@click.option("--table", "tables", multiple=True, type=click.Path(path_type=Path), metavar="CSV",
              help="A run with expected values, as `run --inputs` takes it; may be given several times.")
@cycle_option("the task's, else 100")
@turns_option
@entry_option
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE.xml", help="Write the results as JUnit's XML.")
@dialect_options
@json_option
@watch_option
@report_outcome
def test(paths: tuple[Path, ...], libraries: tuple[Path, ...], tables: tuple[Path, ...],  # noqa: PLR0913 - options
         cycle_ms: int | None, most_turns: int, entry: str | None, junit: Path | None, choose: ChooseDialect, form: str
         ) -> int:
    """Run the tests of the program in PATH: its TEST blocks, and each table. Exits with 1 if one fails, with 2 if one
    cannot be run, or there is none."""
    from chatdev.departments.plc.unit_tests import blocks_of, junit_report, run_block, run_table

    project = read_files(paths, libraries)
    dialect = choose(project)
    tell_notes(project)
    cycle = cycle_ms or project.cycle_ms
    results = [run_block(block, number, project, dialect, most_turns)
               for number, block in enumerate(blocks_of(project), 1)]
    results += [run_table(file, _read_table(file), project, entry or project.entry or None, cycle, dialect, most_turns)
                for file in tables]
    if not results:
        raise ConfigError(f"{paths[0]}: no test; write `TEST 'name' … END_TEST` in a file, or give --table FILE.csv")
    if junit:
        write_file(junit, junit_report(results, str(paths[0])))
    if form == "json":
        click.echo(as_json({"dialect": asdict(dialect), "tests": list(map(result_data, results))}))
    else:
        _show_tests(results)
    return 2 if any(one.error for one in results) else int(any(one.failures for one in results))


def _show_tests(results: Sequence[UnitTestResult]) -> None:
    for one in results:
        word = "ok" if one.passed else "FAILED" if one.failures else "ERROR"
        place = sanitize(f"{one.name} ({one.file}:{one.line})")
        click.echo(f"{click.style(word, fg='green' if one.passed else 'red')} {place}")
        for line in (one.error,) if one.error else one.failures:
            click.echo(sanitize(f"   {line}"))
    failed = sum(not one.passed for one in results)
    click.echo(f"{len(results) - failed} of {len(results)} tests passed")


@command.command("export")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE.xml|FOLDER",
              help="A file of PLCopen XML, or a folder for TwinCAT's objects.")
@dialect_options
@report_outcome
def export(paths: tuple[Path, ...], out: Path, choose: ChooseDialect) -> int:
    """Write the program in PATH for other engineering tools. It is checked first; exits with 1 if it has errors."""
    from chatdev.departments.plc.export import write_plcopen, write_twincat
    from chatdev.departments.plc.project import check_project
    from chatdev.departments.plc.source_parts import NotWritable

    project = read_files(paths)
    checks = check_project(project, project.entry or None, choose(project))
    if any(one.errors for one in checks.values()):
        _show_checks(checks, each=False)
        return 1
    entry = next((one.entry for one in checks.values()), "")
    try:
        if out.suffix.lower() == ".xml":
            files = {out: write_plcopen(project.text, paths[0].stem, entry, project.cycle_ms)}
        else:
            files = {out / name: text for name, text in write_twincat(project.text, entry, project.cycle_ms).items()}
    except NotWritable as error:
        raise ConfigError(f"{paths[0]}: {error}") from None
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(file, text)
    click.echo(f"{out}: {len(files)} file{'s' * (len(files) > 1)}" if len(files) > 1 else f"{next(iter(files))}")
    return 0


@command.command("verify")
@proof_options
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html|FILE.md", help="Write a report.")
@click.option("--requirement", type=click.Path(path_type=Path), metavar="FILE", help="A text for the report.")
@verifier_option
@form_options
@watch_option
@report_outcome
def verify(paths: tuple[Path, ...], libraries: tuple[Path, ...], report: Path | None, requirement: Path | None,
           verifier: str | None, form: str, **asked: Any) -> int:
    """Prove or refute properties of the program in PATH, and that it has no run-time fault. Exits with 1 if it has
    errors or something is VIOLATED, with 7 if all else is not PROVED, or a second opinion contradicts."""
    from chatdev.departments.plc.project import place_check
    from chatdev.departments.plc.report.sarif import proof_sarif

    ending = report.suffix.lower().removeprefix(".") if report else "md"
    if ending not in ("html", "md"):
        raise ConfigError(f"--report: {report} is neither a .html nor a .md file; give it one of these endings")
    text = read_text_file(requirement, "--requirement") if requirement else ""
    ask = _find_verifier(verifier)
    project = read_files(paths, libraries)
    proof = ask(_prove(project, **asked))
    if report:
        _write_report(proof, paths[0], report, text)
    if form == "sarif":
        click.echo(as_json(proof_sarif(place_check(project, proof.check), proof, project.find,
                                        asked["properties"])))
    elif form == "json":
        click.echo(as_json(proof_data(project, proof)))
    else:
        _show_verdicts(project, proof)
        if report:
            click.echo(f"report: {report}")
    return _status(proof)


def _write_report(proof: SourceProof, file: Path, report: Path, requirement: str) -> None:
    from chatdev.departments.plc.report.verification_report import write_report

    form = report.suffix.lower().removeprefix(".")
    text = write_report(proof, form, title=file.name, requirement=requirement)  # type: ignore[arg-type]
    write_file(report, text)


@command.command("explain")
@proof_options
@click.option("--property", "number", type=click.IntRange(min=1), metavar="N",
              help="Only of the one with this number in the table of `verify`.")
@json_option
@report_outcome
def explain(paths: tuple[Path, ...], libraries: tuple[Path, ...], number: int | None, form: str, **asked: Any) -> int:
    """Show the run behind each verdict that has one: what changed in every cycle, and which lines of PATH ran. Exits as
    `verify` does."""
    from chatdev.departments.plc.report.listing import list_explanation

    project = read_files(paths, libraries)
    proof = _prove(project, **asked)
    if number and proof.outcomes and number > len(proof.outcomes):
        raise ConfigError(f"--property: there is no property {number}; there are {len(proof.outcomes)}")
    if form == "json":
        click.echo(as_json(proof_data(project, proof)))
        return _status(proof)
    chosen = [(at, one) for at, one in enumerate(proof.outcomes, 1) if number in (None, at)]
    shown = [list_explanation(at, one, proof, project.name_line) for at, one in chosen if one.cycles]
    if shown:
        click.echo(sanitize("\n\n".join(shown)))
    else:
        _show_verdicts(project, proof)
        click.echo("there is no run to show")
    return _status(proof)


def _prove(project: SourceProject, properties: Path | None, entry: str | None, options: ProofOptions,
           choose: ChooseDialect) -> SourceProof:
    from chatdev.departments.plc.source_check import WrongProperties, prove_source

    asked = read_noting(properties, "--properties") if properties else ""
    if properties and not asked.strip():
        raise ConfigError(f"{properties}: the file is empty; it holds a JSON list of properties")
    if options.cycle_ms is None and project.cycle_ms:
        options = replace(options, cycle_ms=project.cycle_ms)
    try:
        proof = prove_source(project.text, entry or project.entry or None, asked, options, choose(project),
                             project.places)
    except WrongProperties as error:
        raise ConfigError("\n".join(f"{properties}: {line}" for line in str(error).splitlines())) from None
    refuse_entry([proof.check])
    return proof


def _find_verifier(name: str | None) -> Callable[[SourceProof], SourceProof]:
    """What adds another verifier's opinion to a proof; it has to be there before the work begins."""
    from chatdev.departments.plc.adapters.verifiers import ask_verifier, find_verifier

    return partial(ask_verifier, find_verifier(name), sandbox=_find_sandbox()) if name else lambda proof: proof


def _show_verdicts(project: SourceProject, proof: SourceProof) -> None:
    from chatdev.departments.plc.project import place_check
    from chatdev.departments.plc.report.listing import list_verdicts

    for file, check in place_check(project, proof.check).items():
        for line in diagnostic_lines(file, check):
            click.echo(sanitize(line))
    if proof.outcomes:
        click.echo(sanitize(list_verdicts(proof, project.name_line)))
    elif not proof.check.errors:
        click.echo("nothing is asked, and the program owes nothing; give --properties")


def _status(proof: SourceProof) -> int:
    return 1 if proof.check.errors else _STATUS[proof.verdict]
