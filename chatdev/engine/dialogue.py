"""The dialogue of one phase: instructor and assistant take turns until one of the endings (design §3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from chatdev.config.phases import Phase
from chatdev.engine.agent import Agent
from chatdev.engine.call import PhaseSpent
from chatdev.engine.constraint import constraint_for
from chatdev.engine.context import RunContext
from chatdev.engine.delivery import Deliveries, Received
from chatdev.engine.memory import Utterance
from chatdev.engine.stuck import Stuck
from chatdev.engine.turn import Turns
from chatdev.events import Noted, Speaker, UtteranceKind, Uttered
from chatdev.llm.base import Constraint
from chatdev.replies import read_marker

Ending = Literal["consensus", "unchanged", "feedback", "rounds", "delivered", "stuck", "budget"]

SAME_AGAIN = 2  # consecutive deliveries that change nothing end a phase (ChatDev §3.1)


@dataclass(slots=True)
class Dialogue:
    """Runs the rounds of one phase over its memory and deliveries."""

    context: RunContext
    phase: Phase
    place: str
    assistant: Agent
    instructor: Agent | None
    turns: Turns
    deliveries: Deliveries
    rounds: int
    questions: int
    form_text: str
    stuck: Stuck
    round: int = field(default=0)
    _same: int = field(default=0)
    _answer: str = field(default="")
    _guarded: str = field(default="")
    """The guard's report as the pair knows it."""

    async def run(self) -> Ending:
        """Take turns until consensus, passing feedback, two unchanged deliveries (one of a choice), or the last
        round; or until the phase goes in circles or has spent its budget, which is noted with the reason."""
        self.stuck.stands(self.deliveries.version)
        self._guarded = self.deliveries.guard["report"] if self.deliveries.guard else ""
        try:
            ending = await self._rounds()
        except PhaseSpent as spent:
            self._note(f"the phase ends here: {spent}")
            return "budget"
        if ending == "stuck":
            self._note(f"stuck: {self.stuck.reason}; the phase ends here")
        return ending

    async def _rounds(self) -> Ending:
        for number in range(1, self.rounds + 1):
            opening_instructs = number == 1 and self.phase.opens == "brief"
            if self.instructor and not opening_instructs and await self._instruct(self.instructor, number):
                return "consensus"
            if self.stuck.reason:
                return "stuck"
            self.round = number
            ending = await self._respond()
            if ending:
                return ending
            if self.stuck.reason:
                return "stuck"
        return "rounds"

    def may_conclude(self, speaker: Speaker) -> bool:
        """Whether the phase lets this side state the consensus."""
        return self.phase.concludes in (speaker, "either")

    async def _instruct(self, instructor: Agent, number: int) -> bool:
        """The instructor's next instruction; True when it accepts what is there instead."""
        place = f"{self.place}/round-{number}/instructor"
        utterance = await self.turns.take(instructor, place)
        marked = read_marker(utterance.text)
        self._said("instruction", instructor, utterance, place, number)
        self.stuck.instructed(utterance.text)
        if marked.kind != "solution" or not self.may_conclude("instructor"):
            return False
        if not self.deliveries.made and self.phase.writes != "software":
            await self.deliveries.receive(marked.body, place)  # an instructor who names the solution at once
        return True

    async def _respond(self) -> Ending | None:
        """The assistant's response, and what follows from it; None goes on to the next round."""
        place = f"{self.place}/round-{self.round}/assistant"
        utterance = await self._formal_response(place)
        for attempt in range(self.phase.solution.retries + 1):
            if attempt:
                place = f"{self.place}/round-{self.round}/assistant/retry-{attempt}"
                utterance = await self._speak(self.assistant, "response", place, self._constraint())
            marked = read_marker(utterance.text)
            concludes = marked.kind == "solution" and self.may_conclude("assistant")
            if concludes and not _delivers(self.phase, marked.body) and (self.deliveries.made or self._may_keep()):
                return self._concluded(utterance.text) if self._alone_against_feedback() else "consensus"
            body = marked.body if marked.kind == "solution" else utterance.text
            received = await self._receive(marked.kind, body, place)
            self._count_repetition(utterance.text, received.unchanged)
            if received.outcome == "kept":
                self.stuck.stands(self.deliveries.version)
                self.stuck.answered(utterance.text, delivered=True)
                return self._after_delivery(received, concludes)
            self._back_to_assistant(received)
        self.stuck.answered(utterance.text, delivered=False)
        if received.outcome == "refused" and self._count_same():
            return "unchanged"
        return None

    def _alone_against_feedback(self) -> bool:
        """Whether an assistant without an instructor says that it is done while the feedback says that it is not."""
        return not self.instructor and self.deliveries.verdict is not None and not self.deliveries.passed

    def _concluded(self, text: str) -> Ending | None:
        """What nobody agreed with is an answer that changes nothing; who insists has it."""
        self._count_repetition(text, unchanged=True)
        if self._count_same():
            return "consensus"
        self._report(unchanged=True)
        return None

    def _may_keep(self) -> bool:
        """Whether an assistant alone may leave what is there as it is."""
        return not self.instructor and self.phase.on_no_solution == "keep"

    async def _receive(self, kind: str | None, body: str, place: str) -> Received:
        if kind == "question":
            return Received("unreadable", "a question, where the solution was due")
        return await self.deliveries.receive(body, place)

    async def _formal_response(self, place: str) -> Utterance:
        """The response after the questions it needs (communicative dehallucination, ChatDev equation 7)."""
        if self.phase.dehallucination and self.instructor:
            for n in range(1, self.questions + 1):
                asked = await self.turns.take(self.assistant, f"{place}/ask-{n}")
                if read_marker(asked.text).kind != "question":
                    self._said("response", self.assistant, asked, place)
                    return asked
                self._said("question", self.assistant, asked, place)
                await self._speak(self.instructor, "answer", f"{self.place}/round-{self.round}/instructor/answer-{n}")
            self._tell("assistant", self.context.say("must_deliver", form_text=self.form_text))
        bounded = self.phase.solution.most is not None  # a small model does not find the end of a list
        return await self._speak(self.assistant, "response", place, self._constraint() if bounded else None)

    def _after_delivery(self, received: Received, concludes: bool) -> Ending | None:
        if self.deliveries.passed:
            return "feedback"
        if concludes and not self._alone_against_feedback():
            return "consensus"
        self._same = self._same if received.unchanged else 0
        agreed = received.unchanged and self.phase.solution.form == "choice"  # of a choice there is nothing more to ask
        if agreed or (received.unchanged and self._count_same()):
            return "unchanged"
        if not self.instructor and not self.phase.feedback:
            return "delivered"  # nobody is there to say anything more
        self._report(received.unchanged)
        return None

    def _count_repetition(self, answer: str, unchanged: bool) -> None:
        """What came again is asked for differently: at a higher temperature (it draws other words)."""
        again = unchanged or answer == self._answer
        self.turns.same = self.turns.same + 1 if again else 0
        self._answer = answer

    def _count_same(self) -> bool:
        self._same += 1
        return self._same >= SAME_AGAIN

    def _report(self, unchanged: bool) -> None:
        """What is read beside the response: by the pair the feedback, and what the guard says otherwise than before;
        by who speaks next that nothing changed."""
        verdict, guard = self.deliveries.verdict, self.deliveries.guard
        if guard and guard["report"] != self._guarded:
            self._guarded = guard["report"]
            self._tell(None, self.context.say("report", tool=self.phase.guard, report=guard["report"],
                                             passed=guard["passed"]))
        if verdict:
            self._tell(None, self.context.say("report", tool=self.phase.feedback, report=verdict["report"],
                                             passed=verdict["passed"]))
        if unchanged:
            failing = next((one for one in (verdict, guard) if one and not one["passed"]), None)
            self._tell("instructor" if self.instructor else "assistant", self.context.say(
                "same_again", times=self._same, report=failing["report"] if failing else "", passed=not failing))

    def _back_to_assistant(self, received: Received) -> None:
        if received.outcome == "refused":
            self._tell("assistant", self.context.say("refused", reason=received.problem, form_text=self.form_text))
        else:
            self._tell("assistant", self.context.say("unreadable", problem=received.problem, form_text=self.form_text))

    async def _speak(self, agent: Agent, kind: UtteranceKind, place: str,
                     constraint: Constraint | None = None) -> Utterance:
        utterance = await self.turns.take(agent, place, constraint)
        self._said(kind, agent, utterance, place)
        return utterance

    def _said(self, kind: UtteranceKind, agent: Agent, utterance: Utterance, place: str,
              number: int | None = None) -> None:
        self.turns.memory.add(utterance)
        self.context.emit(Uttered(place, kind, agent.speaker, agent.title, utterance.text, number or self.round))

    def _tell(self, listener: Speaker | None, text: str) -> None:
        """Add what no agent said; without a listener it is for the pair."""
        self.turns.memory.add(Utterance(None, text, to=listener))
        place = f"{self.place}/round-{self.round}"
        self.context.emit(Uttered(place, "report", None, listener or "pair", text, self.round))

    def _note(self, text: str) -> None:
        self.context.emit(Noted(self.place, text, "warning"))

    def _constraint(self) -> Constraint | None:
        """For a second attempt and for bounds: it mends the form, but a constrained small model judges worse."""
        return constraint_for(self.phase.solution, self.assistant.role_model.profile, self.may_conclude("assistant"),
                              self.deliveries.state.software)


def _delivers(phase: Phase, body: str) -> bool:
    """Whether a concluding text brings a solution of its own, and does not merely agree with the last one."""
    return bool(body.strip()) and (phase.solution.form != "files" or phase.solution.as_file is not None
                                   or "```" in body or "~~~" in body)
