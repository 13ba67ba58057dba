"""What the tests of servers share: the odd server's command, and whether processes have ended."""

from __future__ import annotations

import sys
import time
from pathlib import Path

ODD = Path(__file__).parent / "odd_server.py"
_PATIENCE = 10.0  # seconds for a process that was killed to be gone


def odd_command(kind: str, *more: str) -> list[str]:
    """The command of the server without the SDK."""
    return [sys.executable, "-S", str(ODD), kind, *more]


def ended(file: Path) -> bool:
    """Whether the processes whose numbers stand in the file come to their end."""
    until = time.monotonic() + _PATIENCE
    while left := [one for one in file.read_text(encoding="utf-8").split() if _is_alive(one)]:
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return not left


def _is_alive(process: str) -> bool:
    try:
        return Path("/proc", process, "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
