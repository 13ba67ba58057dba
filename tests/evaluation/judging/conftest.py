"""The arena on which judges are tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.judging.arena import Arena
from tests.support.chat_server import ChatServer


@pytest.fixture
def arena(tmp_path: Path, chat_server: ChatServer) -> Arena:
    return Arena(tmp_path, chat_server)
