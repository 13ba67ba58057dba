"""Counting tokens without a network, on any text, whatever becomes of the cache."""

import hashlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chatdev.llm import base as tokens
from chatdev.paths import cache_dir


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No vocabulary in memory, and no network to fetch one from."""
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("counting tokens must not open a connection")

    tiktoken_registry = __import__("tiktoken.registry", fromlist=["ENCODINGS"])
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(tiktoken_registry, "ENCODINGS", {})
    tokens._counter.cache_clear()
    yield
    tokens._counter.cache_clear()


def test_counts_are_those_of_tiktoken(fresh: None) -> None:
    assert tokens.count_tokens("") == 0
    assert tokens.count_tokens("hello world") == 2
    assert tokens.count_tokens("hello world", "gpt-4") == 2
    assert tokens.count_tokens("编码", "gpt-4o") < tokens.count_tokens("编码编码", "gpt-4")
    assert tokens.count_tokens("<|endoftext|>") > 1


def test_the_vocabulary_is_kept_and_the_environment_left_alone(fresh: None) -> None:
    tokens.count_tokens("x")
    (kept,) = (cache_dir() / "tiktoken").iterdir()
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == tokens._VOCABULARIES["o200k_base"][1]
    assert "TIKTOKEN_CACHE_DIR" not in os.environ


def test_a_folder_of_the_users_is_respected(fresh: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokens.count_tokens("hello world") == 2
    assert list(tmp_path.iterdir())
    assert os.environ["TIKTOKEN_CACHE_DIR"] == str(tmp_path)


def test_a_damaged_vocabulary_is_replaced(fresh: None) -> None:
    folder = cache_dir() / "tiktoken"
    folder.mkdir(parents=True)
    key, _ = tokens._VOCABULARIES["o200k_base"]
    (folder / key).write_text("half a fi")
    assert tokens.count_tokens("hello world") == 2
    assert (folder / key).stat().st_size > 1_000_000


def test_without_a_place_for_the_vocabulary_counts_are_the_same(fresh: None, tmp_path: Path,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHATDEV_CACHE", str(tmp_path / "file" / "cache"))
    assert tokens.count_tokens("hello world") == 2


def test_without_the_packages_bytes_are_counted() -> None:
    program = ("import sys\nsys.modules.update(tiktoken=None)\nfrom chatdev.llm.base import count_tokens\n"
               "print(count_tokens('hello world!'))")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3"


@pytest.mark.parametrize("text", ["a" + " " * 2_000_000 + "b", "x" * 1_000_000, "\n" * 1_000_000])
def test_long_runs_of_one_character_are_counted(text: str) -> None:
    assert 0 < tokens.count_tokens(text) < len(text)


@given(st.text(st.characters(codec=None)))
def test_any_text_is_counted(text: str) -> None:
    assert (tokens.count_tokens(text) > 0) == bool(text)
