"""Which mistakes that compile does lint tell, and does it tell any of what is right?

Thirty kinds ([twins](../data/verilog_lint/twins.yaml)), each a module with the mistake and one without, and the right
modules of VerilogEval and the twenty designs. *Told* is a remark on the wrong module, *false* one on its right twin,
each as `chatdev verilog lint` does without and with `--strict`.

    python -m benchmarks.verilog.lint [--write]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, markdown_table, marks
from benchmarks.verilog.subjects import designs, verilogeval_subjects
from chatdev.departments.verilog.answer import lint, undriven_signals
from chatdev.departments.verilog.design.lint import Depth

TWINS = Path(__file__).parents[1] / "data" / "verilog_lint" / "twins.yaml"


@dataclass(frozen=True, slots=True)
class Row:
    """A kind: whether it is a matter of style, whether it is told without and with `--strict`, and whether anything is
    told of the right twin."""

    name: str
    strict: bool
    told: bool
    told_strict: bool
    false: bool
    false_strict: bool


def kinds() -> list[dict[str, Any]]:
    """The kinds, as the data have them."""
    found: list[dict[str, Any]] = yaml.safe_load(TWINS.read_text(encoding="utf-8"))
    return found


def row_of(kind: Mapping[str, Any]) -> Row:
    """What lint tells of both modules of a kind."""
    wrong, right = (f"module TopModule({kind['ports']});\n{kind[which]}\nendmodule\n{kind.get('more', '')}\n"
                    for which in ("wrong", "right"))
    return Row(kind["name"], kind.get("strict", False), _is_told(wrong, "usual"), _is_told(wrong, "strict"),
               _is_told(right, "usual"), _is_told(right, "strict"))


def _is_told(text: str, depth: Depth) -> bool:
    return bool([*lint(text, depth=depth), *undriven_signals(text)])


def measure() -> dict[str, Any]:
    """All kinds, and of how many right modules anything is told by what agents read, and by the command."""
    subjects = [*verilogeval_subjects(), *designs()]
    told = {depth: sum(bool([*lint(one.text, one.bench.target, depth), *undriven_signals(one.text, one.bench.target)])
                       for one in subjects) for depth in ("certain", "usual", "strict")}
    return {"rows": [asdict(row_of(kind)) for kind in kinds()], "right": len(subjects), "told_of_right": told}


def tell(results: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows, right = results["rows"], results["told_of_right"]
    table = markdown_table(
        ["mistake", "told", "with `--strict`", "of the right twin", "with `--strict`"],
        [(row["name"], *("yes" if row[name] else "no" for name in ("told", "told_strict", "false", "false_strict")))
         for row in rows])
    told, strictly = (sum(row[name] for row in rows) for name in ("told", "told_strict"))
    return (f"{table}\n\n{told} of {len(rows)} are told, {strictly} with `--strict`. Of {results['right']} right "
            f"modules agents read of {right['certain']} a remark, the command tells one of {right['usual']} (latches "
            f"that are meant), with `--strict` of {right['strict']}.")


STUDY = KeptStudy(tell, RESULTS_FOLDER / "verilog_lint.json", DOCS / "verilog.md", marks("lint", "verilog.lint"),
                  measure)

if __name__ == "__main__":
    STUDY.main(__doc__)
