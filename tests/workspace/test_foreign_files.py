"""Run folders with links, pipes, devices and giants in them: nothing is followed, waited for or read into memory."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import zlib
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path

import pytest
from dulwich.pack import write_pack_index_v2

from chatdev.errors import ChatDevError, JournalError, UnsafePath, WorkspaceError
from chatdev.journal import Journal, read_journal
from chatdev.plain_file import open_plain, read_plain
from chatdev.sandbox.job_folder import remove_folder
from chatdev.workspace.file_tree import read_tree, write_file, write_tree
from chatdev.workspace.run_folder import RunFolder, SoftwareFolder

GIANT = 2 << 30
SIGNED = "author a <a> 1 +0000\ncommitter a <a> 1 +0000\n\nx\n"
PRECIOUS = b"precious\n"


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's, elsewhere."""
    path = tmp_path / "victim"
    path.write_bytes(PRECIOUS)
    return path


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    """A run folder with a journal, and a version in its history."""
    folder = RunFolder(tmp_path / "Run-20260101000000")
    folder.software.mkdir(parents=True)
    folder.run.mkdir()
    (folder.run / "journal.jsonl").write_text('{"v": 1, "kind": "x", "place": ""}\n')
    history = SoftwareFolder(folder.software)
    history.start_history()
    history.write({}, {"main.py": b"1"})
    history.commit("first")
    return folder


def link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def hard_link(path: Path, victim: Path) -> None:
    os.link(victim, path)


def pipe(path: Path, _victim: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path, _victim: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def folder(path: Path, _victim: Path) -> None:
    path.mkdir()


KINDS = [link, hard_link, pipe, unix_socket, folder]
Put = Callable[[Path, Path], None]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("put", KINDS)
def test_a_journal_that_is_no_plain_file_is_not_written(run: RunFolder, victim: Path, put: Put) -> None:
    journal = run.run / "journal.jsonl"
    journal.unlink()
    put(journal, victim)
    with pytest.raises(WorkspaceError, match="plain file may be; move it away"):
        Journal(journal)
    assert victim.read_bytes() == PRECIOUS


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("put", [link, pipe, unix_socket, folder])
def test_nor_is_it_read(run: RunFolder, victim: Path, put: Put) -> None:
    journal = run.run / "journal.jsonl"
    journal.unlink()
    put(journal, victim)
    with pytest.raises(JournalError, match="plain file may be; move it away"):
        list(read_journal(journal))


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty"])
def test_a_device_is_not_opened(device: str) -> None:
    with pytest.raises(OSError, match="a device"):
        read_plain(Path(device), 10)


def test_what_becomes_a_link_just_now_is_not_followed(tmp_path: Path, victim: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "name").symlink_to(victim)
    monkeypatch.setattr("chatdev.plain_file.refuse_other_kinds", lambda path: None)
    with pytest.raises(OSError, match="a link or a pipe"):
        open_plain(tmp_path / "name")


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


@pytest.mark.parametrize("part", ["software", "run"])
def test_a_run_folder_whose_parts_are_links_is_refused(run: RunFolder, tmp_path: Path, part: str) -> None:
    (run.path / part).rename(tmp_path / "aside")
    (run.path / part).symlink_to(tmp_path / "aside")
    with pytest.raises(WorkspaceError, match="is a link; nothing in a run folder is followed"):
        RunFolder.open(run.path)


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


def sparse(path: Path, size: int = GIANT) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def of_memory(work: Callable[[], object]) -> int:
    """The most that Python had at once while it worked, in bytes."""
    import tracemalloc

    tracemalloc.start()
    try:
        with pytest.raises(ChatDevError):
            work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("work", [
    lambda run: SoftwareFolder(run.software).read(),
    lambda run: SoftwareFolder(run.software).uncommitted_paths(),
    lambda run: SoftwareFolder(run.software).is_half_written({"data.bin": b"x"}),
    lambda run: SoftwareFolder(run.software).commit("found"),
], ids=["read", "look", "half-written", "commit"])
def test_a_giant_in_the_software_is_not_read_into_memory(run: RunFolder, work: Callable[[RunFolder], object]) -> None:
    sparse(run.software / "data.bin")
    assert of_memory(lambda: work(run)) < 1 << 20


@pytest.mark.parametrize("size", [GIANT, 300 << 20])
def test_a_giant_journal_is_not_read_into_memory(run: RunFolder, size: int) -> None:
    sparse(run.run / "journal.jsonl", size)
    assert of_memory(lambda: list(read_journal(run.run / "journal.jsonl"))) < 500 << 20


def test_a_giant_in_the_history_is_refused(run: RunFolder) -> None:
    sparse(metadata(run) / "packed-refs")
    with pytest.raises(WorkspaceError, match="larger than that of any run"):
        SoftwareFolder(run.software).start_history()


def test_a_journal_of_many_small_values_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    line = b'{"v": 1, "kind": "x", "place": "", "text": "%s"%s}\n'
    path.write_bytes(line % (b"text, [] {}" * (4 << 20), b""))
    assert len(list(read_journal(path))) == 1
    path.write_bytes(line % (b"", b', "a": [' + b"[]," * (12 << 20) + b"0]"))
    with pytest.raises(JournalError, match="holds more values than any run has"):
        list(read_journal(path))


def test_a_folder_that_is_deeper_than_python_goes_is_read(tmp_path: Path) -> None:
    deep = tmp_path / "/".join("d" * 1100)
    subprocess.run(["mkdir", "-p", str(deep)], check=True)
    (deep / "x").write_bytes(b"x")
    assert list(read_tree(tmp_path).values()) == [b"x"]
    remove_folder(tmp_path / "d")


@pytest.mark.parametrize("path", ["../escaped.py", "a/../../escaped.py", "/tmp/chatdev-escaped.py", "a//b.py", "", "."])
def test_no_path_leads_out_of_a_folder_that_is_written(tmp_path: Path, path: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with pytest.raises(UnsafePath):
        write_file(inside, path, b"x")
    with pytest.raises(UnsafePath):
        write_tree(inside, {path: b"x"})
    assert not (tmp_path / "escaped.py").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to somebody else")
def test_a_folder_of_another_user_is_gone_on_with_and_told(run: RunFolder) -> None:
    assert RunFolder.open(run.path).note is None
    os.chown(run.path, 12345, 12345)
    assert "belongs to another user" in (RunFolder.open(run.path).note or "")
