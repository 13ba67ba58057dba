"""The files that the commands of `chatdev plc` read: one that cannot be read spoils no other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from chatdev.cli.shared_options import read_text_file
from chatdev.departments.plc.command_output import note_lines
from chatdev.errors import ConfigError
from chatdev.runner.report import sanitize

if TYPE_CHECKING:
    from chatdev.departments.plc.source_check import SourceCheck
    from chatdev.departments.plc.source_file import SourceText


def read_source(file: Path, what: str = "program") -> SourceText:
    """A file of the user, which need not be UTF-8. Raises ConfigError, which calls it `what`."""
    from chatdev.departments.plc.source_file import NoText, SourceText, decode_source

    try:
        return SourceText(read_text_file(file, what))
    except ConfigError as refused:
        try:
            data = file.read_bytes() if file.is_file() else None
        except OSError:
            data = None
        if data is None:
            raise
        try:
            return decode_source(data)
        except NoText as error:
            raise ConfigError(f"{what}: {file}: {error}") from refused


def read_noting(file: Path, what: str) -> str:
    """The text of a file; that it is not UTF-8 is said on standard error. Raises ConfigError."""
    found = read_source(file, what)
    for line in note_lines(file, found.notes):
        click.echo(sanitize(line), err=True)
    return found.text


def read_sources(files: Iterable[Path]) -> tuple[dict[Path, SourceText], dict[Path, SourceCheck]]:
    """The files that can be read, and what is to be said of the others."""
    from chatdev.departments.plc.source_check import SourceCheck
    from chatdev.departments.plc.source_file import tell_file

    found, unreadable = dict[Path, "SourceText"](), dict[Path, SourceCheck]()
    for file in files:
        try:
            found[file] = read_source(file)
        except ConfigError as error:
            why = str(error).removeprefix("program: ").removeprefix(f"{file}: ")
            unreadable[file] = SourceCheck("", (tell_file("unreadable-file", why=why),))
    return found, unreadable


def note_encoding(check: SourceCheck, source: SourceText) -> SourceCheck:
    """A check with what is to be said of the file's encoding."""
    return replace(check, diagnostics=source.notes + check.diagnostics)
