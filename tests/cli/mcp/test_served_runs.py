"""The tool `run` of `chatdev mcp`, and the server over HTTP, in signals and without its package."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

import chatdev
from chatdev.runner.recorded import RecordedRun
from tests.cli.mcp.stage import ask, said
from tests.support.chat_server import ChatServer
from tests.support.copies import run_module, start_module

COMPANY = """
company: pages
about: Writes a short page.
inputs: {task: {about: The product., required: true}, facts: {about: What is known., kind: file}}
%s
roles: {writer: {title: Writer}}
phases:
  slogan: {about: Write a slogan., assistant: writer, reads: [task, "facts?"], writes: slogan,
           opening: "The product: {{ task }} {{ facts or '' }}"}
chain:
  - phase: slogan
  - {tool: value.check, reads: [slogan], writes: test}
success: test.passed
"""
REPLY = "<SOLUTION> Get it done"


@pytest.fixture
def pages(here: Path, monkeypatch: pytest.MonkeyPatch, chat_server: ChatServer) -> Path:
    """A working folder with a company, and a model server that the user's environment names."""
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-tests-0123456789")
    (here / "company.yaml").write_text(COMPANY % "background: A house.", encoding="utf-8")
    return here


pytestmark = pytest.mark.xdist_group("mcp")  # one worker, so that what they serve is imported once
OPTIONS = ("--sandbox", "none", "--model", "m")


def run(folder: Path, *options: str, **arguments: Any) -> tuple[Any, list[str]]:
    """The result of a run, and what was heard of it on its way."""
    heard: list[str] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def work(client: Client) -> Any:
        return await client.call_tool("run", {"task": "a to-do list", "company": "./company.yaml", **arguments},
                                      progress_callback=listen)

    return ask(folder, work, *OPTIONS, *options), heard


def test_a_run_tells_how_it_goes_on_and_what_came_of_it(pages: Path, chat_server: ChatServer) -> None:
    chat_server.script(REPLY)
    result, heard = run(pages, name="Todo")
    told = result.structured_content
    assert not result.is_error, said(result)
    assert (told["status"], told["verdict"]["passed"]) == ("success", True)
    assert told["summary"].startswith("success: the final test passed. 0 files")
    assert Path(told["folder"]).parent == pages / "warehouse"
    assert Path(told["folder"]).name.startswith("Todo-")
    assert chatdev.replay(told["folder"]).success
    assert [text.partition(" begins in ")[0] for text in heard] == [
        "pages", "slogan: Write a slogan.", "written: slogan", "slogan ended: consensus (1 call)", "value.check passed"]


def test_a_file_that_is_an_input_is_read_from_the_folder(pages: Path, chat_server: ChatServer) -> None:
    (pages / "facts.txt").write_text("It is blue.", encoding="utf-8")
    chat_server.script(REPLY)
    result, _ = run(pages, inputs={"facts": "facts.txt"})
    assert not result.is_error, said(result)
    assert "It is blue." in json.dumps(chat_server.requests[0].body)


@pytest.mark.parametrize(("arguments", "words"), [
    ({"inputs": {"facts": "/etc/passwd"}}, "lies outside of"),
    ({"path": "/etc"}, "lies outside of"),
    ({"company": "/etc/company.yaml"}, "lies outside of"),
    ({"company": "chatdeff"}, "there is no company 'chatdeff'"),
    ({"task": " "}, "the task is empty"),
    ({"company": "top", "inputs": {"pool": "postgresql://lake.example/x"}}, "names a place that a tool opens"),
])
def test_a_run_that_may_not_be_is_refused(pages: Path, chat_server: ChatServer, arguments: dict[str, Any],
                                          words: str) -> None:
    result, _ = run(pages, **arguments)
    assert result.is_error
    assert words in said(result)
    assert chat_server.requests == []
    assert not (pages / "warehouse").exists()


def test_what_a_company_names_needs_the_users_consent(pages: Path, chat_server: ChatServer) -> None:
    named = COMPANY % "mcp: {odd: {command: [x], tools: [say]}}"
    (pages / "company.yaml").write_text(named.replace("{title: Writer}", "{title: Writer, tools: [odd.say]}"))
    result, _ = run(pages)
    assert "your consent is needed" in said(result)
    assert "chatdev trust" in said(result)


def test_a_client_may_lower_a_limit_and_never_raise_it(pages: Path, chat_server: ChatServer) -> None:
    twice = (pages / "company.yaml").read_text().replace("- phase: slogan", "- phase: slogan\n  - phase: slogan")
    (pages / "company.yaml").write_text(twice)
    chat_server.script(REPLY, REPLY)
    result, _ = run(pages, "--max-calls", "1", max_calls=50)
    told = result.structured_content
    assert (told["status"], len(chat_server.requests)) == ("stopped", 1)


def test_a_run_that_is_cancelled_can_be_resumed(pages: Path, chat_server: ChatServer) -> None:
    def answer_late(_: object) -> str:
        time.sleep(0.3)
        return REPLY

    chat_server.route(answer_late)

    async def work(client: Client) -> None:
        began = asyncio.Event()

        async def listen(progress: float, total: float | None, message: str | None) -> None:
            if "Write a slogan" in (message or ""):
                began.set()

        calling = asyncio.create_task(client.call_tool(
            "run", {"task": "a list", "company": "./company.yaml"}, progress_callback=listen))
        await began.wait()
        calling.cancel()
        await asyncio.wait([calling])
        assert not (await client.call_tool("process_mine", {})).is_error  # the server goes on

    ask(pages, work, *OPTIONS)
    (folder,) = (pages / "warehouse").iterdir()
    assert RecordedRun.read(folder).status == "interrupted"
    chat_server.route(lambda _: REPLY)
    assert chatdev.resume(folder, sandbox="none", company=pages).success


# Over HTTP, in signals, and without the package.


def start(folder: Path, *options: str) -> subprocess.Popen[Any]:
    return start_module("chatdev", "mcp", *OPTIONS, *options, cwd=folder, stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_it_serves_over_http_on_this_machine(pages: Path, chat_server: ChatServer) -> None:
    chat_server.script(REPLY)
    server = start(pages, "--http", "0")
    try:
        assert server.stderr
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())

        async def work() -> Any:
            heard: list[str] = []

            async def listen(progress: float, total: float | None, message: str | None) -> None:
                heard.append(message or "")

            async with Client(address) as client:
                result = await client.call_tool("run", {"task": "a list", "company": "./company.yaml"},
                                                progress_callback=listen)
                return result.structured_content, heard

        told, heard = asyncio.run(work())
        assert told["status"] == "success"
        assert "value.check passed" in heard
    finally:
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=120)
    assert server.returncode == 143
    assert "Traceback" not in errors


def test_a_page_of_another_site_gets_nothing_over_http(pages: Path) -> None:
    import httpx2

    server = start(pages, "--http", "0")
    try:
        assert server.stderr
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
        question = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accept = {"accept": "application/json, text/event-stream"}
        for strange in ({"origin": "https://evil.example"}, {"host": "evil.example"}):
            answer = httpx2.post(address, json=question, headers={**accept, **strange}, timeout=60)
            assert answer.status_code in (403, 421)
    finally:
        server.kill()
        server.communicate()


def test_a_port_that_is_taken_is_named(pages: Path) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_module("chatdev", "mcp", "--http", str(port), cwd=pages)
    assert done.returncode == 2
    assert f"--http {port}: nothing can listen there" in done.stderr


def test_ctrl_c_ends_a_server_that_waits_for_its_client(pages: Path) -> None:
    server = start(pages)
    assert server.stdin
    assert server.stdout
    server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}) + "\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"] == "chatdev"
    server.send_signal(signal.SIGINT)
    assert server.wait(120) == 130
    server.communicate()


def test_nothing_but_the_protocol_is_on_standard_output(pages: Path, chat_server: ChatServer) -> None:
    chat_server.script(REPLY)
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                 "name": "run", "arguments": {"task": "a list", "company": "./company.yaml"}}}]
    server = start(pages)
    assert server.stdin
    assert server.stdout
    server.stdin.write("no JSON\n" + "".join(json.dumps(line) + "\n" for line in lines))
    server.stdin.flush()
    answers = [json.loads(server.stdout.readline()) for _ in range(2)]
    while answers[-1].get("id") != 2:
        answers.append(json.loads(server.stdout.readline()))
    assert answers[-1]["result"]["structuredContent"]["status"] == "success"
    rest, _ = server.communicate(timeout=120)  # closes its input
    assert (server.returncode, rest) == (0, "")


def test_without_its_package_the_line_to_install_it_is_given(pages: Path) -> None:
    program = "import sys; sys.modules['mcp'] = None; from chatdev.cli.app import main; main(['mcp'])"
    done = subprocess.run([sys.executable, "-c", program], cwd=pages, capture_output=True, text=True, check=False,
                          env=dict(os.environ))
    assert (done.returncode, done.stdout) == (4, "")
    assert "pip install 'chatdev-chain[mcp]'" in done.stderr
