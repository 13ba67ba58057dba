"""Fences inside the files of a reply: each layout is read whole, or refused by name; no file is ever cut."""

from __future__ import annotations

import re

import pytest

from chatdev.replies import Unreadable, parse_files
from tests.replies.layouts import CONTENTS, SEEN, UNSEEN, Layout


def outcome(layout: Layout) -> dict[str, str] | str:
    """The files that the reply gives, or the code of its first problem."""
    reply = re.sub(r"@(\w+)@", lambda found: CONTENTS[found[1]], layout.reply)
    before = {path: CONTENTS[content].encode() for path, content in layout.before.items()}
    try:
        return {path: data.decode() for path, data in parse_files(reply, before).software.items()}
    except Unreadable as error:
        return error.problems[0].code


@pytest.mark.parametrize("layout", [*SEEN, *UNSEEN], ids=lambda layout: layout.name)
def test_a_layout_is_read_whole_or_refused_by_name(layout: Layout) -> None:
    files = {path: CONTENTS[content] for path, content in layout.files.items()}
    assert outcome(layout) == (layout.problem or files)
