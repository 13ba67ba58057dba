"""What `import chatdev` offers, and what it must not load."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module

import pytest

import chatdev
from chatdev import errors
from chatdev.version import __version__
from tests.support.checkout import ROOT

DOCUMENTED = {  # what pages import from below `chatdev`: programs of users do so, too, and so the names stay
    "batch.attempt": "Allowance", "batch.ledger": "Job Ledger", "batch.local": "work_through",
    "cli.outcome": "report_outcome", "cli.shared_options": "StudyOptions running_options split_names",
    "cli.study_run": "StudyPlan run_study study_of", "department": "Command Department",
    "departments.process.conformance": "measure_quality", "departments.process.inductive_miner": "mine",
    "departments.process.pool": "PoolEntry count_instances filter_entries",
    "departments.process.process_tree": "describe measure_size",
    "departments.simulink.acceptance": "read_acceptance_file", "departments.simulink.diagram": "Diagram",
    "departments.simulink.experiment": "run_experiment",
    "departments.simulink.simulation.solve": "Options Simulation simulate", "departments.verilog": "trace_drivers",
    "departments.verilog.library": "draw equivalent judge lint trace", "doctor.diagnosis": "Probe success",
    "errors": "ConfigError", "evaluation.measure": "Bench FinishedRun Row statistics",
    "evaluation.reporting.study_results": "ColumnSet", "evaluation.study": "Conditions", "evaluation.tasks": "Task",
    "evaluation.trial": "Check numbers said", "evaluation.variants": "variants",
    "events": "Event PhaseFinished TextStreamed Uttered", "runner.api": "replay",
    "runner.people": "PersonAnswer answer waiting", "tools.base": "ToolContext Verdict tool",
}


def test_the_public_names_are_sorted_and_there() -> None:
    assert chatdev.__all__ == sorted(chatdev.__all__)
    for name in chatdev.__all__:
        assert getattr(chatdev, name).__doc__, f"{name} says what it is"


def test_the_package_says_its_version() -> None:
    assert chatdev.__version__ == __version__


def test_every_error_is_public() -> None:
    tree = {name for name, cls in vars(errors).items() if inspect.isclass(cls)}
    assert tree <= set(chatdev.__all__)


def test_completion_offers_the_names_that_are_loaded_late() -> None:
    assert set(chatdev.__all__) <= set(dir(chatdev))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Compny"):
        chatdev.Compny  # noqa: B018  (the access is what is tested)


@pytest.mark.parametrize("module", ["chatdev", "chatdev.cli.app"])
def test_importing_loads_no_model_client(module: str) -> None:
    heavy = {"openai", "aiohttp", "httpx", "httpx2", "tiktoken", "pydantic", "jinja2", "xllamacpp"}
    program = f"import sys, {module}; print(*({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


def test_loading_a_company_needs_no_model_client() -> None:
    program = "import sys; from chatdev import Company; Company.load(); print('openai' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


def imports_of_pages() -> Iterator[tuple[str, str]]:
    """The modules below `chatdev` and their names that a page imports."""
    for page in (ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("chatdev/**/*.md")):
        text = page.read_text(encoding="utf-8")
        for module, names in re.findall(r"^ *from chatdev\.([\w.]+) import (\([^)]*\)|.*)", text, re.MULTILINE):
            yield from ((module, name) for name in re.findall(r"\w+", names.partition("#")[0]))


def test_documented_names_stay_where_they_are() -> None:
    kept = {(module, name) for module, names in DOCUMENTED.items() for name in names.split()}
    assert {*imports_of_pages()} <= kept
    for module, name in kept:
        assert hasattr(import_module(f"chatdev.{module}"), name), f"{module}.{name} is a promise to users"
