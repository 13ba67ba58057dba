"""What a worker on another machine checks before its first job, so that a machine on which every job would fail
gets none."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chatdev.errors import ConfigError
from chatdev.evaluation.study import ATTEMPTS, Study
from chatdev.evaluation.tasks import Task
from chatdev.evaluation.variants import Variant
from chatdev.workspace.file_tree import explain_os_errors


@dataclass(frozen=True, slots=True)
class PreflightCheck:
    """Of a study, with the variants as their specs say. `mark` is a file in the study's folder. Picklable."""

    study: Study
    tasks: Sequence[Task]
    variants: Sequence[Mapping[str, Any]]
    mark: Path

    def __call__(self) -> None:
        """Raise ConfigError when this machine has another folder or other companies, and what `Study.check` does."""
        host = socket.gethostname()
        if not self.mark.exists():
            raise ConfigError(f"{host} does not see the runs in {self.study.folder}; put them into a folder that all "
                              "machines share: --folder PATH")
        for spec in self.variants:
            if Variant.of(spec).fingerprint != spec["fingerprint"]:
                raise ConfigError(f"the company of {spec['name']!r} is another one on {host}; all machines need the "
                                  "same files")
        self.study.check(self.tasks, [Variant.of(spec) for spec in self.variants])


@contextmanager
def preflight(study: Study, tasks: Sequence[Task], variants: Sequence[Variant]) -> Iterator[PreflightCheck]:
    """The check for the workers of a study that this process begins or resumes. Raises WorkspaceError when the
    study's folder cannot be written."""
    mark = study.folder / ATTEMPTS / f"seen-{secrets.token_hex(4)}"
    with explain_os_errors("write into the study's folder", mark):
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    try:
        yield PreflightCheck(study, list(tasks[:1]), [variant.spec for variant in variants], mark)
    finally:
        mark.unlink(missing_ok=True)
