"""Inputs that once broke a reader: `cases/<target>-<what it is>.txt`, and long ones by what they are made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.properties import decoded, files, in_time
from tests.fuzz.targets import CHECKS

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


FUNCTIONS = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(3000))
LONG = {
    "many blocks for a long file": f"main.py\n```python whole\n{FUNCTIONS}```\n" + "".join(
        f"main.py\n```python\ndef f{n}():\n    return 'new'\n```\n" for n in range(200)),
    "many blocks without a name": f"long.py\n```python\n{FUNCTIONS}```\n" + "".join(
        f"```python\ndef f{n}():\n    return 'new'\n```\n" for n in range(200)),
    "many imports": "main.py\n```python whole\n" + "import a\n" * 9000 + "```\nmain.py\n```python\n" + "".join(
        f"import a{n}\n" for n in range(900)) + "```",
    "many statements": "main.py\n```python whole\n" + "print(1)\n" * 9000 + "```\nmain.py\n```python\n" + "".join(
        f"print({n + 2})\n" for n in range(900)) + "def f():\n    pass\n```",
    "many lines of quotes above blocks": ('"' * 1990 + "\n```python\nx = 1\n```\n") * 50,
    "many files that shrink": "".join(f"{n}.py\n```python whole\n" + "".join(
        f"def f{n}_{m}():\n    pass\n" for m in range(20)) + "```\n" for n in range(150)) + "".join(
        f"{n}.py\n```python whole\nx = 1\n```\n" for n in range(150)),
    "names of many parts": "main.py\n```python whole\n" + ("a" + ".a" * 499 + "\n") * 400 + "```",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_long_case_is_mended(text: str) -> None:
    with in_time(text):
        files(text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_is_mended(case: Path) -> None:
    text = decoded(case.read_bytes())
    with in_time(text):
        CHECKS[case.name.partition("-")[0]](text)
