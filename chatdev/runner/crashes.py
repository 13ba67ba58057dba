"""Tools that end with an exception which they do not raise on purpose: what the pair reads of it, and where the tool's
author finds the traceback."""

from __future__ import annotations

import contextlib
import re
import traceback
from pathlib import Path
from typing import Any

from chatdev.errors import ToolCrashed
from chatdev.journal import utc_now
from chatdev.plain_values import encodable_text, plain_value
from chatdev.runner.sanitize import sanitize
from chatdev.secrets import scrub
from chatdev.tools.base import Verdict

_SHOWN = 300  # characters of an exception's message
_LONGEST_TRACEBACK, _LARGEST_LOG = 20_000, 1_000_000
_FOLDERS = re.compile(r"(?<![\w.…])/(?:[^\s/'\"`:,;()\[\]{}<>]+/)+")


def plain_result(name: str, result: Any) -> Any:
    """Result of the tool `name` as plain JSON values. Raises ToolCrashed for other values."""
    value = result.to_dict() if isinstance(result, Verdict) else result
    try:
        return plain_value(value)
    except ValueError as error:
        raise ToolCrashed(f"{name} gave what is no JSON value: {_message(error)}") from error


def crash_of(name: str, error: BaseException) -> ToolCrashed:
    """The exception in words for agents: its kind and the beginning of its message, without folders of this machine."""
    message = _message(error)
    return ToolCrashed(f"{name} ended with an unexpected {type(error).__name__}{': ' if message else ''}{message}")


def keep_traceback(log: Path, name: str, error: BaseException) -> None:
    """Add where the exception comes from to `log`, unless that cannot be written or is large already."""
    with contextlib.suppress(Exception):  # the crash itself is told in any case
        if log.exists() and log.stat().st_size > _LARGEST_LOG:
            return
        text = sanitize("".join(traceback.format_exception(error)))[-_LONGEST_TRACEBACK:]
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{utc_now().isoformat(timespec='seconds')} {name}\n{text}\n")


def _message(error: BaseException) -> str:
    try:
        text = scrub(str(error))[:10 * _SHOWN]
    except Exception:  # noqa: BLE001 - an exception of a tool's own may break on that, too
        return ""
    return _FOLDERS.sub("…/", " ".join(encodable_text(text).split()))[:_SHOWN]
