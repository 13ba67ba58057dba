"""The definitions of ChatDev's own evaluation script, for comparison with published figures: `paper-compatible`.

They count what is no fault (`bypass`, `TodoList`) and miss what is one (an exit status without a traceback); use
`quality` for statements of one's own.
"""

from __future__ import annotations

from collections.abc import Mapping

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


def _announces(line: str) -> bool:
    return ("pass" in line or "todo" in line) and not any(word in line for word in _EXCUSED)
