"""Heading Numberer: three levels of numbers, and everything else as it was."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_DEEP = """# One
## One one
### Deep
### Deeper
## One two
### Deep again
# Two
## Two one
### Deep
"""
_DEEP_NUMBERED = """# 1 One
## 1.1 One one
### 1.1.1 Deep
### 1.1.2 Deeper
## 1.2 One two
### 1.2.1 Deep again
# 2 Two
## 2.1 Two one
### 2.1.1 Deep
"""
_PROSE = "Before all\n\n# Start\n\n  two  blanks stay\n## Part\n- a list\n"
_PROSE_NUMBERED = "Before all\n\n# 1 Start\n\n  two  blanks stay\n## 1.1 Part\n- a list\n"
_NO_HEADINGS = "#tag and #1\n #  indented\n#### four levels\ntext # more\n# Real\n##none\n"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("# Scope\n## Aim\n## Method\n# Costs\n",
                                              "# 1 Scope\n## 1.1 Aim\n## 1.2 Method\n# 2 Costs"))
    yield tried(program, "three levels, restarting beneath each heading", _case(_DEEP, _DEEP_NUMBERED))
    yield tried(program, "counts above nine", _case("# T\n" * 10 + "## s\n" * 11, "\n".join(
        [*(f"# {n} T" for n in range(1, 11)), *(f"## 10.{n} s" for n in range(1, 12))])))
    yield tried(program, "all other lines are copied", _case(_PROSE, _PROSE_NUMBERED))
    yield tried(program, "what only looks like a heading is copied",
                _case(_NO_HEADINGS, _NO_HEADINGS.replace("# Real", "# 1 Real")))
    yield tried(program, "a skipped level is told alone",
                _case("# A\ntext\n### B\n", "skipped level in line 3", status=1),
                _case("# A\n## B\n### C\n# D\n\n### E\n## F\n", "skipped level in line 6", status=1))


def _case(text: str, prints: str, status: int = 0) -> Case:
    return Case(["report.txt"], prints, status, {"report.txt": text})
