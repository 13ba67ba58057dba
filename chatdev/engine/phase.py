"""One phase: opening, dialogue, reflection, and the solution that enters long-term memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chatdev.config.inception import form_text, readable, system_prompt
from chatdev.config.phases import OnNoSolution, Phase
from chatdev.config.prompts import render
from chatdev.engine.agent import Agent
from chatdev.engine.budget import Budget
from chatdev.engine.call import Calls
from chatdev.engine.constraint import constraint_for
from chatdev.engine.context import RunContext
from chatdev.engine.delivery import Deliveries
from chatdev.engine.dialogue import Dialogue
from chatdev.engine.memory import ShortTermMemory
from chatdev.engine.state import State
from chatdev.engine.stuck import Stuck
from chatdev.engine.tool_use import ToolUse
from chatdev.engine.turn import Turns
from chatdev.errors import PhaseFailed
from chatdev.events import DeliveryApplied, PhaseFinished, PhaseStarted, Speaker, Uttered
from chatdev.replies import example_part, read_marker

REFLECTIONS = 2  # at most so many attempts to draw the conclusion that the pair did not (design §3)


async def run_phase(context: RunContext, state: State, name: str, place: str) -> None:
    """Run the phase `name`; its solution is in `state` afterwards. Raises PhaseFailed when it owes one and has none."""
    room = PhaseRun(context, state, name, context.company.phases[name], place)
    await room.run()


@dataclass(frozen=True, slots=True)
class PhaseRun:
    """Where one pair meets for one execution of a phase."""

    context: RunContext
    state: State
    name: str
    phase: Phase
    place: str

    async def run(self) -> None:
        """The whole phase."""
        phase, deliveries = self.phase, Deliveries(self.context, self.phase, self.state, self.place)
        self._emit_started()
        versions = self.state.software
        await deliveries.open()
        if deliveries.passed:
            self._emit_finished("feedback", 0, 0)
            return
        dialogue = self._dialogue(deliveries)
        ending: str = await dialogue.run()
        if deliveries.owed and not self._accepted_as_it_was(ending):
            ending = await self._conclude(dialogue)
        await deliveries.settle()
        if phase.writes != "software" and deliveries.made:
            self.state.values[phase.writes] = deliveries.value
        if self.state.software != versions:
            await self.state.history.commit(self.state.software, f"{self.place}: {ending}")
        self._emit_finished(ending, dialogue.round, dialogue.turns.calls.made)

    def _accepted_as_it_was(self, ending: str) -> bool:
        """Whether the pair agreed on the value from before the phase (a reviewer with nothing to say)."""
        there = self.state.software if self.phase.writes == "software" else self.phase.writes in self.state.values
        return ending == "consensus" and bool(there)

    def _dialogue(self, deliveries: Deliveries) -> Dialogue:
        phase, context = self.phase, self.context
        values = self._readable(deliveries)
        opening = render(phase.opening, values, f"phases.{self.name}.opening")
        images = tuple(image for key, image in context.images.items() if key in readable(phase.reads))
        assistant = self._agent("assistant", phase.assistant, values)
        instructor = self._agent("instructor", phase.instructor, values) if phase.instructor else None
        profile = assistant.role_model.profile
        stuck = Stuck(phase.stuck)
        turns = Turns(context, ShortTermMemory(opening, images), phase.memory.window or profile.window,
                      ToolUse(context, self.state, phase.tool_calls, stuck),
                      Calls(context, self.name, Budget(phase.budget)))
        context.emit(Uttered(self.place, "opening", None, "opening", opening, 0))
        rounds = min(phase.rounds, profile.rounds or phase.rounds)
        if not instructor and not phase.feedback:
            rounds = 1
        return Dialogue(context, phase, self.place, assistant, instructor, turns, deliveries, rounds,
                        min(phase.questions, profile.questions or phase.questions),
                        form_text(context.company, phase, has_software=bool(self.state.software),
                                  example=example_part(self.state.software)), stuck)

    def _readable(self, deliveries: Deliveries) -> Mapping[str, Any]:
        """The values the opening and guidance may use: what the phase declares to read, and its own feedback."""
        known = {**self.context.inputs, **self.state.names(), "inputs": self.context.inputs}
        values = {}
        for read in self.phase.reads:
            name = read.rstrip("?")
            if name not in known and not read.endswith("?"):
                raise PhaseFailed(f"{self.place} reads {name!r}, which no step before it has written in this run; "
                                  f"write {name!r} first, or read it as {name + '?'!r}")
            values[name] = known.get(name)
        if deliveries.verdict:
            values["feedback"] = deliveries.verdict
        return values

    def _agent(self, speaker: Speaker, role: str, values: Mapping[str, Any]) -> Agent:
        context, phase = self.context, self.phase
        spec, role_model = context.company.roles[role], context.role_model(self.name, role)
        names = spec.tools
        if speaker == "assistant" and phase.tools is not None:
            names = phase.tools
        tools = tuple(context.toolbox.spec(name) for name in names)
        system = system_prompt(
            context.company, self.name, speaker, values={**context.inputs, **values},
            tools=[(tool.name, tool.description, tool.parameters) for tool in tools],
            native_tools=role_model.profile.native_tools, has_software=bool(self.state.software),
            example=example_part(self.state.software) if phase.writes == "software" else "",
            documents_language=context.documents_language)
        return Agent(speaker, role, spec.title, system, role_model, tools)

    async def _conclude(self, dialogue: Dialogue) -> str:
        """The ending of a phase that still owes its solution."""
        if self.phase.on_no_solution == "observed":
            observed = dict.fromkeys(dialogue.turns.tool_use.observed)
            return self._stands("\n\n".join(observed), dialogue.deliveries, "observed")
        return await self._reflect(dialogue)

    async def _reflect(self, dialogue: Dialogue) -> str:
        """Draw the conclusion from the dialogue, else do as `on_no_solution` says. Returns the phase's ending."""
        agent, memory = dialogue.assistant, dialogue.turns.memory
        names: dict[Speaker, str] = {"assistant": agent.title}
        if dialogue.instructor:
            names["instructor"] = dialogue.instructor.title
        question = self.context.say("reflection", dialogue=memory.transcript(names), form_text=dialogue.form_text,
                                   phase={"name": self.name, "about": self.phase.about})
        dialogue.turns.memory = ShortTermMemory(question, memory.images)
        dialogue.turns.calls.budget = Budget()  # a phase that has spent its own still owes its solution
        constraint = constraint_for(self.phase.solution, agent.role_model.profile, concludes=False,
                                    paths=self.state.software)
        for n in range(1, REFLECTIONS + 1):
            place = f"{self.place}/reflection-{n}"
            utterance = await dialogue.turns.take(agent, place, constraint)
            self.context.emit(Uttered(place, "reflection", "assistant", agent.title, utterance.text, dialogue.round))
            marked = read_marker(utterance.text)
            received = await dialogue.deliveries.receive(marked.body if marked.kind else utterance.text, place)
            if received.outcome == "kept":
                return "reflection"
        return self._without_solution(dialogue.deliveries)

    def _without_solution(self, deliveries: Deliveries) -> str:
        choice = self.phase.on_no_solution
        if isinstance(choice, OnNoSolution):
            return self._stands(choice.value, deliveries, "value")
        if choice == "keep":
            return "kept"
        self._emit_finished("failed", 0, 0)
        raise PhaseFailed(f"{self.place} ended without a solution in the form {self.phase.solution.form!r}; look at "
                          "its dialogue in the report, raise `rounds` or `retries`, set `on_no_solution`, or take a "
                          "stronger model")

    def _stands(self, value: Any, deliveries: Deliveries, ending: str) -> str:
        """Take a value that nobody delivered; returns the ending."""
        deliveries.value, deliveries.made = value, 1
        self.context.emit(DeliveryApplied(self.place, (self.phase.writes,)))
        return ending

    def _emit_started(self) -> None:
        roles, phase = self.context.company.roles, self.phase
        instructor = roles[phase.instructor].title if phase.instructor else None
        self.context.emit(PhaseStarted(self.place, self.name, phase.about, instructor, roles[phase.assistant].title,
                                      phase.rounds))

    def _emit_finished(self, ending: str, rounds: int, calls: int) -> None:
        self.context.emit(PhaseFinished(self.place, self.name, ending, rounds, calls))
