"""The tool `retrieval.search`: looks in the reference sheets of the companies, in the case base, and where else a run
says (an option `retrievers`: one by embeddings, one that asks the web)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from chatdev.department import installed_companies
from chatdev.errors import ChatDevError, ToolError
from chatdev.tools.base import ToolContext, render_file
from chatdev.tools.function import tool
from chatdev.tools.retrieval.case_base import CaseBase
from chatdev.tools.retrieval.index import Passage, Retriever, WordIndex, read_passages

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
