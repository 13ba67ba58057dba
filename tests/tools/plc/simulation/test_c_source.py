"""The C code means what the machine does: scan by scan on random inputs, faults included, compiled by gcc."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from chatdev.tools.plc.simulation.c_data import Untranslatable, variable_name
from chatdev.tools.plc.simulation.c_functions import FUNCTION_TEXTS
from chatdev.tools.plc.simulation.c_source import emit_c
from chatdev.tools.plc.simulation.column import Column, columns_of
from chatdev.tools.plc.simulation.machine import Machine, RunTimeFault
from chatdev.tools.plc.st.core import Program
from chatdev.tools.plc.st.functions import FUNCTIONS as STANDARD
from tests.tools.plc.simulation.sources import DEEP, FUNCTIONS, LOOPS, MOTOR, NUMBERS, program

SCANS = 700
HEAD = """\
#include <setjmp.h>
#include <stdio.h>
static jmp_buf stopped;
static int broken;
#define PLC_CHECK(condition, text) do { if (!(condition)) longjmp(stopped, 1); } while (0)
#define PLC_ASSERT(condition, text) do { if (!(condition)) broken++; } while (0)
"""
MAIN = """
int main(void)
{
    static struct state s;
    static struct inputs in;
    init(&s);
    while (scanf("%%d", &in.cycle_time) == 1) {
        broken = 0;
        %(reads)s
        if (setjmp(stopped)) { printf("fault\\n"); init(&s); continue; }
        scan(&in, &s);
        %(prints)s
        printf("%%d\\n", broken);
    }
}
"""
INTERESTING = [0, 0, 1, 1, 2, -1, 3, 5, 7, 8, 15, 16, 31, 100, 127, 128, 255, 256, 32767, -32768, 65535, 2**31 - 1,
               -2**31, 2**32 - 1, 2**63 - 1, -2**63, 2**64 - 1]


def c_path(base: str, column: Column) -> str:
    steps = (f".at[{step}]" if isinstance(step, int) else f".{variable_name(step)}" for step in column.steps)
    return f"{base}.{variable_name(column.root)}{''.join(steps)}"


def c_main(columns: Iterable[Column]) -> str:
    reads, prints = [], []
    for column in columns:
        if column.is_input:
            read, cast = ('"%lf", &number', "number") if column.type.kind == "real" else ('"%llu", &bits', "bits")
            type_ = "double" if column.type.kind == "real" else "unsigned long long"
            reads.append(f"{{ {type_} {cast}; if (scanf({read}) != 1) return 1; {c_path('in', column)} = {cast}; }}")
        number = column.type.kind == "real"
        prints.append(f'printf("{"%a" if number else "%llx"} ", '
                      f'({"double" if number else "unsigned long long"}){c_path("s", column)});')
    return MAIN % {"reads": "\n        ".join(reads), "prints": "\n        ".join(prints)}


def text_of(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value & (1 << 64) - 1)


def random_value(column: Column, dice: random.Random) -> Any:
    type_ = column.type
    if type_.kind == "bool":
        return dice.random() < 0.5
    if type_.kind == "real":
        return float(dice.choice([0, 1.5, -2.25, 1024, -7, 3.0e9, 0.5, 2.5, 1.0e30, dice.randint(-1000, 1000)]))
    value = dice.choice([*INTERESTING, dice.randint(-40, 40), dice.randint(-40, 40), dice.getrandbits(64)])
    low = value & (1 << type_.bits) - 1
    return low - (1 << type_.bits) if type_.signed and low >> type_.bits - 1 else low


def run_in_python(whole: Program, columns: list[Column], rows: list[tuple[int, list[Any]]]) -> list[str]:
    """What the machine shows, in the words of the C program; after a fault both begin anew."""
    machine = Machine(whole)
    given = [column for column in columns if column.is_input]
    seen = []
    for cycle, values in rows:
        inputs = {name: value for name, value in machine.state.items() if name in {one.root for one in given}}
        for column, value in zip(given, values, strict=True):
            column.write(inputs, value)
        try:
            state = machine.scan(inputs, cycle)
        except RunTimeFault:
            seen.append("fault")
            machine.reset()
            continue
        seen.append(" ".join([*(show(column, column.read(state)) for column in columns), str(len(machine.broken))]))
    return seen


def show(column: Column, value: Any) -> str:
    return value.hex() if column.type.kind == "real" else f"{value & (1 << 64) - 1:x}"


def parse(word: str, column: Column | None) -> Any:
    return repr(float.fromhex(word)) if column and column.type.kind == "real" else word


@pytest.mark.parametrize("source", [MOTOR, NUMBERS, LOOPS, FUNCTIONS, DEEP],
                         ids=["motor", "numbers", "loops", "functions", "deep"])
def test_compiled_c_does_what_the_machine_does(source: str, tmp_path: Path) -> None:
    if not shutil.which("gcc"):
        pytest.fail("gcc is missing: apt-get install gcc")
    whole = program(source)
    columns = columns_of(whole)
    (tmp_path / "p.c").write_text(HEAD + emit_c(whole) + c_main(columns))
    subprocess.run(["gcc", "-std=c99", "-O0", "-Wall", "-Wextra", "-Werror", "-Wno-parentheses", "-fsanitize=undefined",
                    "-fno-sanitize-recover", "p.c", "-o", "p", "-lm"], cwd=tmp_path, check=True)
    dice = random.Random(7)
    rows = [(dice.choice([1, 50, 100, 300]), [random_value(one, dice) for one in columns if one.is_input])
            for _ in range(SCANS)]
    text = "\n".join(" ".join([str(cycle), *map(text_of, values)]) for cycle, values in rows)
    done = subprocess.run(["./p"], cwd=tmp_path, input=text, text=True, capture_output=True, check=True, timeout=60)
    expected = run_in_python(whole, columns, rows)
    seen = done.stdout.splitlines()
    assert len(seen) == len(expected) == SCANS
    for number, (one, other) in enumerate(zip(seen, expected, strict=True)):
        names = [*columns, None] if one != "fault" else [None]
        left = [parse(word, column) for word, column in zip(one.split(), names, strict=False)]
        right = [parse(word, column) for word, column in zip(other.split(), names, strict=False)]
        assert left == right, (number, rows[number])


def test_every_standard_function_is_said_in_c() -> None:
    assert FUNCTION_TEXTS.keys() == STANDARD.keys()
    assert not [name for name in STANDARD if f"{name}(" not in FUNCTIONS]


def test_texts_of_an_author_do_not_leave_their_string() -> None:
    whole = program('FUNCTION_BLOCK Main\nVAR long, main : INT; END_VAR\nlong := main;\n'
                    '//#ASSERT long < 5 : a"); exit(1); ("\\\nEND_FUNCTION_BLOCK')
    assert 'a_); exit(1); (__' in emit_c(whole)


def test_text_values_are_not_translated() -> None:
    with pytest.raises(Untranslatable, match="STRING"):
        emit_c(program("FUNCTION_BLOCK Main\nVAR s : STRING; END_VAR\ns := 'a';\nEND_FUNCTION_BLOCK"))
