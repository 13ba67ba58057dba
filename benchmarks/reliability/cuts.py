"""Cut journals off: every byte of the last two lines for the reader, and runs that go on from such cuts.

Three journals are read: of a finished run, of one that was killed when an activity had just been journaled, and of one
that was killed while a call was in flight. Wherever one is cut, the reader must give the records of the whole lines,
and what is written next must follow them. Copies of the finished and of a killed run then lose the end of their
journals, in the last two lines or anywhere behind the order, and are gone on with: as a machine that crashes may lose
what was written last. Their folders are ahead of their journals then, so what was done is done again, and committed
again on top.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.reliability.lab import Death, Lab
from benchmarks.reliability.left import JOURNAL, Left, places
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.reliability.trial import REFUSED, Baseline
from benchmarks.study import markdown_table
from chatdev.errors import JournalError
from chatdev.journal import Journal, read_journal

RESUMES = 20
AT_ONCE = 2
_QUICK = 397  # bytes between two cuts of a quick reading
_WRITTEN_NEXT = {"text": "what is written next"}


@dataclass(frozen=True, slots=True)
class Source:
    """A run whose journal is cut; `journal` is all whole lines of it."""

    name: str
    folder: Path
    journal: bytes

    @classmethod
    def of(cls, name: str, folder: Path) -> Source:
        """The run in the folder."""
        data = (folder / JOURNAL).read_bytes()
        return cls(name, folder, data[:data.rfind(b"\n") + 1])

    @property
    def last_two(self) -> range:
        """The lengths that cut the journal in its last two lines, or leave it whole."""
        data = self.journal
        third_last = data.rfind(b"\n", 0, data.rfind(b"\n", 0, len(data) - 1))
        return range(third_last + 1, len(data) + 1)


@dataclass(frozen=True, slots=True)
class Cut:
    """A run that is to go on from the first `length` bytes of a journal."""

    source: Source
    length: int
    where: str

    @property
    def loses_the_order(self) -> bool:
        """Whether the first line is not whole any more."""
        return b"\n" not in self.source.journal[:self.length]


class Reading(NamedTuple):
    """How often a cut journal was read, and what was wrong."""

    cuts: int
    faults: list[str]


def readings(source: Source, scratch: Path, step: int) -> Reading:
    """Read the journal cut at every `step`-th byte of its last two lines."""
    data, faults = source.journal, []
    lines = [json.loads(line.decode("utf-8", "surrogatepass")) for line in data.splitlines()]
    path, lengths = scratch / f"{source.name}.jsonl", source.last_two[::step]
    for length in lengths:
        path.write_bytes(data[:length])
        whole = lines[:data.count(b"\n", 0, length)]
        try:
            read = list(read_journal(path))
            written = _written_on(path)
        except JournalError as error:
            faults.append(f"{source.name} cut to {length} bytes: {error}")
            continue
        if read != whole:
            faults.append(f"{source.name} cut to {length} bytes: {len(read)} records, not {len(whole)}")
        if written[:-1] != whole or written[-1]["text"] != _WRITTEN_NEXT["text"]:
            faults.append(f"{source.name} cut to {length} bytes: what is written next does not follow")
    return Reading(len(lengths), faults)


def _written_on(path: Path) -> list[dict[str, Any]]:
    journal = Journal(path)
    journal.append("Noted", "", _WRITTEN_NEXT)
    journal.close()
    return list(read_journal(path))


def chosen(finished: Source, killed: Source, rng: random.Random, number: int) -> list[Cut]:
    """So many cuts, half of them in last lines and half anywhere behind the order, and one in the order."""
    data = finished.journal
    quarter, order = -(-number // 4), data.index(b"\n") + 1
    ends = [Cut(source, rng.choice(source.last_two), f"in the last two lines of the {source.name} run")
            for source in (finished, killed) for _ in range(quarter)]
    middle = [Cut(finished, rng.randrange(order, len(data)), "anywhere behind its first line")
              for _ in range(number - len(ends))]
    return [*ends, *middle, Cut(finished, rng.randrange(order), "in its first line")]


def gone_on(lab: Lab, baseline: Baseline, cut: Cut) -> list[str]:
    """Go on from a cut, or be refused where the order is lost; what was wrong with it."""
    folder = lab.warehouse() / cut.source.folder.name
    shutil.copytree(cut.source.folder, folder, symlinks=True)
    (folder / JOURNAL).write_bytes(cut.source.journal[:cut.length])
    before = frozenset(places(folder))
    session = lab.resume(folder)
    if cut.loses_the_order:
        fine = session.status > 0 and REFUSED in session.err and not session.asked
        return [] if fine else [f"not refused: {session.asked}, {session.err[-500:]}"]
    if session.status != 0:
        return [f"exit status {session.status}: {session.err[-500:]}"]
    faults = []
    if sorted(session.asked) != sorted(baseline.asked - before):
        faults.append(f"{len(session.asked)} calls were paid for, where {len(baseline.asked - before)} were missing")
    try:
        left = Left.of(folder)
    except ValueError as twice:
        return [*faults, str(twice)]
    if not _committed_again(left.history, baseline.left.history):
        faults.append(f"the git history is another one: {left.history}")
    return faults + baseline.left.differences(left, but=("history",))


def _committed_again(history: Sequence[str], expected: Sequence[str]) -> bool:
    """Whether a history is the expected one up to some commit, and from it or one before it on to the end."""
    same = next((n for n, (a, b) in enumerate(zip(history, expected, strict=False)) if a != b), len(expected))
    again = len(history) - same
    return len(history) >= len(expected) and history[same:] == expected[len(expected) - again:]


def prove(seed: int, quick: bool) -> Proof:
    """Cut, read and go on."""
    rng = random.Random(seed)
    with Lab.opened() as lab, ThreadPoolExecutor(AT_ONCE) as pool:
        baseline = Baseline.made(lab)
        finished = Source.of("finished", baseline.folder)
        killed = _killed(lab, "killed", Death(activities=len(baseline.left.activities) // 2))
        in_a_call = _killed(lab, "killed in a call", Death(request=rng.choice(sorted(baseline.asked))))
        sources = (finished, killed, in_a_call)
        read = [readings(source, lab.warehouse(), _QUICK if quick else 1) for source in sources]
        cuts = chosen(finished, killed, rng, 2 if quick else RESUMES)
        faults = list(pool.map(partial(gone_on, lab, baseline), cuts))
    return Proof(_claims(read, cuts, faults), _figures(sources, read, cuts, faults))


def _killed(lab: Lab, name: str, death: Death) -> Source:
    lab.run(warehouse := lab.warehouse(), death)
    (folder,) = warehouse.iterdir()
    return Source.of(name, folder)


def _claims(read: list[Reading], cuts: list[Cut], faults: list[list[str]]) -> list[Claim]:
    wrong = [fault for reading in read for fault in reading.faults]
    differ = [f"{cut.source.name} cut to {cut.length} bytes: {fault}"
              for cut, found in zip(cuts, faults, strict=True) for fault in found]
    return [
        Claim("a journal cut at any byte of its last two lines gives the records of its whole lines, and what is "
              "written next follows them", not wrong,
              "; ".join(wrong[:3]) or f"{sum(reading.cuts for reading in read)} cuts"),
        Claim("a run that goes on from a cut journal ends with the same software, activities and events, and pays for "
              "what the journal has lost and nothing else; one that has lost its order says so", not differ,
              "; ".join(differ[:3]) or f"{len(cuts)} runs"),
    ]


def _figures(sources: Sequence[Source], read: list[Reading], cuts: list[Cut],
             faults: list[list[str]]) -> dict[str, Any]:
    tries = [(cut.where, bool(found)) for cut, found in zip(cuts, faults, strict=True)]
    return {
        "readings": [{"journal": source.name, "bytes": len(source.journal), "cuts": reading.cuts,
                      "wrong": len(reading.faults)} for source, reading in zip(sources, read, strict=True)],
        "resumes": [{"cut": where, "runs": sum(w == where for w, _ in tries),
                     "differ": sum(w == where and wrong for w, wrong in tries)}
                    for where in dict.fromkeys(where for where, _ in tries)],
    }


def table(figures: Mapping[str, Any]) -> str:
    """The counts as two tables."""
    read = markdown_table(["journal of a run", "bytes", "cuts read", "read wrongly"],
                          (reading.values() for reading in figures["readings"]))
    resumed = markdown_table(["resumed with a journal cut", "runs", "runs that differ"],
                             (tries.values() for tries in figures["resumes"]))
    return f"{read}\n\n{resumed}"


STUDY = Study.of("cuts", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
