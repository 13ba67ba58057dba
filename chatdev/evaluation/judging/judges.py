"""The judges of pairs: a model, which sees each in both orders, because models tend to prefer what stands first; and a
person, who sees each once, without names and with sides drawn by lot."""

from __future__ import annotations

import asyncio
import random
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import Field

from chatdev.batch.attempt import Allowance, Expense
from chatdev.config.profiles import ModelProfile
from chatdev.config.settings import choose_default, find_default_model, user_settings
from chatdev.config.templates import render
from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.engine.budget import BudgetedModel, LimitReached, Meter
from chatdev.engine.context import digest
from chatdev.engine.model_calls import CheckedModel
from chatdev.errors import BudgetExhausted, ChatDevError, ContextOverflow, UnusableReply
from chatdev.evaluation.judging.judgements import HUMAN, Judgement, JudgementFile, Match, Pair, Verdict
from chatdev.llm.base import Constraint, Message, Model, Request, Sampling, Usage, model_name
from chatdev.replies.forms import read_json
from chatdev.replies.problem import Unreadable
from chatdev.replies.utterance import strip_thoughts
from chatdev.runner.consent import allow_strangers, open_models
from chatdev.runner.resources import find_profile, settle_model

# What a judge is shown and asked: the words of `judge.yaml`, and software without saying whose it is.

PROSE = {".md", ".markdown", ".rst"}
"""Suffixes of documents. They are not shown: a manual that only one of the companies writes tells who made it."""
MOST_FILES = 60
"""Files that are shown of one software; of the others there is only the number."""


class JudgeWording(StrictModel):
    """The file `judge.yaml`, whose comments explain the fields."""

    characters: int = Field(gt=0)
    hidden: list[str]
    temperature: float
    seed: int
    system: str
    opening: str
    again: str
    schema_: dict[str, Any] = Field(alias="schema")

    def messages(self, pair: Pair) -> tuple[Message, Message]:
        """What is asked about a pair, in its order."""
        first, second = (blind_listing(each.software, self.characters, self.hidden)
                         for each in (pair.first, pair.second))
        values = {"requirement": pair.requirement, "first": first, "second": second}
        return Message("system", self.system), Message("user", render(self.opening, values, "judge.opening"))

    def complaint(self, problem: str) -> Message:
        """What is said to a judge whose answer could not be read."""
        return Message("user", render(self.again, {"problem": problem}, "judge.again"))


@cache
def judge_wording() -> JudgeWording:
    """The wording that ships with the package."""
    return validate_node(JudgeWording, read(Path(__file__).with_name("judge.yaml")))


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file, or its beginning; `left_out` characters follow. Bytes where it is not text."""

    path: str
    content: str | bytes
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class BlindListing:
    """A listing; `more`: number of files left out of it."""

    files: Sequence[ListedFile]
    more: int = 0


def blind_listing(software: Mapping[str, bytes], characters: int, hidden: Sequence[str] = ()) -> BlindListing:
    """The software without documents, cut to `characters` characters of text, and without the words `hidden`.

    Short files stay whole; what is left is shared evenly among the long ones, of which the beginning is shown.
    """
    code = code_files(software)
    paths = sorted(code)[:MOST_FILES]
    texts = {path: blind_text(text, hidden) for path in paths if (text := _text(code[path])) is not None}
    share = _share([len(text) for text in texts.values()], characters)
    files = [_beginning(blind_text(path, hidden), texts[path], share) if path in texts else
             ListedFile(blind_text(path, hidden), code[path]) for path in paths]
    return BlindListing(files, len(code) - len(paths))


def code_files(software: Mapping[str, bytes]) -> dict[str, bytes]:
    """The software without its documents."""
    return {path: data for path, data in software.items() if PurePosixPath(path).suffix.lower() not in PROSE}


def blind_text(text: str, hidden: Sequence[str]) -> str:
    """The text with the words `hidden`, in any case, replaced by `Company`."""
    if not hidden:
        return text
    words = "|".join(map(re.escape, hidden))
    return re.sub(rf"(?<![^\W_])(?:{words})(?![^\W_])", "Company", text, flags=re.IGNORECASE)


def _text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _share(sizes: Sequence[int], characters: int) -> int:
    """The greatest number that each file may have so that all together have at most `characters`."""
    left = characters
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return characters


def _beginning(path: str, text: str, characters: int) -> ListedFile:
    """The file up to the last whole line within the limit of characters; a single long line is cut."""
    if len(text) <= characters:
        return ListedFile(path, text)
    end = text.rfind("\n", 0, characters) + 1 or characters
    return ListedFile(path, text[:end], len(text) - end)


# The judges.

OnJudged = Callable[[Judgement], object]


class LookCut(BudgetExhausted):
    """The budget has no room for a look at a pair; `lost` keeps what it took all the same."""

    def __init__(self, reached: LimitReached, lost: Judgement) -> None:
        super().__init__(str(reached), reached.limit)
        self.lost = lost


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Judges with `model`, which is called `name`; `wording` holds what it is asked."""

    model: Model
    name: str
    profile: ModelProfile
    wording: JudgeWording = field(default_factory=judge_wording)

    def key(self, pair: Pair) -> str:
        """Changes with everything that is asked, the order of the pair included."""
        asked = [message.content for message in self.wording.messages(pair)]
        return digest([self.name, self.wording.temperature, self.wording.seed, pair.first.company, pair.second.company,
                       *asked])

    async def judge(self, pair: Pair) -> Judgement:
        """The verdict on a pair in its order. An answer that cannot be read is asked for again once; then there is no
        verdict. Raises ModelError when the model cannot be asked, LookCut when its budget has no room for an answer."""
        messages: tuple[Message, ...] = self.wording.messages(pair)
        usage, problem = Usage(), ""
        for _ in range(2):
            try:
                text, used = await self._ask(messages)
            except LimitReached as reached:
                raise LookCut(reached, self._lost_look(pair, usage + reached.lost)) from None
            usage += used
            try:
                answer = read_json(strip_thoughts(text), self.wording.schema_)
            except Unreadable as error:
                problem = str(error)
                messages = (*messages, Message("assistant", text), self.wording.complaint(problem))
                continue
            return self._judgement(pair, usage, verdict=answer["verdict"], why=" ".join(answer["why"].split()))
        return self._judgement(pair, usage, verdict=None, why=problem)

    async def _ask(self, messages: tuple[Message, ...]) -> tuple[str, Usage]:
        """The answer; an empty text where the model gave none that could be used, however often it was asked."""
        profile = self.profile
        sampling = Sampling(self.name, self.wording.temperature, max_tokens=profile.max_tokens, seed=self.wording.seed,
                            reasoning_effort=profile.reasoning_effort, extra_body=profile.extra_body)
        constraint = Constraint(schema=self.wording.schema_) if self.profile.constrained else None
        try:
            reply = await self.model.complete(Request(messages, sampling, constraint=constraint,
                                                      headers=profile.headers or {}))
        except ContextOverflow as error:
            raise ContextOverflow(f"{error}; show less of each software: --characters N (now "
                                  f"{self.wording.characters})") from error
        except UnusableReply as error:
            return "", Usage(error.prompt_tokens, error.completion_tokens)
        return reply.text, reply.usage

    def _lost_look(self, pair: Pair, usage: Usage) -> Judgement:
        """What a look took that came to nothing; no question has its key, so that it is asked again."""
        lost = self._judgement(pair, usage, verdict=None, why="the budget had no room for the answer")
        return replace(lost, key=f"{lost.key} lost {secrets.token_hex(4)}")

    def _judgement(self, pair: Pair, usage: Usage, verdict: Verdict | None, why: str) -> Judgement:
        return Judgement(self.key(pair), pair.key, pair.task, self.name, pair.first.company, pair.second.company,
                         verdict, why, usage.prompt_tokens + usage.completion_tokens,
                         self.profile.cost(usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens))


@asynccontextmanager
async def open_judge(model: str | Model | None = None, base_url: str | None = None, characters: int | None = None,
                     *, provider: str | None = None, trust: bool = False) -> AsyncIterator[ModelJudge]:
    """A model, by name (None: the user's default) or as an object, as a judge, which is shown so many `characters` of
    each software. `trust` the address that `.env` names. Raises ConfigError and MissingModel."""
    name = None if model is None else model_name(model)
    wanted = choose_default(find_default_model(name, base_url, provider))
    user, wording = user_settings(), judge_wording()
    if characters:
        wording = wording.model_copy(update={"characters": characters})
    models = open_models(given=None if isinstance(model, str) else model)
    try:
        allow_strangers(models, [models.connect(wanted.name, wanted.address, None, wanted.provider)], trust)
        wanted = settle_model(wanted, models)
        found, name = models.get(wanted.name, wanted.address, None, wanted.provider)
        yield ModelJudge(found, name, find_profile(wanted.settings, name, user.models), wording)
    finally:
        await models.close()


async def judge_all(judge: ModelJudge, matches: Iterable[Match], record: JudgementFile, *, parallel: int = 8,
                    allowance: Allowance | None = None, on_judged: OnJudged = lambda _: None) -> list[Judgement]:
    """The judgements of all pairs in both orders, those of the record and new ones, which are recorded at once.

    `parallel` of them are under way at a time. Raises the first error, after those under way are finished and kept:
    nothing that was paid is lost, and calling it again goes on. `allowance` is what this judge may spend on all that
    is in the record: its calls are capped at what is left, and BudgetExhausted is raised when there is no room for
    another one, or when the last answers took more. `on_judged` is called with every judgement.
    """
    unpriced = Expense(judge.profile.cost(0, 0))  # None from the start when the model has no price
    before = spent = record.expense_of(judge.name) + unpriced
    allowance = allowance or Allowance()
    judge = replace(judge, model=CheckedModel(judge.model))
    if budget := allowance.budget(spent, parallel):
        judge = replace(judge, model=BudgetedModel(judge.model, judge.profile, [budget], Meter()))
    work = _Work(judge, _both_orders(matches), record, on_judged, allowance, spent)
    async with asyncio.TaskGroup() as workers:
        for _ in range(parallel):
            workers.create_task(work.run())
    if work.failure:
        raise work.failure
    if work.spent != before and (reason := allowance.exceeded_reason(work.spent)):
        raise BudgetExhausted(reason)
    return work.done


def _both_orders(matches: Iterable[Match]) -> Iterator[tuple[Match, bool]]:
    return ((match, turned) for match in matches for turned in (False, True))


@dataclass(slots=True)
class _Work:
    """What several workers share."""

    judge: ModelJudge
    left: Iterator[tuple[Match, bool]]
    record: JudgementFile
    on_judged: OnJudged
    allowance: Allowance
    spent: Expense
    done: list[Judgement] = field(default_factory=list)
    failure: ChatDevError | None = None

    async def run(self) -> None:
        """Judge until nothing is left, or until somebody met an error."""
        for match, turned in self.left:
            if self.failure:
                return
            try:
                self._include(await self._judge(match, turned=turned))
            except ChatDevError as error:
                self.failure = self.failure or error

    async def _judge(self, match: Match, *, turned: bool) -> Judgement:
        pair = await asyncio.to_thread(match.load)
        pair = pair.reversed_pair if turned else pair
        if found := self.record.get(self.judge.key(pair)):
            return found
        if reason := self.allowance.stop_reason(self.spent):
            raise BudgetExhausted(reason)
        try:
            judgement = await self.judge.judge(pair)
        except LookCut as cut:
            if cut.lost.tokens:
                await self.record.add(cut.lost)
            raise
        self.spent += judgement.expense
        await self.record.add(judgement)
        return judgement

    def _include(self, judgement: Judgement) -> None:
        self.done.append(judgement)
        self.on_judged(judgement)


def draw_pairs(matches: Sequence[Match], record: JudgementFile, seed: int = 0) -> Iterator[Pair]:
    """The pairs that the record has no choice for, in an order and with sides drawn by lot; `seed` draws the same
    again. Which side a pair shows first does not depend on the other pairs. Raises WorkspaceError."""
    for match in random.Random(seed).sample(matches, len(matches)):
        pair = match.load()
        if not record.get(_human_key(pair)):
            yield pair.reversed_pair if random.Random(f"{seed} {pair.key}").random() < 0.5 else pair


def human_judgement(pair: Pair, verdict: Verdict) -> Judgement:
    """A person's choice."""
    return Judgement(_human_key(pair), pair.key, pair.task, HUMAN, pair.first.company, pair.second.company, verdict)


def human_judgements(matches: Sequence[Match], record: JudgementFile) -> list[Judgement]:
    """The choices that the record has for these pairs."""
    found = (record.get(_human_key(match.load())) for match in matches)
    return [judgement for judgement in found if judgement]


def _human_key(pair: Pair) -> str:
    """The same in both orders."""
    return digest([HUMAN, pair.key])
