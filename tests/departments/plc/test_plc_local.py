"""The study of control programs with the local model, with a scripted server in its place."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.local_study import MODEL
from benchmarks.plc.local import EASY, OWN, PASSABLE, SIMPLE, STUDY, TASKS, more, told
from benchmarks.study import ROOT
from chatdev.batch.ledger import Ledger
from chatdev.cli.app import command_line
from chatdev.departments.plc.agents4plc import read_plc_tasks
from chatdev.evaluation.reporting.study_results import Results
from tests.support.chat_server import ChatServer, Received

LED, VALVES = "v1-E-9", "valve_pair"


def answered(request: Received) -> str:
    """A right program for the one task, and one with a mistake for the other."""
    if "LED_Control" in str(request.body["messages"]):
        return f"main.st\n```\n{(ROOT / 'benchmarks/data/plc_answers' / f'{LED}.st').read_text(encoding='utf-8')}```"
    solution = (ROOT / SIMPLE / VALVES / "solution.st").read_text(encoding="utf-8")
    return f"main.st\n```\n{solution.replace(' AND NOT Drain', '')}```"


def test_its_tasks_are_in_the_data() -> None:
    found = read_plc_tasks((ROOT / EASY, ROOT / SIMPLE))
    assert len(set(TASKS)) == 16
    assert set(TASKS) < set(PASSABLE) | set(OWN)
    assert set(TASKS) < found.keys()


@pytest.mark.tool
def test_its_tables_say_what_the_rows_say(chat_server: ChatServer, here: Path) -> None:
    chat_server.route(answered)
    changed = {MODEL: "m", EASY: str(ROOT / EASY), SIMPLE: str(ROOT / SIMPLE), ",".join(TASKS): f"{LED},{VALVES}",
               "2": "1"}
    step = [changed.get(word, word) for word in STUDY.steps[0]]
    done = CliRunner().invoke(command_line, ["eval", *step, "--base-url", chat_server.url, "--quiet"])
    assert done.exit_code == 0, done.output
    with closing(Ledger(str(here / "studies" / "ledger.sqlite"), STUDY.name)) as ledger:
        rows = Results.read(ledger).rows
    folders = {"single_plc": [here / "studies" / STUDY.name / row["folder"] for row in rows]}
    text = told({"rows": rows, "machine": "M", "date": "D", **more(folders)})
    assert "| single_plc | 2 | 2 | 1 |" in text
    assert "| single_plc | 100.0 / 100.0 / 100.0 | 100.0 / 100.0 / 0.0 |" in text
    assert "| Agents4PLC, GPT-4o | 100 / 68.8 / 50.0 | – |" in text
    assert "| easy/v1-E-9 | solved; PPPp; " in text
    assert "| own/valve_pair | violated; " in text
