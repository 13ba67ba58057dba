"""What the company is told of programs holds in the stand-in: the shape runs, the rules are those it keeps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.departments.simulink.catalogue import catalogue
from chatdev.departments.simulink.execute import BuildResult, execute_program
from chatdev.paths import bundled_folder
from chatdev.sandbox.kinds import find_sandbox
from chatdev.tools.base import render_file

pytestmark = pytest.mark.tool
KNOWLEDGE = bundled_folder("company_config") / "simugen" / "knowledge"
Execute = Callable[[str], BuildResult]
BLOCKS = [
    ("simulink/Sources/Step", "Step", {"Time": "2"}), ("simulink/Math Operations/Sum", "Error", {"Inputs": "|+-"}),
    ("simulink/Continuous/Integrator", "Integrator", {"ExternalReset": "rising"}),
    ("simulink/Discontinuities/Hit  Crossing", "Hit", {"ShowOutputPort": "off"}),
    ("simulink/Math Operations/Math Function", "Log", {"Operator": "log"}),
    ("fl_lib/Electrical/Electrical Elements/Resistor", "R1", {"R": "10"}),
    ("fl_lib/Electrical/Electrical Elements/Resistor", "R2", {}),
    ("fl_lib/Electrical/Electrical Elements/Capacitor", "C1", {"c": "1e-3"}),
]
LINES = [("Step/1", "Error/1"), ("Error/1", "Integrator/1"), ("Step/1", "Integrator/2"), ("Integrator/1", "Error/2"),
         ("Integrator/1", "Hit/1"), ("Integrator/1", "Log/1"), ("R1/RConn1", "C1/LConn1")]


@pytest.fixture
def execute(tmp_path: Path) -> Execute:
    return lambda source: execute_program(source, sandbox=find_sandbox(), scratch=tmp_path)


def program(blocks: object, lines: object) -> str:
    shape = render_file(KNOWLEDGE / "program.j2", model="loop")
    for name, rows in (("BLOCKS", blocks), ("LINES", lines)):
        begin, _, rest = shape.partition(f"{name} = [\n")
        shape = f"{begin}{name} = {rows!r}\n" + rest.partition("\n]\n")[2]
    return shape


def test_the_shape_of_a_program_builds_what_stands_in_it(execute: Execute) -> None:
    result = execute(program(BLOCKS, LINES))
    assert result.passed, result.message
    assert result.diagram is not None
    assert [str(wire) for wire in result.diagram.wires if not wire.is_physical] == [
        f"{source} -> {target}" for source, target in LINES[:-1]]
    assert {name: (block.type, dict(block.parameters)) for name, block in result.diagram.blocks.items()} == {
        name: (catalogue().paths[" ".join(path.split())].type, parameters) for path, name, parameters in BLOCKS}


def test_the_shape_without_blocks_says_that_it_builds_nothing(execute: Execute) -> None:
    assert execute(render_file(KNOWLEDGE / "program.j2", model="loop")).outcome == "empty"


def test_every_path_of_the_catalogue_makes_its_block(execute: Execute) -> None:
    paths = [(path, block) for block in catalogue().types.values() for path in block.paths]
    result = execute(program([(path, f"B{number}", {}) for number, (path, _) in enumerate(paths)], []))
    assert result.passed, result.message
    assert result.diagram is not None
    assert [block.type for block in result.diagram.blocks.values()] == [block.type for _, block in paths]


@pytest.mark.parametrize(("blocks", "lines", "message"), [
    ([("simscape/Utilities/PS-Simulink Converter", "P", {})], [], "There is no block named"),
    ([("simulink/Continuous/Integrator", "1/s", {})], [], "Invalid Simulink object name"),
    (BLOCKS, [*LINES, ("Log/1", "Error/1")], "The destination port already has a line connection"),
    (BLOCKS, [*LINES, ("C1/LConn1", "R1/RConn1")], "The second port already has a line connection"),
    (BLOCKS, [*LINES, ("Step/1", "C1/RConn1")], "do not share the same Physical Modeling domain"),
    (BLOCKS, [("R1/RConn1", "C1/LConn1"), ("R1/LConn1", "R2/LConn1"), ("R1/RConn1", "R1/LConn1")],
     "two different nets"),
])
def test_what_is_said_to_be_refused_is_refused(execute: Execute, blocks: object, lines: object, message: str) -> None:
    result = execute(program(blocks, lines))
    assert not result.passed
    assert message in result.message
    words = render_file(KNOWLEDGE / "functions.j2")
    assert message in words or (message == "two different nets" and "Two nets that both have lines" in words)
