"""Environment variables and a `.env` file, kept so that no secret shows in a message, a repr or a dump."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from chatdev.config.yaml_nodes import display_path, read_text
from chatdev.errors import ConfigError
from chatdev.paths import working_folder
from chatdev.secrets import keep_variables

_MOST_BLANKS = 100
_BLANKS = re.compile(rf"[^\S\r\n]{{{_MOST_BLANKS},}}")


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


def read_dotenv(folder: Path | None = None) -> Environ:
    """The variables of `.env` in `folder` (default: the working directory); none when there is no such file.

    Lines `NAME=value` as python-dotenv reads them: also `export NAME=value`, quoted values (in double quotes with
    escapes and several lines) and comments; nothing is put in the place of `${NAME}`. Raises ConfigError, without the
    value, for a line that is something else.
    """
    path = (folder or working_folder()) / ".env"
    if not path.is_file():
        return Environ({})
    values: dict[str, str] = {}
    for binding in _bindings(read_text(path)):
        if _is_setting(binding):
            values[binding.key or ""] = binding.value or ""
        elif binding.key or binding.error:
            raise ConfigError(f"{display_path(path)}:{_line(binding)}: this line is not `NAME=value`; fix it or begin "
                              "it with #")
    return Environ(values)


def keep_dotenvs(software: Mapping[str, bytes]) -> None:
    """Remember the secrets in the `.env` files of a software (also `.env.local` and the like), whatever else is in
    them: of a line that python-dotenv cannot read, what stands behind the `=` and each word of it."""
    for path, data in software.items():
        name = path.rpartition("/")[2]
        if name == ".env" or name.startswith(".env."):
            for binding in _bindings(data.decode("utf-8", "replace")):
                for variable, value in _readings(binding):
                    keep_variables({variable: value})


def _bindings(text: str) -> Iterator[Binding]:
    """What python-dotenv reads. Long runs of blanks are cut short: its time grows with their square."""
    return parse_stream(StringIO(_BLANKS.sub(" " * _MOST_BLANKS, text)))


def _readings(binding: Binding) -> Iterator[tuple[str, str]]:
    """What a line may say: name and value, several of them where it is broken."""
    if not binding.error:
        yield binding.key or "", binding.value or ""
        return
    name, _, value = binding.original.string.partition("=")
    for part in (value, *value.split()):
        yield name.strip(), part.strip().strip("\"'")


def _is_setting(binding: Binding) -> bool:
    """Whether it is a variable with a value; comments and broken lines are none."""
    name = binding.key or ""
    return binding.value is not None and name.isidentifier() and name.isascii()


def _line(binding: Binding) -> int:
    """The number of its line; empty lines before it belong to what python-dotenv calls its original."""
    text = binding.original.string
    return int(binding.original.line + len(text[:len(text) - len(text.lstrip())].splitlines()))


def environ(folder: Path | None = None) -> Environ:
    """The process's variables on top of those in `.env`; empty ones count as unset."""
    return Environ({**read_dotenv(folder), **process_environ()})


def process_environ() -> Environ:
    """The process's variables that are not empty."""
    return Environ({name: value for name, value in os.environ.items() if value})

