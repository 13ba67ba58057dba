"""Does the miner find what pm4py finds, and is it as precise? How good are the models of the infrequent variant, do
names decide anything, and how fast is it?

pm4py (AGPL-3.0, 550 MB) is the reference, never a dependency: it lives in an environment of its own.

    python3 -m venv /tmp/pm4py && /tmp/pm4py/bin/pip install pm4py
    PM4PY=/tmp/pm4py/bin/python python -m benchmarks.process.oracle [--resume | --write]

Each part is written down when it is done; `--resume` keeps those that are there, `--write` only writes the page.
Without PM4PY, or an interpreter there that imports it, the study says so and leaves the results as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain, islice, product
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.process.pools import (
    Pool,
    add_noise,
    change_sequence,
    hallucinate,
    play_pool,
    random_names,
    random_strings,
    random_tree,
    rename_pool,
)
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks, write_results
from chatdev.departments.process.bpmn import write_bpmn
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.conformance import Quality, find_difference, measure_precision, measure_quality
from chatdev.departments.process.cuts import find_cut
from chatdev.departments.process.follows_graph import MARK, bits_of, build_graph, encode
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.log_splits import split_log
from chatdev.departments.process.process_tree import ProcessTree, from_plain, normalise, rename, to_plain

NOISE, TIMES = 0.2, 3
TREES, SIZES, FIRST_SEEDS = 400, (20, 50, 100, 200), (0, 10_000)
"""Trees whose models are compared in precision, instances of each, and the first seeds of two sets; the miner was not
changed after a look at the second."""
RENAMED, RENAMINGS = 150, 10
LONG_POOLS = 25, 50, 100, 400, 1600, 6400
Job = Mapping[str, Any]


def ask(python: str, jobs: Sequence[Job], patience: float | None = None) -> tuple[str, list[Any]]:
    """pm4py's version, and its answers. Raises TimeoutExpired after so many seconds."""
    script = Path(__file__).with_name("pm4py_oracle.py")
    done = subprocess.run([python, str(script)], input=json.dumps(jobs), text=True, capture_output=True, check=True,
                          timeout=patience)
    said = json.loads(done.stdout)
    return said["pm4py"], said["answers"]


def to_job(pool: Pool) -> list[list[Any]]:
    """A pool as the oracle reads it."""
    return [[list(instance), count] for instance, count in sorted(pool.items())]


def tree_pools(seeds: Iterable[int], instances: int = 100) -> list[Pool]:
    """Pools of so many instances of random trees."""
    return [play_pool(random_tree(chance, random_names(chance)), chance, instances) for chance in map(Random, seeds)]


def mine_there(python: str, pools: Iterable[Pool]) -> list[ProcessTree]:
    """pm4py's models of all behaviour."""
    _, said = ask(python, [{"do": "mine", "pool": to_job(pool), "noise": 0.0} for pool in pools])
    return [from_plain(answer["tree"]) for answer in said]


def compare(python: str, pools: Mapping[str, list[Pool]]) -> dict[str, Any]:
    """How many trees are the same, and what the others are; all of pools without noise."""
    rows = {}
    for kind, members in pools.items():
        found = Counter(classify(pool, mine(pool), normalise(other))
                        for pool, other in zip(members, mine_there(python, members), strict=True))
        rows[kind] = {"pools": len(members), **found}
    return rows


def classify(pool: Pool, own: ProcessTree, other: ProcessTree) -> str:
    """How two trees of one pool differ."""
    if own == other:
        return "same tree"
    if find_difference(own, other) is None:
        return "same language"
    if cuts_all_the_way(encode(pool)[0]):
        return "other, though there are cuts"
    ours, theirs = measure_quality(own, pool).precision, measure_quality(other, pool).precision
    judged = "as precise" if abs(ours - theirs) < 0.005 else "more precise" if ours > theirs else "less precise"
    return f"other fall-through, {judged}"


def cuts_all_the_way(pool: Mapping[str, int]) -> bool:
    """Whether the pool falls apart by cuts alone, so that there is nothing to choose."""
    pool = {instance: count for instance, count in pool.items() if instance}
    phases = bits_of("".join(pool))
    if phases.bit_count() < 2:
        return True
    cut = find_cut(build_graph([MARK.join(["", *pool, ""])], phases))
    return cut is not None and all(map(cuts_all_the_way, split_log(pool, cut)))


def compare_precision(python: str) -> list[dict[str, Any]]:
    """Of random trees, each set and number of instances: mean precisions, and those that differ."""
    rows = []
    for first, instances in product(FIRST_SEEDS, SIZES):
        pools = tree_pools(range(first, first + TREES), instances)
        pairs = [(measure_precision(mine(pool), pool), measure_precision(other, pool))
                 for pool, other in zip(pools, mine_there(python, pools), strict=True)]
        means = (round(statistics.mean(one), 4) for one in zip(*pairs, strict=True))
        rows.append({"first seed": first, "instances": instances, "trees": len(pools),
                     **dict(zip(("own", "pm4py"), means, strict=True)),
                     "other": {str(first + place): [round(one, 4) for one in pair] for place, pair in enumerate(pairs)
                               if abs(pair[0] - pair[1]) > 1e-9}})
    return rows


def compare_renaming(python: str) -> list[dict[str, int]]:
    """Of each pool without noise, how many renamings change the tree, ours and pm4py's, and how many what it allows."""
    pools: list[list[Pool]] = []
    ways_back: list[list[dict[str, str]]] = []
    for seed, pool in enumerate(tree_pools(range(RENAMED))):
        chance = Random(seed)
        pairs = [rename_pool(pool, chance) for _ in range(RENAMINGS)]
        pools.append([pool, *(renamed for renamed, _ in pairs)])
        ways_back.append([{}, *(way for _, way in pairs)])
    theirs = iter(mine_there(python, chain.from_iterable(pools)))
    return [{"seed": seed, **_count_changed("own", map(mine, one), ways),
             **_count_changed("pm4py", islice(theirs, len(one)), ways)}
            for seed, (one, ways) in enumerate(zip(pools, ways_back, strict=True))]


def _count_changed(name: str, trees: Iterable[ProcessTree], ways_back: Iterable[Mapping[str, str]]) -> dict[str, int]:
    first, *others = (normalise(rename(tree, way) if way else tree)
                      for tree, way in zip(trees, ways_back, strict=True))
    return {f"{name}, tree": sum(tree != first for tree in others),
            f"{name}, language": sum(find_difference(tree, first) is not None for tree in others if tree != first)}


def noisy_pools() -> list[tuple[str, Pool]]:
    """Pools with infrequent behaviour: generated ones as in the paper, and those of trees with 20 % changed."""
    found = [(f"150 variants, noise {noise}", hallucinate(Random(seed), 150, 400, noise))
             for noise in (0.3, 1.0) for seed in range(4)]
    for chance in map(Random, range(12)):
        pool = play_pool(random_tree(chance, random_names(chance)), chance, 200)
        found.append(("random trees, 20 % changed", add_noise(pool, chance, 0.2)))
    return found


def compare_infrequent(python: str, pools: Sequence[tuple[str, Pool]], replayed: int = 1) -> list[dict[str, Any]]:
    """Quality of both models of each pool: exactly, and of the first of each kind as pm4py's token replay sees it."""
    _, said = ask(python, [{"do": "mine", "pool": to_job(pool), "noise": NOISE} for _, pool in pools])
    counts: Counter[str] = Counter()
    rows, jobs = [], []
    for (kind, pool), answer in zip(pools, said, strict=True):
        own, other = mine(pool, NOISE), from_plain(answer["tree"])
        counts[kind] += 1
        row: dict[str, Any] = {"kind": kind, "same": own == normalise(other), "own": measure_quality(own, pool),
                               "pm4py": measure_quality(other, pool)}
        if counts[kind] <= replayed:
            jobs += [{"do": "measure", "pool": to_job(pool), "tree": to_plain(tree)} for tree in (own, other)]
            row["token"] = len(jobs) - 2
        rows.append(row)
    _, measured = ask(python, jobs)
    for row in rows:
        if "token" in row:
            begin = row.pop("token")
            for name, answer in zip(("own by token replay", "pm4py by token replay"), measured[begin:], strict=False):
                row[name] = Quality(answer["fitness"], answer["precision"])
    return rows


def compare_speed(python: str) -> dict[str, Any]:
    """Seconds of the processor, the quickest of three counts: of a pool as a model generates one, and of long instances
    of one order with exchanges and omissions."""
    pools = {"350 variants of a company's process": hallucinate(Random(0), 350, 1000)}
    pools |= {f"{variants:,} variants of a sequence of 20": change_sequence(Random(0), variants)
              for variants in LONG_POOLS}
    rows = {}
    for name, pool in pools.items():
        for noise in (0.0, NOISE):
            _, (said,) = ask(python, [{"do": "mine", "pool": to_job(pool), "noise": noise, "times": TIMES}])
            spent = []
            for _ in range(TIMES):
                began = time.process_time()
                mine(pool, noise)
                spent.append(time.process_time() - began)
            rows[f"{name}, {f'noise {noise}' if noise else 'all behaviour'}"] = {
                "own": round(min(spent), 4), "pm4py": round(said["seconds"], 4)}
    return rows


def compare_bpmn(python: str, pools: Sequence[Pool]) -> dict[str, int]:
    """Of how many BPMN files pm4py reads the process that they were written from."""
    trees = [mine(pool) for pool in pools]
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for number, tree in enumerate(trees):
            path = Path(folder) / f"{number}.bpmn"
            path.write_text(write_bpmn(draw_flow(tree)), encoding="utf-8")
            jobs.append({"do": "read_bpmn", "path": str(path)})
        _, said = ask(python, jobs)
    same = sum(find_difference(tree, from_plain(answer["tree"])) is None
               for tree, answer in zip(trees, said, strict=True))
    return {"files": len(trees), "read as the same": same}


def study(python: str, kept: Mapping[str, Any]) -> None:
    """Everything that is compared; each part is written down when it is done, and none that is kept done again."""
    trees = tree_pools(range(180))
    strings = [random_strings(Random(seed)) for seed in range(120)]
    parts: dict[str, Callable[[], Any]] = {
        "trees": lambda: compare(python, {"random trees": trees, "random strings": strings}),
        "precision": lambda: compare_precision(python), "renaming": lambda: compare_renaming(python),
        "infrequent": lambda: compare_infrequent(python, noisy_pools()), "speed": lambda: compare_speed(python),
        "bpmn": lambda: compare_bpmn(python, trees[:20])}
    version, _ = ask(python, [])
    results = {**kept, "date": datetime.now(UTC).date().isoformat(), "machine": machine(), "pm4py": version}
    for name, measure in parts.items():
        if name not in kept:
            results[name] = measure()
            write_results(TABLE.results, results)


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    classes = sorted({name for row in results["trees"].values() for name in row} - {"pools", "same tree"})
    trees = markdown_table(["pools from", "pools", "same tree", *classes], [
        [kind, row["pools"], row.get("same tree", 0), *(row.get(name, 0) for name in classes)]
        for kind, row in results["trees"].items()])
    precision = markdown_table(
        ["seeds", "instances of each", "mean precision (ours; pm4py's)", "ours more precise", "as precise",
         "less precise"],
        [_told_precision(row) for row in results["precision"]])
    renaming = markdown_table(["models changed by renaming", "ours", "pm4py's"], [
        [what, *(f"{sum(row[f'{name}, {key}'] > 0 for row in results['renaming'])} of {len(results['renaming'])}"
                 for name in ("own", "pm4py"))]
        for what, key in (("in what they allow", "language"), ("as trees", "tree"))])
    infrequent = markdown_table(
        ["pools", "number", "fitness (ours; pm4py's)", "precision", "F-score",
         "F-score by pm4py's token replay, first pool"],
        [_told_kind(kind, [row for row in results["infrequent"] if row["kind"] == kind])
         for kind in dict.fromkeys(row["kind"] for row in results["infrequent"])])
    speed = markdown_table(["seconds of the processor", "ours", "pm4py", "ratio"], [
        [name, f"{row['own']:.3f}", f"{row['pm4py']:.3f}", f"{row['own'] / row['pm4py']:.2f}"]
        for name, row in results["speed"].items()])
    bpmn = results["bpmn"]
    return (f"{trees}\n\nPrecision of the models of {TREES} random trees:\n\n{precision}\n\nPools of {RENAMED} random "
            f"trees, each renamed {RENAMINGS} times at random:\n\n{renaming}\n\n"
            f"The infrequent variant (noise {NOISE}), ours and pm4py's, means:\n\n{infrequent}\n\n"
            f"{speed}\n\npm4py read {bpmn['read as the same']} of {bpmn['files']} BPMN files as the process they were "
            f"written from. pm4py {results['pm4py']}; {results['date']}; {results['machine']}.")


def _told_precision(row: Mapping[str, Any]) -> list[object]:
    first, last = row["first seed"], row["first seed"] + row["trees"] - 1
    more = sum(own > other for own, other in row["other"].values())
    return [f"{first} to {last}", row["instances"], f"{row['own']:.3f}; {row['pm4py']:.3f}",
            more, row["trees"] - len(row["other"]), len(row["other"]) - more]


def _told_kind(kind: str, rows: Sequence[Mapping[str, Any]]) -> list[object]:
    shares = [_pair(*(statistics.mean(row[name][place] for row in rows) for name in ("own", "pm4py")))
              for place in (0, 1)]
    return [kind, len(rows), *shares, _pair(*mean_f_scores(rows, "")), _pair(*mean_f_scores(rows, " by token replay"))]


def mean_f_scores(rows: Sequence[Mapping[str, Any]], measure: str) -> tuple[float, float]:
    """Ours and pm4py's, of the rows that were measured so."""
    own, other = (statistics.mean(Quality(*row[name + measure]).f_score for row in rows if name + measure in row)
                  for name in ("own", "pm4py"))
    return own, other


def _pair(own: float, other: float) -> str:
    return f"{own:.2f}; {other:.2f}"


TABLE = KeptTable(told, RESULTS_FOLDER / "process_oracle.json", DOCS / "process.md", marks("oracle", "process.oracle"))


def main() -> None:
    """Compare, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--resume", action="store_true", help="keep the parts that are in the results")
    only.add_argument("--write", action="store_true", help="only write the page from the results that are kept")
    options = parser.parse_args()
    if not options.write:
        python = os.environ.get("PM4PY", "")
        if not python or subprocess.run([python, "-c", "import pm4py"], capture_output=True, check=False).returncode:
            print("not compared with pm4py: set PM4PY to a Python that has it (see the head of oracle.py)")
            return
        study(python, TABLE.read() if options.resume else {})
    print(TABLE.write())


if __name__ == "__main__":
    main()
