"""What one model call costs beside the model: our client against the openai client it stands on.

20 calls one after another over one kept-alive connection to a fake server in a process of its own; prints the median
CPU milliseconds per call of seven such series.

    python -m benchmarks.engine.model_call
"""

from __future__ import annotations

import asyncio
import multiprocessing
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx2
import openai

from benchmarks.engine.overhead import serve
from chatdev.connection import Endpoint
from chatdev.llm.base import Message, Request, Sampling
from chatdev.llm.openai_model import OpenAIModel

CALLS, SERIES = 20, 7
TEXT = "A message of the length that agents write to each other in a phase of a company. " * 10
MESSAGES: list[Any] = [{"role": role, "content": TEXT} for role in ("system", "user", "assistant", "user")]
REQUEST = Request(tuple(Message(m["role"], m["content"]) for m in MESSAGES), Sampling("m", temperature=0.2),
                  headers={"X-ChatDev-Phase": "coding", "X-ChatDev-Activity": "coding#1/round-1/assistant"})


async def measure(call: Callable[[], Awaitable[Any]]) -> float:
    """Median CPU milliseconds per call."""
    await call()  # imports and connection
    series = []
    for _ in range(SERIES):
        started = time.process_time()
        for _ in range(CALLS):
            await call()
        series.append((time.process_time() - started) * 1000 / CALLS)
    return statistics.median(series)


async def compare(url: str) -> None:
    """Measure each way of calling and print it."""
    ours = OpenAIModel(Endpoint(url, "none"))
    streamed = replace(REQUEST, on_text=lambda _: None)
    bare = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    body = {"model": "m", "temperature": 0.2, "messages": MESSAGES}
    ways: dict[str, Callable[[], Awaitable[Any]]] = {
        "OpenAIModel.complete": lambda: ours.complete(REQUEST),
        "OpenAIModel.complete, streamed": lambda: ours.complete(streamed),
        "openai client.post": lambda: bare.post("/chat/completions", cast_to=httpx2.Response, body=body),
        "openai chat.completions.create": lambda: bare.chat.completions.create(
            model="m", temperature=0.2, messages=MESSAGES),
    }
    for name, call in ways.items():
        print(f"{name:32} {await measure(call):6.2f} ms CPU per call")
    await ours.close()
    await bare.close()


def main() -> None:
    """Start the server, compare, stop it."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=serve, args=(there, 0.0), daemon=True)
    process.start()
    asyncio.run(compare(here.recv()))
    here.send(None)
    process.join(5)


if __name__ == "__main__":
    main()
