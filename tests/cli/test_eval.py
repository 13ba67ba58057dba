"""`chatdev eval`, whole: three tasks and three variants over a real server, killed and gone on with."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.cli.app import command_line
from tests.evaluation.lab import ALONE, BROKEN, GOOD, Lab
from tests.support.chat_server import ChatServer, Received, Scripted
from tests.support.copies import start_module

pytestmark = pytest.mark.tool


@dataclass
class Study:
    """`chatdev eval srdd` in a laboratory."""

    lab: Lab
    here: Path

    def arguments(self, *more: str) -> list[str]:
        companies = [*self.lab.companies, str(self.lab.folder / "odd" / "stage")]
        return ["eval", "srdd", "--companies", ",".join(companies), "--data", str(self.lab.data), "--model", "scripted",
                "--base-url", self.lab.server.url, "--install", "never", *more]

    def command(self, *arguments: str) -> Result:
        return CliRunner(env={"CHATDEV_RETRY_SECONDS": "0"}).invoke(command_line, list(arguments))

    def run(self, *more: str) -> Result:
        return self.command(*self.arguments(*more))

    def report(self, form: str) -> str:
        done = self.command("eval", "report", "--format", form)
        assert done.exit_code == 0, done.output
        return done.stdout

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(csv.DictReader(io.StringIO(self.report("csv"))))


@pytest.fixture
def study(tmp_path: Path, chat_server: ChatServer, here: Path) -> Study:
    lab = Lab(tmp_path, chat_server)
    lab.company("odd", {"coding": ALONE})

    def answer(request: Received, task: str) -> Any:
        company = request.headers["X-ChatDev-Company"]
        if company == "odd":
            return {"Adder": "I would rather not.", "Doubler": BROKEN}.get(
                task, Scripted(status=400, body={"error": {"message": "content filter"}}))
        return GOOD

    lab.answer = answer
    return Study(lab, here)


def test_a_study_from_the_first_job_to_the_report(study: Study) -> None:
    done = study.run()
    assert done.exit_code == 1  # a job failed
    assert "9 jobs: 3 tasks × alone, chain, odd" in done.stdout
    assert "8 runs measured, 1 failed" in done.stdout
    assert "content filter" in done.stdout
    assert (study.here / "studies" / "srdd" / "alone-scripted").is_dir()
    by_job = {row["job"].replace(" · scripted", ""): row for row in study.rows}
    assert len(by_job) == 9
    assert by_job["odd/Dice/Die"]["status"] == "failed"
    assert (by_job["odd/Sums/Adder"]["status"], by_job["odd/Sums/Adder"]["quality"]) == ("error", "0.0")
    assert by_job["odd/Sums/Doubler"]["start"] == "crashed"
    assert by_job["alone/Sums/Adder"]["acceptance"] == "1.0"
    found = json.loads(study.report("json"))
    odd = next(d for d in found["differences"] if (d["variant"], d["metric"]) == ("odd", "quality"))
    assert (odd["against"], odd["n"], odd["worse"]) == ("alone", 2, 2)

    asked = len(study.lab.server.requests)
    again = study.run()
    assert again.exit_code == 1
    assert "0 new jobs, 8 done, 0 tried again" in again.stdout
    assert len(study.lab.server.requests) == asked

    study.lab.answer = lambda request, task: GOOD
    assert study.run("--retry-failed").exit_code == 0
    assert len(study.rows) == 9
    assert "written: studies/srdd/report.html" in study.report("html").replace(str(study.here) + "/", "")
    page = (study.here / "studies" / "srdd" / "report.html").read_text(encoding="utf-8")
    assert 'href="./alone-scripted/Adder-' in page


def test_a_tier_ends_with_the_line_to_send_back(study: Study) -> None:
    ask = ["eval", "srdd", "--companies", study.lab.companies[0], "--model", "scripted", "--base-url",
           study.lab.server.url, "--install", "never", "--tier", "easy", "--limit", "1", "--repeats", "2"]
    done = study.command(*ask)
    assert done.exit_code == 0, done.output
    *_, told, line = done.stdout.rstrip().splitlines()
    assert told.startswith("To send back")
    assert re.fullmatch(r"chatdev \S+, \d{4}-\d\d-\d\d \| scripted \| easy, 1 task \| "
                        r"alone: 0\.0% solved in 2 runs, 1\.0 calls, cost unknown", line), line


@pytest.mark.parametrize("more", [("--easy", "tuning"), ("--data", "data")])
def test_a_tier_and_other_tasks_are_refused(study: Study, more: tuple[str, str]) -> None:
    done = study.command("eval", "srdd", "--tier", "easy", *more)
    assert (done.exit_code, f"so does {more[0]}" in done.output) == (2, True)


def start_slowly(study: Study, seconds: float, requests: int, **environment: str) -> subprocess.Popen[bytes]:
    """The study in a process of its own, where each answer takes so long, after so many requests."""
    answer = study.lab.answer

    def slowly(request: Received, task: str) -> Any:
        reply = answer(request, task)
        return Scripted(reply, delay=seconds) if isinstance(reply, str) else reply

    study.lab.answer = slowly
    process = start_module("chatdev", *study.arguments("--at-once", "2"), cwd=study.here, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, start_new_session=True,
                           env={**os.environ, "CHATDEV_RETRY_SECONDS": "0", **environment})
    while len(study.lab.server.requests) < requests and process.poll() is None:
        time.sleep(0.02)
    return process


def test_a_study_that_is_asked_to_end_gives_its_jobs_back(study: Study, tmp_path: Path) -> None:
    (temporary := tmp_path / "temporary").mkdir()
    process = start_slowly(study, 60, 2, TMPDIR=str(temporary))
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 143, output
    assert b"Traceback" not in output
    assert list(temporary.iterdir()) == []
    with sqlite3.connect(study.here / "studies" / "ledger.sqlite") as connection:
        assert set(connection.execute("select state, tries from chatdev_jobs")) == {("open", 0)}
    connection.close()


def test_a_killed_study_goes_on_by_the_same_command(study: Study) -> None:
    first = start_slowly(study, 0.3, 7)
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    finished = {path.parent for path in (study.here / "studies" / "srdd").glob("*/*/software")}
    before = len(study.lab.server.requests)
    assert 0 < len(finished) < 9
    expire_leases(study.here / "studies" / "ledger.sqlite")

    done = study.run("--at-once", "2")
    assert "8 runs measured, 1 failed" in done.stdout, done.output
    assert Counter(row["job"] for row in study.rows).most_common(1)[0][1] == 1
    later = {request.headers["X-ChatDev-Run"] for request in study.lab.server.requests[before:]}
    assert len(later) <= 9 - len(finished)


def expire_leases(ledger: Path) -> None:
    """As time does, in a minute."""
    with sqlite3.connect(ledger) as connection:
        connection.execute("update chatdev_jobs set lease_ends = 0")
    connection.close()


@pytest.mark.parametrize(("arguments", "said"), [
    (["--companies", "chatdve"], "chatdve"),
    (["--companies", ","], "no company is named; give names or paths"),
    (["--companies", "single,single"], "two variants are called 'single'"),
    (["--only", "nobody*"], "--only 'nobody*' matches no variant; there are: alone, chain, odd"),
    (["--areas", "Gaem"], "no area 'Gaem'"),
    (["--easy", "tuning"], "--easy takes tasks of ours and --data takes yours; give one of them"),
    (["--embedder", "bert"], "there is no embedder 'bert'"),
    (["--set", "model.temprature=0"], "temprature"),
    (["--runtime", "huge"], "huge"),
    (["--study", "../x"], "cannot name a folder"),
    (["--ledger", "redis://x/y"], "no address of a database"),
])
def test_wrong_options_are_refused_before_anything_is_made(study: Study, arguments: list[str], said: str) -> None:
    done = study.run(*arguments)
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert not study.lab.server.requests
    assert not (study.here / "studies" / "srdd").exists()


@pytest.mark.parametrize(("text", "said"), [
    ("Title,Description,Category\na,b,c\n", "the column 'Name' is missing"),
    ("Name,Description,Category\n,b,c\n", "the cell of 'Name' is empty"),
    ("Name,Description,Category\na,b,c\na,d,c\n", "stands twice"),
    ("Name,Description,Category\n", "there are no tasks"),
    (f"Name,Description,Category\na,{'x' * 10_000_000},c\n", "'Description' has 10000000 characters; shorten it"),
])
def test_a_wrong_csv_is_refused_with_how_to_fix_it(study: Study, text: str, said: str) -> None:
    data = study.lab.write("tasks.csv", text)
    done = study.run("--data", str(data))
    assert done.exit_code == 2
    assert said in done.stderr
    assert str(data) in done.stderr


def test_a_csv_is_a_data_set(study: Study) -> None:
    data = study.lab.write("tasks.csv", "Name,Description,Category\nEcho,Print the arguments.,Text\n")
    done = study.run("--data", str(data), "--only", "alone", "--study", "mine", "--quiet")
    assert done.exit_code == 0, done.output
    assert "1 job: 1 task × alone" in done.stdout


def test_the_embedder_that_was_named_stands_with_its_values(study: Study) -> None:
    assert study.run("--only", "alone", "--limit", "1", "--embedder", "minilm").exit_code == 0
    (row,) = study.rows
    assert row["embedder"] == "minilm"
    assert 0 < float(row["consistency"]) < 1


def test_a_broken_hidden_test_is_found_first(study: Study) -> None:
    study.lab.write("data/acceptance/adder.py", "def accept(")
    done = study.run()
    assert done.exit_code == 2
    assert "is no acceptance test: SyntaxError" in done.stderr
    (study.lab.data / "acceptance" / "adder.py").unlink()
    assert "names the hidden test 'adder', and there is none" in study.run().stderr


def test_a_study_goes_on_as_it_was_begun(study: Study) -> None:
    assert study.run("--only", "alone", "--limit", "1").exit_code == 0
    other = study.run("--only", "alone", "--install", "auto")
    assert other.exit_code == 2
    assert "conditions.install was 'never' and is 'auto'" in other.stderr
    assert "--study NAME" in other.stderr


def test_a_budget_stops_the_study_and_a_greater_one_goes_on(study: Study) -> None:
    study.lab.answer = lambda request, task: Scripted(GOOD, usage=(7, 1500))
    done = study.run("--only", "alone", "--max-tokens", "2600", "--at-once", "1")
    assert done.exit_code == 6
    assert "does not fit the budget of 2600 tokens" in done.stderr
    assert "chatdev resume" not in done.stderr
    assert "1 run measured, 0 failed, 2 not done yet" in done.stdout
    assert study.run("--only", "alone", "--max-tokens", "9000").exit_code == 0


def test_a_limited_cost_needs_prices_before_the_first_run(study: Study) -> None:
    done = study.run("--max-cost", "1")
    assert done.exit_code == 2
    assert "--max-cost needs the price of every model, and that of 'scripted' is unknown" in done.stderr
    assert study.lab.server.requests == []


def test_when_everything_fails_the_study_stops_before_all_jobs_do(study: Study) -> None:
    study.lab.write("data/many.yaml", "area: Many\ncategory: Many\ntasks:\n" + "".join(
        f"- {{name: Task {n}, description: Do {n}.}}\n" for n in range(30)))
    study.lab.answer = lambda request, task: Scripted(status=401, body={"error": {"message": "wrong key"}})
    done = study.run("--only", "alone", "--at-once", "2")
    assert done.exit_code == 1
    assert "attempt after attempt failed" in done.stderr
    assert "wrong key" in done.stderr
    assert 10 <= len([row for row in study.rows if row["status"] == "failed"]) <= 12


def test_an_embedder_that_is_not_there_costs_nothing(study: Study) -> None:
    study.lab.answer = lambda request, task: Scripted(status=404, body={"error": {"message": "no such model"}})
    done = study.run("--embedder", "endpoint:e", "--embedder-url", study.lab.server.url)
    assert done.exit_code == 3
    assert "no such model" in done.stderr
    assert [request.path for request in study.lab.server.requests] == ["/v1/embeddings"]


def test_a_report_without_a_study_says_so(study: Study) -> None:
    done = study.command("eval", "report")
    assert done.exit_code == 2
    assert "there is no ledger studies/ledger.sqlite" in done.stderr
