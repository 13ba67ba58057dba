"""Modules are the tool's work: installed as wheels, once, for the run only."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest

from tests.tools.software.conftest import Judge

pytestmark = pytest.mark.tool


def wheel(folder: Path, name: str, source: str) -> None:
    """A wheel of one module in `folder`."""
    info = f"{name}-1.0.dist-info"
    files = {f"{name}.py": source, f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join(f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode()[:-1]},"
                     f"{len(text)}\n" for path, text in files.items()) + f"{info}/RECORD,,\n"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(path, text)


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
                              "requirements.txt): do without it.")


def test_nothing_is_installed_when_installing_is_off(judge: Judge, index: Path) -> None:
    wheel(index, "made_up_c", "")
    files = {"main.py": "import made_up_c", "requirements.txt": "made_up_c"}
    assert judge(files, install="never").evidence["rule"] == "missing_module"


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
    for name in ("made_up_f", "made_up_g"):
        wheel(index, name, "")
    with zipfile.ZipFile(index / "made_up_f-1.0-py3-none-any.whl", "a") as archive:
        archive.writestr("evil.pth", f"import os; os.makedirs({str(mark.parent)!r}, exist_ok=True); "
                                     f"open({str(mark)!r}, 'w')")
    files = {"main.py": "import made_up_f, made_up_g", "requirements.txt": "made_up_f\nmade_up_g"}
    judge(files)
    judge("print(1)")
    assert not mark.exists()
