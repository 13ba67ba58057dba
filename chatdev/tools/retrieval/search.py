"""The tool `retrieval.search`: looks in the reference sheets of the companies, in the case base, and where else a run
says (an option `retrievers`: one by embeddings, one that asks the web)."""

from __future__ import annotations

import difflib
import hashlib
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol, Self

from pydantic import Field

from chatdev.department import installed_companies
from chatdev.errors import ChatDevError, MissingProgram, ToolError
from chatdev.paths import data_dir
from chatdev.safe_text import scrub
from chatdev.tools.base import ToolContext, render_file, tool
from chatdev.workspace.file_tree import explain_os_errors

RETRIEVERS = "retrievers"
"""The option of a run with further retrievers."""
SHEETS = "knowledge"
"""The folder of a company that holds its sheets."""

_MOST_AT_ONCE = 10
_EVEN = 60  # of reciprocal rank fusion: the greater, the less the first ranks stand out (Cormack et al., SIGIR 2009)
_REPORT = Path(__file__).with_name("found.j2")


@tool()
def search(
    context: ToolContext, *,
    query: Annotated[str, Field(description="A few words: what is to be done, a name, or a message of the compiler.")],
    k: Annotated[int, Field(ge=1, le=_MOST_AT_ONCE, description="How many passages at most.")] = 3,
    collection: Annotated[str, Field(description="The company whose sheets are looked into; all when left out.")] = "",
) -> str:
    """Look something up in the reference sheets and among the cases that worked before: how something is written, an
    example to start from, or what a message of the compiler means."""
    with WordIndex() as sheets:
        sheets.add(passage for folder in _sheet_folders(collection) for passage in read_passages(folder))
        cases = [CaseBase()] if uses_cases(context) else []
        found, failures = ask_all([sheets, *cases, *context.options.get(RETRIEVERS, ())], query, k)
    return render_file(_REPORT, query=query, found=found, failures=failures)


def uses_cases(context: ToolContext) -> bool:
    """Whether the run looks into the case base and adds to it: not with the input `cases: no`, as in studies, where a
    task must not profit from those before it."""
    return str(context.inputs.get("cases") or "yes").strip().lower() != "no"


def ask_all(retrievers: Iterable[Retriever], query: str, k: int) -> tuple[list[Passage], list[str]]:
    """The best `k` passages of several retrievers, and what those said that could not look."""
    answers, failures = list[Sequence[Passage]](), list[str]()
    for retriever in retrievers:
        try:
            answers.append(retriever.search(query, k))
        except ChatDevError as error:
            failures.append(str(error))
    return fuse(answers)[:k], failures


def fuse(answers: Iterable[Sequence[Passage]]) -> list[Passage]:
    """All passages of several answers, best first, by their ranks alone: values of different retrievers cannot be
    compared (reciprocal rank fusion)."""
    worth: dict[Passage, float] = defaultdict(float)
    for answer in answers:
        for rank, passage in enumerate(answer, start=1):
            worth[passage] += 1 / (_EVEN + rank)
    return sorted(worth, key=lambda passage: -worth[passage])


def _sheet_folders(collection: str) -> list[Path]:
    """The folders of sheets of the installed companies. Raises ToolError when there is none by that name."""
    folders = {name: sheets for name, folder in installed_companies().items() if (sheets := folder / SHEETS).is_dir()}
    if collection and collection not in folders:
        raise ToolError(f"there is no collection {collection!r}; there are: {', '.join(folders) or 'none'}")
    return [folders[collection]] if collection else [*folders.values()]


# The case base: programs that were verified, and patches that removed a complaint, on this machine.

PROGRAM, PATCH = "verified program", "patch that worked"


class CaseBase:
    """The cases of one file. Several processes may add to it at the same time."""

    def __init__(self, path: Path | None = None) -> None:
        """The file is made with the first case; without `path` it is the user's."""
        self._path = path or data_dir() / "cases.sqlite"

    def add_program(self, task: str, program: str) -> None:
        """Keep a program that was verified, to be found by the words of its task and its own. Raises ToolError or
        WorkspaceError when the file cannot be written."""
        self._add(Passage(_first_line(task), f"{task.strip()}\n\n```\n{program.rstrip()}\n```", PROGRAM))

    def add_patch(self, complaint: str, before: str, after: str) -> None:
        """Keep the change of a program that removed a complaint (a compiler's message, a property that did not hold).
        Raises as `add_program`."""
        changes = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=2)
        patch = "\n".join(changes)
        if patch:
            self._add(Passage(_first_line(complaint), f"{complaint.strip()}\n\n```diff\n{patch}\n```", PATCH))

    def search(self, query: str, k: int) -> list[Passage]:
        """At most `k` cases, best first; none where nothing was kept yet. Raises ToolError."""
        if not self._path.exists():
            return []
        with WordIndex(self._path) as index:
            return index.search(query, k)

    def _add(self, case: Passage) -> None:
        with explain_os_errors("keep a case in", self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        with WordIndex(self._path) as index:
            index.add([Passage(scrub(case.title), scrub(case.text), case.source)])


def _first_line(text: str) -> str:
    return next((line.strip(" #") for line in text.splitlines() if line.strip(" #")), "")[:120]


# Passages by their words: SQLite's full-text index over sections of Markdown sheets.

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
