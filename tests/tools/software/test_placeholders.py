"""Completeness by placeholders: what counts, and the original's false alarms that must not."""

import pytest

from chatdev.tools.software.reading.placeholders import placeholders


def found(code: str, path: str = "main.py") -> list[str]:
    return [str(p) for p in placeholders({path: code.encode()})]


@pytest.mark.parametrize("body", ["pass", "...", "raise NotImplementedError", "raise NotImplementedError('later')",
                                  '"""Save."""', '"""Save."""\n    pass'])
def test_a_function_whose_body_does_nothing_is_a_placeholder(body: str) -> None:
    assert found(f"def save():\n    {body}\n") == ["main.py:1: `save` has no body yet"]


@pytest.mark.parametrize("code", [
    "class TodoList:\n    def bypass(self):\n        return compass\n",
    "try:\n    x = 1\nexcept ValueError:\n    pass\n",
    "class Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n",
    "class Store(Protocol):\n    def save(self) -> None: ...\n",
    "class Store(typing.Protocol[T]):\n    def save(self) -> None: ...\n",
    "class Problem(Exception):\n    pass\n",
    "password = input()  # the passenger's password; a todo list\n",
])
def test_pass_and_todo_within_words_and_rightly_empty_bodies_are_none(code: str) -> None:
    assert found(code) == []


def test_comments_that_announce_missing_work_count_in_every_language() -> None:
    assert found("x = 1  # TODO save it\n") == ["main.py:1: # TODO save it"]
    assert found("x = 1  # the todo list is not implemented yet\n")
    assert found("// FIXME: draw\n", "app.js") == ["app.js:1: // FIXME: draw"]
    assert found("int main() { return 0; } /* not implemented yet */\n", "m.c")


def test_a_nested_and_a_broken_file_are_looked_at_too() -> None:
    assert found("class A:\n    def f(self):\n        def g():\n            pass\n        return g\n")
    assert found("def f(:\n    # TODO\n") == ["main.py:2: # TODO"]


@pytest.mark.parametrize("source", ["x = 1 \\\r\n", "# TODO\nx = 1 \\\r\n", "x = 1 # TODO \\\r\n", "\\\n", "# TODO\0"])
def test_source_that_only_the_parser_takes_is_looked_at_too(source: str) -> None:
    assert len(placeholders({"main.py": source.encode()})) == source.count("TODO")
