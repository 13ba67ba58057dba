"""When to try again, and how long to wait before it (tenacity)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_exponential_jitter

from chatdev.llm.failures import Transient, Unusable

ATTEMPTS = 6
UNUSABLE_ATTEMPTS = 3
LONGEST_WAIT = 60.0  # seconds; a server that asks for more is asked again after this

Sleep = Callable[[float], Awaitable[None]]

_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)


def retrying(sleep: Sleep) -> AsyncRetrying:
    """Attempts of one call: six at most, of which three may bring an unusable reply."""
    return AsyncRetrying(retry=retry_if_exception_type(Transient), stop=_Stop(), wait=_wait, sleep=sleep, reraise=True)


class _Stop:
    """Counts the unusable replies of a call by themselves: they are paid for, an outage is not."""

    def __init__(self) -> None:
        self._unusable = 0

    def __call__(self, state: RetryCallState) -> bool:
        self._unusable += isinstance(_failure(state), Unusable)
        return self._unusable >= UNUSABLE_ATTEMPTS or state.attempt_number >= ATTEMPTS


def _failure(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None


def _wait(state: RetryCallState) -> float:
    failure = _failure(state)
    asked = failure.retry_after if isinstance(failure, Transient) else None
    return _backoff(state) if asked is None else min(asked, LONGEST_WAIT)


def seconds_of(retry_after: str | None) -> float | None:
    """The wait in a `Retry-After` header: seconds or an HTTP date; None when it is absent or unreadable."""
    if not retry_after:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(retry_after)
    except (ValueError, OverflowError):
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
