"""A git history that somebody else has written: what leads elsewhere, has no end or unpacks to a giant is damage."""

from __future__ import annotations

import struct
import zlib
from hashlib import sha1
from pathlib import Path

import pytest
from dulwich.pack import write_pack_index_v2

from chatdev.errors import WorkspaceError
from chatdev.workspace.run_folder import RunFolder, SoftwareFolder
from tests.workspace.strange import GIANT, Put, link, pipe, run_folder, sparse

SIGNED = "author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run folder with a version in its history."""
    return run_folder(tmp_path)


def metadata(run: RunFolder) -> Path:
    return run.software / ".git"


@pytest.mark.parametrize("name", ["info", "refs", "objects", "HEAD", "config", "index.lock", "objects/info",
                                  "refs/heads", "refs/heads/main.lock", "objects/ab", "packed-refs"])
@pytest.mark.parametrize("put", [link, pipe])
def test_a_history_that_leads_elsewhere_is_refused(run: RunFolder, tmp_path: Path, name: str, put: Put) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = metadata(run) / name
    if path.exists():
        path.rename(tmp_path / "aside")
    put(path, elsewhere)
    with pytest.raises(WorkspaceError, match="move it away"):
        SoftwareFolder(run.software).start_history()
    assert list(elsewhere.iterdir()) == []


def test_the_whole_of_git_may_not_be_a_link(run: RunFolder, tmp_path: Path) -> None:
    metadata(run).rename(tmp_path / "aside")
    metadata(run).symlink_to(tmp_path / "aside")
    with pytest.raises(WorkspaceError, match="leads somewhere else"):
        SoftwareFolder(run.software).start_history()


def test_objects_of_other_repositories_are_not_read(run: RunFolder, tmp_path: Path) -> None:
    (metadata(run) / "objects").rename(tmp_path / "other")
    for name in ("info", "pack"):
        (metadata(run) / "objects" / name).mkdir(parents=True)
    (metadata(run) / "objects" / "info" / "alternates").write_text(f"{tmp_path / 'other'}\n")
    folder = SoftwareFolder(run.software)
    folder.start_history()
    with pytest.raises(WorkspaceError, match="is damaged"):
        folder.versions()


@pytest.mark.parametrize("head", [b"ref: hooks/post-commit\n", b"ref: info/attributes\n", b"ref: ../../x/y\n"])
def test_a_commit_is_written_to_refs_and_nowhere_else(run: RunFolder, head: bytes) -> None:
    (metadata(run) / "HEAD").write_bytes(head)
    folder = SoftwareFolder(run.software)
    folder.start_history()
    with pytest.raises(WorkspaceError, match="is damaged"):
        folder.commit("second", allow_empty=True)
    assert not (metadata(run) / "hooks").exists()


def plant(run: RunFolder, name: str, kind: bytes, content: bytes, packed: bytes | None = None) -> None:
    """An object by another name than its own."""
    path = metadata(run) / "objects" / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(packed or zlib.compress(b"%s %d\0%s" % (kind, len(content), content), 9))


def test_commits_without_an_end_are_damage(run: RunFolder) -> None:
    name = sha1(b"round and round").hexdigest()
    plant(run, name, b"commit", f"tree {name}\nparent {name}\n{SIGNED}".encode())
    (metadata(run) / "refs" / "heads" / "main").write_text(f"{name}\n")
    with pytest.raises(WorkspaceError, match="is damaged"):
        SoftwareFolder(run.software).versions()


def test_a_tree_that_holds_itself_is_damage(run: RunFolder) -> None:
    name = sha1(b"in itself").hexdigest()
    plant(run, name, b"tree", b"40000 a\0" + bytes.fromhex(name))
    commit = sha1(b"of it").hexdigest()
    plant(run, commit, b"commit", f"tree {name}\n{SIGNED}".encode())
    (metadata(run) / "refs" / "heads" / "main").write_text(f"{commit}\n")
    with pytest.raises(WorkspaceError, match="is damaged"):
        SoftwareFolder(run.software).uncommitted_paths()


def test_an_object_that_unpacks_to_a_giant_is_damage(run: RunFolder) -> None:
    size = 80 << 20
    packer = zlib.compressobj(9)
    packed = packer.compress(b"commit %d\0" % size)
    packed += b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()
    name = sha1(b"giant").hexdigest()
    plant(run, name, b"", b"", packed)
    (metadata(run) / "refs" / "heads" / "main").write_text(f"{name}\n")
    with pytest.raises(WorkspaceError, match="is damaged"):
        SoftwareFolder(run.software).versions()


def pack(run: RunFolder, *objects: bytes, skip: int = 0) -> None:
    """A pack of these objects (header and zlib stream), the first of which is the newest commit, with its index, which
    leaves out so many bytes of the first."""
    body, entries = b"PACK" + struct.pack(">LL", 2, len(objects)), []
    for number, one in enumerate(objects):
        entries.append((sha1(b"%d" % number).digest(), len(body) + skip, zlib.crc32(one)))
        body += one
    checksum = sha1(body).digest()
    stem = metadata(run) / "objects" / "pack" / f"pack-{checksum.hex()}"
    stem.with_suffix(".pack").write_bytes(body + checksum)
    with stem.with_suffix(".idx").open("wb") as file:
        write_pack_index_v2(file, sorted(entries), checksum)
    (metadata(run) / "refs" / "heads" / "main").write_text(f"{entries[0][0].hex()}\n")


def header(kind: int, size: int) -> bytes:
    parts, rest = [kind << 4 | size & 15], size >> 4
    while rest:
        parts[-1] |= 0x80
        parts.append(rest & 0x7f)
        rest >>= 7
    return bytes(parts)


def number(value: int) -> bytes:
    parts = []
    while value > 0x7f:
        parts.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes([*parts, value])


DELTA = zlib.compress(number(10) + number(GIANT) + b"\x91\x00\x0a" * 8)
SMALL = zlib.compress(number(10) + number(10) + b"\x91\x00\x0a")
PACKS = {
    "a giant": ([header(1, GIANT) + zlib.compress(b"x")], f"has {GIANT} bytes"),
    "a difference that makes a giant": ([header(1, 5) + zlib.compress(b"x"), header(6, 30) + b"\x0e" + DELTA],
                                        f"has {GIANT} bytes"),
    "what is made of itself": ([header(6, 30) + b"\x00" + DELTA], "not made of one before it"),
    "what is made of what comes later": ([header(6, 30) + b"\xff\x7f" + DELTA], "not made of one before it"),
    "what is made of a name": ([header(7, 30) + sha1(b"0").digest() + DELTA], "made of one that is named"),
    "a size without an end": ([b"\x9f" + b"\xff" * 80], "bytes"),
}


@pytest.mark.parametrize("name", PACKS)
def test_a_pack_that_no_git_has_packed_is_damage(run: RunFolder, name: str) -> None:
    objects, why = PACKS[name]
    pack(run, *objects)
    with pytest.raises(WorkspaceError, match=f"is damaged .*{why}"):
        SoftwareFolder(run.software).versions()


def test_what_no_index_names_is_looked_at_too(run: RunFolder) -> None:
    """An object may be made of one that only its distance leads to."""
    giant = header(1, GIANT) + zlib.compress(b"x")
    pack(run, giant + header(6, 12) + bytes([len(giant)]) + SMALL, skip=len(giant))
    with pytest.raises(WorkspaceError, match=f"has {GIANT} bytes"):
        SoftwareFolder(run.software).versions()


def test_a_giant_in_the_history_is_refused(run: RunFolder) -> None:
    sparse(metadata(run) / "packed-refs")
    with pytest.raises(WorkspaceError, match="larger than that of any run"):
        SoftwareFolder(run.software).start_history()
