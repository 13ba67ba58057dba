"""A trial of likely examples: the software is started as its request seems to show, dialogues too, and what it prints
or writes into a file is looked for there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from chatdev.departments.software.cases.case import Start
from chatdev.departments.software.cases.comparison import without_colours, written_text
from chatdev.departments.software.cases.likely_example import LikelyExample, best_of
from chatdev.departments.software.cases.wording import FILE_NAME
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding
from chatdev.sandbox.base import printed_lines

_MOST_STARTS, _MOST_ENDLESS = 40, 2
_SURE_RANK = 1  # up to which an example that holds leaves no other one to try


@dataclass(frozen=True, slots=True)
class LikelyTrial:
    """How many of the starts that the request seems to show print what stands there. `shown`: it surely shows some;
    `seen` is what one of these printed, and does not stand there; `example` is one that holds whole."""

    held: int
    there: int
    shown: bool
    seen: Finding | None = None
    example: LikelyExample | None = None

    @property
    def confirmed(self) -> bool:
        """Whether the software does what the request seems to show."""
        return self.held == self.there

    @property
    def counts(self) -> tuple[int, int] | None:
        """The examples that hold, of how many; None where perhaps there are none."""
        return (self.held, self.there) if self.confirmed or self.shown else None

    def beside(self, refusal: Finding, *, holds: bool) -> LikelyTrial:
        """The same with what the request has the program refuse, and how that went."""
        return replace(self, held=self.held + holds, there=self.there + 1, seen=self.seen if holds else refusal)


def try_likely(toolchain: Toolchain, built: BuiltSoftware, examples: Sequence[LikelyExample], request: str,
               command: str, meaningless: Collection[str]) -> LikelyTrial | None:
    """Try the likely examples of a request until a sure one holds; None where there are none. `meaningless` is what the
    software may say of any input, and so says nothing of an example."""
    trial = _Trial(toolchain, built, tuple(dict.fromkeys(FILE_NAME.findall(request))), set(meaningless))
    tried = list[tuple[LikelyExample, Sequence[_Went], int]]()
    for example in examples:
        if not trial.has_time_for(example):
            break
        went = trial.start_all(example)
        count = int(trial.holds_dialogue(example)) if example.dialogue else example.count_held(
            [trial.output(example, one) for one in went], request, command)
        tried.append((example, went, count))
        if example.rank <= _SURE_RANK and example.is_all(count):
            break
    return _sum_up(tried, shown=any(example.shown for example in examples)) if tried else None


def _sum_up(tried: Sequence[tuple[LikelyExample, Sequence[_Went], int]], *, shown: bool) -> LikelyTrial:
    """The examples that hold, and how one that is surely shown and does not hold went; one is `shown` also where the
    trial has not come to it."""
    seen = next((went[0].finding for example, went, count in tried if example.shown and not count), None)
    whole = [example for example, _, count in tried if example.is_all(count)]
    return LikelyTrial(*best_of((example, count) for example, _, count in tried), shown, seen,
                       min(whole, key=lambda example: example.rank, default=None))


@dataclass(frozen=True, slots=True)
class _Went:
    """How a start went, what it printed, and what it left in a file that the request names."""

    finding: Finding
    printed: str
    written: str


@dataclass(slots=True)
class _Trial:
    """The starts of one software; `names` are the files that its request names, and `idle` is what it may say of any
    input."""

    toolchain: Toolchain
    built: BuiltSoftware
    names: Collection[str]
    idle: set[str]
    starts: int = 0
    endless: int = 0
    _idle_with: dict[object, _Went] = field(default_factory=dict)

    def has_time_for(self, example: LikelyExample) -> bool:
        """Whether the trial comes to its end with this example, too."""
        return self.starts + len(example.starts) <= _MOST_STARTS and self.endless <= _MOST_ENDLESS

    def start_all(self, example: LikelyExample) -> list[_Went]:
        """The starts of an example, one after another in a fresh copy."""
        starts = [Start(start.arguments, start.stdin) for start in example.starts]
        if example.files and (key := (tuple(example.files), starts[0].arguments)) not in self._idle_with:
            self._idle_with[key], = self._run(dict.fromkeys(example.files, ""), starts[:1])
        return self._run(example.files, starts)

    def holds_dialogue(self, example: LikelyExample) -> bool:
        """Whether the software asks and says what a dialogue shows, when it gets the answers that stand there."""
        arguments = example.starts[0].arguments
        return goes_as_shown(example.dialogue, lambda typed: self._say(Start(arguments, typed)))

    def _say(self, start: Start) -> str:
        """All that a start prints; nothing of one that does not end."""
        went, = self._run({}, [start])
        is_over = not went.finding.facts.get("still_running")
        return without_colours(went.finding.facts.get("streams", ("", ""))[0]) if is_over else ""

    def output(self, example: LikelyExample, went: _Went) -> str | None:
        """What a start printed, or else what a single one wrote; None where it ended by an error, or does the same
        without what comes in, and nothing for one of several that succeeds silently."""
        if went.finding.facts.get("exception"):
            return None
        if len(example.starts) > 1 and went.finding.facts.get("exit_status") == 0 and not went.printed:
            return ""
        idle = self._idle_texts(example)
        texts = (went.printed, went.written) if len(example.starts) == 1 else (went.printed,)
        return next((text for text in texts if text and text not in idle), None)

    def _idle_texts(self, example: LikelyExample) -> set[str]:
        """What says nothing of an example: what the software prints and writes without what comes in there."""
        if not example.has_input:
            return set()
        alone = self._idle_with.values() if example.files else ()
        return self.idle | {text for went in alone for text in (went.printed, went.written)}

    def _run(self, files: Mapping[str, str], starts: Collection[Start]) -> list[_Went]:
        with self.built.copy(files) as folder:
            went = [self._start(folder, start, files) for start in starts]
        self.starts += len(went)
        self.endless += sum(bool(one.finding.facts.get("still_running")) for one in went)
        return went

    def _start(self, folder: Path, start: Start, files: Mapping[str, str]) -> _Went:
        finding = self.toolchain.start(folder, start, ends=True)
        made = [name for name in self.names if name not in files]
        return _Went(finding, output_of(finding), written_text(folder, made))


def output_of(finding: Finding) -> str:
    """What a program printed."""
    stdout, stderr = finding.facts.get("streams", ("", ""))
    return "\n".join(printed_lines(without_colours(stdout), without_colours(stderr), finding.facts.get("exit_status")))


# A dialogue as the request shows it. Where prompts end and answers begin, the program tells itself: it is started
# with one more answer each time.

_MOST_ANSWERS = 12


def goes_as_shown(shown: str, say: Callable[[str], str]) -> bool:
    """Whether `say`, which tells what the program prints when these lines are typed, says all that is shown but for the
    answers, and reads each of them."""
    typed, known, before, place = "", "", None, 0
    for _ in range(_MOST_ANSWERS + 1):
        said = say(typed)
        if said == before or not said.startswith(known):
            return False
        new, rest = said[len(known):], shown[place:]
        length = _common_length(new, rest)
        known, before, place = known + new[:length], said, place + length
        if not rest[length:].strip():
            return bool(typed) and not new[length:].strip()
        answer = rest[length:].partition("\n")[0]
        typed, place = f"{typed}{answer}\n", place + len(answer) + 1
    return False


def _common_length(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
