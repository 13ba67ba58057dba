"""Give what git writes of random changes as a reply, whole and damaged as models damage it, and compare the files.

How the folders are made: tests/replies/changed_folders.py.
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.study import markdown_table
from chatdev.replies import Unreadable, parse_files
from tests.replies.changed_folders import ChangedFolder, changed_folder

FOLDERS, QUICK_FOLDERS = 200, 4
CONTEXTS = (0, 1, 3, 10)  # lines around a change
_HEADER = re.compile(r"^@@ -(\d+).*?@@", re.MULTILINE)


def _fenced(diff: str) -> str:
    return f"`````diff\n{diff}`````\n"


def _misnumbered(diff: str, rng: random.Random) -> str:
    """Every number of a header is another one."""
    return _HEADER.sub(lambda found: f"@@ -{int(found[1]) + rng.randrange(1, 9)},{rng.randrange(2, 30)} "
                                     f"+{rng.randrange(1, 60)},{rng.randrange(2, 30)} @@", diff)


def _unsigned(diff: str) -> str:
    """Lines that stay have lost their sign where that leaves them readable."""
    return re.sub(r"^ (?=[a-z])", "", diff, flags=re.MULTILINE)


def _misquoted(diff: str, rng: random.Random) -> str:
    """One line that stays or goes is another one."""
    lines = diff.split("\n")
    quoted = [number for number, line in enumerate(lines) if re.match(r"[ -]line \d", line)]
    if quoted:
        lines[rng.choice(quoted)] += " (and more)"
    return "\n".join(lines)


DAMAGES: dict[str, Callable[[str, random.Random], str]] = {
    "none": lambda diff, rng: _fenced(diff),
    "bare in the text": lambda diff, rng: f"I changed this:\n\n{diff}\n\nThat is all.\n",
    "no numbers": lambda diff, rng: _fenced(_HEADER.sub("@@", diff)),
    "wrong numbers and counts": lambda diff, rng: _fenced(_misnumbered(diff, rng)),
    "blank lines without their sign": lambda diff, rng: _fenced(re.sub(r"^ $", "", diff, flags=re.MULTILINE)),
    "lines without their sign": lambda diff, rng: _fenced(_unsigned(diff)),
    "blanks behind lines": lambda diff, rng: _fenced(re.sub(r"^( line \d+)$", r"\1  ", diff, flags=re.MULTILINE)),
    "a line that is not there": lambda diff, rng: _fenced(_misquoted(diff, rng)),
}
"""What is done to a diff on its way into a reply."""


def prove(seed: int, quick: bool) -> Proof:
    """Every damage on every folder, with each number of lines around a change."""
    rng, found = random.Random(seed), Counter[tuple[str, int, str]]()
    for number in range(QUICK_FOLDERS if quick else FOLDERS):
        with tempfile.TemporaryDirectory() as folder:
            made = changed_folder(Path(folder), seed * 100_000 + number)
            for context in CONTEXTS:
                diff = made.diff("-M", f"-U{context}")
                for name, damage in DAMAGES.items():
                    found[name, context, _outcome(damage(diff, rng), made)] += 1
    wrong = sum(count for (_, _, outcome), count in found.items() if outcome == "wrong")
    right = {name: found[name, 3, "right"] for name in ("none", "bare in the text")}
    tries = sum(found.values())
    return Proof([
        Claim("no patch in a reply is ever applied otherwise than it is meant", wrong == 0, f"{tries} replies"),
        Claim("what git writes is applied", all(not found[name, 3, "refused"] for name in right),
              f"{sum(right.values())} replies, in a block and bare in the text"),
    ], {"outcomes": [[*key, count] for key, count in sorted(found.items())]})


def _outcome(reply: str, made: ChangedFolder) -> str:
    try:
        return "right" if parse_files(reply, made.before).software == made.after else "wrong"
    except Unreadable:
        return "refused"


def table(figures: Mapping[str, Any]) -> str:
    """How many replies were applied, refused, or applied otherwise than they were meant."""
    counts = Counter({(name, context, outcome): count for name, context, outcome, count in figures["outcomes"]})
    rows = [[name, *(" / ".join(str(counts[name, context, outcome]) for outcome in ("right", "refused", "wrong"))
                     for context in CONTEXTS)] for name in DAMAGES]
    return markdown_table(["what is done to the diff (right / refused / wrong)",
                           *(f"{context} lines around" for context in CONTEXTS)], rows)


STUDY = Study.of("patches", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
