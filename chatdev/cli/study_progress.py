"""The progress bar of a study: jobs, the time that is left, live means."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

from tqdm import tqdm

from chatdev.engine.budget import money
from chatdev.runner.report import sanitize

if TYPE_CHECKING:
    from chatdev.batch.local import BatchProgress

_MEANS = {"quality": "quality", "acceptance": "accepted"}


class StudyProgress:
    """Follows the progress of a batch on standard error, where that is a terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._bar = tqdm(desc="study", unit="job", disable=quiet or not sys.stderr.isatty(), dynamic_ncols=True,
                         bar_format="{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt}{postfix}")
        self._trouble = ""

    def __call__(self, progress: BatchProgress) -> None:
        """Show how far it is now."""
        if progress.trouble and progress.trouble != self._trouble:
            self._bar.write(f"trouble: {sanitize(progress.trouble)}", file=sys.stderr)
        self._trouble = progress.trouble
        self._bar.total, self._bar.n = progress.total, progress.finished_jobs
        self._bar.set_postfix_str(summary(progress), refresh=False)
        self._bar.refresh()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._bar.close()


def summary(progress: BatchProgress) -> str:
    """What stands behind the bar."""
    parts = [f"{progress.counts['running']} running"]
    if progress.counts["failed"]:
        parts.append(f"{progress.counts['failed']} failed")
    parts += [f"{name} {progress.means[key]:.3f}" for key, name in _MEANS.items() if key in progress.means]
    parts.append(f"{progress.spent.tokens} tokens, {money(progress.spent.cost)}")
    if progress.seconds_left is not None:
        parts.append(f"{_clock(progress.seconds_left)} left")
    return " · ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
