"""What long runs cost: resuming one, a dialogue that grows, and software that grows.

    python -m benchmarks.engine.long_runs

A run of calls and tools in turn is stopped and resumed, its files in memory; then two talk for 200 rounds, each request
with all that was said before; then one file of a software of up to 2,000 is changed again and again. Models are objects
that answer at once. CPU milliseconds of this process; the folder is on a disk in memory where there is one. Prints the
tables and writes them into docs/scaling.md.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

import chatdev
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev import Company
from chatdev.events import Event, RunResumed
from chatdev.llm.base import Reply, Request, Usage
from chatdev.tools.base import ToolContext, tool

ACTIVITIES, ROUNDS = 10_000, 200
FILES = (1, 20, 200, 2000)
_CHANGES = 12
_WORDS = "This is what I think of it, as a colleague would write. " * 6
_MEMORY = Path("/dev/shm")
_PAIR = {"one": {"title": "One"}, "two": {"title": "Two"}}


def company(phase: Mapping[str, Any], chain: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A company of one phase."""
    return {"company": "long", "about": "Works for long.", "inputs": {"task": {"required": True}}, "roles": _PAIR,
            "phases": {"work": {"about": "Work.", "assistant": "two", "reads": ["task"], "writes": "said",
                                "opening": "{{ task }}", **phase}},
            "chain": [*chain, {"tool": "mine.look", "writes": "over"}], "success": "over.passed"}


ACTIVITY = company({"rounds": 1}, [{"repeat": {"max": 10**6, "until": "over.passed",
                                               "steps": [{"phase": "work"}, {"tool": "mine.look", "writes": "over"}]}}])
DIALOGUE = company({"instructor": "one", "opens": "instructor", "rounds": ROUNDS, "stuck": False}, [{"phase": "work"}])
SOFTWARE = company({"instructor": "one", "opens": "instructor", "reads": ["task", "software"], "writes": "software",
                    "solution": {"form": "files"}, "rounds": _CHANGES, "stuck": False}, [{"phase": "work"}])


@tool(reads=("task",), name="mine.look")
def look(ctx: ToolContext) -> dict[str, object]:
    """Looks at it."""
    return {"passed": False, "report": "not yet"}


@dataclass
class AtOnce:
    """A model that answers at once, and notes of each request its size and the CPU time since the process began."""

    text: Callable[[int], str]
    name: str = "at-once"
    calls: list[tuple[int, float]] = field(default_factory=list)

    async def complete(self, request: Request) -> Reply:
        """The next reply."""
        self.calls.append((sum(len(message.content) for message in request.messages), time.process_time()))
        return Reply(self.text(len(self.calls)), usage=Usage(100, 60))

    async def close(self) -> None:
        """Nothing is open."""

    def rows(self, every: int) -> list[tuple[int, float, float]]:
        """By spans of `every` calls: the last one's number, kilobytes and CPU milliseconds of a call."""
        spent = [(size, 1000 * (after - before)) for (size, before), (_, after) in pairwise(self.calls)]
        return [(begin + every, statistics.mean(size for size, _ in part) / 1000,
                 statistics.mean(spent_ms for _, spent_ms in part))
                for begin in range(0, len(spent), every) if (part := spent[begin:begin + every])]


def run(folder: Path, declared: Mapping[str, Any], model: AtOnce, **options: Any) -> chatdev.Run:
    """A run of the company in an empty folder."""
    folder.mkdir()
    (folder / "company.yaml").write_text(yaml.safe_dump(dict(declared)))
    return Company.load(folder, tools=[look]).run("Work.", model=model, sandbox="none", warehouse=folder / "runs",
                                                  **options)


def resuming(folder: Path, activities: int) -> dict[str, float]:
    """Until a resumed run does something new: seconds by the clock and of a processor."""
    def said(number: int) -> str:
        return f"<SOLUTION> {number} {_WORDS}"

    done = run(folder, ACTIVITY, AtOnce(said), max_calls=activities // 2)
    live: list[tuple[float, float]] = []

    def listen(event: Event) -> None:
        if isinstance(event, RunResumed):
            live.append((time.perf_counter(), time.process_time()))

    clock, cpu = time.perf_counter(), time.process_time()
    chatdev.resume(done.folder, tools=[look], model=AtOnce(said), max_calls=activities // 2 + 1, on_event=listen,
                   as_it_was=True)
    ((clock_then, cpu_then),) = live
    return {"seconds": round(clock_then - clock, 2), "cpu_seconds": round(cpu_then - cpu, 2)}


def growing_dialogue(folder: Path) -> list[tuple[int, float, float]]:
    """Calls of a dialogue, in tenths."""
    model = AtOnce(lambda number: f"{number} {_WORDS}")
    run(folder, DIALOGUE, model)
    return model.rows(ROUNDS // 5)


def growing_software(folder: Path, files: int) -> tuple[float, float]:
    """Kilobytes of a request and CPU milliseconds of a round in which one file of so many changes."""
    (given := folder.parent / f"given-{files}").mkdir()
    for number in range(files):
        (given / f"part_{number}.py").write_text(f'"""Part {number}."""\n\nVALUE = {number}\n')
    model = AtOnce(lambda number: f"part_0.py\n```python\nVALUE = {number}\n```" if number % 2 == 0 else f"{number}?")
    run(folder, SOFTWARE, model, software=given)
    ((_, size, spent),) = model.rows(len(model.calls))
    return size, 2 * spent


def measure(activities: int) -> dict[str, Any]:
    """The study."""
    place = _MEMORY if _MEMORY.is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        resumed = {str(count): resuming(folder / f"resume-{count}", count) for count in (activities // 10, activities)}
        return {"machine": machine(), "resumed": resumed, "dialogue": growing_dialogue(folder / "dialogue"),
                "software": [(files, *growing_software(folder / f"software-{files}", files)) for files in FILES]}


def tables(kept: Mapping[str, Any]) -> str:
    """The three tables."""
    resumed = markdown_table(["activities on record", "seconds until something new", "of a processor"],
                             [(f"{int(count):,}", row["seconds"], row["cpu_seconds"])
                              for count, row in kept["resumed"].items()])
    dialogue = markdown_table(["calls so far", "KB of a request", "CPU ms a call"],
                              [(number, f"{size:.0f}", f"{spent:.2f}") for number, size, spent in kept["dialogue"]])
    software = markdown_table(["files of the software", "KB of a request", "CPU ms a round that changes one"],
                              [(f"{files:,}", f"{size:.0f}", f"{spent:.1f}") for files, size, spent in
                               kept["software"]])
    return f"{resumed}\n\n{dialogue}\n\n{software}"


STUDY = KeptStudy(tables, RESULTS_FOLDER / "long_runs.json", DOCS / "scaling.md",
                  marks("long-runs", "engine.long_runs"), measure,
                  {"activities": (ACTIVITIES, "activities of the run that is resumed")})


if __name__ == "__main__":
    STUDY.main(__doc__)
