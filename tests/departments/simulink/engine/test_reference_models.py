"""Right models are refused nothing: those that companies are measured on, built by calls, are what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram, End
from chatdev.departments.simulink.engine.library import Library
from chatdev.departments.simulink.engine.program import MatlabEngine
from chatdev.departments.simulink.reference_models import reference_models
from chatdev.departments.simulink.saved_model import SavedModel

MODELS = {name: model.diagram for name, model in reference_models().items() if model.half == "open"}


def build(eng: MatlabEngine, diagram: Diagram) -> None:
    """Call by call, as a program would."""
    eng.new_system(diagram.name, nargout=0)
    for name, block in diagram.blocks.items():
        kind = catalogue().of(block.type)
        assert kind is not None
        parameters = [word for pair in block.parameters.items() for word in pair]
        eng.add_block(kind.path, f"{diagram.name}/{name.replace('/', '//')}", *parameters, nargout=0)
    for source, target in diagram.wires:
        eng.add_line(diagram.name, said(source), said(target), "autorouting", "on", nargout=0)


def said(end: End) -> str:
    return f"{end.block.replace('/', '//')}/{end.port}"


@pytest.mark.parametrize("name", MODELS)
def test_a_right_model_is_built_and_without_fault(name: str, eng: MatlabEngine, tmp_path: Path, library: Library,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    wanted = MODELS[name]
    build(eng, wanted)
    eng.save_system(wanted.name, nargout=0)
    assert capsys.readouterr().out == ""
    saved = SavedModel.read((tmp_path / "saved" / f"{wanted.name}.json").read_text())
    built = saved.rebuild(library, strict=True)
    assert {name: dict(block.parameters) for name, block in built.blocks.items()} == {
        name: dict(block.parameters) for name, block in wanted.blocks.items()}
    assert set(built.wires) == set(wanted.wires)
    assert saved.refused == []
    eng.sim(wanted.name, nargout=0)
