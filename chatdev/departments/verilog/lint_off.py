"""Remarks that an engineer has switched off for lines of a source, as lint tools take it: `// verilator lint_off WIDTH`
up to `// verilator lint_on WIDTH`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PRAGMA = re.compile(r"(?://|/\*)\s*verilator\s+lint_(?P<switch>off|on)(?P<codes>(?:[ \t]+\w+)*)", re.IGNORECASE)
_ENDING = {"UNUSEDSIGNAL": "UNUSED", "UNUSEDPARAM": "UNUSED", "UNUSEDGENVAR": "UNUSED", "WIDTHTRUNC": "WIDTH",
           "WIDTHEXPAND": "WIDTH", "WIDTHCONCAT": "WIDTH", "PINCONNECTEMPTY": "PINMISSING", "CASEX": "CASEOVERLAP"}
_SAYS = {code: re.compile(pattern) for code, pattern in {
    "UNUSED": r"\bunused\b|never used|nothing reads",
    "WIDTH": r"truncates from|changes value|\d+ bits|width",
    "LATCH": r"a latch is inferred",
    "MULTIDRIVEN": r"has another driver|multiple",
    "PINMISSING": r"has no connection",
    "CASEINCOMPLETE": r"without `default`",
    "CASEOVERLAP": r"duplicate",
    "BLKSEQ": r"`=` in a clocked block|by `=` and by `<=`",
    "COMBDLY": r"`<=`",
    "CMPCONST": r"always (?:true|false)|comparison",
    "UNOPTFLAT": r"combinational loop|goes round",
    "IMPLICIT": r"implicit",
}.items()}
"""What each code of Verilator is about, in the words of our remarks."""


def find_switches(text: str) -> dict[int, frozenset[str]]:
    """The codes that are off in each line of a source, where any are."""
    off, found, line = set[str](), dict[int, frozenset[str]](), 1
    for place, (switch, codes) in _pragmas(text):
        found |= dict.fromkeys(range(line, place), frozenset(off)) if off else {}
        off, line = (off | codes if switch == "off" else off - codes), place
    last = text.count("\n") + 1
    return found | (dict.fromkeys(range(line, last + 1), frozenset(off)) if off else {})


def _pragmas(text: str) -> Iterator[tuple[int, tuple[str, set[str]]]]:
    for found in _PRAGMA.finditer(text):
        codes = {_ENDING.get(code, code) for code in found["codes"].upper().split()}
        yield text.count("\n", 0, found.start()) + 1, (found["switch"].lower(), codes or {*_SAYS})


def is_switched_off(says: str, codes: frozenset[str]) -> bool:
    """Whether a remark is about one of these codes."""
    return any(code in _SAYS and _SAYS[code].search(says) for code in codes)
