"""The real local model behind its server, and a server that never outlives its parent."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.errors import MissingModel, ModelUnavailable
from chatdev.llm.base import Constraint, Message, Request, Sampling
from chatdev.llm.local.local_model import LocalModel, LocalServer
from tests.support.local_model import require_local_model

YES_OR_NO = Constraint(grammar='root ::= "Yes" | "No"')


def ask(text: str, constraint: Constraint | None = None, tokens: int = 40) -> Request:
    return Request((Message("user", text),), Sampling("local", temperature=0, max_tokens=tokens), constraint=constraint)


def test_without_weights_the_error_says_how_to_get_them() -> None:
    with pytest.raises(MissingModel, match="chatdev model pull"):
        LocalModel()


def test_without_llama_cpp_the_error_says_how_to_install_it(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    program = ("import sys\nfrom pathlib import Path\nsys.modules.update(xllamacpp=None)\n"
               "from chatdev.errors import MissingProgram\nfrom chatdev.llm.local.local_model import LocalModel\n"
               "try:\n    LocalModel(Path('model.gguf'))\nexcept MissingProgram as error:\n    print(error)\n")
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])})
    assert 'pip install "chatdev-chain[local]"' in done.stdout


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHATDEV_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(ModelUnavailable, match="CHATDEV_CACHE"):
        LocalServer(tmp_path / "model.gguf").start()


def test_a_file_that_is_no_model_ends_in_an_error_with_the_servers_words(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF not really a model")

    async def run() -> None:
        model = LocalModel(broken)
        try:
            await model.complete(ask("hi"))
        finally:
            await model.close()

    with pytest.raises(ModelUnavailable, match="ended while starting"):
        asyncio.run(run())


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
def test_a_reply_that_is_cut_is_not_written_to_its_end() -> None:
    require_local_model()
    story = replace(ask("Write a Python program of 300 lines: a text adventure with many rooms.", tokens=2000),
                    stop_when=lambda text: len(text) > 60)

    async def run() -> str:
        model = LocalModel()
        try:
            cut = await model.complete(story)
            assert (cut.finish, cut.usage.estimated, len(cut.text) < 500) == ("length", True, True)
            after = await model.complete(ask("Say hello.", tokens=4))
            assert not after.usage.estimated
            return model._server.log.read_text(errors="replace")
        finally:
            await model.close()

    assert "cancel task" in asyncio.run(run()), "the server wrote on, though nobody listened"


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
def test_it_answers_under_a_grammar_streams_and_serves_two_in_turn() -> None:
    require_local_model()
    pieces: list[str] = []

    async def run() -> list[str]:
        model = LocalModel()
        try:
            first, second = await asyncio.gather(model.complete(ask("Is Paris a city? Answer Yes or No.", YES_OR_NO)),
                                                 model.complete(ask("Count to 3.")))
            streamed = await model.complete(Request((Message("user", "Say hello."),), Sampling("local", max_tokens=10),
                                                    on_text=pieces.append))
            assert first.usage.completion_tokens > 0
            assert not first.usage.estimated
            return [first.text, second.text, streamed.text]
        finally:
            await model.close()

    yes, counted, hello = asyncio.run(run())
    assert yes == "Yes"
    assert "3" in counted
    assert "".join(pieces) == hello


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
def test_a_server_that_was_killed_is_started_again() -> None:
    require_local_model()

    model = LocalModel()
    killed: list[int] = []

    def kill_once(text: str) -> None:
        if not killed and model._server._child is not None:
            killed.append(model._server._child.pid)
            os.kill(killed[0], signal.SIGKILL)

    async def run() -> str:
        try:
            return (await model.complete(replace(ask("Count from 1 to 3.", tokens=10), on_text=kill_once))).text
        finally:
            await model.close()

    assert "1" in asyncio.run(run())
    assert killed


@pytest.mark.model
@pytest.mark.xdist_group("local-model")
def test_the_server_ends_with_its_parent_even_when_that_is_killed() -> None:
    require_local_model()
    program = ("import time\nfrom chatdev.llm.local.local_model import LocalServer\n"
               "from chatdev.llm.local.weights import installed_file\nserver = LocalServer(installed_file())\n"
               "server.start()\nprint(server._child.pid, flush=True)\ntime.sleep(60)\n")
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the server outlived its parent")


def test_the_key_of_the_server_is_in_no_repr_and_on_no_command_line() -> None:
    server = LocalServer(Path("model.gguf"))
    assert server.key not in repr(server)
