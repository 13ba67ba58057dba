"""What VerilogEval's own script (`sv-iv-analyze`) makes of a log: a letter for each kind of end, `.` for a pass.

Its rule differs from ours: TIMEOUT anywhere in the log is a failure, though three benches print it even with the
reference in the answer's place; and an answer that reads the reference's signals passes.
"""

from __future__ import annotations

import re

_AT_ONCE = (
    ("syntax error", "S"),
    ("error: This assignment requires an explicit cast", "e"),
    ("error: Sized numeric constant must have a size greater than zero", "0"),
    ("warning: always_comb process has no sensitivities", "n"),
    ("found no sensitivities so it will never trigger", "n"),
    ("is declared here as wire", "w"),
    ("Unknown module type", "m"),
    ("Unable to bind wire/reg/memory `clk'", "c"),
    ("TIMEOUT", "T"),
)
"""The first line of the log that holds one of these decides."""
_IN_THE_END = (("Unable to bind wire/reg", "p"), ("error", "C"))
"""Otherwise the first of these that occurs anywhere."""
_NO_MISMATCH = re.compile(r"^Mismatches: 0 in \d+ samples$", re.MULTILINE)
_RESETS = ("posedge reset", "negedge reset", "posedge r)")


def official_pass(log: str, source: str = "") -> bool:
    """Whether the script counts the answer as right."""
    return letter_of(log, source) == "."


def letter_of(log: str, source: str = "") -> str:
    """The script's letter for what compiler and simulator printed: S syntax error, e missing cast, 0 number without a
    size, n process that never runs, w assigned wire, m unknown module, c unknown clock, p unknown name, C other error,
    T time-out, r wrong with an asynchronous reset in the `source`, R wrong, . right."""
    for line in log.splitlines():
        for words, letter in _AT_ONCE:
            if words in line:
                return letter
    for words, letter in _IN_THE_END:
        if words in log:
            return letter
    if _NO_MISMATCH.search(log):
        return "."
    return "r" if any(reset in source for reset in _RESETS) else "R"
