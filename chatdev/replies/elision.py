"""Lines that stand for code left out, such as `# ... rest of the code` or `// ... unchanged`."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

_OPENS = re.compile(r"#+|//+|--+|;+|%+|/\*+|\(\*+|<!--+|\{/\*+")
_CLOSES = {"*/}": "*", "*/": "*", "*)": "*", "-->": "-"}
"""Ends of comments, and the character that may stand in them more often."""
_BARE = re.compile(r"\.{3}|…|\[(?P<text>[A-Za-z.…](?=[^ ]* )[^\[\]]*+)\]")
_CLEAR = {"existing", "rest", "unchanged", "unmodified", "omitted"}
_DOTTED = _CLEAR | {"remaining", "previous", "other", "same", "original", "keep"}  # these need dots to be understood
_CODE = {
    "code", "method", "methods", "function", "functions", "class", "classes", "implementation", "implementations",
    "imports", "file", "program", "logic", "definitions", "script", "module", "body", "content", "contents",
}
_FILLERS = {
    "of", "the", "your", "my", "this", "as", "is", "are", "remain", "remains", "stay", "stays", "go", "goes", "here",
    "for", "brevity", "and", "no", "not", "changes", "change", "changed", "to", "in", "from", "part", "parts", "all",
    "shown", "section", "import", "statements", "everything", "else", "exactly", "it", "with", "etc", "above", "before",
}
_TEXT_SUFFIXES = {"", "md", "markdown", "txt", "rst", "json", "csv", "tsv"}
_LONGEST = 200
_MARKS = re.compile(r"\.\.\.|…|existing|rest|unchanged|unmodified|omitted", re.IGNORECASE)


def is_elision(line: str) -> bool:
    """Whether `line` holds nothing but words that stand for code left out (in any common comment syntax)."""
    stripped = line.strip()
    if len(stripped) > _LONGEST or not _MARKS.search(stripped):
        return False
    if bare := _BARE.fullmatch(stripped):
        return bare["text"] is None or _stands_for_code(bare["text"])
    comment = _OPENS.match(stripped)
    return comment is not None and _stands_for_code(_comment_text(stripped[comment.end():]).strip("() \t[]"))


def _comment_text(text: str) -> str:
    """What a comment says, without its end."""
    text = text.strip()
    end = next((end for end in _CLOSES if text.endswith(end)), None)
    return text if end is None else text.removesuffix(end).rstrip(_CLOSES[end]).rstrip()


def _stands_for_code(comment: str) -> bool:
    words = set(re.findall(r"[a-z]+", comment.casefold()))
    known = words <= _DOTTED | _CODE | _FILLERS
    if comment.startswith(("...", "…")):
        return known or bool(words & _DOTTED)
    if comment.endswith(("...", "…")):
        return known and bool(words & _DOTTED)
    return known and bool(words & _CLEAR) and bool(words & _CODE)


def elided_line(path: str, content: str) -> int | None:
    """Number of the first line of a program that stands for code left out; None for text and data files."""
    if PurePosixPath(path).suffix[1:].casefold() in _TEXT_SUFFIXES:
        return None
    return next((number for number, line in enumerate(content.split("\n"), 1) if is_elision(line)), None)
