"""`chatdev eval dialogues`: tables and plots of many journals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.support.shop import Shop

EXAMPLES = Path(__file__).parents[2] / "company_config" / "chatdev" / "examples"


def journal(folder: Path, *texts: str) -> Path:
    """A run whose reviewer said so, and whose test then failed and passed."""
    place = "code_review#1/round-{}/instructor"
    records: list[dict[str, Any]] = [{"kind": "RunStarted", "place": "", "company": "chatdev", "name": folder.name,
                                      "folder": str(folder)}]
    records += [{"kind": "Uttered", "place": place.format(n), "utterance": "instruction", "speaker": "instructor",
                 "role": "reviewer", "text": text, "round": n} for n, text in enumerate(texts, start=1)]
    records += [{"kind": "Activity", "place": f"system_test#1/round-{n}", "digest": str(n),
                 "request": {"tool": "software.use"},
                 "result": {"value": {"passed": n == 2, "report": "KeyError: 1"}, "seconds": 0.1}} for n in (1, 2)]
    file = folder / "run" / "journal.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps({"v": 1, **record}) + "\n" for record in records), encoding="utf-8")
    return folder


def test_tables_add_up_over_all_runs_of_a_warehouse(shop: Shop, here: Path) -> None:
    journal(here / "runs" / "a", "The function `f` is missing.", "Add comments.")
    journal(here / "runs" / "b", "The function `g` is missing.\n```python\nx\n```")
    (here / "runs" / "notes").mkdir()
    found = json.loads(shop.command("eval", "dialogues", "runs", "--json").out)
    assert found["runs"] == 2
    assert found["speech"]["code_review"]["code"] == len("x\n")
    assert found["reviews"]["kinds"] == {"method not implemented": 2, "missing comments": 1}
    assert found["reviews"]["transitions"] == [
        {"from": "method not implemented", "to": "missing comments", "count": 1}]
    assert found["tests"] == {"executions": 2, "observations": 4, "kinds": {"KeyError": 2, "passed": 2},
                              "transitions": [{"from": "KeyError", "to": "passed", "count": 2}]}


def test_tables_for_people_and_the_same_pictures_every_time(shop: Shop, here: Path) -> None:
    journal(here / "a", "The function `f` is missing.", "Add comments.")
    journals = [str(here / "a"), *map(str, sorted(EXAMPLES.glob("*.jsonl")))]
    outcome = shop.command("eval", "dialogues", *journals, "--plots", "plots")
    assert outcome.status == 0, outcome.err
    assert "3 runs." in outcome.out
    assert "    method not implemented → missing comments: 1" in outcome.out
    drawn = {path.name: path.read_bytes() for path in (here / "plots").iterdir()}
    assert sorted(drawn) == ["reviews.svg", "speech.svg", "tests.svg"]
    assert all(ElementTree.fromstring(picture).tag.endswith("svg") for picture in drawn.values())
    assert b"missing comments" in drawn["reviews.svg"]
    shop.command("eval", "dialogues", *journals, "--plots", "again")
    assert {path.name: path.read_bytes() for path in (here / "again").iterdir()} == drawn


def test_other_phases_can_be_named(shop: Shop, here: Path) -> None:
    journal(here / "a", "Add comments.")
    found = json.loads(shop.command("eval", "dialogues", "a", "--review", "none", "--test", "none", "--json").out)
    assert found["reviews"]["observations"] == found["tests"]["observations"] == 0
    outcome = shop.command("eval", "dialogues", "a", "--test", "none", "--plots", "plots")
    assert "What tests showed in none: nothing (--test PHASE looks at another phase)" in outcome.out
    assert sorted(path.name for path in (here / "plots").iterdir()) == ["reviews.svg", "speech.svg"]


def test_a_folder_without_runs_and_a_damaged_journal_are_named(shop: Shop, here: Path) -> None:
    outcome = shop.command("eval", "dialogues", str(here))
    assert (outcome.status, "holds no run" in outcome.err) == (2, True)
    assert "there is no nowhere;" in shop.command("eval", "dialogues", "nowhere").err
    file = journal(here / "a", "x") / "run" / "journal.jsonl"
    file.write_text("nonsense\n", encoding="utf-8")
    outcome = shop.command("eval", "dialogues", "a")
    assert (outcome.status, "line 1" in outcome.err) == (5, True)
