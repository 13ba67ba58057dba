"""Group Totals: sums per value, their order, and what is left out or refused."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_SALES = "id,region,amount\n1,North,100\n2,South,40.5\n3,North,12.5\n4,East,53.00\n"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the largest sum comes first", _case(_SALES, "North 112.50 2, East 53.00 1, South 40.50 1"))
    yield tried(program, "equal sums are alphabetical, smaller ones sorted as numbers",
                _case("region,amount\nb,9\nc,9.00\na,4\na,5\nd,10\n", "d 10.00 1, a 9.00 2, b 9.00 1, c 9.00 1"))
    yield tried(program, "rows with an empty amount are left out",
                _case("amount,region\n,North\n3,South\n,South\n-4,West\n", "South 3.00 1, West -4.00 1"))
    yield tried(program, "any columns may be named",
                _case("day,New name,hours\nMon,x y,1\nTue,z,2.25\nWed,x y,3\n", "x y 4.00 2, z 2.25 1",
                      columns=("New name", "hours")))
    yield tried(program, "what is no number is named by its line", *(
        _case(f"{_SALES}{row}\n7,East,1\n", f"line {line}: not a number", status=1)
        for row, line in (("5,West,n/a", 6), ("5,West,\n6,East,12 kg", 7))))
    yield tried(program, "a missing column is named",
                _case(_SALES, "no such column: price", status=2, columns=("region", "price")),
                _case(_SALES, "no such column: land", status=2, columns=("land", "amount")))


def _case(table: str, prints: str, status: int = 0, columns: tuple[str, str] = ("region", "amount")) -> Case:
    return Case(["sales.csv", *columns], prints.replace(", ", "\n"), status, {"sales.csv": table})
