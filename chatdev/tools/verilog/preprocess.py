"""An answer as the simulator reads it: its macros are replaced by Icarus Verilog's own preprocessor.

The rules look at this text, and this text is compiled with the bench. So no macro can hide anything from the rules, and
the bench sees no macro of the answer.
"""

from __future__ import annotations

from pathlib import Path

from chatdev.sandbox.base import Sandbox, SandboxJob
from chatdev.tools.verilog.compilation import COMPILING, GIVEN, as_bytes
from chatdev.tools.verilog.icarus import GENERATION, INCLUDING, require_icarus
from chatdev.tools.verilog.target import ANSWER, USUAL, Target
from chatdev.workspace.file_tree import write_tree

LONGEST = 1_000_000  # characters that macros may swell an answer to
_EXPANDED = "expanded.sv"


def expand_macros(text: str, sandbox: Sandbox, folder: Path, target: Target = USUAL) -> str | None:
    """The text without macros, given headers in it; None where the preprocessor does not come to its end, or the text
    gets too long. `folder` is new and the call's own. Raises MissingProgram, SandboxError and WorkspaceError."""
    if "`" not in text:
        return text
    require_icarus()
    folder.mkdir()
    files = {ANSWER: text, **{GIVEN + path: header for path, header in target.texts.items()}}
    write_tree(folder, as_bytes(files))
    argv = ["iverilog", "-E", GENERATION, *INCLUDING, "-o", _EXPANDED, ANSWER]
    done = sandbox.run(SandboxJob(argv, folder, COMPILING))
    expanded = folder / _EXPANDED
    if done.exit_status != 0 or not expanded.is_file() or expanded.stat().st_size > LONGEST:
        return None
    return expanded.read_text(encoding="utf-8", errors="replace")
