"""Files of a stranger's folder that are no files: nothing waits for ever, and nothing is read without end."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from chatdev.config.load import companies, load_company
from chatdev.config.settings import read_dotenv
from chatdev.config.yaml_nodes import read_text
from chatdev.errors import ConfigError
from tests.config.tiny import TINY

TRAPS: dict[str, Callable[[Path], None]] = {
    "fifo": os.mkfifo,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "nowhere": lambda path: path.symlink_to("nowhere"),
    "itself": lambda path: path.symlink_to(path),
    "huge": lambda path: _sparse(path, 8 << 30),
}


def _sparse(path: Path, size: int) -> None:
    with path.open("wb") as file:
        file.truncate(size)


@pytest.mark.parametrize("trap", TRAPS)
def test_a_company_that_is_no_file_is_refused(here: Path, trap: str) -> None:
    folder = here / "company_config" / "odd"
    folder.mkdir(parents=True)
    TRAPS[trap](folder / "company.yaml")
    for name in ("odd", folder, folder / "company.yaml"):
        with pytest.raises(ConfigError):
            load_company(name)
    assert "chatdev" in {summary.name for summary in companies() if not summary.problem}


@pytest.mark.parametrize("trap", TRAPS)
def test_neither_is_a_base_a_prompt_or_a_dotenv(here: Path, trap: str) -> None:
    (here / "base").mkdir()
    TRAPS[trap](here / "base" / "company.yaml")
    TRAPS[trap](here / "prompt.j2")
    TRAPS[trap](here / ".env")
    for changes in ("extends: base", "background: {file: prompt.j2}"):
        (here / "company.yaml").write_text(f"{TINY}\n{changes}\n".replace("background: A small company.\n", ""))
        with pytest.raises(ConfigError):
            load_company(here)
    if trap == "huge":
        with pytest.raises(ConfigError, match="longer than 4 MB"):
            read_dotenv()
    else:
        assert not read_dotenv()


@pytest.mark.parametrize("trap", TRAPS)
def test_whoever_changes_a_file_meanwhile_gains_nothing(here: Path, trap: str) -> None:
    TRAPS[trap](here / "file")
    with pytest.raises(ConfigError):
        read_text(here / "file")


def test_a_prompt_may_not_be_a_link_out_of_the_folder(here: Path) -> None:
    (here / "own").mkdir()
    (here / "secret").write_text("my key")
    (here / "own" / "prompt.j2").symlink_to(here / "secret")
    text = TINY.replace("background: A small company.", "background: {file: prompt.j2}")
    (here / "own" / "company.yaml").write_text(text)
    with pytest.raises(ConfigError, match="lies outside the company's folder"):
        load_company(here / "own")
