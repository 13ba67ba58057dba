"""The kinds of sandbox, and how one is found that works on this machine."""

from __future__ import annotations

from collections.abc import Callable

from chatdev.errors import ConfigError, SandboxError
from chatdev.sandbox import bubblewrap, docker
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.unconfined import Unconfined

SANDBOXES = ("bubblewrap", "docker", "none")


def find_sandbox(name: str = "bubblewrap") -> Sandbox:
    """The sandbox called `name`. Raises SandboxError, with what to do, when it does not work on this machine, and
    ConfigError when there is none of this name."""
    if name not in SANDBOXES:
        raise ConfigError(f"there is no sandbox {name!r}; there are: {', '.join(SANDBOXES)}")
    if name == "none":
        return Unconfined()
    if name == "docker":
        return _make_working(docker.Docker, docker.why_not(), other="bubblewrap")
    return _make_working(bubblewrap.Bubblewrap, bubblewrap.why_not(), other="docker")


def _make_working(make: Callable[[], Sandbox], reason: str | None, *, other: str) -> Sandbox:
    """A sandbox, unless there is a reason why it does not work here."""
    if reason:
        raise SandboxError(f"no sandbox for the programs that models write: {reason}; or take another one (--sandbox "
                           f"{other}), or accept that they run with your rights: --sandbox none")
    return make()
