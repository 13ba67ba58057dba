"""VerilogEval v2 (specification to RTL) as a data set: problems, our verdict, that of its own script beside it, and the
command `chatdev eval verilogeval`."""

from __future__ import annotations

import functools
import json
import re
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.shared_options import StudyOptions, running_options, split_names
from chatdev.cli.study_run import StudyPlan, run_study, study_of, variants_by_name
from chatdev.config.phases import Phase
from chatdev.config.schema import CompanyConfig
from chatdev.departments.verilog.answer import NoAnswer, lint, read_answer
from chatdev.departments.verilog.bench import HiddenBench
from chatdev.departments.verilog.equivalence import compare, require_yosys
from chatdev.departments.verilog.judge import judge_answer
from chatdev.departments.verilog.simulation import simulate_unexamined
from chatdev.departments.verilog.target import USUAL
from chatdev.errors import ConfigError
from chatdev.evaluation.measure import Bench, FinishedRun, Row, statistics
from chatdev.evaluation.reporting.study_results import ColumnSet
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant
from chatdev.paths import bundled_table
from chatdev.safe_text import sanitize
from chatdev.sandbox.base import Sandbox
from chatdev.workspace.file_tree import explain_os_errors

KINDS = ("combinational", "sequential", "fsm", "truth_table", "waveform")
_FOLDER, _ERRATA = "dataset_spec-to-rtl", "errata"
_PROMPT, _BENCH, _REFERENCE = "_prompt.txt", "_test.sv", "_ref.sv"
_LARGEST = 1 << 20  # bytes of one file
_COLUMN_SET = "verilog"
_TRACE = "verilog.trace"
_FIRST_LINE_LETTERS = (
    ("syntax error", "S"),
    ("error: This assignment requires an explicit cast", "e"),
    ("error: Sized numeric constant must have a size greater than zero", "0"),
    ("warning: always_comb process has no sensitivities", "n"),
    ("found no sensitivities so it will never trigger", "n"),
    ("is declared here as wire", "w"),
    ("Unknown module type", "m"),
    ("Unable to bind wire/reg/memory `clk'", "c"),
    ("TIMEOUT", "T"),
)
"""The first line of the log that holds one of these decides."""
_ANYWHERE_LETTERS = (("Unable to bind wire/reg", "p"), ("error", "C"))
"""Otherwise the first of these that occurs anywhere."""
_NO_MISMATCH = re.compile(r"^Mismatches: 0 in \d+ samples$", re.MULTILINE)
_RESETS = ("posedge reset", "negedge reset", "posedge r)")

COLUMNS = ColumnSet(
    about="Compiled: the module and the bench make a simulation. Solved: it agrees with the reference at every sample "
          "and does not cheat. Official is the rule of the benchmark's own script, which takes some references for "
          "wrong.",
    metrics=("compiled", "solved", "official"), main="solved", compared=("solved",),
    statistics=("seconds", "tokens", "tool_calls", "cost"),
    further_statistics=("prompt_tokens", "completion_tokens", "calls"), per="solved")


@dataclass(frozen=True, slots=True)
class VerilogProblem:
    """A specification, the hidden bench that an answer must pass, and the reference that the bench compares it with.
    `kind` is one of `KINDS` by our labelling, or empty."""

    name: str
    kind: str
    prompt: str
    bench: str
    reference: str


@dataclass(frozen=True, slots=True)
class VerilogEval:
    """The problems in `path`: a checkout of VerilogEval, its folder `dataset_spec-to-rtl`, or our archive of it. With
    `errata` the corrected files beside it take the place of those of the same name; with `proofs` Yosys says of each
    module whether it is equivalent to the reference."""

    path: Path
    errata: bool = True
    proofs: bool = False
    name: str = "verilogeval"

    def problems(self) -> Sequence[VerilogProblem]:
        """All problems, by name. Raises ConfigError."""
        return tuple(_problems(self.path, self.errata).values())

    def tasks(self) -> Sequence[Task]:
        """Each problem as a task; its area and category are its kind. Raises ConfigError."""
        return [Task(problem.name, problem.kind or "unlabelled", problem.kind or "unlabelled", problem.prompt)
                for problem in self.problems()]

    def inputs(self, task: Task) -> Mapping[str, bytes]:
        """The hidden files."""
        problem = self.problem(task.name)
        return {"bench": problem.bench.encode("utf-8"), "reference": problem.reference.encode("utf-8")}

    def verdict(self, task: Task, folder: Path, bench: Bench) -> Row:
        """What became of the problem: `solved` by our rule, `official` by that of VerilogEval's script, `compiled`
        (each 0 or 1), `outcome` (outcomes.yaml), `letter` (the script's), `mismatches`, `samples`, `kind`, `equivalent`
        (PROVED, DIFFERS or UNKNOWN; "" where nobody asked for proofs) and what the run took. A run that was broken off
        delivered nothing. Blocking; raises JournalError, SandboxError and such."""
        run = FinishedRun.read(folder)
        software = run.software if run.has_delivered else {}
        return {"measures": _COLUMN_SET, "kind": task.category,
                **measure_answer(software, self.problem(task.name), bench.sandbox),
                "equivalent": prove(software, self.problem(task.name), bench.sandbox) if self.proofs else "",
                "tool_calls": run.tool_calls, "model": ", ".join(run.models), "status": run.status,
                "reason": sanitize(run.reason), **statistics(run)}

    def check(self) -> None:
        """Raise MissingProgram without the extra `verilog`, without which no answer is judged; before anything is paid.
        """
        lint("module TopModule; endmodule\n")
        if self.proofs:
            require_yosys()

    def problem(self, name: str) -> VerilogProblem:
        """The problem of that name. Raises ConfigError."""
        problems = _problems(self.path, self.errata)
        if name not in problems:
            raise ConfigError(f"{self.path} has no problem {name!r}; it has {len(problems)}, from {min(problems)} to "
                              f"{max(problems)}")
        return problems[name]


def measure_answer(software: Mapping[str, bytes], problem: VerilogProblem, sandbox: Sandbox) -> Row:
    """What our judge and VerilogEval's script say of the software."""
    try:
        answer = read_answer(software)
    except NoAnswer:
        return {"solved": 0.0, "official": 0.0, "compiled": 0.0, "outcome": "refused", "letter": "?",
                "mismatches": None, "samples": None}
    hidden = HiddenBench(problem.bench, problem.reference)
    with TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch:
        found, _ = judge_answer(answer.text, hidden, sandbox, Path(scratch))
        theirs = found
        if not found.compiled.passed:  # what we refuse may pass there
            (Path(scratch) / "official").mkdir()
            theirs = simulate_unexamined(answer.text, hidden, sandbox, Path(scratch) / "official")
    letter = letter_of(theirs.log, answer.text)
    return {"solved": float(found.passed), "official": float(letter == "."),
            "compiled": float(theirs.compiled.passed), "outcome": found.outcome, "letter": letter,
            "mismatches": found.report.mismatches if found.report else None,
            "samples": found.report.samples if found.report else None}


def prove(software: Mapping[str, bytes], problem: VerilogProblem, sandbox: Sandbox) -> str:
    """Whether the software is equivalent to the reference: PROVED, DIFFERS or UNKNOWN."""
    try:
        answer = read_answer(software)
    except NoAnswer:
        return "UNKNOWN"
    with TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as scratch:
        return compare(answer.text, problem.reference, USUAL, sandbox, Path(scratch) / "proof").finding


@functools.cache
def _problems(path: Path, errata: bool) -> dict[str, VerilogProblem]:
    files = _texts(path, errata)
    names = sorted(name.removesuffix(_PROMPT) for name in files if name.endswith(_PROMPT))
    if not names:
        raise ConfigError(f"{path} holds no problems of VerilogEval; give the folder {_FOLDER} of its repository, with "
                          f"files such as Prob001_zero{_PROMPT}, or a .tar.gz of it")
    for name in names:
        if missing := [end for end in (_BENCH, _REFERENCE) if name + end not in files]:
            raise ConfigError(f"{path}: the problem {name} lacks its file {name}{missing[0]}")
    kinds = _kinds()
    return {name: VerilogProblem(name, kinds.get(name, ""), files[name + _PROMPT], files[name + _BENCH],
                                 files[name + _REFERENCE]) for name in names}


def _kinds() -> dict[str, str]:
    """Name of a problem -> its kind."""
    kinds = bundled_table(Path(__file__).with_suffix(".yaml"))
    return {name: kind for kind in KINDS for name in kinds[kind]}


def _texts(path: Path, errata: bool) -> dict[str, str]:
    """Name of a file -> its text, errata included."""
    if not path.exists():
        raise ConfigError(f"there is no {path}; give the folder {_FOLDER} of VerilogEval's repository, or a "
                          ".tar.gz of it")
    found: dict[str, dict[str, str]] = {_FOLDER: {}, _ERRATA: {}}
    with explain_os_errors("read", path):
        for place, data in _archive_files(path) if path.is_file() else _folder_files(path):
            if place.parent.name in found:
                found[place.parent.name][place.name] = _text(place, data)
    if errata and found[_FOLDER] and not found[_ERRATA]:
        raise ConfigError(f"{path} has no folder {_ERRATA!r}: three problems of VerilogEval cannot be solved as they "
                          "were published. Give benchmarks/data/verilogeval_v2.tar.gz, or take them as they are "
                          "(errata off)")
    return {**found[_FOLDER], **(found[_ERRATA] if errata else {})}


def _archive_files(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                content = archive.extractfile(member) if member.isfile() and member.size <= _LARGEST else None
                if content:
                    yield PurePosixPath(member.name), content.read()
    except (tarfile.TarError, EOFError) as error:
        raise ConfigError(f"{path} is no archive that can be read; give a .tar.gz of VerilogEval, or its folder "
                          f"{_FOLDER}") from error


def _folder_files(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    folder = path if path.name == _FOLDER else path / _FOLDER
    for file in (*folder.glob("*"), *(folder.parent / _ERRATA).glob("*")):
        if file.is_file() and file.stat().st_size <= _LARGEST:
            yield PurePosixPath(file.as_posix()), file.read_bytes()


def _text(place: PurePosixPath, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{place} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None


def official_pass(log: str, source: str = "") -> bool:
    """Whether the script counts the answer as right."""
    return letter_of(log, source) == "."


def letter_of(log: str, source: str = "") -> str:
    """The script's letter for what compiler and simulator printed: S syntax error, e missing cast, 0 number without a
    size, n process that never runs, w assigned wire, m unknown module, c unknown clock, p unknown name, C other error,
    T time-out, r wrong with an asynchronous reset in the `source`, R wrong, . right."""
    for line in log.splitlines():
        for words, letter in _FIRST_LINE_LETTERS:
            if words in line:
                return letter
    for words, letter in _ANYWHERE_LETTERS:
        if words in log:
            return letter
    if _NO_MISMATCH.search(log):
        return "."
    return "r" if any(reset in source for reset in _RESETS) else "R"


def add_tracing_ablations(found: Iterable[Variant]) -> list[Variant]:
    """Each variant, followed by the same one without tracing where its agents have it, and with it where only their
    role has (the ablation of VerilogCoder, arXiv 2408.08927, table 3)."""
    return [each for variant in found for each in (variant, *_tracing_ablation(variant))]


def _tracing_ablation(variant: Variant) -> Iterator[Variant]:
    company = variant.load().config
    allowed = {name: phase for name, phase in company.phases.items() if _TRACE in company.roles[phase.assistant].tools}
    tools = {name: _tools(company, phase) for name, phase in allowed.items()}
    using = {name: _without_trace(names) for name, names in tools.items() if _TRACE in names}
    able = {name: [*names, _TRACE] for name, names in tools.items() if allowed[name].tools}
    if using:
        yield _with_tools(variant, "without tracing", using)
    elif able:
        yield _with_tools(variant, "with tracing", able)


def _without_trace(tools: Sequence[str]) -> list[str]:
    return [tool for tool in tools if tool != _TRACE]


def _tools(company: CompanyConfig, phase: Phase) -> list[str]:
    """What the assistant of a phase may use."""
    return company.roles[phase.assistant].tools if phase.tools is None else phase.tools


def _with_tools(variant: Variant, what: str, tools: dict[str, list[str]]) -> Variant:
    sets = (f"phases.{phase}.tools={json.dumps(names)}" for phase, names in tools.items())
    model = variant.name.removeprefix(variant.short_name)
    return replace(variant, name=f"{variant.short_name} {what}{model}", sets=(*variant.sets, *sets))


# `chatdev eval verilogeval`.


@click.command("verilogeval")
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, metavar="FOLDER_OR_ARCHIVE",
              help="VerilogEval's repository, its folder dataset_spec-to-rtl, or a .tar.gz of it.")
@click.option("--companies", callback=split_names, default="single_verilog,planner1,verilogcoder", show_default=True,
              metavar="A,B,C", help="Names or paths of companies.")
@click.option("--ablations", is_flag=True,
              help="Also each company without waveform tracing or, if it has none, with it.")
@click.option("--problems", callback=split_names, metavar="A,B", help="Only these, e.g. Prob001_zero,Prob050_kmap1.")
@click.option("--kinds", callback=split_names, metavar="A,B", help="Only problems of these kinds, e.g. fsm.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N",
              help="This many problems, spread evenly over the kinds; a greater limit adds more.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which problems a limit takes.")
@click.option("--errata/--as-published", default=True, show_default=True,
              help="Take the corrected files of three problems that nobody can solve as published.")
@click.option("--proofs", is_flag=True, help="Also ask Yosys whether each module is equivalent to the reference.")
@running_options("verilogeval")
@report_outcome
def command(options: StudyOptions, **given: Any) -> int:
    """Run companies on the problems of VerilogEval v2 and judge their modules, by our rule and by its script's.

    Agents get the hidden bench's verdict while they work, as in VerilogCoder. After an interruption, give the same
    command again to continue; `chatdev eval report --study verilogeval` shows the results.
    """
    return run_study(options, lambda: _plan(options, given))


def _plan(options: StudyOptions, given: dict[str, Any]) -> StudyPlan:
    """The variants, the problems and the study. Raises ConfigError."""
    from chatdev.evaluation.study import Conditions
    from chatdev.evaluation.tasks import Selection
    from chatdev.evaluation.variants import variants

    data = VerilogEval(given["data"].absolute(), given["errata"], given["proofs"])
    data.check()
    found = variants(given["companies"], models=options.models, sets=options.sets)
    chosen = variants_by_name(options.only, add_tracing_ablations(found) if given["ablations"] else found)
    named = [data.problem(name).name for name in given["problems"]]
    tasks = [task for task in data.tasks() if not named or task.name in named]
    tasks = Selection(given["kinds"], (), False, given["limit"], given["seed"]).select(tasks)
    return StudyPlan(chosen, tasks, study_of(data, Conditions(install="never"), options))
