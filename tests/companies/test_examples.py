"""The recorded runs that ship with the company: they play to their end anywhere, and tell nothing of the machine."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import chatdev
from chatdev.events import Event, ToolCalled
from chatdev.paths import bundled_folder

EXAMPLES = sorted((bundled_folder("company_config") / "chatdev" / "examples").glob("*.jsonl"))


def test_there_are_two() -> None:
    assert [path.name for path in EXAMPLES] == ["primes.jsonl", "todo.jsonl"]


@pytest.mark.parametrize("journal", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_plays_to_its_success_with_nobody_to_ask(journal: Path, monkeypatch: pytest.MonkeyPatch,
                                                            tmp_path: Path) -> None:
    for variable in [name for name in os.environ if name.startswith(("OPENAI_", "CHATDEV_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    events: list[Event] = []
    run = chatdev.replay(journal, on_event=events.append)
    assert run.success, run.reason
    assert run.software.main == "main.py"
    assert [event.passed for event in events if isinstance(event, ToolCalled)][-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("journal", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_names_no_folder_of_the_machine_it_was_made_on(journal: Path) -> None:
    text = journal.read_text(encoding="utf-8")
    assert not re.findall(r"(?<![\w.])/(?:home|root|work|tmp|Users)/[^\s\"\\]+", text)
