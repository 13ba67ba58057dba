"""The text of a source file, however engineering tools have written it: as UTF-8, UTF-16 with its mark, or in the code
page of Windows."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from chatdev.departments.plc.st.core import Span
from chatdev.departments.plc.st.diagnostics import Diagnostic, Findings

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_CODE_PAGE = "cp1252"
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_START = Span(1, 1, 1, 1)


class NoText(ValueError):
    """A file holds no text; `diagnostic` says so."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(f"{diagnostic.message} ({diagnostic.hint})")
        self.diagnostic = diagnostic


@dataclass(frozen=True, slots=True)
class SourceText:
    """What a file holds: its characters with line ends and mark as they are, how they are encoded, and a warning where
    that is not UTF-8."""

    written: str
    encoding: str = "utf-8"
    notes: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """Its lines, without the mark."""
        return self.written.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def decode_source(data: bytes) -> SourceText:
    """The text of a file's bytes. Raises NoText."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        at = error.start
    else:
        if "\0" in text:
            raise NoText(tell_file("no-text", _START))
        return SourceText(text)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _decode(data, encoding, "utf-16", _START)
    if b"\0" in data:
        raise NoText(tell_file("no-text", _START))
    before = data[:at].decode("utf-8").splitlines() if at else []
    lines = data[:at].count(b"\n")
    column = 1 + len(before[lines]) if lines < len(before) else 1
    return _decode(data, _CODE_PAGE, "code-page", Span(lines + 1, column, lines + 1, column))


def _decode(data: bytes, encoding: str, code: str, span: Span) -> SourceText:
    try:
        return SourceText(data.decode(encoding), encoding, (tell_file(code, span),))
    except UnicodeDecodeError:
        if encoding == _CODE_PAGE and not _CONTROLS.search(data):  # five bytes that its table leaves free
            return SourceText(data.decode("latin-1"), "latin-1", (tell_file(code, span),))
        raise NoText(tell_file("no-text", _START)) from None


def tell_file(code: str, span: Span = _START, **facts: object) -> Diagnostic:
    """What is to be said of a file as a whole."""
    findings = Findings()
    findings.report(code, span, None, **facts)
    return findings.in_order()[0]
