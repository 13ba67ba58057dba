"""What worked before on this machine: programs that were verified, and patches that removed a complaint.

The cases stay in the user's data folder from run to run. Only what a tool has verified may get in.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from chatdev.paths import data_dir
from chatdev.secrets import scrub
from chatdev.tools.retrieval.index import Passage, WordIndex
from chatdev.workspace.file_tree import explain_os_errors

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
