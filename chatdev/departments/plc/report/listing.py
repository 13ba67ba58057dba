"""Verdicts and counterexamples as plain text, for terminals and for agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from chatdev.departments.plc.proof.outcome import Outcome
from chatdev.departments.plc.report.explanation import Explanation, SignalHistory, explain_run
from chatdev.departments.plc.report.wording import (
    describe_contradiction,
    describe_opinion,
    describe_property,
    describe_vacuity,
    describe_verdict,
    show_safely,
)
from chatdev.departments.plc.source_proof import SourceProof

WIDTH = 110
"""Characters of a line, if the texts allow it."""
_SECTIONS = {"input": "input", "in_out": "in-out", "output": "output"}
_SAME = "·"


def list_verdicts(proof: SourceProof) -> str:
    """A table with a line for each property: number, verdict, k, seconds, what is asked; below it, what else is to be
    known."""
    is_shared = any(one.opinion for one in proof.outcomes)
    rows = [["", "verdict", *(["second opinion"] if is_shared else []), "k", "seconds", "property"]]
    rows += [[str(number), one.verdict, *([_show_opinion(one)] if is_shared else []), str(one.k), f"{one.seconds:.2f}",
              describe_property(one.asked)] for number, one in enumerate(proof.outcomes, 1)]
    notes = [f"{number}: {note}" for number, one in enumerate(proof.outcomes, 1) for note in _notes(one)]
    return show_safely("\n".join([*_align(rows, last_is_free=True), *([""] if notes else []), *notes]))


def list_explanation(number: int, outcome: Outcome, proof: SourceProof) -> str:
    """The run that an outcome shows: its cycles with what changed in each, then the source with what ran in each."""
    run = explain_run(outcome.cycles, proof.source, proof.check.variables)
    head = f"{number}: {outcome.verdict}  {describe_property(outcome.asked)}"
    return show_safely("\n".join([head, *([f"   {outcome.asked.description}"] if outcome.asked.description else []),
                                  "", *_cycle_table(run), "", *_marked_source(run)]))


def _show_opinion(outcome: Outcome) -> str:
    return f"{outcome.opinion.by}: {outcome.opinion.verdict}" if outcome.opinion else ""


def _notes(outcome: Outcome) -> Iterator[str]:
    """What a verdict, and another verifier's, means where that is more than its word."""
    if outcome.verdict in ("BOUNDED", "UNKNOWN"):
        yield f"{describe_verdict(outcome)}{f': {outcome.reason}' if outcome.reason else ''}"
    elif note := outcome.reason or describe_vacuity(outcome):
        yield note
    if (opinion := describe_opinion(outcome)) != _show_opinion(outcome):
        yield opinion
    if contradiction := describe_contradiction(outcome):
        yield contradiction


def _cycle_table(run: Explanation) -> Iterator[str]:
    """Variables below each other, cycles side by side, as many as there is room for."""
    heads = [["", "cycle"], ["", "ms since the one before"],
             *([_SECTIONS.get(signal.section, ""), signal.name] for signal in run.signals)]
    columns = [[str(number + 1), str(milliseconds), *(_show_cell(signal, number) for signal in run.signals)]
               for number, milliseconds in enumerate(run.milliseconds)]
    room = WIDTH - sum(max(len(row[side]) for row in heads) + 2 for side in (0, 1))
    for block in _split(columns, room):
        yield from _align([[*head, *cells] for head, cells in zip(heads, zip(*block, strict=True), strict=True)])
        yield ""
    yield f"{_SAME} unchanged{f'; the last cycle ends with a fault: {run.fault}' if run.fault else ''}"


def _show_cell(signal: SignalHistory, cycle: int) -> str:
    return signal.values[cycle] if signal.changed[cycle] else _SAME


def _split(columns: Sequence[Sequence[str]], room: int) -> Iterator[list[Sequence[str]]]:
    """Columns in blocks that fit into the room, at least one in each."""
    block: list[Sequence[str]] = []
    left = room
    for column in columns:
        width = max(map(len, column)) + 2
        if block and width > left:
            yield block
            block, left = [], room
        block.append(column)
        left -= width
    if block:
        yield block


def _marked_source(run: Explanation) -> Iterator[str]:
    """The lines that ran with a mark for each cycle."""
    cycles = len(run.milliseconds)
    yield f"lines that ran in cycles 1 to {cycles}:" if cycles > 1 else "lines that ran:"
    before = None
    for line in run.lines:
        if before is not None and line.number > before + 1:
            yield f"{'':{cycles}}    …"
        before = line.number
        yield f"{''.join('#' if one else '.' for one in line.ran)} {line.number:4} {line.text}".rstrip()


def _align(rows: Sequence[Sequence[str]], *, last_is_free: bool = False) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if last_is_free:
        widths[-1] = 0
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
