"""Whether a program does something sensible with the Tester's own commands, of which nobody knows what they print."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from chatdev.tools.software.cases.case import Start
from chatdev.tools.software.cases.wording import is_concrete, says, status_in
from chatdev.tools.software.toolchains.verdict import Finding, shows_usage
from chatdev.tools.software.trial.plan import Plan
from chatdev.tools.software.trial.tried import TriedCase, TriedStart

_REFUSALS = {"wants_arguments", "refuses_nothing", "refuses_no_input", "failed_status", "clean_exit"}
"""Rules of programs that came to their end by themselves."""
_FIGURE = re.compile(r"\d")
_SHORTEST = 3  # characters of a message that is looked for in a request


def judge_own(tried: Sequence[TriedCase], plan: Plan, known: Collection[str] | None,
              bare: Finding) -> list[TriedCase]:
    """The Tester's own commands expect no output, only sense. One that the program refuses fails only if its form
    stands in the request, if it is never taken, or if no command gets further; one that was done before, or that needs
    a file that nobody makes, fails for no refusal. Where the program does what the request seems to show, and has these
    `known` words in it, a command that neither of them has fails for nothing."""
    every = [start for case in tried for start in case.starts]
    further = known is not None or any(_gets_further(start, plan, bare) for start in every)
    return [replace(case, starts=tuple(_judge_sense(case, number, plan, None if further else bare, known)
                                       for number in range(len(case.starts))))
            if case.case is plan.own else case for case in tried]


def _gets_further(start: TriedStart, plan: Plan, bare: Finding) -> bool:
    return start.wrong in ("", "crash") and not _is_undone(start, plan, bare)


def _is_undone(start: TriedStart, plan: Plan, bare: Finding | None) -> bool:
    """Whether the program refuses what it was given, or, where no command gets further than the `bare` start, calls it
    wrong or takes no notice of it."""
    return _is_refused(start, plan) or (bare is not None and (
        _is_called_wrong(start) or _is_unnoticed(start, plan, bare)))


def _judge_sense(case: TriedCase, number: int, plan: Plan, bare: Finding | None,
                 known: Collection[str] | None) -> TriedStart:
    """`bare` is None where any command gets further than that."""
    start, further = case.starts[number], bare is None
    if _is_excused(start, plan, known):
        return replace(start, counts=False)
    if start.wrong or not _is_undone(start, plan, bare):
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
        _is_refused(one, plan) and shows_usage(one.finding) for one in case.starts if is_alike(one.start.arguments))


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
    return finding.facts.get("exit_status") not in (0, None) or shows_usage(finding)


def _is_called_wrong(start: TriedStart) -> bool:
    """Whether all that the program says is that what it was given is wrong, and it ends well nevertheless."""
    return _is_carried_out(start) and all(says("rejects", line) for line in _lines_of(start.finding) or [""])


def _is_unnoticed(start: TriedStart, plan: Plan, bare: Finding) -> bool:
    """Whether the program only says what it says without any command: one sentence that tells nothing."""
    said = _lines_of(start.finding)
    is_same = _is_carried_out(start) and said == _lines_of(bare)
    return is_same and len(said) == 1 and _tells_nothing(said[0], plan.request)


def _tells_nothing(line: str, request: str) -> bool:
    """Whether a line is no result, nor anything that the request wants to be said."""
    return not _FIGURE.search(line) and line.casefold() not in request.casefold() and not says("speaks", request)


def _is_carried_out(start: TriedStart) -> bool:
    """Whether a start with arguments alone ended well."""
    return start.finding.rule == "clean_exit" and bool(start.start.arguments) and not start.start.stdin


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
    return any(len(words) == len(start.arguments) and not is_concrete(words)
               and all(word == given or not is_concrete([word])
                       for word, given in zip(words, start.arguments, strict=True))
               for words in plan.reading.commands)


def _lacks_file(start: TriedStart, plan: Plan) -> bool:
    """Whether a start that went wrong speaks of a file that nobody makes."""
    said = f"{start.finding.said}\n{start.finding.facts.get('exception', '')}"
    return any(name in said for name in plan.reading.lacking)
