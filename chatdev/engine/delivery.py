"""Deliveries: responses that parse as a solution, applied to their target at once, never for the worse (design §3). Of
files handed in by the user one may remove or empty only what it was asked to."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Protocol

from chatdev.config.phases import Phase, names_read
from chatdev.engine.context import Files, RunContext, State, digest
from chatdev.engine.people import NobodyAnswers, ask_approval
from chatdev.engine.turn import ToolRequest, apply_files, call_tool, failed_verdict, fingerprint, read_reply
from chatdev.errors import ToolCrashed, ToolError
from chatdev.events import DeliveryApplied, DeliveryRefused, Place
from chatdev.paths import bundled_table
from chatdev.replies import (
    FilesDelivery,
    ReplyProblem,
    Unreadable,
    describe_problems,
    example_part,
    objections,
    parse_solution,
    tidy_body,
)
from chatdev.safe_text import describe_value, fields_of
from chatdev.tools.base import Verdict
from chatdev.workspace.change import Changeset

_BRIEF = 4000  # characters of a reply that no parser reads

# Targets of a phase: a name of long-term memory, or the software.


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Change made by an accepted delivery; its fields are those of `DeliveryApplied`."""

    written: tuple[str, ...]
    deleted: tuple[str, ...] = ()
    unchanged: bool = False
    lines: tuple[int, ...] = ()
    gist: str = ""


class Target(Protocol):
    """Destination of a phase's deliveries."""

    keeps_versions: bool
    """Whether a delivery is judged before it is accepted, each version once, and the best one stands at the end."""

    @property
    def is_present(self) -> bool:
        """Whether there is a value from before the phase."""
        ...

    @property
    def base(self) -> Files:
        """The files that a delivery changes."""
        ...

    @property
    def fingerprint(self) -> str:
        """A short digest of the value as it stands."""
        ...

    @property
    def example(self) -> str:
        """A part of the value as a delivery brings it, for prompts; empty where that shows nothing."""
        ...

    def objections(self, delivery: Any, asked: Sequence[str]) -> list[ReplyProblem]:
        """Reasons to refuse the delivery before any tool judges it; `asked`: the texts the deliverer was given."""
        ...

    def preview(self, delivery: Any) -> State:
        """The state as it would be with the delivery, for tools that judge it."""
        ...

    async def accept(self, delivery: Any, place: Place) -> Acceptance:
        """Let the delivery stand."""
        ...

    def substitute(self, value: Any) -> None:
        """Set the value of long-term memory without a delivery."""
        ...

    async def close(self, ending: str, place: Place) -> None:
        """The phase ends."""
        ...


@dataclass(slots=True)
class ValueTarget:
    """A name of long-term memory. It is written at the end of the phase, or at each delivery where that is `seen`: by
    tools that judge it, or by an opening of the next round."""

    state: State
    name: str
    seen: bool = False
    value: Any = field(init=False)
    accepted: int = field(init=False, default=0)
    keeps_versions: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.value = self.state.values.get(self.name)

    @property
    def is_present(self) -> bool:
        """Whether the name has a value from before the phase."""
        return self.name in self.state.values

    @property
    def base(self) -> Files:
        """The software, which a value does not change."""
        return self.state.software

    @property
    def fingerprint(self) -> str:
        """A short digest of the value as it stands."""
        return digest(self.value)

    @property
    def example(self) -> str:
        """A value is not delivered in parts."""
        return ""

    def objections(self, delivery: Any, asked: Sequence[str]) -> list[ReplyProblem]:
        """A value that has the form of the phase may always stand."""
        return []

    def preview(self, delivery: Any) -> State:
        """The state with the value under its name."""
        return replace(self.state, values={**self.state.values, self.name: delivery})

    async def accept(self, delivery: Any, place: Place) -> Acceptance:
        """Take the value; where it is seen, it is in long-term memory at once."""
        unchanged = self.accepted > 0 and delivery == self.value
        self.value, self.accepted = delivery, self.accepted + 1
        if self.seen:
            self.state.values[self.name] = delivery
        return Acceptance((self.name,), (), unchanged, gist=describe_value(delivery, self.name))

    def substitute(self, value: Any) -> None:
        """Set the value without a delivery."""
        self.value, self.accepted = value, 1

    async def close(self, ending: str, place: Place) -> None:
        """Write what stands into long-term memory."""
        if self.accepted:
            self.state.values[self.name] = self.value


@dataclass(slots=True)
class SoftwareTarget:
    """The software: each delivery is a version, and so is the end of a phase that changed something. `anew`: the first
    delivery is read as if there were no files yet."""

    state: State
    anew: bool = False
    entry: Files = field(init=False)
    keeps_versions: bool = field(init=False, default=True)

    def __post_init__(self) -> None:
        self.entry = self.state.software

    @property
    def is_present(self) -> bool:
        """Whether there are files."""
        return bool(self.state.software)

    @property
    def base(self) -> Files:
        """The software; nothing, while it is written anew."""
        return {} if self.anew and self.state.software == self.entry else self.state.software

    @property
    def fingerprint(self) -> str:
        """A short digest of the files as they are."""
        return fingerprint(self.state.software)

    @property
    def example(self) -> str:
        """A part of the files as a delivery of changed parts brings it."""
        return example_part(self.base) if self.base else ""

    def objections(self, delivery: FilesDelivery, asked: Sequence[str]) -> list[ReplyProblem]:
        """Files that would be cut to a fragment or stop parsing, and given ones removed without a request."""
        return [*objections(self.base, delivery.software, whole=delivery.whole),
                *unasked_losses(self.state.given, self.state.software, delivery.software, asked)]

    def preview(self, delivery: FilesDelivery) -> State:
        """The state with the delivered files."""
        return replace(self.state, software=delivery.software)

    async def accept(self, delivery: FilesDelivery, place: Place) -> Acceptance:
        """Write the files and keep the version."""
        if not delivery.is_unchanged:
            files = ", ".join([*delivery.written, *(f"-{path}" for path in delivery.deleted)])
            await self.state.set_software(delivery.software, f"{place}: {files[:200]}")
        lines = tuple(len(delivery.software[path].splitlines()) for path in delivery.written)
        return Acceptance(delivery.written, delivery.deleted, delivery.is_unchanged, lines)

    def substitute(self, value: Any) -> None:
        """Files are never made up: the software stays as it is."""

    async def close(self, ending: str, place: Place) -> None:
        """Mark the end of the phase in the history when it changed something."""
        if self.state.software != self.entry:
            await self.state.history.commit(self.state.software, f"{place}: {ending}")


def target_of(phase: Phase, state: State, *, anew: bool = False) -> ValueTarget | SoftwareTarget:
    """The target that a phase names in `writes`."""
    if phase.writes == "software":
        return SoftwareTarget(state, anew)
    return ValueTarget(state, phase.writes, seen=phase.feedback is not None or phase.memory.fresh)


# Deliveries: received, judged, accepted.


@dataclass(frozen=True, slots=True)
class ResponseOutcome:
    """Outcome of a response. `kept` is a delivery; the other two go back to the assistant with `problem`."""

    outcome: Literal["kept", "unreadable", "refused"]
    problem: str = ""
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Assessment:
    """Assessment of a draft. `verdict` comes from the tool that chooses: the guard, else the feedback. It is None where
    the draft is unreadable or the target refuses it; `problem` says why."""

    verdict: Verdict | None = None
    delivery: Any = None
    """Delivered value or files; None where the draft accepts the present version."""
    problem: str = ""
    is_readable: bool = True

    @property
    def rank(self) -> tuple[float, ...]:
        """Orders drafts, the best one last."""
        if self.verdict is None:
            return (float(self.is_readable),)
        return 2.0, self.verdict.passed, self.verdict.score

    @property
    def is_complete(self) -> bool:
        """Whether no other draft can be better: all examples of the request hold, or, where there are none, it
        passes."""
        if self.verdict is None:
            return False
        held, there = self.verdict.examples or (0, 0)
        return held == there if there else self.verdict.passed


@dataclass(slots=True)
class Deliveries:
    """Receives the responses of one phase: parses them, has them judged, and lets the target accept them."""

    context: RunContext
    phase: Phase
    state: State
    place: Place
    anew: bool = False
    target: Target = field(init=False)
    made: int = field(init=False, default=0)
    refused: int = field(init=False, default=0)
    verdict: Verdict | None = field(init=False, default=None)
    """Newest verdict of `feedback`."""
    asked: list[str] = field(init=False, default_factory=list)
    """Texts the deliverer was given: those the phase reads, and the instructions."""
    guard: Verdict | None = field(init=False, default=None)
    _versions: list[tuple[float, Files]] = field(init=False, default_factory=list)
    _judged: dict[tuple[str, str], Verdict] = field(init=False, default_factory=dict)
    _mended: dict[str, Files] = field(init=False, default_factory=dict)
    _approved: set[str] = field(init=False, default_factory=set)
    """Versions that a person approved."""

    def __post_init__(self) -> None:
        self.target = target_of(self.phase, self.state, anew=self.anew)
        known = self.context.names(self.state)
        self.asked = [known[name] for name in names_read(self.phase.reads) if isinstance(known.get(name), str)]

    async def judge_entry(self) -> None:
        """Judge what is there before the phase. Where nothing is there yet, the verdict is for the opening only; where
        that is written anew, it only has a guard."""
        there = self.target.is_present
        if self.phase.feedback and not self.anew:
            self.verdict = await self._judge(self.phase.feedback, self.place.at("feedback", 0), judges=there)
            self._remember_version()
        if self.phase.guard:
            self.guard = await self._judge(self.phase.guard, self.place.at("guard", 0), judges=there)

    @property
    def passed(self) -> bool:
        """Whether the feedback passes."""
        return bool(self.verdict and self.verdict.passed)

    @property
    def is_owed(self) -> bool:
        """Whether there is neither a delivery nor a version from before the phase that a refused one could not beat."""
        return not (self.made or (self.target.keeps_versions and self.refused and self.target.is_present))

    async def receive(self, body: str, place: Place) -> ResponseOutcome:
        """Parse a response; keep it as a delivery, or say why not."""
        try:
            delivery = await self._read(body, place)
            objections = await self._objections(delivery)
        except Unreadable as error:
            return ResponseOutcome("unreadable", self._words(error))
        if objections:
            return self._refuse(objections, place)
        feedback, guard = await self._judge_preview(delivery, place)
        if reason := self._reason_worse(feedback, guard):
            return self._refuse(reason, place)
        if self._needs_approval(delivery):
            approval = await self._ask_approval(delivery, feedback, guard, place)
            if isinstance(approval, str):
                return self._refuse(approval, place)
            delivery, feedback, guard = approval
            self._approved.add(self._version(self.target.preview(delivery)))
        change = await self._accept(delivery, feedback, guard, place)
        if self.phase.feedback and not self.target.keeps_versions:
            self.verdict = await self._judge(self.phase.feedback, place.at("feedback"))
        return ResponseOutcome("kept", unchanged=change.unchanged)

    async def assess(self, body: str, place: Place) -> Assessment:
        """Assessment of a response as a draft; only the verdict is kept."""
        try:
            delivery = await self._read(body, place)
            objections = await self._objections(delivery)
        except Unreadable as error:
            return Assessment(problem=self._words(error), is_readable=False)
        if objections:
            return Assessment(problem=objections)
        tool, where = (self.phase.guard, place.at("guard")) if self.phase.guard else \
            (self.phase.feedback or "", place.at("feedback"))
        state = self.target.preview(delivery)
        verdict = await self._judge(tool, where, state)
        self._judged[tool, self._version(state)] = verdict  # for the one that is received
        return Assessment(verdict, delivery)

    @property
    def standing(self) -> Assessment:
        """Assessment of a response that accepts the present version."""
        return Assessment(self.guard if self.phase.guard else self.verdict)

    async def keep(self, draft: Assessment, place: Place) -> None:
        """Keep the draft, as far as it is judged, because the run ends before another one is chosen."""
        if self.phase.solution.approve:
            return
        feedback, guard = (None, draft.verdict) if self.phase.guard else (draft.verdict, None)
        if draft.verdict and draft.delivery is not None and not self._reason_worse(feedback, guard):
            await self._accept(draft.delivery, feedback, guard, place)

    def _needs_approval(self, delivery: Any) -> bool:
        """Whether a person is asked: of what changes nothing, or was approved before, they are not."""
        before, after = self._version(self.state), self._version(self.target.preview(delivery))
        return self.phase.solution.approve is not None and after not in {before, *self._approved}

    async def _ask_approval(self, delivery: Any, feedback: Verdict | None, guard: Verdict | None,
                            place: Place) -> tuple[Any, Verdict | None, Verdict | None] | str:
        """The delivery as a person wants it, with the verdicts on it; or why they do not want it. An edit that cannot
        be read, or is worse than what stands, is given back with the reason. Raises NobodyAnswers."""
        texts, problem, number = self._texts(delivery), "", 0
        while True:
            at = place.at("approve", number := number + 1)
            answer = await ask_approval(
                self.context, at, role=self.phase.assistant, problem=problem, edits=texts,
                about=f"delivery of {self.place.step_name}: {', '.join(texts)}",
                text=self._describe(delivery, feedback, guard))
            match answer.action:
                case "accept":
                    return delivery, feedback, guard
                case "refuse":
                    return answer.text.strip() or self.context.say_problem("unwanted")
                case "skip":
                    raise NobodyAnswers
            texts = {**texts, **answer.files}
            try:
                edit = self._edit(delivery, texts)
                problem = await self._reason_unreadable(delivery, edit) or await self._objections(edit)
            except Unreadable as error:
                problem = self._words(error)
            if not problem:
                verdicts = await self._judge_preview(edit, at)
                if not (problem := self._reason_worse(*verdicts)):
                    return edit, *verdicts

    def _texts(self, delivery: Any) -> dict[str, str]:
        """What a person may edit of a delivery: its files, or the value."""
        if isinstance(delivery, FilesDelivery):
            return {path: delivery.software[path].decode("utf-8", "replace") for path in delivery.written}
        if isinstance(delivery, list) and all(isinstance(item, str) for item in delivery):
            return {self.phase.writes: "\n".join(f"- {item}" for item in delivery)}
        is_text = isinstance(delivery, str)
        return {self.phase.writes: delivery if is_text else json.dumps(delivery, ensure_ascii=False, indent=1)}

    def _edit(self, delivery: Any, texts: Mapping[str, str]) -> Any:
        """The delivery with these texts. Raises Unreadable."""
        if not isinstance(delivery, FilesDelivery):
            return self._parse(texts[self.phase.writes])
        software = {**delivery.software, **{path: text.encode() for path, text in texts.items()}}
        written = tuple(path for path in delivery.written if software[path] != self.target.base.get(path))
        return replace(delivery, software=software, written=written, whole=tuple(texts))

    async def _reason_unreadable(self, delivery: Any, edit: Any) -> str:
        """Why the files of an edit can be read no longer, in words; empty if they can. Raises Unreadable."""
        if not isinstance(delivery, FilesDelivery):
            return ""
        problems = await read_reply(partial(objections, whole=edit.whole), delivery.software, edit.software)
        return "\n".join(problem.words(self.context.company.protocol.problems) for problem in problems)

    def _describe(self, delivery: Any, feedback: Verdict | None, guard: Verdict | None) -> str:
        """What a person reads of a delivery: the change, and what the tools say of it."""
        if isinstance(delivery, FilesDelivery):
            change = Changeset(self.target.base, delivery.software).patch.decode("utf-8", "replace")
        else:
            change = self._texts(delivery)[self.phase.writes]
        said = [f"{tool} {'passes' if verdict.passed else 'fails'}: {verdict.report}" for tool, verdict
                in ((self.phase.feedback, feedback), (self.phase.guard, guard)) if verdict]
        return "\n\n".join([change.rstrip("\n"), *said])

    def substitute(self, value: Any) -> None:
        """Set the value without a delivery."""
        self.target.substitute(value)
        self.made = 1
        gist = describe_value(value, self.phase.writes)
        self.context.emit(DeliveryApplied(self.place, (self.phase.writes,), gist=gist))

    async def close(self, ending: str) -> None:
        """At the end of a phase: where its feedback never passed the best version stands (the newest of equals)."""
        if not self.passed and self._versions:
            best = max(score for score, _ in self._versions)
            software = [files for score, files in self._versions if score == best][-1]
            if software != self.state.software:
                reason = f"{self.place}: back to the best version by {self.phase.feedback}"
                await self.state.set_software(software, reason)
        await self.target.close(ending, self.place)

    def tidied(self, body: str) -> str:
        """A response as it is read."""
        semantics = self.context.settings.semantics
        return tidy_body(self.phase.solution, body, semantics=semantics) if semantics > 2 else body

    async def _read(self, body: str, place: Place) -> Any:
        """The delivery that a response means, mended where the phase has a tool for that. Raises Unreadable."""
        is_plain = self.phase.solution.form in ("text", "choice") and len(body) < _BRIEF  # a thread would take longer
        delivery = self._parse(body) if is_plain else await read_reply(self._parse, body)
        tool, key = self.phase.mends, ""
        if not tool or not delivery.written:
            return delivery
        if (key := fingerprint(delivery.software)) not in self._mended:
            self._mended[key] = await self._mend(tool, delivery.software, place.at("mend"))
        untouched = {path: data for path, data in delivery.software.items() if path not in delivery.written}
        software, base = {**self._mended[key], **untouched}, self.target.base
        return replace(delivery, software=software,
                       written=tuple(path for path in delivery.written if software[path] != base.get(path)))

    def _parse(self, body: str) -> Any:
        return parse_solution(self.phase.solution, self.tidied(body), self.target.base,
                              semantics=self.context.settings.semantics)

    async def _mend(self, tool: str, software: Files, place: Place) -> Files:
        """The software as the tool mends it; as it is, where the tool crashes."""
        state = replace(self.state, software=software)
        try:
            return apply_files(tool, await call_tool(self.context, state, place, ToolRequest(tool)), software)
        except ToolError as error:
            if isinstance(error, ToolCrashed) or error.repeated:
                return software
            raise error.at(place) from None

    async def _accept(self, delivery: Any, feedback: Verdict | None, guard: Verdict | None,
                      place: Place) -> Acceptance:
        """Let the delivery stand, with the verdicts on it."""
        self.verdict, self.guard = feedback or self.verdict, guard or self.guard
        change = await self.target.accept(delivery, place)
        self.made += 1
        self._remember_version()
        self.context.emit(DeliveryApplied(place, **fields_of(change)))
        return change

    def _words(self, error: Unreadable) -> str:
        return describe_problems(error.problems, self.context.company.protocol.problems)

    async def _objections(self, delivery: Any) -> str:
        """Objections of the target to the delivery, in words; empty if it accepts. Raises Unreadable where the check
        takes too long."""
        templates, objections, asked = self.context.company.protocol.problems, self.target.objections, [*self.asked]
        problems = (await read_reply(objections, delivery, asked) if self.target.keeps_versions
                    else objections(delivery, asked))
        return "\n".join(problem.words(templates) for problem in problems)

    async def _judge_preview(self, delivery: Any, place: Place) -> tuple[Verdict | None, Verdict | None]:
        """The verdicts of feedback and guard on a delivery before it is accepted. Feedback on a value comes after."""
        state, phase = self.target.preview(delivery), self.phase
        early = phase.feedback if self.target.keeps_versions else None
        feedback = await self._judge(early, place.at("feedback"), state) if early else None
        guard = await self._judge(phase.guard, place.at("guard"), state) if phase.guard else None
        return feedback, guard

    def _reason_worse(self, feedback: Verdict | None, guard: Verdict | None) -> str:
        """The report of a verdict that passed before and does not now, or of a guard's that was better before; by
        feedback the best version stands at the end in any case."""
        for old, new in ((self.verdict, feedback), (self.guard, guard)):
            if old and new and old.passed and not new.passed:
                return new.report
        return guard.report if guard and self._is_lower(guard) else ""

    def _is_lower(self, guard: Verdict) -> bool:
        """Whether the guard's score is lower than that of what stands; a rival's may not be the same either."""
        if not self.guard:
            return False
        return guard.score < self.guard.score or (self._is_rival and guard.score == self.guard.score)

    @property
    def _is_rival(self) -> bool:
        """Whether the next delivery stands only if it is better than what was there, and no part of that."""
        return self.anew and not self.made

    def _refuse(self, reason: str, place: Place) -> ResponseOutcome:
        self.refused += 1
        self.context.emit(DeliveryRefused(place, reason))
        return ResponseOutcome("refused", reason)

    async def _judge(self, tool: str, place: Place, state: State | None = None, *, judges: bool = True) -> Verdict:
        """A tool's verdict on the state; a version is judged once in a phase, and a value that was a draft once for
        that."""
        state = state or self.state
        key = (tool, self._version(state))
        if key not in self._judged:
            self._judged[key] = await self._verdict(ToolRequest(tool, judges=judges), place, state)
        return self._judged[key] if self.target.keeps_versions else self._judged.pop(key)

    def _version(self, state: State) -> str:
        """Equal where what the phase writes is equal."""
        if self.target.keeps_versions:
            return fingerprint(state.software)
        return digest(state.values.get(self.phase.writes))

    async def _verdict(self, request: ToolRequest, place: Place, state: State) -> Verdict:
        """Verdict of the tool; a crash or a repeated failure becomes the lowest verdict, which the pair reads."""
        try:
            return Verdict.from_value(await call_tool(self.context, state, place, request))
        except ToolError as error:
            if isinstance(error, ToolCrashed) or error.repeated:
                return failed_verdict(self.context, error)
            raise error.at(place) from None

    def _remember_version(self) -> None:
        if self.verdict and self.target.keeps_versions and self.target.is_present:
            self._versions.append((self.verdict.score, self.state.software))


# Files handed in by the user: a delivery may remove or empty one only if it was asked to.

_SENTENCE = re.compile(r"(?<=[.!?;])\s|[。！？；\n]")


def unasked_losses(given: Files, before: Files, after: Files, asked: Iterable[str]) -> list[ReplyProblem]:
    """Given files that a delivery removes or empties although no text in `asked` requests it."""
    lost = [path for path in sorted(given) if before.get(path, b"").strip() and not after.get(path, b"").strip()]
    wishes = _wishes(asked) if lost else []
    return [ReplyProblem("lost_file", {"path": path, "emptied": path in after}) for path in lost
            if not any(_is_meant(path, wish) for wish in wishes)]


def _wishes(asked: Iterable[str]) -> list[str]:
    """The sentences that ask for a removal."""
    return [sentence for text in asked for sentence in _SENTENCE.split(text) if _says("verbs", sentence)]


def _is_meant(path: str, sentence: str) -> bool:
    """Whether a sentence that asks for a removal names the file, its folder, or files at all."""
    pure = PurePosixPath(path)
    names = (path, *pure.parts, pure.stem)
    return _says("files", sentence) or any(
        re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", sentence, re.IGNORECASE) for name in names)


def _says(row: str, text: str) -> bool:
    return any(pattern.search(text) for pattern in _words()[row])


@functools.cache
def _words() -> dict[str, list[re.Pattern[str]]]:
    rows = bundled_table(Path(__file__).with_name("removal.yaml"))
    return {row: [re.compile(pattern, re.IGNORECASE) for pattern in patterns] for row, patterns in rows.items()}
