"""The stage on which engine tests play."""

from __future__ import annotations

from pathlib import Path

import pytest

from chatdev.paths import settings_file
from tests.engine.studio import Studio
from tests.support.chat_server import ChatServer


@pytest.fixture
def studio(tmp_path: Path, chat_server: ChatServer) -> Studio:
    """A studio over a fresh server and warehouse."""
    return Studio(tmp_path, chat_server)


@pytest.fixture
def one_at_a_time() -> None:
    """A profile by which the model makes three drafts, one at a time."""
    settings_file().parent.mkdir(parents=True)
    settings_file().write_text("models: [{match: [scripted-model], drafts: 3, drafts_at_once: 1}]", encoding="utf-8")
