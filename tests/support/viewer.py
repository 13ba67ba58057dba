"""`chatdev view` as a program of its own, and journals for it to show."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from chatdev.events import (
    DeliveryApplied,
    Event,
    ModelCalled,
    PhaseFinished,
    PhaseStarted,
    RunFinished,
    RunStarted,
    Uttered,
)
from chatdev.journal import Journal
from tests.support.copies import start_module

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class Answered(NamedTuple):
    """An answer of the server."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        """The JSON value."""
        return json.loads(self.body)


class Viewer:
    """A server over `root`; `start` may be called again after `stop` or `kill`, with the same port and home."""

    def __init__(self, root: Path, home: Path, port: int = 0, environment: Mapping[str, str] | None = None,
                 options: Sequence[str] = ()) -> None:
        self._root, self._home, self.port = root, home, port
        self._environment = environment or {}
        self._options = options
        self.address = self.cookie = ""

    def start(self) -> None:
        """Start it, and exchange the token of its address for the cookie."""
        environment = {**os.environ, "XDG_DATA_HOME": str(self._home), "PYTHONUNBUFFERED": "1", **self._environment}
        self._process = start_module("chatdev", "view", str(self._root), "--port", str(self.port), *self._options,
                                     stdout=-1, stderr=-2, env=environment, text=True)
        assert self._process.stdout is not None
        said = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)/\S*", said)):
            line = self._process.stdout.readline()
            assert line, f"chatdev view has ended: {said}"
            said += line
        self.address, self.port = found[0], int(found[1])
        answer = self.get(self.address.partition(f":{self.port}")[2], cookie="")
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def cpu_seconds(self) -> float:
        """What it took of the processor until now."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, number: int = signal.SIGINT) -> int:
        """End it by a signal; its exit status."""
        self._process.send_signal(number)
        status = int(self._process.wait(20))
        if self._process.stdout:
            self._process.stdout.close()
        return status

    def get(self, path: str, query: Mapping[str, Any] | None = None, *, cookie: str | None = None, method: str = "GET",
            headers: Mapping[str, str] | None = None, body: bytes | None = None) -> Answered:
        """Ask for something, as the browser that has the cookie."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        sent = {"Cookie": self.cookie if cookie is None else cookie, **(headers or {})}
        connection.request(method, path + (f"?{urlencode(query)}" if query else ""), body, sent)
        answer = connection.getresponse()
        found = Answered(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return found


@contextmanager
def running_viewer(root: Path, home: Path, **options: Any) -> Iterator[Viewer]:
    """A server for the time of a block."""
    viewer = Viewer(root, home, **options)
    viewer.start()
    try:
        yield viewer
    finally:
        viewer.stop(signal.SIGKILL)


def write_journal(folder: Path, events: Iterable[Event], seconds: float = 1.0) -> Path:
    """A run folder with a journal of these events, one every so many seconds."""
    (folder / "run").mkdir(parents=True, exist_ok=True)
    (folder / "software").mkdir(exist_ok=True)
    times = iter(lambda: None, 1)
    now = [BEGIN]

    def clock() -> datetime:
        next(times)
        now[0] += timedelta(seconds=seconds)
        return now[0]

    journal = Journal(folder / "run" / "journal.jsonl", clock=clock)
    for event in events:
        journal.append(event.kind, event.place, {name: value for name, value in event.to_dict().items()
                                                 if name != "place"})
    journal.close()
    return folder


def long_run(events: int, task: str = "A long run") -> Iterator[Event]:
    """About so many events of a run of many phases."""
    yield RunStarted("", "long", "Long-Run", "warehouse/Long-Run", {"task": task})
    for phase in range(max(1, events // 50)):
        place = f"phase_{phase}#1"
        yield PhaseStarted(place, f"phase_{phase}", "Some work.", "Reviewer", "Programmer", 12)
        for number in range(1, 13):
            at = f"{place}/round-{number}"
            yield ModelCalled(f"{at}/instructor", "reviewer", "a-model", 900, 40, 1.5, cost=0.001)
            yield Uttered(f"{at}/instructor", "instruction", "instructor", "Reviewer",
                          f"Round {number}: look at `total` in main.py.", number)
            code = "\n".join(f"def part_{n}(value: int) -> int:\n    return value * {n}  # {phase}" for n in range(6))
            yield Uttered(f"{at}/assistant", "response", "assistant", "Programmer", f"main.py\n```python\n{code}\n```",
                          number)
            yield DeliveryApplied(f"{at}/assistant", ("main.py",))
        yield PhaseFinished(place, f"phase_{phase}", "rounds", 12, 24)
    yield RunFinished("", "success", "the final test passed", 1000.0)
