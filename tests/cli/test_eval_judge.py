"""`chatdev eval judge`: a model or a person compares the runs in two warehouses."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from chatdev.batch.ledger import Job, Ledger
from chatdev.cli.app import command_line
from chatdev.evaluation.judging.judgements import HUMAN, read_judgements
from tests.engine.studio import WRITE, Studio, program
from tests.evaluation.judging.arena import BAD, GOOD, better, verdict
from tests.support.chat_server import ChatServer, Received, Scripted
from tests.support.processes import running_program
from tests.support.session import read_terminal

ALONE = {key: value for key, value in WRITE.items() if key != "instructor"}
TASKS = ("A clock.", "A calendar.", "A purse.")


@pytest.fixture
def warehouses(here: Path, chat_server: ChatServer) -> Sequence[str]:
    """What two companies made for three tasks: `good` the good programs, `bad` the bad ones."""
    for name, code in (("good", GOOD), ("bad", BAD)):
        (here / name).mkdir()
        studio = Studio(here / name, chat_server)
        for task in TASKS:
            studio.run(studio.company({"write": ALONE}), {"write#1/round-1/assistant": program(code)}, task=task)
    chat_server.requests.clear()
    return ("good/warehouse", "bad/warehouse")


def judge(chat_server: ChatServer, *arguments: str, typed: str = "") -> Result:
    environment = {"OPENAI_BASE_URL": chat_server.url, "CHATDEV_RETRY_SECONDS": "0"}
    return CliRunner(env=environment).invoke(command_line, ["eval", "judge", *arguments], input=typed)


def choices(here: Path) -> dict[str, str | None]:
    """The winner by task, as a person chose."""
    found = read_judgements(here / "judgements.jsonl")
    assert {judgement.judge for judgement in found} <= {HUMAN}
    return {judgement.task: judgement.winner for judgement in found}


def test_a_model_judges_and_the_table_says_how_sure_it_is(warehouses: Sequence[str], chat_server: ChatServer) -> None:
    chat_server.route(better)
    done = judge(chat_server, *warehouses, "--judge", "judge-1")
    assert done.exit_code == 0, done.stderr
    assert "bad/warehouse and good/warehouse, judged by judge-1: 3 pairs" in done.stdout
    assert re.search(r"good/warehouse wins +3 +100\.0% +\(95 %: 43\.[89]% to 100\.0%\)", done.stdout)
    assert "both orders agree in 100%" in done.stdout
    assert "preferred in 50% of the verdicts" in done.stdout


def test_an_outage_says_how_to_go_on_and_the_same_command_does(warehouses: Sequence[str], chat_server: ChatServer,
                                                               here: Path) -> None:
    def dies(request: Any) -> Any:
        return better(request) if len(chat_server.requests) < 4 else Scripted(status=503)

    chat_server.route(dies)
    done = judge(chat_server, *warehouses, "--judge", "judge-1", "--parallel", "1")
    assert done.exit_code == 3
    assert "stopped after 3 of 6 looks; they are kept in judgements.jsonl" in done.stderr
    chat_server.requests.clear()
    chat_server.route(better)
    done = judge(chat_server, *warehouses, "--judge", "judge-1", "--json")
    assert len(chat_server.requests) == 3
    (standing,) = json.loads(done.stdout)
    assert (standing["losses"], standing["rates"]["losses"][0]) == (3, 1)


def test_a_spent_budget_shows_what_there_is_and_a_greater_one_goes_on(warehouses: Sequence[str],
                                                                       chat_server: ChatServer) -> None:
    chat_server.route(lambda request: Scripted(better(request), usage=(500, 700)))
    asked = [*warehouses, "--judge", "judge-1", "--parallel", "1"]
    done = judge(chat_server, *asked, "--max-tokens", "4500")
    assert done.exit_code == 6
    assert "stopped after 3 of 6 looks; they are kept in judgements.jsonl" in done.stderr
    assert "does not fit the budget of 4500 tokens" in done.stderr
    assert "judged by judge-1: 1 pair\n" in done.stdout
    assert "1 seen in one order only" in done.stdout
    assert "judge-1 has taken 3600 tokens, cost unknown, in all" in done.stdout
    again = judge(chat_server, *asked, "--max-tokens", "4500")
    assert (again.exit_code, again.stdout) == (6, done.stdout)
    assert len(chat_server.requests) == 3
    assert judge(chat_server, *asked, "--max-tokens", "9500").exit_code == 0
    assert len(chat_server.requests) == 6
    assert judge(chat_server, *asked, "--max-tokens", "1").exit_code == 0  # nothing more is asked


def test_looks_at_once_keep_to_the_budget_and_lose_nothing(warehouses: Sequence[str], chat_server: ChatServer) -> None:
    billed: list[int] = []

    def answer(request: Received) -> Scripted:
        most = request.body["max_tokens"]
        billed.append(300 + min(most, 5000))
        ending = "length" if most < 5000 else "stop"
        return Scripted(better(request), usage=(300, min(most, 5000)), finish_reason=ending)

    chat_server.route(answer)
    asked = [*warehouses, "--judge", "judge-1", "--max-tokens"]
    done = judge(chat_server, *asked, "9000")
    assert done.exit_code == 6
    assert 8000 < sum(billed) <= 9000
    assert f"judge-1 has taken {sum(billed)} tokens" in done.stdout
    assert judge(chat_server, *asked, "99000").exit_code == 0
    assert len(billed) == 7  # the one that was cut is asked again


def test_answers_beyond_the_budget_are_no_success(warehouses: Sequence[str], chat_server: ChatServer) -> None:
    chat_server.route(lambda request: Scripted(better(request), usage=(500, 9000)))
    done = judge(chat_server, *warehouses, "--judge", "judge-1", "--parallel", "1", "--max-tokens", "15000", "--limit",
                 "1")
    assert done.exit_code == 6
    assert "the budget of 15000 tokens is exceeded (spent: 19000)" in done.stderr


def test_a_budget_in_dollars_needs_the_price_first(warehouses: Sequence[str], chat_server: ChatServer,
                                                   here: Path) -> None:
    chat_server.route(better)
    done = judge(chat_server, *warehouses, "--judge", "judge-1", "--max-cost", "1")
    assert done.exit_code == 6
    assert "the price of a model that was used is unknown" in done.stderr
    assert not chat_server.requests
    priced = [*warehouses, "--judge", "gpt-4o-mini", "--parallel", "1", "--max-cost"]
    done = judge(chat_server, *priced, "0.000001")
    assert done.exit_code == 6
    assert not chat_server.requests
    assert judge(chat_server, *priced, "1").exit_code == 0
    assert len(read_judgements(here / "judgements.jsonl")) == 6


def test_fewer_pairs_and_shorter_listings_on_demand(warehouses: Sequence[str], chat_server: ChatServer) -> None:
    chat_server.route(lambda _: verdict("tie"))
    done = judge(chat_server, *warehouses, "--judge", "judge-1", "--limit", "1", "--characters", "8")
    assert "judge-1: 1 pair\n" in done.stdout
    assert len(chat_server.requests) == 2
    assert GOOD not in str(chat_server.requests[0].body)


def test_of_many_runs_without_a_counterpart_some_are_named(here: Path, chat_server: ChatServer) -> None:
    ledger = Ledger(str(here / "ledger.sqlite"), "srdd")
    ledger.add(Job(f"{name}/{n}", {"task": {"description": f"Task {n}."}, "n": n, "name": name})
               for name, many in (("one", 13), ("other", 1), ("third", 1)) for n in range(many))
    while claim := ledger.claim("worker"):
        name, n = claim.spec["name"], claim.spec["n"]
        row = {"variant": name, "task": str(n), "folder": name, "status": "success"}
        (here / name / "software").mkdir(parents=True, exist_ok=True)
        ledger.finish(claim, row, 1.0)
    ledger.close()
    chat_server.route(lambda _: verdict("tie"))
    done = judge(chat_server, "--ledger", "ledger.sqlite", "--folder", str(here), "--judge", "judge-1")
    assert "left out: 1: other has no finished run of it\n" in done.stderr
    assert "left out: 14 more\n" in done.stderr
    assert done.stderr.count("left out") == 11


@pytest.mark.parametrize(("arguments", "words"), [
    (["good/warehouse"], "give two"), (["good/warehouse", "nowhere"], "there is no folder nowhere"),
    (["--study", "none", "--ledger", "new.sqlite"], "there is no ledger new.sqlite")])
def test_wrong_input_is_named(warehouses: Sequence[str], chat_server: ChatServer, arguments: list[str],
                              words: str) -> None:
    done = judge(chat_server, *arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_a_person_sees_no_names_and_goes_on_where_they_stopped(warehouses: Sequence[str], chat_server: ChatServer,
                                                               here: Path) -> None:
    done = judge(chat_server, *warehouses, "--judge", "human", typed="x\nt\nq\n")
    assert done.exit_code == 0, done.stderr
    assert "'x' is none of these" in done.stdout
    before, _, table = done.stdout.rpartition("\nbad/warehouse and good/warehouse, judged by human: 1 pair")
    assert before
    assert "good" not in before
    assert re.search(r"ties +1 +100\.0%", table)
    done = judge(chat_server, *warehouses, "--judge", "human", typed="s\n1\n")
    assert "Pair 2 of 2" in done.stdout
    assert len(choices(here)) == 2
    done = judge(chat_server, *warehouses, "--judge", "human", typed="2\n")
    assert set(choices(here)) == set(TASKS)
    done = judge(chat_server, *warehouses, "--judge", "human")
    assert "Pair" not in done.stdout
    assert not chat_server.requests


def test_the_choice_is_that_of_the_software_that_was_shown(warehouses: Sequence[str], chat_server: ChatServer,
                                                           here: Path) -> None:
    for seed in range(3):  # sides are drawn by lot
        shown = judge(chat_server, *warehouses, "--judge", "human", "--seed", str(seed), typed="l\nq\n").stdout
        task = re.findall(r"The requirement:\n\n(.*)\n", shown)[0]
        better_one = "1" if shown.index(GOOD) < shown.index(BAD) else "2"
        judge(chat_server, *warehouses, "--judge", "human", "--seed", str(seed), typed=f"{better_one}\n")
        assert choices(here)[task] == "good/warehouse"
        (here / "judgements.jsonl").unlink()


def test_at_a_real_terminal_both_can_be_looked_at_and_tried(warehouses: Sequence[str], here: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "chatdev", "eval", "judge", *warehouses, "--judge", "human"]
    with running_program(command, env={**os.environ, "TERM": "xterm", "PAGER": "cat"}, stdin=theirs, stdout=theirs,
                         stderr=theirs) as process:
        os.close(theirs)
        said = until(ours, "> ")
        folders = re.findall(r"chatdev play (\S+)", said)
        assert [Path(folder, "main.py").is_file() for folder in folders] == [True, True]
        os.write(ours, b"l\n")
        said = until(ours, "> ")
        assert GOOD in said
        assert BAD in said
        os.write(ours, b"t\n")
        until(ours, "> ")
        press_ctrl_c(process)
        assert "judged by human: 1 pair" in until(ours, "")
    os.close(ours)
    assert process.returncode == 0
    assert list(choices(here).values()) == [None]
    assert not any(Path(folder).exists() for folder in folders)


def press_ctrl_c(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a command that has shown its prompt, once it waits for a key: Python does not hear of a signal that
    comes between the prompt and the read before something is typed."""
    while "S" not in Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[:1]:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)


def until(terminal: int, ending: str) -> str:
    """What the command writes up to `ending`, or to its end."""
    said = b""
    while select.select([terminal], [], [], 20)[0] and (more := read_terminal(terminal)):
        said += more
        if ending and said.decode("utf-8", "replace").endswith(ending):
            break
    return said.decode("utf-8", "replace").replace("\r\n", "\n")
