"""What agreed checks in a syntax that a program does not take do to the verdict on it: a table in docs/execution.md.

    python -m benchmarks.software.guessed_syntax [--sample N]

A Tester who writes checks before there is a program guesses how its commands are given. The right programs of
`trial_cases` and of the sealed easy tasks are tried with such checks, in three syntaxes that are plausible
and that the program does not have (words in other places, options, a word for each action); none may fail. Then faults
that break an example which the request states are put into those that have one; none may be a success with them.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.software.mutations import mutants
from benchmarks.software.trial_cases import SEED, Subject, check_program, count_examples, subjects
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, markdown_table, marks
from chatdev.departments.software.evaluation.srdd import SETS, load_easy_tasks
from chatdev.paths import bundled_folder
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

WORDS = {"words": ["run", "sample", "2"], "options": ["--input", "sample", "--count", "2"],
         "actions": ["execute-all", "--verbose"]}
"""The arguments of a check in each of the guessed syntaxes."""
MUTANTS = 2


def checks_in(words: list[str]) -> list[dict[str, Any]]:
    """Checks as a Tester writes them who takes the syntax for agreed."""
    command = f"python main.py {shlex.join(words)}"
    return [{"about": "the main path", "starts": [{"command": command, "shows": ["Done: 2 processed"], "status": 0}]},
            {"about": "wrong use", "starts": [{"command": "python main.py --no-such-option", "status": 2}]}]


def try_with(subject: Subject, program: str, checks: list[dict[str, Any]], sandbox: Sandbox) -> Verdict:
    """The verdict on a program where the company agreed on these checks."""
    with tempfile.TemporaryDirectory(prefix="guessed-") as folder:
        (scratch := Path(folder) / "scratch").mkdir()
        context = ToolContext({"main.py": program.encode()}, {"checks": checks}, {"task": subject.request}, sandbox,
                              Path(folder), scratch)
        verdict = registry()["software.use"].call(context, {})
    assert isinstance(verdict, Verdict)
    return verdict


def ended(verdict: Verdict) -> str:
    """How a run with this verdict ends."""
    return "failure" if not verdict.passed else "success" if verdict.judged else "unjudged"


def all_subjects() -> Iterator[Subject]:
    """All tasks with a right program, also those of the sealed sets: nothing is tuned with them here."""
    yield from subjects()
    for name in SETS[1:]:
        for easy in load_easy_tasks(bundled_folder("srdd") / "easy" / name):
            yield Subject(easy.slug, "easy", easy.description, easy.reference, easy.accept, easy.layout)


def measure(sample: int | None) -> dict[str, Any]:
    """How the right programs and the mutants end; `sample` programs, spread evenly, or all."""
    found = list(all_subjects())
    chosen = found if sample is None else found[::max(1, len(found) // sample)][:sample]
    sandbox, rows = find_sandbox(), []
    for number, subject in enumerate(chosen):
        for syntax, words in WORDS.items():
            verdict = try_with(subject, subject.program, checks_in(words), sandbox)
            rows.append({"task": subject.name, "program": "right", "syntax": syntax, "ended": ended(verdict)})
        syntax = [*WORDS][number % len(WORDS)]
        for mutant in broken_examples(subject, sandbox):
            verdict = try_with(subject, mutant, checks_in(WORDS[syntax]), sandbox)
            rows.append({"task": subject.name, "program": "mutant", "syntax": syntax, "ended": ended(verdict)})
        print(f"{number + 1} of {len(chosen)}: {subject.name}: {[row['ended'] for row in rows[-5:]]}", flush=True)
    return {"programs": len(chosen), "rows": rows}


def broken_examples(subject: Subject, sandbox: Sandbox) -> Iterator[str]:
    """Mutants that do not do what an example of the request shows, by the first hidden check."""
    if not count_examples(subject.request):
        return
    left = MUTANTS
    for mutant in mutants(subject.program, SEED, 4 * MUTANTS):
        if left and not check_program(subject, mutant, sandbox)[0].passed:
            left -= 1
            yield mutant


def table(study: Mapping[str, Any]) -> str:
    """How programs end, by what they are and the syntax of the checks."""
    counts = Counter((row["program"], row["syntax"], row["ended"]) for row in study["rows"])
    kinds = sorted({(row["program"], row["syntax"]) for row in study["rows"]}, reverse=True)
    return markdown_table(["program", "syntax of the checks", "success", "unjudged", "failure"],
                          [(*kind, *(counts[*kind, end] for end in ("success", "unjudged", "failure")))
                           for kind in kinds])


TABLE = KeptTable(table, RESULTS_FOLDER / "guessed_syntax.json", DOCS / "execution.md",
                  marks("guessed", "software.guessed_syntax"))


def main() -> None:
    """Measure and print; all of it is written down, and to the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, metavar="N", help="only this many programs; nothing is written")
    sample = parser.parse_args().sample
    found = measure(sample)
    print(TABLE.keep(found) if sample is None else table(found))


if __name__ == "__main__":
    main()
