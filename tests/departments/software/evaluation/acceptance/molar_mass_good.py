"""The molar mass of a formula."""

from __future__ import annotations

import re
import sys

MASSES = {
    "H": 1.008, "C": 12.011, "N": 14.007, "O": 15.999, "Na": 22.990, "Mg": 24.305, "P": 30.974, "S": 32.06,
    "Cl": 35.45, "K": 39.098, "Ca": 40.078, "Fe": 55.845, "Cu": 63.546,
}
PART = re.compile(r"(?P<element>[A-Z][a-z]?)(?P<times>[0-9]*)|(?P<open>\()|\)(?P<all>[0-9]*)")


class BadFormula(Exception):
    """What is wrong with a formula."""


def main(arguments: list[str]) -> int:
    """Print the mass, or what is wrong."""
    try:
        print(f"{mass(arguments[0] if arguments else ''):.3f} g/mol")
    except BadFormula as problem:
        print(problem)
        return 1
    return 0


def mass(formula: str) -> float:
    """The sum of the masses."""
    levels, place = [0.0], 0
    while place < len(formula):
        found = PART.match(formula, place)
        if not found:
            raise BadFormula("bad formula")
        if found["element"]:
            levels[-1] += weight(found["element"]) * int(found["times"] or 1)
        elif found["open"]:
            levels.append(0.0)
        else:
            close(levels, int(found["all"] or 1))
        place = found.end()
    if len(levels) > 1 or not formula:
        raise BadFormula("bad formula")
    return levels[0]


def weight(element: str) -> float:
    """The mass of one atom."""
    if element not in MASSES:
        raise BadFormula(f"unknown element: {element}")
    return MASSES[element]


def close(levels: list[float], times: int) -> None:
    """Add what stands in a parenthesis to what stands around it."""
    if len(levels) == 1:
        raise BadFormula("bad formula")
    inner = levels.pop()
    levels[-1] += inner * times


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
