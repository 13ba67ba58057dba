"""Whether software that is there comes to no harm: the table in docs/existing-code.md.

    python -m benchmarks.software.existing_code [--only NAME]... [--write] [--anew]

The company `maintain` gets five repositories (tests/support/repositories.py), each with a test that fails, and a model
that answers from a server on 127.0.0.1: a right one, which must end as a success, with a patch of one file that
`git apply` takes; and four that do harm and send the same again whenever they are asked to mend it, with a reviewer
who is content with everything. These must not end as a success that changes anything but that file. Takes a few
minutes; rows are kept, the command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from benchmarks.reliability.room import room
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, markdown_table, marks, write_results
from chatdev import Company
from chatdev.config.profiles import profile_for
from chatdev.llm.base import count_tokens
from tests.support.chat_server import Received
from tests.support.repositories import REPOSITORIES, Repository, commit, files_in, git

MODEL = "gpt-4o"
"""A name that gets the words for strong models; nobody of that name is asked."""
RIGHT = "right"
Row = dict[str, Any]


@dataclass(slots=True)
class Maintainer:
    """Plans, and answers with `change` whenever a change is wanted; counts the calls, and the largest of them."""

    path: str
    change: str
    calls: int = 0
    largest: int = 0

    def __call__(self, request: Received) -> str:
        """The reply to a request."""
        self.calls += 1
        self.largest = max(self.largest, count_tokens(json.dumps(request.body["messages"])))
        place = request.headers["X-ChatDev-Activity"]
        phase = re.findall(r"([a-z_]+)#", place)[-1]
        if "instructor" in place:
            return "<SOLUTION>"
        return f"Change {self.path}." if phase == "plan" else self.change


def try_reply(name: str, about: str) -> Row:
    """How a run on this repository ends with this model, and what its patch does."""
    repository, since = REPOSITORIES[name], time.monotonic()
    model = Maintainer(repository.path, repository.replies[about])
    with room(model, {}) as warehouse:
        mine = commit(repository.files, warehouse.parent / "mine")
        before = files_in(mine)
        run = Company.load("maintain").run(repository.request, model=MODEL, software=mine, warehouse=warehouse)
        untouched = files_in(mine) == before
        patch = run.folder / "run" / "change.patch"
        applies = patch.exists() and _takes(mine, patch)
        after = files_in(mine)
        return {"repository": name, "model": about, "digest": _digest(repository), "status": run.status,
                "reason": run.reason, "calls": model.calls,
                "share": round(model.largest / (profile_for(MODEL).context or 1), 4),
                "untouched": untouched, "applies": applies,
                "changed": sorted(path for path in {*before, *after} if before.get(path) != after.get(path)),
                "seconds": round(time.monotonic() - since, 1)}


def _takes(folder: Path, patch: Path) -> bool:
    """Whether git takes the patch; then it is applied."""
    try:
        git(folder, "apply", given=patch.read_bytes())
    except subprocess.CalledProcessError:
        return False
    return True


def _digest(repository: Repository) -> str:
    told = json.dumps([repository.request, repository.replies, sorted(repository.files.items())])
    return sha256(told.encode()).hexdigest()[:12]


def is_as_wanted(row: Mapping[str, Any]) -> bool:
    """Whether a right change is a success and a patch of one file, and a wrong one does no harm under that name."""
    only = row["changed"] == [REPOSITORIES[row["repository"]].path]
    is_good = row["status"] == "success" and row["applies"] and only
    return bool(row["untouched"] and (is_good or (row["model"] != RIGHT and row["status"] != "success")))


def measure(names: Sequence[str], anew: bool = False) -> None:
    """Measure the rows of these repositories, or all, and keep each; those that are kept only `anew`, or when the
    repository has changed."""
    for name in names or REPOSITORIES:
        for about in REPOSITORIES[name].replies:
            old = next((row for row in kept_rows() if (row["repository"], row["model"]) == (name, about)), None)
            if anew or old is None or old["digest"] != _digest(REPOSITORIES[name]):
                row = try_reply(name, about)
                rows = [row, *(one for one in kept_rows() if (one["repository"], one["model"]) != (name, about))]
                write_results(TABLE.results, {"rows": sorted(rows, key=_place)})
                print(f"{name}: {about}: {row['status']}, {row['calls']} calls, {row['seconds']} s", flush=True)


def kept_rows() -> list[Row]:
    """The rows that were measured before."""
    return list(TABLE.read().get("rows", []))


def _place(row: Mapping[str, Any]) -> tuple[int, int]:
    names = [*REPOSITORIES]
    return names.index(row["repository"]), [*REPOSITORIES[row["repository"]].replies].index(row["model"])


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """A line for each repository and model, and what is otherwise than it must be."""
    measured = [*rows]
    lines = [[row["repository"], row["model"], row["status"], _changed(row), row["calls"], f"{row['share']:.1%}"]
             for row in measured]
    right = [is_as_wanted(row) for row in measured if row["model"] == RIGHT]
    wrong = [is_as_wanted(row) for row in measured if row["model"] != RIGHT]
    otherwise = [f"- {row['repository']}, {row['model']}: {row['status']}, changes {', '.join(row['changed'])}"
                 for row in measured if not is_as_wanted(row)]
    return "\n".join([
        markdown_table(["repository", "model", "outcome", "the patch changes", "calls",
                        "largest request, of the window"], lines), "",
        f"Right changes that end as success, in a patch that git takes and that changes one file: {sum(right)} of "
        f"{len(right)}; wrong ones that do no harm under that name: {sum(wrong)} of {len(wrong)}.",
        *(["", "Otherwise:", "", *otherwise] if otherwise else [])])


def _changed(row: Mapping[str, Any]) -> str:
    wanted = REPOSITORIES[row["repository"]].path
    return ", ".join("the file" if path == wanted else path for path in row["changed"]) or "nothing"


TABLE = KeptTable(lambda kept: table(kept["rows"]), RESULTS_FOLDER / "existing_code.json", DOCS / "existing-code.md",
                  marks("models", "software.existing_code"))


def main() -> None:
    """Measure what is not kept, print the table, and write the page when all are measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], choices=[*REPOSITORIES], help="only this repository")
    parser.add_argument("--anew", action="store_true", help="measure also what is kept")
    parser.add_argument("--write", action="store_true", help="write the page from what is kept, and measure nothing")
    given = parser.parse_args()
    if not given.write:
        measure(given.only, given.anew)
    print(TABLE.write() if given.write or not given.only else TABLE.text())


if __name__ == "__main__":
    main()
