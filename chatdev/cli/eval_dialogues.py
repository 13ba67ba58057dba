"""`chatdev eval dialogues`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chatdev.cli.outcome import report_outcome
from chatdev.engine.budget import count_noun
from chatdev.errors import ConfigError
from chatdev.safe_text import sanitize
from chatdev.workspace.file_tree import explain_os_errors

if TYPE_CHECKING:
    from chatdev.evaluation.dialogues import Dialogues, ObservedKinds

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
def command(folders: tuple[Path, ...], reviews: tuple[str, ...], tests: tuple[str, ...], plots_folder: Path | None,
            as_json: bool) -> int:
    """Show what the dialogues of runs consist of: natural language and code by phase, what reviewers named, what
    tests showed, and what came next.

    A RUN_FOLDER is a run, its journal, or a folder of runs, such as a warehouse.
    """
    from chatdev.evaluation.dialogues import dialogues

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
