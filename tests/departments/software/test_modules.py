"""Modules are the tool's work: installed as wheels, once, for the run only."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from chatdev.packages.interpreter import ask_interpreter
from tests.departments.software.conftest import Judge
from tests.support import wheels

pytestmark = pytest.mark.tool


def wheel(folder: Path, name: str, source: str = "", **more: Any) -> None:
    """A wheel of one module in `folder`."""
    filename, content = wheels.wheel(name, source, **more)
    (folder / filename).write_bytes(content)


@pytest.fixture
def index(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels instead of any index."""
    folder = tmp_path_factory.mktemp("wheels")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def test_a_known_module_is_installed_from_the_index(judge: Judge, run_folder: Path) -> None:
    verdict = judge("import six\nprint(six.__name__, six.__file__)")
    assert verdict.passed, f"{verdict.report} {dict(verdict.evidence)}"
    assert verdict.evidence["installed"] == ["six"]
    assert "<modules>" in verdict.report
    assert list((run_folder / "modules").glob("packages/*/six.py"))


def test_a_listed_module_is_installed_for_the_run_only(judge: Judge, index: Path, run_folder: Path) -> None:
    wheel(index, "made_up_a", "VALUE = 42")
    verdict = judge({"main.py": "import made_up_a\nprint(made_up_a.VALUE)", "requirements.txt": "Made.Up-A>=0.5\n"})
    assert verdict.passed, verdict.report
    assert "42" in verdict.report
    assert not [path for path in sys.path if list(Path(path).glob("made_up_a*"))]
    assert json.loads((run_folder / "modules" / "installed.json").read_text())["made_up_a"] is None


def test_an_unlisted_module_is_never_looked_for(judge: Judge, index: Path) -> None:
    wheel(index, "made_up_b", "VALUE = 42")
    verdict = judge("import made_up_b")
    assert not verdict.passed
    assert "made_up_b" in verdict.evidence["missing"]
    assert verdict.report == ("`made_up_b` is not available (it is neither well known nor listed in "
                              "requirements.txt or pyproject.toml): do without it.")


def test_nothing_is_installed_when_installing_is_off(judge: Judge, index: Path) -> None:
    wheel(index, "made_up_c", "")
    files = {"main.py": "import made_up_c", "requirements.txt": "made_up_c"}
    assert judge(files, install="never").report == ("`made_up_c` is not available (no packages are installed in this "
                                                    "run): do without it.")
    assert judge(files).passed


def test_what_cannot_be_installed_is_tried_once(judge: Judge, index: Path) -> None:
    files = {"main.py": "import made_up_d", "requirements.txt": "made_up_d"}
    first = judge(files)
    assert first.evidence["rule"] == "missing_module"
    assert "No matching distribution" in first.evidence["missing"]["made_up_d"]
    wheel(index, "made_up_d", "")
    assert judge(files).evidence["missing"] == first.evidence["missing"]


def test_code_that_runs_at_installation_is_refused(judge: Judge, index: Path, tmp_path_factory: pytest.TempPathFactory,
                                                   ) -> None:
    mark = tmp_path_factory.mktemp("mark") / "ran"
    project = index / "made_up_e"
    project.mkdir()
    (project / "setup.py").write_text(f"open({str(mark)!r}, 'w')\nimport setuptools\nsetuptools.setup()")
    files = {"main.py": "import made_up_e", "requirements.txt": f"{project}\nmade_up_e @ file://{project}\n"}
    assert judge(files).evidence["rule"] == "missing_module"
    assert not mark.exists()


def test_an_installed_module_acts_in_the_sandbox_only(judge: Judge, index: Path,
                                                      tmp_path_factory: pytest.TempPathFactory) -> None:
    mark = tmp_path_factory.mktemp("mark") / "ran"
    pth = f"import os; os.makedirs({str(mark.parent)!r}, exist_ok=True); open({str(mark)!r}, 'w')"
    wheel(index, "made_up_f", f"open({str(mark)!r}, 'w')", more={"evil.pth": pth, "sitecustomize.py": pth})
    wheel(index, "made_up_g", f"open({str(mark)!r}, 'w')")
    files = {"main.py": "import made_up_f, made_up_g", "requirements.txt": "made_up_f\nmade_up_g"}
    judge(files)
    judge("print(1)")
    assert not mark.exists()


def test_somebody_is_asked_once_about_each_package(judge: Judge, index: Path) -> None:
    asked: list[str] = []

    def ask(package: str) -> bool:
        asked.append(package)
        return package == "made_up_h"

    for name in ("made_up_h", "made_up_i"):
        wheel(index, name)
    files = {"main.py": "import made_up_h, made_up_i, made_up_unknown", "requirements.txt": "made_up_h\nmade_up_i"}
    reports = [judge(files, install="ask", ask=ask).report for _ in range(2)]
    assert reports[0] == reports[1]
    assert "`made_up_i` is not available (the user does not want it installed): do without it." in reports[0]
    assert "made_up_h" not in reports[0]
    assert asked == ["made_up_h", "made_up_i"]


def test_with_nobody_to_ask_nothing_is_installed_until_somebody_is_there(judge: Judge, index: Path) -> None:
    wheel(index, "made_up_j")
    files = {"main.py": "import made_up_j", "requirements.txt": "made_up_j"}
    assert "nobody was there to ask" in judge(files, install="ask").report
    assert judge(files, install="ask", ask=lambda _: True).passed


def test_one_that_cannot_be_had_does_not_keep_the_others_away(judge: Judge, index: Path) -> None:
    wheel(index, "made_up_k", "import made_up_l")
    wheel(index, "made_up_l")
    wheel(index, "made_up_m", needs=("made-up-nowhere",))
    names = ("made_up_k", "made_up_l", "made_up_m")
    verdict = judge({"main.py": f"import {', '.join(names)}", "requirements.txt": "\n".join(names)})
    assert list(verdict.evidence["missing"]) == ["made_up_m"]
    assert "No matching distribution found for made-up-nowhere" in verdict.report
    assert verdict.evidence["installed"] == ["made_up_k", "made_up_l"]


def test_packages_of_one_namespace_are_found_wherever_they_were_installed(judge: Judge, index: Path) -> None:
    wheel(index, "made_up_n", more={"spaced/one.py": ""})
    wheel(index, "made_up_o", more={"spaced/two.py": ""})
    assert judge({"main.py": "import made_up_n", "requirements.txt": "made_up_n"}).passed
    source = ("import made_up_n, made_up_o\ntry:\n    import spaced.one, spaced.two\n    print('both')\n"
              "except ImportError:\n    pass")
    assert "both" in judge({"main.py": source, "requirements.txt": "made_up_n\nmade_up_o"}).report


@pytest.mark.parametrize("text", ["echo hello", "echo hello; exit 0", "exit 1"])
def test_an_interpreter_may_print_before_it_answers(text: str, tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text(f'#!/bin/sh\n{text}\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    assert (ask_interpreter(program) is None) == ("exit" in text)
