"""A trial: each case of a plan in a fresh copy of the software, its starts in order, a first command before them; what
came of it, and what its report shows of a case.

Of the Tester's own commands nobody knows what they print, as there is no program when they are made up: only what the
request names speaks against one, or for it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from chatdev.departments.software import knowledge
from chatdev.departments.software.cases.case import UNKNOWN, Case, Start
from chatdev.departments.software.cases.comparison import Tolerance, is_prompt, prints_what_is_wanted, wrong_files
from chatdev.departments.software.cases.wording import is_concrete, is_form, says, status_in
from chatdev.departments.software.toolchains.toolchain import BuiltSoftware, Toolchain
from chatdev.departments.software.toolchains.verdict import Finding, shows_usage
from chatdev.departments.software.trial.plan import Plan
from chatdev.departments.software.trial.probe import LACKS, OF_ARGUMENTS, Conventions, NoTimeLeft, Probe, is_done
from chatdev.errors import WorkspaceError
from chatdev.sandbox.base import lines_of
from chatdev.tools.base import template

_MANY, _FEW = 1000, 50  # lines; how often each stands there
_PROMPTS = re.compile(rb"\binput\(\s*[^\s)]")  # of programs in Python


def try_plan(toolchain: Toolchain, built: BuiltSoftware, software: Mapping[str, bytes], plan: Plan,
             bare: Finding) -> Trial:
    """How the cases of a plan went; `bare` is how it went with nothing at all."""
    tried, allowed = [], _tolerance(plan.request, bare, software)
    conventions = Conventions(toolchain, built, is_open=_leaves_open(plan))
    if plan.own and conventions.is_open:
        plan = begin_with_needed(plan, Probe(conventions, plan.own, software))
    for case in plan.all_cases:
        with built.copy(case.files) as folder:
            tried.append(_try_own(conventions, folder, case) if case is plan.own else
                         _try_case(toolchain, folder, case, allowed))
    trial = Trial(plan, tuple(judge_own(tried, plan)))
    if trial.failed or trial.confirmed:
        return trial
    return replace(trial, shows_sense=carries_out_named(conventions, plan, software))


def _leaves_open(plan: Plan) -> bool:
    """Whether the request does not say how commands are given, nor that the program is a dialogue."""
    return not plan.cases and not plan.reading.commands and not says("dialogue", plan.request)


def _tolerance(request: str, bare: Finding, software: Mapping[str, bytes]) -> Tolerance:
    """What a request leaves open of what is printed."""
    silent = _silent_text(bare, software) if _may_prompt(request) else None
    return Tolerance(silent, coloured=says("colours", request), any_layout=not says("json_layout", request))


def _may_prompt(request: str) -> bool:
    """Whether a program may say something before it reads what is typed: not where it gets a stream, and nobody speaks
    of asking."""
    return not says("unprompted", request) and (says("asks", request) or not says("streams", request))


def _silent_text(bare: Finding, software: Mapping[str, bytes]) -> str | None:
    """What software says when nobody types anything, if it writes a text that waits for an answer, whatever it says at
    the end of its input; else None."""
    said = str(bare.facts.get("streams", ("", ""))[0])
    last = said.rstrip("\n").rpartition("\n")[2]
    return said if is_prompt(last) or any(map(_PROMPTS.search, software.values())) else None


def _try_case(toolchain: Toolchain, folder: Path, case: Case, allowed: Tolerance) -> TriedCase:
    tried = []
    for start in case.starts:
        finding = toolchain.start(folder, Start(start.arguments, _typed_text(case, start)), ends=case.expects)
        tried.append(_judge_start(start, finding, folder, allowed))
    return TriedCase(case, tuple(tried))


def _typed_text(case: Case, start: Start) -> str:
    """What comes in, as the request has it; who copies that from there easily leaves out the end of the last line."""
    typed = start.stdin or ""
    return f"{typed}\n" if typed and case.origin == "tester" and not typed.endswith("\n") else typed


def _try_own(conventions: Conventions, folder: Path, case: Case) -> TriedCase:
    """The Tester's own commands, each by the convention by which the program takes it."""
    tried = []
    for start in case.starts:
        finding = conventions.run(folder, start)
        tried.append(_judge_start(conventions.adapt(start), finding, folder, Tolerance()))
    return TriedCase(case, tuple(tried))


def _judge_start(start: Start, finding: Finding, folder: Path, allowed: Tolerance) -> TriedStart:
    """What is wrong with a start by itself."""
    facts, files = finding.facts, wrong_files(start, folder, allowed)
    status = facts.get("exit_status")
    wrong: Wrong = ""
    if finding.rule in CRASHES:
        wrong = "crash"
    elif facts.get("still_running") and (start.expects or (start.arguments and _goes_round(facts["streams"][0]))):
        wrong = "endless"
    elif not prints_what_is_wanted(start, facts["streams"], status, allowed):
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


# A command that a program wants before all others, such as `init`: who tries it learns that from what it says, and a
# trial by looking whether other commands do more after it.


def begin_with_needed(plan: Plan, probe: Probe) -> Plan:
    """The plan with such a command before the Tester's own ones, if there is one that the plan lacks."""
    with suppress(WorkspaceError, NoTimeLeft):  # it may leave what cannot be copied
        if start := _find_needed(probe):
            return replace(plan, own=replace(probe.own, starts=(start, *probe.own.starts)))
    return plan


def _find_needed(probe: Probe) -> Start | None:
    """The start without which the first planned command that has something behind it keeps nothing, if there is one."""
    later = next((start for start in probe.own.starts if len(start.arguments) > 1), None)
    starts = _unplanned_beginnings(probe)
    if later is None or not starts:
        return None
    with probe.fresh_copy() as folder:
        alone, changed = probe.run_and_look(folder, later)
    return None if changed else next((start for start in starts if _opens(probe, start, later, alone.said)), None)


def _unplanned_beginnings(probe: Probe) -> list[Start]:
    planned = {start.arguments[:1] for start in probe.own.starts}
    return [Start((word,)) for word in probe.words_of("begins") if (word,) not in planned]


def _opens(probe: Probe, start: Start, later: Start, alone: str) -> bool:
    """Whether the other start changes files, and says something else than `alone`, once this one was carried out."""
    with probe.fresh_copy() as folder:
        begun, has_begun = probe.run_and_look(folder, start)
        if not (has_begun and is_done(begun)):
            return False
        after, changed = probe.run_and_look(folder, later)
    return changed and is_done(after) and after.said != alone


# What came of a trial, and what its report shows of a case: what was done, wanted and seen, and where it failed.

_TAIL_LINES, _TAIL_CHARACTERS = 5, 300  # of what a command says of which nothing is known
_MOST_LINES, _MOST_CHARACTERS = 20, 1500  # of what is wanted and seen, and of a file
_MOST_SHOWN = 500  # characters of a command, and of a line that is typed


def show_case(tried: TriedCase, software: Mapping[str, bytes]) -> dict[str, Any]:
    """A case as templates and machines read it."""
    return {"from": tried.case.origin, "passed": not tried.failed, "expects": tried.case.expects,
            "files": {name: _shorten_lines(text) for name, text in tried.case.files.items()},
            "starts": [show_start(start, software) for start in tried.starts]}


def show_start(tried: TriedStart, software: Mapping[str, bytes] | None = None) -> dict[str, Any]:
    """A start likewise. `software` holds the files of its own in which a frame may lie."""
    start, facts = tried.start, tried.finding.facts
    return {
        "command": _shorten(facts["command"]), "typed": list(map(_shorten, (start.stdin or "").splitlines())),
        "expects": start.expects, "wrong": tried.wrong, "failed": tried.failed,
        "asks": tried.finding.rule == "asks_for_input",
        "wanted": None if start.prints is None else _shorten_lines(start.prints), "seen": _output(tried),
        "status_wanted": start.status, "status": facts.get("exit_status"),
        "files": [{"name": name, "wanted": _shorten_lines(start.writes[name]),
                   "seen": None if text is None else _shorten_lines(text)} for name, text in tried.files.items()],
        **_failure(tried.finding, software or {}),
    }


def show_trial(trial: Trial) -> dict[str, Any]:
    """The counts of a trial, and what of its plan was not tried."""
    examples, failed = len(trial.examples), len(trial.failed)
    return {"examples": examples, "held": trial.held, "failed": failed, "others": len(trial.starts) - examples,
            "other_failed": failed - (examples - trial.held), "not_taken": trial.not_taken,
            "confirmed": trial.confirmed,
            "left_out": [one.what for one in trial.plan.left_out if one.why == "file"]}


def show_contradictions(plan: Plan, command: str) -> str:
    """What of the request counts for nothing because it contradicts itself, as text; empty for most. `command` starts
    the program."""
    cases = [{"starts": [{"command": _shorten(shlex.join((*command.split(), *start.arguments))), "stdin": start.stdin,
                          "prints": start.prints, "writes": dict(start.writes), "status": start.status}
                         for start in case.starts]} for case in plan.reading.contradictory]
    return str(template(knowledge.report_template("contradictions")).render(cases=cases)).strip()


def show_unfit(plan: Plan) -> str:
    """What nobody can do, as text; empty for most plans."""
    unfit = [{"what": one.what, "why": one.why} for one in plan.left_out if one.why != "file"]
    return str(template(knowledge.report_template("unfit")).render(unfit=unfit)).strip()


def _failure(finding: Finding, software: Mapping[str, bytes]) -> dict[str, Any]:
    """Where a program failed, by the innermost frame in its own files; empty for one that did not."""
    if finding.rule not in CRASHES:
        return {"crashed": False, "frames": [], "error": "", "line": "", "excerpt": ""}
    frames = list(finding.facts["frames"])
    path, line = next(((str(frame["path"]), int(frame["line"])) for frame in reversed(frames)
                       if frame["path"] in software), ("", 0))
    return {"crashed": True, "frames": frames, "error": finding.facts["exception"] or _last_words(finding),
            "line": f"{path}:{line}" if path else "", "excerpt": frames[-1].get("excerpt", "") if frames else ""}


def _output(tried: TriedStart) -> str:
    """What a program printed: all of it where something is wanted, else the end."""
    crashed = tried.finding.rule in CRASHES
    if tried.start.expects and not crashed:
        return _shorten_streams(tried.finding)
    return _last_lines(tried.finding, crashed)


def _last_lines(finding: Finding, crashed: bool) -> str:
    said = finding.facts["stdout"] or ("" if crashed else finding.facts["stderr"])
    return "\n".join(said.splitlines()[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]


def _shorten(line: str) -> str:
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN]} … ({len(line)} characters)"


def _shorten_streams(finding: Finding) -> str:
    """The first lines of all that a program wrote."""
    return _shorten_lines("\n".join(filter(str.strip, finding.facts["streams"])))


def _shorten_lines(text: str) -> str:
    """The first lines of a text."""
    lines = lines_of(text)
    shown = "\n".join(lines[:_MOST_LINES])[:_MOST_CHARACTERS]
    return f"{shown}\n… ({len(lines)} lines)" if shown != "\n".join(lines) else shown


def _last_words(finding: Finding) -> str:
    """What is known of an end without a traceback of Python."""
    if finding.rule == "exceeded":
        what = finding.facts["exceeded"]
        return "not started: no command line can hold this" if what == "command" else f"ended for too much {what}"
    return f"ended by {finding.facts['signal']}" if finding.rule == "killed" else str(finding.facts["stderr"])


# What came of a trial: each case, each start, and what is wrong with it.

CRASHES = {"crashed", "missing_module", "killed", "exceeded"}
"""Rules that no start of a user may meet. An exit status is none: a program may refuse what was typed."""
Wrong = Literal["", "crash", "endless", "output", "status", "files", "refusal"]
"""What is wrong with a start: it crashes, does not end, prints, ends with or writes something else than is wanted, or
refuses what it should do."""


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
    shows_sense: bool = False
    """Whether it carries out a command that the request names."""

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
    def not_taken(self) -> int:
        """How many starts go wrong that fail nobody."""
        return sum(start.wrong != "" and not start.counts for start in self.starts)

    @property
    def confirmed(self) -> bool:
        """Whether anything was seen of the program that speaks for it: a start that goes well is none."""
        return self.held > 0 or self.shows_sense

    @property
    def only_crashes(self) -> bool:
        """Whether every start ended so."""
        return all(start.wrong == "crash" for start in self.starts)


# Whether a program does something sensible with the Tester's own commands, of which nobody knows what they print.
# The Tester makes them up before there is a program: only what the request names speaks against one, or for it.

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
