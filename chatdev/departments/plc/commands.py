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
    mended_lines,
    note_encoding,
    proof_data,
    proof_options,
    read_noting,
    read_source,
    read_sources,
    refuse_entry,
    run_data,
    run_problems,
    turns_option,
    verifier_option,
    with_option,
)
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.departments.plc.source_check import ProofOptions, SourceCheck, SourceProof
    from chatdev.departments.plc.source_file import SourceText
    from chatdev.departments.plc.source_run import SourceRun
    from chatdev.departments.plc.st.core import Dialect
    from chatdev.sandbox.base import Sandbox

UNDECIDED = 7
"""Exit code of `verify` and `explain` where something is neither proved nor refuted."""
_STATUS = {"PROVED": 0, "VIOLATED": 1, "BOUNDED": UNDECIDED, "UNKNOWN": UNDECIDED}


@click.group("plc")
def command() -> None:
    """Check, run and verify PLC programs in Structured Text (IEC 61131-3). No model is called."""


@command.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@entry_option
@with_option
@click.option("--fix", "mends", is_flag=True,
              help="First mend in FILE what is certainly meant otherwise: a missing `;`, `=` for `:=`, an END_ that "
                   "ends nothing.")
@dialect_options
@form_options
@report_outcome
def check(files: tuple[Path, ...], entry: str | None, compilers: tuple[str, ...], mends: bool, dialect: Dialect,
          form: str) -> int:
    """Say what is wrong in each FILE, as `file:line:column: error: …`. Exits with 1 if there are errors (warnings are
    none), with 2 if a FILE cannot be read; the others are checked all the same."""
    from chatdev.departments.plc.report.sarif import check_sarif
    from chatdev.departments.plc.source_check import check_source

    sources, checks = read_sources(files)
    is_whole = not checks
    if mends:
        sources = {file: _mend(file, entry, dialect) for file in sources}
    checks |= {file: note_encoding(check_source(source.text, entry, dialect), source)
               for file, source in sources.items()}
    checks = {file: checks[file] for file in files}
    refuse_entry(checks.values())
    if compilers:
        _ask_compilers(compilers, sources, checks)
    if form == "sarif":
        click.echo(as_json(check_sarif(checks)))
    elif form == "json":
        click.echo(as_json({"dialect": asdict(dialect),
                            "files": [check_data(file, one) for file, one in checks.items()]}))
    else:
        _show_checks(checks)
    return int(any(map(_has_errors, checks.values()))) if is_whole else 2


def _has_errors(check: SourceCheck) -> bool:
    return bool(check.errors)


def _mend(file: Path, entry: str | None, dialect: Dialect) -> SourceText:
    """Mend a file, which keeps its encoding, line ends and byte order mark, and say on standard error what was
    mended."""
    from chatdev.departments.plc.source_check import mend_source
    from chatdev.departments.plc.source_file import decode_source

    source = decode_source(file.read_bytes())  # as it stands there
    found = mend_source(source.written, entry, dialect=dialect)
    if found.source != source.written:
        write_file(file, found.source.encode(source.encoding))
    for line in mended_lines(file, found.mended):
        click.echo(sanitize(line), err=True)
    return replace(source, written=found.source)


def _ask_compilers(names: Sequence[str], sources: Mapping[Path, SourceText],
                   checks: dict[Path, SourceCheck]) -> None:
    """Add what other compilers say to the checks."""
    from chatdev.departments.plc.adapters.verifiers import ask_compiler

    sandbox = _find_sandbox()
    for file, source in sources.items():
        said = tuple(one for name in names for one in ask_compiler(name, source.text, sandbox))
        checks[file] = replace(checks[file], diagnostics=checks[file].diagnostics + said)


def _find_sandbox() -> Sandbox:
    from chatdev.config.settings import user_settings
    from chatdev.sandbox.kinds import find_sandbox

    return find_sandbox(user_settings().sandbox or "bubblewrap")


def _show_checks(checks: Mapping[Path, SourceCheck]) -> None:
    for file, found in checks.items():
        for line in diagnostic_lines(file, found):
            click.echo(sanitize(line))
        if not found.errors:
            click.echo(f"{click.style('OK', fg='green')} {sanitize(f'{file}: {found.entry}')}")


@command.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--inputs", type=click.Path(path_type=Path), metavar="CSV",
              help="A column for each input, a row for each scan; an empty cell keeps the value. Columns of other "
                   "variables say what is expected. `CYCLE_TIME()` is the time of a scan.")
@click.option("--cycles", type=click.IntRange(1, 100_000), metavar="N",
              help="This many scans. [default: as many as CSV has rows; without CSV 20]")
@cycle_option(default=100)
@turns_option
@entry_option
@click.option("--out", type=click.Path(path_type=Path), metavar="CSV",
              help="Where the trace is written. [default: standard output]")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.png|FILE.svg", help="Draw the signals.")
@click.option("--signals", metavar="A,B,C", help="Draw these, in this order.")
@dialect_options
@json_option
@report_outcome
def run(file: Path, inputs: Path | None, cycles: int | None, cycle_ms: int, entry: str | None, dialect: Dialect,
        form: str, **written: Any) -> int:
    """Run FILE scan by scan. Exits with 1 after a run-time fault, an `//#ASSERT` that does not hold, or a value that is
    not as expected."""
    from chatdev.departments.plc.simulation.trace import WrongTrace
    from chatdev.departments.plc.source_check import SourceRefused
    from chatdev.departments.plc.source_run import simulate_source

    out, plot, signals = written["out"], written["plot"], written["signals"]
    picture = _picture_form(plot)
    source = read_noting(file, "program")
    try:
        seen = simulate_source(source, entry, _read_table(inputs), cycle_ms, cycles, dialect=dialect,
                               most_turns=written["most_turns"])
    except SourceRefused as error:
        raise ConfigError(f"{file}: {error}") from None
    except WrongTrace as error:
        raise ConfigError(f"{inputs or '--cycles'}: {error}") from None
    if plot:
        _draw(seen, plot, picture, signals)
    if form == "json":
        click.echo(as_json(run_data(file, seen, dialect)))
    elif out:
        write_file(out, seen.csv)
    else:
        click.echo(sanitize(seen.csv), nl=False)
    for line in run_problems(file, seen):
        click.echo(sanitize(line), err=True)
    return 0 if seen.passed else 1


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


@command.command("verify")
@proof_options
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html|FILE.md", help="Write a report.")
@click.option("--requirement", type=click.Path(path_type=Path), metavar="FILE", help="A text for the report.")
@verifier_option
@form_options
@report_outcome
def verify(file: Path, report: Path | None, requirement: Path | None, verifier: str | None, form: str,
           **asked: Any) -> int:
    """Prove or refute properties of FILE, and that it has no run-time fault. Exits with 1 if FILE has errors or
    something is VIOLATED, with 7 if all else is not PROVED, or a second opinion contradicts."""
    from chatdev.departments.plc.report.sarif import proof_sarif

    ending = report.suffix.lower().removeprefix(".") if report else "md"
    if ending not in ("html", "md"):
        raise ConfigError(f"--report: {report} is neither a .html nor a .md file; give it one of these endings")
    text = read_text_file(requirement, "--requirement") if requirement else ""
    ask = _find_verifier(verifier)
    proof = ask(_prove(file, **asked))
    if report:
        _write_report(proof, file, report, text)
    if form == "sarif":
        click.echo(as_json(proof_sarif(file, proof)))
    elif form == "json":
        click.echo(as_json(proof_data(file, proof)))
    else:
        _show_verdicts(file, proof)
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
def explain(file: Path, number: int | None, form: str, **asked: Any) -> int:
    """Show the run behind each verdict that has one: what changed in every cycle, and which lines of FILE ran. Exits as
    `verify` does."""
    from chatdev.departments.plc.report.listing import list_explanation

    proof = _prove(file, **asked)
    if number and proof.outcomes and number > len(proof.outcomes):
        raise ConfigError(f"--property: there is no property {number}; there are {len(proof.outcomes)}")
    if form == "json":
        click.echo(as_json(proof_data(file, proof)))
        return _status(proof)
    chosen = [(at, one) for at, one in enumerate(proof.outcomes, 1) if number in (None, at)]
    shown = [list_explanation(at, one, proof) for at, one in chosen if one.cycles]
    if shown:
        click.echo(sanitize("\n\n".join(shown)))
    else:
        _show_verdicts(file, proof)
        click.echo("there is no run to show")
    return _status(proof)


def _prove(file: Path, properties: Path | None, entry: str | None, options: ProofOptions, dialect: Dialect
           ) -> SourceProof:
    from chatdev.departments.plc.source_check import WrongProperties, prove_source

    source = read_source(file)
    asked = read_noting(properties, "--properties") if properties else ""
    if properties and not asked.strip():
        raise ConfigError(f"{properties}: the file is empty; it holds a JSON list of properties")
    try:
        proof = prove_source(source.text, entry, asked, options, dialect)
        refuse_entry([proof.check])
        return replace(proof, check=note_encoding(proof.check, source))
    except WrongProperties as error:
        raise ConfigError("\n".join(f"{properties}: {line}" for line in str(error).splitlines())) from None


def _find_verifier(name: str | None) -> Callable[[SourceProof], SourceProof]:
    """What adds another verifier's opinion to a proof; it has to be there before the work begins."""
    from chatdev.departments.plc.adapters.verifiers import ask_verifier, find_verifier

    return partial(ask_verifier, find_verifier(name), sandbox=_find_sandbox()) if name else lambda proof: proof


def _show_verdicts(file: Path, proof: SourceProof) -> None:
    from chatdev.departments.plc.report.listing import list_verdicts

    for line in diagnostic_lines(file, proof.check):
        click.echo(sanitize(line))
    if proof.outcomes:
        click.echo(sanitize(list_verdicts(proof)))
    elif not proof.check.errors:
        click.echo("nothing is asked, and the program owes nothing; give --properties")


def _status(proof: SourceProof) -> int:
    return 1 if proof.check.errors else _STATUS[proof.verdict]
