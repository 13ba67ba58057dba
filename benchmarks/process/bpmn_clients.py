"""Do other programs read our BPMN files, find nothing to say of them, and run them; and do files that they wrote anew
come back as the same tree?

The programs live outside this environment:

    npm install --prefix /tmp/bpmn bpmn-moddle@10.3.1 bpmnlint@11.15.0
    python3 -m venv /tmp/spiff && /tmp/spiff/bin/pip install SpiffWorkflow==3.2.0
    BPMN=/tmp/bpmn SPIFF=/tmp/spiff/bin/python python -m benchmarks.process.bpmn_clients [--write]

Without BPMN or SPIFF the study says so and leaves the results as they are.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.process.pools import play_pool, random_names, random_tree
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev.departments.process.bpmn import parse_bpmn, write_bpmn
from chatdev.departments.process.chart import draw_flow
from chatdev.departments.process.conformance import accepts, count_visits
from chatdev.departments.process.process_tree import ProcessTree, normalise

MODELS = 40


def make_models() -> list[ProcessTree]:
    """Random trees of two to twelve phases."""
    return [normalise(random_tree(chance, random_names(chance, 2, 12))) for chance in map(Random, range(MODELS))]


def write_files(trees: Sequence[ProcessTree], folder: Path) -> dict[str, ProcessTree]:
    """A file of each, executable, every second with counts."""
    found = {}
    for number, tree in enumerate(trees):
        visits = count_visits(tree, play_pool(tree, Random(number), 100)) if number % 2 else None
        name = f"{number:03}.bpmn"
        (folder / name).write_text(write_bpmn(draw_flow(tree, visits), executable=True), encoding="utf-8")
        found[name] = tree
    return found


def has_parallel_in_loop(tree: ProcessTree) -> bool:
    """Whether a parallel part lies within a loop."""
    return any(node.operator == "parallel" for one in tree.walk() if one.operator == "loop" for node in one.walk())


def study(node_modules: str, spiff: str) -> dict[str, Any]:
    """What each program does with the files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = write_files(make_models(), folder)
        script = Path(__file__).with_suffix(".mjs")
        said = json.loads(subprocess.run(["node", str(script), node_modules, name], capture_output=True, text=True,
                                         check=True).stdout)
        same = sum(parse_bpmn((folder / f"{one}.again").read_bytes()) == tree for one, tree in trees.items())
        runner = Path(__file__).with_name("spiff_runs.py")
        ran = json.loads(subprocess.run([spiff, str(runner), *(str(folder / one) for one in trees)],
                                        capture_output=True, text=True, check=True).stdout)
    lint = [line for one in said["found"].values() for line in one["lint"]]
    rows = {False: [0, 0, 0], True: [0, 0, 0]}
    for path, runs in ran["found"].items():
        tree = trees[Path(path).name]
        row = rows[has_parallel_in_loop(tree)]
        row[0] += 1
        row[1] += len(runs)
        row[2] += sum(isinstance(run, list) and accepts(tree, tuple(run)) for run in runs)
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "files": len(trees), "same": same,
            "warnings": sum(one["warnings"] for one in said["found"].values()), "lint": lint[:20],
            "findings": len(lint), "spiff": {"plain": rows[False], "parallel in a loop": rows[True]},
            "versions": {"bpmn-moddle": said["moddle"], "bpmnlint": said["lint"], "SpiffWorkflow": ran["spiff"]}}


def tell(results: Mapping[str, Any]) -> str:
    """The table of the page."""
    files, versions = results["files"], results["versions"]
    plain, looped = results["spiff"]["plain"], results["spiff"]["parallel in a loop"]
    table = markdown_table(["program", "what it does", "result"], [
        [f"bpmn-moddle {versions['bpmn-moddle']}", "reads a file", f"{files} of {files}, {results['warnings']} "
         "warnings"],
        ["", "writes it anew, and ours reads that as the same tree", f"{results['same']} of {files}"],
        [f"bpmnlint {versions['bpmnlint']}", "findings by its recommended rules", str(results["findings"])],
        [f"SpiffWorkflow {versions['SpiffWorkflow']}", f"runs {plain[0]} models, ways drawn at random: runs that the "
         "model allows", f"{plain[2]} of {plain[1]}"],
        ["", f"the same, {looped[0]} models with a parallel part within a loop", f"{looped[2]} of {looped[1]}"]])
    return f"{table}\n\n{results['date']}; {results['machine']}; {files} random models, seeds 0 to {files - 1}."


TABLE = KeptTable(tell, RESULTS_FOLDER / "process_bpmn_clients.json", DOCS / "process.md",
                  marks("bpmn clients", "process.bpmn_clients"))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="only write the page")
    if not parser.parse_args().write:
        node_modules, spiff = os.environ.get("BPMN"), os.environ.get("SPIFF")
        if not node_modules or not spiff:
            print("BPMN and SPIFF name no programs; the results stay as they are")
            return
        TABLE.keep(study(node_modules, spiff))
    print(TABLE.write())


if __name__ == "__main__":
    main()
