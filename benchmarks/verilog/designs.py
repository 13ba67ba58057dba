"""The twenty designs, which nobody had tuned on: are their specifications and benches understood, and are right modules
let through and wrong ones told?

For each: the ports that are read of the specification beside those of the design, what the tools say of the design
itself (the guard, the bench, the judge, lint) and of a second one, written from the specification alone, and which of
the first one's mutants the judge refuses: those of which the bench prints something else than of the design, and no
others.

    python -m benchmarks.verilog.designs [--mutants 12] [--ports]

With `--ports` only the ports are read anew, which takes seconds, and all else stays as it was measured.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptTable, machine, markdown_table, marks
from benchmarks.verilog.mutants import mutants
from benchmarks.verilog.subjects import Subject, designs
from chatdev.departments.verilog.bench import add_parameters
from chatdev.departments.verilog.design.facts import read_design
from chatdev.departments.verilog.simulation import simulate_unexamined
from chatdev.departments.verilog.specification import read_ports
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry


@dataclass(frozen=True, slots=True)
class Row:
    """A design. `certain` and `uncertain` are ports of the specification that were read so, `wrong` those among the
    certain ones that the design has not; `refused` is why the tools do not let the design through, "" where they do,
    and `second` the same of the second design; `lint` are warnings about the first. Of the `mutants` that compile, the
    bench prints something else for those `told`; `rejected` of these, and `rejected_others`, are those that the judge
    refuses."""

    design: str
    ports: int
    certain: int
    uncertain: int
    wrong: tuple[str, ...]
    refused: str
    lint: tuple[str, ...]
    second: str
    mutants: int
    told: int
    rejected: int
    rejected_others: int


def row_of(subject: Subject, most: int) -> Row:
    """What the tools say of a design and of its mutants."""
    check = _use("check", subject, subject.text)
    second = (ROOT / "benchmarks" / "data" / "verilog_twenty" / subject.name / "second.sv").read_text(encoding="utf-8")
    every = mutants(subject.text, add_parameters(subject.bench, subject.text))
    some = [mutant.text for mutant in itertools.islice(every, 0, None, max(1, len(every) // most))][:most]
    right = _prints(subject, subject.text)
    printed = {text: said for text in some if (said := _prints(subject, text)) is not None}
    rejected = {text for text in printed if not _use("judge", subject, text).passed}
    told = {text for text, said in printed.items() if said != right}
    warnings = check.report.partition("Warnings, which may or may not be mistakes:")[2]
    return Row(**ports_of(subject), refused=_reason_refused(subject, subject.text),
               lint=tuple(warnings.strip().split("\n")) if warnings else (), second=_reason_refused(subject, second),
               mutants=len(printed), told=len(told), rejected=len(rejected & told),
               rejected_others=len(rejected - told))


def ports_of(subject: Subject) -> dict[str, Any]:
    """The fields of a row that say how its ports are read."""
    target = subject.bench.target
    own = {port.name for port in read_design(subject.text, target).ports}
    listed = read_ports(subject.specification, target.top)
    certain = [port.name for port in listed if port.certain]
    right = [port.name for port in listed if port.name in own]
    return {"design": subject.name, "ports": len(own), "certain": len(certain),
            "uncertain": len(right) - len(own.intersection(certain)),
            "wrong": tuple(name for name in certain if name not in own)}


def _reason_refused(subject: Subject, text: str) -> str:
    """Why guard or judge do not let a module through; empty where they do."""
    verdicts = (_use("check", subject, text), _use("judge", subject, text))
    return "; ".join(said.report for said in verdicts if not (said.passed and said.judged))[:300]


def _prints(subject: Subject, text: str) -> str | None:
    """What the bench prints of a module, and how it ends; None for one that does not compile."""
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        found = simulate_unexamined(text, subject.bench, find_sandbox(), Path(folder))
    return f"{found.outcome} {found.printed}" if found.compiled.passed else None


def _use(tool: str, subject: Subject, answer: str) -> Verdict:
    bench = subject.bench
    inputs = {"task": subject.specification, "bench": bench.text, "reference": bench.reference,
              "given": dict(bench.target.given), "top": bench.target.top}
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        context = ToolContext({"top.sv": answer.encode()}, {}, inputs, find_sandbox(), Path(folder), Path(folder))
        said = registry()[f"verilog.{tool}"].call(context, {})
    assert isinstance(said, Verdict)
    return said


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows: Sequence[Mapping[str, Any]] = results["rows"]
    table = markdown_table(
        ["design", "ports", "read for certain", "as a remark", "wrong", "let through", "second design", "lint",
         "mutants", "told by the bench", "of these refused", "refused of the others"],
        [(row["design"], row["ports"], row["certain"], row["uncertain"], len(row["wrong"]),
          *("no" if row[field] else "yes" for field in ("refused", "second")), len(row["lint"]), row["mutants"],
          row["told"], row["rejected"], row["rejected_others"]) for row in rows])
    told, rejected, others = (sum(row[field] for row in rows) for field in ("told", "rejected", "rejected_others"))
    return (f"{table}\n\nOf {told} mutants of which the bench prints something else than of the design {rejected} are "
            f"refused, of the others {others}. Ports were read on {results['ports_read']}, all else measured on "
            f"{results['date']}; {results['machine']}.")


TABLE = KeptTable(told, RESULTS_FOLDER / "verilog_designs.json", DOCS / "verilog.md",
                  marks("twenty", "verilog.designs"))


def main() -> None:
    """Judge all designs, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mutants", type=int, default=12, help="of each design (default: 12)")
    parser.add_argument("--ports", action="store_true", help="read only the ports anew")
    arguments = parser.parse_args()
    today = datetime.now(UTC).date().isoformat()
    if arguments.ports:
        results = TABLE.read()
        results["rows"] = [row | ports_of(subject) for row, subject in zip(results["rows"], designs(), strict=True)]
    else:
        with ProcessPoolExecutor(2) as pool:
            rows = list(pool.map(partial(row_of, most=arguments.mutants), designs()))
        results = {"date": today, "machine": machine(), "rows": [*map(asdict, rows)]}
    print(TABLE.keep(results | {"ports_read": today}))


if __name__ == "__main__":
    main()
