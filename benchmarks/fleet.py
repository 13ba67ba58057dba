"""Fleets of companies in one process: how near they come to the ideal time, what they cost, that memory stays flat –
and whether the simulation predicts them.

Two small loads fit the simulation (`benchmarks/simulate_fleet.py`); it then predicts the others, which differ in jobs,
jobs at once, latency and the provider's limits. The ideal is the time that the model and the provider alone
allow. Last, what the ledger itself takes with many jobs in it, and what a run's folder weighs.

    python -m benchmarks.fleet [--only NAME …]

`--only` measures some of the loads, or none, and keeps the figures of the others. Do it on a quiet machine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import plans
from benchmarks.engine.run_folder import weighed
from benchmarks.fleet_load import measure_apart
from benchmarks.simulate_fleet import CALLS, Costs, Load, fit_costs, ideal, seconds
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.batch.ledger import Job, Ledger

FEW, MANY = "few", "many"
"""The loads that the simulation is fitted to."""
LOADS = {
    FEW: Load(jobs=60, at_once=4, latency=0.1),
    MANY: Load(jobs=80, at_once=80, latency=0.1),
    "fleet": Load(jobs=1200, at_once=8, latency=0.1),
    "crowd": Load(jobs=400, at_once=200, latency=0.1),
    "varied": Load(jobs=200, at_once=16, latency=0.2, spread=0.6),
    "requests": Load(jobs=150, at_once=32, latency=0.1, requests=2400),
    "tokens": Load(jobs=150, at_once=32, latency=0.1, tokens=1_500_000),
}
NEAR = 0.15
"""How far from the measured time a predicted one may be."""
BOOKED, CLAIMED = 100_000, 500
"""Jobs in the ledger that is measured by itself, and those of them that are done."""
_GB = 1_000_000 * 1024 / 1e9
"""Of a million times a KiB."""
TYPICAL_LATENCY = 5.0
"""Seconds that a large model takes to answer; for the estimate of how many companies a core can serve."""


def costs_of(figures: Mapping[str, Mapping[str, Any]]) -> Costs:
    """What the engine takes, by the figures of the two small loads."""
    many = figures[MANY]
    costs = Costs(start=many["cpu_ms_per_start"] / 1000, prompt_tokens=many["prompt_tokens_per_call"],
                  completion_tokens=many["completion_tokens_per_call"])
    return fit_costs((LOADS[FEW], figures[FEW]["seconds"]), (LOADS[MANY], many["seconds"]), costs)


def predict(name: str, costs: Costs) -> dict[str, float]:
    """What the simulation says of a load."""
    load = LOADS[name]
    return {"ideal_seconds": round(ideal(load, costs), 1), "predicted_seconds": round(seconds(load, costs), 1)}


def measure_ledger(jobs: int = BOOKED, claims: int = CLAIMED) -> dict[str, Any]:
    """What a claim and a result take in a SQLite file with so many jobs, in processor milliseconds."""
    with tempfile.TemporaryDirectory(prefix="chatdev-ledger-") as folder:
        ledger = Ledger(str(Path(folder, "ledger.sqlite")), "booked")
        ledger.add(Job(f"job-{n}", {"task": f"Write program {n}."}) for n in range(jobs))
        started = time.process_time()
        claimed = [claim for _ in range(claims) if (claim := ledger.claim("worker"))]
        between = time.process_time()
        for claim in claimed:
            ledger.finish(claim, {"quality": 0.5, "cost": 0.1, "tokens": 10}, 1.0)
        ended = time.process_time()
        ledger.close()
    return {"jobs": jobs, "claim_ms": round(1000 * (between - started) / claims, 2),
            "result_ms": round(1000 * (ended - between) / claims, 2)}


def measure_all(loads: Mapping[str, Load], before: Mapping[str, Any]) -> dict[str, Any]:
    """Measure these loads, take the figures of the others from before, and predict all that there are. Raises KeyError
    when the small loads have never been measured."""
    figures = {**before.get("loads", {}), **{name: measure_apart(load) for name, load in loads.items()}}
    costs = costs_of(figures)
    measured = {"date": datetime.now(UTC).date().isoformat(), "machine": machine()}
    return {**(measured if loads else {name: before[name] for name in measured}), "costs": asdict(costs),
            "loads": {name: {**figures[name], **predict(name, costs)} for name in LOADS if name in figures},
            "plans": plans.plans(costs), "ledger": measure_ledger(), "run_folder": weighed()}


def loads_text(results: Mapping[str, Any]) -> str:
    """The figures for the page."""
    loads, book = results["loads"], results["ledger"]
    table = markdown_table(
        ["load", "runs", "at once", "answers after", "limit a minute", "seconds", "ideal", "ratio", "predicted", "off",
         "calls a second", "CPU ms a call", "memory, MiB", "machine's load before"],
        [_row(name, LOADS[name], figures) for name, figures in loads.items()])
    calls = round(TYPICAL_LATENCY * 1000 / loads["fleet"]["cpu_ms_per_call"])
    return (f"{table}\n\nA run makes {CALLS} calls. Ideal: what the model and the provider alone allow. Predicted: by "
            f"the simulation, which is fitted to the loads `{FEW}` and `{MANY}`. Memory: after a tenth of the runs, "
            f"and after the last. A model that answers after {TYPICAL_LATENCY:g} seconds leaves room for about {calls} "
            f"companies on each core. With {book['jobs']:,} jobs in a SQLite file, a claim takes {book['claim_ms']} ms "
            f"of the processor, and a result {book['result_ms']}.\n\n{results['date']}; {results['machine']}.")


def weight_table(results: Mapping[str, Any]) -> str:
    """What a run's folder weighs, for the page."""
    weight = results["run_folder"]
    inodes = weight["files"] + weight["folders"]
    rows = [(what, f"{number:,.0f}", f"{factor * number:,.0f} {unit}") for what, number, factor, unit in (
        ("files and folders", inodes, 1, "million"), ("KiB in files", weight["kib"], _GB, "GB"),
        ("of them the journal", weight["journal_kib"], _GB, "GB"),
        ("KiB on a disk with blocks of 4 KiB", weight["disk_kib"], _GB, "GB"),
        ("KiB packed (`tar -cz`)", weight["packed_kib"], _GB, "GB"))]
    return markdown_table(["a run of the fleet above leaves", "", "a million runs"], rows)


def _row(name: str, load: Load, figures: Mapping[str, Any]) -> tuple[object, ...]:
    limits = [f"{limit:,.0f} {what}" for what, limit in (("requests", load.requests), ("tokens", load.tokens)) if limit]
    took, memory = figures["seconds"], figures["memory_mib"]
    return (f"`{name}`", f"{load.jobs:,}", load.at_once,
            f"{load.latency:g} s" + (", varying" if load.spread else ""), ", ".join(limits) or "–", took,
            figures["ideal_seconds"], f"{took / figures['ideal_seconds']:.2f}", figures["predicted_seconds"],
            "fitted" if name in (FEW, MANY) else f"{round(100 * figures['predicted_seconds'] / took) - 100:+d} %",
            figures["calls_per_second"], f"{figures['cpu_ms_per_call']:.2f}", f"{memory[1]} → {memory[-1]}",
            figures["load_of_the_machine_before"])


TABLES = [KeptTable(tables, RESULTS_FOLDER / "fleet.json", DOCS / "scaling.md", marks(name, "fleet"))
          for name, tables in (("fleet", loads_text), ("weight", weight_table), ("plans", plans.plans_text))]


def main() -> None:
    """Measure, write it down, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=LOADS, default=[*LOADS],
                        help="without a name: predict anew, after the first runs have changed")
    results = measure_all({name: LOADS[name] for name in parser.parse_args().only}, TABLES[0].read())
    for table in TABLES:
        print(table.keep(results), end="\n\n")


if __name__ == "__main__":
    main()
