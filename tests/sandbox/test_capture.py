"""Head and tail of a stream."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chatdev.safe_text import keep_secret
from chatdev.sandbox.children import Capture


@given(st.lists(st.binary(max_size=50), max_size=20), st.integers(0, 60))
def test_head_and_tail_are_kept_whatever_the_pieces(pieces: list[bytes], limit: int) -> None:
    capture = Capture(limit)
    for piece in pieces:
        capture.feed(piece)
    whole = b"".join(pieces)
    text = capture.text()
    if len(whole) <= limit:
        assert text == whole.decode(errors="replace")
        assert not capture.is_truncated
    else:
        head, gap, tail = text.rpartition(f"\n[… {len(whole) - limit} bytes left out …]\n")
        assert gap
        assert head == whole[:limit - limit // 2].decode(errors="replace")
        assert tail == (whole[len(whole) - limit // 2:]).decode(errors="replace")


@given(st.integers(0, 40), st.integers(20, 60))
def test_no_secret_is_kept_not_even_the_part_of_one_that_was_cut(before: int, limit: int) -> None:
    secret = "sk-cut-in-two-4f6a9b0c1d"
    keep_secret(secret)
    capture = Capture(limit)
    capture.feed(b"." * before + secret.encode() + b"." * before + secret.encode() + b"." * before)
    text = capture.text()
    assert not any(secret[n:n + 4] in text for n in range(len(secret) - 3))
