"""Pairs in studies and in folders of runs, made by real runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.errors import ConfigError
from chatdev.evaluation.judging.judgements import pairs_of_folders, pairs_of_study
from tests.engine.studio import WRITE, Studio, program
from tests.evaluation.lab import BROKEN, GOOD, Lab
from tests.support.chat_server import ChatServer, Scripted

ALONE = {key: value for key, value in WRITE.items() if key != "instructor"}


@pytest.fixture
def studios(tmp_path: Path, chat_server: ChatServer) -> list[Studio]:
    """Two companies, each with a warehouse of its own."""
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    return [Studio(folder, chat_server) for folder in folders]


def made(studio: Studio, code: str, task: str, reply: object = None) -> None:
    studio.run(studio.company({"write": ALONE}), {"write#1/round-1/assistant": reply or program(code)}, task=task)


def test_runs_in_two_warehouses_are_matched_by_the_text_of_their_task(studios: list[Studio]) -> None:
    one, other = studios
    for studio, code in ((one, "print('one')"), (other, "print('other')")):
        made(studio, code, "A clock.")
    made(one, "print(1)", "Only here.")
    matches = pairs_of_folders(one.folder / "warehouse", other.folder / "warehouse")
    (match,) = matches.found
    pair = match.load()
    assert (pair.task, pair.requirement) == ("A clock.", "A clock.")
    assert (pair.first.company, pair.second.company) == (str(one.folder / "warehouse"), str(other.folder / "warehouse"))
    assert b"'one'" in pair.first.software["main.py"]
    assert b"'other'" in pair.second.software["main.py"]
    assert pair.key == pair.reversed_pair.key
    assert matches.left_out == [f"Only here.: {other.folder / 'warehouse'} has no finished run of it"]


def test_a_run_that_was_broken_off_delivered_nothing(studios: list[Studio]) -> None:
    one, other = studios
    made(one, "print(1)", "A clock.")
    made(other, "", "A clock.", Scripted(status=401, body={"error": {"message": "no"}}))
    (match,) = pairs_of_folders(one.folder / "warehouse", other.folder / "warehouse").found
    assert not match.load().second.software


def test_two_runs_of_one_task_in_one_warehouse_are_refused(studios: list[Studio]) -> None:
    one, other = studios
    for studio in (one, one, other):
        made(studio, "print(1)", "A clock.")
    with pytest.raises(ConfigError, match="two runs of one task"):
        pairs_of_folders(one.folder / "warehouse", other.folder / "warehouse")


def test_the_same_folder_twice_and_no_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="given twice"):
        pairs_of_folders(tmp_path, tmp_path / ".." / tmp_path.name)
    with pytest.raises(ConfigError, match="there is no folder"):
        pairs_of_folders(tmp_path, tmp_path / "nowhere")


@pytest.mark.tool
def test_the_variants_of_a_study_are_paired_task_by_task(tmp_path: Path, chat_server: ChatServer) -> None:
    lab = Lab(tmp_path, chat_server)
    lab.answer = lambda request, task: BROKEN if task == "Die" else GOOD
    lab.run(lab.variants())
    ledger = lab.ledger()
    matches = pairs_of_study(ledger.entries("done"), tmp_path / "study")
    assert sorted(match.task for match in matches.found) == ["Dice/Die", "Sums/Adder", "Sums/Doubler"]
    for match in matches.found:
        pair = match.load()
        assert (pair.first.company, pair.second.company) == ("alone", "chain")
        assert "main.py" in pair.first.software
    assert any("sum" in match.requirement for match in matches.found)
    with pytest.raises(ConfigError, match="did you mean 'chain'"):
        pairs_of_study(ledger.entries("done"), tmp_path / "study", ["chan"])
    with pytest.raises(ConfigError, match=r"only 'chain' is named; give two variants"):
        pairs_of_study(ledger.entries("done"), tmp_path / "study", ["chain"])
    rows = [entry for entry in ledger.entries("done") if entry.key != "chain · scripted/Dice/Die"]
    assert pairs_of_study(rows, tmp_path / "study").left_out == ["Dice/Die: chain has no finished run of it"]
    ledger.close()
