"""What the engine costs beside the model: a dialogue of 10 rounds (20 calls), 64 and 500 of them at once.

Compares our whole run (journal, events, git, folders) with the bare openai client and with a bare aiohttp loop that
send the same requests to a fake server in a process of its own. Each figure is of a fresh process; the ways take turns,
and the median of the rounds counts. Written to docs/benchmarks.md.

    python -m benchmarks.engine.overhead [--write] [--rounds N]
"""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import yaml

from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev import Company
from tests.support.chat_server import ChatServer, Scripted

ROUNDS = 10
SERIAL, MANY, MOST = 5, 64, 500
DELAY = 0.05  # seconds of the server before a reply, where many talk at once
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


@contextmanager
def servers() -> Iterator[list[str]]:
    """The addresses of a fake model that answers at once, and of one that takes its time, each in its process."""
    begun = []
    for delay in (0.0, DELAY):
        here, there = multiprocessing.Pipe()
        process = multiprocessing.Process(target=serve, args=(there, delay), daemon=True)
        process.start()
        begun.append((process, here, here.recv()))
    yield [url for _, _, url in begun]
    for process, here, _ in begun:
        here.send(None)
        process.join(5)


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

    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=600)

    async def dialogue(number: int) -> None:
        messages: list[Any] = [{"role": "system", "content": "You talk."},
                               {"role": "user", "content": f"Talk {number}."}]
        for n in range(CALLS):
            reply = await client.chat.completions.create(model="m", messages=messages)
            messages.append({"role": ("assistant", "user")[n % 2], "content": reply.choices[0].message.content})

    return dialogue


def floor(url: str) -> Callable[[int], Awaitable[Any]]:
    """The same with nothing but aiohttp and json."""
    import aiohttp

    sessions: list[aiohttp.ClientSession] = []

    async def dialogue(number: int) -> None:
        if not sessions:
            sessions.append(aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=MANY)))
        messages = [{"role": "system", "content": "You talk."}, {"role": "user", "content": f"Talk {number}."}]
        for n in range(CALLS):
            async with sessions[0].post(f"{url}/chat/completions", json={"model": "m", "messages": messages}) as answer:
                reply = json.loads(await answer.read())
            said = reply["choices"][0]["message"]["content"]
            messages.append({"role": ("assistant", "user")[n % 2], "content": said})

    return dialogue


WAYS: Mapping[str, Callable[[Path, str], Callable[[int], Awaitable[Any]]]] = {
    "ours": ours, "openai": lambda _, url: bare(url), "aiohttp": lambda _, url: floor(url)}


async def measure(dialogue: Callable[[int], Awaitable[Any]], count: int) -> tuple[float, float]:
    """CPU milliseconds per call and wall seconds of `count` dialogues at once."""
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(dialogue(n) for n in range(count)))
    return (time.process_time() - cpu) * 1000 / (count * CALLS), time.perf_counter() - wall


def child(way: str, quick: str, slow: str, count: str) -> None:
    """Measure one way in this fresh process, and print what came of it as JSON."""
    async def run(folder: Path) -> dict[str, float]:
        one = WAYS[way](folder, quick)
        await measure(one, 1)  # imports and first connections
        serial = [(await measure(one, 1))[0] for _ in range(SERIAL)]
        many = await measure(WAYS[way](folder, slow), int(count))
        return {"ms": median(serial), "ms_many": many[0], "seconds": many[1],
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}

    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(run(Path(folder)))))
        sys.stdout.flush()
        os._exit(0)  # the sessions of the bare loops are not closed


def measure_all(rounds: int) -> dict[str, Any]:
    """All ways in turns."""
    rows = []
    with servers() as urls:
        for count, number in itertools.product((MANY, MOST), range(rounds)):
            for way in WAYS:
                command = [sys.executable, "-m", "benchmarks.engine.overhead", "child", way, *urls, str(count)]
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                rows.append({"way": way, "count": count, "round": number, **json.loads(out)})
                print(rows[-1], flush=True)
    return {"machine": machine(), "date": f"{datetime.now(UTC):%Y-%m-%d}", "rounds": rounds, "rows": rows}


def table(study: Mapping[str, Any]) -> str:
    """The medians, and ours divided by the others'."""
    def of(way: str, field: str, count: int) -> float:
        return median(float(row[field]) for row in study["rows"] if (row["way"], row["count"]) == (way, count))

    figures = [("CPU of a call, one dialogue", "ms", MANY, "ms"),
               (f"CPU of a call, {MANY} at once", "ms_many", MANY, "ms"),
               (f"{MANY} dialogues at {1000 * DELAY:.0f} ms", "seconds", MANY, "s"),
               (f"{MOST} dialogues at {1000 * DELAY:.0f} ms", "seconds", MOST, "s"),
               (f"peak memory, {MANY} dialogues", "peak_mb", MANY, "MB")]
    rows = []
    for about, field, count, unit in figures:
        mine, client, least = (of(way, field, count) for way in ("ours", "openai", "aiohttp"))
        rows.append([about, *(f"{value:.3g} {unit}" for value in (mine, client, least)), f"{mine / client:.2f}",
                     f"{mine / least:.2f}"])
    return markdown_table(["figure", "`chatdev`", "`openai` loop", "`aiohttp` loop", "÷ `openai`", "÷ `aiohttp`"], rows)


STUDY = KeptStudy(table, RESULTS_FOLDER / "overhead.json", DOCS / "benchmarks.md", marks("overhead", "engine.overhead"),
                  measure_all, {"rounds": (5, "rounds of all ways")})

if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        STUDY.main(__doc__)
