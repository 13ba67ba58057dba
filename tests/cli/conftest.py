"""The shop on which the command line is tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import durable
from tests.support.chat_server import ChatServer
from tests.support.shop import Shop


@pytest.fixture
def shop(tmp_path: Path, chat_server: ChatServer) -> Shop:
    """A shop over a fresh server and warehouse."""
    return Shop(tmp_path, chat_server)


@pytest.fixture
def workshop(shop: Shop) -> Shop:
    """The shop with the company of a loop and branches."""
    durable.workshop(shop.folder, shop.server)
    return shop
