"""Head and tail of a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatdev.sandbox.capture import Capture


@given(st.lists(st.binary(max_size=50), max_size=20), st.integers(0, 60))
def test_head_and_tail_are_kept_whatever_the_pieces(pieces: list[bytes], limit: int) -> None:
    capture = Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    whole = b"".join(pieces)
    text = capture.text()
    if len(whole) <= limit:
        assert text == whole.decode(errors="replace")
        assert not capture.truncated
    else:
        head, gap, tail = text.rpartition(f"\n[… {len(whole) - limit} bytes left out …]\n")
        assert gap
        assert head == whole[:limit - limit // 2].decode(errors="replace")
        assert tail == (whole[len(whole) - limit // 2:]).decode(errors="replace")
