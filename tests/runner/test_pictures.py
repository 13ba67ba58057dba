"""Pictures as input: what is no picture, or no whole one, is refused before a model is paid to look at it."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import pytest

from chatdev import Company, Run, ScriptedModel
from chatdev.errors import ConfigError
from chatdev.runner.raster import LARGEST_FILE, read_picture
from tests.engine.studio import Studio, talk
from tests.support.chat_server import ChatServer

RED = '<rect width="16" height="16" fill="red"/>'
SECRET = '<image href="/home/me/private.png" width="9" height="9"/>'


def svg(body: str = RED, head: str = "") -> bytes:
    return f'{head}<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16">{body}</svg>'.encode()


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int = 1, height: int = 1) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0"))
            + chunk(b"IEND", b""))


def saved(kind: str) -> bytes:
    """A picture as Pillow saves it."""
    images = pytest.importorskip("PIL.Image")
    memory = io.BytesIO()
    images.new("RGB", (40, 30), "white").save(memory, kind)
    return memory.getvalue()


def said(folder: Path, name: str, content: bytes) -> str:
    """What is said of a file that no model is to see."""
    (folder / name).write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        read_picture("picture", folder / name)
    text = str(refused.value)
    assert text.startswith("input 'picture': ")
    assert name in text
    return text


@pytest.mark.parametrize(("ending", "media_type"), [("png", "image/png"), ("jpg", "image/jpeg"), ("jpeg", "image/jpeg"),
                                                    ("gif", "image/gif"), ("webp", "image/webp")])
def test_a_whole_picture_goes_to_the_model_as_it_is(tmp_path: Path, ending: str, media_type: str) -> None:
    content = saved({"jpg": "jpeg"}.get(ending, ending))
    (tmp_path / f"a.{ending}").write_bytes(content)
    for given in (tmp_path / f"a.{ending}", content):
        image = read_picture("picture", given)
        assert (image.data, image.media_type) == (content, media_type)


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_a_picture_whose_end_is_missing_is_damaged(tmp_path: Path, kind: str) -> None:
    content = saved(kind)
    for length in (len(content) - 2, len(content) * 2 // 3, 14):
        assert "damaged" in said(tmp_path, f"a.{kind}", content[:length])


def test_a_picture_with_changed_bytes_is_damaged(tmp_path: Path) -> None:
    assert "a check sum of it is wrong" in said(tmp_path, "a.png", png()[:20] + b"!" + png()[21:])


@pytest.mark.parametrize(("name", "content", "words"), [
    ("a.png", b"", "it is empty"),
    ("a.jpg", b"<html>not found</html>", "it is not a picture"),
    ("a.jpg", png(), "is no JPEG, but a PNG by its content"),
    ("a.png", png(0), "no pixels"),
    ("a.bmp", b"BM", "give one of: .png, .jpg, .jpeg, .gif, .webp, .svg"),
    ("a.svg", png(), "not in UTF-8"),
    ("a.svg", b"hello", "this is no SVG"),
    ("a.svg", svg(SECRET), "names another file"),
    ("a.svg", svg('<image href="&#47;home/me.png"/>'), "names another file"),
    ("a.svg", svg("", '<!DOCTYPE svg [<!ENTITY a "b">]>'), "declares entities"),
], ids=["empty", "page", "ending", "pixels", "kind", "binary", "words", "file", "escaped", "entity"])
def test_what_no_model_can_look_at_is_refused(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    assert words in said(tmp_path, name, content)


def test_a_picture_of_fifty_megabytes_is_not_even_read(tmp_path: Path) -> None:
    large = tmp_path / "a.png"
    with large.open("wb") as file:
        file.write(png())
        file.truncate(50 << 20)
    with pytest.raises(ConfigError, match="it is larger than 20 MiB"):
        read_picture("picture", large)
    with pytest.raises(ConfigError, match="larger than 20 MiB, which no model takes"):
        read_picture("picture", bytes(LARGEST_FILE + 1))


@pytest.mark.parametrize("given", ["file", "bytes"])
def test_a_drawing_becomes_a_picture(tmp_path: Path, given: str) -> None:
    pytest.importorskip("resvg_py")
    (tmp_path / "a.svg").write_bytes(svg())
    image = read_picture("picture", tmp_path / "a.svg" if given == "file" else svg(head='<?xml version="1.0"?>\n'))
    assert image.media_type == "image/png"
    assert read_picture("picture", image.data) == image


@pytest.fixture
def watching(chat_server: ChatServer, tmp_path: Path) -> Company:
    """A company that looks at a picture, and one that may be left out."""
    path = Studio(tmp_path, chat_server).company(
        {"see": talk("seen", ["task", "picture?"])},
        inputs={"task": {"required": True}, "picture": {"kind": "image"}})
    return Company.load(path)


def test_the_company_of_a_bad_picture_makes_no_call(watching: Company, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it is not a picture"):
        watching.run("look", model=ScriptedModel({}), inputs={"picture": b"none"}, warehouse=tmp_path / "warehouse")
    assert not (tmp_path / "warehouse").exists()


def test_a_model_known_to_be_blind_is_not_asked(watching: Company, chat_server: ChatServer, tmp_path: Path) -> None:
    def run(**inputs: bytes) -> Run:
        return watching.run("look", model="qwen2.5-coder-1.5b", base_url=chat_server.url, inputs=inputs,
                            warehouse=tmp_path / "warehouse")

    with pytest.raises(ConfigError, match=r"--set roles.maker.model.name=MODEL; or leave 'picture' out") as refused:
        run(picture=png())
    assert "its model 'qwen2.5-coder-1.5b' takes no pictures" in str(refused.value)
    assert chat_server.requests == []
    chat_server.route(lambda request: "<SOLUTION> a clock")
    assert run().values["seen"] == "a clock"
