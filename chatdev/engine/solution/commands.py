"""Telling command lines from programs: a shell block is never taken for a program file (design §3)."""

from __future__ import annotations

import re

_PROMPT = re.compile(r"(?:\$|>|PS [^>]{0,80}>|[A-Za-z]:\\[^>]{0,80}>|(?:\([\w.-]{1,40}\) ?)\$)\s+(?=\S)")
_COMMAND = re.compile(
    r"(?:sudo\s+)?(?:"
    r"(?:python|pip|pypy)[0-9.]*|py|uv|poetry|pytest|conda|npm|npx|yarn|pnpm|node|deno|bun|cargo|rustc|javac|java|mvn|gradle|"
    r"gcc|g\+\+|clang|cmake|make|go\s+(?:run|build|get|mod)|git|docker|docker-compose|apt|apt-get|brew|choco|winget|"
    r"cd|ls|dir|mkdir|touch|rm|cp|mv|cat|echo|chmod|source|curl|wget|bash|sh|iverilog|vvp|verilator|"
    r"export\s+\w+=\S*|\.{1,2}/[\w./-]+"
    r")(?:\s+(?![-+*/%&|<>=!]?=)(?![-+*/%<>|&]\s)[^(){};]*)?", re.IGNORECASE)
_LONGEST = 400


def only_commands(text: str) -> bool:
    """Whether every line of `text` that is not blank or a comment is typed at a prompt (`pip install x`, `$ ls`)."""
    commands = 0
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped.startswith(("#", "::", "REM ")):
            continue
        if not _is_command(stripped):
            return False
        commands += 1
    return commands > 0


def _is_command(line: str) -> bool:
    if len(line) > _LONGEST:
        return False
    return _PROMPT.match(line) is not None or _COMMAND.fullmatch(line) is not None
