"""Doubled Word Finder: words that follow themselves, and those that only seem to."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "doubled words on a line", _case("It was\nin the the box.\nSo so it it ends\n",
                                                          "line 2: the\nline 3: so\nline 3: it"))
    yield tried(program, "the line of the second word counts", _case("He sat on the\nThe chair, and\n\n  AND slept.\n",
                                                                     "line 2: the\nline 4: and"))
    yield tried(program, "three in a row are two finds", _case("no\nno no, yes\n", "line 2: no\nline 2: no"))
    yield tried(program, "anything but white space parts two words",
                _case("that, that; go - go\n(so) so 7 so\n", "no doubled words"))
    yield tried(program, "parts of words are no words",
                _case("this is another other\nthe then can cannot bus usual\n", "no doubled words"))
    yield tried(program, "apostrophes belong to words", _case("don't don't say the the's\nit it's\n", "line 1: don't"))
    yield tried(program, "a missing file is named", Case(["letter.txt"], "cannot read letter.txt", status=1))


def _case(text: str, prints: str) -> Case:
    return Case(["essay.txt"], prints, files={"essay.txt": text})
