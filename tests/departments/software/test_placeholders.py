"""Completeness by placeholders: what counts, and the original's false alarms that must not."""

import pytest

from chatdev.departments.software.reading.static import placeholders


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


@pytest.mark.parametrize(("path", "code"), [
    ("app.js", "document.querySelector('#task').placeholder = 'Add a task';"),
    ("app.js", 'const picture = "https://via.placeholder.com/150";'), ("app.js", "class A { #placeholder = 1; }"),
    ("app.js", "image.src = '//via.placeholder.com/150';"), ("app.js", "// Set the placeholder text"),
    ("a.css", ":root { --placeholder-color: #999; }"), ("a.css", "a { background: url(//via.placeholder.com/9); }"),
    ("a.css", "/* The form */ input::placeholder { color: #999; }"), ("a.css", "/* Placeholder color */"),
    ("index.html", '<input style="border: 1px solid #ccc" placeholder="New task">'),
    ("index.html", '<!-- The form --> <input placeholder="New task">'), ("a.rb", 'puts "Enter #{placeholder}"'),
    ("a.sh", 'echo "${#placeholder}"'), ("main.py", "x = 1  # remember the TODO list"), ("a.c", "x--; placeholder(x);"),
    ("main.py", "x = 1  # TODO list of the user"), ("main.py", "print('# TODO save it')")])
def test_what_only_speaks_of_placeholders_and_lists_is_none(path: str, code: str) -> None:
    assert found(f"{code}\n", path) == []


@pytest.mark.parametrize(("path", "code"), [
    ("app.js", "let x = 1; // placeholder"), ("app.js", "x();//TODO: save"), ("a.css", "/* TODO colours */"),
    ("index.html", "<!-- placeholder for the list -->"), ("index.html", "<script> // your code here"),
    ("a.rb", "x = 1 # TODO"), ("a.sh", "# FIXME quote it"), ("a.php", "# not implemented"), ("a.php", "// XXX"),
    ("a.st", "(* TODO: the alarm *)"), ("main.py", "x = 1  # the second half is TODO: later"),
    ("main.py", "x = 1  # this is a placeholder"), ("main.py", "x = 1  #TODO sort the list")])
def test_comments_of_every_language_announce_work(path: str, code: str) -> None:
    assert len(found(f"{code}\n", path)) == 1


def test_a_nested_and_a_broken_file_are_looked_at_too() -> None:
    assert found("class A:\n    def f(self):\n        def g():\n            pass\n        return g\n")
    assert found("def f(:\n    # TODO\n") == ["main.py:2: # TODO"]


@pytest.mark.parametrize("source", ["x = 1 \\\r\n", "# TODO\nx = 1 \\\r\n", "x = 1 # TODO \\\r\n", "\\\n", "# TODO\0"])
def test_source_that_only_the_parser_takes_is_looked_at_too(source: str) -> None:
    assert len(placeholders({"main.py": source.encode()})) == source.count("TODO")
