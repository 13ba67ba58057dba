"""Whether a program does something sensible with the Tester's own commands, of which nobody knows what they print. The
Tester makes them up before there is a program: only what the request names speaks against one, or for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from chatdev.departments.software.cases.case import UNKNOWN, Start
from chatdev.departments.software.cases.wording import is_concrete, is_form, says, status_in
from chatdev.departments.software.toolchains.verdict import Finding, shows_usage
from chatdev.departments.software.trial.plan import Plan
from chatdev.departments.software.trial.probe import LACKS, OF_ARGUMENTS, Conventions, NoTimeLeft, Probe, is_done
from chatdev.departments.software.trial.trial_report import TriedCase, TriedStart
from chatdev.errors import WorkspaceError

_REFUSALS = {"wants_arguments", "refuses_nothing", "refuses_no_input", "failed_status", "clean_exit"}
"""Rules of programs that came to their end by themselves."""
_NO_FILE = re.compile(r"FileNotFoundError: .*?: '([^']+)'$")
_SHORTEST = 3  # characters of a message that is looked for in a request


def judge_own(tried: Sequence[TriedCase], plan: Plan) -> list[TriedCase]:
    """The Tester's own commands are judged without an expected output. A refused command fails only if its form stands
    in the request, or if the request has it and it is never taken; a crash or endless run only if the request names the
    command. Refusing a repeated command, or one that needs a missing file, is never counted as a failure."""
    return [replace(case, starts=tuple(_judge_sense(case, number, plan) for number in range(len(case.starts))))
            if case.case is plan.own else case for case in tried]


def _judge_sense(case: TriedCase, number: int, plan: Plan) -> TriedStart:
    start = case.starts[number]
    if not start.wrong and (_is_refused(start, plan) or _is_called_wrong(start)):
        again = any(start.start == one.start for one in case.starts[:number])
        start = replace(start, wrong="refusal", counts=not again and _is_owed(case, start, plan))
    elif start.wrong == "crash":
        start = replace(start, counts=is_at_fault(start, plan))
    elif start.wrong:
        start = replace(start, counts=names(start.start, plan) and not says("for_ever", plan.request))
    return replace(start, counts=False) if _lacks_file(start, plan) else start


def _is_owed(case: TriedCase, start: TriedStart, plan: Plan) -> bool:
    """Whether the request has what is refused: a command of its form, or one that is never taken."""
    return _is_refused(start, plan) and (_has_form(start.start, plan) or _is_never_taken(case, start, plan))


def is_at_fault(start: TriedStart, plan: Plan) -> bool:
    """Whether a crash is the program's fault, and not that of what was made up for it: where the request has the form
    of the command; where it names its word, and the exception does not come of what stands behind that; and at lines
    that are typed where the request names them, or where the exception does not come of them. That nobody gave a file
    which the command names, or a user of the request has, is no fault."""
    done, exception = start.start, str(start.finding.facts.get("exception", ""))
    theirs = {*done.arguments, *(plan.reading.files or {}), *plan.reading.lacking}
    if not theirs.isdisjoint(_NO_FILE.findall(exception)):
        return False
    comes_of_words = exception.split(":")[0].rpartition(".")[2] in OF_ARGUMENTS
    if not done.arguments:
        return names(done, plan) or not comes_of_words
    if len(done.arguments) == 1 and not done.stdin:
        comes_of_words = LACKS.search(exception) is not None or done.arguments[0] in exception
    return _has_form(done, plan) or (names(done, plan) and not comes_of_words)


def names(start: Start, plan: Plan) -> bool:
    """Whether the request names what is done: a command of this form, its first word, or a line that is typed."""
    words = start.arguments[:1] or tuple(map(str.strip, (start.stdin or "").splitlines()))
    return start.arguments in plan.reading.commands or any(
        _is_like(start, form, is_form) for form in plan.reading.commands) or any(
        re.search(rf"(?<!\w){re.escape(word)}(?!\w)", plan.request, re.IGNORECASE)
        for word in words if word[:1].isalpha())


def carries_out_named(conventions: Conventions, plan: Plan, software: Mapping[str, bytes]) -> bool:
    """Whether the program carries out one of the Tester's commands that the request names, and otherwise than a word
    that nobody knows."""
    if plan.own is None:
        return False
    probe = Probe(conventions, plan.own, software)
    with suppress(WorkspaceError, NoTimeLeft), probe.fresh_copy() as folder:
        for start in plan.own.starts:
            finding, _ = probe.try_alone(folder, start)
            ended = is_done(finding) or (not start.arguments and finding.rule == "asks_for_input")
            if ended and finding.said.strip() and names(start, plan) and _takes_notice(probe, start, finding):
                return True
            probe.run(folder, start)
    return False


def _takes_notice(probe: Probe, start: Start, finding: Finding) -> bool:
    """Whether a start goes otherwise than with words that nobody knows; in a fresh copy, where nothing was done."""
    if not (start.arguments or start.stdin):
        return False
    typed = (start.stdin or "").splitlines()
    other = replace(start, stdin=f"{UNKNOWN}\n" * len(typed) or None) if not start.arguments else replace(
        start, arguments=(UNKNOWN, *start.arguments[1:]))
    with probe.fresh_copy() as folder:
        unknown = probe.run(folder, other).said
    for word in (*start.arguments[:1], *(typed if not start.arguments else ())):
        finding = replace(finding, facts={**finding.facts, "streams": (finding.said.replace(word, UNKNOWN),)})
    return finding.said != unknown


def _is_never_taken(case: TriedCase, start: TriedStart, plan: Plan) -> bool:
    """Whether the request has this command, with other arguments perhaps but as many, and the program answers it with
    its usage whatever they are."""
    def is_alike(words: Sequence[str]) -> bool:
        return len(words) == len(start.start.arguments) > 1 and words[0] == start.start.arguments[0]

    has_word = any(word[:1].isalpha() for word in start.start.arguments[:1])
    return has_word and any(map(is_alike, plan.reading.commands)) and all(
        _is_refused(one, plan) and shows_usage(one.finding) for one in case.starts if is_alike(one.start.arguments))


def _is_refused(start: TriedStart, plan: Plan) -> bool:
    """Whether the program ends in a usage text, or with a status other than 0, and not with words of the request, or
    asks for input instead of doing what its arguments say."""
    finding = start.finding
    if finding.rule == "asks_for_input":
        return bool(start.start.arguments) and not start.start.stdin and not says("dialogue", plan.request)
    if finding.rule not in _REFUSALS or repeats_request(finding, plan):
        return False
    return finding.facts.get("exit_status") not in (0, None) or shows_usage(finding)


def _is_called_wrong(start: TriedStart) -> bool:
    """Whether all that the program says is that what it was given is wrong, and it ends well nevertheless."""
    is_alone = start.finding.rule == "clean_exit" and bool(start.start.arguments) and not start.start.stdin
    return is_alone and all(says("rejects", line) for line in _lines_of(start.finding) or [""])


def _lines_of(finding: Finding) -> list[str]:
    """What a program said, without empty lines."""
    return [line for line in map(str.strip, finding.said.splitlines()) if line]


def refuses_as_asked(bare: Finding, plan: Plan) -> bool:
    """Whether a program that got nothing refuses that with words of the request, or with the status that it names."""
    status = bare.facts.get("exit_status")
    return repeats_request(bare, plan) or (status is not None and status == status_in(plan.request))


def repeats_request(finding: Finding, plan: Plan) -> bool:
    """Whether a program said something that stands in the request: what it has to say there."""
    return any(len(line) >= _SHORTEST and line in plan.request for line in _lines_of(finding))


def _has_form(start: Start, plan: Plan) -> bool:
    """Whether the request has a command of this form: the same words, but for those that have to be filled in."""
    return any(_is_like(start, words, lambda some: not is_concrete(some)) for words in plan.reading.commands)


def _is_like(start: Start, form: Sequence[str], is_open: Callable[[Sequence[str]], bool]) -> bool:
    """Whether a start has the words of a form of which some are to be filled in: those that `is_open` by themselves."""
    return len(form) == len(start.arguments) and is_open(form) and all(
        word == given or is_open([word]) for word, given in zip(form, start.arguments, strict=True))


def _lacks_file(start: TriedStart, plan: Plan) -> bool:
    """Whether a start that went wrong speaks of a file that nobody makes."""
    said = f"{start.finding.said}\n{start.finding.facts.get('exception', '')}"
    return any(name in said for name in plan.reading.lacking)
