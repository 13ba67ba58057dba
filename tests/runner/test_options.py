"""The options of a run: named once as keyword arguments and once as a value, and known to type checkers."""

from __future__ import annotations

import subprocess
import sys
import typing
from dataclasses import fields
from pathlib import Path

from chatdev.runner.options import Options, RunOptions

ROOT = Path(__file__).parent.parent.parent
SNIPPET = """
import asyncio
from chatdev import Company, Run, ScriptedModel, aresume, areplay, arun, replay, resume, run

company = Company.load("chatdev")
good: Run = run("x", model="m", max_calls=3)
good = company.run("x", model=ScriptedModel([]), api_key="k", base_url="u", on_event=print)
good = resume(good.folder, since="coding", from_here=True, max_cost=1.5)
good = replay(good.folder, speed=2.0)
good = asyncio.run(aresume(good.folder, model="m"))
good = asyncio.run(areplay(good.folder))
good = asyncio.run(arun("x", install="never"))
"""
WRONG = ['run("x", modell="m")', 'company.run("x", max_calls="three")', 'company.events("x", install="perhaps")',
         'resume("x", form_here=True)', 'replay("x", sped=2.0)', 'company.run("x", model=7)']


def test_the_keyword_arguments_are_the_fields_of_the_value() -> None:
    hints = typing.get_type_hints(RunOptions)
    assert typing.get_type_hints(Options) == {field.name: hints[field.name] for field in fields(RunOptions)}


def test_a_type_checker_knows_the_options(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(SNIPPET + "\n".join(WRONG) + "\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--config-file", str(ROOT / "pyproject.toml"),
                           "--no-error-summary", str(program)], cwd=ROOT, capture_output=True, text=True, check=False)
    first = SNIPPET.count("\n") + 1
    wrong = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
    assert wrong == set(range(first, first + len(WRONG))), done.stdout + done.stderr
