"""What an untrusted program finds in its environment: next to nothing, and none of ours."""

from __future__ import annotations

import os
import shutil

from chatdev.sandbox.base import Job, Limits


def environment(job: Job, home: str) -> dict[str, str]:
    """The variables of a job: a fixed minimum, the terminal's kind for interactive jobs, and `job.env`."""
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "USER": "user", "LANG": "C.UTF-8", "TERM": "dumb",
        "TMPDIR": "/tmp", "XDG_CACHE_HOME": f"{home}/.cache", "PYTHONDONTWRITEBYTECODE": "1",
    }
    if job.interactive:
        size = shutil.get_terminal_size()
        variables |= {"TERM": os.environ.get("TERM", "dumb"), "COLUMNS": str(size.columns), "LINES": str(size.lines)}
    return variables | dict(job.env)


def limited(limits: Limits, *, count_processes: bool) -> list[str]:
    """The start of a command line that lowers the kernel's limits for what follows it.

    `count_processes` only where the user id is the program's own: the kernel counts all processes of a user.
    """
    space = limits.memory if limits.address_space is None else limits.address_space
    options = [f"--as={space}", f"--fsize={limits.file_size}", f"--nofile={limits.open_files}", "--core=0"]
    if limits.cpu is not None:
        options.append(f"--cpu={limits.cpu}:{limits.cpu + 1}")  # the first is told apart from a plain kill
    if count_processes:
        options.append(f"--nproc={limits.processes}")
    return ["prlimit", *options, "--"]
