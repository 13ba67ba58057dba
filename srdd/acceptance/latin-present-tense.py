"""Latin Present Tense: three conjugations and what is none of them."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _forms("amare", "amo amas amat amamus amatis amant"))
    yield tried(program, "other verbs in -are",
                _forms("laborare", "laboro laboras laborat laboramus laboratis laborant"))
    yield tried(program, "verbs in -ere", _forms("monere", "moneo mones monet monemus monetis monent"),
                _forms("terrere", "terreo terres terret terremus terretis terrent"))
    yield tried(program, "verbs in -ire", _forms("audire", "audio audis audit audimus auditis audiunt"),
                _forms("dormire", "dormio dormis dormit dormimus dormitis dormiunt"))
    yield tried(program, "an ending inside the stem is left alone",
                _forms("merere", "mereo meres meret meremus meretis merent"))
    yield tried(program, "capitals are lowered", _forms("VIDERE", "video vides videt videmus videtis vident"))
    yield tried(program, "what is no infinitive is refused",
                *(Case([word], "error: not an infinitive", status=1) for word in ("esse", "amo", "are", "areo")))


def _forms(verb: str, forms: str) -> Case:
    return Case([verb], forms.replace(" ", "\n"))
