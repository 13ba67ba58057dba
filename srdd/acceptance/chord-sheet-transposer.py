"""Chord Sheet Transposer: roots and basses move, everything else stays."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", Case(["2", "C Am F/A G7"], "D Bm G/B A7"))
    yield tried(program, "past the end of the scale", Case(["5", "A B G#m"], "D E C#m"))
    yield tried(program, "downwards, and by more than an octave",
                Case(["-1", "C F E7"], "B E D#7"), Case(["14", "C Am"], "D Bm"), Case(["-13", "D"], "C#"))
    yield tried(program, "flats are understood and written as sharps", Case(["1", "Bb Eb Cb/Gb"], "B E C/G"),
                Case(["0", "Bbm7/Ab Fb E#"], "A#m7/G# E F"))
    yield tried(program, "what follows the root stays",
                Case(["3", "Dm7b5 Gsus4 Cmaj7#11 Abdim"], "Fm7b5 A#sus4 D#maj7#11 Bdim"))
    yield tried(program, "a word without a root is named alone", _refused("C H7 G", "H7"), _refused("C D am", "am"))


def _refused(chords: str, word: str) -> Case:
    return Case(["2", chords], f"bad chord: {word}", status=1)
