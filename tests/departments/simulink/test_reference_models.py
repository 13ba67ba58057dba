"""The models of `chatdev eval simulink` are right by the catalogue, and as many and as large as their index says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import networkx
import pytest

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.diagram import Diagram
from chatdev.departments.simulink.metric import count_connections
from chatdev.departments.simulink.reference_models import (
    FOLDER,
    ReferenceModel,
    read_reference_models,
    reference_models,
)
from chatdev.errors import ConfigError

MODELS = reference_models()
PAPER = {"loops": (5, 5), "state event": (5, 6), "zero crossing": (9, 10), "simulink model": (11, 13),
         "bouncing ball": (7, 7), "bipolar transistor": (13, 20), "RC circuit": (14, 16),
         "two bus load flow": (14, 13), "wheel speed sensor": (12, 11)}
"""Blocks and connections in SimuGen's Table 1."""

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=list(MODELS))


def size(model: ReferenceModel) -> tuple[int, int]:
    return len(model.diagram.blocks), count_connections(model.diagram)


def networks(diagram: Diagram) -> list[set[str]]:
    """The blocks of each physical network: what physical lines join, directly or through blocks."""
    graph = networkx.Graph([(wire.source.block, wire.target.block) for wire in diagram.wires if wire.is_physical
                            and not is_of_signals(diagram, wire.source.block, wire.source.port)])
    return [set(part) for part in networkx.connected_components(graph)]


def is_of_signals(diagram: Diagram, block: str, port: str) -> bool:
    """Whether a port is one of physical signals, which have a direction."""
    return domain(diagram, block, port) == "ps"


def domain(diagram: Diagram, block: str, port: str) -> str:
    found = catalogue().types[diagram.blocks[block].type].ports_with(diagram.blocks[block].parameters)
    return next(each.domain for each in found if each.name == port and each.is_physical)


def test_the_nine_have_the_counts_of_the_paper() -> None:
    assert {model.paper: size(model) for model in MODELS.values() if model.paper} == PAPER


def test_nineteen_models_are_open_and_ten_unseen() -> None:
    assert Counter(model.half for model in MODELS.values()) == {"open": 19, "unseen": 10}
    assert all(model.half == "open" for model in MODELS.values() if model.paper)
    assert {model.name for model in MODELS.values()} == {path.stem for path in FOLDER.glob("*.yaml")} - {"index"}


def test_the_twenty_grow_up_to_sixty_blocks() -> None:
    sizes = [len(model.diagram.blocks) for model in MODELS.values() if not model.paper]
    assert sizes == sorted(sizes)
    assert (len(sizes), sizes[0], sizes[-1]) == (20, 7, 60)


@pytest.mark.parametrize("half", ["open", "unseen"])
def test_both_halves_have_models_of_every_domain(half: str) -> None:
    found = {model.domain for model in MODELS.values() if model.half == half}
    assert found == {"control", "mechanics", "electrical", "events", "discrete"}


@every_model
def test_a_model_is_in_its_plain_text_form(model: ReferenceModel) -> None:
    path = FOLDER / f"{model.name}.yaml"
    assert path.read_text(encoding="utf-8") == model.diagram.text()
    assert model.diagram.about.endswith(".")
    assert "/" not in "".join(model.diagram.blocks)


@every_model
def test_every_block_is_in_the_catalogue_with_its_parameters(model: ReferenceModel) -> None:
    for name, block in model.diagram.blocks.items():
        assert block.type in catalogue().types, name
        assert block.parameters.keys() <= catalogue().types[block.type].parameters.keys(), name


@every_model
def test_every_port_is_there_and_wired(model: ReferenceModel) -> None:
    wired: dict[str, set[tuple[str, str]]] = {name: set() for name in model.diagram.blocks}
    for wire in model.diagram.wires:
        for end, direction in zip(wire, ("out", "in"), strict=True):
            wired[end.block].add((end.port, "physical" if wire.is_physical else direction))
    for name, block in model.diagram.blocks.items():
        ports = catalogue().types[block.type].ports_with(block.parameters)
        assert wired[name] == {(each.name, "physical" if each.is_physical else each.direction) for each in ports}, name


@every_model
def test_no_input_has_two_lines_and_no_line_is_there_twice(model: ReferenceModel) -> None:
    assert len(model.diagram.wires) == count_connections(model.diagram)
    assert all(wire.source != wire.target for wire in model.diagram.wires)


@every_model
def test_the_ports_of_a_net_are_of_one_domain(model: ReferenceModel) -> None:
    for net in model.diagram.nets():
        domains = {domain(model.diagram, *end) for end in net} - {"any"}
        assert len(domains) == 1
        assert domains != {"ps"} or len(net) == 2


@every_model
def test_a_network_has_one_solver_and_a_reference(model: ReferenceModel) -> None:
    for network in networks(model.diagram):
        types = Counter(model.diagram.blocks[name].type for name in network)
        assert types["Solver Configuration"] == 1
        assert types["Electrical Reference"] >= 1


@every_model
def test_every_from_has_its_goto(model: ReferenceModel) -> None:
    tags: dict[str, Counter[str]] = {"Goto": Counter(), "From": Counter()}
    for block in model.diagram.blocks.values():
        if block.type in tags:
            tags[block.type][block.parameters["GotoTag"]] += 1
    assert tags["Goto"].keys() == tags["From"].keys()
    assert set(tags["Goto"].values()) <= {1}


def test_explanations_are_texts_of_users() -> None:
    for model in MODELS.values():
        assert 30 <= len(model.explanation.split()) <= 320, model.name
        assert "LConn" not in model.explanation


def test_an_index_that_is_none_is_refused(tmp_path: Path) -> None:
    index = tmp_path / "index.yaml"
    entry = "- {name: pump_relay, domain: events, set: open, explanation: A tank.}\n"
    index.write_text(f"models:\n{entry}{entry}", encoding="utf-8")
    (tmp_path / "pump_relay.yaml").write_text((FOLDER / "pump_relay.yaml").read_text(encoding="utf-8"))
    with pytest.raises(ConfigError, match="same name"):
        read_reference_models(tmp_path)
    index.write_text(f"models:\n{entry.replace('open', 'half')}", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"index.yaml.*set"):
        read_reference_models(tmp_path)
    index.write_text(f"models:\n{entry.replace('pump_relay', 'other')}", encoding="utf-8")
    (tmp_path / "other.yaml").write_text((FOLDER / "pump_relay.yaml").read_text(encoding="utf-8"))
    with pytest.raises(ConfigError, match="name it 'other'"):
        read_reference_models(tmp_path)
