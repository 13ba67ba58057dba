"""What the folder of a finished run weighs: files, folders and bytes, by themselves and packed."""

from __future__ import annotations

import asyncio
import tarfile
import tempfile
from pathlib import Path

from benchmarks.fleet_load import COMPANY, model_server
from benchmarks.simulate_fleet import Load
from chatdev import Company


def weighed() -> dict[str, float]:
    """A run of `fleet.yaml`, weighed; sizes in KiB, `disk` with the rest of each last block."""
    load = Load(jobs=1, at_once=1, latency=0)
    with model_server(load) as url, tempfile.TemporaryDirectory(prefix="chatdev-") as folder:
        asyncio.run(Company.load(COMPANY).arun("Write a program.", model="m", base_url=url, sandbox="none",
                                               warehouse=Path(folder)))
        (run,) = Path(folder).iterdir()
        entries = [run, *run.rglob("*")]
        files = [path for path in entries if path.is_file()]
        return {"files": len(files), "folders": len(entries) - len(files),
                "kib": _kib(sum(path.stat().st_size for path in files)),
                "disk_kib": _kib(sum(path.stat().st_blocks * 512 for path in entries)),
                "journal_kib": _kib((run / "run" / "journal.jsonl").stat().st_size), "packed_kib": _packed(run)}


def _packed(run: Path) -> float:
    archive = run.with_suffix(".tar.gz")
    with tarfile.open(archive, "w:gz") as file:
        file.add(run, run.name)
    return _kib(archive.stat().st_size)


def _kib(size: int) -> float:
    return round(size / 1024, 1)
