"""Showing blind pairs at a terminal, and taking a person's choice."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from chatdev.config.templates import listing
from chatdev.evaluation.judging.judgements import Contender, JudgementFile, Pair, Verdict
from chatdev.evaluation.judging.judges import blind_text, code_files, human_judgement, judge_wording
from chatdev.runner.report import sanitize
from chatdev.workspace.change import withheld_files
from chatdev.workspace.file_tree import write_tree

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
