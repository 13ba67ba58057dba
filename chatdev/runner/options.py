"""What a user may say about one run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from chatdev.events import Event
from chatdev.llm.rate import RateLimit

Ask = Callable[[str], bool | Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Settings of one run; an unset one falls back to the environment, the user's settings file, then the default."""

    inputs: Mapping[str, str | bytes | Path] = field(default_factory=dict)
    """Values of the company's inputs beside `task`; for `kind: file` and `kind: image` a path."""
    name: str | None = None
    """Name of the run's folder; unset: made from the task."""
    org: str | None = None
    """Organisation, put behind the name as ChatDev 1.x did."""
    model: str | None = None
    base_url: str | None = None
    warehouse: str | Path | None = None
    sandbox: str | None = None
    """`bubblewrap`, `docker`, or `none` as explicit consent to run what models write without one."""
    install: Literal["auto", "ask", "never"] | None = None
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
    """Time that passes; a call under way is ended."""
    rate_limit: RateLimit | None = None
    """One object for all runs of a process that share a provider's limits a minute."""
    on_event: Callable[[Event], None] | None = None
