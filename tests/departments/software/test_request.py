"""What a request says for certain of what is wanted, and where somebody has to be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev import Company
from chatdev.departments.software import knowledge
from chatdev.departments.software.request import kind_wanted, language_wanted
from chatdev.sandbox.kinds import Unconfined
from chatdev.tools.base import ToolContext, registry

CLI = "Command-line application"


@pytest.mark.parametrize(("request_", "kind", "language"), [
    ("Develop a command-line to-do list", CLI, "Python"),
    ("`python main.py 3 4` prints 7.", CLI, "Python"),
    ("It reads numbers from standard input and adds them.", CLI, "Python"),
    ("Entwickle eine Aufgabenliste für die Kommandozeile", CLI, "Python"),
    ("用Python写一个命令行待办事项程序", CLI, "Python"),
    ("Una herramienta de línea de comandos en Go que cuenta palabras", CLI, "Go"),
    ("Un outil qui lit l'entrée standard et compte les mots", CLI, "Python"),
    ("Un programma da riga di comando che conta le parole", CLI, "Python"),
    ("Um programa que recebe dois números como argumentos", CLI, "Python"),
    ("A command-line tool in Go that counts words", CLI, "Go"),
    ("A command-line tool in C++ that counts words", CLI, "C++"),
    ("A Rust program with two arguments", CLI, "Rust"),
    ("A calculator in Java", "", "Java"),
    ('One line is typed in. I say "Good morning", it says "G__d m_rn_ng".', CLI, "Python"),
    ("hours.txt holds\n\n    ann 3\n    bob 4\n\nand the output is\n\n    ann: 3\n    bob: 4\n", CLI, "Python"),
    # somebody has to read these
    ('Whoever types "use key" in the garden opens the gate and reads "You win!".', "", ""),
    ('A browser game. I say "Good morning", it says "G__d m_rn_ng".', "", ""),
    ("A calculator with a tkinter window; python main.py starts it.", "", "Python"),
    ("A website for a bakery", "", ""),
    ("A reading list: GET /books, POST /books with a title. Start with `python main.py`.", "", "Python"),
    ("A FastAPI service, started by `python main.py`", "", "Python"),
    ("A REST API in Python; `python main.py --port 8000` starts it", "", "Python"),
    ("A snake game", "", ""),
    ("A command-line tool, not in Python but in Go", CLI, ""),
    ("Una herramienta de línea de comandos, no en Python sino en Go", CLI, ""),
    ("Un programma da riga di comando con una finestra", "", ""),
    ("A command-line tool that counts the words of Python files", CLI, ""),
    ("A command-line converter from degrees in C to degrees in F", CLI, ""),
    ("A board for the game of Go, on the command line", CLI, ""),
    ("The same in Java and in Kotlin, for the command line", CLI, ""),
    ("", "", ""),
])
def test_only_what_is_certain_is_said(request_: str, kind: str, language: str) -> None:
    assert kind_wanted(request_) == kind
    assert language_wanted(request_, kind) == language


def test_what_a_rule_may_answer_is_an_option_of_the_phase_that_asks() -> None:
    phases = Company.load("chatdev").config.phases
    rules = knowledge.requests()
    kinds = {*rules["modality"], *rules["language"]["otherwise"]}
    languages = {*rules["language"]["names"], *rules["language"]["starts"], *rules["language"]["otherwise"].values()}
    assert kinds <= {*phases["demand_analysis"].solution.options}
    assert languages <= {*phases["language_choice"].solution.options}


def test_the_tools_read_the_task_and_the_kind_of_product() -> None:
    here = Path()
    told = [registry()[f"software.{verb}"].call(
        ToolContext({}, {"modality": CLI}, {"task": "Count the lines of standard input."}, Unconfined(), here, here),
        {}) for verb in ("modality", "language")]
    assert told == [CLI, "Python"]
