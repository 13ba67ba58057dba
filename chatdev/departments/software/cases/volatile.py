"""What a program prints, and may print otherwise the next time: the day, a time, how long something took, where a file
lies, a password. An example that shows such a thing tells nothing for certain, unless it comes from what was given."""

from __future__ import annotations

import re

from chatdev.departments.software.cases.wording import any_word_of, request_says, says

_MONTH = rf"{any_word_of('months')}\.?"
_DAY_OF_MONTH = rf"\b\d{{1,2}}(?:\.|er|º)? (?:de |di )?{_MONTH}"
_DATE = re.compile(rf"\b\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}(?!\d)|\b\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{4}}\b"
                   rf"|{_DAY_OF_MONTH}(?:,| de| del)? \d{{4}}\b|\b{_MONTH} \d{{1,2}},? \d{{4}}\b|\b\d{{4}}年")
_DAY = re.compile(rf"{_DAY_OF_MONTH}|\b{_MONTH} \d{{1,2}}\b|\d{{1,2}}月\d{{1,2}}日")
_TIME = re.compile(r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2})?(?![\d:])")
_STAMP = re.compile(rf"(?:\b(?:at|on|um|am|a las|à|alle|ore|às)\b|^\W?\[) ?{_TIME.pattern}")
"""A time that is written beside something that happened then."""
_COUNTED = re.compile(r"\d{5,}")
"""A number of days or seconds that stands for a date."""
_TOOK = re.compile(
    rf"(?:\b\w{{1,20}}ed in|{any_word_of('took')})[: ]{{1,3}}"
    r"\d{1,9}(?:[.,]\d{1,9})? ?(?:s|secs?|seconds?|ms|milliseconds?|µs|ns|Sekunden?)\b", re.IGNORECASE)
_PLACE = re.compile(r"(?<![\w./-])(?:/(?:home|Users|tmp|root|var|usr|etc|opt|mnt|srv)/[\w./-]+|[A-Za-z]:\\[\w\\.-]+)"
                    r"|\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]{8,16}\b")
"""Where a file or an object lies, or a name that nothing else has."""
_WORD = re.compile(r"[\w$@#%&*!?^+=]{8,64}")
_RUN = re.compile(r"[0-9]+|[a-z]+|[A-Z]+|[^0-9a-zA-Z]+")
_MOST_RUNS = 5  # of signs of one kind, in a word that somebody made up
_GAP = re.compile(r"(?<!\.)(?:\.{3}|…)(?=[^.]*[^.\s])|(?:^|[\s,;])(?:\.{3}|…)\s*$")


def is_volatile(text: str, given: str, request: str) -> bool:
    """Whether a text may be another one in the next run, or leaves something out. `given` is all that the program got:
    a date or a time is certain where it can come from there."""
    return any(_is_volatile_line(line, given, request) for line in text.splitlines())


def _is_volatile_line(line: str, given: str, request: str) -> bool:
    if _GAP.search(line) and any(map(str.isalnum, line)) and "..." not in given and "…" not in given:
        return True
    if _TOOK.search(line) or any(found[0] not in given for found in _PLACE.finditer(line)):
        return True
    return _tells_when(line, given) or any(_is_made_up(word, given, request) for word in _WORD.findall(line))


def _tells_when(line: str, given: str) -> bool:
    """Whether a line tells the day or the time of day, and neither can come from what was given."""
    if _DATE.search(line) or (says("today", line) and says("weekdays", line)):
        return not _gives_date(line, given)
    if _STAMP.search(line):
        return not (_TIME.search(given) or _COUNTED.search(given))
    return bool(_TIME.search(line) or _DAY.search(line)) and re.search(r"\d", given) is None


def _gives_date(line: str, given: str) -> bool:
    """Whether the date in a line can come from what was given."""
    years = re.findall(r"\d{4}", line)
    return bool(_DATE.search(given) or _COUNTED.search(given)) or any(year in given for year in years)


def _is_made_up(word: str, given: str, request: str) -> bool:
    """Whether a word is mixed of signs as a password is, and no code that is worked out of what was given."""
    is_mixed = len(_RUN.findall(word)) > _MOST_RUNS and all(
        re.search(kind, word) for kind in ("[0-9]", "[a-z]", "[A-Z]"))
    return is_mixed and word not in given and not request_says("encodes", request)
