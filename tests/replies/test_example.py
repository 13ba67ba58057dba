"""The example of a partial change comes from the software itself, so that copying it changes nothing."""


from hypothesis import given
from hypothesis import strategies as st

from chatdev.replies import example_part, parse_files

PROGRAM = b"""import sys

def short():
    return 1

def longer(a, b):
    c = a + b
    return c

print(short())
"""


def test_the_shortest_function_is_shown_and_copying_it_changes_nothing() -> None:
    software = {"main.py": PROGRAM, "notes.txt": b"def no(): pass"}
    example = example_part(software)
    assert example == "main.py\n```python\ndef short():\n    return 1\n```"
    assert parse_files(example, software).is_unchanged


def test_without_a_short_python_function_there_is_none() -> None:
    assert example_part({}) == ""
    assert example_part({"main.py": b"print(1)\n", "index.html": b"<p>"}) == ""
    assert example_part({"main.py": b"def (:\n"}) == ""


@given(st.dictionaries(st.sampled_from(["a.py", "b/c.py"]), st.binary(max_size=80)))
def test_odd_files_are_passed_over(software: dict[str, bytes]) -> None:
    assert isinstance(example_part(software), str)
