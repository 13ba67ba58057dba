"""Options of a run, as keyword arguments and as one value."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from chatdev.engine.budget import Budget
from chatdev.errors import ConfigError
from chatdev.events import Event
from chatdev.llm.base import Model
from chatdev.llm.rate import RateLimit
from chatdev.runner.inputs import InputValue

Ask = Callable[[str], bool | Awaitable[bool]]
InstallPolicy = Literal["auto", "ask", "never"]


class Options(TypedDict, total=False):
    """The fields of `RunOptions` as keyword arguments of `run`, `resume` and `replay`."""

    inputs: Mapping[str, InputValue]
    name: str | None
    org: str | None
    model: str | Model | None
    base_url: str | None
    api_key: str | None
    trust: bool | Collection[str]
    warehouse: str | Path | None
    sandbox: str | None
    install: InstallPolicy | None
    ask: Ask | None
    runtime: str | None
    stream: bool
    language: str | None
    software: str | Path | None
    max_cost: float | None
    max_tokens: int | None
    max_calls: int | None
    max_minutes: float | None
    rate_limit: RateLimit | None
    shared_budget: Budget | None
    on_event: Callable[[Event], None] | None


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Settings of one run; an unset one falls back to the environment, the user's settings file, then the default."""

    inputs: Mapping[str, InputValue] = field(default_factory=dict)
    """Values of the company's inputs beside `task`; for `kind: file` and `kind: image` a path, for `kind: files` a
    folder or several paths."""
    name: str | None = None
    """Name of the run's folder; unset: made from the task."""
    org: str | None = None
    """Organisation, put behind the name as ChatDev 1.x did."""
    model: str | Model | None = None
    """The default model: a name, or any object that is a `Model` (a journal keeps only its name, so that `resume` needs
    the object again)."""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """Goes before the key in the environment; it is a secret and shows in no journal, error or log."""
    trust: bool | Collection[str] = False
    """Consent, for this run, to the addresses, keys and model files that the company or the working folder's `.env`
    names (or consent to those with these digests). Without it what is on record counts: `chatdev trust`."""
    warehouse: str | Path | None = None
    sandbox: str | None = None
    """`bubblewrap`, `docker`, or `none` as explicit consent to run what models write without one."""
    install: InstallPolicy | None = None
    """Whether packages that programs import are installed; a company may be stricter. Unset: `auto`."""
    ask: Ask | None = None
    """With `install="ask"`: called on the event loop with the name of each package, once a run, and says whether it may
    be installed. Without it nothing is."""
    runtime: str | None = None
    """A set of packages that programs always find, e.g. `top`; prepared once for all runs."""
    stream: bool = False
    """Emit `TextStreamed` events as replies arrive."""
    language: str | None = None
    """Language that the agents write documents in; unset: English."""
    software: str | Path | None = None
    """A folder of existing software to start from."""
    max_cost: float | None = None
    """US dollars that the run may cost; needs the prices of all its models."""
    max_tokens: int | None = None
    """Tokens in and out."""
    max_calls: int | None = None
    """Model calls."""
    max_minutes: float | None = None
    """Time that passes; what is under way then is ended."""
    rate_limit: RateLimit | None = None
    """One object for all runs of a process that share a provider's limits a minute."""
    shared_budget: Budget | None = None
    """One object for all runs of an event loop that may spend so much together, beside what each of them may."""
    on_event: Callable[[Event], None] | None = None
    """Called with every event. What it raises is noted in the run, which goes on."""

    @property
    def own_model(self) -> Model | None:
        """The model that was given as an object."""
        return None if isinstance(self.model, str) else self.model


@dataclass(frozen=True, slots=True)
class ResumeChoices:
    """Choice where the run would deviate from its record; by default it is refused.

    `from_here`: go on live from there. `as_it_was`: take the company as it was when the run began; `company`: as it is
    now at this place, or under this name. Raises ConfigError for two that do not go together.
    """

    from_here: bool = False
    as_it_was: bool = False
    company: str | Path | None = None

    def __post_init__(self) -> None:
        if self.company is not None and self.as_it_was:
            raise ConfigError("--company takes a company as it is now, and --as-it-was as it was; leave one out")
        if self.from_here and self.as_it_was:
            raise ConfigError("--from-here takes the company as it is now, and --as-it-was as it was; leave one out")
