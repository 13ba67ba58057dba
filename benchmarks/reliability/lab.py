"""Real `chatdev` processes with a scripted model, killed at a stated moment: what each of them asked the model for."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.reliability.left import JOURNAL
from benchmarks.reliability.workshop import COMPANY, TASK, answer
from benchmarks.study import ROOT
from tests.support.chat_server import ChatServer, Received, Scripted

LONGEST = 120.0
"""Seconds a session may take; more is a hang."""
_LOOK = 0.0003  # seconds between two looks at a journal
_ACTIVITY = b'"kind": "Activity"'


@dataclass(frozen=True, slots=True)
class Death:
    """When to kill -9 a session: the first of these that comes to pass."""

    request: str | int | None = None
    """The call at this place, or the session's call of this number, has reached the model."""
    after: float | None = None
    """... and so many seconds went by since the reply was sent; None: there is no reply."""
    activities: int | None = None
    """So many activities are in the journal."""
    instant: float | None = None
    """So many seconds since the journal is there."""

    def earlier(self) -> Death:
        """An instant a little earlier, for a run that was over too soon; other moments stay."""
        return self if self.instant is None else replace(self, instant=0.9 * self.instant)


@dataclass(slots=True)
class Session:
    """One process. `asked` are the places of the calls that reached the model: what is paid for."""

    death: Death
    asked: list[str] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None
    status: int = 0
    hung: bool = False
    err: str = ""
    seconds: float = 0.0
    """From the moment the journal was there, or its process was started if it was there before."""

    @property
    def killed(self) -> bool:
        """Whether it was killed, and not over before."""
        return self.status < 0 and not self.hung

    def kill(self) -> None:
        """The end, at once."""
        if self.process:
            self.process.kill()


class Lab:
    """Starts sessions; their calls are told apart by a key of their own."""

    def __init__(self, server: ChatServer, folder: Path) -> None:
        self._server = server
        self._sessions: dict[str, Session] = {}
        self._numbers = itertools.count(1)
        self._folder = folder
        self._environment = {**os.environ, "OPENAI_BASE_URL": server.url, "HOME": str(folder),
                             "XDG_CONFIG_HOME": str(folder), "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)}
        server.route(self._answer)

    @classmethod
    @contextmanager
    def opened(cls) -> Iterator[Lab]:
        """A lab with a server and a folder of its own."""
        with TemporaryDirectory(prefix="chatdev-lab-") as folder, ChatServer() as server:
            yield cls(server, Path(folder))

    def warehouse(self) -> Path:
        """A new, empty warehouse."""
        path = self._folder / f"warehouse-{next(self._numbers)}"
        path.mkdir()
        return path

    def run(self, warehouse: Path, death: Death = Death()) -> Session:
        """`chatdev run` into the warehouse."""
        return self._session(["run", TASK, "--company", str(COMPANY), "--warehouse", str(warehouse), "--name", "Work",
                              "--model", "scripted", "--sandbox", "none", "--quiet"],
                             lambda: next(warehouse.glob(f"*/{JOURNAL}"), None), death)

    def resume(self, folder: Path, death: Death = Death()) -> Session:
        """`chatdev resume` of the run in the folder."""
        return self._session(["resume", str(folder), "--sandbox", "none", "--quiet"], lambda: folder / JOURNAL, death)

    def _session(self, arguments: list[str], journal: Callable[[], Path | None], death: Death) -> Session:
        session = Session(death)
        key = f"key-of-session-{next(self._numbers)}"
        self._sessions[f"Bearer {key}"] = session
        session.process = subprocess.Popen(
            [sys.executable, "-m", "chatdev", *arguments], cwd=self._folder, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
            env={**self._environment, "OPENAI_API_KEY": key})
        since = _watched(session, session.process, journal)
        try:
            _, session.err = session.process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            session.process.kill()
            session.hung, session.err = True, f"it hung for {LONGEST:.0f} seconds"
        session.status, session.seconds = session.process.wait(), time.monotonic() - since
        return session

    def _answer(self, request: Received) -> Scripted:
        session, place = self._sessions[request.headers["Authorization"]], request.headers["X-ChatDev-Activity"]
        session.asked.append(place)
        if session.death.request in (place, len(session.asked)):
            if session.death.after is None:
                session.kill()
            else:
                asyncio.get_running_loop().call_later(session.death.after, session.kill)
        return answer(place)


def _watched(session: Session, process: subprocess.Popen[str], journal: Callable[[], Path | None]) -> float:
    """Watch the journal until its session must die, or need not be watched any more; when the watch began."""
    path = journal()
    while path is None and process.poll() is None:
        time.sleep(_LOOK)
        path = journal()
    since = time.monotonic()
    if path is not None and session.death.activities is not None:
        with path.open("rb") as file:
            seen = 0
            while (seen := seen + file.read().count(_ACTIVITY)) < session.death.activities and process.poll() is None:
                time.sleep(_LOOK)
        process.kill()
    elif session.death.instant is not None:
        time.sleep(session.death.instant)
        process.kill()
    return since
