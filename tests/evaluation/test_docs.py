"""docs/evaluation.md speaks of what there is."""

from __future__ import annotations

import re
from pathlib import Path

from chatdev.batch.patience import FAILURES
from chatdev.cli.app import command_line
from chatdev.evaluation.acceptance import load
from chatdev.evaluation.measure import METRICS, PAPER, STATISTICS
from chatdev.evaluation.report.statistics import LEVEL, RESAMPLES

PAGE = (Path(__file__).parents[2] / "docs" / "evaluation.md").read_text(encoding="utf-8")


def test_every_metric_is_explained() -> None:
    assert [name for name in (*METRICS, *PAPER, *STATISTICS) if f"`{name}`" not in PAGE] == []


def test_every_option_that_it_names_is_there() -> None:
    commands = command_line().commands["eval"]
    known = {option for command in vars(commands)["commands"].values() for parameter in command.params
             for option in parameter.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE)) <= known


def test_the_numbers_that_it_names_are_those() -> None:
    assert f"{RESAMPLES:,} times" in PAGE
    assert f"{LEVEL * 100:.0f} % percentile bootstrap" in PAGE
    assert f"After {FAILURES} failed attempts" in PAGE


def test_the_hidden_test_that_it_shows_can_be_loaded(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script = tmp_path / "sum.py"
    script.write_text(example, encoding="utf-8")
    assert callable(load(script))
