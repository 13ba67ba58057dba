"""The quality of software: completeness × executability × consistency (ChatDev, ACL 2024, §4, "Metrics").

Every function is pure. Each value lies between 0 and 1; None says that it could not be judged here. The functions
`paper_…` keep to the definitions of ChatDev's own script, for comparison with published figures: they count what is no
fault (`bypass`, `TodoList`) and miss what is one (an exit status without a traceback).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from operator import mul
from pathlib import PurePosixPath
from typing import Any, Literal

from chatdev.departments.software.reading.placeholders import placeholders
from chatdev.errors import MissingProgram

Combination = Literal["product", "mean"]

DOCUMENTS = {".md", ".txt", ".rst", ".json", ".csv", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".svg"}
"""Suffixes of files that are no code."""

_QUOTED = re.compile(r'''"{3}.*?"{3}|\'{3}.*?\'{3}''', re.DOTALL)
_EXCUSED = ("password", "passenger", "passed", "passes")


def completeness(software: Mapping[str, bytes]) -> float:
    """1 when there is software and nothing in it was left for later, else 0 (paper: the share of software without
    placeholder code). A placeholder is a body that is only `pass`, `...` or `raise NotImplementedError` where that is
    not the right body, or a comment that announces missing work (`software.complete`)."""
    return float(bool(software) and not placeholders(software))


def executability(verdict: Mapping[str, Any]) -> float | None:
    """1 when the software was built and started by the stated policy, else 0 (paper: the share of software that
    compiles and runs directly). `verdict` is what `software.run` said; None when it could not judge. A
    library is not started: 0, as a task is for a program."""
    if verdict.get("rule") == "library":
        return 0.0
    return float(verdict["passed"]) if verdict.get("judged", True) else None


def consistency(requirement: Iterable[float], code: Iterable[float]) -> float:
    """The cosine of the embeddings of requirement and code without comments, 0 where they point apart (paper: the
    cosine distance of the semantic embeddings of textual requirements and generated code)."""
    one, other = list(requirement), list(code)
    lengths = math.hypot(*one) * math.hypot(*other)
    return max(0.0, math.fsum(map(mul, one, other)) / lengths) if lengths else 0.0


def quality(values: Iterable[float | None], combination: Combination = "product") -> float | None:
    """Completeness, executability and consistency in one number: their product (paper), or their mean. None when one
    of them could not be judged."""
    known: list[float] = []
    for value in values:
        if value is None:
            return None
        known.append(value)
    return math.prod(known) if combination == "product" else math.fsum(known) / len(known)


def code_text(software: Mapping[str, bytes]) -> str:
    """All code files in the order of their paths, without comments, docstrings and blank lines. Raises MissingProgram
    without pygments, which knows the languages."""
    texts = [_without_comments(path, data.decode("utf-8", "replace")) for path, data in sorted(software.items())
             if PurePosixPath(path).suffix.lower() not in DOCUMENTS and b"\0" not in data]
    return "\n".join(text for text in texts if text)


def _without_comments(path: str, text: str) -> str:
    """One file without comments and blank lines; empty when no language is known for it."""
    try:
        from pygments.lexers import get_lexer_for_filename
        from pygments.token import Comment, String, is_token_subtype
        from pygments.util import ClassNotFound
    except ImportError as error:
        raise MissingProgram("the metrics need pygments: pip install 'chatdev-chain[eval]'") from error
    try:
        lexer = get_lexer_for_filename(path, stripnl=False)
    except ClassNotFound:
        return ""

    def is_code(kind: Any) -> bool:
        directive = any(is_token_subtype(kind, part) for part in (Comment.Preproc, Comment.PreprocFile))
        return directive or not (is_token_subtype(kind, Comment) or is_token_subtype(kind, String.Doc))

    kept = "".join(value for kind, value in lexer.get_tokens(text) if is_code(kind))
    return "\n".join(line.rstrip() for line in kept.splitlines() if line.strip())


def paper_completeness(software: Mapping[str, bytes]) -> float:
    """0 when a line of a Python file has the letters "pass" or "todo" in it, whatever its case, unless one of four
    words excuses it; else 1."""
    lines = (line.lower() for path, data in software.items() if path.endswith(".py")
             for line in data.decode("utf-8", "replace").splitlines())
    return float(not any(_has_placeholder_letters(line) for line in lines))


def paper_executability(stderr: str) -> float:
    """0 when the program, started as `python3 main.py` for three seconds, wrote "Traceback" to its standard error;
    else 1."""
    return float("Traceback" not in stderr)


def paper_code_text(software: Mapping[str, bytes]) -> str:
    """The text whose embedding is compared with that of the requirement: all Python files, without lines that begin
    with # and without what stands in triple quotes, be it a comment or not."""
    texts = (_QUOTED.sub("", data.decode("utf-8", "replace")) for path, data in sorted(software.items())
             if path.endswith(".py"))
    return "\n".join(line for text in texts for line in text.splitlines() if not line.lstrip().startswith("#"))


def _has_placeholder_letters(line: str) -> bool:
    return ("pass" in line or "todo" in line) and not any(word in line for word in _EXCUSED)
