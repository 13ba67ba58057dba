"""Does the miner find a process again from what was run by it?

Random trees of 3 to 10 phases are played out and mined back. Of any tree the mined one must allow every instance
(fitness 1). Of plain trees (no silence; nothing both begins and ends the body of a loop), whose instances show every
phase, beginning, end and direct succession that there is, it must allow exactly the same; that is decided, not sampled
(Leemans, Fahland, van der Aalst 2013, section 6). Each mined model is also put in words, and read back, and
drawn: no flow of its chart may lie on another one, cross one or run through a shape.

    python -m benchmarks.process.rediscovery [--trees 1000]

With another number of trees, nothing is written down.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import chain, pairwise, product
from random import Random
from typing import Any

from benchmarks.process.drawing import find_drawing_faults
from benchmarks.process.pools import Pool, play_pool, random_names, random_strings, random_tree
from benchmarks.process.read_description import read_description
from benchmarks.study import DOCS, RESULTS_FOLDER, SizedStudy, machine, markdown_table, marks
from chatdev.departments.process.bpmn import write_bpmn
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.conformance import find_difference, measure_quality
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.process_tree import ProcessTree, describe, normalise

TREES, INSTANCES, MOST_INSTANCES = 1000, 200, 20_000
Pairs = set[tuple[str, str]]


def study(trees: int) -> dict[str, Any]:
    """What became of each kind of pool."""
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "trees": trees,
            "plain": _count(_mine_plain(seed) for seed in range(trees)),
            "any": _count(_mine_any(seed) for seed in range(trees)),
            "strings": _count(_judge(random_strings(Random(seed)), None) for seed in range(trees))}


def _mine_plain(seed: int) -> dict[str, Any]:
    chance = Random(seed)
    tree = random_tree(chance, random_names(chance), plain=True)
    pool = play_pool(tree, chance, INSTANCES)
    while pool.total() < MOST_INSTANCES and not _shows_all(pool, tree):
        pool += play_pool(tree, chance, INSTANCES)
    return _judge(pool, tree)


def _shows_all(pool: Pool, tree: ProcessTree) -> bool:
    """Whether the pool has every phase, beginning, end and succession of a plain tree."""
    starts, ends, pairs = expected_pairs(tree)
    seen = [instance for instance in pool if instance]
    return (starts <= {instance[0] for instance in seen} and ends <= {instance[-1] for instance in seen}
            and pairs <= {*chain.from_iterable(map(pairwise, seen))}
            and {node.name for node in tree.walk() if node.name} == {*chain.from_iterable(seen)})


def _mine_any(seed: int) -> dict[str, Any]:
    chance = Random(seed)
    tree = random_tree(chance, random_names(chance))
    return _judge(play_pool(tree, chance, INSTANCES), tree)


def expected_pairs(tree: ProcessTree) -> tuple[set[str], set[str], Pairs]:
    """Of a plain tree, the phases that begin and end it, and all direct successions."""
    if tree.operator == "phase":
        return {tree.name}, {tree.name}, set()
    starts, ends, inner = zip(*map(expected_pairs, tree.children), strict=True)
    pairs: Pairs = set().union(*inner)
    count = len(starts)
    if tree.operator == "sequence":
        return starts[0], ends[-1], pairs.union(*(product(ends[n], starts[n + 1]) for n in range(count - 1)))
    if tree.operator == "loop":
        return starts[0], ends[0], pairs.union(product(ends[0], starts[1]), product(ends[1], starts[0]))
    if tree.operator == "parallel":
        names = [{node.name for node in child.walk() if node.name} for child in tree.children]
        pairs = pairs.union(*(product(names[a], names[b]) for a in range(count) for b in range(count) if a != b))
    return set().union(*starts), set().union(*ends), pairs


def _judge(pool: Pool, tree: ProcessTree | None) -> dict[str, Any]:
    mined = mine(pool)
    quality = measure_quality(mined, pool)
    return {"instances": pool.total(), "fits": quality.fitness == 1, "precision": quality.precision,
            "same language": tree is not None and find_difference(mined, tree) is None,
            "same tree": tree is not None and mined == normalise(tree),
            "text read back": read_description(describe(mined)) == mined,
            "drawn": not find_drawing_faults(write_bpmn(draw_flow(mined)))}


def _count(rows: Any) -> dict[str, Any]:
    found = list(rows)
    sums = {key: sum(row[key] for row in found) for key in found[0]}
    return {"pools": len(found), **sums, "precision": round(sums["precision"] / len(found), 3)}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    names = {"plain": "plain trees, every succession seen", "any": f"any trees, {INSTANCES} instances each",
             "strings": "random strings, no process behind them"}
    rows = []
    for key, name in names.items():
        row = results[key]
        rows.append([name, row["pools"], row["instances"], row["fits"],
                     "–" if key == "strings" else row["same language"], f"{row['precision']:.2f}",
                     row["text read back"], row["drawn"]])
    table = markdown_table(["pools from", "pools", "instances", "fitness 1", "allows exactly the same",
                            "mean precision", "text read back as the same model", "drawn without a fault"], rows)
    return f"{table}\n\n{results['date']}; {results['machine']}; seeds 0 to {results['trees'] - 1}."


STUDY = SizedStudy(told, RESULTS_FOLDER / "process_rediscovery.json", DOCS / "process.md",
                   marks("rediscovery", "process.rediscovery"), "trees", TREES, study)

if __name__ == "__main__":
    STUDY.main(__doc__)
