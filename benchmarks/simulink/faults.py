"""What becomes of an agent's mistake in simugen: which check names it, who mends it, and what an ablation loses.

Scripted agents make one mistake each, and then repair only what the feedback names (tests/departments/simulink/
office.py). They are asked over HTTP by the real client; all tools are real. Accuracy is equation 1 of SimuGen; a
program that does not run has made nothing.

    python -m benchmarks.simulink.faults [--models droop_loop,pump_relay,spring_ball,rc_ladder]

With other models, nothing is written down.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptTable, machine, markdown_table, marks
from chatdev import Company
from chatdev.departments.simulink.agreement import agreed_model, to_investigation
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.metric import compare
from chatdev.departments.simulink.painter import draw_png
from chatdev.departments.simulink.reference_models import reference_models
from tests.departments.simulink.office import MISTAKES, Office
from tests.support.chat_server import ChatServer

MODELS = ("droop_loop", "pump_relay", "spring_ball", "rc_ladder")
"""One model of each of SimuGen's four domains."""
VARIANTS: Mapping[str, Sequence[str]] = {
    "whole": (), "without reviewer": ("unit_test_review",), "without locator": ("locate_fault",),
    "without both": ("unit_test_review", "locate_fault")}


@dataclass(frozen=True)
class FaultRow:
    """One run: the accuracy of what was first written down and of what was built, the checks by whose findings the
    Investigator mended, and where the locator sent the fault."""

    model: str
    mistake: str
    variant: str
    before: float
    after: float
    success: bool
    calls: int
    checks: tuple[str, ...]
    routes: tuple[str, ...]


def run_mistake(model: Diagram, mistake: str, variant: str, folder: Path) -> FaultRow:
    """The company with one mistake in it."""
    office = Office(model, **MISTAKES[mistake])
    with ChatServer() as server:
        server.route(office)
        run = Company.load("simugen", without=VARIANTS[variant]).run(
            "Build the model that the picture shows.", name="Fault", model="scripted", base_url=server.url,
            warehouse=folder, inputs={"picture": draw_png(model), "writer": "agents"})
        calls = len(server.requests)
    executed = run.values.get("executed") or {}
    text = (executed.get("files") or {}).get("model.yaml")
    built = Diagram.parse(text, "model.yaml") if text else Diagram("nothing")
    return FaultRow(model.name, mistake, variant, compare(model, agreed_model(office.first)).accuracy,
                    compare(model, built).accuracy, run.success, calls, tuple(sorted(office.named)),
                    tuple(office.routes))


def study(models: Iterable[str]) -> list[FaultRow]:
    """Every mistake in every model and variant."""
    found = []
    for name in models:
        for mistake in (one for one in MISTAKES if applies(one, reference_models()[name].diagram)):
            for variant in VARIANTS:
                with tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
                    found.append(run_mistake(reference_models()[name].diagram, mistake, variant, Path(folder)))
    return found


def applies(mistake: str, model: Diagram) -> bool:
    """Whether somebody can be mistaken so: no direction is wrong where nothing has one."""
    spoil = MISTAKES[mistake].get("spoil") or MISTAKES[mistake].get("spoil_list")
    try:
        if spoil:
            spoil(to_investigation(model))
    except StopIteration:
        return False
    return True


def tables(rows: Sequence[FaultRow]) -> str:
    """What catches what, and what each variant comes to."""
    caught = [[mistake, ", ".join(sorted({check for one in mine for check in one.checks})) or "–",
               _route(mine), *(_percent(fmean(one.before for one in mine)), _percent(fmean(one.after for one in mine)))]
              for mistake in MISTAKES if (mine := _of(rows, mistake, "whole"))]
    lost = [[mistake, *(_percent(fmean(one.after for one in _of(rows, mistake, variant)))
                        + f" ({sum(one.success for one in _of(rows, mistake, variant))})" for variant in VARIANTS)]
            for mistake in MISTAKES if _of(rows, mistake, "whole")]
    mean = ["mean", *(_percent(fmean(one.after for one in rows if one.variant == variant)) for variant in VARIANTS)]
    return "\n\n".join([
        markdown_table(["mistake", "named by", "locator sends to", "accuracy before", "after"], caught),
        markdown_table(["accuracy in the end (runs that succeed)", *VARIANTS], [*lost, mean])])


def _of(rows: Iterable[FaultRow], mistake: str, variant: str) -> list[FaultRow]:
    return [one for one in rows if (one.mistake, one.variant) == (mistake, variant)]


def _route(rows: Iterable[FaultRow]) -> str:
    return ", ".join(sorted({route for one in rows for route in one.routes})) or "–"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


TABLE = KeptTable(lambda kept: tables([FaultRow(**row) for row in kept["rows"]]),
                  RESULTS_FOLDER / "simulink_faults.json", DOCS / "simulink.md", marks("faults", "simulink.faults"))


def main() -> None:
    """Run the study; in its full size its rows are written down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    names = parser.parse_args().models.split(",")
    rows = study(names)
    if tuple(names) == MODELS:
        TABLE.keep({"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "models": names,
                    "rows": [asdict(one) for one in rows]})
    print(tables(rows))


if __name__ == "__main__":
    main()
