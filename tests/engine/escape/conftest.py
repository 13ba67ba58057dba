"""The world of the escape suite."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine.escape.world import World
from tests.engine.studio import Studio


@pytest.fixture
def world(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> World:
    """A studio among decoys and traps, worked in from a folder that is watched like the rest."""
    here = studio.folder / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    return World(studio, Path(os.environ["HOME"]))
