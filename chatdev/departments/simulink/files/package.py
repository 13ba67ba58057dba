"""The packages that hold models: parts by their paths, as a ZIP archive (.slx) or as one text (.mdl of today).

Nothing is ever unpacked to the disk.
"""

from __future__ import annotations

import base64
import binascii
import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from xml.sax.saxutils import quoteattr

from chatdev.departments.simulink.files.sections import parse_xml
from chatdev.errors import ConfigError

_MOST_PARTS = 20_000
_LARGEST = 192 << 20  # bytes of all parts, unpacked
_GROWTH = 1000  # how much longer a part may be than what is packed; deflate reaches 1032 on what says nothing
_SUSPECT = 8 << 20  # bytes unpacked, below which growth does not matter
_TEXT_HEAD = b"# MathWorks OPC Text Package"
_BEGIN, _PART, _END = b"__MWOPC_PACKAGE_BEGIN__", b"__MWOPC_PART_BEGIN__", b"__MWOPC_PACKAGE_END__"
_MARK = re.compile(rb"^__MWOPC_(PART_BEGIN__ ([^\r\n]+)|PACKAGE_END__)[ \t]*\r?$\n?", re.MULTILINE)
_RELATIONSHIPS = "http://schemas.openxmlformats.org/package/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_BASE64_LINE = 76


@dataclass(frozen=True, slots=True)
class Package:
    """Parts by their paths, without the slash in front. `head` is what stands before the first part in a text."""

    parts: Mapping[str, bytes] = field(default_factory=dict)
    head: bytes = b""

    @classmethod
    def read(cls, data: bytes, place: str) -> Package:
        """The package in a file. Raises ConfigError, which begins with `place`."""
        return cls(*_read_text(data, place)) if is_text_package(data) else cls(_read_zip(data, place))

    def zip(self) -> bytes:
        """The package as an archive; the same parts give the same bytes."""
        target = io.BytesIO()
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in self.parts.items():
                archive.writestr(zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
        return target.getvalue()

    def text(self) -> bytes:
        """The package as a text."""
        chunks = [self.head or _head("")]
        for path, content in self.parts.items():
            as_text = _is_text(content)
            chunks.append(b"%s /%s%s\n" % (_PART, path.encode(), b"" if as_text else b" BASE64"))
            chunks.append(content if as_text else _encode(content))
            chunks.append(b"" if as_text and content.endswith(b"\n") else b"\n")
        return b"".join([*chunks, _END, b"\n"])

    def with_parts(self, parts: Mapping[str, bytes], head: bytes | None = None) -> Package:
        """The same package with these parts, too, or instead."""
        return Package({**self.parts, **parts}, self.head if head is None else head)

    def targets(self, path: str, place: str) -> dict[str, tuple[str, str]]:
        """Where the relationships of a part (or of the package, "") lead: by their name, the part and what it is."""
        folder, name = posixpath.split(path)
        found = self.parts.get(posixpath.join(folder, "_rels", f"{name}.rels"))
        if found is None:
            return {}
        return {one.get("Id", ""): (posixpath.normpath(posixpath.join("/", folder, one.get("Target", "")))[1:],
                                    one.get("Type", "").rpartition("/")[2])
                for one in parse_xml(found, f"{place}: relationships of {path or 'the package'}")}


def is_text_package(data: bytes) -> bool:
    """Whether a file is a package as one text."""
    return data.lstrip(b"\xef\xbb\xbf\r\n\t ").startswith(_TEXT_HEAD)


def is_archive(data: bytes) -> bool:
    """Whether a file is, or was once, a ZIP archive."""
    return data.startswith(b"PK")


def _read_zip(data: bytes, place: str) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            _refuse_hostile(entries, place)
            return {one.filename: _read_entry(archive, one, place) for one in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError,
            UnicodeError) as error:
        raise ConfigError(f"{place}: no whole .slx file ({error or type(error).__name__}); copy it anew, or save it "
                          "again in Simulink") from None


def _refuse_hostile(entries: list[zipfile.ZipInfo], place: str) -> None:
    names = [one.filename for one in entries]
    if len(names) > _MOST_PARTS or len({*names}) < len(names):
        raise ConfigError(f"{place}: {len(names)} parts, where each may be there once, and {_MOST_PARTS:,} at most")
    for one in entries:
        if one.filename.startswith("/") or "\\" in one.filename or ".." in one.filename.split("/"):
            raise ConfigError(f"{place}: the part {one.filename!r:.80} leads out of the package; no model is like that")
        if one.file_size > _SUSPECT and one.file_size > _GROWTH * max(one.compress_size, 1):
            raise ConfigError(f"{place}: the part {one.filename!r:.80} swells to {one.file_size >> 20} MiB")
    if (size := sum(one.file_size for one in entries)) > _LARGEST:
        raise ConfigError(f"{place}: {size >> 20} MiB unpacked, where {_LARGEST >> 20} are read; take data out of it")


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: str) -> bytes:
    with archive.open(entry) as file:
        content = file.read(entry.file_size + 1)
    if len(content) > entry.file_size:
        raise ConfigError(f"{place}: the part {entry.filename!r:.80} is longer than it says; save the model anew")
    return content


def _read_text(data: bytes, place: str) -> tuple[dict[str, bytes], bytes]:
    """The parts of a text, and what stands before them."""
    marks = list(_MARK.finditer(data))
    if not marks or marks[-1][1] != b"PACKAGE_END__":
        raise ConfigError(f"{place}: the package has no end; it is half a file, save the model anew")
    parts = dict[str, bytes]()
    for mark, following in pairwise(marks):
        words = (mark[2] or b"").split()
        if not words:
            break
        path = words[0].decode("utf-8", "replace").lstrip("/")
        content = data[mark.end():following.start()]
        if path in parts or ".." in path.split("/"):
            raise ConfigError(f"{place}: the part {path!r:.80} is there twice, or leads out of the package")
        parts[path] = _decode(content, f"{place}: {path}") if words[1:] == [b"BASE64"] else content
    return parts, data[:marks[0].start()]


def _decode(content: bytes, place: str) -> bytes:
    try:
        return base64.b64decode(content)
    except binascii.Error as error:
        raise ConfigError(f"{place}: no BASE64 ({error}); save the model anew") from None


def _encode(content: bytes) -> bytes:
    text = base64.b64encode(content)
    return b"\n".join(text[at:at + _BASE64_LINE] for at in range(0, len(text), _BASE64_LINE))


def _is_text(content: bytes) -> bool:
    """Whether a part can stand in the text as it is."""
    return content.lstrip().startswith(b"<?xml") and not _MARK.search(content) and b"\0" not in content


def _head(name: str) -> bytes:
    return b"%s\nModel {\n  Version  24.2\n  Description %s\n}\n%s R2024b\n" % (
        _TEXT_HEAD, f'"{name}"'.encode(), _BEGIN)


# What every package holds beside the model.

def relationships(rows: Mapping[str, tuple[str, str]]) -> bytes:
    """A part of relationships: by their name, where they lead and what that is."""
    lines = "".join(f"  <Relationship Id={quoteattr(name)} Target={quoteattr(target)} Type={quoteattr(kind)}/>\n"
                    for name, (target, kind) in rows.items())
    return _xml(f'<Relationships xmlns="{_RELATIONSHIPS}">\n{lines}</Relationships>')


def content_types(overrides: Mapping[str, str]) -> bytes:
    """The part that says of what type the others are."""
    rows = [f"  <Default ContentType={quoteattr(kind)} Extension={quoteattr(ending)}/>\n" for ending, kind in {
        "rels": "application/vnd.openxmlformats-package.relationships+xml",
        "xml": "application/vnd.mathworks.simulink.mdl+xml"}.items()]
    rows += [f"  <Override ContentType={quoteattr(kind)} PartName={quoteattr('/' + path)}/>\n"
             for path, kind in overrides.items()]
    return _xml(f'<Types xmlns="{_TYPES}">\n{"".join(rows)}</Types>')


def _xml(text: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{text}\n'.encode()
