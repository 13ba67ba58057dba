"""From a sandbox's name to a sandbox that works, or to what has to be done for it."""

from __future__ import annotations

from chatdev.errors import ConfigError, SandboxError
from chatdev.sandbox import bubblewrap, docker
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.unconfined import Unconfined

NAMES = ("bubblewrap", "docker", "none")


def choose(name: str = "bubblewrap") -> Sandbox:
    """The sandbox called `name`; raises SandboxError with the mend when it does not work on this machine."""
    if name == "none":
        return Unconfined()
    if name not in NAMES:
        raise ConfigError(f"there is no sandbox {name!r}; there are: {', '.join(NAMES)}")
    if reason := (docker if name == "docker" else bubblewrap).available():
        raise SandboxError(f"no sandbox for the programs that models write: {reason}; or take another one (--sandbox "
                           f"{'bubblewrap' if name == 'docker' else 'docker'}), or accept that they run with your "
                           "rights: --sandbox none")
    return docker.Docker() if name == "docker" else bubblewrap.Bubblewrap()
