"""Making all checks: side by side, each bounded in time, none able to raise."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from chatdev.errors import ChatDevError
from chatdev.runner.doctor.finding import Check, Diagnosis, Finding, Found, broken
from chatdev.secrets import scrubbed

SECONDS = 15.0


def diagnose(checks: Sequence[Check], seconds: float = SECONDS) -> Diagnosis:
    """Make the checks; one that is not done after `seconds` is reported so and left to itself. Never raises."""
    found: list[Found | None] = [None] * len(checks)

    def look(number: int) -> None:
        found[number] = _guarded(checks[number])

    threads = [threading.Thread(target=look, args=(number,), daemon=True) for number in range(len(checks))]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    late = broken(f"no answer in {seconds:g} seconds")
    return Diagnosis([Finding(check, one or late) for check, one in zip(checks, list(found), strict=True)])


def _guarded(check: Check) -> Found:
    try:
        return check.look()
    except ChatDevError as error:
        return broken(str(error))
    except Exception as error:  # noqa: BLE001 - on a machine so odd that a check fails, the others are needed most
        return broken(scrubbed(f"this check failed: {type(error).__name__}: {error}"))
