"""Programs that tests start and stop: they heed Ctrl-C however the tests were started, and outlive no test."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


@contextmanager
def default_ctrl_c() -> Iterator[None]:
    """Programs that are started here heed SIGINT, even where the tests themselves were started to ignore it
    (`nohup make test &`): a program inherits that a signal is ignored, but not that it is handled."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start_program(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a program that heeds Ctrl-C; `options` of `subprocess.Popen`."""
    with default_ctrl_c():
        return subprocess.Popen(command, **options)


@contextmanager
def running_program(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """The same for the time of a block; it is waited for if all went well, and killed if not."""
    with start_program(command, **options) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise
