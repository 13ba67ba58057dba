"""One phase: opening, dialogue, reflection, and the solution that enters long-term memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from chatdev.config.inception import Surroundings, ToolDescription, form_text, system_prompt, tools_of
from chatdev.config.phases import Limits, OnNoSolution, Phase, names_read, phase_limits, settle
from chatdev.config.schema_text import call_schema
from chatdev.config.templates import render
from chatdev.engine.budget import Budget
from chatdev.engine.context import RunContext, State
from chatdev.engine.delivery import Deliveries
from chatdev.engine.dialogue import Brief, Dialogue
from chatdev.engine.memory import ShortTermMemory
from chatdev.engine.model_calls import Agent, ModelCalls, constraint_for
from chatdev.engine.people import NobodyAnswers, ask_approval
from chatdev.engine.stop import SAME_AGAIN, DialogueProgress, LoopDetector
from chatdev.engine.turn import AgentTools, Turns, marker_of, read_reply
from chatdev.errors import PhaseFailed
from chatdev.events import Noted, PhaseFinished, PhaseStarted, Place, Speaker, Uttered
from chatdev.replies import Unreadable


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
