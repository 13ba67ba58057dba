"""The dialogue of one phase: instructor and assistant take turns until a stop rule gives the ending (design §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from chatdev.config.phases import Phase, PhaseLimits
from chatdev.config.templates import variables
from chatdev.engine.context import RunContext
from chatdev.engine.delivery import Assessment, Deliveries, ResponseOutcome
from chatdev.engine.drafts import Drafts
from chatdev.engine.memory import Utterance
from chatdev.engine.model_calls import Agent, PhaseBudgetExhausted, constraint_for
from chatdev.engine.people import NobodyAnswers
from chatdev.engine.stop import AFTER_INSTRUCTION, AFTER_RESPONSE, BEFORE_NEXT_ROUND, DialogueProgress, Ending
from chatdev.engine.turn import Turns, marker_of, warm
from chatdev.events import Noted, Place, Speaker, UtteranceKind, Uttered
from chatdev.llm.base import Constraint
from chatdev.replies import Marked, holds_patch
from chatdev.tools.base import Verdict


@dataclass(frozen=True, slots=True)
class Brief:
    """Opening state of a phase, rebuilt every round where its memory is fresh: task, roles, and the form of the
    solution in words."""

    phase: Phase
    place: Place
    assistant: Agent
    instructor: Agent | None
    form_text: str
    limits: PhaseLimits

    def may_conclude(self, speaker: Speaker) -> bool:
        """Whether the phase lets this side state the consensus."""
        return self.phase.concludes in (speaker, "either")


@dataclass(slots=True)
class Dialogue:
    """Runs the rounds of one phase over its memory and deliveries."""

    context: RunContext
    brief: Brief
    turns: Turns
    deliveries: Deliveries
    progress: DialogueProgress
    open_anew: Callable[[Place, int], Awaitable[tuple[str, Brief]]]
    """Gives the opening and the brief as they are when a round begins, by its place and number."""
    _guard_report: str = field(default="")
    """As the pair knows it."""
    _has_drafts: bool = field(default=False)
    """Whether drafts were drawn."""

    async def run(self) -> Ending:
        """Take turns until a stop rule holds or the phase has spent its budget, which is noted with the reason."""
        self.progress.loops.see_version(self.deliveries.target.fingerprint)
        self._guard_report = self.deliveries.guard.report if self.deliveries.guard else ""
        self.progress.report = self.deliveries.verdict.report if self.deliveries.verdict else ""
        try:
            ending = await self._run_rounds()
        except PhaseBudgetExhausted as spent:
            self._note(f"the phase ends here: {spent}")
            return "budget"
        except NobodyAnswers:
            return "skipped"
        if ending == "stuck":
            self._note(f"stuck: {self.progress.loops.reason}; the phase ends here")
        return ending

    def hear(self, text: str) -> None:
        """Let the pair read what a person says before it begins."""
        self.deliveries.asked.append(text)
        said = self.context.say("remark", text=text)
        self.turns.memory.add(Utterance(None, said))
        self.context.emit(Uttered(self.brief.place, "report", None, "pair", said, 0))

    async def _run_rounds(self) -> Ending:
        instructs = self.brief.phase.opens == "instructor"  # otherwise the opening is the first instruction
        while True:
            if self.brief.phase.memory.fresh and self.progress.round:
                await self._forget()
            instructor = self.brief.instructor
            if instructor and instructs and (ending := await self._instruct(instructor)):
                return ending
            instructs = True
            self.progress.begin_round()
            if ending := await self._respond() or BEFORE_NEXT_ROUND(self.progress):
                return ending

    async def _forget(self) -> None:
        """The next round begins with the opening as it reads now, and what tools and engine have to say of what stands;
        its response is the first one of its kind, so there may be drafts of it."""
        number = self.progress.round + 1
        opening, self.brief = await self.open_anew(self.brief.place.at("round", number), number)
        self.turns.memory.begin_anew(opening)
        self._has_drafts = False
        self._report_verdicts(self.deliveries.guard, None if "feedback" in variables(self.brief.phase.opening)
                              else self.deliveries.verdict)

    async def _instruct(self, instructor: Agent) -> Ending | None:
        """The instructor's next instruction; an ending when it accepts what is there instead."""
        number = self.progress.round + 1
        place = self.brief.place.at("round", number).at("instructor")
        utterance = await self.turns.take(instructor, place, repeats=self.progress.repeats)
        marked = await marker_of(utterance.text)
        self._say("instruction", instructor, utterance, place, number)
        agrees = marked.kind == "solution" and self.brief.may_conclude("instructor")
        self.progress.see_instruction(utterance.text, agrees=agrees)
        if agrees and not self.deliveries.made and not self.deliveries.target.keeps_versions:
            await self.deliveries.receive(marked.body, place)  # an instructor who names the solution at once
        return AFTER_INSTRUCTION(self.progress)

    async def _respond(self) -> Ending | None:
        """The assistant's response, and what follows from it; None goes on to the next round."""
        utterance, place = await self._formal_response(self._round_place.at("assistant"))
        for attempt in range(self.brief.phase.solution.retries + 1):
            if attempt:
                place = self._round_place.at("assistant").at("retry", attempt)
                utterance = await self._speak(self.brief.assistant, "response", place, self._constraint())
            marked = await marker_of(utterance.text)
            concludes = self._concludes(marked)
            if marked.kind and concludes and self._only_agrees(marked.body):
                return self._agree(utterance.text)
            received = await self._receive(marked.kind, marked.body if marked.kind else utterance.text, place)
            again = utterance.text == self.progress.answer
            self.progress.see_answer(utterance.text, unchanged=received.unchanged)
            if received.outcome == "kept":
                return self._deliver(utterance.text, received, concludes)
            self._return_to_assistant(received)
            if again:
                self._tell_unchanged(utterance.text)
        self.progress.see_failed_round(utterance.text, refused=received.outcome == "refused")
        return AFTER_RESPONSE(self.progress)

    def _concludes(self, marked: Marked) -> bool:
        """Whether the assistant says that this is the solution: by its marker, or because the form of its answer says
        so (a choice, a value, a list or one file) where no feedback judges."""
        phase = self.brief.phase
        by_form = self.context.settings.semantics > 5 and phase.solution.is_self_evident and not phase.feedback
        return self.brief.may_conclude("assistant") and (marked.kind == "solution" or (marked.kind is None and by_form))

    def _agree(self, text: str) -> Ending | None:
        """The assistant states the consensus without a delivery of its own."""
        self.progress.see_agreement(text, passed=self.deliveries.passed)
        ending = AFTER_RESPONSE(self.progress)
        if not ending:
            self._report(unchanged=True)
            self._tell_unchanged(text)
        return ending

    def _deliver(self, text: str, received: ResponseOutcome, concludes: bool) -> Ending | None:
        """Consequence of a delivery for the dialogue."""
        deliveries = self.deliveries
        self.progress.see_delivery(text, deliveries.target.fingerprint, unchanged=received.unchanged,
                                   concludes=concludes, passed=deliveries.passed,
                                   report=deliveries.verdict.report if deliveries.verdict else "")
        ending = AFTER_RESPONSE(self.progress)
        if not ending:
            self._report(received.unchanged)
            if received.unchanged:
                self._tell_unchanged(text)
        return ending

    def _only_agrees(self, body: str) -> bool:
        """Whether a concluding text brings no solution of its own, and may agree with what is there."""
        solution, body = self.brief.phase.solution, self.deliveries.tidied(body)
        has_own = bool(body.strip()) and (solution.form != "files" or solution.as_file is not None
                                          or "```" in body or "~~~" in body
                                          or (self.context.settings.semantics > 5 and holds_patch(body)))
        may_keep = not self.brief.instructor and self.brief.phase.on_no_solution == "keep"
        return not has_own and (bool(self.deliveries.made) or may_keep)

    async def _receive(self, kind: str | None, body: str, place: Place) -> ResponseOutcome:
        if kind == "question":
            return ResponseOutcome("unreadable", self.context.say_problem("question"))
        return await self.deliveries.receive(body, place)

    async def _formal_response(self, place: Place) -> tuple[Utterance, Place]:
        """The response after the questions it needs, the best one of its drafts, and where it was made."""
        assistant, limits = warm(self.brief.assistant, self.progress.repeats), self.brief.limits
        utterance = await self._ask_questions(place)
        is_first = not self.deliveries.made or self.brief.phase.memory.fresh
        if limits.drafts > 1 and is_first and not self._has_drafts:
            self._has_drafts = True
            drafts = Drafts(self.context, self.deliveries, self._draw, self._assess, limits.drafts,
                            1 if assistant.tools else limits.drafts_at_once)
            chosen = await drafts.choose(assistant, place, utterance)
            utterance, place = chosen.utterance, chosen.place
        utterance = utterance or await self._draw(assistant, place)
        self._say("response", assistant, utterance, place)
        return utterance, place

    async def _ask_questions(self, place: Place) -> Utterance | None:
        """The questions that the assistant has, with their answers (communicative dehallucination, ChatDev equation 7).
        Its response, if it has given that instead."""
        brief = self.brief
        if not brief.instructor or not brief.limits.questions:
            return None
        for n in range(1, brief.limits.questions + 1):
            asked = await self.turns.take(brief.assistant, place.at("ask", n), repeats=self.progress.repeats)
            if (await marker_of(asked.text)).kind != "question":
                return asked
            self._say("question", brief.assistant, asked, place)
            await self._speak(brief.instructor, "answer", self._round_place.at("instructor").at("answer", n))
        self._report_to("assistant", self.context.say("must_deliver", form_text=brief.form_text))
        return None

    async def _draw(self, agent: Agent, place: Place) -> Utterance:
        """The assistant's response at its first attempt; it is not said yet."""
        bounded = self.brief.phase.solution.most is not None  # a small model does not find the end of a list
        constraint = self._constraint() if bounded else None
        return await self.turns.take(agent, place, constraint)

    async def _assess(self, text: str, place: Place) -> Assessment:
        """Assessment of a draft, parsed the way `_respond` parses the chosen one."""
        marked = await marker_of(text)
        if marked.kind == "question":
            return Assessment(problem=self.context.say_problem("question"), is_readable=False)
        if marked.kind == "solution" and self.brief.may_conclude("assistant") and self._only_agrees(marked.body):
            return self.deliveries.standing
        return await self.deliveries.assess(marked.body if marked.kind else text, place)

    def _report(self, unchanged: bool) -> None:
        """Add reports to memory: tool verdicts for the pair, and for the next speaker a note if nothing changed."""
        verdict, guard = self.deliveries.verdict, self.deliveries.guard
        if not self.brief.phase.memory.fresh:
            self._report_verdicts(guard, verdict)
        if unchanged:
            failing = next((one for one in (verdict, guard) if one and not one.passed), None)
            self._report_to("instructor" if self.brief.instructor else "assistant", self.context.say(
                "same_again", times=self.progress.same, report=failing.report if failing else "", passed=not failing,
                alone=not self.brief.instructor, writes=self.brief.phase.writes))

    def _report_verdicts(self, guard: Verdict | None, feedback: Verdict | None) -> None:
        """Tell the pair the feedback, and what the guard says otherwise than it said when they heard it last."""
        phase = self.brief.phase
        if guard and guard.report != self._guard_report:
            self._guard_report = self._guard_report if phase.memory.fresh else guard.report
            self._report_to(None, self.context.say("report", tool=phase.guard, report=guard.report,
                                                   passed=guard.passed))
        if feedback:
            self._report_to(None, self.context.say("report", tool=phase.feedback, report=feedback.report,
                                                   passed=feedback.passed))

    def _tell_unchanged(self, text: str) -> None:
        """Tell the assistant that its answer changed nothing, and take the answer from its view."""
        if self.context.settings.semantics > 1:
            self.turns.memory.drop("assistant", text)
            self._report_to("assistant", self.context.say("unchanged", writes=self.brief.phase.writes))

    def _return_to_assistant(self, received: ResponseOutcome) -> None:
        form_text = self.brief.form_text
        if received.outcome == "refused":
            self._report_to("assistant", self.context.say("refused", reason=received.problem, form_text=form_text))
        else:
            self._report_to("assistant", self.context.say("unreadable", problem=received.problem, form_text=form_text))

    async def _speak(self, agent: Agent, kind: UtteranceKind, place: Place,
                     constraint: Constraint | None = None) -> Utterance:
        utterance = await self.turns.take(agent, place, constraint, repeats=self.progress.repeats)
        self._say(kind, agent, utterance, place)
        return utterance

    def _say(self, kind: UtteranceKind, agent: Agent, utterance: Utterance, place: Place,
             number: int | None = None) -> None:
        self.turns.memory.add(utterance)
        if agent.speaker == "instructor":
            self.deliveries.asked.append(utterance.text)
        self.context.emit(Uttered(place, kind, agent.speaker, agent.title, utterance.text,
                                  number or self.progress.round))

    def _report_to(self, listener: Speaker | None, text: str) -> None:
        """Add what no agent said; without a listener it is for the pair."""
        self.turns.memory.add(Utterance(None, text, to=listener))
        self.context.emit(Uttered(self._round_place, "report", None, listener or "pair", text, self.progress.round))

    def _note(self, text: str) -> None:
        self.context.emit(Noted(self.brief.place, text, "warning"))

    @property
    def _round_place(self) -> Place:
        return self.brief.place.at("round", self.progress.round)

    def _constraint(self) -> Constraint | None:
        """For a second attempt and for bounds: it fixes the form, but a constrained small model judges worse."""
        brief = self.brief
        return constraint_for(brief.phase.solution, brief.assistant.role_model.profile,
                              brief.may_conclude("assistant"), self.deliveries.state.software)
