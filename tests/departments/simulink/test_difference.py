"""What changed between two versions of a model: told as a person would, with nothing that is no change."""

from __future__ import annotations

import json
import random
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chatdev.departments.simulink import difference
from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.difference import compare

MODELS = {file.stem: file for file in sorted((Path(difference.__file__).parent / "models").glob("*.yaml"))
          if file.stem != "index"}
LOOP = """model: loop
blocks:
  Rate: {type: Constant, parameters: {Value: '2'}, position: [30, 40, 60, 70]}
  Sum: {type: Sum, parameters: {Inputs: +-}}
  Level: {type: Integrator}
  Scope: {type: Scope}
  Out: {type: Goto, parameters: {GotoTag: Level}}
  In: {type: From, parameters: {GotoTag: Level}}
  Show: {type: Display}
  R1: {type: Resistor}
  C1: {type: Capacitor}
  G1: {type: Electrical Reference}
lines:
- Rate/1 -> Sum/1
- Sum/1 -> Level/1
- Level/1 -> Sum/2
- Level/1 -> Scope/1
- Level/1 -> Out/1
- In/1 -> Show/1
- R1/RConn1 -- C1/LConn1
- C1/RConn1 -- G1/LConn1
- R1/LConn1 -- G1/LConn1
"""
OLD = Diagram.parse(LOOP, "old")


def lines(*changes: tuple[str, str]) -> list[str]:
    text = LOOP
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return compare(OLD, Diagram.parse(text, "new")).lines()


@pytest.mark.parametrize(("changes", "told"), [
    ([("Value: '2'", "Value: '3'")], ["~ block Rate: Value 2 -> 3"]),
    ([(", parameters: {Value: '2'}", "")], ["~ block Rate: Value 2 -> (not given)"]),
    ([("[30, 40, 60, 70]", "[130, 40, 160, 70]")], ["> block Rate: [30, 40, 60, 70] -> [130, 40, 160, 70]"]),
    ([("type: Integrator", "type: Discrete-Time Integrator")],
     ["~ block Level: type Integrator -> Discrete-Time Integrator"]),
    ([("Sum", "Balance"), ("type: Balance", "type: Sum")], ["~ block Sum: renamed Balance"]),
    ([("- Level/1 -> Scope/1\n", "- Rate/1 -> Scope/1\n")], ["+ line Rate/1 -> Scope/1", "- line Level/1 -> Scope/1"]),
    ([("  Scope: {type: Scope}\n", ""), ("- Level/1 -> Scope/1\n", "")],
     ["- block Scope: Scope", "- line Level/1 -> Scope/1"]),
    ([("  Scope:", "  Extra: {type: Gain, parameters: {Gain: '5'}}\n  Scope:")], ["+ block Extra: Gain (Gain 5)"]),
    ([("R1/RConn1 -- C1/LConn1", "C1/LConn1 -- R1/RConn1")], []),
    ([("- C1/RConn1 -- G1/LConn1\n- R1/LConn1 -- G1/LConn1",
       "- R1/LConn1 -- C1/RConn1\n- C1/RConn1 -- G1/LConn1")], []),
    ([("- R1/LConn1 -- G1/LConn1\n", "")], ["- net C1/RConn1 -- G1/LConn1: R1/LConn1"]),
    ([("- R1/RConn1 -- C1/LConn1\n", "")], ["- net C1/LConn1 -- R1/RConn1"]),
    ([("GotoTag: Level", "GotoTag: Height")], ["~ tag Level: renamed Height"]),
    ([("type: From, parameters: {GotoTag: Level}", "type: From, parameters: {GotoTag: Height}")],
     ["~ block In: GotoTag Level -> Height", "- pair Out ~> In"]),
    ([("model: loop", "model: tank")], ["~ name: loop -> tank"]),
    ([("Value: '2'", "Value: a -> b")], ["~ block Rate: Value 2 -> 'a -> b'"]),
], ids=str)
def test_a_change_is_told_as_it_was_made(changes: list[tuple[str, str]], told: list[str]) -> None:
    assert lines(*changes) == told


@pytest.mark.parametrize("name", MODELS)
def test_order_is_no_change(name: str) -> None:
    model = Diagram.read(MODELS[name])
    lots = random.Random(name)
    blocks, wires = list(model.blocks.items()), list(model.wires)
    lots.shuffle(blocks)
    lots.shuffle(wires)
    turned = tuple(Wire(wire.target, wire.source) if wire.is_physical else wire for wire in wires)
    assert compare(model, replace(model, blocks=dict(blocks), wires=turned)).is_empty


@pytest.mark.parametrize("name", MODELS)
def test_a_renamed_block_is_no_other_block(name: str) -> None:
    model = Diagram.read(MODELS[name])
    for old in list(model.blocks)[::7]:
        found = compare(model, renamed(model, {old: "Something Else"}))
        assert found.lines() == [f"~ block {old}: renamed Something Else"]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_which_every_name_changed_keeps_its_wiring(name: str) -> None:
    model = Diagram.read(MODELS[name])
    found = compare(model, renamed(model, {old: f"{old} 2" for old in model.blocks}))
    assert {line.partition(": ")[2].partition(" ")[0] for line in found.lines()} == {"renamed"}
    assert len(found.renamed) == len(model.blocks)


def renamed(model: Diagram, names: dict[str, str]) -> Diagram:
    def rename(end: End) -> End:
        return End(names.get(end.block, end.block), end.port)

    return replace(model, blocks={names.get(name, name): block for name, block in model.blocks.items()},
                   wires=tuple(Wire(rename(wire.source), rename(wire.target)) for wire in model.wires))


@pytest.mark.parametrize("name", MODELS)
def test_a_difference_is_plain_json_and_its_reverse_the_mirror(name: str) -> None:
    model = Diagram.read(MODELS[name])
    first = next(iter(model.blocks))
    less = replace(model, wires=model.wires[1:], blocks={
        title: replace(block, parameters={**block.parameters, "Tag": "x"}) if title == first else block
        for title, block in model.blocks.items()})
    there, back = compare(model, less), compare(less, model)
    assert json.loads(json.dumps(there.to_dict())) == there.to_dict()
    assert there.wires_removed == back.wires_added
    assert {(one, other) for one, other in there.nets} == {(other, one) for one, other in back.nets}
    assert there.parameters[first]["Tag"] == ("", "x")
    assert there.changes_meaning


def test_a_moved_block_changes_no_meaning() -> None:
    found = compare(OLD, OLD.with_positions({"Rate": (1, 2, 3, 4)}))
    assert not found.changes_meaning
    assert found.to_dict() == {"moved": {"Rate": {"before": [30, 40, 60, 70], "after": [1, 2, 3, 4]}}}


def chain(letter: str, length: int) -> Diagram:
    wires = tuple(Wire(End(f"{letter}{n}", "1"), End(f"{letter}{n + 1}", "1")) for n in range(length - 1))
    return Diagram("chain", {f"{letter}{n}": DiagramBlock("Gain") for n in range(length)}, wires)


@pytest.mark.parametrize(("old", "new"), [(chain("A", 1000), chain("B", 1000)), (chain("A", 2000), chain("A", 1999))])
def test_a_long_model_is_compared_in_time(old: Any, new: Any) -> None:
    begin = time.process_time()
    compare(old, new)
    assert time.process_time() - begin < 10
