"""What the events of a run tell a person: its steps, each with who did it, what came of it and what it took; and where
it failed, what was tried against that, and how to go on."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chatdev.engine.budget import count_noun
from chatdev.events import (
    DeliveryApplied,
    DeliveryRefused,
    DraftJudged,
    Event,
    ModelCalled,
    PersonAnswered,
    PersonAsked,
    PhaseFinished,
    PhaseStarted,
    Place,
    RunFinished,
    RunStarted,
    StepFinished,
    StepStarted,
    ToolCalled,
    Uttered,
)
from chatdev.safe_text import describe_value, load_json, shorten


@dataclass(slots=True)
class RunUsage:
    """Model calls, tokens, money and time of a run. `cost` is None as soon as one price is unknown."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    estimated: bool = False
    retries: int = 0
    seconds: float = 0.0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    unpriced: list[str] = field(default_factory=list)
    """The models whose price is unknown."""

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, event: Event) -> None:
        """Count a `ModelCalled`; other events are none of its business."""
        if not isinstance(event, ModelCalled):
            return
        self.calls += 1
        self.prompt_tokens += event.prompt_tokens
        self.completion_tokens += event.completion_tokens
        self.cost = None if self.cost is None or event.cost is None else self.cost + event.cost
        self.estimated = self.estimated or event.estimated
        self.retries += event.retries
        if event.cost is None and event.model not in self.unpriced:
            self.unpriced.append(event.model)
        self.cached_tokens += event.cached_tokens
        self.reasoning_tokens += event.reasoning_tokens


# Names and endings in plain words.

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_a-zA-Z]+")


def title_of(place: str) -> str:
    """What a step is called: `Code review` for `code_review#1`, `Coding, pass 2` in the second pass of a loop."""
    *around, step = Place(place).nearest_step.parts or (place,)
    name, _, number = step.partition("#")
    marks = [part.removeprefix("item-").replace("pass-", "pass ") for part in around
             if part.startswith(("pass-", "item-")) and part != "pass-1"]
    if "." not in name and number not in ("", "1"):
        marks.append("again" if number == "2" else f"time {number}")
    return ", ".join([_in_words(name.rpartition(".")[2]), *marks])


def _in_words(name: str) -> str:
    """`Code review` for `code_review` or `CodeReview`; abbreviations stay as they are."""
    words = _WORDS.findall(name)
    title = " ".join(word if word.isupper() and len(word) > 1 else word.lower() for word in words) or name
    return title[:1].upper() + title[1:]


_ENDINGS = {
    "consensus": "accepted as it stands", "unchanged": "nothing changes any more", "feedback": "the check passes",
    "rounds": "all rounds are used", "stuck": "it went in circles", "budget": "its budget is used up",
    "delivered": "delivered", "reflection": "concluded from the dialogue", "kept": "what was there stays",
    "value": "a default is taken", "observed": "what the tools said is taken", "failed": "no usable result",
    "skipped": "left out, as nobody answered", "refused": "refused by a person", "": "not finished",
}


def describe_ending(step: StepStory) -> str:
    """How a phase ended, in plain words. It agrees to nothing that a check refuses."""
    if step.ending == "feedback" and not step.usage.calls:
        return "nothing to do: the check passes"
    if step.ending in ("consensus", "unchanged", "rounds", "delivered"):
        if step.passed is False:
            return f"the check still fails after {count_noun(step.rounds, 'round')}"
        if not step.said and step.rounds < 2:  # nobody to agree with
            return "done"
    return _ENDINGS.get(step.ending, step.ending)


# Errors in reports of tools.

_FRAME = re.compile(r'\s*(?:at |--> )?(?:File "(?P<file>[^"\n]{1,200})", line (?P<number>\d{1,7})'
                    r"|(?P<path>[\w./+-]{0,200}\w\.\w{1,8}):(?P<line>\d{1,7})(?::\d{1,7})?)(?P<rest>.*)")
_EXCEPTION = re.compile(r'\s*(?:Exception in thread "[^"]{0,80}" )?'
                        r"(?P<error>(?:[A-Za-z_]\w*\.){0,5}[A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning)\b(?::.*)?)$")
_AT = re.compile(r"(?:^|[\s(])(?P<path>[\w./+-]{0,200}\w\.\w{1,8}):(?P<line>\d{1,7})")
_FUNCTION = re.compile(r"(,? in [\w<>. ]*)?\s*$")
_READ = 200  # lines of a report


def located_error(report: str) -> str:
    """The error that a report tells, with its place: `main.py:2  ImportError: cannot import name 'wipe'`; empty where
    it tells none. Of a traceback it is the last line, and the last place."""
    where = ""
    lines = [line[:1000] for line in report.splitlines()[:_READ]]
    for number, line in enumerate(lines):
        if frame := _FRAME.match(line):
            where = f"{frame['file'] or frame['path']}:{frame['number'] or frame['line']}"
            said = frame["rest"].strip(" :,-")
            if said and not _FUNCTION.fullmatch(frame["rest"]):
                return f"{where}  {said}"
        elif error := _EXCEPTION.match(line):
            return f"{where or _first_place(lines[number + 1:number + 6])}  {error['error'].strip()}".strip()
    return ""


def _first_place(lines: Iterable[str]) -> str:
    """The first place of a trace that comes after its error."""
    return next((f"{at['path']}:{at['line']}" for line in lines if (at := _AT.search(line))), "")


def news_of(report: str) -> tuple[str, str]:
    """The sentence with which a report begins, and what it says further of the first thing that is wrong: the error
    with its place, else its next paragraph."""
    head, _, rest = report.strip().partition("\n")
    if head.endswith(":"):
        more, _, rest = rest.strip().partition("\n")
        head = f"{head} {more.strip()}"
    if error := located_error(report):
        return ("" if error.endswith(head) else head), error
    paragraph = rest.strip().split("\n\n")[0]
    return head, paragraph


# The story.


class Quote(NamedTuple):
    """What an instructor said."""

    role: str
    text: str


@dataclass(slots=True)
class StepStory:
    """A phase or a tool's step, as far as it has come."""

    place: Place
    kind: str
    """`phase` or `tool`."""
    title: str
    number: int = 0
    """Position among the phases that the chain may run; 0 where that says nothing."""
    about: str = ""
    instructor: str = ""
    assistant: str = ""
    """Of a tool's step, the tool."""
    most_rounds: int = 0
    said: list[Quote] = field(default_factory=list)
    """The instructions."""
    dialogue: list[Uttered] = field(default_factory=list)
    files: dict[str, int | None] = field(default_factory=dict)
    """The files written, with their lines; None where that is not known."""
    deleted: list[str] = field(default_factory=list)
    gist: str = ""
    """What it left that is no file, in a few words."""
    drafts: list[DraftJudged] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Why deliveries were not kept."""
    ending: str = ""
    rounds: int = 0
    usage: RunUsage = field(default_factory=RunUsage)
    """Its seconds are those of the clock; of a recorded step, those of its calls."""
    begun: float = 0.0
    verdicts: dict[str, ToolCalled] = field(default_factory=dict)
    """The newest that holds of what stands, by `feedback`, `guard` or `tool`."""
    newest: Uttered | None = None
    waits: bool = False
    """Whether a person is asked just now."""

    @property
    def who(self) -> str:
        """Who spoke."""
        return f"{self.instructor} → {self.assistant}" if self.said else self.assistant

    @property
    def passed(self) -> bool | None:
        """What the tools say of what it left; None where they say nothing."""
        found = [verdict.passed for verdict in self.verdicts.values() if verdict.passed is not None]
        return all(found) if found else None

    def stop_clock(self) -> None:
        """It takes no more time."""
        if self.begun:
            self.usage.seconds, self.begun = time.monotonic() - self.begun, 0.0

    @property
    def what(self) -> str:
        """What it left, in a few words."""
        if self.kind == "tool":
            return self.gist
        parts = [path if lines is None else f"{path} {lines}" for path, lines in self.files.items()]
        parts += [f"−{path}" for path in self.deleted]
        return "  ".join([self.gist] * bool(self.gist) + parts) or describe_ending(self)


@dataclass(slots=True)
class RunStory:
    """Reads the events of a run one by one."""

    company: str = ""
    task: str = ""
    phases: tuple[str, ...] = ()
    steps: list[StepStory] = field(default_factory=list)
    """The finished ones, in the order in which they were finished."""
    open: dict[str, StepStory] = field(default_factory=dict)
    """The ones under way, by place."""
    usage: RunUsage = field(default_factory=RunUsage)
    status: str = ""
    place: str = ""
    """The activity with which it failed, where it was one."""

    def add(self, event: Event) -> StepStory | None:
        """Read an event; the step that it finishes, if it does."""
        self.usage.add(event)
        match event:
            case RunStarted():
                self.company, self.task = event.company, event.inputs.get("task", "")
                self.phases = event.phases
            case RunFinished():
                self.status, self.place = event.status, event.place
                for unfinished in self.open.values():
                    unfinished.stop_clock()
            case PhaseStarted():
                self._begin_phase(event)
            case StepStarted(step="tool"):
                self.open[event.place] = StepStory(Place(event.place), "tool", title_of(event.place),
                                                   assistant=event.detail, begun=time.monotonic())
            case StepFinished(step="tool") | PhaseFinished():
                return self._finish(event)
            case _:
                if step := self.open.get(Place(event.place).nearest_step):
                    _add_to_step(step, event)
        return None

    @property
    def told(self) -> list[StepStory]:
        """All steps, those under way last."""
        return [*self.steps, *self.open.values()]

    @property
    def failed_step(self) -> StepStory | None:
        """The step that shows why the run did not succeed: the one in which it broke off, else the last that a tool
        judges to be wrong."""
        broke = self.status in ("error", "interrupted", "stopped")
        return next((step for step in reversed(self.told) if (
            step.ending == "failed" or step.place in self.open if broke else step.passed is False)), None)

    @property
    def attempts(self) -> list[StepStory]:
        """The phases that wrote, or tried to write, files."""
        return [step for step in self.told if step.kind == "phase" and (step.files or step.deleted or step.refused)]

    @property
    def failure(self) -> ToolCalled | None:
        """The verdict that speaks against what was made."""
        if step := self.failed_step:
            return next((one for one in reversed(step.verdicts.values()) if one.passed is False), None)
        return None

    def _begin_phase(self, event: PhaseStarted) -> None:
        number = self.phases.index(event.phase) + 1 if event.phase in self.phases else 0
        self.open[event.place] = StepStory(
            Place(event.place), "phase", title_of(event.place), number, event.about, event.instructor or "",
            event.assistant, event.rounds, begun=time.monotonic())

    def _finish(self, event: StepFinished | PhaseFinished) -> StepStory | None:
        step = self.open.pop(event.place, None)
        if step is None:
            return None
        if isinstance(event, PhaseFinished):
            step.ending, step.rounds = event.ending, event.rounds
            chosen = [draft.place for draft in step.drafts if draft.chosen][-1:]
            _forget_verdicts(step, [draft.place for draft in step.drafts if draft.place not in chosen])
        step.stop_clock()
        self.steps.append(step)
        return step


def describe_attempts(steps: Iterable[StepStory]) -> Iterator[str]:
    """Each attempt in a few words: `Coding (4 drafts)`, `System test (10 rounds)`."""
    for step in steps:
        often = [count_noun(len(step.drafts), "draft")] * (len(step.drafts) > 1)
        often += [count_noun(step.rounds, "round")] * (step.rounds > 1)
        yield step.title + (f" ({', '.join(often)})" if often else "")


def _add_to_step(step: StepStory, event: Event) -> None:
    match event:
        case ModelCalled():
            step.usage.add(event)
            _count_seconds(step, event.seconds, replayed=event.replayed)
        case ToolCalled():
            _count_seconds(step, event.seconds, replayed=event.replayed)
            _hear_verdict(step, event)
        case Uttered():
            _hear_utterance(step, event)
        case DraftJudged():
            step.drafts.append(event)
        case PersonAsked() | PersonAnswered():
            step.waits = isinstance(event, PersonAsked)
        case DeliveryRefused():
            step.refused.append(event.reason)
            _forget_verdicts(step, [event.place])
        case DeliveryApplied():
            _take_delivery(step, event)


def _hear_utterance(step: StepStory, event: Uttered) -> None:
    step.newest = event
    if event.utterance != "opening":
        step.dialogue.append(event)
    if event.utterance == "instruction":
        step.said.append(Quote(event.role, event.text))


def _forget_verdicts(step: StepStory, places: Sequence[str]) -> None:
    """Forget what tools said of deliveries that do not stand."""
    lost = {Place(place).at(part) for place in places for part in ("feedback", "guard")}
    step.verdicts = {part: verdict for part, verdict in step.verdicts.items() if verdict.place not in lost}


def _count_seconds(step: StepStory, seconds: float, *, replayed: bool) -> None:
    """A recorded call took its time in an earlier session."""
    if replayed:
        step.usage.seconds = seconds + (0.0 if step.begun else step.usage.seconds)
        step.begun = 0.0
    elif not step.begun:
        step.usage.seconds += seconds


def _hear_verdict(step: StepStory, event: ToolCalled) -> None:
    if step.kind == "tool":
        if event.passed is None:
            step.gist = _gist(event.summary, step.place.step_name.rpartition(".")[2])
        else:
            step.verdicts["tool"] = event
        return
    part, _, number = Place(event.place).parts[-1].partition("-")
    if part in ("feedback", "guard") and (event.passed is not None or number != "0"):
        step.verdicts.pop(part, None)
        step.verdicts[part] = event


def _gist(summary: str, name: str) -> str:
    """What a tool found, in a few words, where it is a JSON text as well."""
    if summary[:1] not in ("[", "{"):
        return describe_value(summary)
    try:
        return describe_value(load_json(summary), name)
    except ValueError:
        return shorten(summary, 80)


def _take_delivery(step: StepStory, event: DeliveryApplied) -> None:
    if gist := event.gist or _named_value(event):
        step.gist = gist
        return
    step.deleted = [path for path in step.deleted if path not in event.written]
    step.files |= dict(zip(event.written, event.lines or (None,) * len(event.written), strict=False))
    for path in event.deleted:
        step.files.pop(path, None)
        step.deleted.append(path)


def _named_value(event: DeliveryApplied) -> str:
    """What is no file; older records only name it."""
    name = event.written[0] if len(event.written) == 1 and not event.lines else ""
    return "" if "." in name else name.replace("_", " ")
