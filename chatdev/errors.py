"""Every error the library raises on purpose.

    ChatDevError
    ├── ConfigError            a company, setting or input is wrong; nothing was paid yet
    │   └── ConsentMissing     a company or a `.env` names an address or a key that the user has not allowed it
    ├── ExpressionError        an `until`, `when` or `success` could not be evaluated
    ├── ModelError             a model call failed for good
    │   ├── MissingModel       no key, no URL and no local model
    │   ├── ModelRejected      the server refuses: wrong key, unknown model, bad request
    │   ├── ModelUnavailable   rate limits, outages and time-outs outlasted the retries
    │   ├── UnusableReply      empty, refused, cut or unreadable replies outlasted the retries
    │   ├── ContextOverflow    the request does not fit the model's context window
    │   └── ModelCrashed       a model ended with an exception that it does not raise on purpose
    ├── ToolError              a tool could not do its work
    │   ├── MissingProgram     a program, package or model is not installed; says how to get it
    │   └── ToolCrashed        a tool ended with an exception that it does not raise on purpose
    ├── SandboxError           no safe place to run what a model wrote
    ├── WorkspaceError         the software or run folder cannot be read or written
    │   └── UnsafePath         a path leaves the software folder
    ├── TraceError             an endpoint does not take the spans of a run
    ├── JournalError           the journal is damaged or belongs to another run
    ├── RunChanged             a resumed run would not do what it did: its company, prompts or code changed
    ├── RecordEnds             a replay has come to the end of its record
    ├── BudgetExhausted        a run reached its budget; it can be resumed with a greater one
    └── PhaseFailed            a phase ended without the solution it owes

Texts say what was given, what is allowed and what to do. Only the command line prints them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from chatdev.safe_text import scrub

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ChatDevError(Exception):
    """Base of the tree; `exit_status` is what the command line exits with. No text of it holds a secret."""

    exit_status = 1

    place: str = ""
    """The activity whose result it is, where it is that of one."""

    def __init__(self, text: object = "") -> None:
        super().__init__(scrub(str(text)))

    def at(self, place: str) -> Self:
        """The same error, with its place."""
        self.place = place
        return self


class ConfigError(ChatDevError):
    """A company, a setting or an input is wrong; raised before the first model call."""

    exit_status = 2


class ConsentMissing(ConfigError):
    """Somebody else's company or `.env` names what needs the user's consent: a model's address, a variable whose value
    is sent, a file of a model. `subjects` are the companies and `.env` files that consent can be given to."""

    def __init__(self, text: str = "", subjects: tuple[Any, ...] = ()) -> None:
        super().__init__(text)
        self.subjects = subjects


class ExpressionError(ChatDevError):
    """An `until`, `when` or `success` expression could not be evaluated."""

    exit_status = 2


class ModelError(ChatDevError):
    """A model call failed for good; the run stops with what it has on disk.

    `prompt_tokens` and `completion_tokens` are what its attempts are known to have cost, `estimated` as in `Usage`.
    """

    exit_status = 3
    estimated = False

    def __init__(self, text: str = "", prompt_tokens: int = 0, completion_tokens: int = 0) -> None:
        super().__init__(text)
        self.prompt_tokens, self.completion_tokens = prompt_tokens, completion_tokens


class MissingModel(ModelError):
    """There is no key, no URL and no local model."""

    exit_status = 2


class ModelRejected(ModelError):
    """The server refuses the request: wrong key, unknown model, bad parameter."""


class ModelUnavailable(ModelError):
    """Rate limits, outages or time-outs outlasted the retries."""


class UnusableReply(ModelError):
    """Empty, refused, cut or unreadable replies outlasted the retries."""


class ContextOverflow(ModelError):
    """The request does not fit the model's context window."""


class ModelCrashed(ModelError):
    """A model ended with an exception that it does not raise on purpose, which is the cause of this one."""


class ToolError(ChatDevError):
    """A tool could not do its work (a failing verdict is not an error). `repeated`: it failed alike when it ended an
    earlier session, so that the failure is its result now and the run goes on."""

    exit_status = 4
    repeated = False


class MissingProgram(ToolError):
    """A program, package or model is not installed; the text says how to get it."""


class ToolCrashed(ToolError):
    """A tool ended with an exception that it does not raise on purpose, or gave what is no JSON value."""


class SandboxError(ChatDevError):
    """There is no safe place to run what a model wrote."""

    exit_status = 4


class WorkspaceError(ChatDevError):
    """The software or run folder cannot be read or written."""

    exit_status = 5


class UnsafePath(WorkspaceError):
    """A path would leave the software folder or touch its git metadata."""


class TraceError(ChatDevError):
    """An endpoint does not take the spans of a run."""

    exit_status = 5


class JournalError(ChatDevError):
    """The journal is damaged or belongs to another run."""

    exit_status = 5


class RunChanged(ChatDevError):
    """The run would now ask something else at `place` than what is on record there.

    `before` and `now` are the two requests; one is empty where nothing was, or would be, asked.
    """

    exit_status = 2

    def __init__(self, place: str, before: Mapping[str, Any], now: Mapping[str, Any], text: str = "") -> None:
        super().__init__(text or f"{place} is not as it was recorded")
        self.place, self.before, self.now = place, before, now


class RecordEnds(ChatDevError):
    """A replay has come to the end of its record."""


class BudgetExhausted(ChatDevError):
    """The next model call does not fit the run's budget; nothing is lost, and a greater budget lets the run go on.

    `limit` is the field of the budget: calls, tokens, cost or minutes.
    """

    exit_status = 6

    def __init__(self, text: str, limit: str = "") -> None:
        super().__init__(text)
        self.limit = limit


class PhaseFailed(ChatDevError):
    """A phase ended without the solution it owes."""

    exit_status = 1
