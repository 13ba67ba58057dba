"""Models come back from files of Simulink as they were; what is another model is told apart."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.simulink.files import change, is_change_kept, is_same, random_model, round_trip
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.reference_models import reference_models

MODELS = reference_models()


@pytest.mark.parametrize("name", MODELS)
def test_a_reference_model_comes_back_from_every_form(name: str, tmp_path: Path) -> None:
    assert all(round_trip(MODELS[name].diagram, tmp_path).values())


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_a_random_model_comes_back_from_every_form(seed: int, tmp_path: Path) -> None:
    assert all(round_trip(random_model(seed), tmp_path).values())


@pytest.mark.parametrize("ending", [".slx", ".mdl"])
@pytest.mark.parametrize("seed", range(1000, 1006))
def test_a_change_of_a_file_comes_back_and_nothing_else(seed: int, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"model{ending}"
    write_model(ModelFile(random_model(seed)), path)
    assert is_change_kept(path, seed)


@pytest.mark.parametrize("seed", range(12))
def test_another_model_is_not_taken_for_the_same(seed: int) -> None:
    model = random_model(seed)
    assert is_same(model, MODELS["pendulum"].diagram) is False
    assert not any(is_same(model, other) for other in [change(model, random.Random(seed)), *_mutants(model)])


def _mutants(model: Diagram) -> Iterator[Diagram]:
    """The model with one thing otherwise."""
    name, block = next(iter(model.blocks.items()))
    yield replace(model, blocks={**model.blocks, name: replace(block, type="Terminator")})
    yield replace(model, blocks={**model.blocks, name: replace(block, parameters={"Strange": "1"})})
    yield replace(model, blocks={**model.blocks, "more": DiagramBlock("Clock")})
    yield replace(model, wires=(*model.wires, Wire(End(name, "1"), End(name, "99"))))
    yield replace(model, wires=(*model.wires, Wire(End(name, "LConn8"), End(name, "LConn9"))))
    yield replace(model, variables={**model.variables, "more": "1"})
    yield replace(model, about=f"{model.about} more")
    yield replace(model, settings={**model.settings, "FixedStep": "7"})


def test_the_same_model_gives_the_same_bytes(tmp_path: Path) -> None:
    model = ModelFile(MODELS["gantry_crane"].diagram)
    for ending in (".slx", ".mdl"):
        for name in ("one", "other"):
            write_model(model, tmp_path / f"{name}{ending}")
        assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"other{ending}").read_bytes()


def test_a_block_that_has_no_place_gets_one_and_others_keep_theirs(tmp_path: Path) -> None:
    model = Diagram("m", {"a": DiagramBlock("Clock", {}, (500, 300, 530, 330)), "b": DiagramBlock("Scope")},
                    (Wire(End("a", "1"), End("b", "1")),))
    write_model(ModelFile(model), tmp_path / "m.slx")
    found = read_model(tmp_path / "m.slx").diagram.blocks
    assert found["a"].position == (500, 300, 530, 330)
    assert found["b"].position


@pytest.mark.parametrize("side", ["right", "left", "up", "down"])
def test_a_block_stays_turned(side: str, tmp_path: Path) -> None:
    turned = {} if side == "right" else {"Orientation": side}
    model = Diagram("m", {"a": DiagramBlock("Gain", turned)})
    for ending in (".slx", ".mdl"):
        write_model(ModelFile(model), tmp_path / f"m{ending}")
        assert read_model(tmp_path / f"m{ending}").diagram.blocks["a"].parameters == turned
