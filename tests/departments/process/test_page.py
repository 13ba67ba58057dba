"""What docs/process.md claims holds in the results that are kept."""

from __future__ import annotations

import re
from random import Random
from statistics import mean

import pytest

from benchmarks.process import oracle, rediscovery, replay, simulated
from benchmarks.process.pools import PHASES
from chatdev.departments.process.inductive_miner import mine
from chatdev.departments.process.process_company import Experience
from chatdev.departments.process.process_tree import describe

PAGE = oracle.TABLE.page.read_text(encoding="utf-8")


def test_a_thousand_processes_are_found_again() -> None:
    results = rediscovery.STUDY.read()
    kinds = [results[kind] for kind in ("plain", "any", "strings")]
    assert all(kind["pools"] == kind["fits"] == kind["text read back"] >= 1000 for kind in kinds)
    assert results["plain"]["same language"] == results["plain"]["pools"]


def test_pm4py_finds_the_same_or_what_is_less_precise() -> None:
    results = oracle.TABLE.read()
    rows = results["trees"].values()
    found = [row["pools"] - row.get("other, though there are cuts", 0) for row in rows]
    assert sum(found) >= 0.98 * sum(row["pools"] for row in rows)
    assert sum(row.get("other fall-through, less precise", 0) for row in rows) == 0
    for measure in ("", " by token replay"):
        for kind in {row["kind"] for row in results["infrequent"]}:
            own, other = oracle.mean_f_scores([row for row in results["infrequent"] if row["kind"] == kind], measure)
            assert own >= other - 0.08, (kind, measure)
    speed = {name: row["own"] / row["pm4py"] for name, row in results["speed"].items()}
    assert all(ratio <= (1.05 if "noise" in name else 1) for name, ratio in speed.items()
               if not name.startswith(("25 ", "50 ")))
    assert results["bpmn"]["read as the same"] == results["bpmn"]["files"]


def test_no_model_of_enough_instances_is_less_precise_than_that_of_pm4py() -> None:
    for row in oracle.TABLE.read()["precision"]:
        less = sum(own < other for own, other in row["other"].values())
        assert row["trees"] >= 400
        assert row["own"] > row["pm4py"]
        assert less <= (0 if row["instances"] >= 100 else 0.02 * row["trees"])


def test_renaming_changes_no_model() -> None:
    rows = oracle.TABLE.read()["renaming"]
    assert len(rows) == 150
    assert not any(row[f"own, {key}"] for row in rows for key in ("tree", "language"))


def test_strategies_need_replays_in_the_order_that_is_told() -> None:
    rows = replay.STUDY.read()["rows"]
    assert all(row["failure rate"]["median"] is None for row in rows.values())
    assert all(row["UCT once a round"]["median"] == 100 for row in rows.values())
    first = [rows["uniform 1 to 5"][label]["interval"] for label in ("frequency", "UCT, C = 3", "UCT, C = 1")]
    assert first[0][1] < first[1][0]
    assert first[1][1] < first[2][0]
    assert all(row["whole"] <= 100 for one in rows.values() for row in one.values())
    assert all(row[label]["least"] is None or row[label]["least"] > 100
               for row in rows.values() for label in ("frequency", "UCT, C = 1", "UCT, C = 3"))


def test_what_worked_helps_when_taught_and_what_is_shuffled_does_not() -> None:
    last = {name: mean(run[-1] for run in runs) for name, runs in simulated.STUDY.read()["rows"].items()}
    assert all(len(runs) >= 10 for runs in simulated.STUDY.read()["rows"].values())
    nothing = last["nothing is taught"]
    assert last["whole: text and examples"] > nothing
    assert last["whole, no filter"] < last["whole, the paper's filter"] < last["whole: text and examples"]
    assert max(last["whole, outcomes shuffled"], last["text alone, outcomes shuffled"]) < nothing + 0.01


def test_the_simulated_model_knows_its_prompt_alone() -> None:
    """The same prompt and chance give the same proposal, and a text that allows one process leads to it."""
    only = ("DemandAnalysis", "LanguageChoose", "Coding", "Manual")
    prompt = simulated._render(Experience(describe(mine({only: 1})), (only,), ""))
    proposed = [simulated.propose(prompt, Random(seed)) for seed in range(50)]
    assert proposed == [simulated.propose(prompt, Random(seed)) for seed in range(50)]
    assert proposed.count(only) > 20


def test_the_example_of_the_page_runs_and_says_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    code, shown = re.search(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", PAGE, re.DOTALL).groups()  # type: ignore[union-attr]
    exec(compile(code, "process.md", "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_default_instance_is_told_as_it_is() -> None:
    assert describe(mine({PHASES: 3})).count("Then run") == len(PHASES) - 2
