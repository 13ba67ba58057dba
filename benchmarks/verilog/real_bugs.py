"""Do traces name the lines that people mended?

REPOSITORIES (an environment variable) says where ekiwi/rtl-repair lies as OWNER/NAME: it has designs with mistakes of
people and from public designs (CirFix, FPGA bugs), each with the right design and a table of inputs, a row for each
clock. The table is played to the wrong design, and its outputs are compared with those of the right one. Its lines
that differ from the right ones are the mistake; where lines are missing, those around them. Half of the mistakes was
not looked at while the tracer was made. Nothing is kept but counts.

    REPOSITORIES=~/clones python -m benchmarks.verilog.real_bugs [--write]
"""

from __future__ import annotations

import csv
import difflib
import os
import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from benchmarks.verilog.localise import DEEPER, LEVELS
from chatdev.departments.verilog.bench import HiddenBench, add_parameters
from chatdev.departments.verilog.design.design import Design, Port
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.mismatch import wrong_outputs
from chatdev.departments.verilog.simulation import simulate_examined
from chatdev.departments.verilog.target import Target, drop_comments
from chatdev.departments.verilog.tracing.search import narrowest_trace, trace_outputs
from chatdev.departments.verilog.tracing.trace import History, Watch
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.sandbox.kinds import find_sandbox

REPOSITORY, COMMIT = "ekiwi/rtl-repair", "71e1afc0"
METHODS = {"all drivers": f"all drivers, {LEVELS} levels", "active": f"active only, {LEVELS} levels",
           "active, deeper": f"active only, {DEEPER} levels"}
_MOST_ROWS = 4000
_CLOCK = re.compile(r"cl(?:oc)?k", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bug:
    """A design whose first lines are the wrong file, the same with the right one, its top module, headers, and the rows
    of a table."""

    name: str
    wrong: str
    right: str
    top: str
    headers: Mapping[str, str]
    rows: Sequence[Mapping[str, str]]
    mended: frozenset[int]

    @property
    def is_seen(self) -> bool:
        """Whether it may be looked at while the tracer is made."""
        return crc32(self.name.encode()) % 2 == 0


@dataclass(frozen=True, slots=True)
class Row:
    """What becomes of a bug: its outcome, and by method whether one of its lines is named, and the share of lines."""

    bug: str
    seen: bool
    outcome: str
    code: int = 0
    named: Mapping[str, bool] | None = None
    shown: Mapping[str, int] | None = None


def bugs(folder: Path) -> Iterator[Bug]:
    """Those with a right design and a table in a checkout of the repository."""
    for file in sorted(folder.glob("benchmarks/**/*.toml")):
        about = tomllib.loads(file.read_text(encoding="utf-8"))
        if "project" not in about:
            continue
        tables = [file.parent / one["table"] for one in about.get("testbenches", ()) if "table" in one]
        rows = next((_read_table(table) for table in tables if table.is_file()), [])
        headers = {one.name: one.read_text(errors="replace") for one in file.parent.glob("*.vh")}
        for bug in (one for one in about.get("bugs", ()) if rows and "original" in one):
            texts = {name: (file.parent / name).read_text(errors="replace")
                     for name in [*about["project"]["sources"], bug["original"], bug["buggy"]]}
            others = [texts[name] for name in about["project"]["sources"] if name != bug["original"]]
            wrong, right = texts[bug["buggy"]], texts[bug["original"]]
            place = file.parent.relative_to(folder / "benchmarks")
            yield Bug(f"{place}/{bug['name']}", "\n".join([wrong, *others]),
                      "\n".join([right, *others]), about["project"]["toplevel"], headers, rows,
                      mended_lines(wrong, right))


def _read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return [{name.strip(): (value or "").strip().lower() for name, value in row.items() if name}
                for row in csv.DictReader(file)][:_MOST_ROWS]


def mended_lines(wrong: str, right: str) -> frozenset[int]:
    """The lines of the wrong text that are others in the right one, but for comments and spaces; of missing lines those
    around them."""
    ours, theirs = ([" ".join(line.split()) for line in drop_comments(text).splitlines()] for text in (wrong, right))
    found = set[int]()
    for kind, start, end, _, _ in difflib.SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if kind in ("replace", "delete"):
            found |= {number + 1 for number in range(start, end) if ours[number]}
        elif kind == "insert":
            before = next((number for number in range(start, 0, -1) if ours[number - 1]), None)
            after = next((number + 1 for number in range(start, len(ours)) if ours[number]), None)
            found |= {number for number in (before, after) if number}
    return frozenset(found)


def bench_for(bug: Bug, ports: Sequence[Port], clocks: Sequence[str]) -> str:
    """A bench that plays the rows of the table, and prints the outputs before each edge of the clocks."""
    played = [port for port in ports if port.direction == "in" and port.name not in clocks]
    outputs = [port.name for port in ports if port.direction == "out"]
    lines = ["`timescale 1ns/1ps", "module replay;"]
    lines += [f"  {'reg' if port.direction == 'in' else 'wire'} [{port.width - 1}:0] {port.name}"
              f"{' = 0' if port.direction == 'in' else ''};" for port in ports]
    lines += [f"  {bug.top} dut({', '.join(f'.{port.name}({port.name})' for port in ports)});", "  initial begin"]
    previous: Mapping[str, str] = {}
    for row in bug.rows:
        lines += [f"    {port.name} = {_literal(row[port.name], port.width)};" for port in played
                  if row.get(port.name, "x") not in ("x", "", previous.get(port.name))]
        previous = {**previous, **{name: value for name, value in row.items() if value != "x"}}
        ticks = [" ".join(f"{clock} = {level};" for clock in clocks) for level in (1, 0)]
        lines += [f'    #4 $display("{" %b" * len(outputs)}", {", ".join(outputs)});',
                  f"    #1 {ticks[0]} #5 {ticks[1]}"]
    return "\n".join([*lines, "    $finish;", "  end", "endmodule\n"])


def _literal(value: str, width: int) -> str:
    return f"{width}'d{int(value) % (1 << width)}"


def row_of(bug: Bug) -> Row:
    """Play the table to a bug, and trace its first difference."""
    target = Target.named(bug.top, bug.headers)
    design = Design.of(bug.right, target)
    inputs = {port.name for port in design.ports if port.direction == "in"}
    clocks = sorted({trigger.part.signal for process in design.processes for trigger in process.triggers
                     if trigger.edge == "posedge" and _CLOCK.search(trigger.part.signal)} & inputs)
    bench = HiddenBench(bench_for(bug, design.ports, clocks), bug.right, target)
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        result = simulate_examined(bug.wrong, bench, find_sandbox("none"), Path(folder), dump=True)
        if result.outcome != "mismatches" or not result.report or not result.waves:
            return Row(bug.name, bug.is_seen, result.outcome)
        waves = Waves.open(result.waves)
        return _traced(bug, bench, waves, result)


def _traced(bug: Bug, bench: HiddenBench, waves: Waves, result: Any) -> Row:
    wrong = wrong_outputs(result.report, waves, bench, differing=result.differing, reacted=result.reacted)
    if not wrong:
        return Row(bug.name, bug.is_seen, "no difference recorded")
    design = Design.of(bug.wrong, add_parameters(bench, bug.wrong))
    history = History.of(waves, bench.layout.scope, design.widths, wrong[0].sampled)
    first = [Watch(part, one.sampled) for one in wrong if one.time == wrong[0].time
             for part in one.parts or (design.part(one.output),)]
    traces = {"all drivers": trace_outputs(design, [one.output for one in wrong], LEVELS),
              "active": narrowest_trace(design, first, LEVELS, history),
              "active, deeper": narrowest_trace(design, first, DEEPER, history)}
    lines = {method: {*trace.lines()} for method, trace in traces.items()}
    code = {number for number, text in enumerate(drop_comments(bug.wrong).splitlines(), 1) if text.strip()}
    return Row(bug.name, bug.is_seen, "traced", len(code),
               {one: bool(some & bug.mended) for one, some in lines.items()},
               {one: len(some & code) for one, some in lines.items()})


def measure() -> dict[str, Any]:
    """The rows of all bugs."""
    rows = list[Row]()
    for bug in bugs(Path(os.environ.get("REPOSITORIES", "")) / REPOSITORY):
        try:
            rows.append(row_of(bug))
        except DesignError:
            rows.append(Row(bug.name, bug.is_seen, "not elaborated"))
        print(rows[-1], flush=True)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "repository": REPOSITORY,
            "commit": COMMIT, "rows": [asdict(row) for row in rows]}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows = []
    for seen, about in ((True, "looked at"), (False, "not looked at")):
        some = [row for row in results["rows"] if row["seen"] is seen]
        traced = [row for row in some if row["named"]]
        for method in METHODS:
            shown = sum(row["shown"][method] / row["code"] for row in traced) / max(1, len(traced))
            named = [row for row in traced if row["named"][method]]
            both = sum(row["named"]["all drivers"] for row in named)
            rows.append((about, METHODS[method], len(some), len(traced), len(named), both, f"{100 * shown:.1f} %"))
    table = markdown_table(["bugs", "slice", "with a table", "told by it", "named", "of these by all drivers, too",
                            "lines shown (mean)"], rows)
    return f"{table}\n\n{results['repository']} {results['commit']}. {results['date']}; {results['machine']}."


STUDY = KeptStudy(told, RESULTS_FOLDER / "verilog_real_bugs.json", DOCS / "verilog.md",
                  marks("real bugs", "verilog.real_bugs"), measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
