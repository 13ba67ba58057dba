"""`run/report.md`: what a run did, for people. Made from its events alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chatdev.engine.budget import count_noun, describe_spending, money
from chatdev.events import (
    DeliveryRefused,
    Event,
    ModelCalled,
    Noted,
    PhaseFinished,
    RunStarted,
    StepSkipped,
    ToolCalled,
)
from chatdev.place import Place
from chatdev.runner.result import Run, RunUsage
from chatdev.tools.software.languages import is_startable

_SHOWN = 600  # characters of one long-term value or report
_PICTURE = re.compile(r"[\w-]+\.(?:svg|png)")


@dataclass(slots=True)
class PhaseRow:
    """What one execution of a phase cost, and how it ended."""

    ending: str = "unfinished"
    rounds: int = 0
    usage: RunUsage = field(default_factory=RunUsage)


def report_markdown(events: Sequence[Event], run: Run) -> str:
    """The report of a run."""
    started = next((e for e in events if isinstance(e, RunStarted)), None)
    sections = [_head(started, run), _phases(events), _software(run), _cost(run), _verdicts(events), _pictures(run),
                _notes(events), _memory(run.values)]
    return "\n\n".join(section for section in sections if section) + "\n"


def phase_rows(events: Iterable[Event]) -> dict[str, PhaseRow]:
    """Executions of phases by place, in order."""
    rows: dict[str, PhaseRow] = {}
    for event in events:
        if isinstance(event, ModelCalled):
            row = rows.setdefault(Place(event.place).nearest_step, PhaseRow())
            row.usage.add(event)
            row.usage.seconds += event.seconds
        elif isinstance(event, PhaseFinished):
            row = rows.setdefault(event.place, PhaseRow())
            row.ending, row.rounds = event.ending, event.rounds
    return rows


def describe_usage(usage: RunUsage) -> str:
    """What a run took, in words."""
    failed = f" (failed attempts: {usage.retries})" if usage.retries else ""
    estimated = " (partly estimated)" if usage.estimated else ""
    tokens = f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out{estimated}"
    return f"{count_noun(usage.calls, 'call')}{failed}, {tokens}, {money(usage.cost)}, {usage.seconds:.1f} s"


def _head(started: RunStarted | None, run: Run) -> str:
    lines = [f"# {run.folder.name}", ""]
    if started:
        lines += [f"Company: {started.company}", "", _quote(started.inputs.get("task", "")), ""]
    lines.append(f"**{run.status}**: {_one_line(run.reason)}")
    if is_startable(run.software):
        lines += ["", f"Start it with `chatdev play {run.folder}` (in the sandbox)."]
    return "\n".join(lines)


def _phases(events: Sequence[Event]) -> str:
    rows = phase_rows(events)
    if not rows:
        return ""
    lines = ["## Phases", "", "| phase | ending | rounds | calls | tokens in | tokens out | seconds |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for place, row in rows.items():
        usage = row.usage
        lines.append(f"| {place} | {row.ending} | {row.rounds} | {usage.calls} | {usage.prompt_tokens} | "
                     f"{usage.completion_tokens} | {usage.seconds:.1f} |")
    skipped = [f"Skipped: {e.place} ({e.reason})" for e in events if isinstance(e, StepSkipped)]
    return "\n".join([*lines, *([""] if skipped else []), *skipped])


def _cost(run: Run) -> str:
    budget = describe_spending(run.limits, run.spent)
    return f"## Cost\n\n{describe_usage(run.usage)}" + (f"\n\nOf the budget: {budget}." if budget else "")


def _software(run: Run) -> str:
    if not run.software:
        return "## Software\n\nNo files."
    lines = ["## Software", "", "| file | lines |", "| --- | ---: |"]
    lines += ["| {} | {} |".format(path.replace("|", "\\|"), len(data.splitlines()))
              for path, data in run.software.items()]
    return "\n".join(lines)


def _verdicts(events: Sequence[Event]) -> str:
    newest: dict[str, ToolCalled] = {e.tool: e for e in events if isinstance(e, ToolCalled)}
    lines = [f"### {name}: {'passed' if e.passed else 'failed'} ({e.place})\n\n{_quote(e.summary)}"
             for name, e in newest.items() if e.passed is not None]
    return "\n\n".join(["## Last verdicts", *lines]) if lines else ""


def _pictures(run: Run) -> str:
    """What tools drew: a value's `pictures` are titles and the names of files beside this report."""
    drawn = [(title, name) for value in run.values.values() if isinstance(value, Mapping)
             for title, name in _plain_texts(value.get("pictures"))]
    lines = [f"### {_one_line(title)}\n\n![{_one_line(title)}]({name})" for title, name in drawn
             if _PICTURE.fullmatch(name) and (run.folder / "run" / name).is_file()]
    return "\n\n".join(["## Pictures", *lines]) if lines else ""


def _plain_texts(found: object) -> Iterable[tuple[str, str]]:
    """The entries of a mapping of texts; models write values, too."""
    entries = found.items() if isinstance(found, Mapping) else ()
    return [(key, value) for key, value in entries if isinstance(key, str) and isinstance(value, str)]


def _notes(events: Sequence[Event]) -> str:
    lines = [f"- {f'{e.place}: ' if e.place else ''}{_one_line(e.text)}" for e in events if isinstance(e, Noted)]
    lines += [f"- {e.place}: a delivery was not kept: {_one_line(e.reason)}"
              for e in events if isinstance(e, DeliveryRefused)]
    return "\n".join(["## Notes", "", *lines]) if lines else ""


def _memory(values: Mapping[str, Any]) -> str:
    lines = []
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
        lines.append(f"### {name}\n\n{_quote(text)}")
    return "\n\n".join(["## Long-term memory", *lines]) if lines else ""


def _quote(text: str) -> str:
    """Somebody's words as a block quote, cut when long: they must not become headings of the report."""
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
    return "\n".join(f"> {line}" for line in cut.splitlines()) or ">"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]
