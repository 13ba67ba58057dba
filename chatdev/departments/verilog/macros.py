"""An answer as the simulator reads it: its macros are replaced by the simulator's own preprocessor."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from chatdev.departments.verilog import icarus, verilator
from chatdev.departments.verilog.compilation import (
    GIVEN,
    as_bytes,
)
from chatdev.departments.verilog.target import ANSWER, USUAL, VERILATOR, Target, drop_comments
from chatdev.sandbox.base import Sandbox
from chatdev.workspace.file_tree import write_tree

LONGEST = 1_000_000  # characters that macros may swell an answer to
_FIRST_MARK = f'`line 1 "{ANSWER}"'
_MARK = re.compile(r'^`line (?P<line>\d{1,9}) "(?P<file>[^"\n]*)" [0-2]$\n?', re.MULTILINE)


def expand_macros(text: str, sandbox: Sandbox, folder: Path, target: Target = USUAL) -> str | None:
    """The text without macros and comments, given headers in it; None where the preprocessor does not come to its end,
    or the text gets too long. `folder` is new and the call's own. Raises MissingProgram, SandboxError and
    WorkspaceError."""
    if "`" not in text:
        return drop_comments(text)
    folder.mkdir()
    files = {ANSWER: text, **{GIVEN + path: header for path, header in target.texts.items()}}
    write_tree(folder, as_bytes(files))
    before = [GIVEN + path for path in target.macro_files]
    done = (verilator if target.simulator == VERILATOR else icarus).preprocess([*before, ANSWER], target.defines,
                                                                               sandbox, folder)
    own = done.stdout[max(done.stdout.find(_FIRST_MARK), 0):] if before else done.stdout
    if done.exit_status != 0 or done.truncated or len(own) > LONGEST:
        return None
    return _as_in_source(drop_comments(own), text.count("\n"))


def _as_in_source(expanded: str, breaks: int) -> str:
    """The text without its marks of lines, each line where it came from in a source of so many line breaks. Where a
    directive would not have a line for itself, or nothing is marked, the lines are left as they are."""
    lines = [""] * (breaks + 1)
    for number, piece in _number_lines(expanded):
        at = max(0, min(number - 1, breaks))
        both = f"{lines[at]} {piece}" if lines[at].strip() else piece
        if "`" in both and both != piece and piece.strip():
            return _MARK.sub("", expanded)
        lines[at] = both
    return "\n".join(lines) if _MARK.match(expanded) else expanded


def _number_lines(expanded: str) -> Iterator[tuple[int, str]]:
    """The lines of the text, each with the number of the line that led to it: of those of a header and of what a macro
    became, that where it is used."""
    marks, number = [*_MARK.finditer(expanded)], 1
    ends = [(after.start(), int(after["line"]) if after["file"] == ANSWER else len(expanded)) for after in marks[1:]]
    for mark, (end, last) in zip(marks, [*ends, (len(expanded), len(expanded))], strict=True):
        for at, piece in enumerate(expanded[mark.end():end].split("\n"), start=int(mark["line"])):
            number = min(at, last) if mark["file"] == ANSWER else number
            yield number, piece
