"""Keys planted everywhere, and runs that go on, are played again, install packages and try programs that look for
them: nothing that is left holds one."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.engine.studio import CHANGE, WRITE, Studio, program
from tests.support.chat_server import Received, Scripted
from tests.support.planted import EVERYTHING, KEY, TOKEN, Plantation, parroting
from tests.support.shop import BETTER, FIRST, HELLO, SECOND, Outcome, Shop

TRY = {"tool": "software.run", "writes": "test"}


@pytest.fixture
def plantation(shop: Shop) -> Plantation:
    return Plantation(shop, Path(os.environ["HOME"]))


def killed(plantation: Plantation) -> Path:
    """The folder of a run that was killed during its second call."""
    def answer(request: Received) -> Any:
        return parroting(request) if request.headers["X-ChatDev-Activity"] == FIRST else Scripted("late", delay=60)

    plantation.shop.server.route(answer)
    process = plantation.start()
    deadline = time.monotonic() + 30
    while len(plantation.shop.server.requests) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    folder = plantation.shop.finish(process).folder
    assert folder is not None
    return folder


def assert_clean(plantation: Plantation, outcome: Outcome, status: int = 0) -> None:
    assert outcome.status == status, outcome.out + outcome.err
    plantation.assert_clean(outcome.out, outcome.err)


def test_a_run_that_goes_on_and_is_played_again_leaves_none(plantation: Plantation) -> None:
    folder = str(killed(plantation))
    plantation.shop.server.route(parroting)
    assert_clean(plantation, plantation.command("resume", folder, "--trust", "--stream", "--verbose"))
    assert_clean(plantation, plantation.command("resume", folder, "--trust", "--from", "change#1", "--json"))
    assert_clean(plantation, plantation.command("resume", folder, "--trust", "--task", f"also show {KEY}"))
    assert_clean(plantation, plantation.command("replay", folder, "--verbose"))


def test_neither_does_one_that_would_now_ask_something_else(plantation: Plantation) -> None:
    folder = str(killed(plantation))
    file = plantation.shop.company / "company.yaml"
    company = yaml.safe_load(file.read_text(encoding="utf-8"))
    company["phases"]["write"]["opening"] = f"NOW {{{{ task }}}} {TOKEN[:-1]}"
    file.write_text(yaml.safe_dump(company, sort_keys=False), encoding="utf-8")
    outcome = plantation.command("resume", folder, "--trust", "--company", str(plantation.shop.company), debug=True)
    assert "would not be asked what it was asked before" in outcome.err
    assert_clean(plantation, outcome, status=2)


SPY = f"""
import glob, os, sys
for pattern in ("/proc/*/environ", "/proc/*/cmdline", "{{work}}/.env", "{{home}}/.*", "{{home}}/config/*/*"):
    for path in glob.glob(pattern, include_hidden=True):
        try:
            with open(path, "rb") as file:
                text = file.read(100_000)
        except OSError:
            continue
        if any(key in text for key in {[key.encode() for key in EVERYTHING.split()]!r}):
            print(path, text)
print(dict(os.environ), file=sys.stderr)
sys.exit(1)
"""


@pytest.mark.tool
@pytest.mark.parametrize("sandbox", ["none", "bubblewrap"])
def test_what_a_program_finds_and_prints_is_left_nowhere(plantation: Plantation, sandbox: str) -> None:
    """Without a sandbox it finds our environment and `.env`; what it reports of them is replaced before it is read."""
    if sandbox == "bubblewrap" and not shutil.which("bwrap"):
        pytest.fail("bubblewrap is not installed: apt-get install bubblewrap")
    phase = {**CHANGE, "feedback": "software.run", "rounds": 2}
    keyed = {**WRITE, "model": {"key_env": "ACME_ROLE", "name": "m"}}
    Studio(plantation.shop.folder, plantation.shop.server).company({"write": keyed, "change": phase}, [
        {"phase": "write"}, {"phase": "change"}, TRY], success="test.passed")
    spy = SPY.format(work=plantation.work, home=plantation.home)
    hidden = program(f"exec(bytes.fromhex('{spy.encode().hex()}'))")  # the keys in its text are no find
    plantation.shop.route({FIRST: f"<SOLUTION>\n{hidden}", SECOND: f"{hidden}\n# again",
                           "change#1/round-2/instructor": "Go on.",
                           "change#1/round-2/assistant": f"{hidden}\n# and again"})
    outcome = plantation.run("--sandbox", sandbox)
    assert_clean(plantation, outcome, status=1)
    said = "".join(str(request.body) for request in plantation.shop.server.requests)
    plantation.assert_clean(said)
    assert ("/.env" in outcome.report + said) == (sandbox == "none"), "only without a sandbox is there a find"


@pytest.mark.tool
def test_an_index_with_a_password_is_asked_and_not_told(plantation: Plantation) -> None:
    Studio(plantation.shop.folder, plantation.shop.server).company({"write": WRITE}, [{"phase": "write"}, TRY],
                                                                   success="test.passed")
    plantation.shop.route({FIRST: "<SOLUTION>\n" + program("import requests\nprint(requests)")})
    plantation.shop.environment["PIP_CONFIG_FILE"] = os.devnull
    outcome = plantation.run()
    assert "requests" in outcome.report
    assert_clean(plantation, outcome, status=1)


@pytest.mark.tool
def test_no_program_that_we_start_gets_one(plantation: Plantation) -> None:
    """`bwrap`, found first on the path, writes down what it is given; so does a `git` that nobody should start."""
    real, folder, seen = shutil.which("bwrap"), plantation.shop.folder / "bin", plantation.shop.folder / "seen"
    assert real, "bubblewrap is not installed: apt-get install bubblewrap"
    folder.mkdir()
    for name in ("bwrap", "git"):
        (folder / name).write_text(f"#!/bin/sh\n{{ echo {name}; env; echo \"$@\"; }} >> {seen}\nexec {real} \"$@\"\n")
        (folder / name).chmod(0o755)
    plantation.shop.environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    keyed = {**WRITE, "model": {"key_env": "ACME_ROLE", "name": "m"}}
    Studio(plantation.shop.folder, plantation.shop.server).company({"write": keyed}, [{"phase": "write"}, TRY],
                                                                   success="test.passed")
    plantation.shop.server.route(parroting)
    assert_clean(plantation, plantation.run("--sandbox", "bubblewrap"))
    assert "--unshare" in seen.read_text()
    assert "git\n" not in seen.read_text()


def test_no_log_of_a_library_shows_one(plantation: Plantation) -> None:
    plantation.shop.environment |= {"OPENAI_LOG": "debug", "HTTPX_LOG_LEVEL": "trace", "PYTHONDEVMODE": "1"}
    plantation.shop.server.route(parroting)
    outcome = plantation.run()
    assert_clean(plantation, outcome)


def test_the_git_settings_of_the_user_are_not_read(plantation: Plantation) -> None:
    (plantation.home / ".gitconfig").write_text(f"[user]\n name = {KEY}\n[http]\n extraHeader = {TOKEN}\n")
    plantation.shop.server.route(lambda request: HELLO if request.headers["X-ChatDev-Activity"] == FIRST else BETTER)
    outcome = plantation.run()
    (plantation.home / ".gitconfig").unlink()
    assert_clean(plantation, outcome)


def test_the_doctor_tells_none(plantation: Plantation) -> None:
    plantation.shop.server.route(lambda _: Scripted(status=401, body={"error": EVERYTHING}))
    for flags in ((), ("--json",)):
        outcome = plantation.command("doctor", *flags)
        assert "127.0.0.1" in outcome.out
        plantation.assert_clean(outcome.out, outcome.err)


def test_keys_in_a_dotenv_of_the_software_to_start_from_go_no_further(plantation: Plantation) -> None:
    old, stripe = plantation.work / "old", "sk_live_of-the-users-shop-42"
    (old / "config").mkdir(parents=True)
    (old / ".env").write_text(f"STRIPE_KEY={stripe}\nno setting\nPORT=8080\n")
    (old / "config" / ".env.local").write_text("DB_PASSWORD='another-one-of-the-user'\n")
    (old / "main.py").write_text(f"print('{stripe}', 'another-one-of-the-user', 8080)\n")
    plantation.shop.server.route(lambda request: BETTER)
    outcome = plantation.run("--path", str(old), "--without", "write")
    said = "".join(str(request.body) for request in plantation.shop.server.requests)
    journal = (outcome.folder / "run" / "journal.jsonl").read_text() if outcome.folder else ""
    for text in (said, journal, outcome.out, *(outcome.software.text(path) for path in outcome.software)):
        assert stripe not in text
        assert "another-one-of-the-user" not in text
    assert "PORT=8080" in outcome.software.text(".env")


def test_ordinary_variables_spoil_no_program(shop: Shop) -> None:
    """Neither one whose name ends like that of a key, nor a placeholder behind one that is that of a key."""
    text = "import sys\n\nSORT_KEY = 'created_at_timestamp'\nprint('your-api-key-here', SORT_KEY, file=sys.stderr)"
    shop.environment |= {"MONKEY": "import sys", "TURKEY": "file=sys.stderr", "SORT_KEY": "created_at_timestamp",
                         "API_KEY": "your-api-key-here", "DB_PASSWORD": "import sys", "KEYBOARD": text}
    shop.route({FIRST: HELLO, SECOND: "<SOLUTION>\n" + program(text)})
    outcome = shop.run()
    outcome.assert_succeeded()
    assert outcome.software.text("main.py") == f"{text}\n"
