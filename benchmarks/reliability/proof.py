"""The frame of a study: its options, its claims, and where its figures are written.

`python -m benchmarks.reliability.<study> [--seed N] [--quick]` runs one. In full it writes
`benchmarks/results/<study>.json` and its part of docs/reliability.md; quick, it only says what came of it. It exits
with 1 when a claim does not hold.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, read_results

PAGE = DOCS / "reliability.md"
SEED = 1
STUDIES = ("kills", "people", "cuts", "faults", "soak", "odd", "patches", "budgets", "growth", "fuzz")
"""In the order in which they are run."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a study shows, whether it does, and the figures or the first counter-examples in words."""

    text: str
    holds: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What came of a study: its claims, and its figures as plain JSON values."""

    claims: list[Claim]
    figures: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Study(KeptTable):
    """A study: `prove` takes the seed and whether to be quick."""

    name: str
    prove: Callable[[int, bool], Proof]

    @classmethod
    def of(cls, name: str, prove: Callable[[int, bool], Proof], table: Callable[[Mapping[str, Any]], str]) -> Study:
        """The study of this name; `table` turns its figures into Markdown."""
        return cls(partial(part, table=table), RESULTS_FOLDER / f"{name}.json", PAGE, markers(name), name, prove)

    def main(self, about: str | None) -> int:
        """Run the study as the command line says; 0 when every claim holds."""
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--seed", type=int, default=SEED)
        parser.add_argument("--quick", action="store_true", help="a small sample; nothing is written down")
        options = parser.parse_args()
        started = time.monotonic()
        proof = self.prove(options.seed, options.quick)
        for claim in proof.claims:
            print(f"{'✓' if claim.holds else '✗'} {claim.text}: {claim.detail}", flush=True)
        if not options.quick:
            self.record(proof, options.seed, time.monotonic() - started)
        return 0 if all(claim.holds for claim in proof.claims) else 1

    def record(self, proof: Proof, seed: int, seconds: float) -> None:
        """Write the figures, and the part of the page that is made of them."""
        self.keep({"study": self.name, "date": date.today().isoformat(), "machine": machine(),  # noqa: DTZ011 - the user's day
                   "seed": seed, "seconds": round(seconds), "claims": [asdict(claim) for claim in proof.claims],
                   "figures": proof.figures})
        SUMMARY.write()


def markers(name: str) -> tuple[str, str]:
    """The lines of the page between which a study's part stands."""
    return f"<!-- {name}: written by make prove -->", f"<!-- end of {name} -->"


def part(results: Mapping[str, Any], table: Callable[[Mapping[str, Any]], str]) -> str:
    """A study's part of the page: its claims, its table, and how it was done."""
    claims = "\n".join(f"- {'Holds' if c['holds'] else '**Does not hold**'}: {c['text']} ({c['detail']})."
                       for c in results["claims"])
    return (f"{claims}\n\n{table(results['figures'])}\n\n{results['date']}; {results['machine']}; "
            f"seed {results['seed']}; {results['seconds']} s.")


def summary() -> str:
    """All claims of all studies that were run, in a table."""
    studies = [(name, read_results(RESULTS_FOLDER / f"{name}.json")) for name in STUDIES]
    rows = ([f"`{name}`", claim["text"], "yes" if claim["holds"] else "**no**", claim["detail"]]
            for name, results in studies for claim in results.get("claims", []))
    return markdown_table(["study", "claim", "holds", "figures"], rows)


SUMMARY = KeptTable(lambda _: summary(), RESULTS_FOLDER, PAGE, markers("summary"))
