"""What a run may take: calls, tokens and cost, by simple rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

from chatdev.config.preview import preview
from chatdev.config.profiles import ModelProfile, profile_for
from chatdev.config.schema import (
    Branch,
    Company,
    ForeachStep,
    ModelSettings,
    ParallelStep,
    Phase,
    PhaseStep,
    ProcessStep,
    RepeatStep,
    StepFields,
)
from chatdev.config.settings import resolve
from chatdev.config.steps import nested

CHARACTERS = 4  # of a token, roughly, in English and code
REPLY = 400  # tokens of a reply, a round figure for short programs and reviews


@dataclass(frozen=True, slots=True)
class Load:
    """Calls, prompt and completion tokens, and US dollars (None: unknown)."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: Load) -> Load:
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        return Load(self.calls + other.calls, self.prompt_tokens + other.prompt_tokens,
                    self.completion_tokens + other.completion_tokens, cost)

    def __mul__(self, times: int) -> Load:
        return Load(self.calls * times, self.prompt_tokens * times, self.completion_tokens * times,
                    None if self.cost is None else self.cost * times)


@dataclass(frozen=True, slots=True)
class Estimate:
    """From the shortest to the longest run; `most` is None when the chain holds a `foreach` or a `process`, whose
    length is only known when it runs."""

    least: Load
    most: Load | None


@dataclass(frozen=True, slots=True)
class _Rules:
    company: Company
    prompts: Mapping[str, int]  # tokens of system prompt and opening by phase
    default: ModelSettings
    profiles: Sequence[ModelProfile]


def estimate(company: Company, inputs: Mapping[str, Any], default: ModelSettings | None = None,
             profiles: Sequence[ModelProfile] = ()) -> Estimate:
    """The estimate for a run with the default model `default`; `profiles` are the user's own.

    Least: conditional steps are skipped, loops leave after their first step, feedback passes at once (no call), an
    instructor who opens concludes at once and any other phase ends with its first response (one call). Most: every
    loop and every round is used up, with all questions and their answers, and the two reflections. Not counted:
    repeated requests, unreadable responses, tool calls within a turn. A token is 4 characters, a reply 400 tokens,
    and every call reads the system prompt, the opening and what was said before it in the phase (at most `window`
    exchanges).
    """
    sizes = {shown.phase: (len(shown.system) + len(shown.opening)) // CHARACTERS
             for shown in preview(company, inputs)}
    rules = _Rules(company, sizes, default or ModelSettings(), profiles)
    return Estimate(_sum(_least(rules, step) for step in company.chain), _most_of(rules, company.chain))


def _least(rules: _Rules, step: StepFields) -> Load:
    if step.when is not None:
        return Load()
    match step:
        case PhaseStep():
            feedback = rules.company.phases[step.phase].feedback
            return Load() if feedback else _dialogue(rules, step.phase, 1)
        case RepeatStep() if step.repeat.until is not None:
            return _least(rules, step.repeat.steps[0])
        case RepeatStep():
            return _sum(_least(rules, inner) for inner in step.repeat.steps) * step.repeat.max
        case ParallelStep() | Branch():
            return _sum(_least(rules, inner) for inner in nested(step)[1])
    return Load()


def _most_of(rules: _Rules, steps: Sequence[StepFields]) -> Load | None:
    loads = [_most(rules, step) for step in steps]
    return None if None in loads else _sum(load for load in loads if load is not None)


def _most(rules: _Rules, step: StepFields) -> Load | None:
    match step:
        case PhaseStep():
            return _dialogue(rules, step.phase, _most_calls(rules, rules.company.phases[step.phase]))
        case ForeachStep() | ProcessStep():
            return None
        case RepeatStep():
            body = _most_of(rules, step.repeat.steps)
            return None if body is None else body * step.repeat.max
    return _most_of(rules, nested(step)[1])


def _most_calls(rules: _Rules, phase: Phase) -> int:
    profile = _profile(rules, phase)
    if phase.instructor is None and phase.feedback is None:
        return 1 + 2
    rounds = min(phase.rounds, profile.rounds or phase.rounds)
    questions = min(phase.questions, profile.questions or phase.questions) if phase.dehallucination else 0
    instructions = 0 if phase.instructor is None else rounds if phase.opens == "instructor" else rounds - 1
    return instructions + rounds * (1 + 2 * questions) + 2


def _dialogue(rules: _Rules, name: str, calls: int) -> Load:
    """So many calls of a phase, each reading what was said before."""
    phase = rules.company.phases[name]
    profile = _profile(rules, phase)
    window = phase.memory.window or profile.window
    remembered = sum(min(n, 2 * window) if window else n for n in range(calls))
    prompt, completion = calls * rules.prompts[name] + remembered * REPLY, calls * REPLY
    return Load(calls, prompt, completion, profile.cost(prompt, completion))


def _profile(rules: _Rules, phase: Phase) -> ModelProfile:
    """The profile of the assistant's model, which stands for both sides."""
    settings = resolve(rules.company, phase, rules.company.roles[phase.assistant], rules.default)
    return profile_for(settings.name or "", rules.profiles)


def _sum(loads: Any) -> Load:
    return reduce(add, loads, Load())
