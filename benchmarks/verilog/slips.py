"""What becomes of slips of the pen: each kind is made in right modules, and `verilog.mend` put to work.

    python -m benchmarks.verilog.slips [--write]

Writes a table of docs/verilog.md: how many of the modules that do not compile any more compile when they are mended,
and how many pass their bench. Takes about ten minutes.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks
from benchmarks.verilog.subjects import Subject, designs, verilogeval_subjects
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.design.slips import mend_text
from chatdev.departments.verilog.simulation import examine, simulate_answer
from chatdev.sandbox.kinds import find_sandbox

_PROSE = ("Here is the module:\n\n", "\nThis module does what the specification says; it's complete.\n")


def _at_one_place(pattern: str, new: str) -> Callable[[str, random.Random], str]:
    """A slip at one of the places where the pattern is found."""
    def slip(text: str, chance: random.Random) -> str:
        places = list(re.finditer(pattern, text, re.MULTILINE))
        if not places:
            return text
        found = chance.choice(places)
        return text[:found.start()] + found.expand(new) + text[found.end():]
    return slip


def _everywhere(pattern: str, new: str) -> Callable[[str, random.Random], str]:
    return lambda text, _chance: re.sub(pattern, new, text, flags=re.MULTILINE)


SLIPS: dict[str, Callable[[str, random.Random], str]] = {
    "no `assign`": _everywhere(r"^(\s*)assign\b ?", r"\1"),
    "`end` for `endcase`": _at_one_place(r"\bendcase\b", "end"),
    "no `;`": _at_one_place(r";(?=[ \t]*$)", ""),
    "no `end`": _at_one_place(r"^\s*end\b(?!\s*else)", ""),
    "one `end` too many": _at_one_place(r"^(\s*)end\b(?!\s*else)", r"\1end\n\1end"),
    "no `endmodule`": _at_one_place(r"\bendmodule\b\s*\Z", ""),
    "output that is a wire": _everywhere(r"\boutput\s+(?:reg|logic)\b", "output"),
    "`case (a, b)`": _everywhere(r"\bcase(\w?)\s*\(\s*\{([^{}]*)\}\s*\)", r"case\1 (\2)"),
    "`0b101`": _everywhere(r"\b\d+'b([01]+)\b", r"0b\1"),
    "`elif`": _everywhere(r"\belse if\b", "elif"),
    "`;` between ports": _at_one_place(r",(?=[ \t]*\n\s*(?:input|output)\b)", ";"),
    "text around it": lambda text, _chance: _PROSE[0] + text + _PROSE[1],
}


def rows_of(subject: Subject) -> list[dict[str, Any]]:
    """For each kind of slip that keeps this module from compiling: whether it compiles when it is mended, and whether
    it passes its bench."""
    return [row for kind, slip in SLIPS.items()
            for row in _row(subject, kind, slip(subject.text, random.Random(f"{subject.name} {kind}")))]


def _row(subject: Subject, kind: str, text: str) -> Iterator[dict[str, Any]]:
    if text == subject.text or _compiles(text, subject):
        return
    try:
        mended = mend_text(text, subject.bench.target).text
    except DesignError:
        mended = text
    yield {"subject": subject.name, "kind": kind, "compiles": _compiles(mended, subject),
           "passes": _outcome(mended, subject) == "matches"}


def _compiles(text: str, subject: Subject) -> bool:
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        return examine(text, find_sandbox("none"), Path(folder), subject.bench.target).passed


def _outcome(text: str, subject: Subject) -> str:
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        return simulate_answer(text, subject.bench, find_sandbox("none"), Path(folder)).outcome


def told(study: Mapping[str, Any]) -> str:
    """By kind of slip: modules that do not compile for it, and what becomes of them."""
    counts = {what: Counter(row["kind"] for row in study["rows"] if what == "all" or row[what])
              for what in ("all", "compiles", "passes")}
    found: list[tuple[object, ...]] = [(kind, *(count[kind] for count in counts.values())) for kind in SLIPS]
    found.append(("all", *(count.total() for count in counts.values())))
    return markdown_table(["slip", "modules that it keeps from compiling", "compile when mended", "pass their bench"],
                          found)


def measure(processes: int) -> dict[str, Any]:
    """The rows of all modules."""
    with ProcessPoolExecutor(processes) as pool:
        found = pool.map(rows_of, [*verilogeval_subjects(), *designs()])
        return {"rows": [row for rows in found for row in rows]}


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_slips.json", DOCS / "verilog.md",
                  marks("slips", "verilog.slips"), measure, {"processes": (2, "at a time")})

if __name__ == "__main__":
    STUDY.main(__doc__)
