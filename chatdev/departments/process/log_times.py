"""Times in event logs: seconds since 1970, from what programs write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from chatdev.errors import ConfigError

DAY_FIRST, MONTH_FIRST = "day first", "month first"
_CLOCK = r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?\s*([AaPp][Mm])?"
_DATE = re.compile(rf"(\d{{1,4}})([/.\-])(\d{{1,2}})\2(\d{{1,4}})(?:[\sT:,]+{_CLOCK})?", re.ASCII)
_OTHERS = 100  # dates that are of another kind: then all are
_NUMBER = re.compile(r"\d{1,19}(?:\.\d{1,9})?", re.ASCII)
_MILLISECONDS, _MICROSECONDS = 1e11, 1e14  # a number from here on counts these: as seconds it is the year 5138


class TimeReader:
    """Reads times, in seconds since 1970; one without a zone is in UTC. `form`: `DAY_FIRST`, `MONTH_FIRST`, or a form
    of `strptime`. Raises ValueError for what is none."""

    def __init__(self, form: str | None = None) -> None:
        self._form = form
        self._read: Callable[[str], float] = self._guess if form in (None, DAY_FIRST, MONTH_FIRST) else self._by_form

    def __call__(self, text: str) -> float:
        return self._read(text.strip().removesuffix(" UTC"))

    def optional(self, text: str) -> float | None:
        """The same; None for an empty text."""
        return self(text) if text else None

    def _by_form(self, text: str) -> float:
        try:
            return _seconds(datetime.strptime(text, self._form or ""))  # noqa: DTZ007 - `_seconds` gives it a zone
        except ValueError as error:
            raise ValueError(f"{error}; another form: --time-format") from None

    def _guess(self, text: str) -> float:
        if text[4:5] == "-":
            try:
                return _seconds(datetime.fromisoformat(text))
            except ValueError:
                pass
        if found := _DATE.fullmatch(text):
            return _seconds(self._date(found))
        if _NUMBER.fullmatch(text):
            number = float(text)
            return number / 1e6 if number >= _MICROSECONDS else number / 1e3 if number >= _MILLISECONDS else number
        raise ValueError(f"{text[:60]!r} is no time that is known; give its form: --time-format '%d.%m.%Y %H:%M:%S'")

    def _date(self, found: re.Match[str]) -> datetime:
        first, mark, second, third, hour, minute, second_part, fraction, half = found.groups()
        if len(first) == 4:
            year, month, day = first, second, third
        elif mark == "." or self._form != MONTH_FIRST:
            day, month, year = first, second, third
        else:
            month, day, year = first, second, third
        if len(year) != 4:
            raise ValueError(f"{found[0]!r}: a year of {len(year)} digits; give the form: --time-format "
                             "'%d/%m/%y %H:%M'")
        hours = int(hour or 0)
        if half:
            hours = hours % 12 + 12 * (half.lower() == "pm")
        return datetime(int(year), int(month), int(day), hours, int(minute or 0), int(second_part or 0),
                        int((fraction or "0").ljust(6, "0")[:6]), tzinfo=UTC)


def _seconds(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def choose_order(texts: Iterable[str], where: str) -> str | None:
    """Whether the day or the month comes first in dates such as 3/4/2026, by those that can be only one of the two;
    None where the first dates are of another kind. Raises ConfigError where all can be both."""
    example = ""
    for number, text in enumerate(texts):
        found = _DATE.fullmatch(text.strip())
        if found and found[2] != "." and len(found[1]) < 4:
            example = found[0]
            if max(int(found[1]), int(found[3])) > 12:
                return DAY_FIRST if int(found[1]) > 12 else MONTH_FIRST
        elif number == _OTHERS and not example:
            return None
    if example:
        raise ConfigError(f"{where}: is {example!r} the day or the month first? No date tells; give the form: "
                          "--time-format '%d/%m/%Y %H:%M:%S'")
    return None
