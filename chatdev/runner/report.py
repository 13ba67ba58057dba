"""The result of a run, and its report: each event as it happens, to journal and listener, how it ended, and how a
notebook shows runs and companies (tables in HTML, in which every text is escaped)."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from chatdev.config.phases import Limits
from chatdev.config.schema import CompanyConfig
from chatdev.engine.budget import Spending, count_noun, describe_spending, money
from chatdev.errors import ChatDevError, ModelError, PhaseFailed, WorkspaceError
from chatdev.events import (
    DeliveryRefused,
    DraftJudged,
    Event,
    ModelCalled,
    Noted,
    PhaseFinished,
    Place,
    RunFinished,
    RunStarted,
    StepSkipped,
    TextStreamed,
    ToolCalled,
)
from chatdev.journal import Journal
from chatdev.runner.story import RunStory, RunUsage, describe_attempts, describe_ending, news_of
from chatdev.runner.telemetry import LiveSpans
from chatdev.safe_text import describe_value, escape_markdown, fields_of, sanitize, sanitize_values, scrub
from chatdev.workspace.file_tree import Software, write_file
from chatdev.workspace.languages import is_startable

if TYPE_CHECKING:
    from jinja2 import Template


# The result.

Status = Literal["running", "success", "failure", "unjudged", "stopped", "error", "interrupted"]
"""`unjudged`: nothing speaks against the software, and nothing for it: this machine lacks what judging takes, or no
example or check confirms it. `stopped`: a budget is used up, and `resume` goes on."""


@dataclass(slots=True)
class PhaseRow:
    """Cost and ending of one execution of a phase."""

    ending: str = "unfinished"
    rounds: int = 0
    usage: RunUsage = field(default_factory=RunUsage)


@dataclass(slots=True, repr=False)
class Run:
    """One task through one company.

    `values` is the long-term memory at the end. `success` is true only when every step ran and the company's success
    expression holds; `reason` says in words how the run ended.
    """

    folder: Path
    software: Software = field(default_factory=lambda: Software({}))
    values: Mapping[str, Any] = field(default_factory=dict)
    status: Status = "running"
    reason: str = ""
    error: ChatDevError | None = None
    usage: RunUsage = field(default_factory=RunUsage)
    limits: Limits = field(default_factory=Limits)
    """Budget of the run."""
    spent: Spending = field(default_factory=Spending)
    """Spending over all its sessions."""
    notes: list[str] = field(default_factory=list)
    change: str = ""
    """The files that differ from what was handed in, and in how many lines; the patch is `run/change.patch`."""

    phases: Mapping[str, PhaseRow] = field(default_factory=dict)
    """Executions of phases by place, in order."""

    def __repr__(self) -> str:
        return (f"<Run {self.folder.name}: {self.status}; {count_noun(len(self.software), 'file')}, "
                f"{count_noun(self.usage.calls, 'call')}, {money(self.usage.cost)}>")

    def _repr_html_(self) -> str:
        return run_html(self)

    @property
    def success(self) -> bool:
        """Whether the company's success expression held at the end."""
        return self.status == "success"

    @property
    def software_folder(self) -> Path:
        """Where the files are, with their git history."""
        return self.folder / "software"


# Reporting.


class RunLog:
    """Takes in a session's events: into the journal, to the listener, and into `run`, which is filled as it goes, so
    that an interrupted one is complete up to the interruption."""

    def __init__(self, run: Run, journal: Journal, listener: Callable[[Event], None] | None = None,
                 spans: LiveSpans | None = None) -> None:
        self.run = run
        self.journal = journal
        self._listener = listener
        self._spans = spans
        self._listener_failed = False
        self._events: list[Event] = []
        self._started = time.monotonic()

    def emit(self, event: Event) -> None:
        """Take in one event. Raises WorkspaceError when it cannot be written; a listener that fails ends no run."""
        if self._spans and (problem := self._spans.problem()):
            self.emit(Noted("", problem, "warning"))
        if not isinstance(event, TextStreamed):
            self._events.append(event)
            self.run.usage.add(event)
            if isinstance(event, Noted):
                self.run.notes.append(event.text)
            self.journal.append(event.kind, event.place, fields_of(event))  # its own slots: `place` is those of Event
        if self._listener:
            try:
                self._listener(event)
            except Exception as error:  # noqa: BLE001 - it only listens, and the run is paid for
                self._note_failure(event, error)

    def _note_failure(self, event: Event, error: Exception) -> None:
        """Say once that the listener failed; it gets the further events all the same."""
        if self._listener_failed:
            return
        self._listener_failed = True
        text = scrub(f"the listener of events (on_event) failed at {event.kind} ({type(error).__name__}: {error}); "
                     "the run goes on")
        if isinstance(event, RunFinished):  # the last record
            self.run.notes.append(text)
        else:
            self.emit(Noted("", text, "warning"))

    def end(self, status: Status, reason: str, error: ChatDevError | None = None) -> None:
        """Say how the run ends."""
        self.run.status, self.run.reason, self.run.error = status, scrub(reason), error

    def finish(self, values: Mapping[str, Any], software: Mapping[str, bytes], spent: Spending,
               waited: float = 0.0) -> None:
        """Write what the run left and how it ended wherever that can still be written; what cannot be is no success.
        `waited`: seconds for people, which count as none of its own."""
        run = self.run
        run.values, run.software, run.spent = values, Software(software), spent
        run.phases = phase_rows(self._events)
        run.usage.seconds = round(time.monotonic() - self._started - waited, 3)
        try:
            write_file(run.folder / "run", "report.md", sanitize(report_markdown(self._events, run)).encode(
                "utf-8", "replace"))
        except WorkspaceError as error:
            self._end_unwritten(error)
        try:
            place = run.error.place if run.error else ""
            kind = type(run.error).__name__ if run.error else ""
            self.emit(RunFinished(place, run.status, run.reason, run.usage.seconds, kind))
            self.journal.release()  # a session that did not go live has held everything until now
        except WorkspaceError as error:
            self._end_unwritten(error)
        finally:
            self.journal.close()

    def _end_unwritten(self, error: WorkspaceError) -> None:
        if self.run.status in ("success", "failure", "unjudged"):
            self.end("error", str(error), error)


_SHOWN = 600  # characters of one long-term value or report
_SAID = 2000  # characters of an utterance
_UTTERANCES = 12  # of a dialogue
_ENTRIES = 20  # of a value
_MOST_FILES = 200
_PASSED = {True: "passed", False: "failed"}
_PICTURE = re.compile(r"[\w-]+\.(?:svg|png)")


def report_markdown(events: Sequence[Event], run: Run) -> str:
    """The report of a run: first what failed, then what was made and how to go on, then how it went."""
    story = RunStory()
    for event in events:
        story.add(event)
    story.status = run.status
    started = next((e for e in events if isinstance(e, RunStarted)), None)
    sections = [_head(started, run), _failure(run, story), _software(run), _change(run), _next_steps(run, story),
                _dialogue(story), _verdicts(events), _phases(events, story), _drafts(events), _cost(run),
                _notes(events), _pictures(run), _memory(run.values), _skips(events)]
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
    """Spending of a run, in words."""
    failed = f" (failed attempts: {usage.retries})" if usage.retries else ""
    estimated = " (partly estimated)" if usage.estimated else ""
    cached = f" ({usage.cached_tokens} of them cached)" if usage.cached_tokens else ""
    thoughts = f" ({usage.reasoning_tokens} of them thoughts)" if usage.reasoning_tokens else ""
    tokens = f"{usage.prompt_tokens} tokens in{cached}, {usage.completion_tokens} out{thoughts}{estimated}"
    return f"{count_noun(usage.calls, 'call')}{failed}, {tokens}, {money(usage.cost)}, {usage.seconds:.1f} s"


def next_commands(run: Run, story: RunStory) -> list[list[str]]:
    """The arguments of `chatdev` with which a run that did not succeed can be continued."""
    resume = ["resume", str(run.folder)]
    tried = [str(step.place) for step in story.attempts]
    if isinstance(run.error, PhaseFailed) and (broken := story.failed_step):
        return [[*resume, "--from", str(broken.place), "--model", "NAME"]]
    if run.status in ("error", "interrupted", "stopped"):
        return [resume, *([[*resume, "--model", "NAME"]] if isinstance(run.error, ModelError) else [])]
    if run.status == "failure" and tried:
        return [[*resume, "--from", tried[-1]], [*resume, "--from", tried[0], "--model", "NAME"]]
    return []


def _head(started: RunStarted | None, run: Run) -> str:
    lines = [f"# {_one_line(run.folder.name)}", ""]
    if started:
        lines += [f"Company: {_one_line(started.company)}", "", _quote(started.inputs.get("task", "")), ""]
    return "\n".join([*lines, f"**{run.status}**: {_one_line(run.reason)}"])


def _failure(run: Run, story: RunStory) -> str:
    """What speaks against the software, and what was tried; empty where nothing failed."""
    if run.status not in ("failure", "error"):
        return ""
    lines = []
    if run.status == "failure" and (verdict := story.failure):
        head, more = news_of(verdict.summary)
        lines += [_quote("\n".join(filter(None, [head, more]))), ""]
    if tried := ", ".join(describe_attempts(story.attempts)):
        lines += [f"Tried: {_one_line(tried)}."]
    return "\n".join(["## What failed", "", *lines]) if lines else ""


def _next_steps(run: Run, story: RunStory) -> str:
    folder = _code(run.folder)
    lines = []
    if is_startable(run.software) and run.status in ("success", "unjudged"):
        lines.append(f"- Start it: `chatdev play {folder}` (in the sandbox)")
    if run.software:
        lines.append(f"- Pack it: `chatdev export {folder} --zip FILE.zip`")
    if run.change:
        lines.append(f"- The change: `chatdev patch {folder}` prints it, and `chatdev apply {folder}` makes it")
    lines += [f"- Go on: `chatdev {_code(shlex.join(command))}`" for command in next_commands(run, story)]
    return "\n".join(["## How to go on", "", *lines]) if lines else ""


def _dialogue(story: RunStory) -> str:
    """What was said in the phase in which the run failed."""
    step = story.failed_step
    if step and step.kind == "tool":  # what it judges was said before
        step = story.attempts[-1] if story.attempts else None
    if not (step and step.dialogue):
        return ""
    lines = [f"## Dialogue of {_one_line(step.place)}", ""]
    if len(step.dialogue) > _UTTERANCES:
        lines += [f"The first {len(step.dialogue) - _UTTERANCES} utterances are in `run/journal.jsonl`.", ""]
    for said in step.dialogue[-_UTTERANCES:]:
        kind = "" if said.utterance in ("instruction", "response") else f", {said.utterance}"
        lines += [f"**{_one_line(said.role)}**{kind} (round {said.round}):", "", _quote(said.text, _SAID), ""]
    return "\n".join(lines).rstrip()


def _phases(events: Sequence[Event], story: RunStory) -> str:
    rows = phase_rows(events)
    if not rows:
        return ""
    steps = {str(step.place): step for step in story.told}
    lines = ["## Phases", "", "| phase | ending | rounds | calls | tokens in | tokens out | seconds |",
             "| --- | --- | ---: | ---: | ---: | ---: | ---: |"]
    for place, row in rows.items():
        usage, ending = row.usage, describe_ending(steps[place]) if place in steps else row.ending
        lines.append(f"| {_one_line(place)} | {_one_line(ending)} | {row.rounds} | {usage.calls} | "
                     f"{usage.prompt_tokens} | {usage.completion_tokens} | {usage.seconds:.1f} |")
    return "\n".join(lines)


def _skips(events: Sequence[Event]) -> str:
    lines = [f"- {_one_line(f'{e.place}: {e.reason}')}" for e in events if isinstance(e, StepSkipped)]
    return "\n".join(["## Skipped steps", "", *lines]) if lines else ""


def _drafts(events: Sequence[Event]) -> str:
    lost = _lost_drafts(events)
    lines = [f"- {_one_line(f'{draft.place}: {draft.describe()}')}" + ", chosen" * (draft.place not in lost)
             for draft in events if isinstance(draft, DraftJudged)]
    return "\n".join(["## Drafts", "", *lines]) if lines else ""


def _lost_drafts(events: Sequence[Event]) -> set[str]:
    """The places of the drafts that were not chosen."""
    drafts = [event for event in events if isinstance(event, DraftJudged)]
    chosen = {Place(draft.place).first_draft: draft.place for draft in drafts if draft.chosen}  # the last one counts
    return {draft.place for draft in drafts} - set(chosen.values())


def _cost(run: Run) -> str:
    budget = describe_spending(run.limits, run.spent)
    return f"## Cost\n\n{describe_usage(run.usage)}" + (f"\n\nOf the budget: {budget}." if budget else "")


def _change(run: Run) -> str:
    """Differences from the software handed in."""
    if not run.change:
        return ""
    shown = "\n".join(f"    {line}" for line in run.change.splitlines()[:_MOST_FILES])
    return f"## Change\n\n{shown}"


def _software(run: Run) -> str:
    if not run.software:
        return "## Software\n\nNo files."
    lines = ["## Software", "", "| file | lines |", "| --- | ---: |"]
    files = list(run.software.items())
    lines += [f"| {_one_line(path)} | {len(data.splitlines())} |" for path, data in files[:_MOST_FILES]]
    lines += [f"\n… and {len(files) - _MOST_FILES} more"] if len(files) > _MOST_FILES else []
    return "\n".join(lines)


def _verdicts(events: Sequence[Event]) -> str:
    lost = {place.at(part) for place in map(Place, _lost_drafts(events)) for part in ("feedback", "guard")}
    newest: dict[str, ToolCalled] = {e.tool: e for e in events if isinstance(e, ToolCalled) and e.place not in lost}
    lines = [f"### {_one_line(f'{name}: {_PASSED[e.passed]} ({e.place})')}\n\n{_quote(e.summary)}"
             for name, e in newest.items() if e.passed is not None]
    return "\n\n".join(["## Last verdicts", *lines]) if lines else ""


def _pictures(run: Run) -> str:
    """Pictures by tools: `pictures` of a value has titles and names of files beside this report."""
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
    lines = [f"- {_one_line(f'{e.place}: {e.text}' if e.place else e.text)}" for e in events if isinstance(e, Noted)]
    lines += [f"- {_one_line(f'{e.place}: a delivery was not kept: {e.reason}')}"
              for e in events if isinstance(e, DeliveryRefused)]
    return "\n".join(["## Notes", "", *lines]) if lines else ""


def _memory(values: Mapping[str, Any]) -> str:
    lines = [f"### {_one_line(name)}\n\n{_value(value)}" for name, value in values.items()]
    return "\n\n".join(["## Long-term memory", *lines]) if lines else ""


def _value(value: object) -> str:
    """A value for a reader: a text as it is, anything else as a list of what is in it, in a few words each."""
    if isinstance(value, Mapping):
        entries = [describe_value({key: child}) for key, child in value.items()]
    elif isinstance(value, list):
        entries = [describe_value(child) for child in value]
    else:
        return _quote(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
    lines = [f"- {_one_line(entry)}" for entry in entries[:_ENTRIES]]
    if len(entries) > _ENTRIES:
        lines.append(f"- … and {len(entries) - _ENTRIES} more, in `run/journal.jsonl`")
    return "\n".join(lines) or "> none"


def _quote(text: str, longest: int = _SHOWN) -> str:
    """Somebody's words as a block quote, cut when long: they must not become headings of the report."""
    cut = text if len(text) <= longest else f"{text[:longest]} …\n(the rest is in `run/journal.jsonl`)"
    return "\n".join(f"> {line}" for line in escape_markdown(cut).splitlines()) or ">"


def _one_line(text: str) -> str:
    return escape_markdown(" ".join(text.split())[:_SHOWN])


def _code(path: Path | str) -> str:
    """A path or a command between backticks, where nothing can be escaped."""
    return " ".join(str(path).replace("`", "?").split())


# Events made fit for a person's terminal and report.

E = TypeVar("E", bound=Event)


def sanitize_event(event: E) -> E:
    """The event with all its texts sanitized."""
    values = {field.name: getattr(event, field.name) for field in dataclasses.fields(event)}
    clean: dict[str, Any] = sanitize_values(values)
    changed = {name: value for name, value in clean.items() if value != values[name]}
    return dataclasses.replace(event, **changed) if changed else event


# Runs and companies as a notebook shows them: tables in HTML, in which every text is escaped.

_MOST_ROWS, _MOST_PHASES, _LONGEST = 20, 30, 400  # rows of a table, characters of a text


def run_html(run: Run) -> str:
    """How a run ended, its phases, its files and what it cost."""
    files = [(path, None if b"\0" in data else len(data.splitlines()), len(data))
             for path, data in run.software.items()]
    phases = list(run.phases.items())
    return _template().render(
        run=run, reason=_clean(run.reason), cost=describe_usage(run.usage),
        phases=[(_clean(place), row) for place, row in phases[:_MOST_PHASES]], phases_left=len(phases) - _MOST_PHASES,
        files=[(_clean(path), lines, size) for path, lines, size in files[:_MOST_ROWS]],
        files_left=len(files) - _MOST_ROWS)


def company_html(company: CompanyConfig, warnings: Sequence[str]) -> str:
    """What a company does, its phases with who is in them, and what is doubtful in it."""
    titles = {name: role.title for name, role in company.roles.items()}
    phases = [(name, " ⇄ ".join(titles[role] for role in (phase.instructor, phase.assistant) if role in titles),
               phase.solution.as_file or phase.writes) for name, phase in company.phases.items()]
    return _template().render(company=company, phases=phases, warnings=[_clean(text) for text in warnings])


def _clean(text: str) -> str:
    """A text that steers nothing, and that is no page long."""
    text = sanitize(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("notebook.html.j2")
