"""Rhyme Scheme Reader: endings compared by their letters, over several stanzas."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "one stanza",
                _poem("a tall ship sailing/under cold stars/slowly failing/past iron bars", "ABAB"))
    yield tried(program, "stanzas are divided, and may reuse letters",
                _poem("I saw a light/far in the night/above the sea//a wooden door/it was not bright/so be it: free",
                      "AAB CAD"))
    yield tried(program, "case and marks are ignored",
                _poem('They came to TOWN,/"and all fell down!"/Why? (It was said...)/In bed he LAID;', "AABB"))
    yield tried(program, "apostrophes are no letters", _poem("all he can't/they said/a single ant/and fled", "ABAC"))
    yield tried(program, "short words must be equal", _poem("at/a cat/look at/so/go/O so", "ABACDC"))
    yield tried(program, "several empty lines part stanzas once", _poem("a stone///the bone//alone//", "A A A"),
                _poem("/first line//last nine", "A A"))
    yield tried(program, "an empty file", Case(["poem.txt"], "no poem", 1, {"poem.txt": ""}))


def _poem(lines: str, scheme: str) -> Case:
    return Case(["poem.txt"], scheme, files={"poem.txt": lines.replace("/", "\n") + "\n"})
