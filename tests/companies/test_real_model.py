"""The chain with the real local model and the real sandbox: a small program, few rounds."""

from pathlib import Path

import pytest

from chatdev import Company
from chatdev.events import Event, ModelCalled, PhaseFinished
from tests.support.local_model import require_local_model

TASK = ('Write a command-line program that prints the numbers from 1 to a given number, one per line: '
        '"python main.py 3" prints 1, 2 and 3. Without a number it prints a short usage message.')


@pytest.mark.model
@pytest.mark.tool
@pytest.mark.xdist_group("local-model")
def test_a_small_program_is_built_with_examples_and_a_manual(tmp_path: Path) -> None:
    require_local_model()
    events: list[Event] = []
    company = Company.load("chatdev", without=["code_review", "test_plan", "system_test", "redraft"],  # they take long
                           sets=["phases.coding.rounds=1", "phases.coding.drafts=1",
                                 "phases.manual.model.max_tokens=80"])
    run = company.run(TASK, name="Count", model="local", warehouse=tmp_path, on_event=events.append)
    assert run.error is None, run.reason
    assert "main.py" in run.software
    assert "manual.md" in run.software
    assert run.values["language"] == "Python"
    test = run.values["test"]
    assert isinstance(test["passed"], bool)
    assert run.success == (test["passed"] and test["judged"])
    phases = [e.phase for e in events if isinstance(e, PhaseFinished)]
    assert {"examples", "coding", "manual"} <= set(phases)
    assert "demand_analysis" not in phases  # a rule knows that it is a command-line application
    calls = [e for e in events if isinstance(e, ModelCalled)]
    assert len(calls) >= 3
    assert not any(e.estimated for e in calls)
    report = (run.folder / "run" / "report.md").read_text()
    assert "| coding#1 |" in report
    assert (run.software_folder / ".git").is_dir()
