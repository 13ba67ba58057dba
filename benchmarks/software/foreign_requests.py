"""How far the verdict on a program can be trusted that is made from its request alone, for requests that nobody wrote
rules for: the table in docs/execution.md.

    python -m benchmarks.software.foreign_requests [--write]

Every right and every wrong program of benchmarks/data/requests/ is tried with `software.use`. Takes about five minutes.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, markdown_table, marks
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

DATA = ROOT / "benchmarks" / "data" / "requests"
_AT_ONCE = 3


@dataclass(frozen=True, slots=True)
class Request:
    """A request, whether it shows an example, a right program and wrong ones."""

    name: str
    text: str
    shows: bool
    right: str
    wrong: Sequence[str]


def read_requests() -> Iterator[Request]:
    """All requests of all sets."""
    for file in sorted(DATA.glob("*/*.yaml")):
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
        yield Request(f"{file.parent.name}/{file.stem}", data["description"], bool(data["example"]), data["right"],
                      data["wrong"])


def try_program(request: str, program: str) -> Verdict:
    """The verdict on a program by its request alone."""
    with tempfile.TemporaryDirectory() as folder:
        context = ToolContext({"main.py": program.encode()}, {"task": request}, {}, find_sandbox(), Path(folder),
                              Path(folder), {})
        verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    return verdict


def try_request(request: Request) -> dict[str, Any]:
    """How the programs of a request are judged: `passed`, `unjudged` or `failed`."""
    def judge(program: str) -> str:
        verdict = try_program(request.text, program)
        return ("passed" if verdict.judged else "unjudged") if verdict.passed else "failed"

    return {"request": request.name, "shows": request.shows, "right": judge(request.right),
            "wrong": [judge(program) for program in request.wrong]}


def table(study: Mapping[str, Any]) -> str:
    """By set: right and wrong programs, and what is said of them."""
    rows = []
    for name in sorted({row["request"].split("/")[0] for row in study["rows"]}):
        for shows in (True, False):
            found = [row for row in study["rows"] if row["request"].startswith(f"{name}/") and row["shows"] == shows]
            right = Counter(row["right"] for row in found)
            wrong = Counter(word for row in found for word in row["wrong"])
            rows.append((name, "yes" if shows else "no",
                         *(f"{count[word]} of {count.total()}" for count in (right, wrong)
                           for word in ("passed", "unjudged", "failed"))))
    columns = ["set", "example shown"] + [f"{kind} programs: {word}" for kind in ("right", "wrong")
                                          for word in ("passed", "unjudged", "failed")]
    return markdown_table(columns, rows)


def measure() -> dict[str, Any]:
    """The rows of all requests."""
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return {"rows": list(pool.map(try_request, read_requests()))}


STUDY = KeptStudy(table, RESULTS_FOLDER / "foreign_requests.json", DOCS / "execution.md",
                  marks("foreign requests", "software.foreign_requests"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
