"""The simulation of a fleet, where its outcome can be reckoned by hand."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.simulate_fleet import CALLS, CHAIN, Costs, Load, fit_costs, ideal, seconds
from chatdev.llm.base import CREDIT, REPLY_TOKENS

STEPS = len(CHAIN)  # answers that a job waits for, one after another
NOTHING = Costs()


@pytest.mark.parametrize(("jobs", "at_once", "turns"), [(1, 1, 1), (1, 8, 1), (12, 4, 3), (13, 4, 4)])
def test_without_costs_a_job_takes_its_answers_one_after_another(jobs: int, at_once: int, turns: int) -> None:
    assert seconds(Load(jobs, at_once, latency=0.5), NOTHING) == pytest.approx(turns * STEPS * 0.5)


def test_other_waiting_is_like_latency() -> None:
    assert seconds(Load(8, 4, latency=0.5), Costs(wait=0.25)) == pytest.approx(2 * STEPS * 0.75)


@pytest.mark.parametrize("at_once", [1, 5, 100])
def test_one_processor_does_one_thing_at_a_time(at_once: int) -> None:
    assert seconds(Load(10, at_once, latency=0), Costs(cpu=0.01, start=0.2)) == pytest.approx(10 * (13 * 0.01 + 0.2))


def test_a_job_by_itself_computes_in_parallel_steps_one_after_another() -> None:
    assert seconds(Load(1, 1, latency=1), Costs(cpu=0.1)) == pytest.approx(11 * 1.1 + 1.15)


def test_many_at_once_hide_the_latency_behind_the_processor() -> None:
    took = seconds(Load(400, 200, latency=0.1), Costs(cpu=0.01))
    assert took == pytest.approx(400 * CALLS * 0.01, rel=0.02)


@pytest.mark.parametrize("at_once", [1, 7])
def test_requests_go_out_at_an_even_pace_after_a_second_of_credit(at_once: int) -> None:
    pace = (60 + CREDIT) / 600
    took = seconds(Load(20, at_once, latency=0, requests=600), NOTHING)
    assert took == pytest.approx((20 * CALLS - 1) * pace - CREDIT)


def test_tokens_go_out_at_an_even_pace_too() -> None:
    costs = Costs(prompt_tokens=1000, completion_tokens=REPLY_TOKENS)  # as they are reckoned
    took = seconds(Load(20, 1, latency=0, tokens=2024 * 600), costs)
    assert took == pytest.approx((20 * CALLS - 1) * (60 + CREDIT) / 600 - CREDIT)


def test_that_replies_are_short_is_learned() -> None:
    costs = Costs(prompt_tokens=500, completion_tokens=100)  # 1,524 are reckoned at first
    took = seconds(Load(100, 32, latency=0.1, tokens=600 * 1200), costs)
    assert took == pytest.approx(100 * CALLS * 600 * (60 + CREDIT) / (600 * 1200), rel=0.1)


def test_the_narrowest_of_all_limits_holds() -> None:
    wide, narrow = Load(50, 10, latency=0.1, requests=100_000), Load(50, 10, latency=0.1, requests=300)
    assert seconds(wide, NOTHING) == pytest.approx(seconds(replace(wide, requests=None), NOTHING), rel=0.02)
    assert seconds(narrow, NOTHING) == pytest.approx(50 * CALLS * 61 / 300, rel=0.02)


def test_workers_share_jobs_and_limits() -> None:
    costs = Costs(cpu=0.005, prompt_tokens=500, completion_tokens=100)
    alone = Load(100, 10, latency=0.1, requests=1500, tokens=900_000)
    four = Load(400, 10, latency=0.1, requests=6000, tokens=3_600_000, workers=4)
    assert seconds(four, costs) == pytest.approx(seconds(alone, costs))


def test_latencies_vary_about_their_mean() -> None:
    steady, varied = (seconds(Load(400, 1, latency=0.2, spread=spread), NOTHING) for spread in (0, 0.4))
    assert varied == pytest.approx(steady, rel=0.08)  # the parallel step waits for the slower of two
    assert varied != steady


@pytest.mark.parametrize(("limits", "costs"), [
    (Load(6000, 50, latency=1), Costs(cpu=0.01)), (Load(6000, 50, latency=1, requests=3000), NOTHING)])
def test_what_is_too_much_to_simulate_goes_on_at_the_same_pace(limits: Load, costs: Costs) -> None:
    bound = 6000 * CALLS * (0.01 if limits.requests is None else 61 / 3000)
    lowest = 6000 / 50 * STEPS
    assert seconds(limits, costs) == pytest.approx(max(bound, lowest), rel=0.05)


def test_the_ideal_takes_nothing_of_the_engine() -> None:
    load = Load(100, 10, latency=0.1)
    assert ideal(load, Costs(cpu=1, wait=1, start=1)) == pytest.approx(10 * STEPS * 0.1)


def test_the_costs_are_fitted_to_what_two_loads_took() -> None:
    few, many, costs = Load(20, 4, latency=0.1), Load(40, 40, latency=0.1), Costs(cpu=0.006, wait=0.013, start=0.002)
    found = fit_costs((few, seconds(few, costs)), (many, seconds(many, costs)), Costs(start=0.002))
    assert found.cpu == pytest.approx(0.006, abs=1e-4)
    assert found.wait == pytest.approx(0.013, abs=5e-4)


def test_a_load_that_took_less_than_is_possible_is_fitted_by_no_costs() -> None:
    load = Load(10, 4, latency=0.1)
    assert fit_costs((load, 0.1), (load, 0.1), NOTHING) == NOTHING


def test_it_predicts_on_the_command_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.simulate_fleet", "--jobs", "10000", "--at-once", "100", "--latency", "5",
         "--workers", "2", "--requests-per-minute", "5000"], capture_output=True, text=True, check=False, timeout=60,
        cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"([\d,]+) seconds; ([\d,]+) if the engine took nothing\n", done.stdout)
    assert found
    took, least = (int(number.replace(",", "")) for number in found.groups())
    assert 10_000 / 200 * STEPS * 5 <= least <= took
