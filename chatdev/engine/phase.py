"""One phase: opening, dialogue, reflection, and the solution that enters long-term memory. In the dialogue instructor
and assistant take turns until a stop rule gives the ending (design §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chatdev.config.json_schema import call_schema
from chatdev.config.phases import (
    Limits,
    OnNoSolution,
    Phase,
    PhaseLimits,
    Surroundings,
    ToolDescription,
    form_text,
    names_read,
    phase_limits,
    settle,
    system_prompt,
    tools_of,
)
from chatdev.config.templates import render, variables
from chatdev.engine.budget import Budget
from chatdev.engine.context import RunContext, ShortTermMemory, State, Utterance
from chatdev.engine.delivery import Assessment, Deliveries, ResponseOutcome
from chatdev.engine.drafts import Drafts
from chatdev.engine.model_calls import Agent, ModelCalls, PhaseBudgetExhausted, constraint_for
from chatdev.engine.people import NobodyAnswers, ask_approval
from chatdev.engine.stop import (
    AFTER_INSTRUCTION,
    AFTER_RESPONSE,
    BEFORE_NEXT_ROUND,
    SAME_AGAIN,
    DialogueProgress,
    Ending,
    LoopDetector,
)
from chatdev.engine.turn import AgentTools, Turns, marker_of, read_reply, warm
from chatdev.errors import PhaseFailed
from chatdev.events import Noted, PhaseFinished, PhaseStarted, Place, Speaker, UtteranceKind, Uttered
from chatdev.llm.base import Constraint
from chatdev.replies import Marked, Unreadable, holds_patch
from chatdev.tools.base import Verdict


@dataclass(slots=True)
class PhaseRun:
    """One execution of the phase `name`: it owns the deliveries with their target, and the budget."""

    context: RunContext
    state: State
    name: str
    place: Place
    rounds: int | None = None
    """Most rounds by the step that runs it."""
    anew: bool = False
    """Whether it writes the software as if there were none yet."""
    phase: Phase = field(init=False)
    deliveries: Deliveries = field(init=False)
    calls: ModelCalls = field(init=False)

    def __post_init__(self) -> None:
        phase = self.context.company.phases[self.name]
        sizes = self.context.role_model(self.name, phase.assistant).profile.sizes
        self.phase = settle(phase, self.context.names(self.state), sizes)
        if self.rounds:
            self.phase = self.phase.model_copy(update={"rounds": min(self.rounds, phase.rounds)})
        if self.anew:  # who begins anew cannot mend what was not kept
            solution = self.phase.solution.model_copy(update={"retries": 0})
            self.phase = self.phase.model_copy(update={"solution": solution})
        self.deliveries = Deliveries(self.context, self.phase, self.state, self.place, anew=self.anew)
        self.calls = ModelCalls(self.context, self.name, self._budget(self.phase.budget))

    def _budget(self, limits: Limits | None = None) -> Budget:
        """A budget of its own, by the clock of the run."""
        return Budget(limits, clock=self.context.budget.clock)

    async def run(self) -> None:
        """The whole phase; its solution is in the state afterwards. Raises PhaseFailed when it owes one and has
        none."""
        self._emit_started()
        await self.deliveries.judge_entry()
        if self.deliveries.passed:
            self._emit_finished("feedback")
            return
        dialogue = await self._open_dialogue()
        if self.phase.approve and (refusal := await self._ask_approval(dialogue)):
            self._emit_finished(refusal)
            return
        ending: str = await dialogue.run()
        if self.deliveries.is_owed and not (self._is_accepted(ending) and self.deliveries.target.is_present):
            ending = await self._conclude(dialogue, ending)
        await self.deliveries.close(ending)
        self._emit_finished(ending, dialogue.progress.round, self.calls.made)

    async def _ask_approval(self, dialogue: Dialogue) -> str:
        """The ending where a person does not want the phase; empty where they do, and then the pair reads what they
        say."""
        answer = await ask_approval(
            self.context, self.place.at("approve"), about=f"phase {self.name}: {self.phase.about}",
            text=dialogue.turns.memory.opening)
        if answer.action == "accept":
            if answer.text.strip():
                dialogue.hear(answer.text)
            return ""
        if answer.text.strip():
            self.context.emit(Noted(self.place, f"a person refuses this phase: {answer.text}"))
        return "refused" if answer.action == "refuse" else "skipped"

    def _is_accepted(self, ending: str) -> bool:
        """Whether a side said that nothing need be delivered, feedback or not."""
        return ending in ("consensus", "skipped") or (ending == "unchanged" and not self.deliveries.refused)

    async def _open_dialogue(self) -> Dialogue:
        phase, context = self.phase, self.context
        opening, brief = await self._open(self.place, 0)
        images = tuple(image for key, image in context.inputs.images.items() if key in names_read(phase.reads))
        progress = self._course(brief)
        agent_tools = AgentTools(context, self.state, phase.tool_calls, progress.loops)
        turns = Turns(context, ShortTermMemory(opening, images), self.calls, agent_tools, window=brief.limits.window)
        return Dialogue(context, brief, turns, deliveries=self.deliveries, progress=progress, open_anew=self._open)

    async def _open(self, place: Place, number: int) -> tuple[str, Brief]:
        """The opening and the brief by the values, the software and the feedback as they stand when a round begins."""
        values = self._visible_values()
        opening = render(self.phase.opening, values, f"phases.{self.name}.opening")
        self.context.emit(Uttered(place, "opening", None, "opening", opening, number))
        return opening, self._brief(values, await self._example())

    def _visible_values(self) -> Mapping[str, Any]:
        """The values the opening and guidance may use: what the phase declares to read, and its own feedback."""
        known = self.context.names(self.state)
        values = {}
        for read in self.phase.reads:
            name = read.rstrip("?")
            if name not in known and not read.endswith("?"):
                raise PhaseFailed(f"{self.place} reads {name!r}, which no step before it has written in this run; "
                                  f"write {name!r} first, or read it as {name + '?'!r}")
            values[name] = known.get(name)
        sizes = self.context.role_model(self.name, self.phase.assistant).profile.sizes
        values = {"sizes": sizes, **values}
        if self.deliveries.verdict:
            values["feedback"] = self.deliveries.verdict.to_dict()
        return values

    async def _example(self) -> str:
        """A part of what stands as a delivery brings it; none where it takes too long to find one."""
        target = self.deliveries.target
        try:
            return await read_reply(lambda: target.example) if target.keeps_versions else ""
        except Unreadable:
            return ""

    def _brief(self, values: Mapping[str, Any], example: str) -> Brief:
        phase = self.phase
        assistant = self._agent("assistant", phase.assistant, values, example)
        instructor = self._agent("instructor", phase.instructor, values, example) if phase.instructor else None
        form = form_text(self.context.company, phase, has_software=bool(self.deliveries.target.base),
                         example=example, sizes=assistant.role_model.profile.sizes)
        limits = phase_limits(phase, assistant.role_model.profile)
        return Brief(phase, self.place, assistant, instructor, form_text=form, limits=limits)

    def _course(self, brief: Brief) -> DialogueProgress:
        phase, semantics = self.phase, self.context.settings.semantics
        is_choice = phase.solution.form == "choice" and semantics > 1  # of a choice there is nothing more to ask
        return DialogueProgress(brief.limits.rounds, LoopDetector(phase.stuck), is_judged=phase.feedback is not None,
                                is_alone=brief.instructor is None, same_again=1 if is_choice else SAME_AGAIN,
                                semantics=semantics,
                                repeats=int(self.anew))  # asked in the same way, a model tends to answer the same

    def _agent(self, speaker: Speaker, role: str, values: Mapping[str, Any], example: str) -> Agent:
        context, phase = self.context, self.phase
        role_model = context.role_model(self.name, role)
        sizes = role_model.profile.sizes
        named = () if role_model.profile.is_person else tools_of(context.company, phase, speaker, sizes)
        offered = (context.toolbox.spec(name) for name in named)
        tools = tuple(replace(tool, parameters=call_schema(tool.parameters, sizes)) for tool in offered)
        system = system_prompt(context.company, self.name, speaker, Surroundings(
            values={**context.inputs.values, **values},
            tools=[ToolDescription(tool.name, tool.description, tool.parameters) for tool in tools],
            native_tools=role_model.profile.native_tools, has_software=bool(self.deliveries.target.base),
            example=example, documents_language=context.settings.language, sizes=sizes,
            is_person=role_model.profile.is_person))
        return Agent(speaker, role, context.company.roles[role].title, system, role_model, tools)

    async def _conclude(self, dialogue: Dialogue, ending: str) -> str:
        """The ending of a phase that still owes its solution; where nobody gives or approves one, no other is drawn."""
        if ending == "skipped" and (self.phase.solution.approve or
                                    dialogue.brief.assistant.role_model.profile.is_person):
            return self._end_without_solution()
        if self.anew and self.deliveries.target.is_present:
            return "kept"
        if self.phase.on_no_solution == "observed":
            self.deliveries.substitute("\n\n".join(dict.fromkeys(dialogue.turns.agent_tools.observed)))
            return "observed"
        return await self._reflect(dialogue)

    async def _reflect(self, dialogue: Dialogue) -> str:
        """Draw the conclusion from the dialogue, else do as `on_no_solution` says. Returns the phase's ending."""
        brief, progress = dialogue.brief, dialogue.progress
        agent, turns = brief.assistant, self._reflecting_turns(dialogue)
        constraint = constraint_for(self.phase.solution, agent.role_model.profile, concludes=False,
                                    paths=self.state.software)
        for n in range(1, brief.limits.reflections + 1):
            place = self.place.at("reflection", n)
            try:
                utterance = await turns.take(agent, place, constraint, repeats=progress.repeats)
                self.context.emit(Uttered(place, "reflection", "assistant", agent.title, utterance.text,
                                          progress.round))
                marked = await marker_of(utterance.text)
                received = await self.deliveries.receive(marked.body if marked.kind else utterance.text, place)
            except NobodyAnswers:
                break
            if received.outcome == "kept":
                return "reflection"
        return self._end_without_solution()

    def _reflecting_turns(self, dialogue: Dialogue) -> Turns:
        """Turns over a memory of their own; a phase that has spent its budget still owes its solution."""
        brief, memory = dialogue.brief, dialogue.turns.memory
        names: dict[Speaker, str] = {"assistant": brief.assistant.title}
        if brief.instructor:
            names["instructor"] = brief.instructor.title
        question = self.context.say("reflection", dialogue=memory.transcript(names), form_text=brief.form_text,
                                    phase={"name": self.name, "about": self.phase.about})
        self.calls = ModelCalls(self.context, self.name, self._budget(), made=self.calls.made)
        return replace(dialogue.turns, memory=ShortTermMemory(question, memory.images), calls=self.calls)

    def _end_without_solution(self) -> str:
        choice = self.phase.on_no_solution
        if isinstance(choice, OnNoSolution):
            self.deliveries.substitute(choice.value)
            return "value"
        if choice == "keep":
            return "kept"
        self._emit_finished("failed")
        raise PhaseFailed(f"{self.place} ended without a solution in the form {self.phase.solution.form!r}; look at "
                          "its dialogue in the report, raise `rounds` or `retries`, set `on_no_solution`, or take a "
                          "stronger model")

    def _emit_started(self) -> None:
        roles, phase = self.context.company.roles, self.phase
        instructor = roles[phase.instructor].title if phase.instructor else None
        self.context.emit(PhaseStarted(self.place, self.name, phase.about, instructor, roles[phase.assistant].title,
                                       phase.rounds))

    def _emit_finished(self, ending: str, rounds: int = 0, calls: int = 0) -> None:
        self.context.emit(PhaseFinished(self.place, self.name, ending, rounds, calls))


# The dialogue of one phase: instructor and assistant take turns until a stop rule gives the ending (design §3).


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
