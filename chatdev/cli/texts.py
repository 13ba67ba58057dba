"""Texts on the command line, which may be read from files."""

from __future__ import annotations

from pathlib import Path

from chatdev.errors import ConfigError


def text_of(given: str, what: str) -> str:
    """`given`, or the content of FILE where it is `@FILE`. Raises ConfigError, which calls it `what`."""
    if not given.startswith("@"):
        return given
    name = given[1:]
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{what}: cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{what}: {name} is not UTF-8 text (its byte {error.start}); convert it to UTF-8") from None
