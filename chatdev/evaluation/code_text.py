"""The text of a software by which it is compared with its requirement: all its code, without comments."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from chatdev.errors import MissingProgram

DOCUMENTS = {".md", ".txt", ".rst", ".json", ".csv", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".svg"}
"""Suffixes of files that are no code."""


def code_text(software: Mapping[str, bytes]) -> str:
    """All code files in the order of their paths, without comments, docstrings and blank lines. Raises MissingProgram
    without pygments, which knows the languages."""
    texts = [_bare(path, data.decode("utf-8", "replace")) for path, data in sorted(software.items())
             if PurePosixPath(path).suffix.lower() not in DOCUMENTS and b"\0" not in data]
    return "\n".join(text for text in texts if text)


def _bare(path: str, text: str) -> str:
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
