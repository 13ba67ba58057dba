"""Finds passages by their words: SQLite's full-text index over sections of Markdown sheets."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from chatdev.errors import MissingProgram, ToolError

_TABLE = """CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5(
    title, text, source UNINDEXED, tokenize = "porter unicode61 tokenchars '_#'")"""
_ADD = "INSERT OR REPLACE INTO passages(rowid, title, text, source) VALUES (?, ?, ?, ?)"
_FIND = """SELECT title, text, source FROM passages WHERE passages MATCH ?
    ORDER BY bm25(passages, 4.0, 1.0), rowid LIMIT ?"""
_WORD = re.compile(r"[\w#]+")
_MOST_WORDS = 64  # of a query
_MOST_CHARACTERS = 10_000  # of a query that are looked at


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that can be found: a section of a sheet, or a case. `source` says where it comes from."""

    title: str
    text: str
    source: str = ""


class Retriever(Protocol):
    """Finds passages. Further ones than those here are handed to `retrieval.search` as an option of the run."""

    def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages, best first; a ChatDevError where it cannot look."""
        ...


class WordIndex:
    """Passages by their words, ranked by BM25; a word of the title counts four times. Names with `_` and literals with
    `#` are words (`R_TRIG`, `T#5s`), and endings of English words do not matter.

    It lives in memory, or in the file `database`. One thread uses it.
    """

    def __init__(self, database: Path | str = ":memory:") -> None:
        """Raises MissingProgram without FTS5, and ToolError when the file cannot be used."""
        self._database = database
        try:
            self._connection = sqlite3.connect(database)
            with self._connection:
                self._connection.execute(_TABLE)
        except sqlite3.Error as error:
            raise self._explain(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def add(self, passages: Iterable[Passage]) -> None:
        """Add passages; one that is there already stays once."""
        rows = [(_number(passage), passage.title, passage.text, passage.source) for passage in passages]
        try:
            with self._connection:
                self._connection.executemany(_ADD, rows)
        except sqlite3.Error as error:
            raise self._explain(error) from None

    def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` passages that have a word of the query, best first. Any text is a query: the signs of the
        full-text language mean nothing in it."""
        words = dict.fromkeys(_WORD.findall(query[:_MOST_CHARACTERS].lower()))
        wanted = " OR ".join(f'"{word}"' for word in [*words][:_MOST_WORDS])
        if not wanted:
            return []
        try:
            return [Passage(*row) for row in self._connection.execute(_FIND, (wanted, k))]
        except sqlite3.Error as error:
            raise self._explain(error) from None

    def _explain(self, error: sqlite3.Error) -> ToolError:
        if "no such module" in str(error):
            return MissingProgram("this Python's SQLite has no full-text index (FTS5); use a Python whose sqlite3 has "
                                  "it, as those of python.org, conda and Debian do")
        return ToolError(f"{self._database}: SQLite says {str(error)[:200]!r}; make room, or move the file away")


def read_passages(folder: Path) -> list[Passage]:
    """The sections of all sheets (`*.md`) of a folder, but its README; each part below a `## ` heading is one, with the
    sheet's own title before its heading."""
    sheets = sorted(path for path in folder.glob("*.md") if path.name != "README.md")
    return [passage for path in sheets for passage in split_sheet(path.read_text(encoding="utf-8"), path.stem)]


def split_sheet(text: str, source: str) -> Iterator[Passage]:
    """The sections of one sheet. A `#` within a fenced block begins none."""
    sheet, heading, lines, is_code = "", "", list[str](), False
    for line in [*text.splitlines(), "## "]:
        is_code ^= line.startswith("```")
        if line.startswith("## ") and not is_code:
            if body := "\n".join(lines).strip():
                yield Passage(": ".join(filter(None, (sheet, heading))), body, source)
            heading, lines = line[3:].strip(), []
        elif line.startswith("# ") and not is_code:
            sheet = line[2:].strip()
        else:
            lines.append(line)


def _number(passage: Passage) -> int:
    """The same for the same passage, below 2^63."""
    text = "\0".join((passage.title, passage.text, passage.source))
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]) >> 1
