"""`chatdev eval srdd --engine ray`, as a user types it, with a cluster of this machine alone."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.evaluation.lab import GOOD, Lab
from tests.support.chat_server import ChatServer, Received, Scripted
from tests.support.copies import start_module
from tests.support.processes import start_program
from tests.support.ray_machines import environment, ray_folder

pytestmark = pytest.mark.tool
ROOT = Path(__file__).parents[2]
WITHOUT_RAY = "import sys; sys.modules['ray'] = None; from chatdev.cli.app import main; main()"


@dataclass
class Study:
    """`chatdev eval` in processes of its own."""

    lab: Lab
    ray: Path

    def start(self, *more: str, python: tuple[str, ...] = ("-m", "chatdev")) -> subprocess.Popen[str]:
        arguments = ["eval", "srdd", "--companies", ",".join(self.lab.companies), "--data", str(self.lab.data),
                     "--model", "scripted", "--base-url", self.lab.server.url, "--install", "never", *more]
        return self._start([*python, *arguments])

    def run(self, *more: str, **options: tuple[str, ...]) -> tuple[int, str]:
        """The exit code, and what was printed."""
        return self.end(self.start(*more, **options))

    def end(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        out, _ = process.communicate(timeout=120)
        return process.returncode, out

    def finished(self, company: str) -> int:
        """How many of its runs are."""
        return len(list((self.lab.folder / "studies" / "srdd" / f"{company}-scripted").glob("*/software")))

    @property
    def rows(self) -> list[dict[str, str]]:
        status, out = self.end(self._start(["-m", "chatdev", "eval", "report", "--format", "csv"]))
        assert status == 0, out
        return list(csv.DictReader(io.StringIO(out)))

    def _start(self, argv: list[str]) -> subprocess.Popen[str]:
        options: dict[str, Any] = {
            "cwd": self.lab.folder, "stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT,
            "text": True, "start_new_session": True,
            "env": {**os.environ, **environment(self.ray), "PYTHONPATH": str(ROOT), "CHATDEV_RETRY_SECONDS": "0"}}
        if argv[0] == "-m":
            return start_module(*argv[1:], **options)
        return start_program([sys.executable, *argv], **options)


@pytest.fixture
def study(tmp_path: Path, chat_server: ChatServer) -> Iterator[Study]:
    with ray_folder() as ray:
        yield Study(Lab(tmp_path, chat_server), ray)


def test_an_interrupted_study_is_continued_with_every_row_once(study: Study) -> None:
    def slowly(request: Received, task: str) -> Scripted:
        return Scripted(GOOD, delay=1.0)

    study.lab.answer = slowly
    first = study.start("--engine", "ray", "--at-once", "2", "--requests-per-minute", "600")
    give_up = time.monotonic() + 60
    while len(study.lab.server.requests) < 4 and first.poll() is None:
        assert time.monotonic() < give_up
        time.sleep(0.02)
    os.killpg(first.pid, signal.SIGINT)  # Ctrl-C
    status, out = study.end(first)
    assert (status, "error: stopped" in out) == (130, True), out
    alone, chain = (study.finished(company) for company in ("alone", "chain"))
    assert 0 < alone + chain < 6

    study.lab.answer = lambda request, task: GOOD
    before = len(study.lab.server.requests)
    status, out = study.run("--engine", "ray", "--ray-workers", "2")
    assert status == 0, out
    assert f"0 new jobs, {alone + chain} done" in out
    assert "6 runs measured, 0 failed" in out
    assert "(raylet)" not in out
    rows = study.rows
    assert len(rows) == 6
    assert {row["acceptance"] for row in rows if row["task"] == "Sums/Adder"} == {"1.0"}
    assert len(study.lab.server.requests) - before == 3 * (1 + 2) - alone - 2 * chain  # calls of what was not finished
    assert not list((study.lab.folder / "studies" / "srdd" / ".attempts").glob("seen-*"))


@pytest.mark.parametrize(("arguments", "said"), [
    (["--engine", "ray", "--ray-address", "127.0.0.1:1"], "nobody answers at 127.0.0.1:1"),
    (["--engine", "ray", "--ray-address", "ray://127.0.0.1:10001"], "is no address of a Ray cluster"),
    (["--ray-workers", "2"], "--ray-workers is of use with --engine ray only"),
])
def test_wrong_options_are_refused_with_how_to_fix_them(study: Study, arguments: list[str], said: str) -> None:
    status, out = study.run(*arguments)
    assert status == 2, out
    assert said in out
    assert "Traceback" not in out
    assert not study.lab.server.requests


def test_without_ray_it_says_how_to_get_it_and_everything_else_works(study: Study) -> None:
    status, out = study.run("--engine", "ray", python=("-c", WITHOUT_RAY))
    assert status == 4, out
    assert "pip install 'chatdev-chain[eval,ray]'" in out
    assert study.run(python=("-c", WITHOUT_RAY))[0] == 0
