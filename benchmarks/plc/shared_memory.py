"""Is a UNION one memory, and are variables whose addresses overlap? Random programs write to them; what each variable
has after each scan is reckoned from bytes (a list of them, and Python's `struct`), by the vendors' rules and with
nothing of ours, and held against the interpreter, the proof and generated C.

    python -m benchmarks.plc.shared_memory [--programs 300] [--first 0]
"""

from __future__ import annotations

import argparse
import random
import struct
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.plc.agreement import Evaluation, is_same
from benchmarks.plc.compiled import CompiledProgram
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.plc.proof.symbolic_values import entry_variables, values_of
from chatdev.departments.plc.proof.transition import CYCLE, build_transition
from chatdev.departments.plc.simulation.machine import Machine
from chatdev.departments.plc.simulation.trace import columns_of
from chatdev.departments.plc.st.core import Dialect, Value
from chatdev.departments.plc.st.reading import read_program

PROGRAMS, SCANS = 300, 8
_FORMATS = {"BYTE": "B", "USINT": "B", "SINT": "b", "WORD": "H", "INT": "h", "UINT": "H", "DWORD": "I", "DINT": "i",
            "REAL": "f", "TIME": "i", "LWORD": "Q", "LINT": "q"}
_SIZES = {name: struct.calcsize(f"<{letter}") for name, letter in _FORMATS.items()}
_LETTERS = {1: "B", 2: "W", 4: "D", 8: "L"}


@dataclass(frozen=True)
class Cell:
    """A scalar at a byte of a memory, or at a bit of that byte; `index` is the input that an element is chosen by."""

    name: str
    type: str
    byte: int
    bit: int | None = None


@dataclass
class Program:
    """A source, the scalars in its memory, and what is written in each scan: a cell, and the input that it is given."""

    dialect: str
    source: str
    cells: list[Cell] = field(default_factory=list)
    writes: list[tuple[list[Cell], str]] = field(default_factory=list)


class Memory:
    """Bytes, and numbers in them."""

    def __init__(self, dialect: str) -> None:
        self._bytes = bytearray(64)
        self._order = ">" if dialect == "siemens" else "<"

    def read(self, cell: Cell) -> Value:
        """What a cell has."""
        if cell.bit is not None:
            return bool(self._bytes[cell.byte] >> cell.bit & 1)
        found = struct.unpack_from(f"{self._order}{_FORMATS[cell.type]}", self._bytes, cell.byte)[0]
        return float(found) if cell.type == "REAL" else found

    def write(self, cell: Cell, value: Value) -> None:
        """Put a value there."""
        if cell.bit is None:
            struct.pack_into(f"{self._order}{_FORMATS[cell.type]}", self._bytes, cell.byte, value)
            return
        mask = 1 << cell.bit
        self._bytes[cell.byte] = self._bytes[cell.byte] & ~mask | (mask if value else 0)


def write_union(seed: int) -> Program:
    """A program with a UNION of arrays, numbers and a structure, in a variable and in an array of them."""
    dice = random.Random(seed)
    dialect = dice.choice(("codesys", "twincat"))
    size = dice.choice((2, 4, 8))
    parts, cells = [], []
    for number in range(dice.randint(2, 4)):
        type_ = dice.choice([one for one in _FORMATS if _SIZES[one] <= size])
        count = size // _SIZES[type_]
        name = f"p{number}"
        if count > 1 and dice.random() < 0.7:
            parts.append(f"{name} : ARRAY[1..{count}] OF {type_};")
            cells.append([Cell(f".{name}[{at + 1}]", type_, at * _SIZES[type_]) for at in range(count)])
        else:
            parts.append(f"{name} : {type_};")
            cells.append([Cell(f".{name}", type_, 0)])
    parts.append("s : STRUCT " + " ".join(f"{name} : BIT;" for name in "abc") + " END_STRUCT;")
    cells += [[Cell(f".s.{name}", "BOOL", 0, bit)] for bit, name in enumerate("abc")]
    found = Program(dialect, "")
    roots = {"u": 0, "many[0]": 16, "many[1]": 32}
    placed = [(root, base, group) for root, base in roots.items() for group in cells]
    found.cells = [Cell(root + one.name, one.type, base + one.byte, one.bit)
                   for root, base, group in placed for one in group]
    declared = "u : U; many : ARRAY[0..1] OF U;"
    lines = _write_lines(dice, found, [[Cell(root + one.name, one.type, base + one.byte, one.bit) for one in group]
                                       for root, base, group in placed])
    found.source = (f"TYPE U : UNION {' '.join(parts)} END_UNION END_TYPE\n"
                    + _PROGRAM.format(inputs=_inputs(found), declared=declared, body="\n".join(lines)))
    return found


_PROGRAM = """PROGRAM P
VAR_INPUT
k : INT;
{inputs}
END_VAR
VAR
{declared}
END_VAR
{body}
END_PROGRAM
"""


def write_addresses(seed: int) -> Program:
    """A program whose variables overlap, of itself, of a block with two instances, and in its statements."""
    dice = random.Random(seed)
    dialect = dice.choice(("codesys", "twincat", "siemens"))
    found = Program(dialect, "")
    area = dice.choice("MQ")
    declared, inner, groups = [], [], []
    for number in range(dice.randint(3, 6)):
        if dice.random() < 0.3:
            byte, bit = dice.randrange(8), dice.randrange(8)
            cell = Cell(f"v{number}", "BOOL", byte, bit)
            place = f"%{area}X{byte}.{bit}"
        else:
            type_ = dice.choice([one for one in _FORMATS if _SIZES[one] <= (4 if dialect == "siemens" else 8)])
            byte = dice.randrange(0, 8, _SIZES[type_])
            counted = byte // _SIZES[type_] if dialect == "codesys" else byte
            cell = Cell(f"v{number}", type_, byte)
            place = f"%{area}{_LETTERS[_SIZES[type_]]}{counted}"
        if dice.random() < 0.25 and cell.type in ("BYTE", "WORD", "DWORD", "LWORD", "BOOL"):
            groups.append([Cell(place, cell.type, cell.byte, cell.bit)])
            continue
        declared.append(f"{cell.name} AT {place} : {cell.type};")
        groups.append([cell])
    if dice.random() < 0.6:
        inner.append(f"q AT %{area}B3 : BYTE;")
    found.cells = [one for group in groups for one in group]
    lines = _write_lines(dice, found, groups)
    blocks = "".join(f"FUNCTION_BLOCK F\nVAR {' '.join(inner)} END_VAR\nVAR_INPUT g : BYTE; END_VAR\nq := g;\n"
                     "END_FUNCTION_BLOCK\n" for _ in inner)
    if inner:
        found.writes.append(([Cell("F.q", "BYTE", 3)], "given"))
        lines += ["f1(g := i_given);", "f2(g := f1.q);"]
        declared += ["f1, f2 : F;"]
    found.source = blocks + _PROGRAM.format(inputs=_inputs(found), declared="\n".join(declared), body="\n".join(lines))
    return found


def _write_lines(dice: random.Random, found: Program, groups: Sequence[list[Cell]]) -> list[str]:
    """Statements that write inputs to cells, some of them to an element that an input chooses."""
    lines = []
    for number in range(dice.randint(1, 5)):
        group = dice.choice(groups)
        chosen = group if len(group) > 1 and dice.random() < 0.5 else [dice.choice(group)]
        name = chosen[0].name
        if len(chosen) > 1:
            name = f"{name[:name.rindex('[')]}[1 + ABS(k MOD {len(chosen)})]"
        found.writes.append((chosen, str(number)))
        lines.append(f"{name} := i_{number};")
    return lines


def _inputs(found: Program) -> str:
    return "\n".join(f"i_{name} : {cells[0].type};" for cells, name in found.writes)


def draw(type_: str, dice: random.Random) -> Value:
    """A value of a type."""
    if type_ == "BOOL":
        return dice.random() < 0.5
    if type_ == "REAL":
        return struct.unpack("<f", struct.pack("<f", dice.choice((0.0, -0.0, 1.5, -3.25, dice.uniform(-1e6, 1e6)))))[0]
    bits = 8 * _SIZES[type_]
    value = dice.choice((0, 1, 0x41, 0x80, dice.getrandbits(bits), dice.getrandbits(bits)))
    return value - (1 << bits) if _FORMATS[type_].islower() and value >> bits - 1 else value


def compare(program: Program, seed: int, read_as: str = "") -> str:
    """The first difference in words; "" if there is none. Runs that come to a NaN are left out. `read_as` is another
    dialect to read it in."""
    read = read_program(program.source, dialect=Dialect(read_as or program.dialect))  # type: ignore[arg-type]  # one of its names
    if read.program is None or read.gaps:
        return f"is not read: {[str(one) for one in read.diagnostics]}"
    columns = {one.name.lower(): one for one in columns_of(read.program)}
    dice, memory, machine_ = random.Random(seed), Memory(program.dialect), Machine(read.program)
    evaluation = Evaluation(build_transition(read.program))
    rows: list[tuple[int, list[Value]]] = []
    seen: list[dict[str, Value]] = []
    for _ in range(SCANS):
        given: dict[str, Value] = {"k": dice.randint(-9, 9)}
        for cells, name in program.writes:
            given[f"i_{name}"] = draw(cells[0].type, dice)
            memory.write(cells[abs(given["k"]) % len(cells)], given[f"i_{name}"])
        begin = {**machine_.state, **given}
        end, _ = evaluation.scan({**dict.fromkeys(evaluation.paths, 0), **_flat(read.program, begin), CYCLE: 10})
        state = machine_.scan(given, 10)
        rows.append((10, [given[one.root] for one in columns.values() if one.is_input]))
        seen.append({name: one.read(state) for name, one in columns.items()})
        for cell in program.cells:
            column = columns.get(cell.name.lower())
            if column is None:  # an address that no statement has
                continue
            wanted, found = memory.read(cell), column.read(state)
            if wanted != wanted:
                return ""
            if not is_same(found, wanted):
                return f"{cell.name} is {found}, by the bytes {wanted}"
        for path, value in _flat(read.program, state).items():
            if not is_same(value, end[path]):
                return f"{path} is {value}, in the proof {end[path]}"
    return _compare_c(read.program, rows, seen, list(columns))


def _compare_c(program: Any, rows: Sequence[tuple[int, list[Value]]], seen: Sequence[Mapping[str, Value]],
               names: Sequence[str]) -> str:
    with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        compiled = CompiledProgram(program, Path(folder)).run(rows)
    for state, by_c in zip(seen, compiled, strict=True):
        for name, value in zip(names, by_c.values, strict=True):
            if not is_same(state[name], value):
                return f"{name} is {state[name]}, in C {value}"
    return ""


def _flat(program: Any, state: Mapping[str, Value]) -> dict[str, Value]:
    return {path: value for one in entry_variables(program) if one.name in state
            for path, value in values_of(program, one.type, state[one.name], one.name)}


WRITERS = {"UNION": write_union, "addresses that overlap": write_addresses}


def told(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    table = markdown_table(["what", "programs", "scans", "differences"], results["rows"])
    return f"{table}\n\n{results['date']}; {results['machine']}."


TABLE = KeptTable(told, RESULTS_FOLDER / "plc_shared_memory.json", DOCS / "plc.md",
                  marks("shared memory", "plc.shared_memory"))


def main() -> None:
    """Study, write the results, print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.programs)
    wrong = {(what, seed): found for what, write in WRITERS.items() for seed in seeds
             if (found := compare(write(seed), seed))}
    rows = [(what, len(seeds), f"{len(seeds) * SCANS:,}", sum(kind == what for kind, _ in wrong)) for what in WRITERS]
    results = {"rows": rows, "date": datetime.now(UTC).date().isoformat(), "machine": machine()}
    print(TABLE.keep(results) if (arguments.programs, arguments.first) == (PROGRAMS, 0) else told(results))
    if wrong:
        raise SystemExit("\n".join(f"{what} {seed}: {found}" for (what, seed), found in wrong.items()))


if __name__ == "__main__":
    main()
