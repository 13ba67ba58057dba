"""Fault localisation without a model: do the lines that a trace shows hold the mistake, and how few are they?

The references of VerilogEval are mutated (mutants.py); each mutant that compiles and that the bench rejects is
traced from the mismatch that the bench reports: over all drivers of all wrong outputs (`all drivers`), and over what
was active before the first mismatch of one of the outputs that are wrong first (`active`), for three levels and for
eight. A line counts when it holds code.

    python -m benchmarks.verilog.localise [--designs] [--mutants 28] [--problems N] [--processes 2]

With `--designs` it is the twenty designs that nobody had tuned on. `--problems` takes every so many, so that about N
are studied, and writes nothing down.
"""

from __future__ import annotations

import argparse
import itertools
import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from benchmarks.verilog.mutants import Mutant, mutants
from benchmarks.verilog.pyverilog import Parser, sliced
from benchmarks.verilog.subjects import Subject, designs, verilogeval_subjects
from chatdev.departments.verilog.bench import HiddenBench, add_parameters
from chatdev.departments.verilog.bench_report import BenchReport
from chatdev.departments.verilog.compilation import SIMULATING
from chatdev.departments.verilog.design.design import Design
from chatdev.departments.verilog.design.elaborate import DesignError
from chatdev.departments.verilog.mismatch import wrong_outputs
from chatdev.departments.verilog.simulation import SimulationResult, simulate_examined
from chatdev.departments.verilog.tracing.search import narrowest_trace, trace_outputs
from chatdev.departments.verilog.tracing.trace import History, Watch
from chatdev.departments.verilog.waveform.waves import Waves
from chatdev.sandbox.kinds import find_sandbox

LEVELS = 3
DEEPER = 8
"""Levels that an agent may ask for when the lines of the first three are right."""
TARGET = 20
"""Milliseconds that a trace may take."""
LONG = 20
"""Sources of more lines of code are looked at separately."""
METHODS = {"all drivers": "all drivers", "active": "active only", "pyverilog": "pyverilog, all drivers"}
_DEEPER = "active, deeper"
_LIMITS = replace(SIMULATING, cpu=20)


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant: per method, whether its line is among the lines of the first 1, 2, … levels, and how many these are.
    `milliseconds` of processor time took everything but the simulation, `reading` of these the waveform."""

    problem: str
    operator: str
    line: int
    code: int
    hits: Mapping[str, list[bool]]
    shown: Mapping[str, list[int]]
    milliseconds: float = 0.0
    reading: float = 0.0


def rows_of(problem: Subject, most: int) -> tuple[list[Row], int]:
    """The rows of up to `most` mutants of a problem that the bench rejects, and how many were simulated; the same at
    every call."""
    found, tried = list[Row](), 0
    parse = _parser()
    bench = problem.bench
    bench = replace(bench, target=add_parameters(bench, problem.text))
    for mutant in order_in_turns(mutants(problem.text, bench.target), problem.name):
        if len(found) == most:
            break
        tried += 1
        with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
            simulated = simulate_examined(mutant.text, bench, find_sandbox("none"), Path(folder), dump=True,
                                          limits=_LIMITS)
            if simulated.outcome == "mismatches" and simulated.report and simulated.waves:
                found.append(_measured(problem, bench, mutant, simulated, parse))
    return found, tried


def _parser() -> Parser | None:
    try:
        return Parser()
    except ImportError:
        return None


def order_in_turns(every: Iterable[Mutant], seed: str) -> Iterator[Mutant]:
    """In an order by chance, one of each operator after the other."""
    chance, by_operator = random.Random(seed), defaultdict[str, list[Mutant]](list)
    for mutant in every:
        by_operator[mutant.operator].append(mutant)
    for some in by_operator.values():
        chance.shuffle(some)
    operators = chance.sample(sorted(by_operator), len(by_operator))
    for turn in itertools.zip_longest(*(by_operator[operator] for operator in operators)):
        yield from (mutant for mutant in turn if mutant)


def _measured(problem: Subject, bench: HiddenBench, mutant: Mutant, simulated: SimulationResult,
              parse: Parser | None) -> Row:
    report, path = simulated.report or BenchReport(), simulated.waves or Path()
    lines, reading, started = dict[str, list[set[int]]](), 0.0, time.process_time()
    try:
        design = Design.of(mutant.text, bench.target)
        begun = time.process_time()
        waves = Waves.open(path)
        wrong = wrong_outputs(report, waves, bench, differing=simulated.differing, reacted=simulated.reacted)
        if not wrong:
            raise DesignError("no output differs in the waveform")
        history = History.of(waves, bench.layout.scope, design.widths, wrong[0].sampled)
        reading = time.process_time() - begun
        first = [Watch(part, one.sampled) for one in wrong if one.time == wrong[0].time
                 for part in one.parts or (design.part(one.output),)]
        followed = narrowest_trace(design, first, LEVELS, history)
        spent = time.process_time() - started
        full = trace_outputs(design, [one.output for one in wrong], LEVELS)
        lines["all drivers"] = [set(full.lines(level)) for level in range(1, LEVELS + 1)]
        lines["active"] = [set(followed.lines(level)) for level in range(1, LEVELS + 1)]
        lines[_DEEPER] = [set(narrowest_trace(design, first, DEEPER, history).lines(DEEPER))]
    except DesignError:  # nothing is named: Icarus Verilog takes what pyslang refuses
        spent = time.process_time() - started
        lines["all drivers"] = lines["active"] = [set() for _ in range(LEVELS)]
        lines[_DEEPER] = [set()]
    tree = parse(mutant.text) if parse else None
    if tree is not None:
        outputs = [name for name, mismatch in report.outputs.items() if mismatch.count]
        lines["pyverilog"] = sliced(tree, outputs, LEVELS)
    code = {number for number, text in enumerate(mutant.text.splitlines(), 1) if _is_code(text)}
    return Row(problem.name, mutant.operator, mutant.line, len(code),
               {method: [mutant.line in some for some in levels] for method, levels in lines.items()},
               {method: [len(some & code) for some in levels] for method, levels in lines.items()},
               round(1000 * spent, 2), round(1000 * reading, 2))


def _is_code(text: str) -> bool:
    return bool(text.strip()) and not text.strip().startswith("//")


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Per method: mutants, the share whose line is named within 1, 2, … levels, and the mean share of lines shown."""
    found = {}
    for method in (*METHODS, _DEEPER):
        some = [row for row in rows if method in row.hits]
        if some:
            hits = zip(*(row.hits[method] for row in some), strict=True)
            shown = zip(*([lines / row.code for lines in row.shown[method]] for row in some), strict=True)
            found[method] = {"mutants": len(some), "named": [*map(_mean, hits)], "shown": [*map(_mean, shown)]}
    return found


def study(problems: Sequence[Subject], most: int, processes: int) -> dict[str, Any]:
    """All rows, and what they come to."""
    rows, tried = list[Row](), 0
    with ProcessPoolExecutor(processes) as pool:
        for number, (problem, (found, simulated)) in enumerate(
                zip(problems, pool.map(rows_of, problems, [most] * len(problems)), strict=True), 1):
            rows, tried = rows + found, tried + simulated
            print(f"[{number}/{len(problems)}] {problem.name}: {len(found)} of {simulated} rejected", flush=True)
    times = sorted(row.milliseconds for row in rows)
    return {
        "date": datetime.now(UTC).date().isoformat(), "machine": machine(), "problems": len(problems),
        "simulated": tried, "mutants": len(rows), "all": summary(rows),
        "long": summary([row for row in rows if row.code > LONG]),
        "milliseconds": {"median": times[len(times) // 2], "95 %": times[int(0.95 * len(times))], "most": times[-1],
                         "of these reading": _mean(row.reading for row in rows),
                         "share over the target": _mean(one > TARGET for one in times)},
        "operators": _operators(rows),
        "missed": [asdict(row) for row in rows if not row.hits["all drivers"][-1]],
    }


def _operators(rows: Sequence[Row]) -> dict[str, dict[str, Any]]:
    counts = Counter(row.operator for row in rows)
    return {operator: summary([row for row in rows if row.operator == operator]) for operator in sorted(counts)}


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return round(sum(every) / len(every), 4) if every else 0.0


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    headers = [f"{what} {level}" for what in ("named within", "lines shown") for level in range(1, LEVELS + 1)]
    which = {"all": "all", "long": f"over {LONG} lines"}
    table = markdown_table(["sources", "slice", "mutants", *headers], [
        (about, METHODS[method], row["mutants"], *map(_percent, (*row["named"], *row["shown"])))
        for group, about in which.items() for method, row in results[group].items() if method in METHODS])
    deeper = " and ".join(f"{_percent(found['named'][-1])} of the mistakes with {_percent(found['shown'][-1])} of the "
                          f"lines ({about})" for group, about in which.items()
                          if (found := results[group].get(_DEEPER)))  # a small sample may have no long source
    operators = markdown_table(
        ["mistake", "mutants", f"named within {LEVELS}, all drivers", "active", "lines shown, active",
         f"named within {DEEPER}, active", "lines shown"],
        [(operator, row["active"]["mutants"], _percent(row["all drivers"]["named"][-1]),
          *(_percent(row[method][what][-1]) for method in ("active", _DEEPER) for what in ("named", "shown")))
         for operator, row in results["operators"].items()])
    times = results["milliseconds"]
    return (f"{table}\n\nAsked for {DEEPER} levels, the active slice names {deeper}.\n\n{operators}\n\n"
            f"A trace takes {times['median']:.1f} ms of processor time (median; 95 %: {times['95 %']:.1f}, most: "
            f"{times['most']:.1f}), {times['of these reading']:.1f} of them (mean) to read the waveform; "
            f"{_percent(times['share over the target'])} take more than {TARGET}. {results['mutants']} of "
            f"{results['simulated']} mutants that were simulated were rejected, of {results['problems']} references. "
            f"{results['date']}; {results['machine']}.")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


TABLE = KeptTable(told, RESULTS_FOLDER / "verilog_localise.json", DOCS / "verilog.md",
                  marks("localise", "verilog.localise"))
OF_DESIGNS = replace(TABLE, results=RESULTS_FOLDER / "verilog_localise_designs.json",
                     marks=marks("designs", "verilog.localise --designs"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--designs", action="store_true", help="the twenty designs")
    parser.add_argument("--mutants", type=int, default=28, help="at most, of one reference (default: 28)")
    parser.add_argument("--problems", type=int, help="about so many of them, and write nothing down")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    problems = designs() if arguments.designs else verilogeval_subjects()
    if arguments.problems:
        problems = problems[::max(1, len(problems) // arguments.problems)]
    results = study(problems, arguments.mutants, arguments.processes)
    print(told(results) if arguments.problems else (OF_DESIGNS if arguments.designs else TABLE).keep(results))


if __name__ == "__main__":
    main()
