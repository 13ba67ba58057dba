"""The stage on which engine tests play."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.studio import Studio
from tests.support.chat_server import ChatServer


@pytest.fixture
def studio(tmp_path: Path, chat_server: ChatServer) -> Studio:
    """A studio over a fresh server and warehouse."""
    return Studio(tmp_path, chat_server)
