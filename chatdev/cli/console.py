"""The run as a person follows it: who says what to whom, and what comes of it."""

from __future__ import annotations

import shutil
import sys
import textwrap
from typing import Self

import click

from chatdev.cli.progress import Progress
from chatdev.events import (
    DeliveryApplied,
    DeliveryRefused,
    Event,
    Noted,
    PhaseFinished,
    PhaseStarted,
    StepFinished,
    StepSkipped,
    StepStarted,
    TextStreamed,
    ToolCalled,
    Uttered,
)

CODE_LINES = 6  # of a block, unless everything is shown
WIDEST = 110
_COLOURS = {"instructor": "cyan", "assistant": "green", None: "yellow"}


class Console:
    """Prints events as they happen; `quiet` shows only the progress line, `verbose` everything that is said."""

    def __init__(self, *, verbose: bool = False, quiet: bool = False) -> None:
        self._verbose = verbose
        self._quiet = quiet
        self._progress = Progress(sys.stderr)
        self._streaming = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        self._progress.update(event)
        if self._quiet:
            return
        with self._progress.hidden():
            self._show(event)

    def _show(self, event: Event) -> None:
        match event:
            case TextStreamed():
                self._stream(event)
            case Uttered():
                self._utterance(event)
            case PhaseStarted() | PhaseFinished():
                self._phase(event)
            case DeliveryApplied() | DeliveryRefused() | ToolCalled():
                self._outcome(event)
            case StepStarted() | StepFinished() | StepSkipped() | Noted():
                self._step(event)

    def _phase(self, event: PhaseStarted | PhaseFinished) -> None:
        if isinstance(event, PhaseStarted):
            pair = f"{event.instructor} ⇄ {event.assistant}" if event.instructor else event.assistant
            click.echo()
            click.echo(click.style(f"━━ {event.place} ", bold=True) + click.style(pair, fg="magenta"))
            click.echo(click.style(f"   {event.about}", dim=True))
            return
        rounds = f"{event.rounds} round{'s' * (event.rounds != 1)}, {event.calls} call{'s' * (event.calls != 1)}"
        colour = "red" if event.ending == "failed" else None
        click.echo(click.style(f"   ■ {event.ending} ({rounds})", fg=colour, dim=colour is None))

    def _utterance(self, event: Uttered) -> None:
        if event.utterance == "opening" and not self._verbose:
            return
        if self._streaming == event.place:
            click.echo()
            self._streaming = ""
            return
        self._speaker(event)
        click.echo(self._text(event.text))

    def _speaker(self, event: Uttered) -> None:
        who = event.role if event.speaker else f"to the {event.role}"
        click.echo(click.style(f"   {who}", fg=_COLOURS[event.speaker], bold=True)
                   + click.style(f"  {event.utterance}, round {event.round}", dim=True))

    def _text(self, text: str) -> str:
        """The text wrapped to the terminal; code as it is, dimmed and, unless `verbose`, cut."""
        width = min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST) - 4
        lines: list[str] = []
        code: list[str] | None = None
        for line in text.strip().splitlines():
            if line.lstrip().startswith(("```", "~~~")):
                if code is None:
                    code = []
                else:
                    lines += self._code(code)
                    code = None
            elif code is not None:
                code.append(line)
            else:
                lines += textwrap.wrap(line, width) or [""]
        lines += self._code(code or [])
        return textwrap.indent("\n".join(lines), "     ", lambda _: True)

    def _code(self, lines: list[str]) -> list[str]:
        shown = lines if self._verbose or len(lines) <= CODE_LINES + 1 else lines[:CODE_LINES]
        styled = [click.style(f"│ {line}", dim=True) for line in shown]
        if len(shown) < len(lines):
            styled.append(click.style(f"│ … {len(lines) - len(shown)} more lines", dim=True, italic=True))
        return styled

    def _stream(self, event: TextStreamed) -> None:
        if self._streaming != event.place:
            self._streaming = event.place
            click.echo(click.style(f"   {event.place}", dim=True))
        click.echo(event.text, nl=False)

    def _outcome(self, event: DeliveryApplied | DeliveryRefused | ToolCalled) -> None:
        match event:
            case DeliveryApplied(unchanged=True):
                click.echo(click.style("   ✎ nothing changed", dim=True))
            case DeliveryApplied():
                names = ", ".join([*event.written, *(f"{path} (deleted)" for path in event.deleted)])
                click.echo(click.style(f"   ✎ {names}", fg="blue"))
            case DeliveryRefused():
                click.echo(click.style("   ✗ not kept: ", fg="red") + _first_line(event.reason))
            case ToolCalled():
                click.echo(f"   {_mark(event.passed)} {event.tool}: {_first_line(event.summary)}")

    def _step(self, event: StepStarted | StepFinished | StepSkipped | Noted) -> None:
        match event:
            case StepStarted() if event.step != "tool":
                click.echo(click.style(f"\n━━ {event.place} ", bold=True) + click.style(event.detail, dim=True))
            case StepSkipped():
                click.echo(click.style(f"\n━━ {event.place} is skipped: {event.reason} does not hold", dim=True))
            case Noted():
                click.echo(click.style("   ! ", fg="yellow") + event.text)


def _mark(passed: bool | None) -> str:
    """A tick, a cross, or a dot where there is no verdict."""
    if passed is None:
        return "·"
    return click.style("✓", fg="green") if passed else click.style("✗", fg="red")


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")[:WIDEST]
