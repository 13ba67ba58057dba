"""`simulink.execute`: the verdict that agents read, and the built model as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.execute import execute
from chatdev.engine.turn import apply_files
from chatdev.errors import ToolError
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import ToolContext, Verdict

pytestmark = pytest.mark.tool
PROGRAM = """import matlab.engine
eng = matlab.engine.start_matlab()
eng.new_system('m', nargout=0)
eng.add_block('simulink/Sources/Step', 'm/Step', nargout=0)
eng.save_system('m', nargout=0)
"""


@pytest.fixture
def judge(tmp_path: Path) -> Callable[..., Verdict]:
    def call(software: dict[str, str], **inputs: Any) -> Verdict:
        files = {path: text.encode() for path, text in software.items()}
        context = ToolContext(files, {}, inputs, find_sandbox(), tmp_path, tmp_path)
        verdict = execute.call(context, {})
        assert isinstance(verdict, Verdict)
        return verdict

    return call


def test_a_program_that_builds_passes_with_its_model(judge: Callable[..., Verdict]) -> None:
    verdict = judge({"build_model.py": PROGRAM})
    assert (verdict.passed, verdict.score) == (True, 1.0)
    assert verdict.report == ("The program ran without an error, and saved the model 'm': 1 blocks, 0 lines.\n\n"
                              "Last lines of the output:\n  Warning: Output port 1 of 'm/Step' is not connected.")
    software = apply_files("simulink.execute", verdict.to_dict(), {"build_model.py": b""})
    assert Diagram.parse(software["model.yaml"].decode(), "model.yaml").name == "m"


def test_a_refusal_shows_message_and_line(judge: Callable[..., Verdict]) -> None:
    verdict = judge({"build_model.py": PROGRAM.replace("Sources/Step", "Source/Step")})
    assert (verdict.passed, verdict.evidence["line"], verdict.evidence["files"]) == (False, 4, {})
    assert verdict.report.startswith("There is no block named 'simulink/Source/Step'\n\nbuild_model.py:4\n")
    assert "eng.add_block('simulink/Source/Step', 'm/Step', nargout=0)\n  ^^^^" in verdict.report


def test_the_further_a_program_comes_the_better(judge: Callable[..., Verdict]) -> None:
    early, late = (judge({"a.py": PROGRAM.replace(*wrong)}) for wrong in (("new_system", "newsystem"), ("save", "sav")))
    assert 0 < early.score < late.score < 1


@pytest.mark.parametrize(("files", "words"), [({}, "There is no program to run."),
                                              ({"a.py": "x = 1\n", "b.py": "y = 2\n"}, "it may be any of a.py, b.py")])
def test_without_one_program_nothing_is_run(files: dict[str, str], words: str, judge: Callable[..., Verdict]) -> None:
    verdict = judge(files)
    assert (verdict.passed, verdict.score) == (False, 0.0)
    assert words in verdict.report


def test_the_backend_is_an_input(judge: Callable[..., Verdict]) -> None:
    assert judge({"a.py": PROGRAM}, backend="builtin").evidence["backend"] == "builtin"
    with pytest.raises(ToolError, match="one of: auto, builtin, matlab"):
        judge({"a.py": PROGRAM}, backend="octave")
