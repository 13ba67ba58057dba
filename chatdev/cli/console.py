"""A run as a person reads it: one line for each finished step, the dialogue where it is asked for, and meanwhile a live
line, or a line now and then where nothing is a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import singledispatchmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import click

from chatdev.cli.screen import (
    INDENT,
    LiveLine,
    first_line,
    format_cost,
    format_seconds,
    layout_text,
    line_of,
    open_screen,
    wrap_words,
)
from chatdev.cli.shared_options import ask_person
from chatdev.engine.budget import count_noun
from chatdev.events import (
    DeliveryApplied,
    DeliveryRefused,
    DraftJudged,
    Event,
    Noted,
    PhaseStarted,
    Place,
    RunFinished,
    RunResumed,
    RunStarted,
    StepSkipped,
    StepStarted,
    TextStreamed,
    ToolCalled,
    Uttered,
)
from chatdev.runner.report import sanitize_event
from chatdev.runner.story import RunStory, StepStory, describe_ending, news_of, title_of
from chatdev.safe_text import shorten

if TYPE_CHECKING:
    from rich.text import Text

Detail = Literal["nothing", "steps", "dialogue", "everything"]
"""How much of a run is shown: nothing; a line for each step; what is said, too; and nothing of that cut."""

_COLOURS = {"instructor": "magenta", "assistant": "cyan", None: "yellow"}
_SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "blue")}


class Console:
    """Prints events as they happen; a context around a run.

    `resumed`: of what is on record only the phase is shown in which the run goes on. `replayed` is the journal that a
    run is played again from.
    """

    def __init__(self, detail: Detail = "steps", *, resumed: bool = False, replayed: Path | None = None) -> None:
        self.story = RunStory()
        self._detail = detail
        self._replayed = replayed
        self._waiting: list[Event] | None = [] if resumed else None
        self._live_line = LiveLine(self.story)
        self._passed_over = False  # the whole run was on record
        self._titles: dict[str, dict[str, str]] = {}  # of the two sides, by the place of their phase
        self._floor: str | None = None  # the turn whose reply is being streamed; others wait until they are uttered
        self._request = ""  # the last of that turn whose reply was streamed
        self._told: dict[str, str] = {}  # what each tool said when it was shown last
        self._verdict = ""  # that was shown last

    def __enter__(self) -> Self:
        if self._detail != "nothing":
            self._screen = open_screen()
            self._live_line.__enter__()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._detail != "nothing":
            with self.paused():
                self._leave_floor()
            self._live_line.__exit__()

    def __call__(self, event: Event) -> None:
        """Show one event; whatever a model wrote in it, it steers no terminal."""
        clean = sanitize_event(event)
        with self._live_line.lock:
            step = self.story.add(clean)
            if self._detail == "nothing":
                return
            due = self._due_events(clean)
            if due or step:
                self._show_all(due, step)
        self._live_line.draw()

    def _show_all(self, due: Sequence[Event], step: StepStory | None) -> None:
        with self._live_line.paused():
            for event in due:
                self._show(event)
            if step and self._waiting is None:
                self._show_step(step)
        self._live_line.hidden = self._floor is not None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Meanwhile the terminal belongs to somebody else, such as a question to a person."""
        with self._live_line.paused():
            self._leave_floor()
            yield

    async def ask(self, distribution: str) -> bool:
        """Ask whether a package may be installed; meanwhile the last line belongs to the question."""
        with self.paused():
            return await ask_person(distribution)

    def _due_events(self, event: Event) -> list[Event]:
        """What is to be shown now that `event` has come."""
        if self._waiting is None:
            return [event] if self._shows(event) else []
        if isinstance(event, RunResumed | RunFinished):
            waiting, self._waiting = self._waiting, None
            self._passed_over = isinstance(event, RunFinished) and event.status in ("success", "failure", "unjudged")
            return [event, *filter(self._shows, waiting)] if isinstance(event, RunResumed) else [event]
        if isinstance(event, PhaseStarted):
            self._waiting = []
        if isinstance(event, RunStarted) or (isinstance(event, Noted) and not event.place):
            return [event]  # of the whole run
        self._waiting.append(event)
        return []

    def _shows(self, event: Event) -> bool:
        """Whether it is shown at all with as much detail as is wanted."""
        if isinstance(event, StepSkipped):
            return self._detail == "everything"
        return self._detail != "steps" or isinstance(event, RunStarted | RunResumed | RunFinished | Noted)

    # What is shown of every run.

    def _show_step(self, step: StepStory) -> None:
        """The line of a finished step, and what there is to know of it below."""
        if step.kind == "tool":
            if step.gist not in ("", "none", self._told.get(step.assistant)):
                self._told[step.assistant] = step.gist
                self._print(step_line(step, self.story, self._columns))
        else:
            self._print(step_line(step, self.story, self._columns))
            if self._detail == "steps":
                self._show_course(step)
        for verdict in step.verdicts.values():
            known = verdict.summary in (self._verdict, self._told.get(verdict.tool))
            if not known and self._is_news(verdict, step):
                self._verdict = self._told[verdict.tool] = verdict.summary
                self._print(*verdict_lines(verdict))

    def _show_course(self, step: StepStory) -> None:
        """What an instructor asked for, what was not kept, and how it ended."""
        for role, text in step.said[-_QUOTES:]:
            if said := first_line(_words(text), len(role) + 10):
                self._print(_below(f"{role}: “{said}”", "dim"))
        for reason in step.refused[-1:]:
            often = f" ({len(step.refused)} times)" if len(step.refused) > 1 else ""
            lines = wrap_words(f"✗ not kept{often}: {first_line(reason, -1000)}", 3, _MOST_LINES)
            self._print(*(_below(line, "yellow") for line in lines))
        self._show_ending(step)

    def _show_ending(self, step: StepStory) -> None:
        """An ending that says something."""
        tells = step.ending in ("failed", "stuck", "budget") or (step.passed is False and step.rounds > 1)
        if tells and step.what != describe_ending(step):
            self._print(_below(describe_ending(step), "red" if step.ending == "failed" else "yellow"))

    def _is_news(self, verdict: ToolCalled, step: StepStory) -> bool:
        """Of checks that pass in a phase, only the last one is, and only where none fails."""
        return verdict.passed is not True or (step.passed is True and verdict is list(step.verdicts.values())[-1])

    @property
    def _columns(self) -> int:
        return self._screen.width

    @singledispatchmethod
    def _show(self, event: Event) -> None:
        """Events without a method of their own are not shown."""

    @_show.register
    def _(self, event: RunStarted) -> None:
        where = f"plays {self._replayed} again" if self._replayed else f"works in {event.folder}"
        self._print(line_of((event.company, "bold"), (f" {where}", "")))
        if event.phases and self._waiting is None:
            plan = f"at most {len(event.phases)} phases: {', '.join(map(title_of, event.phases))}"
            self._print(*(line_of((f"  {line}", "dim")) for line in wrap_words(plan, 3)))

    @_show.register
    def _(self, event: RunFinished) -> None:
        for step in self.story.open.values():
            self._print(step_line(step, self.story, self._columns))
        if self._passed_over:
            self._print(line_of(("everything is recorded; nothing is left to do", "blue")))

    @_show.register
    def _(self, event: RunResumed) -> None:
        self._print(line_of((f"resumed after {count_noun(event.calls, 'recorded call')}", "blue")))

    @_show.register
    def _(self, event: Noted) -> None:
        style = "yellow" if event.level == "warning" else ""
        for text in f"{event.level}: {event.text}".splitlines():
            self._print(*(line_of((f"  {line}", style)) for line in wrap_words(text, 3)))

    # What is shown of the dialogue.

    @_show.register
    def _(self, event: PhaseStarted) -> None:
        self._titles[event.place] = {"assistant": event.assistant, "instructor": event.instructor or ""}
        self._print(line_of(("\n", ""), (f"━━ {title_of(event.place)}", "bold blue"), (f"  {event.about}", "dim")))

    @_show.register
    def _(self, event: Uttered) -> None:
        if event.place == self._floor:
            self._leave_floor()
            return
        if event.utterance == "opening" and self._detail != "everything":
            return
        kind = {"instruction": "", "response": ""}.get(event.utterance, event.utterance)
        title = {"opening": "", "report": "the tool"}.get(event.utterance, event.role)
        self._speaker(title, kind, event.speaker)
        text = event.text if self._detail == "everything" else _words(event.text)
        self._print(*layout_text(text, everything=self._detail == "everything", colour=bool(self._screen.color_system)))

    @_show.register
    def _(self, event: TextStreamed) -> None:
        place = Place(event.place)
        if self._floor == place.turn:
            if event.again:
                self._print(line_of(("  (the connection broke; asking again)", "yellow")))
            elif place.is_second_attempt and place != self._request:
                self._print(line_of(("  (this reply is not used; asking again)", "yellow")))
        if event.again:
            return
        begins = self._floor is None
        if begins:
            titles = self._titles.get(place.nearest_step, {})
            kind = f"draft {place.draft}" if place.draft > 1 else ""
            self._speaker(titles.get(place.speaker, ""), kind, place.speaker)
            self._floor = place.turn
        if self._floor == place.turn:
            self._request = place
            click.echo(INDENT * begins + event.text.replace("\n", f"\n{INDENT}"), nl=False)

    @_show.register
    def _(self, event: DeliveryApplied) -> None:
        parts = [*(f"→ {name}" for name in event.written), *(f"deleted {name}" for name in event.deleted)]
        text = "= nothing changed" if event.unchanged or not parts else ", ".join(parts)
        self._print(line_of((f"  {text}", "green")))

    @_show.register
    def _(self, event: DraftJudged) -> None:
        sign, colour = _SIGNS[bool(event.passed)]
        self._print(line_of(("  ", ""), (f"{sign} ", colour), (first_line(event.describe()), "")))

    @_show.register
    def _(self, event: DeliveryRefused) -> None:
        self._print(line_of((f"  ✗ not kept: {first_line(event.reason)}", "red")))

    @_show.register
    def _(self, event: ToolCalled) -> None:
        if event.passed is None and not event.summary.strip():
            return  # such as one that mends slips, where there were none
        if self.story.open.get(event.place):
            return  # the line of its step says it
        sign, colour = _SIGNS[event.passed]
        head = f"{sign} {event.tool}"
        self._told[event.tool] = event.summary
        self._print(line_of((f"  {head}", colour), (f"  {first_line(event.summary, len(head) + 4)}", "")))

    @_show.register
    def _(self, event: StepStarted) -> None:
        if event.step != "tool" and self._detail == "everything":
            self._print(line_of((f"\n━━ {event.place}", "bold blue"), (f"  {event.detail}", "dim")))

    @_show.register
    def _(self, event: StepSkipped) -> None:
        self._print(line_of((f"━━ {event.place} is skipped: {event.reason}", "dim")))

    def _speaker(self, title: str, kind: str, speaker: str | None) -> None:
        head = " · ".join(part for part in (title, kind) if part)
        self._print(line_of(("\n  ", ""), (head, f"bold {_COLOURS[speaker]}")))

    def _print(self, *lines: Text) -> None:
        self._leave_floor()
        for line in lines:
            self._screen.print(line, soft_wrap=True)

    def _leave_floor(self) -> None:
        """End the line of a streamed reply."""
        if self._floor is not None:
            self._floor = None
            click.echo()


# The lines of a step.

_LOOKS = {"failed": ("✗", "red"), "": ("–", "yellow")}
_QUOTES = 3  # instructions of a phase that are shown
_NARROW = 50  # columns below which a line has no room for who and how much
_TITLE = 16  # columns that names of steps are padded to at most
_SHORT = 16  # characters of a role where there is little room
_LEAST = 34  # columns for what a step left
_MOST_LINES = 3  # of a verdict
_UNDER = 2  # columns by which what belongs to a step is indented
_MARKER = re.compile(r"\s*[<＜]\s*(?:SOLUTION|QUESTION)\s*[>＞]\s*", re.IGNORECASE)


def step_line(step: StepStory, story: RunStory, columns: int) -> Text:
    """A step on one line of so many columns: what, what came of it, who, calls, seconds, cost."""
    from rich.cells import cell_len

    narrow = columns < _NARROW
    line = _head(step, () if narrow else story.phases)
    used = line.cell_len
    line.append(f"  {step.what}")
    least = min(line.cell_len, max(used + _LEAST, columns // 2))
    beside = "" if narrow else _fitting(_facts(step), columns - 2 - least)
    line.truncate(columns - 2 - cell_len(beside) if beside else columns - 1, overflow="ellipsis", pad=bool(beside))
    return line.append(f"  {beside}", "dim") if beside else line


def _head(step: StepStory, phases: Sequence[str]) -> Text:
    """Sign, position and name of a step, as wide as those of the other phases."""
    sign, colour = _LOOKS.get(step.ending, ("●", "green")) if step.kind == "phase" else ("●", "blue")
    if not phases:
        return line_of((f"{sign} ", colour), (step.title, "bold"))
    position = f"{step.number}/{len(phases)} " if step.number else ""
    title = step.title.ljust(min(_TITLE, max(len(title_of(name)) for name in phases)))
    return line_of((f"{sign} ", colour), (position.rjust(2 * len(str(len(phases))) + 2), "dim"), (title, "bold"))


def _facts(step: StepStory) -> Iterator[str]:
    """Who, calls, seconds and cost, with less and less of it."""
    seconds, calls = format_seconds(step.usage.seconds), count_noun(step.usage.calls, "call")
    if step.kind == "tool":
        yield seconds if step.usage.seconds >= 1 else ""
        return
    cost = [format_cost(step.usage.cost)] if step.usage.cost else []
    short = shorten(step.assistant, _SHORT)
    for parts in ([step.who, calls, seconds, *cost], [step.assistant, calls, seconds, *cost],
                  [short, calls, seconds, *cost], [short, calls, seconds], [short, seconds], [seconds]):
        yield " · ".join(parts)


def _fitting(choices: Iterator[str], room: int) -> str:
    """The first that fits, else the last."""
    from rich.cells import cell_len

    text = ""
    for text in choices:
        if cell_len(text) <= room:
            break
    return text


def verdict_lines(verdict: ToolCalled) -> list[Text]:
    """What a tool says; of a failure also the error with its place."""
    sign, colour = _SIGNS[verdict.passed]
    head, more = news_of(verdict.summary)
    lines = wrap_words(head, _UNDER + 3, _MOST_LINES)
    if verdict.passed is False and more:
        lines += wrap_words(more.splitlines()[0], _UNDER + 3, _MOST_LINES)
    return [line_of((" " * _UNDER, ""), (f"{sign if n == 0 else ' '} ", colour), (line, ""))
            for n, line in enumerate(lines or [verdict.tool])]


def _below(text: str, style: str) -> Text:
    """A line that belongs to the step above it."""
    return line_of((" " * _UNDER + text, style))


def _words(text: str) -> str:
    """What is said without the markers by which it is understood."""
    return _MARKER.sub("", text, count=1) if _MARKER.match(text) else text
