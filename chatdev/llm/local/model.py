"""The local model behind the seam every model has."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import replace
from pathlib import Path

from chatdev.errors import MissingModel, MissingProgram, ModelUnavailable
from chatdev.llm.base import Reply, Request
from chatdev.llm.endpoint import Endpoint
from chatdev.llm.local.server import LocalServer
from chatdev.llm.local.weights import adopt, installed
from chatdev.llm.openai_model import OpenAIModel

_READ_SECONDS = 1800.0  # two slow cores may think long about a long prompt


class LocalModel:
    """Starts its server with the first request, and again should it have died; one request at a time."""

    name = "local"

    def __init__(self, path: Path | None = None) -> None:
        """Raises MissingProgram or MissingModel when llama.cpp or the model file is not there."""
        found = adopt(path) if path else installed()
        if found is None:
            raise MissingModel("the local model is not here yet; fetch it with `chatdev model pull`")
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingProgram("the local model needs llama.cpp: pip install \"chatdev-chain[local]\"")
        self._file = found.name
        self._server = LocalServer(found)
        self._starting = asyncio.Lock()
        self._client: OpenAIModel | None = None

    async def complete(self, request: Request) -> Reply:
        """The reply to `request`, by the name of the model's file. Raises what `OpenAIModel` raises."""
        return replace(await self._complete(request), model=self._file)  # its server says where the file lies

    async def _complete(self, request: Request) -> Reply:
        client = await self._ready()
        try:
            return await client.complete(request)
        except ModelUnavailable:
            if client is self._client and self._server.running:
                raise
            return await (await self._ready()).complete(request)  # its server died on the way, of memory perhaps

    async def _ready(self) -> OpenAIModel:
        async with self._starting:
            if self._client is None or not self._server.running:
                await self.close()
                await asyncio.to_thread(self._server.start)
                endpoint = Endpoint(self._server.url, self._server.key, grammar=True, concurrency=1,
                                    timeout=_READ_SECONDS)
                self._client = OpenAIModel(endpoint, self._wait)
            return self._client

    async def _wait(self, seconds: float) -> None:
        """Wait before another attempt, unless nobody is left to answer it."""
        if not self._server.running:
            raise ModelUnavailable("the local model's server ended")
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Stop the server; the next request starts it again."""
        client, self._client = self._client, None
        if client:
            await client.close()
        await asyncio.to_thread(self._server.stop)
