"""Whether the word for success is right where a strong model works: the table in docs/models.md.

    python -m benchmarks.software.strong_models [--only NAME]... [--write] [--anew]

Every scenario of benchmarks/data/strong_models/ is a request and what a strong model answers to it, phase by phase: a
right program, which must end as a success in at most eight calls, and three mutants of it, which must not. The replies
come from a server on 127.0.0.1, to the client that talks to real models; who wrote a mutant does not see its fault,
and sends it again whenever it is asked. Twelve scenarios (`blind`) were written by somebody who had not read how
programs are tried. Takes about an hour; rows are kept, and given again, the command goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from benchmarks.reliability.room import room
from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, markdown_table, marks, write_results
from chatdev import Company
from tests.support.chat_server import Received, Scripted

DATA = ROOT / "benchmarks" / "data" / "strong_models"
MODEL = "gpt-4o"
"""A name that gets the words for strong models; nobody of that name is asked."""
RIGHT, MOST_CALLS = "right", 8
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A way to break the program: `old` stands once in what the Programmer answers."""

    about: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """A request, the replies to it by phase, and the mutants of the program."""

    name: str
    kind: str
    blind: bool
    request: str
    replies: Mapping[str, str]
    mutants: tuple[Mutant, ...]
    digest: str
    expected: str = "success"
    """How the right program ends: `unjudged` where nothing here can start it."""

    @classmethod
    def read(cls, file: Path) -> Scenario:
        """The scenario in a file. Raises ValueError for a mutant whose place is not one."""
        text = file.read_text(encoding="utf-8")
        value = yaml.safe_load(text)
        mutants = tuple(Mutant(**mutant) for mutant in value.pop("mutants"))
        request, kind, blind = value.pop("request"), value.pop("kind"), value.pop("blind", False)
        for mutant in mutants:
            if value["coding"].count(mutant.old) != 1:
                raise ValueError(f"{file.name}: {mutant.old!r} does not stand once in the program")
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        expected = value.pop("expected", "success")
        return cls(file.stem, kind, blind, request, value, mutants, digest, expected)

    def programs(self) -> Iterator[tuple[str, str]]:
        """What the Programmer answers, by what it is: the right program, then the mutants."""
        yield RIGHT, self.replies["coding"]
        for mutant in self.mutants:
            yield mutant.about, self.replies["coding"].replace(mutant.old, mutant.new)


@dataclass(slots=True)
class StrongModel:
    """Answers each phase as the scenario says, with `program` wherever a program is wanted, and counts what is sent:
    tokens are a fourth of the characters, with those of the tools and without."""

    scenario: Scenario
    program: str
    asked: list[str] = field(default_factory=list)
    system: int = 0
    prompt: int = 0
    answered: int = 0

    def __call__(self, request: Received) -> Scripted:
        """The reply to a request."""
        place = request.headers["X-ChatDev-Activity"]
        self.asked.append(place)
        messages = request.body["messages"]
        sizes = [_tokens(message.get("content")) for message in messages]
        self.prompt += sum(sizes)
        self.system += sum(size for size, message in zip(sizes, messages, strict=True) if message["role"] == "system")
        text = self._reply(place, str(messages[-1]["content"]))
        self.answered += _tokens(text)
        return Scripted(text, usage=(sum(sizes), _tokens(text)))

    def _reply(self, place: str, asked: str) -> str:
        phase = re.findall(r"([a-z_]+)#", place)[-1]
        if "instructor" in place and phase == "system_test":
            return "What was tried does not do what was agreed; the first difference is the one to mend."
        if "instructor" in place:
            return self.scenario.replies.get(phase, "<SOLUTION>")
        if phase == "coding" and "And manual.md" in asked:
            return f"{self.program}\n\n### manual.md\n```markdown\n{self.scenario.replies['manual']}```\n"
        said = {**self.scenario.replies, "demand_analysis": self.scenario.replies["modality"],
                "language_choice": self.scenario.replies["language"], "examples": "[]", "test_plan": self._plan(),
                "coding": self.program, "usage": self.scenario.replies.get("checks", "[]")}
        return said.get(phase, self.program)

    def _plan(self) -> str:
        """The checks as earlier versions ask for them: what is typed, one line each."""
        text = self.scenario.replies["checks"]
        checks = json.loads(text[text.index("["):text.rindex("]") + 1])
        return "\n".join(f"- {start['command']}" for check in checks for start in check.get("starts", []))


def _tokens(content: object) -> int:
    return round(len(content if isinstance(content, str) else json.dumps(content)) / 4)


def read_scenarios(names: Sequence[str] = ()) -> list[Scenario]:
    """The scenarios of these names, or all. Raises ValueError for a name that none has."""
    found = {file.stem: file for file in sorted(DATA.glob("*.yaml"))}
    if strange := set(names) - set(found):
        raise ValueError(f"no scenario is called {', '.join(sorted(strange))}; there are: {', '.join(found)}")
    return [Scenario.read(found[name]) for name in names or found]


def try_program(scenario: Scenario, about: str, program: str) -> Row:
    """How the company ends when the Programmer answers with this program."""
    model, since = StrongModel(scenario, program), time.monotonic()
    with room(model, {}) as warehouse:
        run = Company.load("chatdev").run(scenario.request, model=MODEL, warehouse=str(warehouse))
        report = run.values.get("test")
        return {"scenario": scenario.name, "kind": scenario.kind, "blind": scenario.blind, "digest": scenario.digest,
                "program": about,
                "expected": scenario.expected, "status": run.status,
                "reason": run.reason, "calls": len(model.asked),
                "asked": model.asked, "prompt": model.prompt, "system": model.system, "answered": model.answered,
                "seconds": round(time.monotonic() - since, 1),
                "report": "" if report is None else str(getattr(report, "report", report))[:2000]}


def measure(names: Sequence[str], anew: bool = False) -> None:
    """Measure the scenarios, and keep each row; those that are kept only `anew`, or when the scenario has changed."""
    for scenario in read_scenarios(names):
        for about, program in scenario.programs():
            same = [row for row in kept_rows()
                    if (row["scenario"], row["program"]) == (scenario.name, about)]
            if not anew and same and same[0]["digest"] == scenario.digest:
                continue
            row = try_program(scenario, about, program)
            keep(row)
            print(f"{scenario.name}: {about}: {row['status']}, {row['calls']} calls, {row['seconds']} s", flush=True)


def kept_rows() -> list[Row]:
    """The rows that were measured before."""
    return list(TABLE.read().get("rows", []))


def keep(row: Row) -> None:
    """Write a row down in place of an earlier one of the same program."""
    rows = [old for old in kept_rows() if (old["scenario"], old["program"]) != (row["scenario"], row["program"])]
    rows.append({name: value for name, value in row.items() if name != "report"})
    write_results(TABLE.results, {"rows": sorted(rows, key=lambda one: (one["scenario"], one["program"] != RIGHT,
                                                                  one["program"]))})


def is_as_wanted(row: Mapping[str, Any]) -> bool:
    """Whether a right program ends as it must in few calls, and a mutant is no success."""
    success = row["status"] == "success"
    is_right = row["status"] == row.get("expected", "success") and row["calls"] <= MOST_CALLS
    return is_right if row["program"] == RIGHT else not success


def table(study: Mapping[str, Any]) -> str:
    """A line for each scenario, and what is otherwise than it must be in words."""
    scenarios: dict[str, list[Mapping[str, Any]]] = {}
    for row in study["rows"]:
        scenarios.setdefault(row["scenario"], []).append(row)
    lines, exceptions = [], []
    for rows in scenarios.values():
        right = [row for row in rows if row["program"] == RIGHT]
        mutants = [row for row in rows if row["program"] != RIGHT]
        shown = ", ".join(f"{row['status']} ({row['calls']} calls)" for row in right)
        passed = sum(row["status"] == "success" for row in mutants)
        lines.append((rows[0]["kind"] + (" *" if rows[0]["blind"] else ""), shown, f"{passed} of {len(mutants)}"))
        exceptions += [f"- {row['kind']}, {row['program']}: {row['status']}, {row['calls']} calls"
                       for row in rows if not is_as_wanted(row)]
    counted = [row["program"] == RIGHT for row in study["rows"] if is_as_wanted(row)]
    total = (f"Right programs that end as they must in at most {MOST_CALLS} calls: {sum(counted)} of {len(scenarios)}; "
             f"mutants that are none: {len(counted) - sum(counted)} of "
             f"{sum(row['program'] != RIGHT for row in study['rows'])}.")
    said = ["", "Otherwise:", "", *exceptions] if exceptions else []
    return "\n".join([markdown_table(["kind (* written blind)", "right program", "mutants that pass"], lines), "",
                      total, *said])


TABLE = KeptTable(table, RESULTS_FOLDER / "strong_models.json", DOCS / "models.md",
                  marks("scenarios", "software.strong_models"))


def main() -> None:
    """Measure what is not kept, print the table, and write the page when all are measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only this scenario")
    parser.add_argument("--anew", action="store_true", help="measure also what is kept")
    parser.add_argument("--write", action="store_true", help="write the page from what is kept, and measure nothing")
    given = parser.parse_args()
    if not given.write:
        measure(given.only, given.anew)
    print(TABLE.write() if given.write or not given.only else TABLE.text())


if __name__ == "__main__":
    main()
