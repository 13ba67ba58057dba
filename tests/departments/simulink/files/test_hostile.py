"""Files that are damaged or made to do harm are refused with their place: no crash, no swelling, no hang."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

from benchmarks.simulink.files import random_model
from chatdev.departments.simulink.files import ModelFile, read_model, write_model
from chatdev.departments.simulink.files.package import Package
from chatdev.errors import ConfigError

_HEAD, _TAIL = '<ModelInformation Version="1.0"><Model>', "</Model></ModelInformation>"
_MAIN = "simulink/blockdiagram.xml"


def _refusal(data: bytes, folder: Path, name: str = "file.slx") -> str:
    (folder / name).write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        read_model(folder / name)
    assert str(folder / name) in str(caught.value)
    assert len(str(caught.value)) < 1000
    return str(caught.value)


def _slx(text: str | bytes, **others: bytes) -> bytes:
    return Package({_MAIN: text.encode() if isinstance(text, str) else text, **others}).zip()


def test_a_part_that_swells_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_MAIN, f"{_HEAD}{_TAIL}")
        with archive.open("simulink/bomb.xml", "w") as file:
            for _ in range(250):
                file.write(b" " * (1 << 20))
    assert "swells" in _refusal(target.getvalue(), tmp_path) or "unpacked" in _refusal(target.getvalue(), tmp_path)


@pytest.mark.parametrize("path", ["../outside.xml", "/etc/outside.xml", "simulink/../../x.xml", "a\\b.xml"])
def test_a_part_that_leads_out_of_the_package_is_refused(path: str, tmp_path: Path) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        entry = zipfile.ZipInfo("x")
        entry.filename = path
        archive.writestr(entry, b"")
    assert "leads out" in _refusal(target.getvalue(), tmp_path)


@pytest.mark.parametrize("declaration", [
    '<!DOCTYPE a [<!ENTITY b "c">]>', '<!DOCTYPE a SYSTEM "http://localhost/x.dtd">', "<!DOCTYPE ModelInformation>"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_declarations_of_entities_are_refused(declaration: str, encoding: str, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n{declaration}{_HEAD}{_TAIL}'
    assert "entities" in _refusal(_slx(text.encode(encoding)), tmp_path)


def test_what_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    deep = "<System><Block>" * 5000 + "</Block></System>" * 5000
    assert "nested more than" in _refusal(_slx(_HEAD + deep + _TAIL), tmp_path)
    assert "within one another" in _refusal(b"Model {\nSystem {\n" * 5000, tmp_path, "file.mdl")
    system = '<Block BlockType="SubSystem" Name="s" SID="1"><System>'
    levels = f"{system * 40}<Block BlockType='Gain' Name='g' SID='2'/>{'</System></Block>' * 40}"
    assert "levels deep" in _refusal(_slx(f"{_HEAD}<System>{levels}</System>{_TAIL}"), tmp_path)


@pytest.mark.parametrize("inner", ["system_root", "missing", "../../blockdiagram"])
def test_a_system_within_itself_or_nowhere_is_refused(inner: str, tmp_path: Path) -> None:
    root = f'<System><Block BlockType="SubSystem" Name="s" SID="1"><System Ref="{inner}"/></Block></System>'
    data = Package({_MAIN: f'{_HEAD}<System Ref="system_root"/>{_TAIL}'.encode(),
                    "simulink/systems/system_root.xml": root.encode()}).zip()
    assert "the system" in _refusal(data, tmp_path)


def test_numbers_beyond_all_bounds_are_no_numbers(tmp_path: Path) -> None:
    huge = "9" * 5000
    block = (f'<Block BlockType="Gain" Name="g" SID="{huge}"><P Name="Ports">[{huge}, {huge}]</P>'
             f'<PortCounts in="{huge}"/><P Name="Position">[1e999, -{huge}, nan, inf]</P>'
             f'<P Name="BlockRotation">{huge}</P></Block>')
    line = f'<Line><P Name="Src">{huge}#out:{huge}</P><P Name="Dst">{huge}#in:1</P></Line>'
    (tmp_path / "file.slx").write_bytes(_slx(f"{_HEAD}<System>{block}{line}</System>{_TAIL}"))
    found = read_model(tmp_path / "file.slx")
    assert found.diagram.blocks["g"].position is None
    assert write_model(found, tmp_path / "again.slx") == ()


def test_a_block_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    two = '<System><Block BlockType="Gain" Name="g" SID="1"/><Block BlockType="Gain" Name="g" SID="2"/></System>'
    assert "there twice" in _refusal(_slx(_HEAD + two + _TAIL), tmp_path)


def test_other_archives_and_missing_files_are_refused(tmp_path: Path) -> None:
    assert "is missing" in _refusal(Package({"word/document.xml": b"<a/>"}).zip(), tmp_path)
    assert "no whole .slx" in _refusal(b"PK\3\4" + b"x" * 99, tmp_path)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_model(tmp_path / "nowhere.slx")


@pytest.mark.parametrize("name", ["file.slx", "file.mdl", "text.mdl"])
def test_half_a_file_is_refused_or_read_wherever_it_is_cut(name: str, tmp_path: Path) -> None:
    chosen = random.Random(name)
    data = _written(tmp_path, name)
    for _ in range(25):
        _try(data[:chosen.randrange(len(data))], tmp_path / name)


@pytest.mark.parametrize("name", ["file.slx", "file.mdl", "text.mdl"])
def test_a_damaged_file_is_refused_or_read(name: str, tmp_path: Path) -> None:
    chosen = random.Random(name)
    data = _written(tmp_path, name)
    for _ in range(25):
        spoilt = bytearray(data)
        for _ in range(chosen.randint(1, 8)):
            at = chosen.randrange(len(spoilt))
            spoilt[at:at + chosen.randint(0, 3)] = chosen.randbytes(chosen.randint(0, 3))
        _try(bytes(spoilt), tmp_path / name)


def _written(folder: Path, name: str) -> bytes:
    """A random model as a file."""
    write_model(ModelFile(random_model(5)), folder / "file.slx")
    model = ModelFile(random_model(5)) if name == "file.mdl" else read_model(folder / "file.slx")
    write_model(model, folder / name)
    return (folder / name).read_bytes()


def _try(data: bytes, path: Path) -> None:
    """What is read can be written."""
    path.write_bytes(data)
    try:
        found = read_model(path)
    except ConfigError:
        return
    write_model(found, path)


def test_a_long_file_is_read_in_time(tmp_path: Path) -> None:
    block = 'Block {{\nBlockType Gain\nName "g{0}"\nPosition [1, 2, 3, 4]\nUserData "{1}"\n}}\n'
    blocks = "".join(block.format(number, "x" * 900) for number in range(12_000))
    (tmp_path / "long.mdl").write_text(f'Model {{\nName "long"\nSystem {{\n{blocks}}}\n}}\n', encoding="ascii")
    assert len(read_model(tmp_path / "long.mdl").diagram.blocks) == 12_000
