"""Running where an event loop is running already, as in a notebook, and on the caller's own loop."""

from __future__ import annotations

import asyncio
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import chatdev
from chatdev import Company, ConfigError, Reply, Request, ScriptedModel
from chatdev.events import Event
from chatdev.journal import read_journal

COMPANY = """
company: slogans
about: Finds a slogan for a product.
inputs: {task: {about: The product., required: true}}
roles: {writer: {title: Writer}}
phases:
  slogan: {about: Write a slogan., assistant: writer, reads: [task], writes: slogan, opening: "The product: {{ task }}"}
chain:
  - phase: slogan
  - {tool: value.check, reads: [slogan], writes: test}
success: test.passed
"""
REPLY = "<SOLUTION> Get it done"


@pytest.fixture
def company(here: Path) -> Company:
    """A company of one call."""
    (here / "slogans").mkdir()
    (here / "slogans" / "company.yaml").write_text(COMPANY)
    return Company.load(here / "slogans")


def test_a_cell_of_a_notebook_may_run_resume_and_replay(company: Company) -> None:
    async def cell() -> None:
        run = company.run("a to-do list", model=ScriptedModel([REPLY]), sandbox="none")
        assert run.success, run.reason
        assert chatdev.resume(run.folder, model=ScriptedModel([])).success
        assert chatdev.replay(run.folder).success
        assert chatdev.run("a list", "slogans", model=ScriptedModel([REPLY]), sandbox="none").success
        with pytest.raises(ConfigError, match="the task is empty"):
            company.run("", model=ScriptedModel([]), sandbox="none")

    asyncio.run(cell())


def test_whoever_has_a_loop_may_await_all_three(company: Company) -> None:
    async def work() -> None:
        run = await chatdev.arun("a to-do list", "slogans", model=ScriptedModel([REPLY]), sandbox="none")
        assert run.success, run.reason
        assert (await chatdev.aresume(run.folder, model=ScriptedModel([]))).success
        assert (await chatdev.areplay(run.folder)).success

    asyncio.run(work())


class Endless:
    """A model that never answers; Ctrl-C comes when it is asked."""

    name = "endless"

    async def complete(self, request: Request) -> Reply:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await asyncio.sleep(3600)
        return Reply("")

    async def close(self) -> None:
        pass


def test_ctrl_c_in_a_notebook_ends_the_run_and_keeps_it(company: Company) -> None:
    async def cell() -> chatdev.Run:
        return company.run("a to-do list", model=Endless(), sandbox="none")

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    loop = asyncio.new_event_loop()
    try:
        run = loop.run_until_complete(cell())
    finally:
        loop.close()
        signal.signal(signal.SIGINT, before)
    assert run.status == "interrupted"
    assert "**interrupted**" in (run.folder / "run" / "report.md").read_text()


def test_ctrl_c_without_a_loop_ends_the_run_and_keeps_it(company: Company) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run = company.run("a to-do list", model=Endless(), sandbox="none")
    finally:
        signal.signal(signal.SIGINT, before)
    assert run.status == "interrupted"


def test_a_listener_that_raises_ends_no_run(company: Company) -> None:
    heard: list[str] = []

    def listen(event: Event) -> None:
        heard.append(event.kind)
        raise ValueError("a log that is full")

    run = company.run("a to-do list", model=ScriptedModel([REPLY]), sandbox="none", on_event=listen)
    assert run.success, run.reason
    assert run.notes == ["the listener of events (on_event) failed at RunStarted (ValueError: a log that is full); "
                         "the run goes on"]
    assert heard[-1] == "RunFinished"
    assert list(read_journal(run.folder / "run" / "journal.jsonl"))[-1]["kind"] == "RunFinished"

    async def follow() -> list[str]:
        events = company.events("a to-do list", model=ScriptedModel([REPLY]), sandbox="none", on_event=listen)
        return [event.kind async for event in events]

    before = len(heard)
    assert asyncio.run(follow()) == heard[before:]


def test_a_listener_that_raises_at_the_end_leaves_a_whole_journal(company: Company) -> None:
    def listen(event: Event) -> None:
        if event.kind == "RunFinished":
            raise ValueError("too late")

    run = company.run("a to-do list", model=ScriptedModel([REPLY]), sandbox="none", on_event=listen)
    assert run.success
    assert "failed at RunFinished" in run.notes[0]
    assert list(read_journal(run.folder / "run" / "journal.jsonl"))[-1]["kind"] == "RunFinished"


def test_a_run_in_a_thread_leaves_the_signals_alone(company: Company) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(company.run, "a to-do list", model=ScriptedModel([REPLY]), sandbox="none").result()
    assert run.success
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
