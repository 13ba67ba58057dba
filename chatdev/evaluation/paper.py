"""The definitions of ChatDev's own evaluation script, for comparison with published figures: `paper-compatible`.

They count what is no fault (`bypass`, `TodoList`) and miss what is one (an exit status without a traceback); use
`quality` for statements of one's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_QUOTED = re.compile(r'''"{3}.*?"{3}|\'{3}.*?\'{3}''', re.DOTALL)
_EXCUSED = ("password", "passenger", "passed", "passes")


def completeness(software: Mapping[str, bytes]) -> float:
    """0 when a line of a Python file has the letters "pass" or "todo" in it, whatever its case, unless one of four
    words excuses it; else 1."""
    lines = (line.lower() for path, data in software.items() if path.endswith(".py")
             for line in data.decode("utf-8", "replace").splitlines())
    return float(not any(_announces(line) for line in lines))


def executability(stderr: str) -> float:
    """0 when the program, started as `python3 main.py` for three seconds, wrote "Traceback" to its standard error;
    else 1."""
    return float("Traceback" not in stderr)


def code_text(software: Mapping[str, bytes]) -> str:
    """The text whose embedding is compared with that of the requirement: all Python files, without lines that begin
    with # and without what stands in triple quotes, be it a comment or not."""
    texts = (_QUOTED.sub("", data.decode("utf-8", "replace")) for path, data in sorted(software.items())
             if path.endswith(".py"))
    return "\n".join(line for text in texts for line in text.splitlines() if not line.lstrip().startswith("#"))


def _announces(line: str) -> bool:
    return ("pass" in line or "todo" in line) and not any(word in line for word in _EXCUSED)
