"""The limits of a provider, kept by all who share the limiter."""

from __future__ import annotations

import asyncio
import pickle
import time
from bisect import bisect_left
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev import Company, ConfigError
from chatdev.connection import Endpoint
from chatdev.llm.base import Message, RateLimit, Request, Sampling, Usage
from chatdev.llm.openai_model import OpenAIModel
from tests.engine.studio import TALK, Studio
from tests.llm.asking import ASK, KEY, complete, error
from tests.support.chat_server import ChatServer, Received, Scripted
from tests.support.virtual_time import run

LONG = Request((Message("user", "x" * 4000),), Sampling("m", max_tokens=1000))  # reckoned at 2,000 tokens


async def admissions(limit: RateLimit, callers: int, used: int = 0, request: Request = ASK) -> list[float]:
    """Seconds at which so many callers were let through that all came at once; each used so many tokens."""
    moments: list[float] = []

    async def call() -> None:
        async with limit.admission(request) as admission:
            moments.append(asyncio.get_running_loop().time())
            await asyncio.sleep(3)
            admission.correct(Usage(used, 0))

    await asyncio.gather(*(call() for _ in range(callers)))
    return moments


def most_in_a_minute(moments: list[float]) -> int:
    return max(n + 1 - bisect_left(moments, moments[n] - 60 + 1e-6) for n in range(len(moments)))


@settings(deadline=None, max_examples=30)
@given(limit=st.floats(1, 600), callers=st.integers(1, 300))
def test_no_minute_sees_more_requests_than_allowed_nor_many_fewer(limit: float, callers: int) -> None:
    moments = run(admissions(RateLimit(limit), callers))
    assert most_in_a_minute(moments) <= limit + 1
    assert moments[-1] <= (callers - 1) * 61 / limit + 0.01


@settings(deadline=None, max_examples=30)
@given(used=st.integers(1, 5000))
def test_tokens_are_counted_as_they_were_used_not_as_they_were_reckoned(used: int) -> None:
    moments = run(admissions(RateLimit(tokens=60_000), 200, used, LONG))
    assert most_in_a_minute(moments) * used <= 60_000 + 10 * max(used, 2000)  # some are under way
    assert moments[-1] <= 200 * used / 60_000 * 61 + 40  # seconds until it is learned


def test_who_comes_first_is_served_first() -> None:
    async def scene() -> list[int]:
        limit, served = RateLimit(60), []

        async def call(number: int) -> None:
            async with limit.admission(ASK):
                served.append(number)

        await asyncio.gather(*(call(n) for n in range(50)))
        return served

    assert run(scene()) == list(range(50))


def test_one_who_gives_up_waiting_takes_nothing() -> None:
    async def scene() -> float:
        limit = RateLimit(1)
        await admissions(limit, 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5), limit.admission(ASK):
                pass
        return (await admissions(limit, 1))[0]

    assert run(scene()) == pytest.approx(60, abs=2)


def test_a_share_is_a_part_of_the_limits() -> None:
    whole, quarter = (run(admissions(RateLimit(60, share=share), 20))[-1] for share in (1.0, 0.25))
    assert quarter == pytest.approx(4 * whole, rel=0.2)


def test_each_of_several_processes_gets_its_part_and_begins_anew() -> None:
    whole = RateLimit(60)
    alone = run(admissions(whole, 20))[-1]
    sent = pickle.loads(pickle.dumps(whole.part(4)))
    assert run(admissions(sent, 20))[-1] == pytest.approx(4 * alone, rel=0.2)


@pytest.mark.parametrize("wrong", [{"requests": 0}, {"tokens": -1}, {"share": 0}, {"share": 1.5},
                                   {"requests": float("nan")}])
def test_limits_that_are_none_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="give"):
        RateLimit(**wrong)


def test_every_attempt_counts_and_waiting_is_not_part_of_a_calls_time(chat_server: ChatServer) -> None:
    moments: list[float] = []

    def answer(_: Received) -> Scripted:
        moments.append(time.monotonic())
        return error(503) if len(moments) == 2 else Scripted("hello")

    async def scene() -> list[int]:
        limit = RateLimit(240)  # one in a quarter of a second
        models = [OpenAIModel(Endpoint(chat_server.url, KEY, longest=0.8), rate=limit) for _ in range(2)]
        replies = await asyncio.gather(*(model.complete(ASK) for model in models * 4))
        for model in models:
            await model.close()
        return [reply.retries for reply in replies]

    chat_server.script("hello")
    complete(chat_server)  # imports the client, which takes longer than a call
    chat_server.route(answer)
    started = time.monotonic()  # not the first arrival, which a busy machine may delay while the limit already counts
    assert sorted(asyncio.run(scene())) == [0] * 7 + [1]
    assert moments[-1] - started >= 0.25 * 8 - 1.0  # nine requests, less the credit of a second


def test_runs_share_one_limit(chat_server: ChatServer, tmp_path: Path) -> None:
    company = Company.load(Studio(tmp_path, chat_server).company({"talk": TALK}))
    chat_server.route(lambda _: Scripted("<SOLUTION> a name"))

    async def scene() -> float:
        limit, started = RateLimit(240), time.monotonic()
        runs = await asyncio.gather(*(company.arun("TASK", model="m", base_url=chat_server.url, sandbox="none",
                                                   warehouse=tmp_path / "w", rate_limit=limit) for _ in range(8)))
        assert [run.status for run in runs] == ["success"] * 8
        return time.monotonic() - started

    assert asyncio.run(scene()) >= 0.25 * 7 - 1.0 - 0.1
