"""A program as compiled C, scan by scan on given inputs: all that it shows, and where a run-time fault ended it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.plc.c_source import emit_c, variable_name
from chatdev.departments.plc.simulation.trace import Column, columns_of
from chatdev.departments.plc.st.core import Program, Value

_HEAD = """\
#include <setjmp.h>
#include <stdio.h>
static jmp_buf stopped;
static const char *why;
static int broken;
#define PLC_CHECK(condition, text) do { if (!(condition)) { why = text; longjmp(stopped, 1); } } while (0)
#define PLC_ASSERT(condition, text) do { if (!(condition)) broken++; } while (0)
"""
_MAIN = """
int main(void)
{
    static struct state s;
    static struct inputs in;
    init(&s);
    while (scanf("%%d", &in.cycle_time) == 1) {
        broken = 0;
        %(reads)s
        if (setjmp(stopped)) { printf("fault %%s\\n", why); init(&s); continue; }
        scan(&in, &s);
        %(prints)s
        printf("%%d\\n", broken);
    }
}
"""
_FLAGS = ("-std=c99", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover")
"""Undefined behaviour ends the program."""


@dataclass(frozen=True, slots=True)
class Scan:
    """What is seen after a scan: all scalars in the order of the columns and how many asserts were broken, or the place
    (`line:column`) of the fault that ended it."""

    values: tuple[Value, ...] = ()
    broken: int = 0
    fault: str = ""


class CompiledProgram:
    """Translated and compiled in a folder by gcc, with more of its options. Raises CalledProcessError where gcc refuses
    it."""

    def __init__(self, program: Program, folder: Path, options: Sequence[str] = ()) -> None:
        self.columns = columns_of(program)
        self._path = folder / "program"
        source = folder / "program.c"
        source.write_text(_HEAD + emit_c(program) + _main(self.columns), encoding="utf-8")
        command = ["gcc", *_FLAGS, *options, str(source), "-o", str(self._path), "-lm"]
        subprocess.run(command, check=True, capture_output=True)

    def run(self, rows: Iterable[tuple[int, Sequence[Value]]]) -> list[Scan]:
        """Scan for scan: the milliseconds since the one before, and the inputs in the order of their columns. After a
        fault it begins anew."""
        text = "\n".join(" ".join([str(cycle), *map(_write, values)]) for cycle, values in rows)
        done = subprocess.run([str(self._path)], input=text, text=True, capture_output=True, check=True, timeout=120)
        return [self._read(line) for line in done.stdout.splitlines()]

    def _read(self, line: str) -> Scan:
        if line.startswith("fault"):
            return Scan(fault=line.rpartition(" at ")[2])
        *words, broken = line.split()
        values = tuple(_value(word, column) for word, column in zip(words, self.columns, strict=True))
        return Scan(values, int(broken))


def _main(columns: Iterable[Column]) -> str:
    reads, prints = [], []
    for column in columns:
        is_real = column.type.kind == "real"
        if column.is_input:
            read, cast = ('"%lf", &number', "number") if is_real else ('"%llu", &bits', "bits")
            type_ = "double" if is_real else "unsigned long long"
            reads.append(f"{{ {type_} {cast}; if (scanf({read}) != 1) return 1; {_path('in', column)} = {cast}; }}")
        prints.append(f'printf("{"%a" if is_real else "%llx"} ", '
                      f'({"double" if is_real else "unsigned long long"}){_path("s", column)});')
    return _MAIN % {"reads": "\n        ".join(reads), "prints": "\n        ".join(prints)}


def _path(base: str, column: Column) -> str:
    steps = (f".at[{step}]" if isinstance(step, int) else f".{variable_name(step)}" for step in column.steps)
    return f"{base}.{variable_name(column.root)}{''.join(steps)}"


def _write(value: Value) -> str:
    return repr(value) if isinstance(value, float) else str(value & (1 << 64) - 1)


def _value(word: str, column: Column) -> Value:
    type_ = column.type
    if type_.kind == "real":
        return float.fromhex(word)
    low = int(word, 16) & (1 << type_.bits) - 1
    if type_.kind == "bool":
        return bool(low)
    return low - (1 << type_.bits) if type_.signed and low >> type_.bits - 1 else low
