"""Keys planted wherever people keep them, and a server that repeats them all: nothing that a run leaves holds one."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Reply, Request
from chatdev.errors import ModelCrashed
from chatdev.events import Event
from chatdev.sandbox.base import SandboxJob
from chatdev.sandbox.bubblewrap import Bubblewrap
from tests.support.chat_server import Received, Scripted
from tests.support.planted import BASIC, EVERYTHING, KEY, ROLE_KEY, URL_PASSWORD, Plantation, parroting
from tests.support.shop import FIRST, Shop


@pytest.fixture
def plantation(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Plantation:
    return Plantation(shop, Path(os.environ["HOME"]))


def complaining(status: int) -> Callable[[Received], Any]:
    """The first call succeeds; the second is refused in a text that repeats everything."""
    def answer(request: Received) -> Any:
        if request.headers["X-ChatDev-Activity"] == FIRST:
            return parroting(request)
        said = f"{EVERYTHING} {json.dumps(request.headers)}"
        return Scripted(status=status, headers={"X-Key": KEY}, body={"error": {"message": said, "code": KEY}})
    return answer


def test_the_keys_are_used_where_they_belong(plantation: Plantation) -> None:
    """Else the other tests would prove nothing."""
    plantation.shop.server.route(parroting)
    assert plantation.run().status == 0
    assert [r.headers["authorization"] for r in plantation.shop.server.requests] == [f"Basic {BASIC}"] * 2
    plantation.run("--base-url", plantation.shop.server.url)
    assert [r.headers["authorization"] for r in plantation.shop.server.requests[2:]] == [
        f"Bearer {ROLE_KEY}", f"Bearer {KEY}"]


@pytest.mark.parametrize("flags", [(), ("--stream", "--verbose"), ("--json",), ("--json", "--stream"), ("--quiet",)])
def test_a_run_that_succeeds_leaves_none(plantation: Plantation, flags: tuple[str, ...]) -> None:
    plantation.shop.server.route(parroting)
    outcome = plantation.run(*flags)
    outcome.assert_succeeded()
    plantation.assert_clean(outcome.out, outcome.err)
    assert "[secret]" in outcome.software.text("main.py")


def test_prompts_never_hold_what_a_reply_brought_in(plantation: Plantation) -> None:
    plantation.shop.server.route(parroting)
    plantation.run()
    plantation.assert_clean(*(json.dumps(request.body) for request in plantation.shop.server.requests))


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_run_that_fails_leaves_none_not_even_in_a_traceback(plantation: Plantation, status: int) -> None:
    plantation.shop.server.route(complaining(status))
    outcome = plantation.run(debug=True)
    assert outcome.status == 3, outcome.err
    assert "Traceback" in outcome.err
    plantation.assert_clean(outcome.out, outcome.err)


def test_a_run_that_cannot_start_leaves_none(plantation: Plantation) -> None:
    for address in (plantation.address.replace("http", "gopher"), f"{plantation.address} {KEY}"):
        outcome = plantation.run("--base-url", address, debug=True)
        assert outcome.status == 2
        plantation.assert_clean(outcome.out, outcome.err)


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_interrupted_leaves_none(plantation: Plantation, stop: signal.Signals) -> None:
    def answer(request: Received) -> Any:
        return parroting(request) if request.headers["X-ChatDev-Activity"] == FIRST else Scripted("late", delay=60)

    plantation.shop.server.route(answer)
    process = plantation.start()
    deadline = time.monotonic() + 30
    while len(plantation.shop.server.requests) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(stop)
    outcome = plantation.shop.finish(process)
    assert outcome.status in (130, -signal.SIGKILL)
    plantation.assert_clean(outcome.out, outcome.err)


def test_a_run_that_crashes_leaves_none(plantation: Plantation, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in plantation.shop.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(plantation.work)
    plantation.shop.server.route(parroting)

    class Crash:
        async def complete(self, request: Request) -> Reply:
            raise RuntimeError(f"a model that knows {EVERYTHING}")

        async def close(self) -> None:
            pass

    def fail(event: Event) -> None:
        raise RuntimeError(f"a listener that knows {EVERYTHING}")

    run = Company.load(plantation.shop.company).run("TASK", warehouse=plantation.shop.warehouse, on_event=fail,
                                                    model=Crash(), trust=True)
    assert isinstance(run.error, ModelCrashed)
    report = next(plantation.shop.warehouse.glob("*/run/report.md")).read_text()
    assert r"unexpected RuntimeError: a model that knows \[secret\]" in report
    assert r"(RuntimeError: a listener that knows \[secret\]" in report
    plantation.assert_clean()


def test_a_key_in_the_task_or_the_software_goes_no_further(plantation: Plantation) -> None:
    plantation.shop.server.route(parroting)
    task, software = plantation.work / "task.txt", plantation.work / "old"
    task.write_text(f"{KEY} is my key", encoding="utf-8")
    software.mkdir()
    (software / "settings.ini").write_text(f"key = {KEY}\n", encoding="utf-8")
    outcome = plantation.run("--path", str(software), "--name", f"x {ROLE_KEY}", task=f"@{task}")
    task.unlink()
    (software / "settings.ini").unlink()
    requests = [json.dumps([r.body, r.headers["X-ChatDev-Run"]]) for r in plantation.shop.server.requests]
    plantation.assert_clean(outcome.out, outcome.err, *requests)
    assert outcome.software.text("settings.ini") == "key = [secret]\n"


@pytest.mark.parametrize("change", [f"roles.maker.prompt='use {KEY}'", f"model.base_url=http://ann:{URL_PASSWORD}@h/v1",
                                    f"roles.maker.model.key_env={KEY}"])
def test_a_company_that_holds_a_key_is_refused_without_showing_it(plantation: Plantation, change: str) -> None:
    outcome = plantation.run("--set", change, debug=True)
    assert outcome.status == 2
    assert "key_env" in outcome.err
    assert plantation.shop.server.requests == []
    plantation.assert_clean(outcome.out, outcome.err)


def test_a_key_in_the_settings_file_is_refused_without_showing_it(plantation: Plantation) -> None:
    settings = plantation.home / "config" / "chatdev" / "settings.yaml"
    settings.write_text("api_key: sk-unknown-to-all-77\n", encoding="utf-8")
    outcome = plantation.run(debug=True)
    assert outcome.status == 2
    assert "unknown key 'api_key'" in outcome.err
    assert "sk-unknown" not in outcome.err


SPY = """
import glob, os
print(dict(os.environ))
for pattern in ("/proc/*/environ", "/proc/*/cmdline", "/proc/*/task/*/environ", "/home/**/*", "/tmp/**/*", "/root/**/*",
                "/etc/*", "/box/**/*", "/run/**/*", "/proc/*/fd/*"):
    for path in glob.glob(pattern, recursive=True, include_hidden=True):
        try:
            with open(path, "rb") as file:
                print(path, file.read(100_000))
        except OSError:
            pass
"""


@pytest.mark.tool
def test_a_program_in_the_sandbox_sees_none(plantation: Plantation, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in plantation.shop.environment.items():
        monkeypatch.setenv(name, value)
    box = plantation.shop.folder / "box"
    box.mkdir()
    (box / "spy.py").write_text(SPY, encoding="utf-8")
    execution = Bubblewrap().run(SandboxJob(["/usr/bin/python3", "spy.py"], box))
    assert execution.exit_status == 0, execution.stderr
    assert "/proc/self/environ" in execution.stdout
    plantation.assert_clean(execution.stdout, execution.stderr)
