"""Kill a run while people think or answer, and go on; nothing may differ, and nobody is asked twice.

The run has a reviewer who is a person, approvals of a phase, of deliveries (one is edited) and of a tool, and a person
beside a model in parallel branches. Every session is `chatdev run --wait` or `chatdev resume --wait` in a process of
its own, ended by SIGKILL at a random instant. Meanwhile two people answer every question at the same time, after a
random pause, each with the same words; they also answer when no process runs.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.reliability.left import JOURNAL, Left
from benchmarks.reliability.proof import Claim, Proof, Study
from benchmarks.study import ROOT, markdown_table
from chatdev.errors import ChatDevError
from chatdev.events import PersonAsked
from chatdev.runner.people import PersonAnswer, answer, waiting
from tests.engine.studio import CHANGE, CHECK, WRITE, Studio, program, talk
from tests.support.chat_server import ChatServer

TRIALS, AT_ONCE = 40, 2
_LONGEST = 4  # sessions that are killed in one run
_PAUSE = 0.4  # seconds that people think at most
_HANG = 120.0  # seconds; more is one

_REPLIES = {"write#1/round-1/assistant": "<SOLUTION>\n" + program(),
            "review#1/round-1/assistant": program("print('hello world')"),
            "review#1/round-2/assistant": program("print('hello all')"),
            "parallel#1/branch-2/slogan#1/round-1/assistant": "<SOLUTION> Says hello"}
_ANSWERS = {"review#1/round-1/instructor": PersonAnswer("say", "Greet the world."),
            "review#1/round-2/instructor": PersonAnswer("say", "Greet all."),
            "review#1/round-1/assistant/approve-1": PersonAnswer("edit", files={"main.py": "print('hello earth')\n"}),
            "parallel#1/branch-1/title#1/round-1/assistant": PersonAnswer("say", "Greeter")}
"""What people say, by place; elsewhere they accept."""


@dataclass(slots=True)
class Stage:
    """A company, a model, and the two people who answer the runs of one warehouse."""

    folder: Path
    server: ChatServer
    paid: Counter[str] = field(default_factory=Counter)
    """Answers that were told that they count, by run and question."""

    def company(self) -> Path:
        """The company with people in every place."""
        approved = {"form": "files", "approve": "before"}
        phases = {"write": {**WRITE, "instructor": None, "approve": "before", "solution": approved},
                  "review": {**CHANGE, "opens": "instructor", "concludes": "instructor", "solution": approved},
                  "title": {**talk("title", instructor=None), "assistant": "author"},
                  "slogan": talk("slogan", instructor=None)}
        chain = [{"phase": "write"}, {"phase": "review"},
                 {"parallel": [{"phase": "title"}, {"phase": "slogan"}]}, {**CHECK, "approve": "before"}]
        roles = {"chief": {"title": "Chief", "model": "human"}, "maker": {"title": "Maker"},
                 "author": {"title": "Author", "model": "human"}}
        return Studio(self.folder, self.server).company(phases, chain, roles=roles, success="test.passed")

    @contextmanager
    def people(self, warehouse: Path, seed: int) -> Iterator[None]:
        """Two people who answer all that is asked in the warehouse, until the block ends."""
        over = threading.Event()
        both = [threading.Thread(target=self._answer_all, args=(warehouse, random.Random(seed + n), over), daemon=True)
                for n in range(2)]
        for one in both:
            one.start()
        yield
        over.set()
        for one in both:
            one.join()

    def _answer_all(self, warehouse: Path, rng: random.Random, over: threading.Event) -> None:
        while not over.wait(rng.uniform(0, _PAUSE)):
            for journal in warehouse.glob(f"*/{JOURNAL}"):
                try:
                    for question in waiting(journal.parents[1]):
                        self._answer(journal.parents[1], question)
                except ChatDevError:  # the journal is just being made
                    continue

    def _answer(self, run: Path, question: PersonAsked) -> None:
        if answer(run, question.id, _ANSWERS.get(question.place, PersonAnswer("accept"))):
            self.paid[f"{run}/{question.id}"] += 1

    def session(self, arguments: list[str], warehouse: Path, kill_after: float | None) -> int | None:
        """The exit status of a session; None when it was killed."""
        environment = {**os.environ, "OPENAI_API_KEY": "sk-none", "OPENAI_BASE_URL": self.server.url}
        command = [sys.executable, "-m", "chatdev", *arguments, "--wait", "--sandbox", "none", "--quiet"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kill_after is not None:
            begun = time.monotonic()
            while not any(warehouse.glob(f"*/{JOURNAL}")) and process.poll() is None:
                time.sleep(0.01)
                if time.monotonic() - begun > _HANG:
                    break
            try:
                return process.wait(kill_after)
            except subprocess.TimeoutExpired:
                process.kill()
        status = process.wait(_HANG)
        return None if status == -9 else status


@dataclass(frozen=True, slots=True)
class PeopleTrial:
    """What came of one run: how often it was killed, and how it differs from the undisturbed one."""

    kills: int
    faults: list[str]
    left: Left


def run_to_end(stage: Stage, company: Path, plan: tuple[str, int, int], baseline: Left | None) -> PeopleTrial:
    """A run of this name that is killed so often, by this seed, and what is left of it."""
    name, kills, seed = plan
    warehouse, rng, killed, status = stage.folder / name, random.Random(seed), 0, None
    start = ["run", "TASK", "--company", str(company), "--model", "m", "--warehouse", str(warehouse)]
    with stage.people(warehouse, seed):
        while status is None:
            there = next(warehouse.glob(f"*/{JOURNAL}"), None)
            begun = there is not None and there.stat().st_size > 0
            arguments = ["resume", str(there.parents[1])] if there and begun else start
            status = stage.session(arguments, warehouse, rng.uniform(0.1, 3.0) if killed < kills else None)
            killed += status is None
    left = Left.of(next(path for path in warehouse.iterdir() if (path / "software" / "main.py").exists()))
    faults = [] if status == 0 else [f"it ended with status {status}"]
    return PeopleTrial(killed, faults + (baseline.differences(left, but=("messages",)) if baseline else []), left)


def prove(seed: int, quick: bool) -> Proof:
    """Kill, answer and go on, and count."""
    rng, trials = random.Random(seed), 2 if quick else TRIALS
    with TemporaryDirectory() as folder, ChatServer() as server:
        server.route(lambda request: _REPLIES.get(request.headers["X-ChatDev-Activity"]))
        stage = Stage(Path(folder), server)
        company = stage.company()
        baseline = run_to_end(stage, company, ("whole", 0, seed), None)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            plans = [(f"trial-{n}", rng.randint(1, _LONGEST), rng.randrange(1 << 30)) for n in range(trials)]
            done = list(pool.map(lambda plan: run_to_end(stage, company, plan, baseline.left), plans))
        double = [question for question, count in stage.paid.items() if count > 1]
    faults = [fault for trial in [baseline, *done] for fault in trial.faults]
    kills = sum(trial.kills for trial in done)
    return Proof([
        Claim("a run that is killed while people think or answer ends as if it had never been: the software, every "
              "commit, activity and event are the same", not faults,
              "; ".join(faults[:3]) or f"{kills} kills in {trials} runs"),
        Claim("of two people who answer at once one is told that it counts, and nobody is asked again who has answered",
              not double, "; ".join(double[:3]) or f"{len(stage.paid)} questions, each answered by two"),
    ], {"runs": trials, "kills": kills, "questions": len(stage.paid), "differ": sum(bool(t.faults) for t in done)})


def table(figures: Mapping[str, Any]) -> str:
    """The counts as a table."""
    columns = {"runs": "runs", "kills": "kills", "questions": "questions to people", "differ": "runs that differ"}
    return markdown_table(list(columns.values()), [[figures[name] for name in columns]])


STUDY = Study.of("people", prove, table)

if __name__ == "__main__":
    sys.exit(STUDY.main(__doc__))
