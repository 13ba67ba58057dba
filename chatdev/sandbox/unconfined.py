"""Untrusted programs as plain child processes: for people who consented to it with `--sandbox none`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from chatdev.errors import SandboxError
from chatdev.sandbox.base import Execution, SandboxJob, prlimit_command, variables_of
from chatdev.sandbox.children import Children, run_interactively


class Unconfined:
    """`Sandbox` that only tidies: scrubbed environment, home of its own, memory and file limits, group kill.

    It hides neither files nor network, cannot limit the number of processes, and a descendant that starts a session
    of its own outlives the time limit.
    """

    name = "none"

    def __init__(self) -> None:
        self._children = Children()

    def run(self, job: SandboxJob) -> Execution:
        """Run `job` in `job.folder` as the present user; raises SandboxError when it cannot start."""
        if moved := [str(binding.source) for binding in job.bindings if binding.target]:
            raise SandboxError(f"without a sandbox a program sees {', '.join(moved)} only where they are")
        with tempfile.TemporaryDirectory(prefix="home-", ignore_cleanup_errors=True) as home:
            variables = variables_of(job, home)
            limits = prlimit_command(job.limits, count_processes=False) if shutil.which("prlimit") else []
            command = [*limits, *job.argv]
            folder = Path(job.folder).resolve()
            if job.interactive:
                return run_interactively(command, env=variables, cwd=folder)
            return self._children.run(command, job, env=variables, cwd=folder)

    def stop_all(self) -> None:
        """Kill whatever is still running, and run nothing any more; safe from any thread."""
        self._children.stop_all()
