"""A place where companies run in this process: a warehouse of its own, and nothing of the user's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from tests.support.chat_server import ChatServer, Route


@contextmanager
def room(route: Route, environment: Mapping[str, str]) -> Iterator[Path]:
    """An empty warehouse, a server that answers by `route`, and an environment in which it is the only model."""
    with TemporaryDirectory(prefix="chatdev-room-") as folder, ChatServer(remembers=False) as server:
        server.route(route)
        variables = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "key-of-the-studies", "HOME": folder,
                     "XDG_CONFIG_HOME": folder, **environment}
        with patch.dict(os.environ, variables):
            yield Path(folder, "warehouse")
