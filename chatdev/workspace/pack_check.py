"""Looking over git's packs before anything is unpacked from them: how large objects say they are, and made of what.

A pack may be a stranger's, and a few bytes in it may unpack to more than any memory holds, or go round in a circle.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

from chatdev.plain_file import open_plain, read_plain

_BY_OFFSET, _BY_NAME = 6, 7
"""Objects that are made of another one: of one before it in the pack, or of any one by its name (which git writes into
packs for the network only, and which may go round)."""
_HEADER = 1024  # bytes in which the beginning of an object fits, with the tables that it is packed by
_NUMBERS = 32  # bytes in which two numbers fit
_LARGEST_INDEX = 64 << 20  # bytes
_INDEX = b"\xfftOc\0\0\0\2"
_FANOUT, _NAME, _CHECKSUM, _OFFSET = 256 * 4, 20, 4, 4  # bytes of the parts of an index
_FAR = 0x80000000
_SHARED_INDEX = "multi-pack-index"


def check_packs(folder: Path, largest: int) -> None:
    """Raise ValueError when an object in the packs in `folder` is larger than `largest`, or cannot be from `git gc`."""
    if os.path.lexists(folder / _SHARED_INDEX):
        raise ValueError(f"it has a {_SHARED_INDEX}, which chatdev does not read; remove {folder / _SHARED_INDEX}")
    for index in sorted(folder.glob("*.idx")):
        pack = index.with_suffix(".pack")
        if pack.exists() and pack.stat().st_size:
            with (os.fdopen(open_plain(pack), "rb") as file,
                  mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data):
                checked: set[int] = set()
                for offset in _offsets(read_plain(index, _LARGEST_INDEX)):
                    _check_object(data, offset, largest, checked)


def _offsets(index: bytes) -> Iterator[int]:
    """Where the objects of a pack begin. Raises ValueError for an index that is not of the present form."""
    if not index.startswith(_INDEX):
        raise ValueError("the index of a pack has another form than that of `git gc`")
    begin = len(_INDEX) + _FANOUT
    (count,) = struct.unpack_from(">L", index, begin - 4)
    begin += count * (_NAME + _CHECKSUM)
    for (offset,) in struct.iter_unpack(">L", index[begin:begin + count * _OFFSET]):
        if offset & _FAR:
            raise ValueError("a pack is larger than that of any run")
        yield offset


def _check_object(data: mmap.mmap, offset: int, largest: int, checked: set[int]) -> None:
    """Check the object that begins there and those that it is made of; each is looked at once."""
    while offset not in checked:
        checked.add(offset)
        header = data[offset:offset + _HEADER]
        kind, size, at = _read_header(header)
        if kind == _BY_NAME:
            raise ValueError("an object of a pack is made of one that is named")
        if kind == _BY_OFFSET:
            distance, at = _read_distance(header, at)
            if not 0 < distance < offset:
                raise ValueError("an object of a pack is not made of one before it")
            size = max(size, _size_of_result(header[at:]))
        if size > largest:
            raise ValueError(f"an object of a pack has {size} bytes")
        if kind != _BY_OFFSET:
            return
        offset -= distance


def _read_header(header: bytes) -> tuple[int, int, int]:
    """The kind of an object, its size, and where its data begin."""
    size, at = header[0] & 15, 1
    if header[0] & 0x80:
        rest, at = _read_number(header, at)
        size |= rest << 4
    return header[0] >> 4 & 7, size, at


def _read_distance(data: bytes, at: int) -> tuple[int, int]:
    """How far before an object that one begins which it is made of."""
    value = data[at] & 0x7f
    while data[at] & 0x80:
        at += 1
        value = (value + 1 << 7) + (data[at] & 0x7f)
    return value, at + 1


def _size_of_result(packed: bytes) -> int:
    """How large what a difference makes says it is: the second number in it."""
    start = zlib.decompressobj().decompress(packed, _NUMBERS)
    return _read_number(start, _read_number(start, 0)[1])[0]


def _read_number(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at `at`, seven bits a byte, the lowest first; and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at
