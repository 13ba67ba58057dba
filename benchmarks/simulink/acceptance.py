"""What an acceptance by numbers catches that no check can: each reference model that simulates, with one number, sign,
source or type wrong, judged by what its own right simulation gives.

    python -m benchmarks.simulink.acceptance [--write] [--most 3]

Writes a table of docs/simulink.md. Takes about five minutes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.simulink.mutants import Investigation, investigation_of, mutants
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev.departments.simulink.acceptance import Acceptance
from chatdev.departments.simulink.checks import check_investigation, read_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.evaluation import acceptance_of
from chatdev.departments.simulink.experiment import Experiment, run_experiment
from chatdev.departments.simulink.reference_models import reference_models

SECONDS = 10.0
"""Of a processor, for one simulation."""
_SIGN = "a sign is another one"
KINDS = ("a number is another one", _SIGN, "two sources are exchanged", "a type is another one with the same ports")
COLUMNS = ("told by checks", "cannot be simulated", "does the same", "caught by figures",
           "caught by the trace", "missed")


def accept_right_ones() -> dict[str, dict[str, Any]]:
    """The acceptance of each model, of its own simulation; none of a model that does not simulate."""
    found = {name: acceptance_of(name) for name in reference_models()}
    return {name: json.loads(text) for name, text in found.items() if text}


def spoil(model: Diagram, most: int) -> Iterator[tuple[str, Investigation]]:
    """Each kind of mistake that leaves a model which could be right."""
    yield from ((kind, one) for kind, _, one in mutants(model, most=most) if kind in KINDS)
    signs = [(name, block.parameters["Inputs"]) for name, block in model.blocks.items()
             if set(block.parameters.get("Inputs", "")) & set("+-")]
    for name, text in signs[:most]:
        at = text.find("-") if "-" in text else len(text) - 1
        other = f"{text[:at]}{'+' if text[at] == '-' else '-'}{text[at + 1:]}"
        found = investigation_of(model)
        found["blocks"] = [block | {"parameters": {**block["parameters"], "Inputs": other}} if block["name"] == name
                           else block for block in found["blocks"]]
        yield _SIGN, found


def judge_mutant(mutant: Investigation, wanted: Mapping[str, Any]) -> str:
    """Which of COLUMNS it is."""
    if any(one.severity == "error" for one in check_investigation(mutant)):
        return COLUMNS[0]
    found = _experiment(read_investigation({"model": "m", **mutant}).model, wanted)
    if found.outcome != "simulated":
        return COLUMNS[1]
    if found.missed:
        return COLUMNS[3] if any(one.figure != "trace" for one in found.missed) else COLUMNS[4]
    nearly = {name: {"trace": {**wish["trace"], "absolute": wish["trace"]["absolute"] / 1e4}}
              for name, wish in wanted["signals"].items()}
    same = _experiment(read_investigation({"model": "m", **mutant}).model, {**wanted, "signals": nearly})
    return COLUMNS[5] if same.missed else COLUMNS[2]


def _experiment(model: Diagram, wanted: Mapping[str, Any]) -> Experiment:
    return run_experiment(model, Acceptance.read(json.dumps(wanted), "acceptance"), seconds=SECONDS)


def measure(most: int) -> Mapping[str, Any]:
    """Of each kind, what becomes of its mutants; and which right models are reported. `most` are the mutants of one
    kind that are made of a model."""
    accepted = accept_right_ones()
    counts = {kind: Counter[str]() for kind in KINDS}
    missed: list[str] = []
    reported = [name for name, wanted in accepted.items()
                if not _experiment(reference_models()[name].diagram, wanted).passed]
    for name, wanted in accepted.items():
        for kind, mutant in spoil(reference_models()[name].diagram, most):
            what = judge_mutant(mutant, wanted)
            counts[kind][what] += 1
            missed += [f"{name}: {kind}"] if what == COLUMNS[5] else []
    return {"machine": machine(), "models": len(accepted), "of": len(reference_models()), "reported": reported,
            "missed": missed, "kinds": {kind: dict(found) for kind, found in counts.items()}}


def tables(found: Mapping[str, Any]) -> str:
    """The table for the page."""
    rows = [[kind, sum(found["kinds"][kind].values()), *(found["kinds"][kind].get(one, 0) for one in COLUMNS)]
            for kind in KINDS]
    return (f"{found['models']} of {found['of']} reference models simulate; of the right ones "
            f"{len(found['reported'])} are reported by the acceptance that is made of them (last, least and greatest "
            "value of each signal and a trace of 50 points, to 1 % of its range).\n\n"
            f"{markdown_table(['what is wrong', 'mutants', *COLUMNS], rows)}")


STUDY = KeptStudy(tables, RESULTS_FOLDER / "simulink_acceptance.json", DOCS / "simulink.md",
                  marks("acceptance", "simulink.acceptance"), measure,
                  {"most": (3, "mutants of one kind of each model")})

if __name__ == "__main__":
    STUDY.main(__doc__)
