"""`chatdev simulink`: models in the text form are checked, drawn, simulated and compared, without any language model or
MATLAB; and `simulink_check` of `chatdev mcp`."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import click
from pydantic import Field

from chatdev.cli.mcp.served import Served
from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import read_text_file
from chatdev.config.yaml_nodes import Key, Node, descend, parse, place_of, plain
from chatdev.departments.simulink.checks import check_diagram, check_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.difference import compare, meaning_of
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.files.lists import parse_list
from chatdev.departments.simulink.hierarchy import split_path, system_at
from chatdev.departments.simulink.parts import DiagramFinding
from chatdev.errors import ConfigError, MissingProgram
from chatdev.safe_text import escape_json, sanitize
from chatdev.tools.base import tool
from chatdev.workspace.file_tree import explain_os_errors

_MOST_BYTES = 4 << 20
_COLOURS = {"error": "red", "warning": "yellow", "remark": "cyan", "+": "green", "-": "red", "~": "yellow", ">": "cyan"}
_json_option = click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")


@click.group("simulink")
def command() -> None:
    """Check, draw, simulate, compare and convert block diagrams (docs/simulink.md): .yaml (the text form), .slx, .mdl,
    .m, .py, .json. No language model and no MATLAB is needed; FILE may be `-`, the text form on standard input."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """What is found in a file, with the line of each finding; `problem` says why it cannot be read."""

    name: str
    findings: list[tuple[int, DiagramFinding]] = field(default_factory=list)
    about: str = ""
    problem: str = ""

    @property
    def passed(self) -> bool:
        """Whether it could be read and has no error."""
        return not self.problem and not any(one.severity == "error" for _, one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        found = [{"check": one.check, "severity": one.severity, "line": line, "place": one.place, "block": one.block,
                  "parameter": one.parameter, "connection": one.connection, "message": one.message, "fix": one.fix}
                 for line, one in self.findings]
        return {"file": self.name, "ok": self.passed, **({"problem": self.problem} if self.problem else {}),
                "findings": found}


@command.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@_json_option
@report_outcome
def check(files: tuple[Path, ...], is_json: bool) -> int:
    """Say what is wrong in each FILE: a model of any form, or an agent's blocks and connections (YAML or JSON). Exits
    with 1 if there are errors (warnings and remarks are none), with 2 if a FILE cannot be read; the others are checked
    all the same."""
    found = [check_file(file) for file in files]
    if is_json:
        _print_json({"files": [one.to_dict() for one in found]})
    else:
        for one in found:
            _show_check(one)
    return 2 if any(one.problem for one in found) else int(not all(one.passed for one in found))


@tool(name="simulink_check")
def check_for_agents(served: Served, *, file: Annotated[str, Field(
        description="Path of a model (.yaml, the text form; .slx, .mdl, .m, .py), or of a list of blocks and "
                    "connections")]) -> Any:
    """Check a block diagram, without MATLAB: unknown blocks and parameters, ports that are not
    connected, widths that do not fit, algebraic loops. Every finding has its line and the way out."""
    found = check_file(served.find(file))
    return {**found.to_dict(), "file": file, "about": found.about}


def check_file(file: Path) -> CheckedFile:
    """What is wrong in a file, which may be one that cannot be read."""
    if not _is_text_form(file):
        return _check_model(file)
    try:
        text = _read(file)
        node = parse(text, str(file))
        if _is_list_of_systems(node):
            model = parse_list(text, str(file))
            found, about = check_diagram(model), _about(model)
        elif _is_investigation(node):
            found = check_investigation(plain(node))
            about = f"{_length(node, 'blocks')} blocks, {_length(node, 'connections')} connections"
        else:
            model = Diagram.parse(text, str(file))
            found = check_diagram(model)
            about = _about(model)
    except ConfigError as error:
        return CheckedFile(str(file), problem=str(error))
    lines = _Lines(node)
    return CheckedFile(str(file), [(lines.find(one), one) for one in found], about)


def _check_model(file: Path) -> CheckedFile:
    """What is wrong in a file that has no lines of its own for blocks: all is found in line 1."""
    try:
        model = read_model(file)
    except ConfigError as error:
        return CheckedFile(str(file), problem=str(error))
    notes = "".join(f"; {note}" for note in model.notes)
    return CheckedFile(str(file), [(1, one) for one in check_diagram(model.diagram)], _about(model.diagram) + notes)


def _about(model: Diagram) -> str:
    return f"{model.name}, {len(model.blocks)} blocks, {len(model.wires)} lines"


def _is_text_form(file: Path) -> bool:
    """Whether it is read as the text form, or as JSON, with the lines of what is found."""
    return str(file) == "-" or file.suffix.lower() in (".yaml", ".yml", ".json", ".txt", "")


def _load(file: Path, form: str = "") -> ModelFile:
    """The model in a file of any form; what its reader noted is told."""
    if not form and _is_text_form(file) and file.suffix.lower() != ".json":
        return ModelFile(Diagram.parse(_read(file), str(file)))
    if str(file) == "-":
        raise ConfigError("--from: standard input is read as the text form only; hand in a file")
    model = read_model(file, form)
    _tell(model.notes)
    return model


def _is_investigation(node: Node) -> bool:
    return isinstance(node.value, dict) and (
        "connections" in node.value or ("blocks" in node.value and isinstance(node.value["blocks"].value, list)))


def _is_list_of_systems(node: Node) -> bool:
    """Whether it is a list of blocks of which some hold systems."""
    blocks = plain(node).get("blocks") if _is_investigation(node) else None
    return isinstance(blocks, list) and any(isinstance(block, Mapping) and "system" in block for block in blocks)


def _length(node: Node, key: str) -> int:
    value = node.value[key].value if key in node.value else []
    return len(value) if isinstance(value, list) else 0


class _Lines:
    """In which line of a file a finding is."""

    def __init__(self, node: Node) -> None:
        self._node = node
        value = plain(node)
        rows = {key: value.get(key) if isinstance(value, Mapping) else None
                for key in ("blocks", "lines", "connections")}
        self._blocks: dict[str, Key] = {
            str(block.get("name")): number for number, block in enumerate(rows["blocks"])
            if isinstance(block, Mapping)} if isinstance(rows["blocks"], list) else {}
        self._key = "connections" if rows["lines"] is None else "lines"
        connections = rows[self._key]
        self._connections = {_squeeze(text): number for number, text in enumerate(connections)
                             if isinstance(text, str)} if isinstance(connections, list) else {}

    def find(self, finding: DiagramFinding) -> int:
        """The line, from 1."""
        path: tuple[Key, ...] = ()
        if finding.system:
            path = self._inside(finding)
        elif finding.connection:
            number = self._connections.get(_squeeze(finding.connection))
            path = (self._key,) if number is None else (self._key, number)
        elif finding.block:
            path = ("blocks", self._blocks.get(finding.block, finding.block), "parameters", finding.parameter)
        return int(place_of(self._node, path).rpartition(":")[2])


    def _inside(self, finding: DiagramFinding) -> tuple[Key, ...]:
        """Of what is found in a subsystem."""
        path: tuple[Key, ...] = ()
        for name in split_path(finding.system):
            path = (*path, "blocks", name, "system")
        if finding.connection:
            rows = descend(self._node, (*path, "lines"))
            texts = [_squeeze(str(row.value)) for row in rows.value] if rows else []
            wanted = _squeeze(finding.connection)
            return (*path, "lines", texts.index(wanted)) if wanted in texts else (*path, "lines")
        return (*path, "blocks", *split_path(finding.block)[-1:], "parameters", finding.parameter)


def _squeeze(connection: str) -> str:
    """A connection without what a person may write in several ways."""
    return "".join(connection.replace("->", "--").split())


def _show_check(one: CheckedFile) -> None:
    if one.problem:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {sanitize(one.problem)}")
    for line, finding in one.findings:
        severity = click.style(finding.severity, fg=_COLOURS[finding.severity])
        click.echo(f"{_one_line(one.name)}:{line}: {severity}: {finding.check}: "
                   f"{_one_line(f'{finding.place}: {finding.message} ({finding.fix})')}")
    if one.passed:
        click.echo(f"{click.style('OK', fg='green')} {_one_line(f'{one.name}: {one.about}')}")


@command.command("draw")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.svg|FILE.png",
              help="Where the picture goes. [default: standard output, as SVG]")
@click.option("--system", "path", default="", metavar="PATH", help="Draw the system inside of the subsystem at this "
              "path, such as Plant/Motor.")
@report_outcome
def draw(file: Path, out: Path | None, path: str) -> int:
    """Draw the model in FILE as Simulink would show it. Blocks with a position stay there; the others are placed.
    Exits with 4 if a PNG is asked for and nothing is installed that makes one."""
    from chatdev.departments.simulink import painter

    ending = out.suffix.lower() if out else ".svg"
    if ending not in (".svg", ".png"):
        raise ConfigError(f"--out: {out} is neither a .svg nor a .png file; give it one of these endings")
    model = system_at(_load(file).diagram, split_path(path))
    picture = painter.draw_png(model) if ending == ".png" else painter.draw(model).encode()
    if out:
        with explain_os_errors("write", out):
            out.write_bytes(picture)
        click.echo(f"picture: {_one_line(str(out))}", err=True)
    else:
        click.echo(sanitize(picture.decode()), nl=False)
    return 0


@command.command("diff")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option("--meaning", is_flag=True,
              help="Look neither at the places of blocks nor at parameters that say the default.")
@_json_option
@report_outcome
def diff(old: Path, new: Path, meaning: bool, is_json: bool) -> int:
    """Say what changed from the model in OLD to that in NEW: `+` is new, `-` is gone, `~` is otherwise, `>` only moved.
    The order of blocks and lines is no change; physical lines are compared as nets, Goto and From by their tags. Exits
    with 1 if they differ."""
    before, after = _load(old).diagram, _load(new).diagram
    if meaning:
        before, after = meaning_of(before), meaning_of(after)
    found = compare(before, after)
    data, lines = found.to_dict(), found.lines()
    if is_json:
        _print_json({"old": str(old), "new": str(new), "differ": bool(data), **data})
    elif lines:
        click.echo(_one_line(f"--- {old}"))
        click.echo(_one_line(f"+++ {new}"))
        for line in lines:
            click.echo(click.style(_one_line(line), fg=_COLOURS[line[0]]))
    return int(bool(data))


@command.command("run")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE.csv|FILE.mat", help="Where the table goes. "
              "[default: standard output, as CSV]")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE.svg|FILE.png", help="Where a plot goes.")
@click.option("--stop", type=float, metavar="SECONDS", help="The end. [default: StopTime of the model, else 10]")
@click.option("--set", "settings", multiple=True, metavar="BLOCK.PARAMETER=VALUE",
              help="Another value of a parameter, or NAME=VALUE for a variable of the workspace; repeatable.")
@click.option("--input-data", "data", type=click.Path(path_type=Path), metavar="FILE.csv",
              help="What the model's In1 blocks get: a column `time`, and one for each block by its name.")
@click.option("--solver", metavar="NAME", help="auto, ode45, ode23, ode15s, discrete, or fixed-step ode1 to ode5. "
              "[default: Solver of the model, else auto]")
@click.option("--step", type=float, metavar="SECONDS", help="The length of fixed steps.")
@click.option("--tolerance", type=float, metavar="NUMBER", help="The relative tolerance of solvers with variable "
              "steps. [default: RelTol of the model, else 1e-3]")
@_json_option
@report_outcome
def run(file: Path, out: Path | None, plot: Path | None, settings: tuple[str, ...], data: Path | None, is_json: bool,
        **options: Any) -> int:
    """Simulate the model in FILE from 0 s on, and print what its Scopes, outputs and displays get, as CSV: a column for
    each signal, two rows of one time where something jumps. Exits with 2 if the model cannot be simulated (it says
    which blocks have no kernel), with 1 if the simulation fails."""
    simulation = _load_simulation()
    from chatdev.departments.simulink.simulation import table

    for option, path, endings in (("--plot", plot, table.PLOTS), ("--out", out, table.TABLES)):
        if path and path.suffix.lower() not in endings:
            raise ConfigError(f"{option}: {path} is neither a {' nor a '.join(endings)} file; give it one of these "
                              "endings")
    model = _load(file).diagram
    given = simulation.options_of(model, stop=options["stop"], solver=options["solver"], step=options["step"],
                                  relative=options["tolerance"])
    inputs = table.read_inputs(read_text_file(data, "input data"), str(data), model) if data else None
    with _progress(given.stop) as tell:
        results = simulation.simulate(model, given, dict(map(_split_setting, settings)), tell, inputs=inputs)
    _tell(results.notes)
    click.echo(_one_line(f"{model.name}: {results.solver}, {results.steps} steps, {results.events} events"), err=True)
    if out:
        with explain_os_errors("write", out):
            table.write_table(results, out)
    if is_json:
        _print_json({"model": model.name, **table.plain(results, with_rows=not out)})
    elif not out:
        text = io.StringIO()
        table.write_csv(results, text)
        click.echo(sanitize(text.getvalue()), nl=False)
    if plot:
        picture = table.draw_plot(results, plot.suffix.lower())
        with explain_os_errors("write", plot):
            plot.write_bytes(picture)
    for path in (path for path in (out, plot) if path):
        click.echo(f"written: {_one_line(str(path))}", err=True)
    return 0


def _tell(notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"{click.style('note:', fg='cyan')} {_one_line(note)}", err=True)


@command.command("test")
@click.argument("file", type=click.Path(path_type=Path), metavar="MODEL")
@click.option("--acceptance", "wanted", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="What is wanted of its signals (YAML; docs/simulink.md#acceptance-by-numbers).")
@_json_option
@report_outcome
def test(file: Path, wanted: Path, is_json: bool) -> int:
    """Simulate MODEL, and say whether its signals are what FILE wants. Exits with 1 if something does not hold or the
    simulation fails, with 2 if a file cannot be read, the model cannot be simulated, or a signal is not there."""
    from chatdev.departments.simulink.acceptance import NO_SIGNAL, read_acceptance_file
    from chatdev.departments.simulink.experiment import STOP, run_experiment, verdict_of

    acceptance = read_acceptance_file(wanted)
    with _progress(acceptance.stop or STOP) as tell:
        found = run_experiment(_load(file).diagram, acceptance, progress=tell)
    verdict = verdict_of(found)
    is_known = found.outcome in ("simulated", "failed") and not any(one.why == NO_SIGNAL for one in found.judged)
    if is_json:
        _print_json({"model": str(file), "ok": found.passed and is_known, "report": verdict.report, **verdict.evidence})
    else:
        colour, word = ("green", "OK") if found.passed and is_known else ("red", "error:")
        click.echo(f"{click.style(word, fg=colour, bold=not found.passed)} {_one_line(str(file))}: "
                   f"{sanitize(verdict.report)}")
    return int(not found.passed) if is_known else 2


def _load_simulation() -> ModuleType:
    """What simulates, with numpy, scipy and networkx, which no other command needs."""
    try:
        from chatdev.departments.simulink.simulation import solve
    except ImportError as error:
        raise MissingProgram(f"simulating needs {error.name}: pip install 'chatdev-chain[simulink]'") from None
    return solve


def _split_setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"--set: {text!r:.80} sets nothing; write BLOCK.PARAMETER=VALUE")
    return key.strip(), value.strip()


@contextlib.contextmanager
def _progress(stop: float) -> Iterator[Callable[[float], None] | None]:
    """Tells a person at a terminal how far a long run has come; the line is gone at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    told = False

    def tell(time: float) -> None:
        nonlocal told
        told = True
        click.echo(f"\r\x1b[Ksimulating: {time:.6g} of {stop:g} s ({time / stop:.0%})", nl=False, err=True)

    try:
        yield tell
    finally:
        if told:
            click.echo("\r\x1b[K", nl=False, err=True)


@command.command("convert")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", required=True, type=click.Path(path_type=Path), metavar="FILE",
              help="Where it goes: .yaml, .slx, .mdl, .m, .py, .json or .fmu.")
@click.option("--from", "source", metavar="ENDING", default="", help="What FILE is, if its ending does not say that.")
@click.option("--to", "target", metavar="ENDING", default="", help="What --out is, if its ending does not say that.")
@click.option("--fmi", type=click.Choice(["2.0", "3.0"]), default="2.0", show_default=True,
              help="The version of FMI of a .fmu.")
@report_outcome
def convert(file: Path, out: Path, source: str, target: str, fmi: str) -> int:
    """Write the model in FILE in another form, by the ending of --out. A .py has been run in the sandbox, and has built
    the model, before it is written. Exits with 2 for what a form cannot hold."""
    model = _load(file, _ending(source))
    target = _ending(target) or out.suffix.lower()
    if target == ".fmu":
        from chatdev.departments.simulink.files.functional_unit import write_unit

        notes = write_unit(model.diagram, out, fmi)
    else:
        notes = write_model(model, out, target)
    _tell(notes)
    click.echo(f"written: {_one_line(str(out))} ({_one_line(_about(model.diagram))})", err=True)
    return 0


def _ending(form: str) -> str:
    return f".{form.lower().removeprefix('.')}" if form else ""


@command.command("blocks")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@report_outcome
def blocks(names: tuple[str, ...]) -> int:
    """Describe blocks of the catalogue by type, path, alias or the name that their icon shows; without NAME, list all.
    Exits with 1 if a NAME does not mean exactly one block: then it says which are near."""
    from chatdev.departments.simulink.catalogue import block_finder
    from chatdev.departments.simulink.views import describe_blocks, list_names

    click.echo(sanitize(describe_blocks(names) if names else list_names()))
    return int(not all(block_finder().find(name).sure for name in names))


def _read(file: Path) -> str:
    text = read_text_file(file, "model")
    if len(text) > _MOST_BYTES:
        raise ConfigError(f"{file} is longer than {_MOST_BYTES >> 20} MB; make it shorter")
    return text


def _print_json(data: Any) -> None:
    click.echo(escape_json(json.dumps(data, ensure_ascii=False, indent=1)))


def _one_line(text: str) -> str:
    return sanitize(text.replace("\n", "\\n").replace("\r", "\\r"))
