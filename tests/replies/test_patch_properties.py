"""Patches of random edits: applied they give the edited file; where they are damaged, that or a refusal, never another
file."""

from __future__ import annotations

import difflib
import random
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.replies import Unreadable, parse_files

PATH = "data/a.txt"
LINES = ["a", "b", "  a", "    b", "", "x = 1", "def f():", "-- c", "++ d", "}", "```", "# e", " ", "@@ f", "*** g"]
lines = st.sampled_from(LINES) | st.text("ab {}", max_size=4)
unlike = st.lists(st.text("abcdefgh", min_size=3, max_size=9), min_size=3, max_size=40, unique=True)
many = settings(max_examples=2 * (settings.default or settings()).max_examples)


@st.composite
def edits(draw: st.DrawFn, old: list[str]) -> list[str]:
    """The lines, some of them gone, some changed, some new."""
    new: list[str] = []
    for line in old:
        match draw(st.sampled_from(["keep"] * 8 + ["drop", "change", "add"])):
            case "keep":
                new.append(line)
            case "change":
                new.append(line + "!")
            case "add":
                new += [draw(lines), line]
    return new


def texts(content: list[str]) -> str:
    return "".join(f"{line}\n" for line in content)


def unified(old: list[str], new: list[str], context: int = 3) -> str:
    found = difflib.unified_diff(old, new, f"a/{PATH}", f"b/{PATH}", n=context, lineterm="")
    return "`````diff\n" + "".join(f"{line}\n" for line in found) + "`````\n"


def begin_patch(old: list[str], new: list[str]) -> str:
    """The edit as one hunk of all lines."""
    body = [line for line in difflib.ndiff(old, new) if not line.startswith("?")]
    changed = "".join(f"{line[0]}{line[2:]}\n" for line in body)
    return f"*** Begin Patch\n*** Update File: {PATH}\n@@\n{changed}*** End Patch\n"


def outcome(reply: str, old: list[str]) -> str | None:
    """The file after a reply; None where that is refused."""
    try:
        return parse_files(reply, {PATH: texts(old).encode()}).software[PATH].decode()
    except Unreadable:
        return None


@many
@given(data=st.data())
def test_a_diff_of_random_lines_gives_the_edited_file(data: st.DataObject) -> None:
    old = data.draw(st.lists(lines, min_size=1, max_size=40))
    new = data.draw(edits(old))
    if new != old and any(new):
        assert outcome(unified(old, new, max(len(old), 1)), old) == texts(new)


@many
@given(data=st.data(), context=st.integers(1, 4))
def test_a_diff_with_right_numbers_is_applied_where_it_says(data: st.DataObject, context: int) -> None:
    old = data.draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
    new = data.draw(edits(old))
    if new != old and any(new):
        assert outcome(unified(old, new, context), old) in (texts(new), None)


@many
@given(data=st.data(), context=st.integers(1, 4), seed=st.integers())
def test_numbers_do_not_matter_where_lines_tell_the_place(data: st.DataObject, context: int, seed: int) -> None:
    old = data.draw(unlike)
    new = data.draw(edits(old))
    rng = random.Random(seed)
    wrong = re.sub(r"^@@ .*@@", lambda _: f"@@ -{rng.randrange(99)},{rng.randrange(9)} +{rng.randrange(99)},1 @@",
                   unified(old, new, context), flags=re.MULTILINE)
    if new != old and new:
        assert outcome(wrong, old) == texts(new)
        assert outcome(re.sub(r"^@@ .*@@", "@@", wrong, flags=re.MULTILINE), old) == texts(new)


@many
@given(data=st.data(), seed=st.integers())
def test_damaged_numbers_and_repeated_lines_never_misplace_a_hunk(data: st.DataObject, seed: int) -> None:
    old = data.draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=20))
    new = data.draw(edits(old))
    rng = random.Random(seed)
    bare = re.sub(r"^@@ .*@@", "@@", unified(old, new, rng.randrange(4)), flags=re.MULTILINE)
    wrong = re.sub(r"^@@$", lambda _: f"@@ -{rng.randrange(30)},{rng.randrange(9)} +30,{rng.randrange(9)} @@", bare,
                   flags=re.MULTILINE)
    if new != old and any(new):
        for reply in (bare, wrong):
            assert outcome(reply, old) in (texts(new), None)


@many
@given(data=st.data())
def test_a_begin_patch_gives_the_edited_file(data: st.DataObject) -> None:
    old = data.draw(st.lists(lines, min_size=1, max_size=40))
    new = data.draw(edits(old))
    if new != old and any(new) and any(old):
        assert outcome(begin_patch(old, new), old) == texts(new)


@many
@given(data=st.data(), at=st.integers(0, 1000))
def test_a_line_that_is_not_there_refuses_the_patch(data: st.DataObject, at: int) -> None:
    old = data.draw(unlike)
    new = [*old[:1], "new line", *old[1:]]
    patch = unified(old, new, 3).split("\n")
    places = [index for index, line in enumerate(patch) if line.startswith(" ")]
    patch[places[at % len(places)]] += "Z"
    assert outcome("\n".join(patch), old) is None


@many
@given(data=st.data(), depth=st.integers(2, 8))
def test_lines_that_are_all_indented_alike_are_moved_alike(data: st.DataObject, depth: int) -> None:
    """By one blank they may also have lost their sign, and nothing is moved."""
    plain = data.draw(unlike)
    new = [*plain[:2], "new", *plain[2:]]
    deep = [" " * depth + line for line in plain]
    assert outcome(unified(plain, new), deep) == texts([" " * depth + line for line in new])
