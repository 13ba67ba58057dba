"""How a run is shown: on a console, as JSON lines, or only its end, with the commands with which to go on; afterwards
in a browser (`chatdev view`), and as spans of its journal (`chatdev trace`)."""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from chatdev.cli.console import Console, Detail
from chatdev.cli.outcome import interrupted_status, output_is_recorded, report_outcome
from chatdev.cli.people import PeopleConsole
from chatdev.cli.screen import can_ask_person, format_cost, format_seconds, format_tokens, wrap_words
from chatdev.config.settings import user_settings
from chatdev.engine.budget import count_noun, describe_spending
from chatdev.errors import ConfigError, MissingProgram, ToolError
from chatdev.events import Event
from chatdev.paths import working_folder
from chatdev.runner.report import Run, next_commands
from chatdev.runner.resources import describe_unpriced
from chatdev.runner.story import RunStory, describe_attempts, news_of
from chatdev.safe_text import sanitize, scrub
from chatdev.workspace.file_tree import explain_os_errors
from chatdev.workspace.languages import is_startable

_OPTIONS = (
    click.option("--quiet", is_flag=True, help="Show only the end."),
    click.option("--dialogue", is_flag=True, help="Show what is said, too; long texts and code cut."),
    click.option("--verbose", is_flag=True, help="Show everything: what is said, uncut, openings, skipped steps."),
    click.option("--json", "as_json", is_flag=True, help="Print one event a line, as JSON."),
)


@dataclass(frozen=True, slots=True)
class Show:
    """How much of a run is shown. `kept`: its folder is there afterwards. `resumed` and `replayed`: as `Console` has
    them. `waits`: for people who are not at the terminal."""

    detail: Detail
    json: bool
    kept: bool = True
    resumed: bool = False
    replayed: Path | None = None
    waits: bool = False

    def follow(self, run: Callable[..., Run]) -> int:
        """Call `run` with `on_event` and `ask` of `RunOptions`, show its end, and return the exit code. Raises the
        run's error."""
        detail: Detail = "nothing" if self.json else self.detail
        with Console(detail, resumed=self.resumed, replayed=self.replayed) as console:
            here = can_ask_person() and not self.replayed
            people = PeopleConsole(console, self.waits, quiet=detail == "nothing")
            done = run(on_event=print_json if self.json else people, ask=console.ask if here else None,
                       **({"answer": people.ask} if here else {}))
        if self.kept:
            output_is_recorded()
        if not self.json:
            for line in ending_lines(done, console.story, kept=self.kept, replayed=self.replayed is not None):
                click.echo(line)
        if done.error:
            raise done.error
        statuses = {"success": 0, "interrupted": interrupted_status(), "unjudged": ToolError.exit_status}
        return statuses.get(done.status, 1)

    def announce(self, text: str) -> None:
        """Print a line before the run, unless only its end or its events are shown."""
        if not (self.json or self.detail == "nothing"):
            click.echo(sanitize(text))


def show_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--quiet`, `--dialogue`, `--verbose` and `--json`; `pop_show` makes a `Show` of them."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def pop_show(given: dict[str, Any], **more: Any) -> Show:
    """The options of `show_options`, taken out of what was given, with `more` of `Show`. Replies that are shown as they
    are written are dialogue."""
    wanted = {"nothing": given.pop("quiet"), "everything": given.pop("verbose"),
              "dialogue": given.pop("dialogue") or given.get("stream")}
    detail: Any = next((name for name, is_wanted in wanted.items() if is_wanted), "steps")
    return Show(detail, given.pop("as_json"), **more)


def print_json(event: Event) -> None:
    """Print an event as a JSON object with its `kind`; in ASCII, so that no text steers a terminal."""
    click.echo(scrub(json.dumps({"kind": event.kind, **event.to_dict()})))


# The end of a run.

_CHANGED = 12  # lines of the statistic of a change
_WHY = 6  # lines of a report
_WORDS = ("why", "", "tried", "price", "budget")  # labels of words, which are wrapped; paths and commands are not
_LOOK = {"success": ("✓", "green", "Done in"), "failure": ("✗", "red", "Failed after"),
         "unjudged": ("–", "yellow", "Finished, but not judged, after"),
         "error": ("✗", "red", "Stopped by an error after"), "interrupted": ("–", "yellow", "Interrupted after"),
         "stopped": ("–", "yellow", "Stopped by its budget after")}


def ending_lines(run: Run, story: RunStory, *, kept: bool = True, replayed: bool = False) -> Iterator[str]:
    """The end of a run; the text of an error is left to the one who reports errors. `kept`: its folder stays.
    `replayed`: it took the time of the run on record."""
    sign, colour, word = _LOOK[run.status]
    seconds = sum(step.usage.seconds for step in story.steps) if replayed else run.usage.seconds
    yield f"\n{click.style(f'{sign} {word}', fg=colour, bold=True)} {' · '.join(_spending(run, seconds))}"
    rows = [*_reasons(run, story), *_results(run, kept=kept)]
    if run.usage.unpriced:
        rows.append(("price", describe_unpriced(run.usage.unpriced)))
    if budget := describe_spending(run.limits, run.spent):
        rows.append(("budget", budget))
    commands = next_commands(run, story) if kept else []
    rows += [("or" if n else "go on", f"{own_command()} {shlex.join(given)}") for n, given in enumerate(commands)]
    for label, text in rows:
        lines = wrap_words(sanitize(text), 13) if label in _WORDS else [sanitize(text)]
        yield f"  {label:<9} " + f"\n{' ' * 12}".join(lines)


def _spending(run: Run, seconds: float) -> Iterator[str]:
    usage = run.usage
    yield format_seconds(seconds)
    repeated = f" ({usage.retries} repeated)" if usage.retries else ""
    yield f"{count_noun(usage.calls, 'call')}{repeated}"
    yield format_tokens(usage.tokens) + (" (partly estimated)" if usage.estimated else "")
    yield format_cost(usage.cost)


def _reasons(run: Run, story: RunStory) -> Iterator[tuple[str, str]]:
    """Why a run did not succeed, and what was tried."""
    if run.status == "success":
        return
    if not run.error:
        yield "why", run.reason
    if run.status == "failure" and (verdict := story.failure):
        head, more = news_of(verdict.summary)
        for line in filter(None, [head, *more.splitlines()[:_WHY]]):
            yield "", line
    if run.status in ("failure", "error") and (tried := ", ".join(describe_attempts(story.attempts))):
        yield "tried", tried


def _results(run: Run, *, kept: bool) -> Iterator[tuple[str, str]]:
    """What was made, and where it is."""
    size = f"{count_noun(len(run.software), 'file')}, {count_noun(run.software.lines, 'line')}"
    if not kept:
        yield "software", f"{size}, not kept (--warehouse keeps it)"
        return
    folder = shlex.quote(str(run.folder))
    yield "software", f"{run.software_folder}  ({size})"
    if run.change:
        yield from (("changed", line) for line in _first_lines(run.change.splitlines()))
        yield "apply it", f"{own_command()} apply {folder}"
    if run.status in ("success", "unjudged") and is_startable(run.software):
        yield "start it", f"{own_command()} play {folder}"
    yield "report", str(run.folder / "run" / "report.md")


def _first_lines(lines: list[str]) -> list[str]:
    """Some lines of a statistic, and its last one."""
    if len(lines) <= _CHANGED:
        return lines
    return [*lines[:_CHANGED - 2], f"… and {len(lines) - _CHANGED + 1} files more", lines[-1]]


def own_command() -> str:
    """How to give the next command; a checkout's own environment is not on the path."""
    if shutil.which("chatdev"):
        return "chatdev"
    script = Path(sys.executable).with_name("chatdev")
    if not script.is_file():
        return f"{shlex.quote(sys.executable)} -m chatdev"
    here = Path.cwd()
    return shlex.quote(str(script.relative_to(here) if script.is_relative_to(here) else script))


# `chatdev trace`: the spans of a run, made of its journal.


@click.command("trace")
@click.argument("path", metavar="DIR|FILE", type=click.Path(path_type=Path))
@click.option("--endpoint", metavar="URL",
              help="Address of a collector. [default: OTEL_EXPORTER_OTLP_ENDPOINT, else http://localhost:4318]")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE",
              help="Write them as lines of OTLP's JSON instead; `-` is standard output.")
@click.option("--content", is_flag=True, help="With prompts, replies, and what tools were given and returned.")
@report_outcome
def trace_command(path: Path, endpoint: str | None, output: Path | None, content: bool) -> int:
    """Send the spans of a run to an OTLP endpoint, or write them to a file, from the run's folder or journal.

    The same journal gives the same trace, so that it may be sent twice.
    """
    from chatdev.runner.telemetry import otlp_lines, send_spans, spans_of

    if endpoint and output:
        raise ConfigError("--endpoint sends the spans and --output writes them; leave one out")
    spans = spans_of(path, content=content)
    if output and str(output) == "-":
        for line in otlp_lines(spans):
            click.echo(line, nl=False)
        return 0
    if output:
        with explain_os_errors("write", output), output.open("w", encoding="utf-8") as file:
            file.writelines(otlp_lines(spans))
        where = f"written to {output}"
    else:
        where = f"sent to {send_spans(spans, endpoint)}"
    trace = format(spans[0].context.trace_id, "032x") if spans else "none"
    click.echo(sanitize(f"{count_noun(len(spans), 'span')} of trace {trace} {where}"))
    return 0


# The command `chatdev view`.


@click.command("view")
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--warehouse", type=click.Path(path_type=Path), help="The runs that are shown. [default: warehouse]")
@click.option("--studies", type=click.Path(path_type=Path), default="studies", show_default=True,
              help="The studies of `chatdev eval` that are shown.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="PORT",
              help="Where the page is, on 127.0.0.1. [default: any free port]")
@report_outcome
def view_command(folder: Path | None, warehouse: Path | None, studies: Path, port: int) -> int:
    """Show runs in a browser, live and as replays: the run in DIR, or those of a warehouse. Nothing is shown to others:
    the page is on this machine only, and the address that is printed has a token."""
    try:
        import starlette  # noqa: F401 - whether it is there
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingProgram("the web view needs starlette and uvicorn: pip install 'chatdev-chain[web]'") from error
    from chatdev.web.server import View, address, open_port, own_key, serve
    from chatdev.web.warehouse import Studies, Warehouse

    root, run = _what_to_show(folder, warehouse)
    token = secrets.token_urlsafe(24)
    with open_port(port) as listening:
        click.echo(f"{sanitize(str(root))} is shown at\n\n  {address(listening, token, run)}\n\n"
                   "Open it in a browser of this machine. Ctrl-C ends the view, and no run.")
        view = View(Warehouse(root), Studies(studies))
        asyncio.run(serve(view, listening, token=token, key=own_key()))
    return 0


def _what_to_show(folder: Path | None, warehouse: Path | None) -> tuple[Path, str]:
    """The folder of runs, and the run that is shown first. Raises ConfigError."""
    if folder is not None and warehouse is not None:
        raise ConfigError("view takes DIR or --warehouse, not both: leave one out")
    if folder is not None and (folder / "run").is_dir():
        return folder.resolve().parent, folder.resolve().name
    root = folder or warehouse or Path(user_settings().warehouse or working_folder() / "warehouse")
    if not root.is_dir():
        raise ConfigError(f"there is no folder {root}; give the folder of a run, or --warehouse with one of runs")
    return root, ""
