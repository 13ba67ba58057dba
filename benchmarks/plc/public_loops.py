"""What the verifier decides of loops that engineers published: properties that random runs suggest, and duties.

Each function, block and program that has a loop and is read without a gap, with what it needs of its repository, runs
for 10,000 random scans. What these saw becomes properties: that a value stays within the least and the most that was
seen (of many values: that it is never below or above 0) and never below or above an input (`observed`: most are true,
and none is known to be), what a scan has harmed (`known wrong`), and what the type alone says (`known right`).
Division, indices, subranges and the end of loops are owed anyway. Then all is verified, and runs for 10,000 other
scans: what is PROVED and was harmed is wrong.

    python -m benchmarks.plc.public_loops [--from FOLDER] [--half read|unseen] [--only NAME] [--most N] [--minutes 60]
        [--processes 2]

The repositories are those of public_files.py; nothing of them is kept but counts. The verifier was worked on with the
half of their files in view that is called `read`; the other half (both by a hash of the file's name) was run once at
the end. Without `--only` and `--most` a half is written down.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import tempfile
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plc.public_files import FOLDER, REPOSITORIES, Repository, extract_files, find_clone
from benchmarks.plc.random_runs import LONGEST_RUN, Sightings, run_randomly, shows_again
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.project import read_project
from chatdev.departments.plc.proof.outcomes import RUN_TIME, Outcome, Property
from chatdev.departments.plc.proof.search import Budget
from chatdev.departments.plc.proof.verify import verify
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import random_inputs
from chatdev.departments.plc.simulation.values import bounds
from chatdev.departments.plc.st.core import Array, Branch, Dialect, Loop, Program, Routine, Scalar, Statement, Type
from chatdev.departments.plc.st.reading import read_program
from chatdev.errors import ConfigError

SCANS = 10_000
SECONDS = 1.0
"""What a check may take."""
_RUNNING = 10.0  # seconds of a processor for the scans of one routine
_WATCHED = 3  # scalars of a routine of which something is asked
_MANY = 200  # values, of which nobody would state the least and the most
_RELATED = 2  # inputs that each is compared with
_MOST_FILES = 40  # that a file may need
_VERDICTS = ("PROVED", "VIOLATED", "BOUNDED", "UNKNOWN")
_ASKED = ("known right", "known wrong", "observed", "loops end", "indices", "divisions", "other duties")
_DUTIES = {"loop": "loops end", "index": "indices", "division": "divisions"}
_UNIT = re.compile(r"\b(?:FUNCTION_BLOCK|FUNCTION|PROGRAM|TYPE)\s+(?:PUBLIC |INTERNAL )?([A-Z_]\w*)", re.I)
_GLOBALS = re.compile(r"\bVAR_GLOBAL\b(.*?)\bEND_VAR\b", re.I | re.S)
_GLOBAL = re.compile(r"([A-Z_]\w*)\s*(?:AT\s*[^:;]*)?:(?!=)", re.I)
_LOOP = re.compile(r"\b(FOR|WHILE|REPEAT)\b", re.I)
_COMMENT = re.compile(r"\(\*.*?\*\)|//[^\n]*", re.S)
_GIVEN = {  # global variables of OSCAT's libraries, which its repositories have in a binary only
    "string_length": "STRING_LENGTH : INT := 250;", "list_length": "LIST_LENGTH : INT := 250;",
    "setup": "setup : CONSTANTS_SETUP;", "language": "language : CONSTANTS_LANGUAGE;",
    "location": "location : CONSTANTS_LOCATION;", "math": "math : CONSTANTS_MATH;", "phys": "phys : CONSTANTS_PHYS;"}
_HARNESS = "check_of_function"


# what is read --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LoopSubject:
    """A routine with loops: where it is from, a source with all that it needs, and the unit that is run."""

    repository: str
    file: str
    half: str
    source: str
    entry: str
    dialect: Dialect
    loops: tuple[str, ...]
    """The kinds of its loops, each once."""


def subjects_of(one: Repository, source: Path, half: str) -> Iterator[LoopSubject]:
    """The routines with loops of a half of a repository's files."""
    with tempfile.TemporaryDirectory() as folder:
        files = [file for file in extract_files(find_clone(one, source), one.commit, one, Path(folder))
                 if file.suffix.lower() != ".plcproj"]
        library = _Library(files)
        for file in files:
            name = str(file.relative_to(folder))
            if half_of(name) == half and file in library.has_loops:
                for found in _routines_in(file, library, one.dialect):
                    yield replace(found, repository=one.name, file=name, half=half)


def half_of(name: str) -> str:
    """The half that a file belongs to."""
    return "unseen" if _digest(name)[0] & 1 else "read"


def _digest(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


class _Library:
    """The files of a repository by the units, types and global variables that they define."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.has_loops: set[Path] = set()
        self._places: dict[str, Path] = {}
        for file in files:
            with suppress(ConfigError):
                text = _COMMENT.sub("", read_project([file]).text)
                self.has_loops |= {file} if _LOOP.search(text) else set()
                for name in names_in(text):
                    self._places.setdefault(name, file)

    def places_of(self, names: Iterable[str], known: Container[Path]) -> list[Path]:
        """The files that define names, without those that are known."""
        return sorted({place for name in names if (place := self._places.get(name)) and place not in known})


def names_in(text: str) -> set[str]:
    """The units, types and global variables of a text, in lower case."""
    within = "".join(_GLOBALS.findall(text))
    return {name.lower() for name in (*_UNIT.findall(text), *_GLOBAL.findall(within))}


def _routines_in(file: Path, library: _Library, dialect: str) -> Iterator[LoopSubject]:
    """The routines with loops of a file that is read whole, with those files that have what it lacks."""
    own, files, given = names_in(_COMMENT.sub("", read_project([file]).text)), [file], set[str]()
    while True:
        project = read_project(files)
        text = "\n".join((project.text, "VAR_GLOBAL", *(_GIVEN[name] for name in sorted(given)), "END_VAR"))
        meaning = Dialect(dialect, allows_missing=True, stubs=tuple(project.graphical))  # type: ignore[arg-type]
        reading = read_program(f"{text}\nFUNCTION_BLOCK {_HARNESS}\nEND_FUNCTION_BLOCK\n", _HARNESS, meaning)
        missing = {name.lower() for one in reading.diagnostics for name in re.findall(r"'(\w+)'", one.message)}
        found, lacking = library.places_of(missing, files), missing & _GIVEN.keys() - given
        if not (found or lacking) or len(files) > _MOST_FILES:
            break
        files, given = files + found, given | lacking
    if reading.program is None or reading.gaps:
        return
    known = {one.name for one in reading.program.globals}
    for routine in reading.program.routines.values():
        kinds = tuple(sorted(set(_kinds_of(routine.body))))
        entry = _as_entry(text, routine, known) if kinds and routine.name in own else None
        if entry is not None:
            yield LoopSubject("", "", "", *entry, meaning, kinds)


def _kinds_of(body: Sequence[Statement], within: str = "") -> Iterator[str]:
    for one in body:
        if isinstance(one, Branch):
            yield from _kinds_of(one.then + one.otherwise, within)
        elif isinstance(one, Loop):
            yield ("FOR" if one.after else "WHILE" if one.tests_first else "REPEAT")
            if within:
                yield "nested"
            yield from _kinds_of(one.body, "loop")


def _as_entry(text: str, routine: Routine, globals_: Container[str]) -> tuple[str, str] | None:
    """The source and the unit to run: a function is called by a block that has its inputs."""
    result = [one for one in routine.variables if one.section == "result" or one.name == routine.name]
    if routine.kind != "function" and not result:
        return text, routine.written or routine.name
    inputs = routine.of_section("input")
    if not result or any(one.name not in globals_ for one in routine.of_section("in_out")):
        return None
    types = [_type_text(one.type) for one in (*inputs, *result)]
    if None in types:
        return None
    declared = " ".join(f"i{number}_ : {type_};" for number, type_ in enumerate(types[:-1]))
    given = ", ".join(f"{one.written or one.name} := i{number}_" for number, one in enumerate(inputs))
    return (f"{text}\nFUNCTION_BLOCK {_HARNESS}\nVAR_INPUT {declared} END_VAR\nVAR_OUTPUT out_ : {types[-1]}; END_VAR\n"
            f"out_ := {routine.written or routine.name}({given});\nEND_FUNCTION_BLOCK\n"), _HARNESS


def _type_text(type_: Type) -> str | None:
    if isinstance(type_, Array):
        inner = _type_text(type_.element)
        return inner and f"ARRAY[{type_.low}..{type_.high}] OF {inner}"
    if isinstance(type_, Scalar) and type_.kind == "string":
        return f"{type_.name.partition('[')[0]}[{type_.high}]"
    return type_.name or None


# what is asked -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Seen:
    """What 10,000 scans saw: the values of scalars, and how each of them stood to inputs (-1, 0, 1)."""

    values: dict[str, set[Any]] = field(default_factory=dict)
    relations: dict[tuple[str, str], set[int]] = field(default_factory=dict)
    scans: int = 0


def _watch(program: Program, watched: Mapping[str, Scalar], related: Mapping[str, Sequence[str]]) -> _Seen:
    """The scans that suggest properties."""
    seen = _Seen({name: set() for name in watched},
                 {(name, other): set() for name, others in related.items() for other in others})
    machine_, seed, budget = Machine(program), 1000, Budget(_RUNNING)
    while seen.scans < SCANS and budget.left:
        machine_.reset()
        for _, inputs in zip(range(LONGEST_RUN), random_inputs(program, seed), strict=False):
            seen.scans += 1
            try:
                state = machine_.scan(inputs, 100)
            except RunTimeFault:
                break
            for name, values in seen.values.items():
                values.add(state[name])
            for (name, other), signs in seen.relations.items():
                signs.add((state[name] > state[other]) - (state[name] < state[other]))
            if not budget.left or seen.scans >= SCANS:
                break
        seed += 1
    return seen


def suggest(program: Program) -> tuple[list[Property], int]:
    """What is asked of a program, each with how it is known in its description, and how many scans suggested it."""
    scalars = [(one.name, one.type, one.section) for one in program.entry.variables
               if isinstance(one.type, Scalar) and one.type.kind in ("bool", "int", "bits", "real", "time")]
    outputs = [(name, type_) for name, type_, section in scalars if section in ("output", "in_out", "result")]
    locals_ = [(name, type_) for name, type_, section in scalars if section == "local"]
    watched = dict((outputs or locals_)[:_WATCHED])
    inputs = [(name, type_) for name, type_, section in scalars if section == "input"]
    related = {name: [other for other, its in inputs if its == type_][:_RELATED]
               for name, type_ in watched.items() if type_.kind in ("int", "real", "time")}
    seen = _watch(program, watched, related)
    asked = list[Property]()
    for name, type_ in watched.items():
        asked += _range_facts(name, type_, seen.values[name])
        for other in related.get(name, ()):
            asked += _relations(name, other, seen.relations[name, other])
    return asked, seen.scans


def _range_facts(name: str, type_: Scalar, values: set[Any]) -> Iterator[Property]:
    if not values or any(value != value for value in values):
        return
    if type_.kind == "bool":
        for value in (True, False):
            yield _invariant(f"{name} = {str(value).upper()}", "observed" if values == {value} else "known wrong")
        return
    low, high = min(values), max(values)
    if type_.kind == "int":
        least, most = bounds(type_)
        yield _invariant(f"{name} >= {_number(least, type_)} AND {name} <= {_number(most, type_)}", "known right")
    if len(values) > _MANY:
        zero = _number(type(low)(0), type_)
        yield _invariant(f"{name} >= {zero}", "known wrong" if low < 0 else "observed")
        yield _invariant(f"{name} <= {zero}", "known wrong" if high > 0 else "observed")
        return
    if low == high:
        yield _invariant(f"{name} = {_number(low, type_)}", "observed")
        yield _invariant(f"{name} <> {_number(low, type_)}", "known wrong")
        return
    if abs(low) != float("inf") and abs(high) != float("inf"):
        for operator, bound in ((">", low), ("<", high)):
            yield _invariant(f"{name} {operator}= {_number(bound, type_)}", "observed")
            yield _invariant(f"{name} {operator} {_number(bound, type_)}", "known wrong")


def _relations(name: str, other: str, signs: set[int]) -> Iterator[Property]:
    for operator, against in ((">=", -1), ("<=", 1)):
        yield _invariant(f"{name} {operator} {other}", "known wrong" if against in signs else "observed")


def _number(value: Any, type_: Scalar) -> str:
    if type_.kind == "time":
        return f"{type_.name}#{value}{'ms' if type_.name == 'TIME' else 'ns'}"
    return repr(value) if type_.kind == "real" else f"{type_.name}#{value}" if value >= 0 else str(value)


def _invariant(condition: str, known: str) -> Property:
    return Property("pattern-invariant", (condition,), known)


# what came of it -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class LoopOutcome:
    """What came of one routine: verdicts by what was asked, why others are UNKNOWN, seconds of each, what is wrong."""

    subject: LoopSubject
    verdicts: dict[str, Counter[str]] = field(default_factory=lambda: {kind: Counter() for kind in _ASKED})
    reasons: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


_end = float("inf")


def _stop_at(end: float) -> None:
    global _end
    _end = end


def study_subject(subject: LoopSubject) -> LoopOutcome | None:
    """One routine; None when the time for the study is over."""
    if time.time() > _end:
        return None
    found = LoopOutcome(replace(subject, source=""))
    program = read_program(subject.source, subject.entry, subject.dialect).program
    assert program is not None
    asked, _ = suggest(program)
    outcomes = verify(subject.source, subject.entry, asked, dialect=subject.dialect, seconds=SECONDS, most_k=10)
    seen = run_randomly(program, asked, scans=SCANS, seconds=_RUNNING)
    for number, one in enumerate(outcomes):
        kind = one.asked.description or _DUTIES.get(one.asked.parameters[0], "other duties")
        found.verdicts[kind][one.verdict] += 1
        found.seconds.append(one.seconds)
        if one.verdict in ("UNKNOWN", "BOUNDED"):
            found.reasons[re.sub(r"[\d.,]+", "N", one.reason)[:70]] += 1
        found.wrong += _contradictions(program, one, number, seen)
    return found


def _contradictions(program: Program, one: Outcome, number: int, seen: Sightings) -> Iterator[str]:
    is_duty = one.asked.pattern == RUN_TIME
    told_ = f"{one.asked.parameters} ({one.asked.description or 'owed'}) is {one.verdict}"
    if one.verdict == "PROVED" and (one.asked.description == "known wrong" or number in seen.harmed
                                    or (is_duty and one.asked.parameters[:2] in seen.faults)):
        yield f"{told_}, but a random run harms it"
    if one.verdict == "VIOLATED" and one.asked.description == "known right":
        yield f"{told_}, but its type has no other value"
    if one.cycles and not program.entry.of_section("in_out") and not shows_again(program, one):
        yield f"{told_}: its run is not seen again"


# the table -----------------------------------------------------------------------------------------------------------


def measure(half: str, subjects: Sequence[LoopSubject], processes: int, minutes: float) -> dict[str, Any]:
    """The counts of a half."""
    rows = list[LoopOutcome]()
    with ProcessPoolExecutor(processes, initializer=_stop_at, initargs=(time.time() + 60 * minutes,)) as pool:
        for row in pool.map(study_subject, sorted(subjects, key=lambda one: _digest(one.file + one.entry))):
            if row is None:
                continue
            rows.append(row)
            told_ = {kind: dict(found) for kind, found in row.verdicts.items() if found}
            print(f"[{len(rows)}/{len(subjects)}] {row.subject.file} {row.subject.entry} {'+'.join(row.subject.loops)} "
                  f"{max(row.seconds, default=0):.1f}s {told_} {dict(row.reasons)} {row.wrong or ''}", flush=True)
    seconds = sorted(one for row in rows for one in row.seconds)
    return {"half": half, "date": datetime.now(UTC).date().isoformat(), "machine": machine(),
            "repositories": {one.name: one.commit for one in REPOSITORIES
                             if any(row.subject.repository == one.name for row in rows)},
            "routines": len(rows), "of": len(subjects), "by": dict(Counter(row.subject.repository for row in rows)),
            "loops": dict(Counter(kind for row in rows for kind in row.subject.loops)),
            "verdicts": {kind: dict(sum((row.verdicts[kind] for row in rows), Counter[str]())) for kind in _ASKED},
            "reasons": dict(sum((row.reasons for row in rows), Counter[str]()).most_common(12)),
            "median": seconds[len(seconds) // 2] if seconds else 0.0, "slowest": seconds[-1] if seconds else 0.0,
            "wrong": [f"{row.subject.repository} {row.subject.file}: {text}" for row in rows for text in row.wrong]}


def told(results: Mapping[str, Any]) -> str:
    """The tables for the page."""
    halves = results.get("halves", {})
    rows = [(half, kind, *(found.get(one, 0) for one in _VERDICTS), f"{_decided(found):.0%}")
            for half, one_half in halves.items() for kind, found in one_half["verdicts"].items() if found]
    return "\n\n".join((markdown_table(["half", "asked", *_VERDICTS, "decided"], rows),
                        *(_about(half, found) for half, found in halves.items())))


def _decided(found: Mapping[str, int]) -> float:
    return (found.get("PROVED", 0) + found.get("VIOLATED", 0)) / max(1, sum(found.values()))


def _about(half: str, found: Mapping[str, Any]) -> str:
    by = ", ".join(f"{name} {found['repositories'][name][:8]}: {count}" for name, count in found["by"].items())
    kinds = ", ".join(f"{kind} {count}" for kind, count in found["loops"].items())
    return (f"Half {half}: {found['routines']} of {found['of']} routines with loops ({by}); {kinds}. A check takes "
            f"{found['median']:.2f} s (median; most: {found['slowest']:.1f}). Verdicts that are wrong: "
            f"{len(found['wrong'])}. {found['date']}; {found['machine']}.")


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_public_loops.json", DOCS / "plc.md",
                  marks("public loops", "plc.public_loops"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, default=FOLDER, help="folder of clones")
    parser.add_argument("--half", choices=("read", "unseen"), help="only this one")
    parser.add_argument("--only", help="only the repository of this name")
    parser.add_argument("--file", default="", help="only files whose name has this in it")
    parser.add_argument("--most", type=int, help="so many routines")
    parser.add_argument("--minutes", type=float, default=60.0, help="of a half; then no further routine is begun")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    found = dict[str, Any]()
    for half in (options.half,) if options.half else ("read", "unseen"):
        subjects = [subject for one in REPOSITORIES if options.only in (None, one.name)
                    for subject in subjects_of(one, options.source, half) if options.file in subject.file]
        found[half] = measure(half, subjects[:options.most], options.processes, options.minutes)
    is_whole = options.most is None and options.only is None and not options.file
    kept = TABLE.read().get("halves", {}) | found
    print(TABLE.keep({"halves": dict(sorted(kept.items()))}) if is_whole else told({"halves": found}))
    if wrong := [text for one in found.values() for text in one["wrong"]]:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
