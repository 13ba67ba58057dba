"""Where packages come from: what the user told pip (its files and variables), and nothing beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from chatdev.errors import MissingProgram, ToolError
from chatdev.secrets import keep_address
from chatdev.workspace.python_source import literal

_PYPI = "https://pypi.org/simple"
_SECONDS = 60.0  # for pip to tell its settings, on the slowest of disks
_SECTIONS = ("global.", "install.", ":env:.")  # of pip's settings, the stronger ones last


@dataclass(frozen=True, slots=True)
class Sources:
    """The settings of pip that say where packages are and how to get there (their names are pip's).

    Addresses may hold a password, and `client_cert` names a file with a key: no program may see them.
    """

    indexes: tuple[str, ...] = field(default=(_PYPI,), repr=False)
    find_links: tuple[str, ...] = field(default=(), repr=False)
    """Pages with links, or folders of wheels."""
    proxy: str | None = field(default=None, repr=False)
    cert: str | None = None
    client_cert: str | None = None
    trusted_hosts: frozenset[str] = frozenset()
    """Hosts (`name` or `name:port`) whose certificates are not checked."""


def sources() -> Sources:
    """What pip is set to in this process. Raises MissingProgram when there is no pip, ToolError when its settings are
    broken."""
    settings = _settings()
    indexes = [settings.get("index-url", _PYPI), *settings.get("extra-index-url", "").split()]
    if settings.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t"):
        indexes = []
    found = Sources(tuple(indexes), tuple(settings.get("find-links", "").split()), settings.get("proxy") or None,
                    settings.get("cert") or None, settings.get("client-cert") or None,
                    frozenset(settings.get("trusted-host", "").split()))
    for address in (*found.indexes, *found.find_links, found.proxy or ""):
        keep_address(address)
    return found


def pip_folder() -> Path:
    """The folder of our pip package. Raises MissingProgram when there is none."""
    import importlib.util

    found = importlib.util.find_spec("pip")
    if found is None or not found.submodule_search_locations:
        raise MissingProgram(f"there is no pip in {sys.prefix} to install packages with: {sys.executable} -m ensurepip")
    return Path(found.submodule_search_locations[0])


def _settings() -> dict[str, str]:
    """Option -> value, as pip itself reads them."""
    pip_folder()
    done = subprocess.run([sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "config", "list"],
                          capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
                          env=dict(os.environ), timeout=_SECONDS)
    if done.returncode != 0:
        raise ToolError("pip cannot read its settings; `pip config debug` tells where they are")
    pairs = [line.partition("=") for line in done.stdout.splitlines()]
    return {name.removeprefix(section): str(literal(value))
            for section in _SECTIONS for name, _, value in pairs if name.startswith(section)}
