"""What a worker on another machine looks after; a study goes there and back."""

from __future__ import annotations

import asyncio
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.errors import ConfigError
from chatdev.evaluation.study import PreflightCheck, preflight
from chatdev.llm.base import RateLimit
from tests.evaluation.lab import Lab
from tests.support.chat_server import ChatServer

pytestmark = pytest.mark.tool


@pytest.fixture
def lab(tmp_path: Path, chat_server: ChatServer) -> Lab:
    return Lab(tmp_path, chat_server)


def elsewhere(check: PreflightCheck) -> PreflightCheck:
    """As it arrives at another machine."""
    arrived: PreflightCheck = pickle.loads(pickle.dumps(check))
    return arrived


def test_a_study_works_where_it_is_sent(lab: Lab) -> None:
    study = replace(lab.study(), rate_limit=RateLimit(60_000, 9_000_000)).part(2)
    tasks, chosen = study.data.tasks(), lab.variants()
    arrived = pickle.loads(pickle.dumps(study))
    job = next(iter(study.jobs(tasks, chosen)))
    assert asyncio.run(arrived.work(job.spec))["quality"] > 0
    with preflight(study, tasks, chosen) as check:
        elsewhere(check)()
    assert not check.mark.exists()


def test_a_machine_that_does_not_see_the_runs_is_told(lab: Lab) -> None:
    study = lab.study()
    with preflight(study, study.data.tasks(), lab.variants()) as check:
        check.mark.unlink()
        with pytest.raises(ConfigError, match="does not see the runs in .*--folder"):
            elsewhere(check)()


def test_a_machine_with_another_company_is_told(lab: Lab) -> None:
    study = lab.study()
    with preflight(study, study.data.tasks(), lab.variants()) as check:
        other = replace(check, variants=[{**check.variants[0], "fingerprint": "0123456789abcdef"}])
        with pytest.raises(ConfigError, match="the company of 'alone · scripted' is another one on "):
            elsewhere(other)()


def test_what_keeps_every_job_from_being_done_is_found(lab: Lab) -> None:
    study = lab.study(runtime="no-such-set")
    with preflight(study, study.data.tasks(), lab.variants()) as check, pytest.raises(ConfigError, match="no-such-set"):
        elsewhere(check)()
