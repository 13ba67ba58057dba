"""Letter Feedback: greens before yellows, and no letter marked more often than it occurs."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _marks("crane caper GY.YY"))
    yield tried(program, "all and nothing right", _marks("plant plant GGGGG"), _marks("plant dirge ....."),
                _marks("stops posts YYYYG"))
    yield tried(program, "a letter is marked no more often than it occurs", _marks("crane eerie ..Y.G"),
                _marks("lemon llama G..Y."), _marks("water eerie Y.Y.."))
    yield tried(program, "greens are settled before yellows", _marks("abcb bbbb .G.G"), _marks("hello lilly ..GG."))
    yield tried(program, "words of any length", _marks("a a G"), _marks("mississippi ississippim YYGYYGYYGYY"))
    yield tried(program, "case is ignored", _marks("CRANE caper GY.YY"), _marks("abbey BABES YYGG."))
    yield tried(program, "what is no pair of words is refused",
                *(Case(words, "bad words", status=1) for words in (["crane", "cranes"], ["", ""], ["cr4ne", "crane"],
                                                                   ["crane", "cra-e"])))


def _marks(text: str) -> Case:
    secret, guess, marks = text.split()
    return Case([secret, guess], marks)
