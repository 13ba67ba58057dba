"""A run as a person reads it: the dialogue of every phase, what it delivers, what the tools say, and a live line."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import singledispatchmethod
from itertools import islice
from pathlib import Path
from typing import Any, Self, TextIO

import click

from chatdev.cli.shared_options import ask_person
from chatdev.engine.budget import count_noun, money
from chatdev.events import (
    DeliveryApplied,
    DeliveryRefused,
    DraftJudged,
    Event,
    ModelCalled,
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunResumed,
    RunStarted,
    StepSkipped,
    StepStarted,
    TextStreamed,
    ToolCalled,
    Uttered,
)
from chatdev.place import Place
from chatdev.runner.report import RunUsage, sanitize_event

_COLOURS = {"instructor": "magenta", "assistant": "cyan", None: "yellow"}


class Console:
    """Prints events as they happen; a context around a run. `quiet` prints none of them, `verbose` cuts nothing.

    `resumed`: of what is on record only the phase is shown in which the run goes on. `replayed` is the journal that a
    run is played again from.
    """

    def __init__(self, *, verbose: bool = False, quiet: bool = False, resumed: bool = False,
                 replayed: Path | None = None) -> None:
        self._verbose = verbose
        self._quiet = quiet
        self._replayed = replayed
        self._waiting: list[Event] | None = [] if resumed else None
        self._live_line = LiveLine(sys.stderr)
        self._passed_over = False  # the whole run was on record
        self._titles: dict[str, dict[str, str]] = {}  # of the two sides, by the place of their phase
        self._floor: str | None = None  # the turn whose reply is being streamed; others wait until they are uttered
        self._request = ""  # the last of that turn whose reply was streamed

    def __enter__(self) -> Self:
        if not self._quiet:
            self._live_line.__enter__()
        return self

    def __exit__(self, *_: Any) -> None:
        if not self._quiet:
            self._leave_floor()
            self._live_line.__exit__()

    def __call__(self, event: Event) -> None:
        """Show one event; whatever a model wrote in it, it steers no terminal."""
        if self._quiet:
            return
        self._live_line.follow(event)
        with self._live_line.pause():
            for shown in self._due_events(event):
                self._show(sanitize_event(shown))
            self._live_line.hidden = self._floor is not None

    def _due_events(self, event: Event) -> list[Event]:
        """What is to be shown now that `event` has come."""
        if self._waiting is None:
            return [event]
        if isinstance(event, RunResumed | RunFinished):
            waiting, self._waiting = self._waiting, None
            self._passed_over = isinstance(event, RunFinished) and event.status in ("success", "failure", "unjudged")
            return [event, *waiting] if isinstance(event, RunResumed) else [event]
        if isinstance(event, PhaseStarted):
            self._waiting = []
        if isinstance(event, RunStarted) or (isinstance(event, Noted) and not event.place):
            return [event]  # of the whole run
        self._waiting.append(event)
        return []

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Meanwhile the terminal belongs to somebody else, such as a question to a person."""
        with self._live_line.pause():
            self._leave_floor()
            self._live_line.hidden = True
        try:
            yield
        finally:
            self._live_line.hidden = self._floor is not None

    async def ask(self, distribution: str) -> bool:
        """Ask whether a package may be installed; meanwhile the last line belongs to the question."""
        with self.paused():
            return await ask_person(distribution)

    @singledispatchmethod
    def _show(self, event: Event) -> None:
        """Events without a method of their own are not shown."""

    @_show.register
    def _(self, event: RunStarted) -> None:
        where = f"plays {self._replayed} again" if self._replayed else f"works in {event.folder}"
        self._say(f"{click.style(event.company, bold=True)} {where}")

    @_show.register
    def _(self, _: RunFinished) -> None:
        if self._passed_over:
            self._say(click.style("everything is recorded; nothing is left to do", fg="blue"))

    @_show.register
    def _(self, event: RunResumed) -> None:
        text = f"resumed after {count_noun(event.calls, 'recorded call')}"
        self._say(click.style(text, fg="blue"))

    @_show.register
    def _(self, event: PhaseStarted) -> None:
        self._titles[event.place] = {"assistant": event.assistant, "instructor": event.instructor or ""}
        pair = " ⇄ ".join(title for title in (event.instructor, event.assistant) if title)
        self._say(f"\n{click.style(f'━━ {event.place}', fg='blue', bold=True)}  {pair}")
        self._say(click.style(f"   {event.about}", dim=True))

    @_show.register
    def _(self, event: PhaseFinished) -> None:
        text = f"   {event.ending} after {count_noun(event.rounds, 'round')}, {count_noun(event.calls, 'call')}"
        self._say(click.style(text, fg="red" if event.ending == "failed" else "blue"))

    @_show.register
    def _(self, event: Uttered) -> None:
        if event.place == self._floor:
            self._leave_floor()
            return
        if event.utterance == "opening" and not self._verbose:
            return
        title = {"opening": "", "report": f"for the {event.role}"}.get(event.utterance, event.role)
        self._speaker(title, event.utterance, event.speaker)
        for line in layout_text(event.text, everything=self._verbose):
            self._say(line)

    @_show.register
    def _(self, event: TextStreamed) -> None:
        place = Place(event.place)
        if self._floor == place.turn:
            if event.again:
                self._say(click.style("  (the connection broke; asking again)", fg="yellow"))
            elif place.is_second_attempt and place != self._request:
                self._say(click.style("  (this reply is not used; asking again)", fg="yellow"))
        if event.again:
            return
        if self._floor is None:
            titles = self._titles.get(place.nearest_step, {})
            kind = f"draft {place.draft}" if place.draft > 1 else ""
            self._speaker(titles.get(place.speaker, ""), kind, place.speaker)
            self._floor = place.turn
        if self._floor == place.turn:
            self._request = place
            click.echo(event.text, nl=False)

    @_show.register
    def _(self, event: DeliveryApplied) -> None:
        parts = [*(f"→ {name}" for name in event.written), *(f"deleted {name}" for name in event.deleted)]
        text = "= nothing changed" if event.unchanged or not parts else ", ".join(parts)
        self._say(click.style(f"  {text}", fg="green"))

    @_show.register
    def _(self, event: DraftJudged) -> None:
        sign = click.style("✓", fg="green") if event.passed else click.style("✗", fg="red")
        self._say(f"  {sign} {first_line(event.describe())}")

    @_show.register
    def _(self, event: DeliveryRefused) -> None:
        self._say(click.style(f"  ✗ not kept: {first_line(event.reason)}", fg="red"))

    @_show.register
    def _(self, event: ToolCalled) -> None:
        if event.passed is None and not event.summary.strip():
            return  # such as one that mends slips, where there were none
        sign, colour = {True: ("✓", "green"), False: ("✗", "red"), None: ("·", "blue")}[event.passed]
        head = f"{sign} {event.tool}"
        self._say(f"  {click.style(head, fg=colour)}  {first_line(event.summary, len(head) + 4)}")

    @_show.register
    def _(self, event: StepStarted) -> None:
        detail = "" if event.step == "tool" else f"  {event.detail}"
        self._say(f"\n{click.style(f'━━ {event.place}', fg='blue', bold=True)}{detail}")

    @_show.register
    def _(self, event: StepSkipped) -> None:
        text = f"━━ {event.place} is skipped: {event.reason}"
        self._say(click.style(text if self._verbose else first_line(text, 0), dim=True))

    @_show.register
    def _(self, event: Noted) -> None:
        colour = "yellow" if event.level == "warning" else None
        self._say(click.style(textwrap.indent(f"{event.level}: {event.text}", "  "), fg=colour))

    def _speaker(self, title: str, kind: str, speaker: str | None) -> None:
        head = " · ".join(part for part in (title, kind) if part)
        self._say(f"\n  {click.style(head, fg=_COLOURS[speaker], bold=True)}")

    def _say(self, line: str) -> None:
        self._leave_floor()
        click.echo(line)

    def _leave_floor(self) -> None:
        """End the line of a streamed reply."""
        if self._floor is not None:
            self._floor = None
            click.echo()


# Texts of models and tools on a terminal, and the live line at its bottom.

INDENT = "    "
CODE_LINES = 8  # of one code block, unless everything is shown
TEXT_LINES = 30  # of one utterance, likewise
_WIDEST = 100  # columns; longer lines are hard to read
_FENCE = re.compile(r"\s*(```|~~~)")


def width() -> int:
    """Columns to write in."""
    return min(_WIDEST, shutil.get_terminal_size().columns)


def first_line(text: str, beside: int = 20) -> str:
    """The first line that says something, with the next one where it only announces that; cut to what the terminal has
    beside `beside` columns."""
    said = islice((line.strip() for line in text.splitlines() if line.strip()), 2)
    line = next(said, "")
    if line.endswith(":"):
        line = f"{line} {next(said, '')}"
    return textwrap.shorten(line, max(20, width() - beside), placeholder=" …")


def layout_text(text: str, *, everything: bool) -> Iterator[str]:
    """The lines of a text: wrapped, indented, code dimmed, and cut unless `everything` is wanted."""
    lines = _lines(text.strip("\n"), everything=everything)
    if everything:
        yield from lines
        return
    yield from islice(lines, TEXT_LINES)
    if more := sum(1 for _ in lines):
        yield _more(more)


def _lines(text: str, *, everything: bool) -> Iterator[str]:
    in_code, shown = False, 0
    most = sys.maxsize if everything else CODE_LINES
    for line in text.split("\n"):
        if _FENCE.match(line):
            yield from _rest_of_code(shown - most)
            in_code, shown = not in_code, 0
            yield _dim(line)
        elif in_code:
            shown += 1
            if shown <= most:
                yield _dim(line)
        else:
            yield from _wrap(line)
    yield from _rest_of_code(shown - most)


def _rest_of_code(lines: int) -> Iterator[str]:
    """Note on the number of lines of a code block that are not shown; empty if all are."""
    if lines > 0:
        yield _more(lines)


def _wrap(line: str) -> list[str]:
    hanging = INDENT + " " * min(len(line) - len(line.lstrip()), width() // 2)
    return textwrap.wrap(line.strip(), width(), initial_indent=hanging, subsequent_indent=hanging,
                         break_on_hyphens=False) or [""]


def _dim(line: str) -> str:
    return click.style(INDENT + line, dim=True)


def _more(count: int) -> str:
    return _dim(f"… {count_noun(count, 'more line')}")


_CLEAR = "\r\x1b[K"
_TICK = 1.0  # seconds between updates of the clock


class LiveLine:
    """Phase, round, calls, tokens, cost and time on one line of a terminal; on anything else it writes nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)
        self._started = time.monotonic()
        self._usage = RunUsage()
        self._phase = ""
        self._round = 0
        self.hidden = False
        """True while the last line of the terminal belongs to something else."""

    def follow(self, event: Event) -> None:
        """Take in what an event says."""
        match event:
            case PhaseStarted():
                self._phase, self._round = event.phase, 0
            case Uttered():
                self._round = event.round
            case ModelCalled():
                self._usage.add(event)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Clear the line while something else is written."""
        with self._lock:
            self._clear()
            yield
            self._draw()

    def __enter__(self) -> Self:
        if self._live:
            self._ticker.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._over.set()
        if self._live:
            self._ticker.join()
        self._clear()

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self._lock:
                self._draw()

    def _clear(self) -> None:
        if not self.hidden:
            self._write(_CLEAR)

    def _draw(self) -> None:
        if not self.hidden:
            columns = shutil.get_terminal_size().columns
            self._write(f"{_CLEAR}{self._text()[:columns - 1]}")

    def _text(self) -> str:
        usage = self._usage
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        where = [self._phase or "starting", *([f"round {self._round}"] if self._round else [])]
        tokens = usage.prompt_tokens + usage.completion_tokens
        return " · ".join([*where, count_noun(usage.calls, "call"), f"{tokens} tokens", money(usage.cost),
                           f"{minutes}:{seconds:02}"])

    def _write(self, text: str) -> None:
        if self._live:
            self._stream.write(text)
            self._stream.flush()
