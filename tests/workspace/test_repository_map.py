"""A map of a repository: what a request is about in full, the rest by names and sizes, within a number of tokens."""

from __future__ import annotations

import random

import pytest

from chatdev.config.templates import render
from chatdev.workspace.languages import map_repository, rank_files, symbols_of

FILES: dict[str, str | bytes] = {f"src/part{n // 10}/mod_{n}.py": f"def f_{n}(x):\n    return x + {n}\n" * 40
                                 for n in range(300)}
FILES |= {
    "src/store.py": "class Store:\n    def load(self):\n        pass\n\n    def save(self):\n        pass\n" * 3,
    "tests/test_store.py": "from src.store import Store\n", "logo.png": b"\0\1"}


def test_a_small_repository_is_shown_whole() -> None:
    found = map_repository({"a.py": "x = 1\n", "b.md": "B\n"}, "anything", 1000)
    assert (found.full, found.others, found.is_whole) == (("a.py", "b.md"), "", True)


@pytest.mark.parametrize("request_", ["Change src/store.py.", "Let the store keep its entries.",
                                      "`Store.save` must sync"])
def test_what_the_request_is_about_is_shown_in_full(request_: str) -> None:
    found = map_repository(FILES, request_, 2000)
    assert "src/store.py" in found.full
    assert "src/part3/" in found.others or "src/part3/mod_30.py" in found.others


@pytest.mark.parametrize("tokens", [100, 300, 1000, 5000, 20_000])
def test_a_map_keeps_to_its_tokens(tokens: int) -> None:
    text = render("{{ software | repository_map(task, tokens) }}", {
        "software": FILES, "task": "Let Store load mod_17 and f_99.", "tokens": tokens}, "x")
    assert len(text) / 3 <= tokens * 1.1 + 60


def test_a_file_that_does_not_fit_is_told_by_what_it_defines() -> None:
    engine = "def start(key):\n    pass\n\n\nclass Motor:\n    def run(self):\n        pass\n" * 400
    files: dict[str, str | bytes] = {**FILES, "src/engine.py": engine}
    found = map_repository(files, "Let the Motor of src/engine.py start.", 3000)
    assert "src/engine.py" not in found.full
    assert "start(key); Motor: run" in found.others


@pytest.mark.parametrize(("path", "text", "symbols"), [
    ("a.py", "def f(a, b): pass\n\nclass C:\n    def m(self): pass\n", ["f(a, b)", "C: m"]),
    ("broken.py", "def f(:\n", []), ("a.txt", "def f(): pass\n", []),
    ("a.ts", "export async function go() {}\nexport const up = () => 1\ninterface I {}\n", ["go", "up", "I"]),
    ("a.go", "func (s *S) Run(x int) {}\ntype S struct {}\n", ["Run", "S"]),
    ("a.c", "static int add(int a,\n  int b)\n{\nreturn add(1);\n}\n#define MAX(a) a\n", ["add", "MAX"]),
    ("a.rs", "pub fn run() {}\nimpl X {\n    pub fn new() -> X {}\n}\n", ["run", "new"]),
    ("A.java", "public class A {\n    public int size() { return 0; }\n}\n", ["A", "size"])])
def test_what_a_file_defines_is_found(path: str, text: str, symbols: list[str]) -> None:
    assert symbols_of(path, text) == symbols


def test_a_rare_word_says_more_than_a_frequent_one() -> None:
    texts = {f"m{n}.py": "value value\n" for n in range(50)} | {"x.py": "value ledger\n"}
    scores = rank_files(texts, "the ledger needs another value")
    assert max(scores, key=lambda path: scores[path]) == "x.py"
    assert scores["m1.py"] == 0


def test_odd_files_and_requests_are_mapped() -> None:
    source = random.Random(1)
    files = {f"{n}/{'d/' * (n % 9)}f{n}.{source.choice(['py', 'js', 'c', 'bin'])}": source.randbytes(200)
             for n in range(50)}
    for request in ("", "\0", "a" * 100_000, "../../etc/passwd . .. /", "(((((", "[" * 500):
        map_repository(files, request, 100)
    map_repository({}, "x", 100)
