"""A program that is written from a model builds that model, with its layout, whatever things are called."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.departments.simulink.agreement import agreed_model, model_name, to_investigation
from chatdev.departments.simulink.change import list_differences
from chatdev.departments.simulink.company_tools import review_investigation
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock
from chatdev.departments.simulink.execute import execute_program
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.views import write_program
from chatdev.sandbox.kinds import find_sandbox

OPEN = [model.diagram for model in reference_models().values() if model.half == "open"]
ODD = 'it\'s "10 %" \\ 𝛼\n'


@pytest.mark.tool
@pytest.mark.parametrize("model", OPEN, ids=lambda model: model.name)
def test_the_program_of_a_model_builds_it(model: Diagram, tmp_path: Path) -> None:
    agreed = agreed_model(to_investigation(model), model)
    result = execute_program(write_program(agreed), sandbox=find_sandbox(), scratch=tmp_path, backend="builtin")
    assert result.passed, result.message
    assert result.diagram is not None
    assert list_differences(agreed, result.diagram) == []
    assert not [one for one in review_investigation(to_investigation(model)) if one.severity == "error"]


@pytest.mark.tool
def test_odd_names_are_quoted(tmp_path: Path) -> None:
    model = Diagram("odd", {ODD: DiagramBlock("Constant", {"Value": "1"}), "S": DiagramBlock("Scope")})
    result = execute_program(write_program(model), sandbox=find_sandbox(), scratch=tmp_path, backend="builtin")
    assert result.passed, result.message
    assert result.diagram is not None
    assert list(map(str.split, result.diagram.blocks)) == [ODD.split(), ["S"]]


@given(st.text(max_size=80))
def test_every_text_gives_a_name_that_matlab_takes(text: str) -> None:
    name = model_name(text)
    assert name.isidentifier()
    assert name.isascii()
    assert name[0].isalpha()
    assert len(name) <= 63
    ast.parse(write_program(Diagram(name, {"A": DiagramBlock("Constant", {"Value": text.replace("\ud800", "")})})))
