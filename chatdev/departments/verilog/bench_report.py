"""What a test bench reports at its end: counts as VerilogEval's benches print them, or what its lines say."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from chatdev.departments.verilog.compilation import BENCH

_OUTPUT = re.compile(r"^Hint: Output '(?P<name>[^']+)' has (?:no mismatches"
                     r"|(?P<count>\d{1,20}) mismatches\. First mismatch occurred at time (?P<time>\d{1,20}))\.",
                     re.MULTILINE)
_TOTAL = re.compile(r"^Mismatches: (\d{1,20}) in (\d{1,20}) samples\s*$", re.MULTILINE)
_FINISHED = re.compile(r"^Simulation finished at (\d{1,20})\b", re.MULTILINE)
_SEVERE = re.compile(rf"(?P<kind>ERROR|FATAL): (?:\./)?{re.escape(BENCH)}:\d{{1,9}}: ?(?P<text>[^\n]*)\n"
                     r" *Time: (?P<time>\d{1,20})\b", re.MULTILINE)
_DIGITS = re.compile(r"\d+")
_MOST = 1000  # complaints that are kept


@dataclass(frozen=True, slots=True)
class Mismatch:
    """How often an output differs, and the time of the first difference, in the bench's units; None when it never
    does."""

    count: int
    first_time: int | None


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line that a bench printed, and its time in units of the waveform; None where that is not known."""

    text: str
    time: int | None = None


@dataclass(frozen=True, slots=True)
class BenchReport:
    """What a bench printed: mismatches per output, and in all (None: it printed nothing of the kind).

    Of a bench without such counts (not `is_counted`), `mismatches` and `samples` are checks that failed and checks in
    all, `complaints` the lines that say what failed, the first one at the front, and `lines` all that it printed. Of
    one in Python, `tests` are those that ran, each with what it says is wrong, or "".
    """

    outputs: Mapping[str, Mismatch] = field(default_factory=dict)
    mismatches: int | None = None
    samples: int | None = None
    finished_at: int | None = None
    complaints: tuple[PrintedLine, ...] = ()
    lines: tuple[str, ...] = ()
    is_counted: bool = True
    tests: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, stdout: str) -> Self:
        """The counts in what a simulation printed. The last line of a kind counts: what a module prints itself comes
        before the bench's own."""
        outputs = {found["name"]: Mismatch(int(found["count"] or 0), int(found["time"]) if found["time"] else None)
                   for found in _OUTPUT.finditer(stdout)}
        totals, ends = _TOTAL.findall(stdout), _FINISHED.findall(stdout)
        mismatches, samples = map(int, totals[-1]) if totals else (None, None)
        return cls(outputs, mismatches, samples, int(ends[-1]) if ends else None)

    @classmethod
    def read_lines(cls, lines: Sequence[PrintedLine], printed: str, *, complains: bool,
                   affirms: bool = False, right: BenchReport | None = None) -> Self:
        """What the lines that a bench printed say, and the errors among all that was `printed`.

        `complains` says that the bench ends with an error where something is wrong, so that silence is a verdict, too;
        not so where it `affirms` what is right, and does that of the reference.
        `right` is its report on the reference: what complains there too is no complaint, and where it gives no verdict,
        all that it prints, if anything, has to be the same. Silence is one of lines that could not mean anything else.
        """
        texts = [line.text for line in lines]
        checks = dict(zip(lines, checks_of_lines(texts), strict=True))
        failures = _unusual_failures(checks, right)
        complaints = [*severe_lines(printed), *failures, *map(PrintedLine, breaches_of_plan(texts))]
        passed = sum(checks[line].passed for line in lines)
        if complaints or passed or (complains and _is_silence(checks.values(), affirms, right)):
            return cls._of_checks(passed, _count_failed(complaints, failures.values()), complaints, lines)
        if right is not None and (lines or right.lines):
            return cls._of_prints(lines, right)
        return cls(lines=tuple(texts), is_counted=False)

    @classmethod
    def _of_prints(cls, lines: Sequence[PrintedLine], right: BenchReport) -> Self:
        complaints = list(_strangers(lines, right.lines))
        return cls._of_checks(len(lines) - len(complaints), len(complaints), complaints, lines)

    @classmethod
    def _of_checks(cls, passed: int, failed: int, complaints: Sequence[PrintedLine],
                   lines: Sequence[PrintedLine]) -> Self:
        return cls(mismatches=failed, samples=failed + max(passed, not failed),
                   complaints=tuple(sorted(complaints[:_MOST], key=_time_of)), lines=tuple(line.text for line in lines),
                   is_counted=False)

    @property
    def first_complaint(self) -> PrintedLine | None:
        """The first one whose time is known."""
        return next((one for one in self.complaints if one.time is not None), None)

    @property
    def passed(self) -> bool:
        """Whether samples were compared and all of them match."""
        return self.mismatches == 0 and bool(self.samples)

    @property
    def share(self) -> float:
        """The share of matching samples; 0 when none was compared."""
        return 1 - (self.mismatches or 0) / self.samples if self.samples else 0.0


def _is_silence(checks: Iterable[Checks], affirms: bool, right: BenchReport | None) -> bool:
    """Whether no line could mean anything, and the bench does not say it either of a right module that all is well."""
    would_say = affirms and (right is None or any(checks_of(line).passed for line in right.lines))
    return not would_say and not any(found.unclear for found in checks)


def _unusual_failures(checks: Mapping[PrintedLine, Checks], right: BenchReport | None) -> dict[PrintedLine, int]:
    """The lines that tell more failed checks than a line of that form does of a right module, whatever the other
    numbers in it, and how many."""
    usual = dict[str, int]()
    lines = right.lines if right else ()
    for line, found in zip(lines, checks_of_lines(lines), strict=True):
        usual[_mask(line)] = max(usual.get(_mask(line), 0), found.failed)
    return {line: found.failed for line, found in checks.items() if found.failed > usual.get(_mask(line.text), 0)}


def _count_failed(complaints: Sequence[PrintedLine], told: Collection[int]) -> int:
    """The checks that failed, by lines that each tell so many: a total tells of the other lines."""
    return max(len(complaints) - sum(count > 1 for count in told), *told, 0)


def _strangers(lines: Sequence[PrintedLine], expected: Sequence[str]) -> Iterator[PrintedLine]:
    """The lines that are not those that a right module leads to."""
    for number, line in enumerate(lines):
        if number >= len(expected) or line.text != expected[number]:
            yield PrintedLine(f"it prints: {line.text}", line.time)
    if len(lines) < len(expected):
        yield PrintedLine(f"it prints {len(lines)} lines instead of {len(expected)}")


def _mask(text: str) -> str:
    return _DIGITS.sub("#", text)


def _time_of(complaint: PrintedLine) -> float:
    return math.inf if complaint.time is None else complaint.time


def severe_lines(printed: str) -> Iterator[PrintedLine]:
    """What a bench said by `$error`, `$fatal` and failed assertions."""
    for found in _SEVERE.finditer(printed):
        yield PrintedLine(found["text"].strip() or f"{found['kind'].lower()} in the bench", int(found["time"]))


# What the lines of a bench say of the checks it made, where it ends with no count.


class Checks(NamedTuple):
    """Checks that a line speaks of, by how they ended; an `unclear` line has none, and still is no silence."""

    passed: int = 0
    failed: int = 0
    unclear: bool = False


_LONGEST = 400  # characters of a line that are looked at
_FAIL = r"fail(?:s|ed|ures?|ing)?|errors?|errs?|mismatch(?:es|ed|ing)?|wrong|incorrect|unsuccessful(?:ly)?|aborted"
_PASS = r"pass(?:es|ed|ing)?|success(?:es|ful(?:ly)?)?|ok(?:ay)?|succeed(?:s|ed)?"
_IS = r"(?:[:=]|\.{2,}|\b(?:is|are|was|were)\b)"
_PERCENT = r"\d{1,9}(?:\.\d{1,9})?\s*(?:%|percent\b)"
_LEADING = re.compile(rf"^\W*(?:tests?\W{{0,3}})?(?:(?P<failed>{_FAIL}|not ok)|(?P<passed>{_PASS}))\b", re.IGNORECASE)
_SHARE = re.compile(r"(?P<part>\d{1,9})\s*(?:/|\bof\b|\bout of\b)\s*(?P<whole>\d{1,9})", re.IGNORECASE)
_MANY = (r"fails|failed|failing|failures|errors?\(s\)|errors|errs|mismatches|mismatched|mismatch\(es\)"
         r"|(?:wrong|incorrect|bad)(?=\s*(?:$|[,;.!)]|[a-z]+s\b|(?:out\s+)?of\b|in\b))")
_ONE = r"fail|failure|error|err|mismatch"
_TOTAL_FIRST = re.compile(r"\b(?P<count>\d{1,9}|no|zero)\s+"
                          r"(?:(?!(?:[munpf]?s|cycles?|ticks?|not|never)\b)[a-z]+\s+){0,2}?"
                          rf"(?:(?P<failed>(?:{_MANY})(?!\w)|(?:{_ONE})(?=\W*$))|(?P<passed>{_PASS})\b)",
                          re.IGNORECASE)
_NUMBERED = re.compile(r"(?:\b(?:at|time|t|cycle|vector|test(?:case)?|tc|case|check|step|sample|index|iteration|i|n|nr"
                       r"|id|addr(?:ess)?|block|byte|entry|frame|item|key|message|op(?:eration)?|packet|pattern|phase|round"
                       r"|transaction|word)\s*[=#]?|@|#)\s*$",
                       re.IGNORECASE)
_OBJECTS = (r"(?:answers?|assertions?|bits?|cases?|checks?|outputs?|patterns?|responses?|results?|samples?|tests?"
            r"|testcases?|values?|vectors?|words?)")
_SEEN = r"(?:found|detected|seen|reported)(?:\s+(?:in|during)\s+(?:the\s+)?(?:simulation|tests?|run))?"
_TOTAL_LAST = re.compile(rf"\b(?:(?P<failed>{_FAIL}|bad(?=\s+{_OBJECTS}))|(?P<passed>{_PASS}))"
                         rf"(?:\(e?s\))?(?:\s+(?:count|cnt|{_SEEN}|total|{_OBJECTS}))?"
                         rf"\s*(?:{_IS}|(?<=total)\s)\s*(?P<count>\d{{1,9}})\b"
                         r"(?=\s*(?:$|[,;|()\]*]|!(?!=)|\.(?!\d)|-+\s*$"
                         r"|(?:in|at|after|found|checks?|tests?|samples?)\b|(?:\w+\s+)?\w+\s*[:=]))",
                         re.IGNORECASE)
_JOINED = re.compile(rf"\b(?:(?:num|nr|no|n|total|count|cnt)_(?=(?:{_FAIL}|{_PASS})\b)"
                     rf"|(?:{_FAIL}|{_PASS})_(?=(?:count|cnt|num|total)\b))", re.IGNORECASE)
_TALLY = re.compile(rf"(?:\W*\b(?:{_FAIL}|{_PASS})\s*[:=]?\s*\d{{1,9}}\b)+\W*", re.IGNORECASE)
_IN_TALLY = re.compile(rf"(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}))\s*[:=]?\s*(?P<count>\d{{1,9}})", re.IGNORECASE)
_WRONG = re.compile(r"\b(?:wrong|incorrect|mismatch(?:ed|es)?|bad)\b", re.IGNORECASE)
"""Words that are counted as verdicts where one of either kind stands in a line."""
_FIRST_CASE = re.compile(rf"(?:{_ONE})(?:\s*:\s*|\s+)0|(?:pass|ok)\s+0", re.IGNORECASE)
"""Rather the number of a case than a count."""
_OF_CASE = re.compile(r"\W*(?:(?P<failed>fail(?:ed)?|error)|(?P<passed>pass(?:ed)?|ok))\b\s*:?\s*"
                      r"(?P<figure>\d{1,80})\W*", re.IGNORECASE)
"""A whole line that is a total (`FAIL: 3`), or one check with what it was made on (`FAIL: 011`)."""
_KINDS = 2
_NONE_OF = re.compile(rf"\b(?:(?:{_FAIL})(?:\s+\w+)?\s*{_IS}|(?:{_MANY}))\s*$", re.IGNORECASE)
_NOTHING_FAILED = re.compile(rf"\b(?:{_FAIL})(?:\s+{_SEEN})?\s*{_IS}\s*"
                             rf"(?:none\b|nil\b|no\b(?=\s*(?:$|[,;.!)])))|\b(?:no|without(?:\s+any)?|zero|free of)"
                             rf"\s+(?:{_MANY}|(?:{_ONE})"
                             rf"\s+(?:(?:was|has\s+been)\s+)?{_SEEN})(?!\w)", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|without|never|no)\s+(?:\w+\s+)?$|\b(?:not\s+all|none\s+of)\s+(?:\w+\s+){0,4}$"
                     r"|n't\s+(?:\w+\s+)?$", re.IGNORECASE)
_LOUD = re.compile(r"\b(?:FAIL(?:ED|URE)?|ERROR|MISMATCH(?:ES)?|WRONG|INCORRECT|FATAL)\b"
                   r"|(?i:\b(?:failed|mismatch(?:es|ed)?|incorrect|wrong|unsuccessful(?:ly)?|aborted)\b)")
_WANTED = re.compile(r"\bexp(?:ect(?:ed|ing)?)?\b.*\b(?:got|was|saw|is|act(?:ual)?|found|received)\b"
                     r"|\b(?:got|act(?:ual)?|saw|found|received)\b.*\bexp(?:ect(?:ed|ing)?)?\b"
                     r"|\bunexpected\s+\w+|\bassertion\b.*\bviolated\b", re.IGNORECASE)
_FAILING = re.compile(rf"\b(?:{_FAIL})\b", re.IGNORECASE)
_QUIET = re.compile(rf"\b(?:{_PASS})\b", re.IGNORECASE)
_RIGHT = re.compile(r"\b(?:correct|right|good|match(?:ed|es)?)\b", re.IGNORECASE)

_UVM_COUNT = re.compile(r"\s*UVM_(?P<severity>[A-Z]+)\s*:\s*(?P<count>\d{1,9})\s*$|\s*\[\w+\]\s+\d{1,9}\s*$")
_UVM_REPORT = re.compile(r"\s*UVM_(?P<severity>[A-Z]+)\b[^\]]*\]?(?P<said>.*)")
_TAP_PLAN = re.compile(r"\s*1\.\.(?P<count>\d{1,9})\s*(?:#.*)?$")
_TAP_TEST = re.compile(r"\s*(?P<failed>not )?ok\b(?:\s+\d{1,9})?(?P<rest>[^#]*)(?P<excuse>#\s*(?:todo|skip)\b)?",
                       re.IGNORECASE)
_TAP_END = re.compile(r"\s*Bail out!", re.IGNORECASE)

_MEASURED = re.compile(
    r"\b(?:max(?:imum)?|min(?:imum)?|rms|mean|average|avg|absolute|abs|relative|peak|rounding|quanti[sz]ation|phase"
    r"|frequency|approximation)\b(?:\s+\w+){0,2}?\s+err(?:or)?s?\b"
    r"|\b(?:bit|symbol|word|packet|frame|block|byte)\s+err(?:or)?s?\s+(?:rate|ratio)\b"
    r"|\berr(?:or)?s?\s+(?:(?:were|are)\s+)?(?:inject|insert|introduc|forc|correct)ed\b"
    r"|\b(?:inject|insert|introduc|forc|correct|expect)ed\s+err(?:or)?s?\b"
    r"|\berr(?:or)?\s*(?:[:=]|\bis\b)?\s*\d{1,9}(?:\.\d+|(?:\.\d+)?\s*%)"
    r"|\berror\s+(?:correction|detection|handling|injection)\b|\bpass[\s-]?through\b"
    r"|\berr(?:or)?s?\s+(?:are|is|will\s+be)\s+(?:print|report|list|show|writ|logg|count)"
    r"|^\W*error\s+(?:bit|code|flag|input|output|register|response|signal|state)\b|\b(?:all|band|high|low)[\s-]pass\b"
    r"|\b(?:first|second|third|next|last|each|every|this)\s+pass\b"
    r"|\bpass\s+\d{1,9}(?:\s+of\s+\d{1,9})?\s+(?:begin|start)"
    r"|\bpass(?:ed)?\s*(?:/|\bor\b)\s*fail(?:ed)?\b", re.IGNORECASE)
"""How far off a design is, what a bench does by itself, and turns: such words are no verdict."""
_RATES = [re.compile(pattern, re.IGNORECASE) for pattern in (
    rf"\b(?P<figure>{_PERCENT})\s*of\s+(?:\w+\s+){{1,3}}?(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}|correct))\b",
    rf"\b(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}))\s+(?P<figure>{_PERCENT})\s*of\b",
    rf"\bpercentage\s+of\s+(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}|correct))\b[a-z\s]*{_IS}?\s*(?P<figure>{_PERCENT})?",
    rf"\b(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}))\s+(?:rate|ratio|percentage)\s*{_IS}?\s*(?P<figure>{_PERCENT})?",
    rf"\b(?P<passed>accuracy|correctness)\s*{_IS}?\s*(?P<figure>{_PERCENT})(?P<failed>)?")]
_SCORE = re.compile(r"\b(?:score|grade)\s*(?:[:=]|\bis\b)?\s*\d{1,9}\s*/", re.IGNORECASE)
_THINGS = (r"\b(?:answers?|data|outputs?|results?|responses?|values?|samples?|vectors?|design|dut|module|circuit"
           r"|everything|all|both|it)\b[\w\s]{0,30}?\b")
_AGREE = r"(?:equal|identical|correct|right|the\s+same|verified|match(?:es)?|agrees?|works?)\b"
_FINDING = r"\b(?:result|status|verdict)\s*[:=]\s*"
_DIFFERS = re.compile(rf"\b(?:not\s+all|none\s+of)\b[\w\s]{{0,30}}?\b{_AGREE}|{_THINGS}differ(?:s|ent)?\b"
                      rf"|{_THINGS}(?:not|\w+n't)\s+(?:all\s+)?{_AGREE}|{_FINDING}bad\b", re.IGNORECASE)
_AGREES = re.compile(rf"{_THINGS}{_AGREE}(?!\s*[:=])|{_FINDING}(?:good|correct)\b", re.IGNORECASE)


_FAULTS = r"(?:fehler|erreurs?|error(?:es|i)|fall[oa]s?|errore|abweichungen|diff[ée]rences)"
_NUMBER_OF = r"(?:(?:anzahl|gesamt|summe|zahl|nombre|total|n[uú]mero|numero)\s+(?:der\s+|d'|de\s+|di\s+)?)?"
_FOUND = (r"(?:\s+(?:gefunden|aufgetreten|entdeckt|trouv[ée]e?s?|d[ée]tect[ée]e?s?|encontrad[oa]s?|detectad[oa]s?"
          r"|trovati))?")
_ALL = r"(?:(?:alle|der|die|le|les|tous les|la|las|el|los|todos los|todas las|tutti i|il)\s+)?"
_TRIALS = (r"(?:tests?|testf[aä]lle|pr[uü]fung(?:en)?|pruebas?|essais?|prov[ae]|simulation|simulaci[oó]n"
           r"|verifica(?:ci[oó]n)?)")
_OTHER_COUNTS = re.compile(rf"\W*{_NUMBER_OF}{_FAULTS}{_FOUND}\s*[:=]+\s*(?P<last>\d{{1,9}})\W*"
                           r"|\W*(?P<first>\d{1,9}|keine|aucune?|sin|ning[uú]n|nessun|senza|ohne|sans)\s+"
                           rf"(?:{_FAULTS}|(?<=n\s)error){_FOUND}\W*",
                           re.IGNORECASE)
_OTHER_WORDS = re.compile(
    rf"\W*{_ALL}{_TRIALS}\s*:?\s*(?:(?P<failed>(?:nicht|non|no)\s+(?:\w+\s+)?(?:bestanden|r[ée]ussie?s?"
    r"|superad[oa]s?|superat[oaei])|fehlgeschlagen|(?:(?:a|ont)\s+)?[ée]chou[ée]e?s?|fallid[oa]s?|fallit[oaei])"
    r"|(?P<passed>(?:erfolgreich\s+)?bestanden|erfolgreich|r[ée]ussie?s?|superad[oa]s?|superat[oaei]|exitos[oa]s?))\W*",
    re.IGNORECASE)
"""Whole lines in German, French, Spanish and Italian that can mean nothing else."""


def checks_of_lines(lines: Sequence[str]) -> list[Checks]:
    """What each line says. Where `PASS: 3` and `PASS: 4` stand, or `FAIL: 011`, these are no totals, but a check each;
    `PASS: 12` beside `FAIL: 0` are totals."""
    cases = [_OF_CASE.fullmatch(line) for line in lines]
    figures = [(one["failed"] is None, one["figure"]) for one in cases if one]
    said = set(figures)
    are_checks = (any(len(figure) > 1 and figure[0] == "0" for _, figure in said)
                  or len(said) > len({kind for kind, _ in said}))
    are_totals = (len(figures) == len(said) == _KINDS and (False, "0") in said
                  and said.isdisjoint(((True, "0"), (True, "1"))))

    def read(line: str, case: re.Match[str] | None) -> Checks:
        if case and are_checks:
            return Checks(int(not case["failed"]), int(case["failed"] is not None))
        return Checks() if case and are_totals and case["failed"] else checks_of(line)

    return list(map(read, lines, cases))


def checks_of(line: str) -> Checks:
    """What a line says; nothing for one without a verdict."""
    line = line[:_LONGEST]
    if found := _of_framework(line):
        return found
    line = _JOINED.sub(lambda name: name[0].replace("_", " "), line)
    if _RIGHT.search(line) and _WRONG.search(line):
        line = _WRONG.sub("failed", _RIGHT.sub("passed", line))
    if _MEASURED.search(line):
        return Checks(unclear=True)
    return _of_other_language(line) or _of_rate(line) or _totals(line) or _of_words(line)


def _of_other_language(line: str) -> Checks | None:
    """Of `Fehler: 2`, `aucune erreur`, `Test bestanden`."""
    if counted := _OTHER_COUNTS.fullmatch(line):
        said = counted["last"] or counted["first"]
        count = int(said) if said.isdigit() else 0
        return Checks(failed=count) if count else Checks(passed=1)
    found = _OTHER_WORDS.fullmatch(line)
    return Checks(passed=int(not found["failed"]), failed=int(bool(found["failed"]))) if found else None


def _of_framework(line: str) -> Checks | None:
    """What a line of UVM says, or one of TAP that says more than others."""
    if _UVM_COUNT.match(line) or _UVM_REPORT.match(line):
        return _of_uvm(line)
    if _TAP_END.match(line):
        return Checks(failed=1)
    test = _TAP_TEST.match(line)
    return Checks(passed=int(not test["failed"])) if test and test["excuse"] else None


def breaches_of_plan(lines: Sequence[str]) -> Iterator[str]:
    """What a test that says how many it is (TAP's `1..3`) leaves out."""
    plans = [plan for line in lines if (plan := _TAP_PLAN.match(line))]
    tests = sum(1 for line in lines if _TAP_TEST.match(line))
    if len(plans) == 1 and 0 < tests != int(plans[0]["count"]):
        yield f"{plans[0][0].strip()} was announced, and {tests} came"


def _of_uvm(line: str) -> Checks:
    """What a report of UVM says: counts by severity at its end, and before them what was reported."""
    if counted := _UVM_COUNT.match(line):
        if counted["severity"] not in ("ERROR", "FATAL"):
            return Checks()
        return Checks(failed=int(counted["count"])) if int(counted["count"]) else Checks(passed=1)
    reported = _UVM_REPORT.match(line)
    if reported is None or reported["severity"] in ("ERROR", "FATAL"):
        return Checks(failed=1)
    return checks_of(reported["said"]) if reported["severity"] == "INFO" else Checks()


def _of_rate(line: str) -> Checks | None:
    """Of `Success rate: 97 %`."""
    found = next(filter(None, (rate.search(line) for rate in _RATES)), None)
    if found is None:
        return None
    if not found["figure"]:
        return None if _SHARE.search(line) else Checks(unclear=True)
    is_right = float(found["figure"].rstrip("%percnt \t")) == (0 if found["failed"] else 100)
    return Checks(passed=1) if is_right else Checks(failed=1)


def _of_words(line: str) -> Checks:
    """What a line without figures says."""
    if _NOTHING_FAILED.search(line):
        return Checks(passed=1)
    leading = _LEADING.match(line)
    if leading:
        return Checks(failed=1) if leading["failed"] else Checks(passed=1)
    if (loud := _LOUD.search(line)) and not _DENIED.search(line[:loud.start()]):
        return Checks(failed=1)
    if quiet := _QUIET.search(line):
        if _DENIED.search(line[:quiet.start()]):
            return Checks(failed=1)
        return Checks(unclear=True) if _FAILING.search(line) else Checks(passed=1)
    return _of_sentence(line)


def _of_sentence(line: str) -> Checks:
    """What a line says that has none of the words for passed and failed."""
    if _DIFFERS.search(line) or _WANTED.search(line):
        return Checks(failed=1)
    return Checks(passed=1) if _AGREES.search(line) else Checks()


def _totals(line: str) -> Checks | None:
    """The counts that a line names."""
    if shared := _share(line):
        return shared
    found = _counts(line)
    passed, failed = _add_up(found, "passed"), _add_up(found, "failed")
    if passed or failed:
        return Checks(passed or 0, failed or 0)
    if failed == 0:
        return Checks(passed=int(passed is None))
    return Checks(failed=1) if passed == 0 else None  # that nothing passed is no pass


def _add_up(found: list[re.Match[str]], kind: str) -> int | None:
    """The sum of the counts of a kind; None where none is named."""
    counts = [_count(one) for one in found if one[kind]]
    return sum(counts) if counts else None


def _counts(line: str) -> list[re.Match[str]]:
    """Where a line has counts; a number that may be that of a case, or a time, is none."""
    found = [*_IN_TALLY.finditer(line)]
    if not (_TALLY.fullmatch(line) or {bool(one["failed"]) for one in found} == {True, False}):
        found = [*_TOTAL_LAST.finditer(line)]
    if not found:
        found = [one for one in _TOTAL_FIRST.finditer(line) if not _NUMBERED.search(line[:one.start()])]
    return [] if len(found) == 1 and _FIRST_CASE.fullmatch(found[0][0]) else found


def _count(total: re.Match[str]) -> int:
    return int(total["count"]) if total["count"].isdecimal() else 0


def _share(line: str) -> Checks | None:
    """Of `12 of 20 passed`, and of a score."""
    share = _SHARE.search(line)
    if share is None or int(share["part"]) > int(share["whole"]):
        return None
    part, others = int(share["part"]), int(share["whole"]) - int(share["part"])
    words = line[:share.start()] + line[share.end():]
    is_failing = _FAILING.search(words) is not None
    if _QUIET.search(words) or (_RIGHT.search(words) and not is_failing) or _SCORE.search(line):
        return Checks(part, others)
    return Checks(others, part) if is_failing and _is_count(share, part) else None


def _is_count(share: re.Match[str], part: int) -> bool:
    """Whether the share is one of failures: no failure is one only where words say so."""
    before, behind = share.string[:share.start()], share.string[share.end():]
    return bool(part or _NONE_OF.search(before) or _FAILING.search(behind))
