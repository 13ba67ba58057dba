"""A change of a file leaves the rest of it as it was."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.departments.simulink.diagram import Diagram, DiagramBlock, End, Wire
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.files.package import Package
from chatdev.errors import ConfigError
from tests.departments.simulink.files.samples import CLASSIC, PACKAGE


def _change(found: ModelFile, **blocks: DiagramBlock) -> ModelFile:
    return replace(found, diagram=replace(found.diagram, blocks={**found.diagram.blocks, **blocks}))


def test_what_did_not_change_is_written_byte_for_byte(tmp_path: Path) -> None:
    for name, data in (("a.slx", PACKAGE.zip()), ("a.mdl", CLASSIC.encode("cp1252")), ("t.mdl", PACKAGE.text())):
        (tmp_path / name).write_bytes(data)
        assert write_model(read_model(tmp_path / name), tmp_path / f"again{name}") == ()
        assert (tmp_path / f"again{name}").read_bytes() == data


def test_parts_that_did_not_change_are_kept_byte_for_byte(tmp_path: Path) -> None:
    (tmp_path / "a.slx").write_bytes(PACKAGE.zip())
    found = read_model(tmp_path / "a.slx")
    write_model(_change(found, New=DiagramBlock("Clock")), tmp_path / "b.slx")
    parts = Package.read((tmp_path / "b.slx").read_bytes(), "b").parts
    changed = [path for path, content in parts.items() if content != PACKAGE.parts.get(path)]
    assert changed == ["simulink/systems/system_root.xml"]
    text = parts[changed[0]].decode()
    for kept in ("look here", "BackgroundColor", "SaturateOnIntegerOverflow", "Strange", 'Name="Name">speed'):
        assert kept in text
    assert 'BlockType="Clock" Name="New" SID="8"' in text


def test_a_change_of_a_classic_file_keeps_what_is_not_understood(tmp_path: Path) -> None:
    (tmp_path / "a.mdl").write_bytes(CLASSIC.encode("cp1252"))
    found = read_model(tmp_path / "a.mdl")
    gain = replace(found.diagram.blocks["Größe"], parameters={"Gain": "7"})
    notes = write_model(_change(found, Größe=gain), tmp_path / "b.mdl")
    text = (tmp_path / "b.mdl").read_bytes().decode("cp1252")
    for kept in ("Annotation {", "look here", "ScreenColor", "Stateflow {", 'Multiplication          "Element'):
        assert kept in text
    assert read_model(tmp_path / "b.mdl").diagram.blocks["Größe"].parameters == {"Gain": "7"}
    assert any("experimental" in note for note in notes)


def test_a_name_that_the_encoding_has_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.mdl").write_bytes(CLASSIC.encode("cp1252"))
    found = read_model(tmp_path / "a.mdl")
    with pytest.raises(ConfigError, match=r"windows-1252.*other characters, or as \.slx"):
        write_model(_change(found, 速度=DiagramBlock("Clock")), tmp_path / "b.mdl")


def test_a_line_keeps_its_name_when_a_branch_is_new(tmp_path: Path) -> None:
    (tmp_path / "a.slx").write_bytes(PACKAGE.zip())
    found = read_model(tmp_path / "a.slx")
    changed = replace(found.diagram, blocks={**found.diagram.blocks, "New": DiagramBlock("Terminator")},
                      wires=(*found.diagram.wires, Wire(End("Source", "1"), End("New", "1"))))
    write_model(replace(found, diagram=changed), tmp_path / "b.slx")
    root = Package.read((tmp_path / "b.slx").read_bytes(), "b").parts["simulink/systems/system_root.xml"].decode()
    assert root.count("<Line") == 1
    assert 'Name="Name">speed' in root
    assert {*read_model(tmp_path / "b.slx").diagram.wires} == {*changed.wires}


def test_a_block_of_another_type_keeps_its_place_and_number(tmp_path: Path) -> None:
    (tmp_path / "a.slx").write_bytes(PACKAGE.zip())
    found = read_model(tmp_path / "a.slx")
    old = found.diagram.blocks["Gain"]
    write_model(_change(found, Gain=DiagramBlock("Integrator", {}, old.position)), tmp_path / "b.slx")
    again = read_model(tmp_path / "b.slx").diagram
    assert again.blocks["Gain"] == DiagramBlock("Integrator", {}, old.position)
    assert again.wires == found.diagram.wires


def test_a_file_of_the_other_kind_says_what_is_lost(tmp_path: Path) -> None:
    (tmp_path / "a.mdl").write_bytes(CLASSIC.encode("cp1252"))
    found = read_model(tmp_path / "a.mdl")
    assert any("is lost" in note for note in write_model(found, tmp_path / "b.slx"))
    assert read_model(tmp_path / "b.slx").diagram.blocks.keys() == found.diagram.blocks.keys()


def test_a_package_stays_one_as_text_and_as_archive(tmp_path: Path) -> None:
    (tmp_path / "a.slx").write_bytes(PACKAGE.zip())
    write_model(read_model(tmp_path / "a.slx"), tmp_path / "a.mdl")
    assert (tmp_path / "a.mdl").read_bytes().startswith(b"# MathWorks OPC Text Package")
    write_model(read_model(tmp_path / "a.mdl"), tmp_path / "b.slx")
    assert Package.read((tmp_path / "b.slx").read_bytes(), "b").parts == PACKAGE.parts


def test_a_character_that_no_file_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no .slx file can"):
        write_model(ModelFile(Diagram("m", {"a\x01": DiagramBlock("Clock")})), tmp_path / "m.slx")
