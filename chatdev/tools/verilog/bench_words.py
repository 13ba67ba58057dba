"""What the lines that a test bench prints say of the checks it made, where it ends with no count as VerilogEval's do.

Benches say it in many ways: a line for each check (`PASS: reset`), totals (`12 of 20 tests passed`, `errors = 0`), or a
sentence (`All tests passed`). A line without a verdict is one that only tells what goes on.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Checks(NamedTuple):
    """Checks that a line speaks of, by how they ended."""

    passed: int = 0
    failed: int = 0


_LONGEST = 400  # characters of a line that are looked at
_FAIL = r"fail(?:s|ed|ures?|ing)?|errors?|errs?|mismatch(?:es|ed)?"
_PASS = r"pass(?:es|ed|ing)?|success(?:es|ful(?:ly)?)?|ok(?:ay)?|succeeded"
_LEADING = re.compile(rf"^\W*(?:tests?\W{{0,3}})?(?:(?P<failed>{_FAIL}|not ok)|(?P<passed>{_PASS}))\b", re.IGNORECASE)
_SHARE = re.compile(r"(?P<part>\d{1,9})\s*(?:/|\bof\b|\bout of\b)\s*(?P<whole>\d{1,9})", re.IGNORECASE)
_MANY = r"fails|failed|failing|failures|errors?\(s\)|errors|errs|mismatches|mismatched|mismatch\(es\)"
_ONE = r"fail|failure|error|err|mismatch"
_TOTAL_FIRST = re.compile(r"\b(?P<count>\d{1,9}|no|zero)\s+(?:(?!(?:[munpf]?s|cycles?|ticks?)\b)[a-z]+\s+){0,2}?"
                          rf"(?:(?P<failed>(?:{_MANY})(?!\w)|(?:{_ONE})(?=\W*$))|(?P<passed>{_PASS})\b)",
                          re.IGNORECASE)
_NUMBERED = re.compile(r"(?:\b(?:at|time|t|cycle|vector|test|case|check|step|sample|index|iteration|i|n)\s*[=#]?"
                       r"|@)\s*$",
                       re.IGNORECASE)
_TOTAL_LAST = re.compile(rf"\b(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}))"
                         r"(?:\s+(?:count|cnt|found|detected|seen|total|tests?|checks?))?"
                         r"\s*(?:[:=]|\bis\b)\s*(?P<count>\d{1,9})\b"
                         r"(?=\s*(?:$|[,;|()\]*]|!(?!=)|\.(?!\d)|-+\s*$"
                         r"|(?:in|at|after|found|checks?|tests?|samples?)\b|(?:\w+\s+)?\w+\s*[:=]))",
                         re.IGNORECASE)
_JOINED = re.compile(rf"\b(?:(?:num|nr|no|n|total|count|cnt)_(?=(?:{_FAIL}|{_PASS})\b)"
                     rf"|(?:{_FAIL}|{_PASS})_(?=(?:count|cnt|num|total)\b))", re.IGNORECASE)
_TALLY = re.compile(rf"(?:\W*\b(?:{_FAIL}|{_PASS})\s*[:=]?\s*\d{{1,9}}\b)+\W*", re.IGNORECASE)
_IN_TALLY = re.compile(rf"(?:(?P<failed>{_FAIL})|(?P<passed>{_PASS}))\s*[:=]?\s*(?P<count>\d{{1,9}})", re.IGNORECASE)
_FIRST_CASE = re.compile(rf"(?:{_ONE})(?:\s*:\s*|\s+)0|(?:pass|ok)\s+0", re.IGNORECASE)
"""Rather the number of a case than a count."""
_NONE_OF = re.compile(rf"\b(?:(?:{_FAIL})(?:\s+\w+)?\s*[:=]|(?:{_MANY}))\s*$", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|without|never|no)\s+(?:\w+\s+)?$", re.IGNORECASE)
_LOUD = re.compile(r"\b(?:FAIL(?:ED|URE)?|ERROR|MISMATCH(?:ES)?|WRONG|INCORRECT)\b"
                   r"|(?i:\b(?:failed|mismatch(?:es|ed)?|incorrect|wrong)\b)")
_WANTED = re.compile(r"\bexp(?:ect(?:ed|ing)?)?\b.*\b(?:got|was|saw|is|actual|found|received)\b"
                     r"|\b(?:got|actual|saw|found|received)\b.*\bexp(?:ect(?:ed|ing)?)?\b", re.IGNORECASE)
_FAILING = re.compile(rf"\b(?:{_FAIL})\b", re.IGNORECASE)
_QUIET = re.compile(rf"\b(?:{_PASS})\b", re.IGNORECASE)


def checks_of(line: str) -> Checks:
    """What a line says; nothing for one without a verdict."""
    line = _JOINED.sub(lambda name: name[0].replace("_", " "), line[:_LONGEST])
    if totals := _totals(line):
        return totals
    leading = _LEADING.match(line)
    if leading:
        return Checks(failed=1) if leading["failed"] else Checks(passed=1)
    if (loud := _LOUD.search(line)) and not _DENIED.search(line[:loud.start()]):
        return Checks(failed=1)
    if quiet := _QUIET.search(line):
        return Checks(failed=1) if _DENIED.search(line[:quiet.start()]) else Checks(passed=1)
    return Checks(failed=1) if _WANTED.search(line) else Checks()


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
    if _TALLY.fullmatch(line):
        found = [*_IN_TALLY.finditer(line)]
    elif not (found := [*_TOTAL_LAST.finditer(line)]):
        found = [one for one in _TOTAL_FIRST.finditer(line) if not _NUMBERED.search(line[:one.start()])]
    return [] if len(found) == 1 and _FIRST_CASE.fullmatch(found[0][0]) else found


def _count(total: re.Match[str]) -> int:
    return int(total["count"]) if total["count"].isdecimal() else 0


def _share(line: str) -> Checks | None:
    """Of `12 of 20 passed`."""
    share = _SHARE.search(line)
    if share is None or int(share["part"]) > int(share["whole"]):
        return None
    part, others = int(share["part"]), int(share["whole"]) - int(share["part"])
    words = line[:share.start()] + line[share.end():]
    if _QUIET.search(words):
        return Checks(part, others)
    if not part and not _NONE_OF.search(line[:share.start()]) and not _FAILING.search(line[share.end():]):
        return None
    return Checks(others, part) if _FAILING.search(words) else None
