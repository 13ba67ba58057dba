"""Whatever a model writes, the parsers read it or say what is unreadable: safely, in bounds and in time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.properties import SOFTWARE, TOKENS, files, in_time, markers
from tests.fuzz.readers.reader import Reader
from tests.fuzz.targets import TARGETS, find_readers

PROPERTIES = {"files": files, "markers": markers}
READERS = find_readers()
OTHERS = {name: reader for name, reader in READERS.items() if name not in PROPERTIES}

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


@settings(max_examples=10)
@given(data=st.data())
@pytest.mark.parametrize("reader", OTHERS.values(), ids=OTHERS)
def test_whatever_a_text_is_made_of(reader: Reader, data: st.DataObject) -> None:
    inner = data.draw(st.lists(st.sampled_from(list(reader.pieces)) | st.text(max_size=5), max_size=30).map("".join))
    reader.read(data.draw(st.sampled_from(list(reader.frames))).replace("{}", inner))


def test_every_reader_is_fuzzed_in_one_target() -> None:
    assert sorted(name for target in TARGETS.values() for name in target.readers) == sorted(READERS)


@settings(max_examples=40)
@given(before=replies, unit=st.lists(pieces, min_size=1, max_size=4).map("".join), after=replies)
@pytest.mark.parametrize("target", PROPERTIES)
def test_a_piece_that_is_repeated_for_long_takes_time_by_its_length(target: str, before: str, unit: str,
                                                                    after: str) -> None:
    reply = before + unit * (100_000 // max(1, len(unit))) + after
    with in_time(reply):
        PROPERTIES[target](reply)
