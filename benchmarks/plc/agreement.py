"""Do interpreter, proof and generated C mean the same? Random programs are run in all three, scan by scan.

Each program (random_programs.py) is read once, and run on random inputs: in the interpreter, as C compiled by gcc, and
as the transition relation of the proof, into which the state and the inputs before each scan are put. After every scan
all scalars have to be the same to the last bit, so have the broken asserts, and a run-time fault has to be at the same
place. After a fault all begin anew.

    python -m benchmarks.plc.agreement [--programs 400] [--scans 260] [--first 0] [--processes 2]

With another number of programs or scans, nothing is written down.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import z3

from benchmarks.plc.compiled import CompiledProgram, Scan
from benchmarks.plc.random_programs import write_program
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.proof.symbolic_scan import TooLong
from chatdev.departments.plc.proof.symbolic_values import entry_variables, values_of
from chatdev.departments.plc.proof.terms import BOOL, is_known, lift, read_value, symbol
from chatdev.departments.plc.proof.transition import CYCLE, Transition, build_transition
from chatdev.departments.plc.simulation.machine import Machine, RunTimeFault
from chatdev.departments.plc.simulation.trace import Column, columns_of
from chatdev.departments.plc.simulation.values import bounds
from chatdev.departments.plc.st.core import IEC, Dialect, Program, Scalar, Value, initial_value
from chatdev.departments.plc.st.reading import read_program

PROGRAMS, SCANS = 400, 260
_OTHERS = 1_000_000  # from a seed to that of the program that is drawn instead
_CYCLES = (1, 10, 50, 100, 300, 1000)
_NUMBERS = (0, 0, 1, 1, 2, -1, 3, 5, 7, 100, 127, 128, 255, 256, 32767, -32768, 65535, (1 << 31) - 1, -(1 << 31),
            (1 << 32) - 1, (1 << 63) - 1, -(1 << 63), (1 << 64) - 1)
_FLOATS = (0.0, -0.0, 0.5, 1.5, -2.25, 2.5, 1024.0, -7.0, 3.0e9, 1.0e30, 3.0e38, 1.0e-42)
_FEATURES = ("FUNCTION", "TON", "TOF", "TP", "CTU", "CTD", "CTUD", "R_TRIG", "F_TRIG", "SR", "RS", "CASE", "FOR",
             "WHILE", "REPEAT", "EXIT", "CONTINUE", "RETURN", "ASSERT", "REAL", "LREAL", "TIME", "LINT",
             "ULINT", "LWORD", "TIME()", ".%B", ".%W", "RETAIN")


@dataclass
class Comparison:
    """What came of one program: scans that were compared, the faults among them by kind, what the source has, and the
    first difference in words."""

    seed: int
    scans: int = 0
    asserts: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    features: list[str] = field(default_factory=list)
    difference: str = ""


def _has(word: str, source: str) -> bool:
    return re.search(rf"\b{re.escape(word)}" + (r"\b" if word.isidentifier() else ""), source) is not None


def compare(seed: int, scans: int) -> Comparison:
    """Run one program in all three ways, up to the first difference; another one instead of it where the turns of its
    loops are too many to be looked at one by one."""
    for drawn in range(seed, seed + 10 * _OTHERS, _OTHERS):
        with suppress(TooLong):
            return compare_source(write_program(drawn), drawn, scans)
    raise AssertionError(f"the loops of ten programs in a row are too long, from {seed}")


def compare_source(source: str, seed: int, scans: int, dialect: Dialect = IEC) -> Comparison:
    """The same with a source, on inputs that are drawn by the seed."""
    program = read_program(source, dialect=dialect).program
    assert program is not None
    found = Comparison(seed, features=[word for word in _FEATURES if _has(word, source)])
    columns, dice = columns_of(program), random.Random(seed)
    rows = [(dice.choice(_CYCLES), [draw(one.type, dice) for one in columns if one.is_input]) for _ in range(scans)]
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        compiled = CompiledProgram(program, Path(folder)).run(rows)
    machine_ = Machine(program)
    transition = build_transition(program)
    evaluation = Evaluation(transition)
    found.difference = _compare_start(_flat(program, machine_.state), transition)
    for number, (row, by_c) in enumerate(zip(rows, compiled, strict=True), 1):
        if found.difference:
            break
        found.difference = _compare_scan(machine_, evaluation, columns, row, by_c, found)
        if found.difference:
            found.difference = f"scan {number}: {found.difference}"
        found.scans += not found.difference
    return found


def draw(type_: Scalar, dice: random.Random) -> Value:
    """A value of a type, often one at which something happens."""
    if type_.kind == "bool":
        return dice.random() < 0.5
    if type_.kind == "real":
        value = dice.choice((*_FLOATS, float(dice.randint(-1000, 1000))))
        return struct.unpack("<f", struct.pack("<f", value))[0] if type_.bits == 32 else value
    if type_.kind == "enum":
        return dice.choice([number for number, name in enumerate(type_.names, type_.low or 0) if name])
    low, high = bounds(type_)
    value = dice.choice((*_NUMBERS, dice.randint(-40, 40), dice.randint(-40, 40), dice.randint(low, high)))
    return low + (value - low) % (high - low + 1)


class Evaluation:
    """The transition relation with numbers put in."""

    def __init__(self, transition: Transition) -> None:
        self._transition = transition
        self._symbols = [(path, scalar, symbol(path, scalar))
                         for path, scalar in (*transition.states.items(), *transition.inputs.items())]
        open_ = {path: term for path, term in transition.end.items()
                 if not is_known(term) and not path.startswith("!")}
        self._open = list(open_)
        self._owed = [one for one in transition.obligations if not is_known(one.violated)]
        parts = [*open_.values(), *(one.violated for one in self._owed)]
        self._all = z3.Function("all", *(part.sort() for part in parts), z3.BoolSort())(*parts) if parts else None
        self._lifted: dict[tuple[str, Value], Any] = {}

    @property
    def paths(self) -> list[str]:
        """The scalars that a scan begins with."""
        return [path for path, _, _ in self._symbols if path != CYCLE]

    def scan(self, begin: dict[str, Value]) -> tuple[dict[str, Value], set[tuple[str, str]]]:
        """All scalars after a scan that begins with these, and kind and place of what goes wrong in it."""
        end = {path: term for path, term in self._transition.end.items() if is_known(term)}
        wrong = {(one.kind, str(one.span)) for one in self._transition.obligations if one.violated is True}
        if self._all is not None:
            bound = [(one, self._lift(begin.get(path, initial_value(scalar)), scalar))
                     for path, scalar, one in self._symbols]
            values = z3.simplify(z3.substitute(self._all, *bound)).children()
            for path, value in zip(self._open, values, strict=False):
                end[path] = read_value(value, self._transition.types[path])
            for one, value in zip(self._owed, values[len(self._open):], strict=True):
                if read_value(value, BOOL):
                    wrong.add((one.kind, str(one.span)))
        return end, wrong

    def _lift(self, value: Value, scalar: Scalar) -> Any:
        key = scalar.name, repr(value)
        if key not in self._lifted:
            self._lifted[key] = lift(value, scalar)
        return self._lifted[key]


def _compare_start(values: dict[str, Value], transition: Transition) -> str:
    """What begins otherwise in the proof."""
    start = {path: term for path, term in transition.begin.items() if is_known(term)} | dict(transition.start)
    return "; ".join(f"{path} begins as {value}, in the proof as {start[path]}" for path, value in values.items()
                     if path in start and not is_same(value, start[path]))


def _compare_scan(machine_: Machine, evaluation: Evaluation, columns: Sequence[Column], row: tuple[int, list[Value]],
                  by_c: Scan, found: Comparison) -> str:
    """What differs in one scan."""
    (cycle, values), program = row, machine_.program
    begin = machine_.state
    for column, value in zip([one for one in columns if one.is_input], values, strict=True):
        column.write(begin, value)
    end, wrong = evaluation.scan({**_flat(program, begin), CYCLE: cycle})
    stops = {(kind, place) for kind, place in wrong if kind != "assertion"}
    try:
        state = machine_.scan({one.root: begin[one.root] for one in columns if one.is_input}, cycle)
    except RunTimeFault as fault:
        machine_.reset()
        found.faults[fault.kind] += 1
        return _compare_faults(fault, stops, by_c)
    if stops or by_c.fault:
        return f"no fault in the interpreter; {sorted(stops)} in the proof, {by_c.fault!r} in C"
    broken = {("assertion", str(one.span)) for one in machine_.broken}
    found.asserts += len(broken)
    if broken != wrong or len(machine_.broken) != by_c.broken:
        return f"asserts broken: {sorted(broken)}; {sorted(wrong)} in the proof, {by_c.broken} in C"
    by_proof = [f"{path} is {value}, in the proof {end[path]}" for path, value in _flat(program, state).items()
                if not is_same(value, end[path])]
    return "; ".join([*by_proof, *(f"{column.name} is {column.read(state)}, in C {value}"
                                   for column, value in zip(columns, by_c.values, strict=True)
                                   if not is_same(column.read(state), value))])


def _compare_faults(fault: RunTimeFault, stops: set[tuple[str, str]], by_c: Scan) -> str:
    place = str(fault.span)
    if (fault.kind, place) in stops and by_c.fault == place:
        return ""
    return f"{fault.kind} at {place}; {sorted(stops)} in the proof, {by_c.fault!r} in C"


def _flat(program: Program, state: Mapping[str, Value]) -> dict[str, Value]:
    """All scalars of the entry by their paths."""
    return {path: value for one in entry_variables(program) if one.name in state
            for path, value in values_of(program, one.type, state[one.name], one.name)}


def is_same(one: Value, other: Value) -> bool:
    """Whether two values are the same to the last bit; every NaN is the same."""
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("<d", one) == struct.pack("<d", other) or (math.isnan(one) and math.isnan(other))
    return type(one) is type(other) and one == other


def study(seeds: Sequence[int], scans: int, processes: int) -> dict[str, Any]:
    """All comparisons, summed up."""
    found = list[Comparison]()
    for one in _compare_all(seeds, scans, processes):
        found.append(one)
        print(f"[{len(found)}/{len(seeds)}] {one.seed}: {one.scans} scans {one.difference}", flush=True)
    faults, features = Counter[str](), Counter[str]()
    for one in found:
        faults.update(one.faults)
        features.update(one.features)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "programs": len(found),
            "scans": sum(one.scans for one in found), "faults": dict(sorted(faults.items())),
            "asserts": sum(one.asserts for one in found), "features": {word: features[word] for word in _FEATURES},
            "differences": [f"{one.seed}: {one.difference}" for one in found if one.difference]}


def _compare_all(seeds: Sequence[int], scans: int, processes: int) -> Iterator[Comparison]:
    if processes == 1:
        yield from (compare(seed, scans) for seed in seeds)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(compare, seeds, [scans] * len(seeds))


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    faults = ", ".join(f"{count} {kind}" for kind, count in results["faults"].items())
    table = markdown_table(["programs", "scans", "scans that a fault ended", "asserts broken", "differences"], [
        (results["programs"], f"{results['scans']:,}", faults, results["asserts"], len(results["differences"]))])
    features = ", ".join(f"{word} {count}" for word, count in results["features"].items())
    return (f"{table}\n\nPrograms that have a word: {features}. {results['date']}; {results['machine']}.")


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_agreement.json", DOCS / "plc.md", marks("agreement", "plc.agreement"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--scans", type=int, default=SCANS, help=f"of each (default: {SCANS})")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.programs)
    results = study(seeds, arguments.scans, arguments.processes)
    is_full = (arguments.programs, arguments.scans, arguments.first) == (PROGRAMS, SCANS, 0)
    print(TABLE.keep(results) if is_full else told(results))
    if results["differences"]:
        raise SystemExit("\n".join(results["differences"]))


if __name__ == "__main__":
    main()
