"""Benches as people write them, with a right module and broken ones: is the one passed, and are the others refused?

The benches of `benchmarks/data/verilog_benches.yaml` were written before the judge was run on them, in as many words as
people have for a verdict. A broken module that passes, or a right one that is refused, is a wrong verdict; one that is
not judged is none.

    python -m benchmarks.verilog.benches [--write]
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, ROOT, KeptStudy, machine, markdown_table, marks
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict, registry

DATA = ROOT / "benchmarks" / "data" / "verilog_benches.yaml"


@dataclass(frozen=True, slots=True)
class Bench:
    """A bench, the right module, broken modules, and the simulator; with a reference where the right module is given
    as one."""

    name: str
    text: str
    right: str
    broken: tuple[str, ...]
    simulator: str
    has_reference: bool


def read_benches() -> Iterator[Bench]:
    """All of them."""
    for entry in yaml.safe_load(DATA.read_text(encoding="utf-8")):
        right = entry["right"]
        broken = tuple(right.replace(old, new, 1) for old, new in entry["broken"])
        assert right not in broken, entry["name"]
        yield Bench(entry["name"], entry["bench"], right, broken, entry.get("simulator", "icarus"),
                    entry.get("reference", False))


def judge(bench: Bench, module: str, *, with_reference: bool) -> Verdict:
    """What `verilog.judge` says of a module."""
    inputs = {"task": "", "bench": bench.text, "simulator": bench.simulator, "top": bench.name,
              **({"reference": bench.right} if with_reference else {})}
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        context = ToolContext({"top.sv": module.encode()}, {}, inputs, find_sandbox(), Path(folder), Path(folder))
        said = registry()["verilog.judge"].call(context, {})
    assert isinstance(said, Verdict)
    return said


def row_of(bench: Bench, *, with_reference: bool) -> dict[str, Any]:
    """The words on the right module and on each broken one: passed, refused or unjudged; why the right one is not
    passed."""
    right = judge(bench, bench.right, with_reference=with_reference)
    return {"bench": bench.name, "reference": with_reference, "right": _word(right),
            "why": "" if right.passed and right.judged else right.report[:300],
            "broken": [_word(judge(bench, module, with_reference=with_reference)) for module in bench.broken]}


def _word(said: Verdict) -> str:
    if not said.judged:
        return "unjudged"
    return "passed" if said.passed else "refused"


def study() -> dict[str, Any]:
    """All benches as they are, and those with a reference with it as well."""
    rows = []
    for bench in read_benches():
        for with_reference in (False, True) if bench.has_reference else (False,):
            rows.append(row_of(bench, with_reference=with_reference))
            print(*rows[-1].values(), flush=True)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "rows": rows}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    lines: list[tuple[Any, ...]] = []
    for with_reference in (False, True):
        rows = [row for row in results["rows"] if row["reference"] == with_reference]
        right, broken = [row["right"] for row in rows], [word for row in rows for word in row["broken"]]
        lines.append(("with the reference" if with_reference else "the bench alone", len(rows),
                      *(right.count(word) for word in ("passed", "unjudged", "refused")), len(broken),
                      *(broken.count(word) for word in ("refused", "unjudged", "passed"))))
    wrong = sum(line[4] + line[8] for line in lines)
    table = markdown_table(["judged by", "benches", "right modules passed", "not judged", "refused", "broken modules",
                            "refused", "not judged", "passed"], lines)
    return f"{table}\n\n{wrong} verdicts are wrong. {results['date']}; {results['machine']}."


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_benches.json", DOCS / "verilog.md",
                  marks("benches", "verilog.benches"), study)

if __name__ == "__main__":
    STUDY.main(__doc__)
