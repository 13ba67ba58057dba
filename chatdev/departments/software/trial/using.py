"""Agreed checks of windows, pages and services: how their steps went, whether they speak for the software, and what of
them the request surely names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chatdev.departments.software.cases.named import named_buttons, named_routes
from chatdev.departments.software.drivers.drive import Driven
from chatdev.departments.software.drivers.step import Step
from chatdev.departments.software.drivers.texts import is_same, plain_label
from chatdev.workspace.python_errors import last_traceback

_LIKE = {"*": ("*", "x", "·", "∙", "mul"), "/": ("/", ":", "∕", "div"), "-": ("-", "‐", "minus"),
         "+": ("+", "plus"), "=": ("=", "equals", "enter"), ".": (".", ",", "·")}
"""What else a button bears for a sign."""
_MOST_SIBLINGS_LACKING = 3
_UNCAUGHT, _IN_A_WINDOW = "Uncaught", "Exception in Tkinter callback"
_FEW = 3  # labels, with which others cannot vouch that this is the window meant


@dataclass(frozen=True, slots=True)
class UsedCheck:
    """Steps that were tried, and how they went; `differs` says what is otherwise, empty where nothing is."""

    steps: tuple[Step, ...]
    driven: Driven

    @property
    def differs(self) -> str:
        """In words."""
        seen = self.driven.steps
        for step, one in zip(self.steps, seen, strict=False):
            if one.problem:
                return _words(step, one.problem)
        if self.crash:
            return f"an error: {self.crash}"
        if len(seen) < len(self.steps):
            return self.driven.trouble or "it does not come to its end"
        return ""

    @property
    def crash(self) -> str:
        """The error with which a window answered a user, or a script of a page ended; empty without one."""
        uncaught = next((one.problem for one in self.driven.steps if one.problem.startswith(_UNCAUGHT)), "")
        trace = last_traceback(self.driven.stderr) if _IN_A_WINDOW in self.driven.stderr else None
        return uncaught or (trace.exception if trace else "")

    def fails_at(self, request: str) -> list[str]:
        """The labels that were pressed and that the request names, where that ended in an error."""
        done = [step.text for step in self.steps[:len(self.driven.steps)] if step.kind == "press"]
        return [label for label in named_buttons(request) if self.crash and any(is_same(label, one) for one in done)]

    @property
    def confirms(self) -> bool:
        """Whether something was done, and something then seen that was not there before."""
        acted = [place for place, step in enumerate(self.steps) if step.acts]
        seen = [place for place, one in enumerate(self.driven.steps) if one.new]
        return not self.differs and bool(acted and seen) and acted[0] <= seen[-1]

    def shown(self) -> dict[str, Any]:
        """As the report shows it."""
        done = self.steps[:len(self.driven.steps) + bool(self.driven.trouble)]
        last = self.driven.steps[-1].seen if self.driven.steps else self.driven.seen
        return {"command": "", "did": [describe_step(step) for step in done], "typed": [], "differs": self.differs,
                "seen": "\n".join(last.splitlines()[:15])[:1000]}


def describe_step(step: Step) -> str:
    """What somebody does, in words."""
    quoted, at = f"“{step.text.rstrip()}”", f" “{step.at}”" if step.at else ""
    return {"press": f"press {quoted}", "type": f"type {quoted} into{at or ' the field'}",
            "choose": f"choose {quoted}{at and ' from' + at}", "reads": f"read {quoted}",
            "title": f"read the title {quoted}", "open": f"open {step.text}", "request": step.text}[step.kind]


def _words(step: Step, problem: str) -> str:
    if step.kind == "request":
        told = {"no answer": "it does not answer", "no route": "it does not know this path", "differs":
                f"its answer does not show {step.shows[0] if len(step.shows) == 1 else list(step.shows)!r:.200}"}
        wanted = f" instead of {step.status}" if step.status else ""
        return told.get(problem, f"it answers with {problem}{wanted}")
    what = f"the field “{step.at}”" if step.at and step.kind == "type" else f"“{step.text.rstrip()}”"
    return {"missing": f"there is no {what}", "disabled": f"{what} cannot be pressed",
            "differs": f"it does not show {what}"}.get(problem, f"an error: {problem}")


def find_faults(used: Sequence[UsedCheck], first: Driven, request: str,
                software: Mapping[str, bytes]) -> dict[str, list[str]]:
    """What the request surely names and the software lacks (`buttons`, looked for in the window or on the page
    of `first`, and `routes`), or ends in an error at (`failing`)."""
    routes = {route for done in used if (route := unknown_route(done, request, software))}
    failing = {label for done in used for label in done.fails_at(request)}
    return {"buttons": sorted(lacking_buttons(first, request, software)), "routes": sorted(routes),
            "failing": sorted(failing)}


def lacking_buttons(driven: Driven, request: str, software: Mapping[str, bytes]) -> list[str]:
    """The labels that the request names and no button bears. Only where that is sure: the other labels are there, or no
    source holds this one; and every button has a label."""
    there = [plain_label(name) for name in driven.names]
    if not there or "" in driven.names:
        return []
    named = named_buttons(request)
    lacking = [label for label in named if not _is_there(label, there)]
    if _vouch(named, lacking):
        return lacking
    return [label for label in lacking if _is_unwritten(label, software)]


def _is_there(label: str, there: Sequence[str]) -> bool:
    wanted = plain_label(label)
    if wanted in _LIKE or not wanted.isalnum():
        alike = _LIKE.get(wanted, (wanted,))
        return any(name in alike or wanted in name for name in there)
    return any(_has_word(name, wanted) for name in there)


def _vouch(named: Sequence[str], lacking: Sequence[str]) -> bool:
    """Whether the labels that are there say that the others belong beside them."""
    return len(named) >= _FEW and len(lacking) <= min(_MOST_SIBLINGS_LACKING, len(named) // 3)


def _is_unwritten(label: str, software: Mapping[str, bytes]) -> bool:
    """Whether a label is of words of which none stands in a source."""
    sources = [data.decode("utf-8", "replace").casefold() for data in software.values()]
    words = label.casefold().split() if re.fullmatch(r"\w[\w ]+", label) else []
    return bool(words) and not any(_has_word(source, word) for source in sources for word in words)


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def unknown_route(check: UsedCheck, request: str, software: Mapping[str, bytes]) -> str:
    """The method and path of the step at which a check ends, where the request names it and the service surely lacks
    it, or fails at it; empty otherwise."""
    place = len(check.driven.steps) - 1
    if place < 0:
        return ""
    route, problem = check.steps[place].text.partition("?")[0], check.driven.steps[place].problem
    if route not in named_routes(request) or (check.steps[place].status or 200) >= 400:
        return ""
    if problem == "no route":
        return route if _is_nowhere(route, software) else ""
    is_first = not place and route.startswith("GET ")
    return route if is_first and re.fullmatch(r"status 5(?!01)\d\d", problem) else ""


def _is_nowhere(route: str, software: Mapping[str, bytes]) -> bool:
    """Whether no source holds the last word of a path."""
    *_, word = ("", *re.findall(r"[A-Za-z]{3,}", route.partition("/")[2]))
    return bool(word) and not any(word.lower().encode() in data.lower() for data in software.values())
