"""Frieze Stamper: copies in four symmetries, padded to one width."""

from __future__ import annotations

from collections.abc import Iterator

from chatdev.evaluation.cases import Case, tried
from chatdev.evaluation.trial import Check, Program

_MOTIF = "ab\ncde\n\nf\n"


def accept(program: Program) -> Iterator[Check]:
    """The checks, in the order a user would make them."""
    yield tried(program, "the example", _case("#\n##\n", "3 mirror", "#..##. ######"))
    yield tried(program, "plain copies", _case(_MOTIF, "2 plain", "ab.ab. cdecde ...... f..f.."))
    yield tried(program, "mirrored copies", _case(_MOTIF, "2 mirror", "ab..ba cdeedc ...... f....f"))
    yield tried(program, "copies upside down", _case(_MOTIF, "3 flip", "ab.f..ab. cde...cde ...cde... f..ab.f.."))
    yield tried(program, "spun copies", _case(_MOTIF, "4 spin", "ab...fab...f cde...cde... ...edc...edc f...baf...ba"))
    yield tried(program, "one copy is the motif", _case(_MOTIF, "1 spin", "ab. cde ... f.."),
                _case("(>\n", "1 mirror", "(>"))
    yield tried(program, "what makes no frieze is refused", *map(_refused, ("0 plain", "-2 flip", "3 turn")),
                _refused("2 plain", ""), Case(["missing.txt", "2", "plain"], "error: no frieze", status=1))


def _case(motif: str, how: str, rows: str) -> Case:
    return Case(["motif.txt", *how.split()], rows.replace(" ", "\n"), files={"motif.txt": motif})


def _refused(how: str, motif: str = "#\n") -> Case:
    return Case(["motif.txt", *how.split()], "error: no frieze", status=1, files={"motif.txt": motif})
