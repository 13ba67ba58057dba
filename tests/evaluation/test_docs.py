"""docs/evaluation.md and its studies speak of what there is."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.software import srdd_local
from chatdev.batch.local import BREAKER_FAILURES
from chatdev.cli import evaluate
from chatdev.departments.software.evaluation.quality import METRICS, PAPER
from chatdev.evaluation.measure import STATISTICS
from chatdev.evaluation.reporting.study_results import LEVEL, RESAMPLES
from chatdev.evaluation.trial import load_hidden_test

RESULTS = srdd_local.STUDY.read()
PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")
SRDD = srdd_local.STUDY.page.read_text(encoding="utf-8")


def test_every_metric_is_explained() -> None:
    assert [name for name in (*METRICS, *PAPER, *STATISTICS) if f"`{name}`" not in PAGE] == []


def test_every_option_that_it_names_is_there() -> None:
    context = evaluate.command.make_context("eval", [], resilient_parsing=True)
    commands = [evaluate.command.get_command(context, name) for name in evaluate.command.list_commands(context)]
    contexts = [command.make_context("", [], resilient_parsing=True) for command in commands if command]
    known = {option for one in contexts for parameter in one.command.params for option in parameter.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= known


def test_the_numbers_that_it_names_are_those() -> None:
    assert f"{RESAMPLES:,} times" in PAGE
    assert f"{LEVEL * 100:.0f} % percentile bootstrap" in PAGE
    assert f"After {BREAKER_FAILURES} failed attempts" in PAGE


def test_the_hidden_test_that_it_shows_can_be_loaded(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "sum.py"
    script.write_text(example, encoding="utf-8")
    assert callable(load_hidden_test(script))


def test_the_figures_that_the_reading_names_are_those_of_the_rows() -> None:
    rows = {name: [row for row in RESULTS["rows"] if row["variant"] == name] for name in ("single", "chatdev")}
    quality = {name: sum(row["quality"] for row in found) / len(found) for name, found in rows.items()}
    assert f"the chain is ahead by {quality['chatdev'] - quality['single']:.2f}," in SRDD
    passed = {name: sum(row["checks_passed"] for row in found) for name, found in rows.items()}
    assert passed == {"single": 5, "chatdev": 5}
    assert f"pass five of {sum(row['checks'] for row in rows['single'])} checks" in SRDD
    assert "| 4 tasks that all have | Quality | Programs that start | Hidden tests passed |" in SRDD
    assert "| pipeline | 0.06 | 1 of 4 | 0 | 8,341 |" in SRDD
    kinds = RESULTS["dialogues"]["reviews"]["kinds"]
    asked = f"Of {sum(kinds.values())} review instructions {kinds['wrong input not handled']} ask at most for"
    assert f"{asked} wrong input to be handled, and {kinds['wrong result']} say" in " ".join(SRDD.split())
