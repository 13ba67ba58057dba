"""The sets of easy tasks: how many each has, its SHA-256 as srdd/easy/README.md has it, and what breaks a rule.

    python -m benchmarks.software.easy_tasks
"""

from __future__ import annotations

from chatdev.departments.software.evaluation.srdd import SETS, folder_digest, load_easy_tasks
from chatdev.evaluation.tasks import load_tasks
from chatdev.paths import bundled_folder
from tests.departments.software.evaluation.easy_rules import easy_findings


def main() -> None:
    """Print all of it."""
    folder = bundled_folder("srdd") / "easy"
    sets = {name: load_easy_tasks(folder / name) for name in SETS}
    for name, tasks in sets.items():
        print(f"{name}: {len(tasks)} tasks, {folder_digest(folder / name)}")
    print(*easy_findings(sets, load_tasks()), sep="\n")


if __name__ == "__main__":
    main()
