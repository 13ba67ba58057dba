"""Who runs a program: MATLAB only where it is, and where programs may run with the user's rights."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from chatdev.departments.simulink.execute import (
    choose_backend,
    execute_program,
    matlab_package,
    matlab_probes,
    read_backend,
)
from chatdev.errors import MissingProgram, ToolError
from chatdev.sandbox.kinds import Unconfined, find_sandbox

PROGRAM = """import matlab.engine
eng = matlab.engine.start_matlab()
eng.new_system('m', nargout=0)
eng.add_block('simulink/Sources/Step', 'm/Step', nargout=0)
eng.save_system('m', nargout=0)
"""
PACKAGE = """
class MatlabExecutionError(Exception):
    pass

MatlabExecutionError.__module__ = "matlab.engine"

class Engine:
    def __getattr__(self, name):
        def call(*arguments, nargout=1):
            if name == "sim":
                raise MatlabExecutionError("MATLAB itself said so")
            print("MATLAB did", name)
        return call

def start_matlab():
    return Engine()
"""


@pytest.fixture
def matlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package in the place of MATLAB's, which this Python finds."""
    folder = tmp_path / "site" / "matlab" / "engine"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def test_without_matlab_our_stand_in_runs_programs(tmp_path: Path) -> None:
    assert matlab_package() is None
    assert choose_backend("auto", Unconfined()) == "builtin"
    with pytest.raises(MissingProgram, match="backend: matlab needs MATLAB"):
        choose_backend("matlab", Unconfined())


@pytest.mark.tool
def test_matlab_is_taken_only_by_consent(matlab: Path) -> None:
    sandbox = find_sandbox()
    assert matlab_package() == matlab
    assert "matlab" not in sys.modules
    assert [choose_backend(name, sandbox) for name in ("auto", "builtin")] == ["builtin", "builtin"]
    assert [choose_backend(name, Unconfined()) for name in ("auto", "matlab")] == ["matlab", "matlab"]
    assert choose_backend("builtin", Unconfined()) == "builtin"
    with pytest.raises(ToolError, match="outside of any sandbox.*consent to that with --sandbox none"):
        choose_backend("matlab", sandbox)


def test_a_package_in_the_working_folder_is_not_taken(matlab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(matlab)
    assert matlab_package() is None


def test_a_package_without_an_engine_is_none(matlab: Path) -> None:
    (matlab / "matlab" / "engine" / "__init__.py").unlink()
    assert matlab_package() is None


def test_the_same_program_runs_in_matlab_unchanged(matlab: Path, tmp_path: Path) -> None:
    result = execute_program(PROGRAM, sandbox=Unconfined(), scratch=tmp_path)
    assert (result.passed, result.backend) == (True, "matlab")
    assert result.message == "MATLAB ran the program without an error."
    assert result.output.splitlines() == ["MATLAB did new_system", "MATLAB did add_block", "MATLAB did save_system"]
    assert result.diagram is not None
    assert list(result.diagram.blocks) == ["Step"]


def test_what_matlab_says_is_the_message(matlab: Path, tmp_path: Path) -> None:
    result = execute_program(f"{PROGRAM}eng.sim('m')\n", sandbox=Unconfined(), scratch=tmp_path)
    assert (result.passed, result.backend, result.line) == (False, "matlab", 6)
    assert result.message == "MATLAB itself said so"


def test_what_only_matlab_knows_is_built_and_not_shown(matlab: Path, tmp_path: Path) -> None:
    result = execute_program(PROGRAM.replace("Sources/Step", "Other/Step"), sandbox=Unconfined(), scratch=tmp_path)
    assert (result.passed, result.diagram) == (True, None)
    assert "cannot be shown, because the stand-in for MATLAB says: There is no block named" in result.message


@pytest.mark.parametrize("word", ["octave", "", 3, True])
def test_another_word_for_a_backend_is_refused(word: object) -> None:
    with pytest.raises(ToolError, match="it is one of: auto, builtin, matlab"):
        read_backend(word)


def test_the_doctor_says_whether_matlab_is_there(matlab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (probe,) = matlab_probes()
    assert (probe.group, probe.name, probe.look().state) == ("extras", "MATLAB", "works")
    monkeypatch.chdir(matlab)
    assert (probe.look().state, probe.look().fix) == ("absent", "pip install matlabengine")
