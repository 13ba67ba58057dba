"""What Simulink's releases wrote is read: both layouts of .slx, both grammars of .mdl, defaults, encodings, names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from chatdev.departments.simulink.diagram import End, Wire
from chatdev.departments.simulink.files import ModelFile, read_model
from chatdev.departments.simulink.files.package import Package
from chatdev.errors import ConfigError
from tests.departments.simulink.files.samples import CLASSIC


def _read(text: str, folder: Path, encoding: str = "cp1252") -> ModelFile:
    path = folder / "file.mdl"
    path.write_bytes(text.encode(encoding))
    return read_model(path)


def test_the_classic_grammar_is_read(tmp_path: Path) -> None:
    model = _read(CLASSIC, tmp_path).diagram
    start = "Start\nat \"one\" o'clock"
    assert model.name == "plant"
    assert [*model.blocks] == [start, "Größe", "Mux", "XY", "Fancy", "Sub"]
    assert model.blocks[start].position == (30, 40, 60, 70)
    assert dict(model.blocks["Größe"].parameters) == {"Gain": "3", "Orientation": "left"}
    assert dict(model.blocks["Mux"].parameters) == {"Inputs": "4"}, "a record that says nothing has four inputs"
    assert (model.blocks["XY"].type, dict(model.blocks["XY"].parameters).get("xmin")) in [
        ("XY Graph", "-5"), ("XY Graph", None)]
    assert (model.blocks["Fancy"].type, dict(model.blocks["Fancy"].parameters)) == ("FancyBlock", {"Power": "2"})
    assert {*model.wires} == {Wire(End(start, "1"), End("Größe", "1")), Wire(End(start, "1"), End("Mux", "2")),
                              Wire(End(start, "1"), End("Sub", "trigger"))}
    assert dict(model.settings) == {"StopTime": "25"}
    assert dict(model.variables) == {"K": "2*pi", "T": "K/2"}


def test_a_system_in_a_block_is_read_with_its_mask_and_control(tmp_path: Path) -> None:
    block = _read(CLASSIC, tmp_path).diagram.blocks["Sub"]
    assert block.type == "Triggered Subsystem"
    assert block.system
    assert [*block.system.blocks] == ["u", "Trigger", "y"]
    assert dict(block.system.variables) == {"a": "K/3"}


def test_what_is_not_understood_is_said_once_with_counts(tmp_path: Path) -> None:
    notes = "\n".join(_read(CLASSIC, tmp_path).notes)
    assert "Annotation (1)" in notes
    assert "FancyBlock (1)" in notes
    assert "open end, kept: 1" in notes


@pytest.mark.parametrize(("said", "encoding", "name"), [
    ("windows-1252", "cp1252", "Größe"), ("Shift_JIS", "cp932", "速度"), ("UTF-8", "utf-8", "速度 𝛼"),
    ("ISO-8859-1", "latin-1", "Größe"), ("GBK", "gbk", "速度"), ("ibm-5348_P100-1997", "cp1252", "€"),
    ("windows-949", "cp949", "속도"), ("UTF-8", "utf-8-sig", "Größe")])
def test_the_encoding_that_a_file_says_is_minded(said: str, encoding: str, name: str, tmp_path: Path) -> None:
    text = CLASSIC.replace("windows-1252", said).replace("Größe", name)
    found = _read(text, tmp_path, encoding)
    assert name in found.diagram.blocks
    assert not any("encoding" in note for note in found.notes)


def test_a_file_in_another_encoding_than_it_says_is_read_and_that_is_said(tmp_path: Path) -> None:
    found = _read(CLASSIC.replace("windows-1252", "UTF-8"), tmp_path, "cp1252")
    assert "Größe" in found.diagram.blocks
    assert any("it is read as cp1252" in note for note in found.notes)


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    assert _read(CLASSIC.replace("\n", "\r\n"), tmp_path).diagram == _read(CLASSIC, tmp_path).diagram


def _package(parts: Mapping[str, str], folder: Path, *, as_text: bool = False) -> ModelFile:
    package = Package({path: f'<?xml version="1.0"?>\n{text}'.encode() for path, text in parts.items()})
    path = folder / f"file.{'mdl' if as_text else 'slx'}"
    path.write_bytes(package.text() if as_text else package.zip())
    return read_model(path)


def _system(ports: str, two_parts: str) -> str:
    return f'''
      <Block BlockType="Inport" Name=" In&#10;1 " SID="1"><P Name="Position">[10.4, 20, 40, 34.6]</P></Block>
      <Block BlockType="Sum" Name="Sum" SID="2">{ports}<P Name="BlockRotation">270</P></Block>
      <Block BlockType="SubSystem" Name="Act" SID="{two_parts}">{{}}</Block>
      <Block BlockType="Reference" Name="R" SID="9"><P Name="SourceBlock">fl_lib/Electrical/Electrical Elements/Resistor
</P><InstanceData><P Name="R">47</P></InstanceData></Block>
      <Block BlockType="Reference" Name="C" SID="10"><P Name="SourceBlock">fl_lib/Electrical/Electrical
Elements/Capacitor</P></Block>
      <Line><P Name="Src">1#out:1</P><Branch><P Name="Dst">2#in:2</P></Branch><Branch>
      <P Name="Dst">{two_parts}#ifaction</P></Branch></Line>
      <Line LineType="Connection"><P Name="Src">9#lconn:1</P><Branch ConnectType="DEST_DEST">
      <P Name="Src">10#rconn:1</P></Branch><Branch ConnectType="DEST_SRC"><P Name="Dst">10#lconn:1</P></Branch></Line>
      <Line><P Name="Src">77#out:1</P><P Name="Dst">2#in:1</P></Line>'''


_INSIDE = '<Block BlockType="ActionPort" Name="Action" SID="4::1"/>'
_HEAD = '<ModelInformation Version="1.0"><Model>'
_TAIL = "</Model></ModelInformation>"


@pytest.mark.parametrize("as_text", [False, True])
@pytest.mark.parametrize("ports", ['<P Name="Ports">[2, 1]</P>', '<PortCounts in="2" out="1"/>', ""])
@pytest.mark.parametrize("layout", ["nested", "parts"])
def test_both_layouts_of_packages_are_read_as_archive_and_as_text(layout: str, ports: str, *, as_text: bool,
                                                                  tmp_path: Path) -> None:
    systems = _system(ports, "4::7")
    if layout == "nested":
        system = f"<System>{systems.format(f'<System>{_INSIDE}</System>')}</System>"
        parts = {"simulink/blockdiagram.xml": f"{_HEAD}{system}{_TAIL}"}
    else:
        root = systems.format('<System Ref="s4"/>')
        parts = {"simulink/blockdiagram.xml": f'{_HEAD}<System Ref="system_root"/>{_TAIL}',
                 "simulink/systems/system_root.xml": f"<System>{root}</System>",
                 "simulink/systems/s4.xml": f"<System>{_INSIDE}</System>"}
    found = _package(parts, tmp_path, as_text=as_text)
    model = found.diagram
    assert model.name == "file"
    assert [*model.blocks] == [" In\n1 ", "Sum", "Act", "R", "C"]
    assert model.blocks[" In\n1 "].position == (10, 20, 40, 35)
    assert dict(model.blocks["Sum"].parameters) == {"Orientation": "up"}, "a record of a Sum is the library's Add"
    assert model.blocks["Sum"].type == "Add"
    assert (model.blocks["Act"].type, model.blocks["R"].type) == ("If Action Subsystem", "Resistor")
    assert dict(model.blocks["R"].parameters) == {"R": "47"}
    assert {wire for wire in model.wires if not wire.is_physical} == {
        Wire(End(" In\n1 ", "1"), End("Sum", "2")), Wire(End(" In\n1 ", "1"), End("Act", "ifaction"))}
    assert model.nets() == [frozenset({End("R", "LConn1"), End("C", "LConn1"), End("C", "RConn1")})]
    assert any("ends of lines at blocks that there are not" in note for note in found.notes)


def test_defaults_of_the_package_are_minded(tmp_path: Path) -> None:
    defaults = '<BlockDiagramDefaults><BlockParameterDefaults><Block BlockType="Gain"><P Name="Gain">5</P></Block>' \
               "</BlockParameterDefaults></BlockDiagramDefaults>"
    gain = '<System><Block BlockType="Gain" Name="G" SID="1"/></System>'
    found = _package({"simulink/blockdiagram.xml": _HEAD + gain + _TAIL, "simulink/bddefaults.xml": defaults}, tmp_path)
    assert dict(found.diagram.blocks["G"].parameters) == {"Gain": "5"}


@pytest.mark.parametrize("chart", ['<P Name="SFBlockType">Chart</P>', '<P Name="MaskType">Stateflow</P>',
                                   '<P Name="ErrorFcn">Stateflow.Translate.translate</P>'])
def test_a_chart_is_a_block_without_a_system(chart: str, tmp_path: Path) -> None:
    inside = '<System><Block BlockType="S-Function" Name=" SFunction " SID="3::1"/></System>'
    block = f'<System><Block BlockType="SubSystem" Name="C" SID="3">{chart}{inside}</Block></System>'
    found = _package({"simulink/blockdiagram.xml": _HEAD + block + _TAIL}, tmp_path).diagram
    assert (found.blocks["C"].type, found.blocks["C"].system) == ("Chart", None)


@pytest.mark.parametrize(("text", "what"), [
    ("", "no model of Simulink"), ("$modelname x\n$body studio\n", "no model of Simulink"),
    ("IDST0\x00\x01", "neither a .slx package nor a text"), ('Model {\n  Name "a', "no closing quote"),
    ("Model {\n  System {\n", "ends within 'System'"), ("Model {\n}\n}\n", "closes nothing"),
    ('Model {\n  Name "a"\n}\n', "has no system"),
    ('Model {\n System {\n Block {\n BlockType Gain\n }\n }\n}\n', "has no name")])
def test_what_is_no_model_is_refused_with_its_place(text: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=what) as caught:
        _read(text, tmp_path)
    assert str(tmp_path / "file.mdl") in str(caught.value)
