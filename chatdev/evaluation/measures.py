"""What is shown of a study's rows: which of their fields are metrics, which of them are compared, what a run took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chatdev.evaluation.measure import PAPER

FIELD = "measures"
"""The field of a row that names its measures; a row without it is of `SOFTWARE`."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The fields of one kind of rows. `metrics` lie between 0 and 1, and `main` of them is drawn over the tokens;
    `further` ones stand in long reports only, `published` ones are by somebody else's definition, and `per` is what
    the tokens of all runs are divided by."""

    about: str
    metrics: tuple[str, ...]
    main: str
    compared: tuple[str, ...]
    statistics: tuple[str, ...] = ("seconds", "tokens", "cost")
    further: tuple[str, ...] = ()
    further_statistics: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    per: str = ""

    @property
    def every(self) -> tuple[str, ...]:
        """All fields that have a mean."""
        return (*self.metrics, *self.further, *self.published, *self.statistics, *self.further_statistics)


SOFTWARE = Measures(
    about="Completeness, executability and consistency multiply to quality. Acceptance is the share of hidden tests "
          "passed, on tasks that have some: whether the program does what was asked.",
    metrics=("completeness", "executability", "consistency", "quality", "acceptance"), main="quality",
    compared=("quality", "acceptance"), statistics=("seconds", "tokens", "files", "lines", "cost"),
    further=("quality_mean",), further_statistics=("prompt_tokens", "completion_tokens", "calls"), published=PAPER)

VERILOG = Measures(
    about="Compiled: the module and the bench make a simulation. Solved: it agrees with the reference at every sample "
          "and does not cheat. Official is the rule of the benchmark's own script, which takes some references for "
          "wrong.",
    metrics=("compiled", "solved", "official"), main="solved", compared=("solved",),
    statistics=("seconds", "tokens", "tool_calls", "cost"),
    further_statistics=("prompt_tokens", "completion_tokens", "calls"), per="solved")

_KINDS = {"verilog": VERILOG}


def measures_of(rows: Iterable[Mapping[str, Any]]) -> Measures:
    """The measures that the rows of a study have in common."""
    return next((_KINDS.get(str(row.get(FIELD)), SOFTWARE) for row in rows), SOFTWARE)
