"""All checks of `chatdev doctor`, in the order they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from chatdev.runner.doctor import machine, models, sandboxes, software
from chatdev.runner.doctor.finding import Check
from chatdev.tools.software.languages import languages


def all_checks(encoding: str | None) -> Sequence[Check]:
    """The checks; `encoding` is that of the output which a run would be shown on."""
    return [
        Check("this machine", "Python", machine.python),
        Check("this machine", "git", machine.git),
        Check("this machine", "settings", machine.settings, "settings"),
        Check("this machine", "warehouse", machine.warehouse, "warehouse"),
        Check("this machine", "terminal", partial(machine.terminal, encoding)),
        Check("sandbox", "bubblewrap", sandboxes.bubblewrap, "sandbox"),
        Check("sandbox", "docker", sandboxes.docker),
        Check("sandbox", "memory", sandboxes.memory),
        Check("sandbox", "system calls", sandboxes.system_calls),
        Check("models", "key", models.key),
        Check("models", "endpoint", models.endpoint, "model"),
        Check("models", "local model", models.local, "model"),
        Check("software", "Python", software.python),
        Check("software", "windows", software.windows),
        *(Check("software", language.name, partial(software.toolchain, language)) for language in languages()),
        Check("software", "packages", software.index),
        Check("extras", "graphviz", software.pictures),
    ]
