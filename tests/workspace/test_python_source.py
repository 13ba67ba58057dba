"""Python source is read alike in all threads, and whatever it is, a syntax error is all that comes of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from chatdev.departments.software.reading.static import undefined_names
from chatdev.workspace.python_facts import check, literal, parse

NESTED = "(" * 80 + "0" + ")" * 80
SOURCE = "\n".join(f"def part_{n}(given):\n    return [given + {{'a': {NESTED}}}['a'] for _ in range({n})]\n"
                   for n in range(150))

ANNOTATED = f"value: {', '.join(['int'] * 2000)!r} = None\n"


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns after every few instructions."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


class Leftover:
    """Garbage whose end runs Python code, at whatever moment it is collected: there threads change places."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("read", [
    lambda: len(parse(SOURCE).body) == 150,
    lambda: literal(repr([*range(3000)])) == [*range(3000)],
    lambda: undefined_names({"annotated.py": ANNOTATED.encode()}) == [],
])
def test_threads_that_read_at_the_same_time_do_not_meet(read: Callable[[], bool]) -> None:
    def read_beside_others(number: int) -> bool:
        leftovers = [Leftover() for _ in range(30)]
        return read() if number % 2 else bool(parse(SOURCE) and leftovers)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read_beside_others, range(40)))


@pytest.mark.parametrize("source", ["f()", "{[]: 1}", "a.b", "1 +", "'\0'", "[" * 9000, "-" * 3000 + "1", ""])
def test_what_is_no_literal_is_a_syntax_error(source: str) -> None:
    with pytest.raises(SyntaxError):
        literal(source)


def test_a_literal_may_have_room_around_it_and_escapes_that_mean_nothing() -> None:
    assert literal("\n  {'a': [1, None], 'b': '\\d'} ") == {"a": [1, None], "b": "\\d"}


@pytest.mark.parametrize("source", [b"x = (", b"\0", b"# coding: nonsense\n", b"x = '\xff'\n"])
def test_broken_source_is_a_syntax_error(source: bytes) -> None:
    with pytest.raises(SyntaxError):
        parse(source)
    with pytest.raises(SyntaxError):
        check(source, "broken.py")


def test_the_tree_is_that_of_the_source() -> None:
    assert ast.unparse(parse(b"a=1;b=2")) == "a = 1\nb = 2"
