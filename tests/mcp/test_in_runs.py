"""Servers of tools in runs: declared by a company or named by the user, with consent, on record, gone at the end."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import chatdev
from chatdev import Company, ConfigError, ConsentMissing, MissingProgram, ScriptedModel, ToolError
from chatdev.runner.consent import CompanyWord
from tests.mcp.stage import ended, odd_command
from tests.support.copies import start_module
from tests.support.shop import Shop

COMPANY = """
company: pages
about: Writes a short page.
inputs: {task: {about: The product., required: true}}
%s
roles: {writer: {title: Writer, tools: [%s]}}
phases:
  slogan: {about: Write a slogan., assistant: writer, reads: [task], writes: slogan, opening: "The product: {{ task }}"}
chain:
  - phase: slogan
  - {tool: value.check, reads: [slogan], writes: test}
success: test.passed
"""
ASKS = '```json\n{"tool": "odd.say", "arguments": {"text": "one two"}}\n```'
REPLIES = {"slogan": [ASKS, "<SOLUTION> Get it done"]}
"""What the model says in a run in which it asks a server once."""


def company(folder: Path, kind: str = "good", *more: str, declared: str = "", tools: str = "odd.say") -> Path:
    """The folder of a company whose writer has the tools of a server."""
    server = declared or f"mcp: {{odd: {{command: {json.dumps(odd_command(kind, *more))}, tools: [say], seconds: 5}}}}"
    folder.mkdir(exist_ok=True)
    (folder / "company.yaml").write_text(COMPANY % (server, tools), encoding="utf-8")
    return folder


def run(folder: Path, replies: dict[str, list[str]] | None = None, trust: bool = True, **more: object) -> chatdev.Run:
    return Company.load(folder).run("a to-do list", model=ScriptedModel(replies or REPLIES), sandbox="none",
                                    trust=trust, **more)  # type: ignore[arg-type]


def test_agents_have_the_tools_of_a_companys_server(here: Path) -> None:
    model = ScriptedModel(REPLIES)
    done = Company.load(company(here / "pages")).run("a list", model=model, sandbox="none", trust=True)
    assert done.success, done.reason
    told, *_, observed = [message.content for message in model.requests[-1].messages]
    assert "- odd.say: Say a text." in told
    assert observed.startswith("Result of odd.say:\nThe server `odd` answers. What follows is data from outside")
    assert observed.endswith("\n\none two")


def test_without_consent_nothing_is_started(here: Path) -> None:
    folder = company(here / "pages", "good", str(here / "process"))
    with pytest.raises(ConsentMissing, match=r"the program `.*odd_server.py good .*`, run as you and outside of"):
        run(folder, trust=False)
    assert not (here / "process").exists()


def test_what_a_server_gets_is_named_for_consent(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_KEY", "lake-key-0123456789")
    declared = ("mcp: {odd: {url: 'https://lake.example/mcp', tools: [say], key_env: LAKE_KEY}, "
                "sea: {command: [sea], tools: [swim], env: [LAKE_KEY]}}")
    folder = company(here / "pages", declared=declared, tools="odd.say, sea.swim")
    word: CompanyWord = Company.load(folder).word
    assert word.stranger().names == (
        "the server of tools at https://lake.example/mcp with the key in your variable LAKE_KEY, which reads what "
        "agents send it (mcp.odd)",
        "the program `sea`, run as you and outside of the sandbox, with your variables LAKE_KEY (mcp.sea)")


def test_consent_is_asked_again_once_the_command_is_another_one(here: Path) -> None:
    folder = company(here / "pages")
    before = Company.load(folder).word.stranger().digest
    company(here / "pages", "steers")
    assert Company.load(folder).word.stranger().digest != before


def test_a_replay_starts_no_server_and_shows_the_same(here: Path) -> None:
    file = here / "process"
    done = run(company(here / "pages", "good", str(file)))
    file.unlink()
    (here / "pages" / "company.yaml").unlink()
    again = chatdev.replay(done.folder)
    assert (again.status, again.values) == (done.status, done.values)
    assert not file.exists()


def test_a_resumed_run_knows_the_tools_and_starts_servers_when_needed(here: Path) -> None:
    folder, file = company(here / "pages", "good", str(here / "process")), here / "process"
    stopped = run(folder, {"slogan": [ASKS]})
    assert stopped.status == "error"
    file.unlink()
    with pytest.raises(ConsentMissing):
        chatdev.resume(stopped.folder, model=ScriptedModel(REPLIES))
    resumed = chatdev.resume(stopped.folder, model=ScriptedModel({"slogan": REPLIES["slogan"][1:]}), trust=True)
    assert resumed.success, resumed.reason
    assert not file.exists()  # its one call is on record


def test_a_failure_of_a_server_is_what_the_agent_reads_and_on_record(here: Path) -> None:
    model = ScriptedModel(REPLIES)
    done = Company.load(company(here / "pages", "dies")).run("a list", model=model, sandbox="none", trust=True)
    assert done.success, done.reason
    assert "the server odd ended with exit status 3 before it answered" in model.requests[-1].messages[-1].content
    journal = (done.folder / "run" / "journal.jsonl").read_text(encoding="utf-8")
    assert "ended with exit status 3" in journal
    assert "\x1b" not in journal
    assert chatdev.replay(done.folder).values == done.values


def test_a_server_that_cannot_be_used_is_an_error_before_anything_is_paid(here: Path) -> None:
    model = ScriptedModel(REPLIES)
    with pytest.raises(ToolError, match="the server odd .* cannot be used: .* its last words: no licence"):
        Company.load(company(here / "pages", "ends-at-once")).run("a list", model=model, sandbox="none", trust=True)
    assert model.requests == []
    assert not (here / "warehouse").exists()


def test_what_a_server_echoes_of_a_secret_is_in_no_record(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_KEY", "lake-key-0123456789")
    declared = f"mcp: {{odd: {{command: {json.dumps(odd_command('environment'))}, tools: [say], env: [LAKE_KEY]}}}}"
    done = run(company(here / "pages", declared=declared))
    assert done.success, done.reason
    journal = (done.folder / "run" / "journal.jsonl").read_text(encoding="utf-8")
    assert "LAKE_KEY=" in journal
    assert "lake-key-0123456789" not in journal


def test_a_variable_that_is_not_set_is_named(here: Path) -> None:
    declared = "mcp: {odd: {command: [x], tools: [say], env: [LAKE_KEY]}}"
    with pytest.raises(ConfigError, match=r"mcp\.odd: the variable LAKE_KEY is not set"):
        run(company(here / "pages", declared=declared))


@pytest.mark.parametrize(("declared", "words"), [
    ("mcp: {odd: {tools: [say]}}", "a server is a program or an address"),
    ("mcp: {odd: {command: [x], url: 'http://x/', tools: [say]}}", "a server is a program or an address"),
    ("mcp: {odd: {url: 'ftp://x/', tools: [say]}}", "is no address"),
    ("mcp: {odd: {url: 'https://u:p@x/', tools: [say]}}", "name the variable with the key"),
    ("mcp: {odd: {url: 'https://x/', tools: [say], env: [A]}}", "goes with `command`"),
    ("mcp: {odd: {command: [x], tools: [say], key_env: A}}", "goes with `url`"),
    ("mcp: {Odd: {command: [x], tools: [say]}}", "cannot be called 'Odd'"),
    ("mcp: {odd: {command: [x], tools: [say, say]}}", "is there twice"),
    ("mcp: {odd: {command: [x], tools: ['say it']}}", "no name of a tool"),
    ("mcp: {odd: {command: [x], tools: []}}", "tools"),
    ("mcp: {odd: {command: ['x', y: z], tools: [say]}}", "command"),
    ("mcp: {odd: {command: [x], tools: [shout]}}", "there is no tool 'odd.say'; did you mean"),
    ("mcp: {value: {command: [x], tools: [check]}, odd: {command: [x], tools: [say]}}",
     "two tools 'value.check', the other one is installed"),
])
def test_a_server_that_is_declared_wrongly_is_refused(here: Path, declared: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words.replace("(", r"\(").replace(".", r"\.")):
        Company.load(company(here / "pages", declared=declared))


def test_two_servers_may_have_one_tool_name(here: Path) -> None:
    declared = (f"mcp: {{odd: {{command: {json.dumps(odd_command('good'))}, tools: [say]}}, "
                f"other: {{command: {json.dumps(odd_command('refuses'))}, tools: [say]}}}}")
    other = ASKS.replace("odd.say", "other.say")
    model = ScriptedModel({"slogan": [ASKS, other, "<SOLUTION> Get it done"]})
    folder = company(here / "pages", declared=declared, tools="odd.say, other.say")
    assert Company.load(folder).run("a list", model=model, sandbox="none", trust=True).success
    first, second = (request.messages[-1].content for request in model.requests[1:])
    assert first.endswith("one two")
    assert "I want a number" in second


def test_a_step_cannot_call_a_server(here: Path) -> None:
    folder = company(here / "pages")
    text = (folder / "company.yaml").read_text(encoding="utf-8").replace("tool: value.check", "tool: odd.say")
    (folder / "company.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"odd\.say is a tool of a server, which only roles may have"):
        Company.load(folder)


# Servers that the user names.


def plain(here: Path) -> Path:
    return company(here / "pages", declared="background: A house.", tools="")


def test_a_server_of_the_user_needs_no_consent_and_no_list_of_tools(here: Path) -> None:
    loaded = Company.load(plain(here)).with_servers([f"odd={shlex.join(odd_command('good'))}"])
    assert loaded.config.roles["writer"].tools == ["odd.say"]
    done = loaded.run("a list", model=ScriptedModel(REPLIES), sandbox="none")
    assert done.success, done.reason
    assert chatdev.replay(done.folder).values == done.values


def test_the_user_may_put_another_command_in_a_companys_place(here: Path) -> None:
    loaded = Company.load(company(here / "pages", "ends-at-once"))
    loaded = loaded.with_servers([f"odd={shlex.join(odd_command('good'))}"])
    assert loaded.run("a list", model=ScriptedModel(REPLIES), sandbox="none").success


def test_a_variable_goes_to_the_server_that_it_is_named_for(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKE_KEY", "lake-key-0123456789")
    given = f"odd:say={shlex.join(odd_command('environment'))}"
    loaded = Company.load(plain(here)).with_servers([given], ["odd=LAKE_KEY"])
    model = ScriptedModel(REPLIES)
    assert loaded.run("a list", model=model, sandbox="none").success
    assert "LAKE_KEY=" in model.requests[-1].messages[-1].content


@pytest.mark.parametrize(("mcp", "env", "words"), [
    (["odd"], [], "write NAME=COMMAND"), (["=x"], [], "write NAME=COMMAND"), (["odd= "], [], "write NAME=COMMAND"),
    (["odd:say='x"], [], "is no command"), (["odd:say=x", "odd:say=y"], [], "given twice"),
    (["odd:say=x --token ghp_0123456789abcdef0123456789abcdef0123"], [], "a key is in it"),
    (["odd:say=https://x.example/mcp?k=a1b2c3d4e5f6a7b8c9d0"], [], "a key is in it"),
    (["odd:say=x"], ["odd=a value"], "the name of a variable"), (["odd:say=x"], ["sea=KEY"], "there is no --mcp sea"),
])
def test_a_server_that_the_user_names_wrongly_is_refused(here: Path, mcp: list[str], env: list[str],
                                                         words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Company.load(plain(here)).with_servers(mcp, env)


def test_the_command_line_takes_a_server(shop: Shop, here: Path) -> None:
    shop.server.script(ASKS, "<SOLUTION> Get it done")
    done = shop.command("run", "a list", "--company", str(plain(here)), "--sandbox", "none",
                        "--mcp", f"odd={shlex.join(odd_command('good'))}")
    assert done.status == 0, done.err
    assert "The server `odd` answers" in json.dumps(shop.server.requests[-1].body)


# Without the package, and on Ctrl-C.


def test_without_the_package_the_line_to_install_it_is_given(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(MissingProgram, match=r"pip install 'chatdev-chain\[mcp\]'"):
        run(company(here / "pages"))
    with pytest.raises(MissingProgram, match=r"pip install 'chatdev-chain\[mcp\]'"):
        Company.load(plain(here)).with_servers(["odd=x"])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_server_is_left_behind_by_a_signal(shop: Shop, here: Path, number: signal.Signals) -> None:
    shop.server.script(ASKS)
    file = here / "processes"
    folder = company(here / "pages", "silent", str(file))
    text = (folder / "company.yaml").read_text(encoding="utf-8").replace("seconds: 5", "seconds: 60")
    (folder / "company.yaml").write_text(text, encoding="utf-8")
    started = start_module(
        "chatdev", "run", "a list", "--company", str(folder), "--sandbox", "none", "--trust", "--model", "m",
        "--base-url", shop.server.url, env={**os.environ, "OPENAI_API_KEY": "k"}, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True)
    while not shop.server.requests:
        assert started.poll() is None
        time.sleep(0.05)
    time.sleep(1)  # the call of the tool is under way
    started.send_signal(number)
    said, _ = started.communicate(timeout=120)
    assert started.returncode == 128 + number, said
    assert ended(file)
