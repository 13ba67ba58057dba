"""What the engine costs beside the model: one dialogue of 10 rounds (20 calls) and 64 of them at once.

Compares our whole run (journal, events, git, folders) with the bare openai client sending the same requests, against a
fake server in a process of its own; prints CPU milliseconds per call, and seconds and peak memory for the 64.

    python -m benchmarks.engine.overhead
"""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import yaml

from chatdev import Company
from tests.support.chat_server import ChatServer, Scripted

ROUNDS = 10
CALLS = 2 * ROUNDS
REPLY = "This is what I think of it, in a few hundred characters, as a colleague would write. " * 4
COMPANY = {
    "company": "talk", "about": "Two who talk.", "inputs": {"task": {"required": True}},
    "roles": {"one": {"title": "One"}, "two": {"title": "Two"}},
    "phases": {"talk": {"about": "Talk.", "instructor": "one", "assistant": "two", "reads": ["task"],
                        "writes": "result", "opens": "instructor", "rounds": ROUNDS, "opening": "{{ task }}"}},
    "chain": [{"phase": "talk"}, {"tool": "software.complete", "writes": "test"}], "success": "test is defined",
}


def serve(connection: Connection, delay: float) -> None:
    """The fake model; every reply is numbered, so that none repeats."""
    numbers = itertools.count()
    with ChatServer() as server:
        server.route(lambda _: Scripted(f"{next(numbers)} {REPLY}", delay=delay, usage=(900, 80)))
        connection.send(server.url)
        connection.recv()


def ours(folder: Path, url: str) -> Callable[[int], Awaitable[Any]]:
    """One dialogue by a company."""
    path = folder / "company.yaml"
    path.write_text(yaml.safe_dump(COMPANY))
    company = Company.load(path)

    async def dialogue(number: int) -> None:
        run = await company.arun(f"Talk {number}.", model="m", base_url=url, sandbox="none", warehouse=folder / "w")
        assert run.usage.calls == CALLS, run.reason

    return dialogue


def bare(url: str) -> Callable[[int], Awaitable[Any]]:
    """The same growing dialogue with nothing but the openai client."""
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    async def dialogue(number: int) -> None:
        messages: list[Any] = [{"role": "system", "content": "You talk."},
                               {"role": "user", "content": f"Talk {number}."}]
        for n in range(CALLS):
            reply = await client.chat.completions.create(model="m", messages=messages)
            messages.append({"role": ("assistant", "user")[n % 2], "content": reply.choices[0].message.content})

    return dialogue


async def measure(dialogue: Callable[[int], Awaitable[Any]], count: int) -> tuple[float, float]:
    """CPU milliseconds per call and wall seconds of `count` dialogues at once."""
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(dialogue(n) for n in range(count)))
    return (time.process_time() - cpu) * 1000 / (count * CALLS), time.perf_counter() - wall


def child(which: str, url: str, slow: str) -> None:
    """Measure one way in a fresh process and print it as JSON."""
    async def run(folder: Path) -> dict[str, float]:
        ways = {"ours": lambda at: ours(folder, at), "bare": bare}
        one = ways[which](url)
        await measure(one, 1)  # imports and first connections
        serial = [(await measure(one, 1))[0] for _ in range(5)]
        many = await measure(ways[which](slow), 64)
        return {"cpu_ms_per_call": sorted(serial)[2], "cpu_ms_per_call_64": many[0], "seconds_64": many[1],
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(run(Path(folder)))))


def main() -> None:
    """Start both servers, measure both ways, print a table."""
    if len(sys.argv) > 1:
        child(*sys.argv[1:])
        return
    servers, urls = [], []
    for delay in (0.0, 0.05):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=serve, args=(there, delay), daemon=True)
        process.start()
        servers.append((process, here))
        urls.append(here.recv())
    print(f"{'way':6} {'CPU ms/call':>12} {'same, 64x':>10} {'64x wall s':>11} {'peak MB':>8}")
    for which in ("bare", "ours"):
        out = subprocess.run([sys.executable, "-m", "benchmarks.engine.overhead", which, *urls], check=True,
                             capture_output=True, text=True).stdout
        row = json.loads(out)
        print(f"{which:6} {row['cpu_ms_per_call']:12.2f} {row['cpu_ms_per_call_64']:10.2f} {row['seconds_64']:11.2f} "
              f"{row['peak_mb']:8.0f}")
    for process, here in servers:
        here.send(None)
        process.join(5)


if __name__ == "__main__":
    main()
