"""Pairs to judge, judges behind a real server, and what they were asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.config.profiles import ModelProfile, profile_for
from chatdev.evaluation.judging.judgements import (
    Comparison,
    FinishedSoftware,
    Judgement,
    JudgementFile,
    Match,
    compare_companies,
)
from chatdev.evaluation.judging.judges import JudgeWording, ModelJudge, judge_all, judge_wording
from chatdev.llm.registry import Models
from tests.support.chat_server import ChatServer, Received

GOOD, BAD = "print('the good one')", "print('the bad one')"


def verdict(which: str, why: str = "It works.") -> str:
    """An answer as a judge should give it."""
    return json.dumps({"why": why, "verdict": which})


def better(request: Received) -> str:
    """A consistent judge: the good one, wherever it stands."""
    text = asked(request)
    return verdict("first" if text.index(GOOD) < text.index(BAD) else "second")


def asked(request: Received) -> str:
    """The pair in a request."""
    return str(request.body["messages"][1]["content"])


@dataclass
class Arena:
    """Pairs `task 1`, `task 2`, … of the companies `alpha`, whose program is the good one, and `beta`."""

    folder: Path
    server: ChatServer
    pairs: int = 2
    seen: list[Judgement] = field(default_factory=list)

    @property
    def matches(self) -> list[Match]:
        return [Match(f"task {n}", f"Requirement {n}.", self.made("alpha", n, GOOD), self.made("beta", n, BAD))
                for n in range(1, self.pairs + 1)]

    @property
    def file(self) -> Path:
        return self.folder / "judgements.jsonl"

    def made(self, company: str, number: int, code: str) -> FinishedSoftware:
        folder = self.folder / company / str(number)
        (folder / "software").mkdir(parents=True, exist_ok=True)
        (folder / "software" / "main.py").write_text(code, encoding="utf-8")
        return FinishedSoftware(company, folder)

    def judged(self, answer: Callable[[Received], Any] | None = None, words: JudgeWording | None = None,
               profile: ModelProfile | None = None, *, parallel: int = 1) -> list[Judgement]:
        """Judge all pairs with a judge that answers so."""
        if answer:
            self.server.route(answer)
        return asyncio.run(self._judged(words or judge_wording(), profile or profile_for("judge-1"), parallel))

    def standing(self, judgements: Sequence[Judgement]) -> Comparison:
        (found,) = compare_companies(judgements)
        return found

    def orders(self) -> list[tuple[str, str]]:
        """Requirement and order (`good first` or `bad first`) of all requests."""
        texts = map(asked, self.server.requests)
        return [(re.findall(r"Requirement \d", text)[0],
                 "good first" if text.index(GOOD) < text.index(BAD) else "bad first") for text in texts]

    async def _judged(self, words: JudgeWording, profile: ModelProfile, parallel: int) -> list[Judgement]:
        models = Models({"OPENAI_BASE_URL": self.server.url, "CHATDEV_RETRY_SECONDS": "0"})
        try:
            judge = ModelJudge(models.get("judge-1")[0], "judge-1", profile, words)
            with JudgementFile(self.file) as record:
                return await judge_all(judge, self.matches, record, parallel=parallel, on_judged=self.seen.append)
        finally:
            await models.close()
