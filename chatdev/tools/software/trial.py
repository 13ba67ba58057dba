"""A trial: each case of a plan in a fresh copy of the software, its starts one after another, and what came of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from chatdev.tools.base import ToolContext
from chatdev.tools.software.beginning import begin_with_needed
from chatdev.tools.software.cases.case import Case, Start
from chatdev.tools.software.cases.comparison import is_prompt, prints_what_is_wanted, wrong_files
from chatdev.tools.software.cases.wording import is_concrete, says
from chatdev.tools.software.keeping import try_keeping
from chatdev.tools.software.likely_trial import LikelyTrial, try_likely
from chatdev.tools.software.manner import Manners
from chatdev.tools.software.plan import Plan, any_command, quoted_words
from chatdev.tools.software.probe import KeepingFault, KeepingStart, Probe
from chatdev.tools.software.session import Session
from chatdev.tools.software.toolchain import Toolchain, build_once
from chatdev.tools.software.verdict import Finding

CRASHES = {"crashed", "missing_module", "killed", "exceeded"}
"""Rules that no start of a user may meet. An exit status is none: a program may refuse what was typed."""
Wrong = Literal["endless", "output", "status", "files", "refusal"] | KeepingFault
"""What is wrong with a start: it does not end, it prints, ends with or writes something else than is wanted, it refuses
what it should do, or it crashes or does not keep what was added (`KeepingStart`)."""
_USAGE = re.compile(r"^[ \t]*usage\b", re.IGNORECASE | re.MULTILINE)
_REFUSALS = {"wants_arguments", "refuses_nothing", "refuses_no_input", "failed_status", "clean_exit"}
"""Rules of programs that came to their end by themselves."""
_MANY, _FEW = 1000, 50  # lines; how often each stands there
_SHORTEST = 3  # characters of a message that is looked for in a request


@dataclass(frozen=True, slots=True)
class TriedStart:
    """A start, how it went, and what is wrong. One that does not count fails nobody, whatever is wrong."""

    start: Start
    finding: Finding
    wrong: Wrong = ""
    counts: bool = True
    files: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether it is to be mended."""
        return self.counts and self.wrong != ""


@dataclass(frozen=True, slots=True)
class TriedCase:
    """A case and its starts."""

    case: Case
    starts: tuple[TriedStart, ...]

    @property
    def failed(self) -> bool:
        """Whether one of its starts failed."""
        return any(start.failed for start in self.starts)


@dataclass(frozen=True, slots=True)
class Trial:
    """All cases of a plan, tried."""

    plan: Plan
    cases: tuple[TriedCase, ...]
    likely: LikelyTrial | None = None
    """Of what the request seems to show, where no case is certain."""

    @property
    def starts(self) -> list[TriedStart]:
        """Every start, in the order of the plan."""
        return [start for case in self.cases for start in case.starts]

    @property
    def examples(self) -> list[TriedStart]:
        """The starts of which the request says what they do."""
        return [start for start in self.starts if start.start.expects]

    @property
    def held(self) -> int:
        """How many examples hold: none of a program that only refuses, unless nothing else is wanted."""
        held = [one.start for one in self.examples if not one.wrong]
        only_refuses = all(start.refuses for start in held) and not all(one.start.refuses for one in self.examples)
        return 0 if only_refuses else len(held)

    @property
    def failed(self) -> list[TriedStart]:
        """The starts that are to be mended."""
        return [start for start in self.starts if start.failed]

    @property
    def refused(self) -> int:
        """How many starts the program refuses that fail nobody."""
        return sum(start.wrong == "refusal" and not start.counts for start in self.starts)

    @property
    def only_crashes(self) -> bool:
        """Whether every start ended so."""
        return all(start.wrong == "crash" for start in self.starts)


def try_plan(toolchain: Toolchain, context: ToolContext, plan: Plan, bare: Finding) -> Trial:
    """How the cases of a plan went, with software that can be built; `bare` is how it went with nothing at all."""
    tried, prompts = [], _may_prompt(plan.request) and _writes_prompts(bare)
    with build_once(toolchain, context) as built:
        manners = Manners(toolchain, built, is_open=_leaves_open(plan))
        if plan.own and not plan.cases:
            plan = begin_with_needed(plan, Probe(manners, plan.own, context.software))
        for case in plan.all_cases:
            with built.copy(case.files) as folder:
                tried.append(_try_own(manners, folder, case) if case is plan.own else
                             _try_case(toolchain, folder, case, prompts=prompts))
        likely = try_likely(toolchain, built, plan.likely, plan.request, any_command(), bare)
        keeping = [] if plan.cases else try_keeping(manners, plan, context.software)
    known = quoted_words(context.software) if likely and likely.counts and likely.confirmed else None
    return Trial(plan, (*_judge_own(tried, plan, known), *_keeping_case(keeping, manners)), likely)


def _leaves_open(plan: Plan) -> bool:
    """Whether the request does not say how commands are given, nor that the program is a dialogue."""
    return not plan.cases and not plan.reading.commands and not says("dialogue", plan.request)


def _keeping_case(tried: Sequence[KeepingStart], manners: Manners) -> Iterator[TriedCase]:
    if tried:
        starts = [TriedStart(manners.put(one.start), one.finding, one.wrong) for one in tried]
        yield TriedCase(Case("program", tuple(one.start for one in starts)), tuple(starts))


def _may_prompt(request: str) -> bool:
    """Whether a program may say something before it reads what is typed: not where it gets a stream, and nobody speaks
    of asking."""
    return not says("unprompted", request) and (says("asks", request) or not says("streams", request))


def _writes_prompts(bare: Finding) -> bool:
    """Whether the software, started with nothing at all, writes a text that waits for an answer."""
    streams = bare.facts.get("streams", ("", ""))
    last = str(streams[0]).rpartition("\n")[2]
    return is_prompt(last)


def _try_case(toolchain: Toolchain, folder: Path, case: Case, *, prompts: bool) -> TriedCase:
    tried = []
    for start in case.starts:
        typed = tuple((start.stdin or "").splitlines())
        finding = toolchain.start(folder, Session(start.arguments, typed, ends=case.expects))
        tried.append(_judge_start(start, finding, folder, prompts=prompts))
    return TriedCase(case, tuple(tried))


def _try_own(manners: Manners, folder: Path, case: Case) -> TriedCase:
    """The Tester's own commands, each in the manner in which the program takes it."""
    tried = []
    for start in case.starts:
        finding = manners.run(folder, start)
        tried.append(_judge_start(manners.put(start), finding, folder, prompts=True))
    return TriedCase(case, tuple(tried))


def _judge_start(start: Start, finding: Finding, folder: Path, *, prompts: bool) -> TriedStart:
    """What is wrong with a start by itself."""
    facts, files = finding.facts, wrong_files(start, folder)
    status = facts.get("exit_status")
    wrong: Wrong = ""
    if finding.rule in CRASHES:
        wrong = "crash"
    elif facts.get("still_running") and (start.expects or (start.arguments and _goes_round(facts["streams"][0]))):
        wrong = "endless"
    elif not prints_what_is_wanted(start, facts["streams"], status, prompts=prompts):
        wrong = "output"
    elif start.status not in (None, status):
        wrong = "status"
    elif files:
        wrong = "files"
    return TriedStart(start, finding, wrong, files=files)


def _goes_round(text: str) -> bool:
    """Whether a program has filled its output with the same few lines."""
    lines = text.splitlines()
    return len(lines) >= _MANY and _FEW * len(set(lines)) <= len(lines)


def _judge_own(tried: Sequence[TriedCase], plan: Plan, known: Collection[str] | None) -> list[TriedCase]:
    """The Tester's own commands expect no output, only sense. One that the program refuses fails only if its form
    stands in the request, if it is never taken, or if no command gets further; one that was done before, or that needs
    a file that nobody makes, fails for no refusal. Where the program does what the request seems to show, and has these
    `known` words in it, a command that neither of them has fails for nothing."""
    every = [start for case in tried for start in case.starts]
    further = known is not None or any(_gets_further(start, plan) for start in every)
    return [replace(case, starts=tuple(_judge_sense(case, number, plan, further=further, known=known)
                                       for number in range(len(case.starts))))
            if case.case is plan.own else case for case in tried]


def _gets_further(start: TriedStart, plan: Plan) -> bool:
    return start.wrong in ("", "crash") and not _is_undone(start, plan, further=False)


def _is_undone(start: TriedStart, plan: Plan, *, further: bool) -> bool:
    """Whether the program refuses what it was given, or, where no command gets `further`, calls it wrong."""
    return _is_refused(start, plan) or (not further and _is_called_wrong(start))


def _judge_sense(case: TriedCase, number: int, plan: Plan, *, further: bool,
                 known: Collection[str] | None) -> TriedStart:
    start = case.starts[number]
    if _is_excused(start, plan, known):
        return replace(start, counts=False)
    if start.wrong or not _is_undone(start, plan, further=further):
        return start
    again = any(start.start == one.start for one in case.starts[:number])
    counts = not further or _has_form(start.start, plan) or _is_never_taken(case, start, plan)
    return replace(start, wrong="refusal", counts=counts and not again)


def _is_excused(start: TriedStart, plan: Plan, known: Collection[str] | None) -> bool:
    """Whether a start lacks a file, need not be known, or goes on as the request wants."""
    return (_lacks_file(start, plan) or (known is not None and _is_made_up(start.start, plan, known))
            or (start.wrong == "endless" and says("for_ever", plan.request)))


def _is_never_taken(case: TriedCase, start: TriedStart, plan: Plan) -> bool:
    """Whether the request has this command, with other arguments perhaps but as many, and the program answers it with
    its usage whatever they are."""
    def is_alike(words: Sequence[str]) -> bool:
        return len(words) == len(start.start.arguments) > 1 and words[0] == start.start.arguments[0]

    has_word = any(word[:1].isalpha() for word in start.start.arguments[:1])
    return has_word and any(map(is_alike, plan.reading.commands)) and all(
        _is_refused(one, plan) and _shows_usage(one.finding) for one in case.starts if is_alike(one.start.arguments))


def _is_made_up(start: Start, plan: Plan, known: Collection[str]) -> bool:
    """Whether the first argument of a start is a word that neither the request nor the software has."""
    word = next(iter(start.arguments), "")
    return word[:1].isalpha() and word not in known and word not in plan.request


def _is_refused(start: TriedStart, plan: Plan) -> bool:
    """Whether the program ends in a usage text, or with a status other than 0, and not with words of the request, or
    asks for input instead of doing what its arguments say."""
    finding = start.finding
    if finding.rule == "asks_for_input":
        return bool(start.start.arguments) and not start.start.stdin and not says("dialogue", plan.request)
    if finding.rule not in _REFUSALS or repeats_request(finding, plan):
        return False
    return finding.facts.get("exit_status") not in (0, None) or _shows_usage(finding)


def _is_called_wrong(start: TriedStart) -> bool:
    """Whether all that the program says is that what it was given is wrong, and it ends well nevertheless."""
    said = "\n".join(start.finding.facts["streams"]).strip()
    return start.finding.rule == "clean_exit" and bool(start.start.arguments) and (
        len(said.splitlines()) == 1 and says("rejects", said))


def _shows_usage(finding: Finding) -> bool:
    return bool(_USAGE.search("\n".join(finding.facts["streams"])))


def repeats_request(finding: Finding, plan: Plan) -> bool:
    """Whether a program said something that stands in the request: what it has to say there."""
    lines = map(str.strip, "\n".join(finding.facts["streams"]).splitlines())
    return any(len(line) >= _SHORTEST and line in plan.request for line in lines)


def _has_form(start: Start, plan: Plan) -> bool:
    """Whether the request has a command of this form: the same words, but for those that have to be filled in."""
    return any(len(words) == len(start.arguments) and not is_concrete(words)
               and all(word == given or not is_concrete([word])
                       for word, given in zip(words, start.arguments, strict=True))
               for words in plan.reading.commands)


def _lacks_file(start: TriedStart, plan: Plan) -> bool:
    """Whether a start that went wrong speaks of a file that nobody makes."""
    facts = start.finding.facts
    said = "\n".join((*facts["streams"], str(facts.get("exception", ""))))
    return any(name in said for name in plan.reading.lacking)
