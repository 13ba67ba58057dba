"""The progress bar of a study, on a real terminal."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
import sys
import termios

from chatdev.batch.attempt import Expense
from chatdev.batch.local import BatchProgress
from chatdev.cli.study_run import summary

HALFWAY = BatchProgress({"open": 3, "running": 2, "done": 4, "failed": 1}, {"quality": 0.41, "acceptance": 0.2,
                         "files": 2}, Expense(0.0123, 1200), 3725.0)
SCENE = f"""
from dataclasses import replace
from chatdev.batch.attempt import Expense, Failure
from chatdev.batch.local import BatchProgress, EndedJob
from chatdev.cli.study_run import StudyProgress
with StudyProgress() as show:
    show({HALFWAY!r})
    show(replace({HALFWAY!r}, trouble="the database is away"))
    show(replace({HALFWAY!r}, ended=EndedJob("plain/srdd/Todo", 12.3, {{"quality": 0.41, "cost": 0.0021}})))
    show(replace({HALFWAY!r}, ended=EndedJob("plain/srdd/Snake", 125.0, Failure("ModelUnavailable: no\\nanswer"))))
"""
LINES = ["trouble: the database is away", "5/10  plain/srdd/Todo  done in 12 s  quality 0.410  $0.0021",
         "5/10  plain/srdd/Snake  failed after 2 min 5 s: ModelUnavailable: no answer"]


def test_what_stands_behind_the_bar() -> None:
    assert summary(HALFWAY) == ("2 running · 1 failed · quality 0.410 · accepted 0.200 · 1200 tokens, $0.0123 · "
                                "1:02:05 left")
    unknown = BatchProgress({"open": 3, "running": 0, "done": 0, "failed": 0}, spent=Expense(None, 0))
    assert summary(unknown) == "0 running · 0 tokens, cost unknown"


def test_a_terminal_sees_a_bar_and_what_is_waited_for() -> None:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 150, 0, 0))
    subprocess.run([sys.executable, "-c", SCENE], stderr=theirs, stdout=subprocess.DEVNULL, check=True)
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert "study  50%|" in shown
    assert "5/10, 2 running · 1 failed" in shown
    assert [line for line in LINES if line not in shown] == []


def test_a_log_sees_a_line_for_each_job_and_what_is_waited_for() -> None:
    done = subprocess.run([sys.executable, "-c", SCENE], capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert done.stderr.splitlines() == LINES


def test_a_quiet_study_sees_no_jobs() -> None:
    quiet = SCENE.replace("StudyProgress()", "StudyProgress(quiet=True)")
    done = subprocess.run([sys.executable, "-c", quiet], capture_output=True, text=True, check=True)
    assert done.stderr == "trouble: the database is away\n"
