"""What the user, the settings and the company say of packages holds in a run, and whoever is asked is asked once."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatdev import Company, Run
from chatdev.errors import ConfigError
from chatdev.events import Noted, ToolCalled
from tests.engine.studio import WRITE, Studio, program
from tests.support.chat_server import ChatServer
from tests.support.wheels import PackageIndex, set_pip

pytestmark = pytest.mark.tool

TEST = {"tool": "software.run", "writes": "test"}
PLACE = "write#1/round-1/assistant"
LISTED = "\nrequirements.txt\n```\nmade_up_a\n```\n"
REPLY = "<SOLUTION>\n" + program("import made_up_a\nprint(made_up_a.VALUE)") + LISTED


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """An index with the package that the program needs."""
    with PackageIndex() as server:
        set_pip(server.url, monkeypatch)
        server.add("made_up_a")
        yield server


@pytest.fixture
def studio(tmp_path: Path, chat_server: ChatServer, index: PackageIndex) -> Studio:
    """Where a company writes a program that needs a package, and runs it twice."""
    return Studio(tmp_path, chat_server)


def run(studio: Studio, company: dict[str, Any] | None = None, **options: Any) -> Run:
    """One run; `test` is the verdict."""
    path = studio.company({"write": WRITE}, [{"phase": "write"}, TEST, TEST], success="test.passed", **(company or {}))
    return studio.run(path, {PLACE: REPLY}, **options)


def report(done: Run) -> str:
    return str(done.values["test"]["report"])


def test_packages_are_installed_unless_somebody_says_otherwise(studio: Studio) -> None:
    done = run(studio)
    assert done.success, done.reason
    assert "42" in report(done)


def test_the_user_may_say_never(studio: Studio, index: PackageIndex) -> None:
    done = run(studio, install="never")
    assert not done.success
    assert "no packages are installed in this run" in report(done)
    assert index.asked == []


def test_the_company_may_say_never_whatever_the_user_says(studio: Studio) -> None:
    assert "no packages are installed" in report(run(studio, {"install": "never"}, install="auto"))


def test_the_settings_may_say_never_until_the_user_says_otherwise(studio: Studio) -> None:
    settings = Path(os.environ["XDG_CONFIG_HOME"]) / "chatdev" / "settings.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text("install: never\n")
    assert "no packages are installed" in report(run(studio))
    assert run(studio, install="auto").success


@pytest.mark.parametrize("answer", [True, False])
def test_a_function_that_is_asked_decides(studio: Studio, answer: bool) -> None:
    asked: list[str] = []

    def ask(package: str) -> bool:
        asked.append(package)
        return answer

    done = run(studio, install="ask", ask=ask)
    assert done.success == answer
    assert ("the user does not want it installed" in report(done)) == (not answer)
    assert asked == ["made_up_a"]


def test_an_async_function_may_take_its_time(studio: Studio) -> None:
    async def ask(package: str) -> bool:
        await asyncio.sleep(0.2)
        return package == "made_up_a"

    assert run(studio, install="ask", ask=ask).success


def test_where_nobody_is_asked_none_is_installed(studio: Studio) -> None:
    assert "nobody was there to ask" in report(run(studio, install="ask"))


def test_a_run_that_ends_waits_for_no_answer(studio: Studio) -> None:
    path = studio.company({"write": WRITE}, [{"phase": "write"}, TEST], success="test.passed")
    studio.server.route(lambda _: REPLY)

    async def ask_and_stop() -> float:
        async def never(package: str) -> bool:
            waiting.set()
            await asyncio.Event().wait()
            return True

        waiting = asyncio.Event()
        running = asyncio.create_task(Company.load(path).arun(
            "TASK", model="scripted-model", base_url=studio.server.url, sandbox="none", install="ask", ask=never,
            warehouse=studio.folder / "warehouse"))
        await waiting.wait()
        stopped = time.monotonic()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        return stopped

    assert time.monotonic() - asyncio.run(ask_and_stop()) < 5


def test_a_runtime_is_prepared_before_the_first_call_and_that_is_told(studio: Studio, index: PackageIndex) -> None:
    for name in ("numpy", "matplotlib", "pandas", "pillow", "Flask"):
        index.add(name)
    assert run(studio, runtime="top").success
    kinds = [type(event).__name__ for event in studio.events]
    notes = [event.text for event in studio.events if isinstance(event, Noted)]
    assert notes[0].startswith("preparing the runtime top (numpy, matplotlib, pandas, PIL, flask, tkinter), once")
    assert notes[1] == "the runtime top is ready"
    assert kinds.index("Noted") < kinds.index("PhaseStarted")
    studio.events.clear()
    assert run(studio, runtime="top").success
    assert not [event for event in studio.events if isinstance(event, Noted)]


def test_a_runtime_that_cannot_be_had_ends_the_run_before_its_first_call(studio: Studio) -> None:
    done = run(studio, runtime="top")
    assert done.status == "error"
    assert "the runtime top cannot be installed: No matching distribution found for" in done.reason
    assert studio.server.requests == []
    assert not [event for event in studio.events if isinstance(event, ToolCalled)]


@pytest.mark.parametrize(("options", "text"), [
    ({"install": "perhaps"}, "install: 'perhaps' is not possible; known: auto, ask, never"),
    ({"runtime": "tip"}, "there is no runtime 'tip'; there are: top"),
])
def test_what_there_is_not_is_refused_before_anything_is_made(studio: Studio, options: dict[str, Any], text: str,
                                                              ) -> None:
    with pytest.raises(ConfigError, match=text):
        run(studio, **options)
    assert not (studio.folder / "warehouse").exists()


@pytest.mark.parametrize("password", ["pl4nted-right", "pl4nted-wrong"])
def test_the_password_of_an_index_is_in_nothing_that_a_run_leaves(studio: Studio, index: PackageIndex, tmp_path: Path,
                                                                  monkeypatch: pytest.MonkeyPatch, password: str,
                                                                  ) -> None:
    index.user = f"eve:{password}"
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[global]\nindex-url = {index.url}\n")
    set_pip(index.url, monkeypatch, config_file=str(settings))
    monkeypatch.delenv("PIP_INDEX_URL")
    index.user = "eve:pl4nted-right"
    done = run(studio)
    assert done.success == (password == "pl4nted-right")
    left = [path for path in done.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in left if b"pl4nted" in path.read_bytes()]
    assert "pl4nted" not in repr(studio.events) + repr(done)
