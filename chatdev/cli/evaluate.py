"""`chatdev eval`: the commands that measure and compare companies; of its own `judge`, by which a model or a person at
a terminal judges pairs, and `dialogues`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from chatdev.cli.app import OpenGroup
from chatdev.cli.outcome import report_outcome, show_error
from chatdev.cli.shared_options import (
    open_existing_ledger,
    provider_option,
    runs_folder,
    split_names,
    study_options,
    trust_option,
)
from chatdev.config.templates import listing
from chatdev.engine.budget import count_noun, money
from chatdev.errors import ChatDevError, ConfigError
from chatdev.evaluation.judging.judgements import Contender, JudgementFile, Pair, Verdict
from chatdev.evaluation.judging.judges import blind_text, code_files, human_judgement, judge_wording
from chatdev.safe_text import sanitize
from chatdev.workspace.change import withheld_files
from chatdev.workspace.file_tree import explain_os_errors, write_tree

if TYPE_CHECKING:
    from chatdev.evaluation.judging.judgements import Comparison, Judgement, Matches
    from chatdev.evaluation.plots import Dialogues, ObservedKinds


# `chatdev eval judge`: pairs are judged by a model, or by a person at a terminal.

HUMAN = "human"
_LISTED = 10  # runs that have no part in a pair


@click.command("judge")
@click.argument("folders", nargs=-1, metavar="[ONE OTHER]", type=click.Path(path_type=Path))
@study_options
@click.option("--variants", callback=split_names, metavar="A,B",
              help="Variants of the study, every two of which are compared. [default: all]")
@click.option("--judge", "judge", metavar="MODEL|human",
              help="Who judges: a model, or you at this terminal. [default: the default model]")
@provider_option
@click.option("--base-url", help="The judge's endpoint.")
@trust_option
@click.option("--record", type=click.Path(path_type=Path), metavar="FILE", default="judgements.jsonl",
              show_default=True, help="File of the judgements; a question that is in it is not asked again.")
@click.option("--characters", type=click.IntRange(min=1), metavar="N",
              help="How many characters of each program a model is shown. [default: 40000]")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N pairs.")
@click.option("--seed", type=int, default=0, show_default=True, help="Order and sides in which a person sees pairs.")
@click.option("--parallel", type=click.IntRange(min=1), default=8, show_default=True,
              help="How many questions at a time.")
@click.option("--max-cost", type=click.FloatRange(min=0), metavar="USD",
              help="Stop before this model's judgements in the record cost more than this.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N",
              help="Stop before they have used more tokens than this.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparisons as JSON.")
@report_outcome
def judge_command(folders: tuple[Path, ...], **given: Any) -> int:
    """Let a model or a person say whose software is better, task by task.

    The runs are those of a study, or of two folders of runs, ONE and OTHER, matched by their tasks. A model sees every
    pair in both orders and a company wins only when both verdicts prefer it; else it is a tie.
    """
    matches = find_pairs(folders, given)
    made: list[Judgement] = []
    with JudgementFile(given["record"]) as record:
        try:
            if given["judge"] == HUMAN:
                _judge_by_person(matches, record, given, made)
            else:
                _judge_by_model(matches, record, given, made)
        finally:
            _print_comparisons(made, record, as_json=given["as_json"])
    return 0


def _print_comparisons(made: Sequence[Judgement], record: JudgementFile, *, as_json: bool) -> None:
    """Print how companies compare by these judgements, and what their judges took."""
    from chatdev.evaluation.judging.judgements import compare_companies

    found = compare_companies(made)
    if as_json:
        click.echo(json.dumps([{**asdict(one), "rates": rates(one)} for one in found]))
        return
    for comparison in found:
        print_comparison(comparison)
    for judge in dict.fromkeys(judgement.judge for judgement in made if judgement.judge != HUMAN):
        spent = record.expense_of(judge)
        click.echo(sanitize(f"\n{judge} has taken {count_noun(spent.tokens, 'token')}, {money(spent.cost)}, in all"))


def rates(comparison: Comparison) -> dict[str, Any]:
    """The shares of the decided pairs, each with its 95 % interval; None without any."""
    counts = {"wins": comparison.wins, "losses": comparison.losses, "ties": comparison.ties}
    return {name: comparison.rate(count) for name, count in counts.items()}


def print_comparison(comparison: Comparison) -> None:
    """Print a comparison as a small table."""
    click.echo(sanitize(f"\n{comparison.one} and {comparison.other}, judged by {comparison.judge}: "
                        f"{count_noun(comparison.decided_pairs, 'pair')}"))
    names = (f"{comparison.one} wins", f"{comparison.other} wins", "ties")
    wide = max(map(len, names))
    for name, count in zip(names, (comparison.wins, comparison.losses, comparison.ties), strict=True):
        if found := comparison.rate(count):
            share, (low, high) = found
            click.echo(sanitize(f"  {name:<{wide}}  {count:>5}  {share:6.1%}  (95 %: {low:.1%} to {high:.1%})"))
    if comparison.agreed is not None:
        click.echo(f"  both orders agree in {comparison.agreed:.0%} of the pairs")
    if comparison.first_preferred is not None:
        click.echo(f"  the one shown first is preferred in {comparison.first_preferred:.0%} of the verdicts")
    if comparison.unreadable or comparison.unfinished:
        click.echo(f"  not counted: {comparison.unreadable} without a readable verdict, {comparison.unfinished} seen "
                   "in one order only")


def find_pairs(folders: Sequence[Path], given: dict[str, Any]) -> Matches:
    """The pairs; runs that have no part in one are printed."""
    from chatdev.evaluation.judging.judgements import Matches, pairs_of_folders, pairs_of_study

    if len(folders) not in (0, 2):
        raise ConfigError(f"{len(folders)} folders are given; give two, each with the runs of one company, or none and "
                          "the name of a study: --study NAME")
    if folders:
        matches = pairs_of_folders(*folders)
    else:
        ledger = open_existing_ledger(given["ledger_url"], given["study"])
        try:
            runs = runs_folder(given["folder"], given["study"])
            matches = pairs_of_study(ledger.entries("done"), runs, given["variants"])
        finally:
            ledger.close()
    for line in matches.left_out[:_LISTED]:
        click.echo(sanitize(f"left out: {line}"), err=True)
    if (more := len(matches.left_out) - _LISTED) > 0:
        click.echo(f"left out: {more} more", err=True)
    if not matches.found:
        raise ConfigError("there is no pair to judge: no task has finished runs of two companies")
    return Matches(matches.found[:given["limit"]])


def _judge_by_person(matches: Matches, record: JudgementFile, given: dict[str, Any], made: list[Judgement]) -> None:
    from chatdev.evaluation.judging.judges import draw_pairs, human_judgements

    show_pairs(list(draw_pairs(matches.found, record, given["seed"])), record)
    made += human_judgements(matches.found, record)


def _judge_by_model(matches: Matches, record: JudgementFile, given: dict[str, Any], made: list[Judgement]) -> None:
    from tqdm import tqdm

    with tqdm(total=2 * len(matches.found), unit="look", disable=None) as bar:
        def count(judgement: Judgement) -> None:
            made.append(judgement)
            bar.update()

        try:
            asyncio.run(_ask_model(matches, record, given, count))
        except ChatDevError:
            bar.close()
            show_error(f"stopped after {len(made)} of {2 * len(matches.found)} looks; they are kept in "
                       f"{given['record']}, and the same command goes on once this is fixed:")
            raise


async def _ask_model(matches: Matches, record: JudgementFile, given: dict[str, Any],
                     on_judged: Callable[[Judgement], object]) -> None:
    from chatdev.batch.attempt import Allowance
    from chatdev.evaluation.judging.judges import judge_all, open_judge

    async with open_judge(given["judge"], given["base_url"], given["characters"], provider=given["provider"],
                          trust=given["trust"]) as judge:
        await judge_all(judge, matches.found, record, parallel=given["parallel"], on_judged=on_judged,
                        allowance=Allowance(given["max_cost"], given["max_tokens"]))


# Blind pairs at a terminal, and a person's choice.

_VERDICTS: dict[str, Verdict] = {"1": "first", "2": "second", "t": "tie"}
_KEYS = "1 or 2: that one is better, t: tie, l: look at the code, s: skip, q: quit"


def show_pairs(pairs: Sequence[Pair], record: JudgementFile) -> None:
    """Show the pairs one after the other and keep each choice at once. A skipped pair comes again next time; the end
    of the input quits."""
    for number, pair in enumerate(pairs, start=1):
        click.echo(sanitize(f"\nPair {number} of {len(pairs)}. The requirement:\n\n{pair.requirement}\n"))
        with tempfile.TemporaryDirectory(prefix="judge-") as scratch:
            _write_copies(pair, Path(scratch))
            answer = _answer(pair)
        if answer == "quit":
            return
        if answer != "skip":
            asyncio.run(record.add(human_judgement(pair, answer)))  # no loop outlives it: Ctrl-C must reach the prompt


def _write_copies(pair: Pair, scratch: Path) -> None:
    """Put both where they can be tried, under names that do not tell whose they are."""
    for name, contender in (("1", pair.first), ("2", pair.second)):
        folder = scratch / name
        folder.mkdir()
        files, withheld = code_files(contender.software), withheld_files(contender.software)
        write_tree(folder, {path: data for path, data in files.items() if path not in withheld})
        click.echo(f"Try {name} in another terminal:  chatdev play {folder}")


def _answer(pair: Pair) -> Verdict | Literal["skip", "quit"]:
    while True:
        try:
            key = click.prompt(f"{_KEYS}\n", prompt_suffix="> ").strip().lower()
        except click.Abort:
            return "quit"
        if key in _VERDICTS:
            return _VERDICTS[key]
        if key in ("s", "q"):
            return "skip" if key == "s" else "quit"
        if key == "l":
            click.echo_via_pager(f"{_listing('1', pair.first)}\n{_listing('2', pair.second)}")
        else:
            click.echo(sanitize(f"{key!r} is none of these."))


def _listing(name: str, contender: Contender) -> str:
    hidden = judge_wording().hidden
    files = {blind_text(path, hidden): data for path, data in code_files(contender.software).items()}
    text = blind_text(listing(files), hidden) or "(There is no file: nothing was delivered.)"
    return sanitize(f"======== Software {name} ========\n\n{text}\n")


# `chatdev eval dialogues`.

_SHOWN = 12  # transitions; --json has all


@click.command("dialogues")
@click.argument("folders", nargs=-1, required=True, metavar="RUN_FOLDER…", type=click.Path(path_type=Path))
@click.option("--review", "reviews", multiple=True, metavar="PHASE", default=("code_review",), show_default=True,
              help="Phases whose instructor names issues.")
@click.option("--test", "tests", multiple=True, metavar="PHASE", default=("system_test",), show_default=True,
              help="Phases whose tool shows errors.")
@click.option("--plots", "plots_folder", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
              help="Also draw the tables into this folder, as SVG.")
@click.option("--json", "as_json", is_flag=True, help="Print the tables as JSON.")
@report_outcome
def dialogues_command(folders: tuple[Path, ...], reviews: tuple[str, ...], tests: tuple[str, ...],
                      plots_folder: Path | None, as_json: bool) -> int:
    """Show what the dialogues of runs consist of: natural language and code by phase, what reviewers named, what
    tests showed, and what came next.

    A RUN_FOLDER is a run, its journal, or a folder of runs, such as a warehouse.
    """
    from chatdev.evaluation.plots import dialogues

    found = dialogues((run for folder in folders for run in _runs(folder)), reviews, tests)
    click.echo(json.dumps(found.plain(), indent=1) if as_json else sanitize("\n".join(_lines(found, reviews, tests))))
    if plots_folder:
        _draw(found, plots_folder)
    return 0


def _runs(folder: Path) -> list[Path]:
    """The runs in what was given."""
    if folder.is_file() or (folder / "run").is_dir():
        return [folder]
    if runs := [path for path in sorted(folder.glob("*")) if (path / "run").is_dir()]:
        return runs
    if not folder.exists():
        raise ConfigError(f"there is no {folder}; give a run folder, a journal, or a folder of runs")
    raise ConfigError(f"{folder} holds no run; give a run folder, a journal, or a folder of runs")


def _lines(found: Dialogues, reviews: Sequence[str], tests: Sequence[str]) -> Iterator[str]:
    yield f"{count_noun(found.runs, 'run')}. What was said, in characters:"
    for phase, said in found.speech.items():
        share = "" if said.share_of_language is None else f"{said.share_of_language:7.1%} natural language"
        yield f"  {phase:<28} {said.language:>9} + {said.code:>9} code {share}"
    yield from _kinds(f"What reviewers named in {', '.join(reviews)}", found.reviews, "--review")
    yield from _kinds(f"What tests showed in {', '.join(tests)}", found.tests, "--test")


def _kinds(title: str, kinds: ObservedKinds, option: str) -> Iterator[str]:
    total = kinds.counts.total()
    if not total:
        yield f"\n{title}: nothing ({option} PHASE looks at another phase)"
        return
    executions = count_noun(len(kinds.sequences), "execution")
    yield f"\n{title}: {count_noun(total, 'observation')} in {executions} of the phase"
    for kind, count in kinds.counts.most_common():
        yield f"  {kind:<28} {count:>5} {count / total:6.1%}"
    if kinds.transitions:
        yield "  and what followed:"
    for (one, other), count in kinds.transitions.most_common(_SHOWN):
        yield f"    {one} → {other}: {count}"


def _draw(found: Dialogues, folder: Path) -> None:
    from chatdev.evaluation.plots import dialogue_plots

    with explain_os_errors("write plots to", folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in dialogue_plots(found):
            (folder / name).write_text(text, encoding="utf-8")
            click.echo(f"written: {folder / name}", err=True)


# `chatdev eval`: the commands that measure and compare companies.


@click.group("eval", cls=OpenGroup, table="data_sets")
def command() -> None:
    """Measure companies on data sets, compare them, and report. Needs the extra `eval`."""


@click.command("report")
@study_options
@click.option("--format", "form", type=click.Choice(["table", "csv", "json", "html"]), default="table",
              show_default=True, help="A table for a terminal, a CSV row per run, all as JSON, or a page of plots.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Where to write. [default: standard output; html: report.html in the study's folder]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the bootstrap.")
@report_outcome
def report(study: str, ledger_url: str, folder: Path | None, form: str, output: Path | None, seed: int) -> int:
    """Show what a study found so far: means with confidence intervals, differences between variants on the same
    tasks, results by area, failed jobs, and every run."""
    from chatdev.evaluation.reporting.formats import as_csv, as_json, as_page, as_text
    from chatdev.evaluation.reporting.study_results import Results

    runs = runs_folder(folder, study)
    ledger = open_existing_ledger(ledger_url, study)
    try:
        results = Results.read(ledger, seed)
    finally:
        ledger.close()
    if form == "html":
        output = output or runs / "report.html"
        text = as_page(results, runs, output.absolute())
    else:
        text = {"table": as_text, "csv": as_csv, "json": as_json}[form](results)
    if output is None:
        click.echo(sanitize(text) if form == "table" else text, nl=False)
        return 0
    with explain_os_errors("write", output):
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8", errors="replace")
    click.echo(f"written: {output}")
    return 0


for each in (report, judge_command, dialogues_command):
    command.add_command(each)
