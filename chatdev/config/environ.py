"""Environment variables and a `.env` file, kept so that no secret shows in a message, a repr or a dump."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from chatdev.config.source import read_text, shown
from chatdev.errors import ConfigError
from chatdev.secrets import keep_variables

_SETTING = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")


class Environ(Mapping[str, str]):
    """Variables by name; its repr shows none, and the secrets among them are known as such from now on."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = dict(values)
        keep_variables(self._values)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Environ({len(self)} variables)"


def dotenv(folder: Path | None = None) -> Environ:
    """The variables of `.env` in `folder` (default: the working directory); none when there is no such file.

    Plain `NAME=value` lines, also `export NAME=value` and quoted values; `#` begins a comment line. Raises
    ConfigError, without the value, for a line that is something else.
    """
    path = (folder or Path.cwd()) / ".env"
    if not path.is_file():
        return Environ({})
    text = read_text(path)
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.strip().startswith("#") and not _SETTING.fullmatch(line.strip()):
            raise ConfigError(f"{shown(path)}:{number}: this line is not `NAME=value`; mend it or begin it with #")
    return Environ(_settings(text))


def keep_dotenvs(software: Mapping[str, bytes]) -> None:
    """Remember the secrets in the `.env` files of a software (also `.env.local` and the like), whatever else is in
    them."""
    for path, data in software.items():
        name = path.rpartition("/")[2]
        if name == ".env" or name.startswith(".env."):
            keep_variables(_settings(data.decode("utf-8", "replace")))


def _settings(text: str) -> dict[str, str]:
    matches = (_SETTING.fullmatch(line.strip()) for line in text.splitlines())
    return {match[1]: _unquoted(match[2]) for match in matches if match}


def environ(folder: Path | None = None) -> Environ:
    """The process's variables on top of those in `.env`; empty ones count as unset."""
    return Environ({**dotenv(folder), **process_environ()})


def process_environ() -> Environ:
    """The process's variables that are not empty."""
    return Environ({name: value for name, value in os.environ.items() if value})


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
