"""Page Spreader: equal shares for every day but Sunday."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_EXAMPLE = "2025-03-06 11\n2025-03-07 11\n2025-03-08 10\n2025-03-10 10"
_LEAP = "2024-02-27 7\n2024-02-28 6\n2024-02-29 6\n2024-03-01 6"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", Case(["2025-03-06", "2025-03-10", "42"], _EXAMPLE))
    yield tried(program, "over the end of a leap February", Case(["2024-02-27", "2024-03-01", "25"], _LEAP))
    yield tried(program, "a single day gets everything", Case(["2024-12-31", "2024-12-31", "80"], "2024-12-31 80"))
    yield tried(program, "a Sunday at either end is left out",
                Case(["2025-06-01", "2025-06-03", "9"], "2025-06-02 5\n2025-06-03 4"),
                Case(["2025-06-07", "2025-06-08", "9"], "2025-06-07 9"))
    yield tried(program, "days without a page are printed too",
                Case(["2025-03-06", "2025-03-10", "2"],
                     "2025-03-06 1\n2025-03-07 1\n2025-03-08 0\n2025-03-10 0"))
    yield tried(program, "dates that do not go are refused",
                *(_refused(*dates, "42") for dates in (("2025-03-10", "2025-03-06"), ("2025-02-30", "2025-03-10"),
                                                       ("2025-03-09", "2025-03-09"), ("soon", "2025-03-10"))))
    yield tried(program, "a page count that does not go is refused",
                *(_refused("2025-03-06", "2025-03-10", pages) for pages in ("0", "-3", "4.5", "many")))


def _refused(*arguments: str) -> Case:
    return Case(arguments, "error: bad input", status=1)
