"""Reading what a child process writes, until it ends or has to be ended."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from typing import Literal

from chatdev.sandbox.base import Exceeded
from chatdev.sandbox.capture import Capture
from chatdev.sandbox.watch import Watch

_POLL = 0.05  # seconds between looks at a child that still holds its pipes
_NAP = 0.005  # seconds between looks at a child that closed them


class Streams:
    """Both output streams of a child, read as they come so that it never blocks on a full pipe."""

    def __init__(self, child: subprocess.Popen[bytes], limit: int) -> None:
        self.stdout, self.stderr = Capture(limit), Capture(limit)
        self._selector = selectors.DefaultSelector()
        for pipe, capture in ((child.stdout, self.stdout), (child.stderr, self.stderr)):
            if pipe:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, capture)

    def read(self, child: subprocess.Popen[bytes], deadline: float, watch: Watch) -> Exceeded | Literal["time"] | None:
        """Read until the child has ended: None. Otherwise why it must be ended: `deadline` (monotonic), or a limit."""
        while not _has_ended(child):
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            if exceeded := watch.exceeded(self.stdout.total + self.stderr.total):
                return exceeded
            if self._selector.get_map():
                self._read_once(min(_POLL, left))
            else:
                time.sleep(min(_NAP, left))
        return None

    def drain(self, seconds: float) -> None:
        """Take what the ended child left in the pipes; descendants that still hold them are waited for `seconds`."""
        deadline = time.monotonic() + seconds
        while self._selector.get_map() and (left := deadline - time.monotonic()) > 0:
            self._read_once(left)
        self._selector.close()

    def _read_once(self, timeout: float) -> None:
        for key, _ in self._selector.select(timeout):
            try:
                data = os.read(key.fd, 1 << 16)
            except BlockingIOError:
                continue
            if data:
                key.data.feed(data)
            else:
                self._selector.unregister(key.fileobj)


def _has_ended(child: subprocess.Popen[bytes]) -> bool:
    """Whether the child ended; it is not reaped yet."""
    return os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
