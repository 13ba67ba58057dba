"""What people who watch cost a run: the same dialogue with nobody looking, and with 20 live pages of `chatdev view`.

The run, the fake model (which takes 50 ms a reply) and the view are processes of their own on one machine; the 20 pages are
connections that read every event as browsers do. With and without take turns; the medians count. Written to
docs/benchmarks.md.

    python -m benchmarks.engine.viewers [--write] [--rounds N]
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

import yaml

from benchmarks.engine.overhead import COMPANY, DELAY, serve
from benchmarks.study import DOCS, RESULTS_FOLDER, KeptStudy, machine, markdown_table, marks
from chatdev import Company
from tests.support.viewer import Viewer, running_viewer

VIEWERS = 20
TURNS = 60  # rounds of the dialogue: two calls each


def child(url: str, folder: str) -> None:
    """One run in this fresh process; prints its seconds, of the wall and of the processor."""
    values = json.loads(json.dumps(COMPANY))
    values["phases"]["talk"]["rounds"] = TURNS
    file = Path(folder).with_suffix(".yaml")
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    company = Company.load(file)
    begun, cpu = time.perf_counter(), time.process_time()
    run = company.run("Talk.", model="m", base_url=url, sandbox="none", warehouse=folder, name="Watched")
    assert run.usage.calls == 2 * TURNS, run.reason
    print(json.dumps({"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}))


async def watch(viewer: Viewer, run: str) -> int:
    """One live page until the run is over; how many events it was told."""
    reader, writer = await asyncio.open_connection("127.0.0.1", viewer.port, limit=1 << 24)
    writer.write(f"GET /api/live?{urlencode({'run': run})} HTTP/1.1\r\nHost: 127.0.0.1:{viewer.port}\r\n"
                 f"Cookie: {viewer.cookie}\r\n\r\n".encode())
    events = 0
    while line := await reader.readline():
        if line.startswith(b"data: ["):
            batch = json.loads(line[6:])
            events += len(batch)
            if any(isinstance(event, dict) and event["kind"] == "RunFinished" for event in batch):
                break
    writer.close()
    return events


async def run_once(url: str, folder: Path, viewer: Viewer | None) -> dict[str, Any]:
    """A run, watched by everybody from its beginning where there is a viewer."""
    command = [sys.executable, "-m", "benchmarks.engine.viewers", "child", url, str(folder)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    told: list[int] = []
    if viewer:
        while not (found := list(folder.glob("*/run/journal.jsonl"))):
            await asyncio.sleep(0.02)
        told = await asyncio.gather(*(watch(viewer, found[0].parents[1].name) for _ in range(VIEWERS)))
    out, _ = await process.communicate()
    return {**json.loads(out), "viewers": len(told), "told": min(told, default=0)}


def measure(rounds: int) -> dict[str, Any]:
    """Both ways in turns."""
    rows = []
    here, there = multiprocessing.Pipe()
    model = multiprocessing.Process(target=serve, args=(there, DELAY), daemon=True)
    model.start()
    url = here.recv()
    with tempfile.TemporaryDirectory() as place:
        for number in range(rounds):
            for watched in (False, True):
                folder = Path(place, f"{number}-{watched}")
                folder.mkdir()
                if watched:
                    with running_viewer(folder, Path(place, "home")) as viewer:
                        row = asyncio.run(run_once(url, folder, viewer))
                        row["view_cpu"] = viewer.cpu_seconds()
                else:
                    row = asyncio.run(run_once(url, folder, None))
                rows.append({"round": number, **row})
                print(rows[-1], flush=True)
    here.send(None)
    model.join(5)
    return {"machine": machine(), "date": f"{datetime.now(UTC):%Y-%m-%d}", "rounds": rounds, "calls": 2 * TURNS,
            "rows": rows}


def table(study: Mapping[str, Any]) -> str:
    """The medians, and what the viewers add."""
    def of(viewers: int, field: str) -> float:
        return median(float(row[field]) for row in study["rows"] if row["viewers"] == viewers)

    rows = [(name, f"{of(0, field):.2f} s", f"{of(VIEWERS, field):.2f} s", f"{of(VIEWERS, field) / of(0, field) - 1:+.1%}")
            for name, field in ((f"a run of {study['calls']} calls", "seconds"), ("its processor time", "cpu"))]
    rows.append(("the view's processor time", "–", f"{of(VIEWERS, 'view_cpu'):.2f} s", "–"))
    return markdown_table(["figure", "nobody looks", f"{VIEWERS} live pages", "more"], rows)


STUDY = KeptStudy(table, RESULTS_FOLDER / "viewers.json", DOCS / "benchmarks.md", marks("viewers", "engine.viewers"),
                  measure, {"rounds": (5, "rounds of both ways")})

if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(*sys.argv[2:])
    else:
        STUDY.main(__doc__)
