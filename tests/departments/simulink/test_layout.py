from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from chatdev.departments.simulink import layout
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Position, Wire
from chatdev.departments.simulink.layout import Picture, arrange, place
from chatdev.departments.simulink.routing import Path as WirePath
from chatdev.departments.simulink.routing import Route
from tests.departments.simulink.geometry import NAMES, at_positions, flaws, random_model

MODELS = sorted(path for path in (Path(layout.__file__).parent / "models").glob("*.yaml") if path.stem != "index")
LOOP = """
model: loop
blocks:
  Target: {type: Step}
  Error: {type: Sum, parameters: {Inputs: "|+-"}}
  Control: {type: Gain, parameters: {Gain: "2"}}
  Plant: {type: Integrator}
  Record: {type: Scope}
lines:
- Target/1 -> Error/1
- Plant/1 -> Error/2
- Error/1 -> Control/1
- Control/1 -> Plant/1
- Plant/1 -> Record/1
"""


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_no_picture_of_a_model_has_a_flaw(path: Path) -> None:
    picture = arrange(Diagram.read(path))
    assert flaws(picture) == []
    assert picture.faults == []


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_no_picture_of_a_model_without_sense_has_a_flaw(first: int) -> None:
    for seed in range(first, first + 20):
        picture = arrange(random_model(seed))
        assert (seed, flaws(picture), picture.faults) == (seed, [], [])


_CORNER = st.integers(-400, 1200)
_SIDE = st.integers(3, 90)
_BOX = st.tuples(_CORNER, _CORNER, _SIDE, _SIDE).map(lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3]))


@settings(max_examples=30, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.integers(0, 500), st.lists(_BOX, min_size=12, max_size=12))
def test_wires_of_blocks_anywhere_are_without_flaw_or_named_as_lost(seed: int, boxes: list[Position]) -> None:
    picture = arrange(at_positions(random_model(seed, 12), boxes))
    assert [flaw for flaw in flaws(picture) if not flaw.startswith(NAMES)] == []
    assert len([fault for fault in picture.faults if "no way is free" in fault]) == sum(
        terminal != route.terminals[0] for route in picture.routes for terminal in route.lost)


def test_positions_that_are_given_are_kept_and_the_rest_found() -> None:
    given = {"Plant": (400, 300, 430, 330), "Error": (100, 300, 120, 320)}
    placed = place(Diagram.parse(LOOP, "loop").with_positions(given))
    assert {name: placed.blocks[name].position for name in given} == given
    assert all(block.position for block in placed.blocks.values())
    assert flaws(arrange(placed)) == []


@pytest.mark.parametrize("kept", range(1, 20, 3))
def test_new_blocks_overlap_nothing(kept: int) -> None:
    model = random_model(kept, 25)
    whole = place(model)
    some = {name: whole.blocks[name].position for name in list(whole.blocks)[:kept]}
    again = place(Diagram(model.name, {name: DiagramBlock(block.type, block.parameters, some.get(name))
                                       for name, block in model.blocks.items()}, model.wires))
    assert {name: again.blocks[name].position for name in some} == some
    assert not [fault for fault in arrange(again).faults if "lie on each other" in fault]


def test_a_placed_model_stays_where_it_is() -> None:
    placed = place(Diagram.parse(LOOP, "loop"))
    assert place(placed) == placed
    assert place(Diagram.parse(placed.text(), "again")) == placed


def test_signals_run_from_left_to_right_and_a_feedback_below() -> None:
    picture = arrange(Diagram.parse(LOOP, "loop"))
    lefts = [picture.frames[name].box.left for name in ("Target", "Error", "Control", "Plant", "Record")]
    assert lefts == sorted(lefts)
    feedback = next(path for route in picture.routes for path in route.paths if path.target.end == End("Error", "2"))
    assert max(y for _, y in feedback.points) > picture.frames["Plant"].box.bottom


def test_a_branch_has_a_dot_and_shares_its_trunk() -> None:
    picture = arrange(Diagram.parse(LOOP, "loop"))
    plant = next(route for route in picture.routes if route.terminals[0].end.block == "Plant")
    assert len(plant.dots) == 1


def test_blocks_on_each_other_and_ports_below_blocks_are_named() -> None:
    given = {"Plant": (100, 100, 140, 140), "Control": (110, 110, 130, 130), "Target": (0, 0, 30, 30),
             "Error": (300, 0, 330, 30), "Record": (300, 200, 330, 230)}
    faults = arrange(Diagram.parse(LOOP, "loop").with_positions(given)).faults
    assert "the blocks Control and Plant lie on each other" in faults
    assert any("no way is free for the wire from Control/1 to Plant/1" in fault for fault in faults)


def test_two_wires_into_one_port_are_told() -> None:
    model = Diagram.parse(LOOP + "- Target/1 -> Plant/1\n", "loop")
    assert any("to Plant/1" in fault for fault in arrange(model).faults)


def test_unknown_blocks_get_the_ports_that_their_wires_name() -> None:
    model = Diagram("m", {"A": DiagramBlock("Flux Capacitor"), "B": DiagramBlock("Gain", {"Gain": "x"})},
                    (Wire(End("A", "3"), End("B", "1")), Wire(End("B", "1"), End("A", "7"))))
    picture = arrange(model)
    assert flaws(picture) == picture.faults == []


def test_models_of_nothing_one_block_and_a_thousand_are_drawn() -> None:
    assert place(Diagram("empty")) == Diagram("empty")
    assert place(Diagram("one", {"A": DiagramBlock("Gain")})).blocks["A"].position
    names = [f"B{number}" for number in range(1000)]
    chain = Diagram("chain", {name: DiagramBlock("Gain") for name in names},
                    tuple(Wire(End(one, "1"), End(other, "1")) for one, other in itertools.pairwise(names)))
    picture = arrange(chain)
    assert picture.faults == []
    assert max(frame.box.right for frame in picture.frames.values()) < 32_000


def test_the_same_model_is_laid_out_the_same() -> None:
    model = Diagram.read(MODELS[0])
    assert place(model) == place(model)


def _moved(picture: Picture, right: int, down: int) -> Picture:
    routes = list(picture.routes)
    path = routes[0].paths[0]
    moved = WirePath(tuple((x + right, y + down) for x, y in path.points), path.target)
    routes[0] = Route(routes[0].terminals, False, (moved,), (), ())
    return Picture(picture.diagram, picture.frames, routes)


def test_the_checker_sees_wires_through_blocks_and_on_wires() -> None:
    picture = arrange(Diagram.parse(LOOP, "loop"))
    assert any("does not reach" in flaw for flaw in flaws(_moved(picture, 0, 3)))
    assert any("goes through" in flaw for flaw in flaws(_moved(picture, 60, 0)))
    twice = Picture(picture.diagram, picture.frames, [*picture.routes, picture.routes[0]])
    assert any("touches" in flaw for flaw in flaws(twice))
    assert any(flaw.startswith(NAMES) for flaw in flaws(_moved(picture, -40, 27)))
