"""What a session takes over from the record of an earlier one.

A run folder may be a stranger's, so its record carries no consent: it says what the run was, and the user says what may
happen on this machine. Of everything that an `Order` holds:

- `company`, `source`: what the run does. Addresses and keys in it need the consent that any company's need.
- `inputs`, `images`, `values`: as recorded; what came from a file is never read again from there.
- `software`: as recorded, where every path lies in the software folder.
- `model`: as recorded where it is a name; a file (`local:PATH`) only when the user's own settings name it.
- `base_url`: only when the user's own settings have it; else it is named and refused.
- `sandbox`: never. It is what the user says now, else the user's settings, else bubblewrap.
- `install`: only where it is stricter than the user's setting.
- `runtime`: by its name, unless the user's setting restrains installing.
- `language`: as recorded.
- `profiles`: never, the user's count. (What the journal says was spent counts, if it is an amount.)
- `tools`: only their names; the functions are given anew.

A replay takes everything from the record: it asks no model, runs nothing, and installs nothing.
Keys, profiles, prices, package indexes, warehouses and budgets are in no order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from chatdev.config.settings import MODEL_VARIABLE, URL_VARIABLE, UserSettings, process_environ
from chatdev.errors import ConfigError
from chatdev.llm.connection import LOCAL
from chatdev.origins import without_user
from chatdev.packages.supply import POLICIES, strictest_policy
from chatdev.runner.options import RunOptions
from chatdev.secrets import PLACEHOLDER

RESTORED_OPTIONS = ("model", "base_url", "sandbox", "language", "install", "runtime")
"""The options that an order keeps."""
_ADDRESSES = (URL_VARIABLE, "AZURE_OPENAI_ENDPOINT")
_DEFAULT_SANDBOX = "bubblewrap"


class Restored(NamedTuple):
    """The options of a session, and what the user is told of those that are not as they were."""

    options: RunOptions
    notes: tuple[str, ...] = ()


def restore_options(recorded: Mapping[str, Any], given: RunOptions, user: UserSettings) -> Restored:
    """The options as given now, and what the record may add to them. Raises ConfigError where the record names an
    address or a file that only the user can name."""
    runtime, withheld = _runtime(recorded.get("runtime"), given, user)
    notes = (_other_sandbox(recorded.get("sandbox"), given, user), withheld)
    options = replace(given, model=given.model or _model(recorded, user), base_url=_address(recorded, given, user),
                      language=given.language or recorded.get("language"),
                      install=given.install or _install(recorded.get("install"), user), runtime=runtime)
    return Restored(options, tuple(note for note in notes if note))


def _other_sandbox(recorded: str | None, given: RunOptions, user: UserSettings) -> str:
    """That the sandbox is another one; empty where it is the same, or was chosen just now."""
    now = user.sandbox or _DEFAULT_SANDBOX
    if given.sandbox or recorded in (None, now):
        return ""
    return (f"the run had `--sandbox {recorded}`, which a record cannot decide: its programs now run in {now!r}, "
            f"unless you give --sandbox {recorded} again")


def _runtime(recorded: str | None, given: RunOptions, user: UserSettings) -> tuple[str | None, str]:
    """The runtime, and why the one on record is not taken."""
    if given.runtime or recorded is None:
        return given.runtime, ""
    if user.install in (None, "auto"):
        return recorded, ""
    return None, (f"the run had `--runtime {recorded}`, and your settings say `install: {user.install}`; give "
                  f"--runtime {recorded} again to have its packages")


def _install(recorded: str | None, user: UserSettings) -> Any:
    """The stricter of what the record and the user's settings say."""
    if recorded is None:
        return None
    if recorded not in POLICIES:
        raise ConfigError(f"the journal says `install: {recorded}`; known are: {', '.join(POLICIES)}; give --install")
    return strictest_policy(recorded, user.install)


def _model(recorded: Mapping[str, Any], user: UserSettings) -> str | None:
    """The model's name. Raises ConfigError for a file that the user's own settings do not name."""
    name: str | None = recorded.get("model")
    own = (process_environ().get(MODEL_VARIABLE), user.model)
    if name is not None and name.startswith(f"{LOCAL}:") and name not in own:
        raise ConfigError(f"the run's model is a file, {name.removeprefix(f'{LOCAL}:')!r}, and a record cannot have "
                          f"one read; if you trust this file, say so: --model {name}")
    return name


def _address(recorded: Mapping[str, Any], given: RunOptions, user: UserSettings) -> str | None:
    """The address that is asked. Raises ConfigError for one that only the record has."""
    address: str | None = recorded.get("base_url")
    if given.base_url or address is None or given.own_model is not None:
        return given.base_url
    environment = process_environ()
    if address in (*(environment.get(name) for name in _ADDRESSES), user.base_url):
        return address
    shown = without_user(address.replace(PLACEHOLDER, "secret"))
    again = "--base-url with its password" if PLACEHOLDER in address else f"--base-url {shown}"
    raise ConfigError(f"the run asked the model at {shown}, which its journal says and your own settings do not "
                      f"({URL_VARIABLE}, `base_url` in the settings file). Prompts and your key would go there: if you "
                      f"trust it, give {again}; else give another address")
