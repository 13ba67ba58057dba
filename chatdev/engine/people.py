"""People in a run: what they are asked, what they may answer, and the model that is a person.

A turn of a role that a person plays goes the way of every model call: `Person` is a `Model`. An approval is an activity
of its own. So what people said is on record like all else, and a replay asks nobody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

from chatdev.config.phases import SOLUTION_MARKER
from chatdev.connection import HUMAN
from chatdev.engine.context import ActivityResult, People, RunContext, ToolReturned, digest
from chatdev.errors import ConfigError, JournalError
from chatdev.events import PersonAnswered, PersonAsked, Place
from chatdev.llm.base import Reply, Request
from chatdev.safe_text import load_json

Action = Literal["say", "accept", "refuse", "edit", "skip"]
SKIPPED = "skipped"
"""The `finish` of a reply that nobody gave."""
LARGEST_ANSWER = 4 << 20
"""Characters of an answer with all its files."""
_ACTIONS: Mapping[str, tuple[Action, ...]] = {"turn": ("say", "accept", "skip"),
                                              "approval": ("accept", "refuse", "edit", "skip")}
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Characters that no answer has."""


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """What a person answers.

    A turn: `say` the text, or `accept` what is there. An approval: `accept`, `refuse` with the reason as text, or
    `edit`: accept with other `files`, by the names that `PersonAsked.edits` has. `skip`: nobody answers.
    """

    action: Action
    text: str = ""
    files: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The answer as plain JSON values."""
        return {"action": self.action, "text": self.text, **({"files": dict(self.files)} if self.files else {})}


def read_answer(value: Any, question: PersonAsked) -> PersonAnswer:
    """The answer in JSON values that `to_json` may have written, with plain line ends. Raises ConfigError, with the
    reason in words, for what is no answer to the question."""
    try:
        action, text, files = value["action"], value.get("text", ""), value.get("files", {})
        texts = {"the text": text, **files}
    except (AttributeError, KeyError, TypeError):
        raise ConfigError("an answer is an object with `action`, `text` and `files`") from None
    for name, part in texts.items():
        _check_text(name, part)
    found = PersonAnswer(action, _plain_lines(text), {name: _plain_lines(part) for name, part in files.items()})
    _refuse_misfit(found, question)
    return found


def _refuse_misfit(given: PersonAnswer, question: PersonAsked) -> None:
    """Raise ConfigError for an answer that does not fit the question."""
    if given.action not in (possible := _possible_actions(question)):
        raise ConfigError(f"the action is {given.action!r:.40}; here it may be {' or '.join(possible)}")
    if len(given.text) + sum(map(len, given.files.values())) > LARGEST_ANSWER:
        raise ConfigError(f"the answer has more than {LARGEST_ANSWER >> 20} million characters; say it in fewer")
    if unknown := next((name for name in given.files if name not in question.edits), None):
        raise ConfigError(f"{unknown!r:.80} cannot be edited here; these can: {', '.join(question.edits)}")
    if given.action == "say" and not given.text.strip():
        raise ConfigError("the answer is empty; say something, or accept what is there")
    if given.action == "edit" and not given.files:
        raise ConfigError("an edit needs the files that it changes")


def _possible_actions(question: PersonAsked) -> list[Action]:
    return [action for action in _ACTIONS[question.asks] if action != "edit" or question.edits]


def _check_text(name: object, text: object) -> None:
    if not isinstance(text, str):
        raise ConfigError(f"{name!s:.80} is no text")
    if found := CONTROL.search(text.replace("\r\n", "\n")):
        line = text.count("\n", 0, found.start()) + 1
        raise ConfigError(f"{name!s:.80} has the control character U+{ord(found[0]):04X} in line {line}; take it out")


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n")


def name_question(question: Mapping[str, Any], place: str) -> PersonAsked:
    """The question with these fields at `place`, with its id: the same wherever the same is asked again."""
    return PersonAsked(place, digest({"place": place, **question})[:12], **question)


# A turn of a role that a person plays.


def turn_question(request: Request) -> PersonAsked:
    """What a person reads for this request: the brief of the role where it is their first turn, and all that was said
    since their last one."""
    place = unquote(request.headers.get("X-ChatDev-Activity", ""))
    role = unquote(request.headers.get("X-ChatDev-Role", ""))
    last = max((n for n, message in enumerate(request.messages) if message.role == "assistant"), default=-1)
    text = "\n\n".join(message.content.strip() for message in request.messages[last + 1:])
    phase = Place(place).step_name
    return name_question({"asks": "turn", "role": role, "about": f"{role} in {phase}", "text": text}, place)


@dataclass(frozen=True, slots=True)
class Person:
    """A person as a model: no tokens, no price, no second attempt."""

    people: People
    name: str = HUMAN

    async def complete(self, request: Request) -> Reply:
        """The person's words as a reply; `finish` is `skipped` where nobody gives any."""
        answer = await self.people.ask(turn_question(request))
        return Reply(turn_text(answer), finish=SKIPPED if answer.action == "skip" else "stop", model=self.name)

    async def close(self) -> None:
        """Nothing is open."""


def turn_text(answer: PersonAnswer) -> str:
    """The words of a turn; who accepts says so as agents do."""
    return f"{SOLUTION_MARKER}\n{answer.text}".rstrip() if answer.action == "accept" else answer.text


def turn_answered(question: PersonAsked, reply: Reply) -> PersonAnswered:
    """The event of a turn that is on record."""
    accepts = reply.text.startswith(SOLUTION_MARKER)
    action = "skip" if reply.finish == SKIPPED else "accept" if accepts else "say"
    return PersonAnswered(question.place, question.id, action, reply.text.removeprefix(SOLUTION_MARKER).lstrip("\n"))


class NobodyAnswers(Exception):
    """A person was to take the next turn, or to approve a delivery, and nobody answers; the phase ends."""


# An approval.


async def ask_approval(context: RunContext, place: Place, **question: Any) -> PersonAnswer:
    """The answer to whether what `question` (fields of `PersonAsked`) describes may happen; an activity of its own."""
    asked = name_question({"asks": "approval", **question}, place)

    async def call() -> ActivityResult:
        return ToolReturned((await context.people.ask(asked)).to_json(), 0.0)

    performed = await context.activities.perform(place, {"asks": "approval", "id": asked.id}, call)
    if not isinstance(performed.result, ToolReturned):
        raise JournalError(f"{place} is an approval, and the journal holds another result for it; it is damaged")
    try:
        answer = read_answer(performed.result.value, asked)
    except ConfigError as error:
        raise JournalError(f"{place}: the journal holds no answer to what was asked ({error}); it is damaged") from None
    if performed.replayed:
        context.emit(asked)
        context.emit(PersonAnswered(place, asked.id, answer.action, answer.text))
    return answer


async def approve_call(context: RunContext, place: Place, role: str, tool: str,
                       arguments: dict[str, Any]) -> dict[str, Any] | str:
    """The arguments with which an agent may call a tool, as a person wants them; or why it may not."""
    shown, problem, number = json.dumps(arguments, ensure_ascii=False, indent=1), "", 0
    while True:
        answer = await ask_approval(context, place.at("approve", number := number + 1), role=role, problem=problem,
                                    about=f"{role} calls {tool}", text=shown, edits={"arguments": shown})
        match answer.action:
            case "accept":
                return arguments
            case "refuse" | "skip":
                return answer.text.strip()
        shown = answer.files["arguments"]
        try:
            edited = load_json(shown)
        except ValueError as error:
            problem = f"no JSON: {error}"
            continue
        if isinstance(edited, dict):
            return edited
        problem = "the arguments are a JSON object"
