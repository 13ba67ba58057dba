"""The throwaway copy that untrusted programs work on."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from chatdev.sandbox.folder import remove
from chatdev.workspace.problems import explained
from chatdev.workspace.tree import write_tree


@contextlib.contextmanager
def throwaway(scratch: Path, files: Mapping[str, bytes]) -> Iterator[Path]:
    """A new folder below `scratch` that holds `files`, and is gone afterwards whatever was done in it."""
    with explained("make a throwaway copy in", scratch):
        folder = Path(tempfile.mkdtemp(dir=scratch))
    try:
        write_tree(folder, files)
        yield folder
    finally:
        remove(folder)
