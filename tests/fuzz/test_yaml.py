"""Whatever is done to the text of a company, it loads or is refused (any bytes and values:
tests/config/test_fuzz.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chatdev.config.load import load_company
from chatdev.config.yaml_nodes import dump
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder
from tests.config.tiny import TINY, TOOLS
from tests.fuzz.properties import in_time

CHATDEV = bundled_folder("company_config") / "chatdev" / "company.yaml"
pieces = st.sampled_from([
    "\n", " ", "  ", "\t", ":", ": ", "- ", "{", "}", "[", "]", ",", "#", "&a ", "*a", "<<: *a\n", "!!python/object ",
    "!x ", "|\n", ">-\n", "'", '"', "%YAML 1.1\n", "---\n", "...\n", "? ", "\0", "\ud800", "\ufeff", "\x85", "\u2028",
    "é", "{{ ", " }}", "{% for x in task %}", "extends: tiny\n", "extends: ../../..\n", "phases:\n", "task", "null",
    "1e999", "0x1",
]) | st.text(max_size=4)
edits = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), pieces), min_size=1, max_size=6)


def edited(text: str, changes: list[tuple[float, int, str]]) -> str:
    """The text with pieces in the place of so many characters."""
    for where, length, piece in changes:
        place = round(where * len(text))
        text = text[:place] + piece + text[place + length:]
    return text


def load(folder: Path, text: str) -> None:
    """Load or be refused; what loads can be written and loaded again."""
    file = folder / "company.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        company = load_company(file, tools=TOOLS)
    except ConfigError:
        return
    file.write_text(dump(company), encoding="utf-8", newline="")
    assert load_company(file, tools=TOOLS) == company


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("company")


@settings(max_examples=200)
@given(edits)
def test_an_edited_company_loads_or_is_refused(folder: Path, changes: list[tuple[float, int, str]]) -> None:
    load(folder, edited(TINY, changes))


@settings(max_examples=15)
@given(edits)
def test_the_company_chatdev_edited_loads_or_is_refused(folder: Path, changes: list[tuple[float, int, str]]) -> None:
    load(folder, edited(CHATDEV.read_text(encoding="utf-8"), changes))


@pytest.mark.parametrize("text", [
    "a: " * 20_000, "[" * 100_000, "{a: " * 100_000, "- " * 50_000, "? " * 50_000, "a: &a [" * 20_000, "'" * 200_000,
    "&a " * 50_000, "a: |\n" + " x\n" * 50_000, "#" * 200_000, "!" * 100_000,
    "".join(f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 1}]\n" for n in range(40)),
], ids=lambda text: text[:12])
def test_a_long_company_takes_time_by_its_length(folder: Path, text: str) -> None:
    with in_time(text):
        load(folder, text)
