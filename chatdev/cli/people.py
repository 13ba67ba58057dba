"""A person at the terminal of a run who plays a role, approves of what it does or consents to what a stranger wants;
and `chatdev answer`."""

from __future__ import annotations

import asyncio
import os
import re
import select
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from chatdev.cli.outcome import report_outcome
from chatdev.cli.screen import can_ask_person, layout_text
from chatdev.cli.shared_options import is_yes, read_text_file
from chatdev.engine.people import CONTROL
from chatdev.errors import ConfigError, ConsentMissing
from chatdev.events import Event, PersonAnswered, PersonAsked, RunStarted
from chatdev.runner.people import PersonAnswer, answer, waiting
from chatdev.runner.report import sanitize_event
from chatdev.safe_text import sanitize
from chatdev.workspace.file_tree import write_file

if TYPE_CHECKING:
    from chatdev.cli.console import Console
    from chatdev.runner.consent import Stranger

T = TypeVar("T")

_DOES = {"accept": "accepts", "refuse": "refuses", "edit": "edits it"}
_GIVEN_BACK = "Edit it again (what you wrote is there), or accept what was delivered without it."
_PATCH = {"+": "green", "-": "red", "@": "cyan", " ": ""}  # the colours of its lines
_OF_GIT = ("diff --git ", "index ", "new file mode ")
_SHOWN = 40  # lines of a question, unless all of it is wanted
_PASTE = 0.05  # seconds within which the next line of what is pasted comes
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|.)")  # of keys that write no character
_FENCE = re.compile(r"\s*(```|~~~)")
_EDITORS = ("nano", "vi")
_CUT = "---- what stands below this line is left out ----"
_HOW = "Write your answer; an empty line (outside of ``` code) or Ctrl-D sends it."
_COMMANDS = {"turn": ":accept  agree    :edit  use your editor    :show  all of it    Ctrl-D  skip",
             "approval": "[a]ccept [r]efuse [e]dit [s]how all, Ctrl-D leaves it undone"}
_WORDS = {"a": "accept", "y": "accept", "r": "refuse", "n": "refuse", "e": "edit", "s": "show"}


class TerminalClosed(Exception):
    """Nothing more will be typed."""


@dataclass(slots=True)
class PersonAtTerminal:
    """Asks at the terminal, and reads what is typed, line by line, without holding up the run. `input` is the file
    descriptor that is typed at."""

    input: int = 0
    _rest: bytes = b""

    async def ask(self, question: PersonAsked) -> PersonAnswer | None:
        """The answer that is typed; None at the end of input. When it is cancelled, because somebody else answered, it
        says so."""
        editing, question = Editing(question), sanitize_event(question)
        _tell("\a", nl=False)
        _show(question, everything=False)
        try:
            if question.asks == "turn":
                return await self._take_turn(question, editing)
            return await self._approve(question, editing)
        except TerminalClosed:
            _tell("")
            return None
        except asyncio.CancelledError:
            _tell(f"\n  this is answered, or no longer asked{editing.kept()}")
            raise
        finally:
            editing.close()

    async def _take_turn(self, question: PersonAsked, editing: Editing) -> PersonAnswer:
        _tell(click.style(f"  {_HOW}\n  {_COMMANDS['turn']}", dim=True))
        while True:
            text = await self._lines("  you> ")
            match text.strip():
                case ":accept":
                    return PersonAnswer("accept")
                case ":show":
                    _show(question, everything=True)
                case ":edit":
                    if written := await editing.write():
                        return PersonAnswer("say", written)
                case "":
                    _tell("  Nothing is written; :accept agrees with what is there.")
                case _ if re.fullmatch(r":\w+", text.strip()):
                    _tell(f"  {text.strip()} is none of: {_COMMANDS['turn']}")
                case _:
                    return PersonAnswer("say", text)

    async def _approve(self, question: PersonAsked, editing: Editing) -> PersonAnswer:
        commands = _COMMANDS["approval"] if question.edits else _COMMANDS["approval"].replace("[e]dit ", "")
        while True:
            word, _, rest = (await self._line(f"  {commands} > ")).strip().partition(" ")
            if given := await self._decide(_WORDS.get(word[:1].lower(), ""), rest.strip(), question, editing):
                return given

    async def _decide(self, action: str, words: str, question: PersonAsked, editing: Editing) -> PersonAnswer | None:
        """The answer that a command means; None where it gives none."""
        match action:
            case "accept":
                return PersonAnswer("accept", words)
            case "refuse":
                return PersonAnswer("refuse", words or await self._reason())
            case "edit" if question.edits:
                files = await editing.change()
                return PersonAnswer("edit", files=files) if files else None
            case "show":
                _show(question, everything=True)
            case _:
                _tell("  Type a, r, e or s." if question.edits else "  Type a, r or s.")
        return None

    async def _reason(self) -> str:
        _tell("  Why? An empty line sends it.")
        try:
            return (await self._lines("  you> ")).strip()
        except TerminalClosed:
            return ""

    async def _lines(self, prompt: str) -> str:
        """What is typed up to an empty line outside of code; or up to the end of input, if there is something. An empty
        line within what is pasted ends nothing. Raises TerminalClosed."""
        lines: list[str] = []
        in_code = False
        while True:
            try:
                line = await self._line(prompt if not lines else "")
            except TerminalClosed:
                if not lines:
                    raise
                return "\n".join(lines)
            if not line.strip() and not in_code and not self._is_more():
                return "\n".join(lines)
            in_code ^= bool(_FENCE.match(line))
            lines.append(line)
            if len(lines) == 1 and line.startswith(":"):
                return line

    async def _line(self, prompt: str) -> str:
        """The next line, without what steers a terminal. Raises TerminalClosed."""
        if prompt:
            _tell(click.style(prompt, bold=True), nl=False)
        while b"\n" not in self._rest:
            if not (more := await self._read()):
                break
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        if not line and not _:
            raise TerminalClosed
        return CONTROL.sub("", _SEQUENCE.sub("", line.decode("utf-8", "replace")))

    async def _read(self) -> bytes:
        """What is typed next; nothing at the end of input."""
        loop, typed = asyncio.get_running_loop(), asyncio.Event()
        loop.add_reader(self.input, typed.set)
        try:
            await typed.wait()
        finally:
            loop.remove_reader(self.input)
        try:
            return os.read(self.input, 1 << 16)
        except OSError:  # the terminal is gone
            return b""

    def _is_more(self) -> bool:
        return bool(self._rest) or bool(select.select([self.input], [], [], _PASTE)[0])


@dataclass(slots=True)
class PeopleConsole:
    """A console whose terminal belongs to a person while they are asked: what happens meanwhile, in parallel branches,
    is shown then. `waits`: the run waits for people who are not at this terminal, and says so."""

    console: Console
    waits: bool = False
    quiet: bool = False
    _person: PersonAtTerminal = field(default_factory=PersonAtTerminal)
    _meanwhile: list[Event] | None = None
    _folder: str = ""

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if isinstance(event, RunStarted):
            self._folder = event.folder
        if self._meanwhile is not None:
            self._meanwhile.append(event)
            return
        self.console(event)
        if isinstance(event, PersonAsked) and not can_ask_person():
            self._tell_waiting(event)
        elif isinstance(event, PersonAnswered) and event.action in _DOES:
            self._say(f"a person {_DOES[event.action]}{': ' * bool(event.text.strip())}{event.text.strip()}")

    async def ask(self, question: PersonAsked) -> PersonAnswer | None:
        """The answer that is typed at the terminal."""
        self._meanwhile = []
        try:
            with self.console.paused():
                given = await self._person.ask(question)
        finally:
            meanwhile, self._meanwhile = self._meanwhile or [], None
            for event in meanwhile:
                self(event)
        if given is None:
            self._tell_waiting(question)
        return given

    def _tell_waiting(self, question: PersonAsked) -> None:
        if self.waits:
            self._say(f"waits for a person: {question.about} (chatdev answer {shlex.quote(self._folder)})")

    def _say(self, text: str) -> None:
        if not self.quiet:
            with self.console.paused():
                click.echo(click.style(f"  {sanitize(text)}", fg="yellow"))


@dataclass(slots=True)
class Editing:
    """The files of one question in the person's editor; they stay as they are written until it is answered."""

    question: PersonAsked
    _folder: Path | None = None
    _is_kept: bool = field(default=False)

    async def write(self) -> str:
        """What is written above the line; empty where it is nothing."""
        path = self._place({"answer.md": f"\n\n{_CUT}\n\n{self.question.text}\n"}) / "answer.md"
        if not await self._open([path]):
            return ""
        try:
            return read_text_file(path, "your answer").partition(_CUT)[0].strip()
        except ConfigError as error:
            _tell(f"  {error}; it is still there: edit it again")
            return ""

    async def change(self) -> dict[str, str]:
        """The files that are changed; none where nothing is."""
        edits = self.question.edits
        folder = self._place(edits)
        if not await self._open([folder / name for name in edits]):
            return {}
        try:
            found = {name: read_text_file(folder / name, "your edit") for name in edits}
        except ConfigError as error:
            _tell(f"  {error}; it is still there: edit it again")
            return {}
        if found == edits:
            _tell("  Nothing is changed.")
        return {name: text for name, text in found.items() if text != edits[name]}

    def kept(self) -> str:
        """Where what was written stays, in words; nothing where nothing was."""
        self._is_kept = self._folder is not None
        return f"; what you wrote is in {self._folder}" if self._folder else ""

    def close(self) -> None:
        """Remove the files."""
        if self._folder and not self._is_kept:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _place(self, files: Mapping[str, str]) -> Path:
        """The folder with the files, made once: what was written stays there."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="chatdev-answer-"))
            for name, text in files.items():
                write_file(self._folder, name, text.encode("utf-8", "replace"))
        return self._folder

    async def _open(self, paths: list[Path]) -> bool:
        """Have the files edited; False where that does not work, which is told."""
        named = os.environ.get("VISUAL") or os.environ.get("EDITOR") or next(filter(shutil.which, _EDITORS), "")
        if not named:
            _tell("  There is no editor; set EDITOR, or type your answer here.")
            return False
        try:
            process = await asyncio.create_subprocess_exec(*shlex.split(named), *map(str, paths))
        except (OSError, ValueError) as error:
            _tell(f"  The editor {named!r} does not start: {error}; set EDITOR.")
            return False
        try:
            status = await process.wait()
        except asyncio.CancelledError:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGHUP)
            raise
        if status:
            _tell(f"  The editor ended with status {status}; what you wrote is not used, and is still there.")
        return not status


def _show(question: PersonAsked, *, everything: bool) -> None:
    """Print what is asked; changes of files in colours."""
    head = f"━━ {question.place}  {'your turn' if question.asks == 'turn' else 'may this happen?'}"
    _tell(f"\n{click.style(head, fg='yellow', bold=True)}\n  {question.about}")
    if question.problem:
        told = f"Your edit cannot be used: {question.problem}\n{_GIVEN_BACK}"
        _tell(click.style(_lay_out(told), fg="red"))
    lines = [line for line in question.text.splitlines() if not line.startswith(_OF_GIT)]
    shown = lines if everything else lines[:_SHOWN]
    is_change = any(line.startswith("@@ ") for line in lines)
    _tell("\n".join(map(_paint, shown)) if is_change else _lay_out("\n".join(shown)))
    if more := len(lines) - len(shown):
        command = ":show" if question.asks == "turn" else "s"
        _tell(click.style(f"    … {more} more lines, {command} shows them", dim=True))


def _lay_out(text: str) -> str:
    return "\n".join(line.plain for line in layout_text(text, everything=True))


def _paint(line: str) -> str:
    """A line of a change in its colour; another one as it is laid out elsewhere."""
    if line[:1] not in _PATCH:
        return _lay_out(line)
    colour = _PATCH[line[:1]]
    return f"    {click.style(line, fg=colour) if colour else line}"


def _tell(text: str, *, nl: bool = True) -> None:
    click.echo(text, nl=nl, err=True)


@click.command("answer")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--accept", is_flag=True, help="Accept what is there.")
@click.option("--refuse", metavar="TEXT", help="Refuse it, and say why.")
@click.option("--say", metavar="TEXT", help="Take the turn: say TEXT.")
@click.option("--file", "files", multiple=True, metavar="[NAME=]FILE",
              help="Take the turn with the text of FILE (- reads it from standard input); or, where something is to be "
                   "approved, edit: NAME becomes what is in FILE.")
@click.option("--question", "wanted", metavar="ID", help="Which question, where there are several.")
@report_outcome
def command(folder: Path, wanted: str | None, **given: Any) -> int:
    """Answer what the run in DIR asks a person; without an answer, show the questions. A run that is not under way
    takes the answer when it is resumed. The first answer counts."""
    questions = [one for one in waiting(folder) if wanted in (None, one.id)]
    options = {name: value for name, value in given.items() if value not in (False, None, ())}
    if not options:
        return _list(folder, questions)
    if len(options) > 1:
        raise ConfigError("give one of --accept, --refuse, --say and --file")
    question = _single(folder, questions, wanted)
    ((option, value),) = options.items()
    if not answer(folder, question.id, _OPTIONS[option](question, value)):
        click.echo("somebody else answered first, and that answer counts", err=True)
        return 1
    click.echo(sanitize(f"answered: {question.about}"))
    return 0


def _single(folder: Path, questions: list[PersonAsked], wanted: str | None) -> PersonAsked:
    """The only question. Raises ConfigError where there is none, or where one has to be named."""
    if not questions:
        raise ConfigError(f"the run in {folder} asks nothing now" + (f" by the name {wanted!r}" if wanted else ""))
    if len(questions) > 1:
        raise ConfigError(f"the run in {folder} asks {len(questions)} questions; name one: "
                          f"--question {' or '.join(one.id for one in questions)}")
    return questions[0]


def _list(folder: Path, questions: list[PersonAsked]) -> int:
    for question in map(sanitize_event, questions):
        click.echo(f"{question.id}  {question.place}  {question.about}")
        if question.problem:
            click.echo(f"  the edit before cannot be used: {question.problem}")
        for line in question.text.splitlines():
            click.echo(f"    {line}")
    if not questions:
        click.echo(sanitize(f"the run in {folder} asks nothing now"))
    return 0


def _from_text(question: PersonAsked, text: str) -> PersonAnswer:
    return PersonAnswer("say" if question.asks == "turn" else "refuse", text)


def _from_file(files: tuple[str, ...]) -> PersonAnswer:
    if len(files) > 1:
        raise ConfigError("a turn is the text of one --file")
    return PersonAnswer("say", read_text_file(Path(files[0]), "--file"))


def _from_files(question: PersonAsked, files: tuple[str, ...]) -> PersonAnswer:
    """An edit with the texts of files; where a turn is to be taken, what the only one says."""
    if question.asks == "turn":
        return _from_file(files)
    named = {name: read_text_file(Path(file), "--file") for name, _, file in (one.rpartition("=") for one in files)}
    if len(question.edits) == 1 and [*named] == [""]:
        named = {next(iter(question.edits)): named[""]}
    if not question.edits or "" in named:
        raise ConfigError("say what is edited: --file NAME=FILE; what can be is: "
                          f"{', '.join(question.edits) or 'nothing'}")
    return PersonAnswer("edit", files=named)


_OPTIONS: Mapping[str, Callable[[PersonAsked, Any], PersonAnswer]] = {
    "accept": lambda _, __: PersonAnswer("accept"), "refuse": _from_text, "say": _from_text, "files": _from_files}


def ask_for_consent(act: Callable[[], T]) -> T:
    """What `act` returns. Where it wants the user's consent, a person at a terminal is asked, once, and their consent
    put on record; without a terminal, or on a no, ConsentMissing is raised."""
    from chatdev.config.settings import add_trust

    while True:
        try:
            return act()
        except ConsentMissing as missing:
            if not (missing.subjects and can_ask_person()):
                raise
            for stranger in missing.subjects:
                if not is_allowed(stranger):
                    raise
                add_trust(stranger.trust())


def is_allowed(stranger: Stranger) -> bool:
    """Whether a person at the terminal allows what a stranger wants."""
    click.echo(sanitize(stranger.describe()), err=True)
    click.echo("Allow this, until it changes? [y/N] ", nl=False, err=True)
    return is_yes(sys.stdin.readline())
