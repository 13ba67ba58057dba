"""`value.check`: is what a phase was to agree on there? By it a company without software says what success is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chatdev.errors import ToolError
from chatdev.tools.base import ToolContext, Verdict, tool

_LIMITS = ("least_words", "options")
_SHOWN = 80  # characters of a value in a report


@tool()
def check(context: ToolContext) -> Verdict:
    """Check that a value in long-term memory is there and is not empty.

    The step says which one: `{tool: value.check, reads: [slogan], writes: test}`. With the input `least_words` it must
    have so many words; with `options`, a list that the step reads too, it must be one of them. A step hands over only
    the values that are there, so each has a step of its own; of several verdicts, all must have passed. Raises
    ToolError for any other mixture, and for limits that are none.
    """
    values = {name: value for name, value in context.values.items() if name not in _LIMITS}
    if not values:
        return Verdict(False, "There is no value to check: no step has written what this step reads.")
    if all(map(_is_verdict, values.values())):
        return _combined_verdict(values)
    if len(values) > 1:
        raise ToolError(f"value.check checks one value, or several verdicts; this step reads {', '.join(values)}. Give "
                        "each value a step of its own, and then check their verdicts together")
    [(name, value)] = values.items()
    least = _least_words({**context.inputs, **context.values}.get("least_words"))
    return _verdict(name, value, least, _options(context.values.get("options")))


def _verdict(name: str, value: object, least: int, options: Sequence[str] | None) -> Verdict:
    """The verdict on one value; `score` says how near to its least number of words a value is."""
    if _is_empty(value):
        return Verdict(False, f"`{name}` is empty.")
    if options is not None and _text(value) not in options:
        return Verdict(False, f"`{name}` is {_text(value)[:_SHOWN]!r}, which is none of: {', '.join(options)}.")
    words = len(_text(value).split())
    evidence = {"words": words}
    if words < least:
        return Verdict(False, f"`{name}` has {words} words and needs at least {least}.", words / (least + 1), evidence)
    return Verdict(True, f"`{name}` is there ({words} {'word' if words == 1 else 'words'}).", 1.0, evidence)


def _combined_verdict(verdicts: Mapping[str, Any]) -> Verdict:
    """Passes when all of these passed; where one could not be judged, neither can this."""
    failed = [name for name, verdict in verdicts.items() if not verdict["passed"]]
    report = "\n".join(f"{name}: {verdict['report']}" for name, verdict in verdicts.items())
    judged = bool(failed) or all(verdict.get("judged", True) for verdict in verdicts.values())
    return Verdict(not failed, report, 1 - len(failed) / len(verdicts), judged=judged)


def _is_verdict(value: object) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("passed"), bool) and "report" in value


def _is_empty(value: object) -> bool:
    """Whether there is nothing in it: blanks, or lists and objects of nothing. A number and `false` are something."""
    if isinstance(value, Mapping):
        return all(map(_is_empty, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_is_empty, value))
    return value is None or (isinstance(value, str) and not value.strip())


def _text(value: object) -> str:
    """The value as words: those of its parts, for a list or an object."""
    if isinstance(value, Mapping):
        return " ".join(map(_text, value.values()))
    if isinstance(value, list | tuple):
        return " ".join(map(_text, value))
    return str(value).strip()


def _least_words(limit: object) -> int:
    if limit is None:
        return 0
    try:
        return int(str(limit))
    except ValueError:
        raise ToolError(f"`least_words` is {limit!r}; it must be a number, e.g. 50") from None


def _options(options: object) -> list[str] | None:
    if options is None:
        return None
    if not isinstance(options, list | tuple):
        raise ToolError(f"`options` is {options!r:.80}; it must be a list, e.g. written by a phase of the form `list`")
    return [_text(option) for option in options]
