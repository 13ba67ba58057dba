"""The shop on which the command line is tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.chat_server import ChatServer
from tests.support.shop import Shop


@pytest.fixture
def shop(tmp_path: Path, chat_server: ChatServer) -> Shop:
    """A shop over a fresh server and warehouse."""
    return Shop(tmp_path, chat_server)
