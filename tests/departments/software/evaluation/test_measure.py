"""The row of a finished run, measured in the real sandbox on software made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.software.evaluation.quality import METRICS, PAPER, measure
from chatdev.errors import ConfigError, JournalError, ModelUnavailable
from chatdev.evaluation.measure import STATISTICS, Bench, LexicalEmbedder, Vector
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.trial import Accept, load_hidden_test
from chatdev.packages.imports import Supply
from chatdev.sandbox.kinds import find_sandbox
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.tool

TASK = Task("Sum", "Work", "Sums", "Print the sum of all numbers given as arguments.", "sum")
ADDS = "import sys\nprint(sum(map(int, sys.argv[1:])))  # the sum of all numbers"
ACCEPT = '''
from chatdev.evaluation.trial import Check, numbers, said

def accept(program):
    yield Check("2 and 3 are 5", numbers(said(program.start("2", "3"))) == [5])
    yield Check("nothing is 0", numbers(said(program.start())) == [0])
    yield Check("no words", "Traceback" not in said(program.start("x")))
'''

Measured = Callable[..., dict[str, Any]]


@pytest.fixture
def bench() -> Bench:
    return Bench(find_sandbox(), LexicalEmbedder(), Supply("never"))


@pytest.fixture
def run(tmp_path: Path, chat_server: ChatServer) -> Callable[..., Path]:
    """The folder of a run whose one call replied so."""
    studio = Studio(tmp_path, chat_server)
    company = studio.company({"write": {key: value for key, value in WRITE.items() if key != "instructor"}},
                             success="test.passed")
    return lambda reply: studio.run(company, {"write#1/round-1/assistant": reply}).folder


@pytest.fixture
def measured(run: Callable[..., Path], bench: Bench) -> Measured:
    """The row of a run that delivered `code` as main.py."""
    return lambda code, path="main.py", **more: measure(run(program(code, path)), TASK, bench, **more)


def script(folder: Path, text: str) -> Accept:
    file = folder / "sum.py"
    file.write_text(text, encoding="utf-8")
    return load_hidden_test(file)


def values(row: Mapping[str, Any], names: str) -> list[Any]:
    return [row[name] for name in names.split()]


def test_a_good_program_has_a_full_row(measured: Measured, tmp_path: Path) -> None:
    row = measured(ADDS, accept=script(tmp_path, ACCEPT))
    assert values(row, "completeness executability status start embedder model") == [
        1, 1, "success", "clean_exit", "lexical", "scripted-model"]
    assert 0 < row["consistency"] < 1
    assert row["quality"] == row["consistency"]
    assert row["quality_mean"] == pytest.approx((2 + row["consistency"]) / 3)
    assert row["acceptance"] == pytest.approx(2 / 3)
    assert values(row, "checks checks_passed failed_checks") == [3, 2, "no words"]
    assert values(row, "solved refusals example_passed") == [0, 0, True]
    assert values(row, "calls tokens prompt_tokens completion_tokens files lines cost") == [1, 12, 7, 5, 1, 2, None]
    assert row["seconds"] > 0
    assert {*METRICS, *PAPER, *STATISTICS} < row.keys()


@pytest.mark.parametrize(("code", "expected"), [
    ("import sys\nprint('no')\nsys.exit(3)", [1, 0, 1, 1]),
    ("raise SystemExit('usage: main.py NUMBERS')", [1, 1, 1, 1]),
    ("print(1 / 0)", [1, 0, 1, 0]),
    ("print('x'", [1, 0, 1, 1]),
    ("class TodoList:\n    items = []\nprint(TodoList.items)", [1, 1, 0, 1]),
    ("def later():\n    ...\nprint('done')", [0, 1, 1, 1]),
    ("while True: 1 + 1", [1, 1, 1, 1]),
])
def test_our_definitions_beside_those_of_the_paper(measured: Measured, code: str, expected: list[float]) -> None:
    names = "completeness executability paper_completeness paper_executability"
    assert values(measured(code), names) == expected


def test_a_window_is_opened_on_a_display_by_both_definitions(measured: Measured) -> None:
    window = "import tkinter\nroot = tkinter.Tk()\nroot.mainloop()"
    assert values(measured(window), "executability paper_executability") == [1, 1]


def test_a_program_in_another_language_is_judged_too(measured: Measured) -> None:
    row = measured("console.log(process.argv.slice(2).map(Number).reduce((a, b) => a + b, 0))", "main.js")
    assert values(row, "completeness executability") == [1, 1]
    assert row["consistency"] > 0
    assert values(row, "paper_consistency paper_quality paper_executability") == [0, 0, 1]  # it reads Python only


def test_what_cannot_be_judged_is_none(measured: Measured) -> None:
    row = measured("fun main() { println(1) }", "main.kt")
    assert values(row, "executability quality quality_mean acceptance checks") == [None, None, None, None, 0]


def test_a_run_that_was_broken_off_counts_as_nothing_and_says_why(run: Callable[..., Path], bench: Bench,
                                                                  tmp_path: Path) -> None:
    row = measure(run("I would rather not."), TASK, bench, script(tmp_path, ACCEPT))
    assert {row[name] for name in (*METRICS, *PAPER)} == {0}
    assert row["status"] == "error"
    assert "write" in row["reason"]
    assert values(row, "files failed_checks") == [0, "something was delivered"]
    assert row["tokens"] > 0


def test_a_program_that_makes_the_script_stumble_fails_its_last_check(measured: Measured, tmp_path: Path) -> None:
    row = measured("print('five')", accept=script(tmp_path, '''
from chatdev.evaluation.trial import Check

def accept(program):
    yield Check("it starts", True)
    yield Check("five", int(program.start().stdout) == 5)
'''))
    assert values(row, "acceptance failed_checks") == [0.5, "the test came to its end"]


def test_a_refusal_counts_only_where_the_example_passes(measured: Measured, tmp_path: Path) -> None:
    accept = script(tmp_path, '''
from chatdev.evaluation.cases import Case, tried

def accept(program):
    yield tried(program, "words are refused", Case(["x"], "no", 1), Case(["y"], "no", 1))
    yield tried(program, "the sum", Case(["2", "3"], "5"))
''')
    refuses = measured("import sys\nsys.exit('no')", accept=accept)
    assert values(refuses, "acceptance solved checks_passed refusals example_passed") == [0, 0, 0, 1, False]
    right = measured(f"import sys\nif sys.argv[1:] in (['x'], ['y']): sys.exit('no')\n{ADDS}", accept=accept)
    assert values(right, "acceptance solved failed_checks example_passed") == [1, 1, "", True]


def test_without_a_program_to_start_no_check_passes(measured: Measured, tmp_path: Path) -> None:
    row = measured("p {}", "style.css", accept=script(tmp_path, ACCEPT))
    assert values(row, "acceptance failed_checks") == [0, "there is a program to start"]


@pytest.mark.parametrize(("text", "said"), [("def accept(", "SyntaxError"), ("x = 1", "accept"),
                                            ("import no_such_module", "no_such_module")])
def test_a_script_that_is_none_is_refused(measured: Measured, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        measured("print(1)", accept=script(tmp_path, text))


def test_a_run_that_has_not_ended_has_no_row(run: Callable[..., Path], bench: Bench) -> None:
    folder = run(program())
    journal = folder / "run" / "journal.jsonl"
    journal.write_bytes(b"".join(line for line in journal.read_bytes().splitlines(keepends=True)
                                 if b'"RunFinished"' not in line))
    with pytest.raises(JournalError, match="has not come to its end; resume it: chatdev resume"):
        measure(folder, TASK, bench)


def test_an_embedder_that_fails_is_no_value(run: Callable[..., Path], bench: Bench) -> None:
    class Dead:
        name = "dead"

        def embed(self, texts: object) -> list[Vector]:
            raise ModelUnavailable("no connection")

    with pytest.raises(ModelUnavailable):
        measure(run(program()), TASK, Bench(bench.sandbox, Dead(), bench.supply))
