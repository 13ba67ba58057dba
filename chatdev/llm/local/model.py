"""The local model behind the seam every model has."""

from __future__ import annotations

import asyncio
from pathlib import Path

from chatdev.errors import MissingModel
from chatdev.llm.base import Reply, Request
from chatdev.llm.local.server import LocalServer
from chatdev.llm.local.weights import adopt, installed
from chatdev.llm.openai_model import Endpoint, OpenAIModel

_READ_SECONDS = 1800.0  # two slow cores may think long about a long prompt


class LocalModel:
    """Starts its server with the first request; one request at a time."""

    def __init__(self, path: Path | None = None) -> None:
        found = adopt(path) if path else installed()
        if found is None:
            raise MissingModel("the local model is not here yet; fetch it with `chatdev model pull`")
        self._server = LocalServer(found)
        self._starting = asyncio.Lock()
        self._client: OpenAIModel | None = None

    async def complete(self, request: Request) -> Reply:
        """The reply to `request`. Raises what `OpenAIModel` raises, and MissingProgram."""
        async with self._starting:
            if self._client is None:
                await asyncio.to_thread(self._server.start)
                self._client = OpenAIModel(Endpoint(self._server.url, self._server.key, grammar=True, concurrency=1,
                                                    timeout=_READ_SECONDS))
        return await self._client.complete(request)

    async def close(self) -> None:
        """Stop the server; the next request starts it again."""
        client, self._client = self._client, None
        if client:
            await client.close()
        await asyncio.to_thread(self._server.stop)
