"""Going on with runs and playing them again, by their folders: what library and command line call."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from chatdev.errors import ConfigError
from chatdev.runner.options import RunOptions
from chatdev.runner.replay import replay
from chatdev.runner.resume import Changes, follow_up, fork, resume
from chatdev.runner.session import Session


def resuming(folder: str | Path, *, task: str | None = None, since: str | None = None, from_here: bool = False,
             as_it_was: bool = False, **options: Any) -> Session:
    """Go on with the run in `folder` (options: `RunOptions`; unset ones as they were).

    Without more, it goes on where it stopped. `since` is an activity: a copy of the run goes on live from there. `task`
    is a further request to a finished run: a new run goes on with its software and its long-term memory. `from_here`
    and `as_it_was` say what to do when the company has changed (`Changes`); without them it is refused.

    The session raises ConfigError, JournalError, RunChanged and the like with nothing changed.
    """
    if task is not None and since is not None:
        raise ConfigError("a further task goes on from the end of the run, and --from from an activity; give one")
    if task is None and since is None and (options.get("name") or options.get("warehouse")):
        raise ConfigError("the run goes on in its own folder; a name and a warehouse are for a new one (with --task or "
                          "--from)")
    changes, path = Changes(from_here, as_it_was), Path(folder)
    if task is not None:
        prepare = partial(follow_up, path, task, changes)
    elif since is not None:
        prepare = partial(fork, path, since, changes)
    else:
        prepare = partial(resume, path, changes)
    return Session(prepare, RunOptions(**options))


def replaying(path: str | Path, *, speed: float | None = None, **options: Any) -> Session:
    """Play the run of a folder or of a journal again: no model is asked and no program runs. `speed` times as fast as
    it was, or at once. What it makes is kept only when a `warehouse` is given. The session raises JournalError."""
    return Session(partial(replay, Path(path), speed), RunOptions(**options))
