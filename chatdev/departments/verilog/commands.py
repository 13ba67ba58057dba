"""`chatdev verilog`: modules are compiled, linted, simulated, judged, traced and compared, without any model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import write_file
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize

if TYPE_CHECKING:
    from chatdev.departments.verilog.compilation import Message
    from chatdev.departments.verilog.design_files import DesignFiles
    from chatdev.tools.base import Verdict

UNJUDGED = 7
"""Exit code where nothing that was run says whether the module is right."""
_LIMITS = ("tool_limitation", "unsupported")  # outcomes that say something of the simulator, not of the module


@click.group("verilog")
def command() -> None:
    """Check, lint, simulate, judge and trace modules in Verilog and SystemVerilog. No model is called."""


Command = Callable[..., Any]
_IN_LISTS = {"macros": "-D", "includes": "-I", "libraries": "-y"}
"""Options as lists have them, too."""


def _design_options(command: Command, takes_waves: bool = False) -> Command:
    """Add what a design is made of, as `design`; or the path of a waveform in its place."""
    @wraps(command)
    def collect(*, files: tuple[str, ...], lists: tuple[Path, ...], top: str | None, simulator: str, **given: Any
                ) -> Any:
        from chatdev.departments.verilog.design_files import read_design_files

        words = [f"{option}{one}" for name, option in _IN_LISTS.items() for one in given.pop(name)]
        if takes_waves and _is_waveform(files):
            return command(design=Path(files[0]), **{name: given[name] for name in ("out", "signals")})
        if takes_waves and given.get("bench") is None:
            raise ConfigError("--bench: give the test bench that is run, or one waveform (.vcd, .fst) instead of FILE")
        design = read_design_files([*words, *files], lists, top, given.get("bench"), given.get("reference", ()),
                                   simulator, use_environment=given.pop("env"))
        return command(design=design, **{name: value for name, value in given.items()
                                         if name not in ("bench", "reference")})

    extended: Command = collect
    for add in (
        click.option("--simulator", type=click.Choice(["icarus", "verilator"]), default="icarus", show_default=True,
                     help="What compiles and runs it."),
        click.option("--top", metavar="MODULE", help="The module that is looked at. [default: the one that the bench "
                                                     "tests, else that of the first FILE which no other one uses]"),
        click.option("--env", is_flag=True, help="Let lists use variables of the environment ($ROOT/rtl/a.v)."),
        click.option("-y", "libraries", multiple=True, metavar="DIR",
                     help="Take modules that no file has from DIR/NAME.sv and DIR/NAME.v (+libext+.v: others)."),
        click.option("-I", "includes", multiple=True, metavar="DIR", help="Look for headers there, too (+incdir+DIR)."),
        click.option("-D", "macros", multiple=True, metavar="NAME[=VALUE]",
                     help="Define a macro (+define+NAME=VALUE)."),
        click.option("-f", "lists", multiple=True, type=click.Path(path_type=Path), metavar="FILE.f",
                     help="A list of files and options, as simulators take it."),
        click.argument("files", nargs=-1, metavar="FILE..."),
    ):
        extended = add(extended)
    return extended


def _is_waveform(files: Sequence[str]) -> bool:
    from chatdev.departments.verilog.waveform.recorded import ENDINGS

    return len(files) == 1 and files[0].lower().endswith(ENDINGS)


_bench_option = click.option("--bench", type=click.Path(path_type=Path), required=True, metavar="TB",
                             help="A test bench that says by itself what fails: Verilog, or a module of cocotb (.py).")
_reference_option = click.option("--reference", multiple=True, type=click.Path(path_type=Path), metavar="REF",
                                 help="A right module (RefModule, or of the same name) that it is compared with; given "
                                      "again for each file of its parts.")
_junit_option = click.option("--junit", type=click.Path(path_type=Path), metavar="FILE.xml",
                             help="Write the result as JUnit's XML.")
_json_option = click.option("--json", "form", flag_value="json", default="text", help="Print one JSON object.")
_sarif_option = click.option("--sarif", "form", flag_value="sarif", help="Print SARIF, for code hosts and editors.")


@command.command("check")
@report_outcome
@_design_options
@_json_option
@_sarif_option
def check(design: DesignFiles, form: str) -> int:
    """Compile the module alone, and say what is wrong as `file:line: error: …`. Exits with 1 if there are errors."""
    from chatdev.departments.verilog.library import messages_of

    messages = messages_of(design)
    return _tell_messages(design, messages, form, any(one.severity == "error" for one in messages))


@command.command("lint")
@report_outcome
@_design_options
@click.option("--strict", is_flag=True, help="Also tell what is a matter of style: unused inputs, `case` without "
                                             "`default`, registers without a reset, `=` in clocked blocks.")
@_json_option
@_sarif_option
def lint(design: DesignFiles, strict: bool, form: str) -> int:
    """The same, with what compiles and is most often a mistake: latches, loops, signals that nothing drives, races; of
    all files. Exits with 1 if anything is said."""
    from chatdev.departments.verilog.library import messages_of

    messages = messages_of(design, lints="strict" if strict else "usual")
    return _tell_messages(design, messages, form, bool(messages))


@command.command("simulate")
@report_outcome
@_design_options
@_bench_option
@_reference_option
@_json_option
@_junit_option
def simulate(design: DesignFiles, form: str, junit: Path | None) -> int:
    """Run the bench, and say what it reports of each output. Exits with 1 if it fails, with 7 if it says nothing."""
    from chatdev.departments.verilog.judge import simulate as run
    from chatdev.departments.verilog.library import verdict_of

    return _tell_verdict(design, verdict_of(design, run), form, junit)


@command.command("judge")
@report_outcome
@_design_options
@_bench_option
@_reference_option
@_json_option
@_junit_option
def judge(design: DesignFiles, form: str, junit: Path | None) -> int:
    """Run the bench, and compare with the reference's own run: other samples, other random inputs, outputs that the
    bench does not look at. Exits as `simulate`."""
    from chatdev.departments.verilog.judge import judge as run
    from chatdev.departments.verilog.library import verdict_of

    return _tell_verdict(design, verdict_of(design, run), form, junit)


@command.command("trace")
@report_outcome
@_design_options
@_bench_option
@_reference_option
@click.option("--levels", type=click.IntRange(1, 12), default=3, show_default=True, help="How far to go back.")
@click.option("--output", "outputs", multiple=True, metavar="NAME",
              help="Only this output; may be given several times.")
@_json_option
def trace(design: DesignFiles, levels: int, outputs: tuple[str, ...], form: str) -> int:
    """Name the lines that gave a wrong output its value, and show the signals before the first mismatch. Exits as
    `simulate`."""
    from chatdev.departments.verilog.library import trace_of

    return _tell_verdict(design, trace_of(design, levels, list(outputs) or None), form)


@command.command("equivalent")
@report_outcome
@_design_options
@click.option("--reference", multiple=True, type=click.Path(path_type=Path), required=True, metavar="REF",
              help="The module that it is to do the same as; given again for each file of its parts.")
@_json_option
def equivalent(design: DesignFiles, form: str) -> int:
    """Prove by Yosys that the module does what REF does for all inputs, or show inputs for which it does not. Exits
    with 0 (proved), 1 (it differs) or 7 (not decided)."""
    from chatdev.departments.verilog.equivalence import equivalent as run
    from chatdev.departments.verilog.library import verdict_of

    return _tell_verdict(design, verdict_of(design, run), form)


@command.command("wave")
@report_outcome
@partial(_design_options, takes_waves=True)
@click.option("--bench", type=click.Path(path_type=Path), metavar="TB", help="The test bench that is run.")
@_reference_option
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="FILE.vcd|FILE.svg",
              help="All signals (.vcd, and beside it a .gtkw for GTKWave and a .sucl for Surfer, which open the traced "
                   "ones), or a picture of the ports and the traced signals (.svg).")
@click.option("--signals", metavar="NAME,NAME", help="Inner signals to show instead of the traced ones.")
def wave(design: DesignFiles | Path, out: Path, signals: str | None) -> int:
    """Run the bench, and keep what was recorded; or show what was recorded elsewhere, where FILE is a waveform (.vcd,
    .fst). Exits with 1 where nothing was recorded."""
    from chatdev.departments.verilog.library import draw_recorded, draw_to, verdict_of

    names = [one.strip() for one in (signals or "").split(",") if one.strip()]
    if isinstance(design, Path):
        written = draw_recorded(design, out, signals=names)
    elif not (written := draw_to(design, out, names)):
        from chatdev.departments.verilog.judge import simulate as run

        _tell_verdict(design, verdict_of(design, run), "text")
        return 1
    for file in written:
        click.echo(sanitize(str(file)))
    return 0


def _tell_messages(design: DesignFiles, messages: Sequence[Message], form: str, is_bad: bool) -> int:
    if form == "json":
        _print_json({"top": design.target.top, "ok": not is_bad, "messages": [asdict(one) for one in messages]})
    elif form == "sarif":
        _print_json(_sarif(messages))
    else:
        for one in messages:
            click.echo(sanitize(str(one)))
        if not is_bad:
            click.echo(f"{click.style('OK', fg='green')} {sanitize(f'{design.file}: {design.target.top}')}")
    return int(is_bad)


def _sarif(messages: Sequence[Message]) -> dict[str, Any]:
    from chatdev.version import __version__

    results = [{"ruleId": one.severity, "level": one.severity, "message": {"text": one.text}, "locations": [
        {"physicalLocation": {"artifactLocation": {"uri": Path(one.file).as_posix()},
                              "region": {"startLine": max(1, one.line)}}}]} for one in messages]
    driver = {"name": "chatdev verilog", "version": __version__,
              "rules": [{"id": name} for name in sorted({one.severity for one in messages})]}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "results": results}]}


def _tell_verdict(design: DesignFiles, verdict: Verdict, form: str, junit: Path | None = None) -> int:
    if junit:
        write_file(junit, (_junit_of_tests if verdict.evidence.get("tests") else _junit)(design, verdict))
    if form == "json":
        _print_json({"top": design.target.top, **verdict.to_dict()})
    else:
        click.echo(sanitize(verdict.report))
    is_limit = verdict.evidence.get("outcome") in _LIMITS
    if is_limit and design.target.simulator == "icarus":
        click.echo("Verilator takes more of the language: --simulator verilator", err=True)
    return UNJUDGED if is_limit or not verdict.judged else int(not verdict.passed)


def _junit(design: DesignFiles, verdict: Verdict) -> str:
    """A test for each output, or one where the bench names none."""
    from chatdev.cli.junit import JunitCase, junit_text

    counts = {name: one["count"] for name, one in (verdict.evidence.get("outputs") or {}).items()}
    if not any(counts.values()) and not verdict.passed:
        counts = {design.target.top: "some"}
    skipped = "" if verdict.judged else "nothing that was run says whether it is right"
    top = design.target.top
    return junit_text(str(design.file), [
        JunitCase(name, top, f"{count} mismatches\n{verdict.report}" if count and verdict.judged else "",
                  skipped=skipped) for name, count in (counts or {top: 0}).items()])


def _junit_of_tests(design: DesignFiles, verdict: Verdict) -> str:
    """Those of a bench in Python."""
    from chatdev.cli.junit import JunitCase, junit_text

    tests, top = verdict.evidence["tests"].items(), design.target.top
    return junit_text(str(design.file), [
        JunitCase(name, top, said) if verdict.judged else JunitCase(name, top, skipped=said or "not judged")
        for name, said in tests])


def _print_json(data: Any) -> None:
    from chatdev.safe_text import scrub

    click.echo(scrub(json.dumps(data, ensure_ascii=False, indent=1, default=str)))
