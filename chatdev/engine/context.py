"""State that the steps of a run pass on, and the context they share.

The state is the long-term memory (ChatDev equation 5): the solutions of earlier steps by name, and the software. The
context is what the runner hands to the engine: the company, its models and tools, the budget, and where events go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from chatdev.config.profiles import ModelProfile
from chatdev.config.schema import CompanyConfig
from chatdev.config.templates import render
from chatdev.engine.activity import Activities
from chatdev.engine.budget import Budget, LimitReached, Meter
from chatdev.events import Event, Noted, PersonAsked
from chatdev.llm.base import Image, Model, Sampling, ToolSpec

if TYPE_CHECKING:
    from chatdev.engine.people import PersonAnswer

Files = Mapping[str, bytes]
TOOL_LOG = "tool_errors.log"
"""The file beside a run's journal in which the tracebacks of tools are, for their authors."""
SEMANTICS = 7
"""The version of what a phase does with what is said in it; every run keeps the one that it began with. From 2 on
failing feedback outranks the assistant's marker in a pair, too, the assistant is told of an answer that changed
nothing, and a choice that is made again ends its phase at once. From 3 on markers that stand astray in a reply are no
part of a file, and source that stands there without a code block is no agreement. From 4 on a reply with more tool
calls than a turn has left gets those only, what a model thinks before it goes on with a reply is no part of it, and
what a loop in a parallel branch unsets is unset after the join. From 5 on files that a run was given are not written
anew, and none is removed without a request; a fence within a file of a reply does not end the block of the
file, and a patch is refused by its name. From 6 on a choice, a value, a list or the one file that a phase asks for is
its solution without a marker, where the assistant may conclude and no feedback judges; and a patch in a reply is
applied. From 7 on a call of a tool in the tags of a chat template, or by its name on the wire, is one."""


class SoftwareHistory(Protocol):
    """Keeps every version of the software."""

    async def commit(self, software: Files, message: str) -> None:
        """Make `software` the newest version."""
        ...


@dataclass(slots=True)
class State:
    """State passed from step to step."""

    values: dict[str, Any]
    software: Files
    history: SoftwareHistory
    given: Files = field(default_factory=dict)
    """The files that the run began with: those of its user."""

    def names(self) -> dict[str, Any]:
        """Everything an expression may name."""
        return {**self.values, "software": self.software}

    async def set_software(self, software: Files, message: str) -> None:
        """Replace the software and keep the version."""
        self.software = software
        await self.history.commit(software, message)


Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class RoleModel:
    """A model, how to draw from it, and what is known of it, for one role in one phase."""

    model: Model
    sampling: Sampling
    profile: ModelProfile
    headers: Mapping[str, str] = field(default_factory=dict)
    """Of every request, beside those that say its place in the run."""


class Toolbox(Protocol):
    """The tools of this run."""

    def spec(self, name: str) -> ToolSpec:
        """Description of the tool for agents."""
        ...

    def reads(self, name: str) -> tuple[str, ...]:
        """Long-term names that the tool declares to read (`name?` when it may be absent)."""
        ...

    def call(self, name: str, software: Files, values: Mapping[str, Any],
             arguments: Mapping[str, Any]) -> Awaitable[Any]:
        """The tool's result as plain JSON values; a verdict has `passed`, `report` and `score`. Whatever is wrong with
        the tool or its result is a ToolError."""
        ...


class People(Protocol):
    """Those who can be asked."""

    async def ask(self, question: PersonAsked) -> PersonAnswer:
        """The first answer that anybody gives; question and answer are emitted."""
        ...


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Inputs visible to agents: values by name, and images. Hidden inputs reach only tools, through the toolbox."""

    values: Mapping[str, Any] = field(default_factory=dict)
    images: Mapping[str, Image] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Settings of a whole run."""

    name: str
    """By which requests name it (`X-ChatDev-Run`)."""
    language: str = "English"
    """Of the documents that the agents write."""
    stream: bool = False
    """Whether replies are emitted as they arrive."""
    semantics: int = SEMANTICS
    """The version of it that the run began with."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """Everything that the steps of a run share beside the state that they change."""

    company: CompanyConfig
    settings: RunSettings
    inputs: RunInputs
    activities: Activities
    toolbox: Toolbox
    role_model: Callable[[str, str], RoleModel]
    """The model of (phase, role)."""
    budget: Budget
    """Budget of the whole run, over all its sessions."""
    emit: Emit
    people: People
    shared_budget: Budget | None = None
    """Budget shared with other runs."""
    meter: Meter = field(default_factory=Meter)
    noted: set[str] = field(default_factory=set)
    """Notes of tools for the user of the run."""

    @property
    def budgets(self) -> tuple[Budget, ...]:
        """All that the run's calls must fit."""
        return (self.budget, self.shared_budget) if self.shared_budget else (self.budget,)

    def refuse_overspent(self) -> None:
        """Raise BudgetExhausted when the run has spent more than it may, whatever came of it."""
        try:
            self.budget.refuse_overspent()
        except LimitReached as reached:
            raise reached.of_run() from None

    def note_once(self, texts: Iterable[str]) -> None:
        """Pass new notes to the user of the run."""
        for text in texts:
            if text not in self.noted:
                self.noted.add(text)
                self.emit(Noted("", text, "warning"))

    def say(self, entry: str, **values: Any) -> str:
        """One of the protocol's texts, rendered."""
        template = getattr(self.company.protocol, entry)
        return render(template, values, f"protocol.{entry}")

    def say_problem(self, code: str, **facts: Any) -> str:
        """One of the protocol's problems, in words."""
        return render(self.company.protocol.problems[code], facts, f"protocol.problems.{code}")

    def names(self, state: State) -> dict[str, Any]:
        """Everything that an expression or an opening may name: the inputs and the long-term memory."""
        return {**self.inputs.values, **state.names(), "inputs": self.inputs.values}
