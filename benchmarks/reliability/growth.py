"""Time every reader on texts that are made to be hard, and fail where the time grows much faster than the text.

What a reader reads and how the texts are made: tests/fuzz/readers/, tests/fuzz/growth.py.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_context
from typing import Any

from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.study import markdown_table
from chatdev.isolation.isolate import read_here
from tests.fuzz.growth import MOST, SIZES, Growth, worst_growth
from tests.fuzz.targets import TARGETS, find_readers

TRIES, MEASURED = 400, 6
QUICK_TRIES, QUICK_READERS = 12, 3


def prove(seed: int, quick: bool) -> Proof:
    """The worst growth of every reader that reads in this process; slang is bounded by its child's limits."""
    names = [name for target in TARGETS.values() if target.here for name in target.readers]
    names = names[:QUICK_READERS] if quick else names
    tries, measured = (QUICK_TRIES, 1) if quick else (TRIES, MEASURED)
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), initializer=read_here) as pool:
        found = dict(zip(names, pool.map(_worst, names, *([value] * len(names) for value in (seed, tries, measured))),
                         strict=True))
    worst = max(found, key=lambda name: found[name].exponent)
    claim = Claim(f"no reader's time grows faster than n^{MOST} from {SIZES[0] // 1000} to {SIZES[-1] // 1000} KB",
                  found[worst].exponent <= MOST,
                  f"{len(names)} readers, {tries} kinds of texts each; the worst is {worst}: n^{found[worst].exponent}")
    return Proof([claim], {"readers": {name: asdict(growth) for name, growth in found.items()}})


def _worst(name: str, seed: int, tries: int, measured: int) -> Growth:
    return worst_growth(find_readers()[name], seed, tries, measured)


def table(figures: Mapping[str, Any]) -> str:
    """What was measured of each reader."""
    rows = ([name, found["exponent"] or "–", f"{found['seconds'][-1]:.2f}"]
            for name, found in sorted(figures["readers"].items(), key=lambda item: -item[1]["exponent"]))
    return markdown_table(["reader", "exponent (–: too quick to tell)", f"seconds for {SIZES[-1] // 1000} KB"], rows)


STUDY = Study.of("growth", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
