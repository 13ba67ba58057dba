"""Where the data that ships with the package lies, and where users keep theirs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from chatdev.errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent


def bundled_folder(name: str) -> Path:
    """The folder `company_config` or `srdd`, in an installed package, an editable install or a plain checkout."""
    places = (_PACKAGE / name, _PACKAGE.parent / name)
    for folder in places:
        if folder.is_dir():
            return folder
    raise ConfigError(f"the folder {name!r} that belongs to chatdev is missing; reinstall the package (looked in: "
                      f"{', '.join(map(str, places))})")


def bundled_table(path: Path) -> Any:
    """The value of a YAML file that ships with the package, by the C parser where there is one: in Python it takes ten
    times as long."""
    import yaml

    with path.open("rb") as file:
        return yaml.load(file, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def working_folder() -> Path:
    """The working folder. Raises ConfigError where somebody has removed it."""
    try:
        return Path.cwd()
    except OSError as error:
        raise ConfigError(f"the working folder is not there any more ({error.strerror}); change into one that exists "
                          "(cd)") from None


def expand_home(path: str) -> Path:
    """`path` with the home in the place of `~`; as it is where there is no such home."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib raises RuntimeError then


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise ConfigError("there is no home folder: HOME is not set, and this user is not in /etc/passwd; set HOME, or "
                          "XDG_CONFIG_HOME, XDG_CACHE_HOME and XDG_DATA_HOME") from None


def cache_dir() -> Path:
    """Where models and vocabularies are kept; `CHATDEV_CACHE` moves it."""
    if override := os.environ.get("CHATDEV_CACHE"):
        return Path(override)
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "chatdev"


def data_dir() -> Path:
    """Where what was learnt is kept from run to run: the user's own, and not made again if it is lost."""
    return Path(os.environ.get("XDG_DATA_HOME") or _home() / ".local" / "share") / "chatdev"


def settings_file() -> Path:
    """The user's own settings (YAML)."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config") / "chatdev" / "settings.yaml"


def trust_file() -> Path:
    """The companies and `.env` files that the user trusts (JSON), beside the settings."""
    return settings_file().with_name("trust.json")
