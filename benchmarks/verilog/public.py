"""Does `chatdev verilog check` take public designs as their own lists of files name them?

The repositories of [designs.yaml](../data/verilog_public/designs.yaml) are cloned to where REPOSITORIES (an environment
variable) says, as OWNER/NAME at the commit of the file; nothing of them is kept but counts and what is told.

    REPOSITORIES=~/clones python -m benchmarks.verilog.public [--write]
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks

DESIGNS = Path(__file__).parents[1] / "data" / "verilog_public" / "designs.yaml"
_NAMES = re.compile(r"`[^`]*`|'[^']*'|\b[\w.]*\w:\s|\d+")


def rows() -> list[dict[str, Any]]:
    """What becomes of each design that is there."""
    root = Path(os.environ.get("REPOSITORIES", ""))
    designs = yaml.safe_load(DESIGNS.read_text(encoding="utf-8"))
    return [_row(one, root / one["repository"] / one["folder"]) for one in designs
            if (root / one["repository"]).is_dir()]


def _row(design: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    words = [part for word in design["words"].split() for part in
             (sorted(one.name for one in folder.glob(word)) if "*" in word else [word])]
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "chatdev", "verilog", "check", *words, "--json", "--simulator",
                           design.get("simulator", "icarus")], cwd=folder, capture_output=True, text=True, check=False)
    messages = json.loads(done.stdout)["messages"] if done.stdout else [{"severity": "error", "text": done.stderr}]
    told = [one["text"] for one in messages if one["severity"] == "error"]
    return {**{name: design.get(name, "") for name in ("design", "repository", "commit", "simulator", "seen")},
            "exit": done.returncode, "remarks": len(messages) - len(told), "seconds": time.perf_counter() - start,
            "told": " ".join(_NAMES.sub("…", told[0]).split())[:120] if told else ""}


def tell(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    found = results["rows"]
    table = markdown_table(
        ["design", "repository, commit", "simulator", "looked at before", "accepted", "else the first error",
         "remarks"],
        [(row["design"], f"{row['repository']} {row['commit']}", row["simulator"] or "icarus",
          "yes" if row["seen"] else "no", "no" if row["exit"] else "yes", row["told"], row["remarks"])
         for row in found])
    halves = [[row for row in found if bool(row["seen"]) is seen] for seen in (True, False)]
    seen, unseen = (f"{sum(not row['exit'] for row in half)} of {len(half)}" for half in halves)
    return f"{table}\n\nAccepted: {seen} of those that were looked at before, {unseen} of the others."


STUDY = KeptStudy(tell, RESULTS_FOLDER / "verilog_public.json", DOCS / "verilog.md", marks("public", "verilog.public"),
                  lambda: {"rows": rows()})

if __name__ == "__main__":
    STUDY.main(__doc__)
