"""Whatever a model writes, the parsers read it or say what is unreadable: safely, in bounds and in time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.properties import PROPERTIES, SOFTWARE, TOKENS, in_time

pieces = st.sampled_from(TOKENS) | st.text(max_size=8)
replies = st.lists(pieces, max_size=60).map("".join)
blocks = st.builds("{}\n`````{}\n{}\n`````\n".format, st.sampled_from([*SOFTWARE, "new.py", "See `main.py`:", ""]),
                   st.sampled_from(["", "python", "js", "python whole", "delete", "md"]), replies)
many = settings(max_examples=300)


@many
@given(reply=replies | st.lists(blocks | replies, max_size=5).map("".join))
@pytest.mark.parametrize("target", PROPERTIES)
def test_whatever_a_reply_is_made_of(target: str, reply: str) -> None:
    PROPERTIES[target](reply)


@settings(max_examples=40)
@given(before=replies, unit=st.lists(pieces, min_size=1, max_size=4).map("".join), after=replies)
@pytest.mark.parametrize("target", PROPERTIES)
def test_a_piece_that_is_repeated_for_long_takes_time_by_its_length(target: str, before: str, unit: str,
                                                                    after: str) -> None:
    reply = before + unit * (100_000 // max(1, len(unit))) + after
    with in_time(reply):
        PROPERTIES[target](reply)
