"""What a server may write into Retry-After."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.llm.failures import retry_after_seconds


@pytest.mark.parametrize(("header", "seconds"), [
    (None, None), ("", None), ("soon", None), ("3", 3), ("0.5", 0.5), ("-4", 0), ("nan", 0),
    ("Sun, 6 Nov 1994 8:49:3000000000", None),
    (format_datetime(datetime(2001, 1, 1, tzinfo=UTC), usegmt=True), 0)])
def test_a_wait_is_read_or_ignored(header: str | None, seconds: float | None) -> None:
    assert retry_after_seconds(header) == seconds


@given(st.floats(0, 1e6))
def test_a_date_is_as_far_away_as_it_is(ahead: float) -> None:
    when = datetime.now(UTC) + timedelta(seconds=ahead)
    wait = retry_after_seconds(format_datetime(when))
    assert wait is not None
    assert ahead - 2 < wait <= ahead + 1


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ \S*", fullmatch=True))
def test_no_header_however_odd_breaks_the_reading(header: str) -> None:
    wait = retry_after_seconds(header)
    assert wait is None or wait >= 0
