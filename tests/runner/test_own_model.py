"""Models of the caller's own: objects instead of names, with a key that is given."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

import chatdev
from chatdev import Company, ConfigError, ModelRejected, ScriptedModel
from chatdev.connection import Endpoint
from chatdev.errors import ModelCrashed, UnusableReply
from chatdev.llm.base import Reply, Request, Usage
from chatdev.llm.openai_model import OpenAIModel
from tests.support.chat_server import ChatServer, Scripted
from tests.support.slogans import COMPANY, REPLIES

KEY = "sk-own-a1b2c3d4e5f6g7h8"


@pytest.fixture
def company(here: Path) -> Company:
    """A company without files, in an empty working directory."""
    (here / "slogans").mkdir()
    (here / "slogans" / "company.yaml").write_text(COMPANY)
    return Company.load(here / "slogans")


def stopped(company: Company) -> Path:
    """The folder of a run whose model had only one answer."""
    run = company.run("a to-do list", model=ScriptedModel({"name": REPLIES["name"], "slogan": []}), sandbox="none")
    assert isinstance(run.error, ModelRejected)
    return run.folder


def test_an_object_that_answers_is_a_model(company: Company) -> None:
    model = ScriptedModel(REPLIES)
    run = company.run("a to-do list", model=model, sandbox="none")
    assert run.success, run.reason
    assert run.values["slogan"] == "Get it done"
    model.assert_done()
    assert chatdev.replay(run.folder).values["slogan"] == "Get it done"


def test_what_is_no_model_is_refused_before_anything_is_made(company: Company, here: Path) -> None:
    with pytest.raises(ConfigError, match="neither the name of a model nor a model"):
        company.run("a to-do list", model=7, sandbox="none")  # type: ignore[arg-type]
    assert not (here / "warehouse").exists()


def test_a_run_with_a_model_of_ones_own_goes_on_with_it(company: Company) -> None:
    folder = stopped(company)
    model = ScriptedModel(REPLIES)
    run = chatdev.resume(folder, model=model)
    assert run.success, run.reason
    assert [request.headers["X-ChatDev-Phase"] for request in model.requests] == ["slogan"]


@pytest.mark.parametrize("more", [{}, {"since": "name"}, {"base_url": "http://127.0.0.1:9/v1"}])
def test_without_its_model_the_run_does_not_go_on_and_says_why(company: Company, more: dict[str, str]) -> None:
    folder = stopped(company)
    before = (folder / "run" / "journal.jsonl").read_bytes()
    with pytest.raises(ConfigError, match=r"a model of your own \('scripted'\).*give it again, resume\("):
        chatdev.resume(folder, **more)  # type: ignore[arg-type]
    assert (folder / "run" / "journal.jsonl").read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_a_named_model_may_take_its_place(company: Company, chat_server: ChatServer) -> None:
    folder = stopped(company)
    chat_server.route(lambda request: "<SOLUTION> Done and done")
    run = chatdev.resume(folder, model="a-name", base_url=chat_server.url, api_key=KEY)
    assert run.success, run.reason
    assert run.values["slogan"] == "Done and done"
    assert chatdev.resume(folder, base_url=chat_server.url, api_key=KEY).success  # it is not asked for any more


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_model_serves_several_runs_each_with_a_loop_of_its_own(company: Company, chat_server: ChatServer) -> None:
    chat_server.route(lambda request: Scripted("<SOLUTION> Done", delay=0.05))

    async def at_once(model: OpenAIModel) -> list[chatdev.Run]:
        return await asyncio.gather(*(company.arun("a list", model=model, sandbox="none") for _ in range(2)))

    def one_after_the_other(model: OpenAIModel) -> None:
        for _ in range(2):
            assert [run.status for run in asyncio.run(at_once(model))] == ["success", "success"]
        assert company.run("a list", model=model, sandbox="none").success

    one_after_the_other(OpenAIModel(Endpoint(chat_server.url, KEY, concurrency=1), name="a-name"))
    assert chat_server.most_in_flight == 1
    gc.collect()  # what is left of connections whose loop is closed complains here


def test_a_further_task_needs_the_model_again(company: Company) -> None:
    done = company.run("a to-do list", model=ScriptedModel(REPLIES), sandbox="none")
    with pytest.raises(ConfigError, match="a model of your own"):
        chatdev.resume(done.folder, task="shorter")
    run = chatdev.resume(done.folder, task="shorter", model=ScriptedModel(REPLIES))
    assert run.success, run.reason


def test_a_key_and_an_address_may_be_given_and_the_key_is_nowhere(company: Company, chat_server: ChatServer) -> None:
    chat_server.route(lambda request: f"<SOLUTION> my key is {KEY}")
    seen = []
    run = company.run(f"a list with {KEY}", base_url=chat_server.url, api_key=KEY, sandbox="none",
                      on_event=lambda event: seen.append(str(event)))
    assert run.success, run.reason
    assert {request.headers["Authorization"] for request in chat_server.requests} == {f"Bearer {KEY}"}
    assert run.values["slogan"] == "my key is [secret]"
    told = "".join([*seen, repr(run), *(path.read_text(errors="replace") for path in run.folder.rglob("*")
                                        if path.is_file() and ".git" not in path.parts)])
    assert "[secret]" in told
    assert KEY not in told
    assert KEY not in repr(chatdev.RunOptions(api_key=KEY))
    chat_server.requests.clear()
    chat_server.route(lambda request: None)
    refused = chatdev.resume(run.folder, since="slogan", api_key=KEY, base_url=chat_server.url)
    assert KEY not in refused.reason


class OddModel:
    """Gives what is no reply."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    async def complete(self, request: Request) -> Reply:
        reply: Reply = self.reply
        return reply

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize("reply", [
    None, "hello", Reply(7), Reply("a", usage=Usage(None, 1)), Reply("a", usage=Usage(-1, 10**400)),  # type: ignore[arg-type]
    Reply("a", usage=Usage(float("nan"), 1)), Reply("a", finish=None), Reply("a", ({"name": "look"},)),  # type: ignore[arg-type]
], ids=range(8))
def test_what_is_no_reply_stops_the_run_so_that_it_can_go_on(company: Company, reply: object) -> None:
    run = company.run("a to-do list", model=OddModel(reply), sandbox="none")
    assert isinstance(run.error, UnusableReply)
    assert "no reply" in run.reason
    assert chatdev.resume(run.folder, model=ScriptedModel(REPLIES), sandbox="none").success


class OwnError(Exception):
    """An exception that breaks when it is shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class RaisingModel(OddModel):
    """Raises instead of answering."""

    async def complete(self, request: Request) -> Reply:
        raise self.reply


@pytest.mark.parametrize("raised", [
    ValueError("no such\nprompt"), KeyError("choices"), OwnError(), TimeoutError(), asyncio.CancelledError(),
    RecursionError("deep"), ExceptionGroup("several", [OSError("reset")]),
], ids=lambda raised: type(raised).__name__)
def test_what_a_model_raises_is_the_error_of_the_run(company: Company, raised: BaseException) -> None:
    run = company.run("a to-do list", model=RaisingModel(raised), sandbox="none")
    assert run.status == "error"
    assert isinstance(run.error, ModelCrashed)
    assert run.error.__cause__ is raised
    assert run.reason.startswith(f"the model 'RaisingModel' ended with an unexpected {type(raised).__name__}")
    assert "\n" not in run.reason
    assert chatdev.resume(run.folder, model=ScriptedModel(REPLIES), sandbox="none").success


def test_what_a_model_raises_on_purpose_stays_what_it_is(company: Company) -> None:
    raised = ModelRejected("the key is wrong")
    run = company.run("a to-do list", model=RaisingModel(raised), sandbox="none")
    assert (run.status, run.error) == ("error", raised)


def test_ctrl_c_within_a_model_interrupts_the_run(company: Company) -> None:
    run = company.run("a to-do list", model=RaisingModel(KeyboardInterrupt()), sandbox="none")
    assert run.status == "interrupted"
    assert chatdev.resume(run.folder, model=ScriptedModel(REPLIES), sandbox="none").success


def test_what_ends_a_program_passes_through_and_leaves_a_run(company: Company, here: Path) -> None:
    with pytest.raises(SystemExit):
        company.run("a to-do list", model=RaisingModel(SystemExit(3)), sandbox="none")
    folder = next((here / "warehouse").iterdir())
    assert chatdev.resume(folder, model=ScriptedModel(REPLIES), sandbox="none").success


class SlowModel(OddModel):
    """Never answers."""

    async def complete(self, request: Request) -> Reply:
        await asyncio.sleep(1000)
        return Reply("")


def test_a_run_cancelled_while_its_model_works_is_interrupted(company: Company, here: Path) -> None:
    async def cancel() -> None:
        task = asyncio.ensure_future(company.arun("a to-do list", model=SlowModel(None), sandbox="none"))
        await asyncio.sleep(0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    folder = next((here / "warehouse").iterdir())
    assert '"interrupted"' in (folder / "run" / "journal.jsonl").read_text()
    assert chatdev.resume(folder, model=ScriptedModel(REPLIES), sandbox="none").success
