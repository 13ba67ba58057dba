"""The fleet of the benchmark, small: whole companies through the ledger, over real HTTP, many at once."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.engine.run_folder import weighed
from benchmarks.fleet import FEW, LOADS, MANY, NEAR, TABLES, costs_of, measure_ledger
from benchmarks.fleet_load import measure_load, model_server
from benchmarks.plans import LOADS as PLANNED
from benchmarks.plans import Usual, bottleneck, plans
from benchmarks.simulate_fleet import CALLS, Costs, Load, seconds


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return TABLES[0].read()


def fleet_figures(load: Load) -> dict[str, Any]:
    with model_server(load) as url:
        return measure_load(load, url)


def test_a_small_fleet_arrives_whole_and_is_measured() -> None:
    figures = fleet_figures(Load(jobs=10, at_once=5, latency=0.02, spread=0.3, requests=6000, tokens=9_000_000))
    assert figures["failed"] == 0
    assert 0.5 < figures["seconds"] < 60  # nothing hangs; how near it comes to the ideal, a quiet machine tells
    assert figures["prompt_tokens_per_call"] > figures["completion_tokens_per_call"] > 0
    assert 0 < figures["cpu_ms_per_start"] < figures["cpu_ms_per_call"] * CALLS
    assert len(figures["memory_mib"]) == 12


def test_a_limit_of_requests_is_kept_as_predicted() -> None:
    load = Load(jobs=4, at_once=4, latency=0.01, requests=1200)
    predicted = seconds(load, Costs())
    assert 0.85 * predicted <= fleet_figures(load)["seconds"] <= 3 * predicted  # other tests may keep the machine busy


def test_the_fleet_that_is_written_down_was_whole_and_its_memory_flat(results: dict[str, Any]) -> None:
    assert LOADS["fleet"].jobs == 1200
    assert [name for name, figures in results["loads"].items() if figures["failed"]] == []
    memory = results["loads"]["fleet"]["memory_mib"]
    assert memory[-1] <= 1.1 * memory[1]


@pytest.mark.parametrize("name", LOADS)
def test_the_simulation_predicted_what_was_measured(results: dict[str, Any], name: str) -> None:
    figures = results["loads"][name]
    assert figures["predicted_seconds"] == pytest.approx(seconds(LOADS[name], Costs(**results["costs"])), abs=0.1)
    assert figures["predicted_seconds"] == pytest.approx(figures["seconds"], rel=NEAR)


def test_the_simulation_was_fitted_to_the_small_loads_alone(results: dict[str, Any]) -> None:
    assert Costs(**results["costs"]) == costs_of({name: results["loads"][name] for name in (FEW, MANY)})


def test_plans_are_what_the_simulation_says(results: dict[str, Any]) -> None:
    assert results["plans"][:1] == plans(Costs(**results["costs"]), PLANNED[:1])


def test_what_limits_a_plan_is_found() -> None:
    costs = Costs(cpu=0.01, prompt_tokens=1000, completion_tokens=200)
    assert bottleneck(Load(20, 20, latency=1, requests=60, tokens=1e9), costs) == "requests a minute"
    assert bottleneck(Load(20, 20, latency=1, requests=1e6, tokens=1e5), costs) == "tokens a minute"
    assert bottleneck(Load(20, 1, latency=1, requests=1e6, tokens=1e9), costs) == "the model's answers"
    assert bottleneck(Load(50, 50, latency=0.01, requests=1e6, tokens=1e9), costs) == "the processor"


def test_a_model_without_a_price_has_no_plan() -> None:
    with pytest.raises(ValueError, match="the price of nobody-knows is unknown"):
        Usual(10, 1000, 100).price("nobody-knows")


def test_a_run_is_weighed() -> None:
    weight = weighed()
    assert 20 < weight["files"] < 100
    assert weight["packed_kib"] < weight["kib"] < weight["disk_kib"]


@pytest.mark.usefixtures("here")
def test_finished_runs_are_packed_as_the_page_says() -> None:
    study, run = Path("studies/srdd"), Path("studies/srdd/single/A task-0a1b2c")
    for folder in (run, study / "chatdev" / "it's-3d4e5f", study / ".attempts" / "under-way-6a7b8c"):
        (folder / "run").mkdir(parents=True)
        (folder / "run" / "journal.jsonl").write_text("{}\n")
    (command,) = re.findall(r"```sh\n(.*?)```", TABLES[0].page.read_text(encoding="utf-8"), re.DOTALL)
    subprocess.run(["bash", "-ec", command], check=True)
    found = sorted(str(path.relative_to(study)) for path in study.rglob("*") if path.is_file())
    assert found == [".attempts/under-way-6a7b8c/run/journal.jsonl", "chatdev/it's-3d4e5f.tar.gz",
                     "single/A task-0a1b2c.tar.gz"]
    subprocess.run(["tar", "-xzf", f"{run}.tar.gz", "-C", str(run.parent)], check=True)
    assert (run / "run" / "journal.jsonl").read_text() == "{}\n"


def test_the_ledger_is_measured_by_itself() -> None:
    figures = measure_ledger(jobs=50, claims=20)
    assert figures["jobs"] == 50
    assert figures["claim_ms"] > 0


@pytest.mark.usefixtures("here")
def test_the_page_shows_work_that_works(capsys: pytest.CaptureFixture[str]) -> None:
    *_, example = re.findall(r"```python\n(.*?)```", TABLES[0].page.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(example, "scaling.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out == "finished 1000 332833.5\n"
