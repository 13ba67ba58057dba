"""Sources of 20,000 lines are read in seconds, whatever they are made of: time grows with their length."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from chatdev.departments.plc.st.reading import read_program

Writer = Callable[[int], str]


def statements(count: int) -> str:
    body = "".join(f"x := (y + {n % 100}) * z - a[{n % 100 + 1}];\n" for n in range(count))
    return f"PROGRAM P\nVAR x, y, z : INT; a : ARRAY[1..100] OF INT; END_VAR\n{body}END_PROGRAM"


def undeclared(count: int) -> str:
    """Each misspelt name is compared with many that are like it."""
    variables = "".join(f"variable_number_{n} : INT;\n" for n in range(count // 2))
    body = "".join(f"variable_number_{n} := varable_numbr_{n};\n" for n in range(count // 2))
    return f"PROGRAM P\nVAR\n{variables}END_VAR\n{body}END_PROGRAM"


def calls(count: int) -> str:
    """Of a block with many variables."""
    variables = "".join(f"v{n} : INT;\n" for n in range(count // 20))
    body = "".join(f"b{n % 90}(a := b{n % 90}.q);\n" for n in range(count * 19 // 20))
    instances = "".join(f"b{n} : B;\n" for n in range(90))
    return (f"FUNCTION_BLOCK B\nVAR_INPUT a : BOOL; END_VAR\nVAR\n{variables}END_VAR\nVAR_OUTPUT q : BOOL; END_VAR\n"
            f"q := a;\nEND_FUNCTION_BLOCK\nPROGRAM P\nVAR\n{instances}END_VAR\n{body}END_PROGRAM")


def structures(count: int) -> str:
    parts = "".join(f"p{n} : INT;\n" for n in range(count // 2))
    body = "".join(f"t.p{n} := t.p{n} + 1;\n" for n in range(count // 2))
    return f"TYPE T : STRUCT\n{parts}END_STRUCT;\nEND_TYPE\nPROGRAM P\nVAR t : T; END_VAR\n{body}END_PROGRAM"


def seconds_of(source: str) -> float:
    begun = time.process_time()
    read_program(source)
    return time.process_time() - begun


@pytest.mark.parametrize("write", [statements, undeclared, calls, structures])
def test_time_grows_with_the_length(write: Writer) -> None:
    short = min(seconds_of(write(400)) for _ in range(3))
    assert seconds_of(write(4000)) < 10 * 3 * max(short, 0.01)


def test_twenty_thousand_lines_are_read() -> None:
    begun = time.process_time()
    assert read_program(structures(20_000)).program is not None
    assert time.process_time() - begun < 8, "1 to 3 s are usual on a busy machine"
