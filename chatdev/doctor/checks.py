"""Every look at the machine that `chatdev doctor` takes, in the order they are shown.

No key and no password is ever in what they say.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import platform
import shutil
import sys
import tempfile
from collections.abc import Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from chatdev.config.profiles import known_providers
from chatdev.config.settings import (
    ModelChoice,
    choose_default,
    find_default_model,
    process_environ,
    read_dotenv,
    user_settings,
)
from chatdev.connection import LOCAL, Origin, Sourced
from chatdev.department import Table
from chatdev.doctor.diagnosis import (
    Probe,
    ProbeResult,
    absence,
    check_program,
    department_probes,
    fault,
    success,
    version_of,
)
from chatdev.errors import ConfigError, ConsentMissing, MissingModel
from chatdev.isolation.seccomp import confinement, system_call_filter
from chatdev.llm.local import weights
from chatdev.llm.registry import DEFAULT_NAME, Models, why_unreachable
from chatdev.packages.gateway import Fetcher, Index, sources
from chatdev.packages.interpreter import interpreter
from chatdev.paths import settings_file
from chatdev.runner.consent import allow_strangers, open_models
from chatdev.runner.resources import settle_model
from chatdev.sandbox import bubblewrap, kinds, watch

_LEAST_FREE = 100 << 20  # bytes; a run is a few of them, the packages of its software may be many
_ELSEWHERE = "choose another folder: --warehouse FOLDER"
_SIGNS = "⇄ → ━ ✓ ✗ … naïve שלום 日本"  # what our own texts and those of models may hold
_SMALL_PACKAGE = "colorama"  # one of our own dependencies


def all_probes(encoding: str | None, core: Mapping[Table, Container[str]] = MappingProxyType({})) -> Sequence[Probe]:
    """The probes, by group; `encoding` is that of the output which a run would be shown on, and `core` as in
    `department_probes`."""
    probes = [
        Probe("this machine", "Python", _check_own_python),
        Probe("this machine", "git", partial(check_program, "git", "--version", "git",
                                             "only needed to look at the history of the software")),
        Probe("this machine", "settings", _check_settings, "settings"),
        Probe("this machine", "warehouse", _check_warehouse, "warehouse"),
        Probe("this machine", "terminal", partial(_check_terminal, encoding)),
        Probe("sandbox", "bubblewrap", _check_bubblewrap, "sandbox"),
        Probe("sandbox", "docker", _check_docker),
        Probe("sandbox", "memory", _check_memory_limit),
        Probe("sandbox", "system calls", _check_system_calls),
        Probe("sandbox", "parsing", _check_parsing),
        Probe("models", "key", _check_key),
        Probe("models", "endpoint", _check_endpoint, "model"),
        Probe("models", "local model", _check_local_model, "model"),
        Probe("software", "Python", _check_python_of_programs),
        Probe("software", "packages", _check_package_index),
        Probe("extras", "graphviz", partial(check_program, "dot", "-V", "graphviz",
                                            "`chatdev check --picture` cannot draw")),
        *department_probes(core),
    ]
    groups = list(dict.fromkeys(probe.group for probe in probes))
    return sorted(probes, key=lambda probe: groups.index(probe.group))  # a department may add rows to a group of ours


def _check_own_python() -> ProbeResult:
    """Our own interpreter."""
    return success(f"{platform.python_version()}, {sys.executable}")


def _check_settings() -> ProbeResult:
    """The user's settings file and `.env`; raises ConfigError, which names file and line, where one cannot be read."""
    user_settings()
    places = [str(settings_file())] if settings_file().is_file() else []
    places += [".env"] if read_dotenv() else []
    return success(f"read from {' and '.join(places)}" if places else "the defaults; there is no settings file")


def _check_warehouse() -> ProbeResult:
    """Whether runs can be written, and how much room there is."""
    folder = Path(user_settings().warehouse or "warehouse").absolute()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return fault(f"cannot write {there}: {error.strerror}", _ELSEWHERE)
    if free < _LEAST_FREE:
        return fault(f"only {free >> 20} MB free for {folder}", _ELSEWHERE)
    return success(f"{folder}{'' if there == folder else ' (a run will make it)'}, {free / 1e9:.0f} GB free")


def _check_terminal(encoding: str | None) -> ProbeResult:
    """Whether all that is said can be shown by an output of this encoding."""
    name = encoding or "ascii"
    try:
        _SIGNS.encode(name)
    except (UnicodeEncodeError, LookupError):
        return absence(f"{name}: characters that it lacks are shown as ?", "export PYTHONUTF8=1 LANG=C.UTF-8")
    return success(name)


def _check_bubblewrap() -> ProbeResult:
    """Whether it works here, found by running it; and as whom programs run in it."""
    if missing := [name for name in bubblewrap.NEEDED if not shutil.which(name)]:
        return absence(f"{' and '.join(missing)} not found: no program runs without it, except with --sandbox none",
                      packages=sorted({bubblewrap.NEEDED[name] for name in missing}))
    if reason := bubblewrap.why_not():
        return fault(reason)
    user = "as an unused user, with root's help" if bubblewrap.is_root() else "in a user namespace"
    return success(f"{version_of('bwrap', '--version')}, programs run {user}")


def _check_docker() -> ProbeResult:
    """Whether docker works here, for those who cannot have bubblewrap."""
    if not shutil.which("docker"):
        return absence("docker not found; only for --sandbox docker", packages=["docker.io"])
    if reason := kinds.why_not():
        return absence(reason)
    return success(f"{version_of('docker', '--version')}, for --sandbox docker")


def _check_memory_limit() -> ProbeResult:
    """Who holds the memory limit of a whole process tree."""
    if watch.parent():
        return success("the kernel enforces the limit for a program and all that it starts (control groups)")
    return absence("checked from outside, at least 20 times a second, because we may not make a control group")


def _check_system_calls() -> ProbeResult:
    """Whether the kernel's rare calls are refused."""
    if system_call_filter():
        return success("rare ones are refused (seccomp)")
    return absence("not filtered: their numbers are not known for this kind of processor")


def _check_parsing() -> ProbeResult:
    """What holds the process that parses, beside its limits."""
    held = confinement()
    lacking = [*(["a filter of system calls"] if not held.filtered else []),
               *(["a network of its own, which is empty"] if not held.networkless else [])]
    if lacking:
        return absence(f"in a process with limits, but without {' and without '.join(lacking)}: this machine has none")
    return success("in a process with limits, an empty network and few system calls")


def _check_key() -> ProbeResult:
    """Which keys of providers are set, and where."""
    places = {"the environment": process_environ(), ".env": read_dotenv()}
    found: dict[str, list[str]] = {}
    for name in dict.fromkeys(key for provider in known_providers() for key in provider.keys):
        if place := next((place for place, variables in places.items() if variables.get(name)), None):
            found.setdefault(place, []).append(name)
    if found:
        return success("; ".join(f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} set in {place}"
                                 for place, names in found.items()))
    return absence("OPENAI_API_KEY is not set; a server of your own may need none", "export OPENAI_API_KEY=…")


def _check_endpoint() -> ProbeResult:
    """Whether the endpoint that a run would ask answers within three seconds, and takes the key."""
    choice, models = choose_default(find_default_model(user=user_settings())), open_models()
    try:
        connection = models.connect(Sourced(DEFAULT_NAME, Origin.DEFAULT), choice.address, None, choice.provider)
        allow_strangers(models, [connection])
        place = models.endpoint(choice.address, None, choice.provider)
    except MissingModel as missing:
        if choice.provider:
            return fault(str(missing))
        return absence("neither a key nor an address is set", "export OPENAI_BASE_URL=http://…/v1")
    except ConsentMissing:
        return fault(f"{connection}: not asked, because it needs your consent", "chatdev trust .env")
    if reason := why_unreachable(place):
        keys = choice.provider.provider.keys if choice.provider else ["OPENAI_BASE_URL and OPENAI_API_KEY"]
        return fault(f"{place.shown_address} {reason}", f"check {' or '.join(keys) or 'whether it is started'}")
    try:
        name = _model_of(settle_model(choice, models), models)
    except ConfigError as several:
        return fault(f"{place.shown_address} answers; {several}")
    return success(f"{place.shown_address} answers; model {name}")


def _model_of(choice: ModelChoice, models: Models) -> str:
    return choice.name.value if choice.name else models.default_name(choice.address, None, choice.provider)


def _check_local_model() -> ProbeResult:
    """Whether the local model can be started: its file, whole and as pinned, and llama.cpp."""
    path = weights.installed_file()
    if path is None:
        return absence(f"not downloaded ({weights.QWEN.size / 1e9:.1f} GB, needs no key)", "chatdev model pull")
    if importlib.util.find_spec("xllamacpp") is None:
        return absence("its file is here, but llama.cpp is not installed", 'pip install "chatdev-chain[local]"')
    if not weights.is_pinned(path):
        return fault(f"{path} is not the pinned file (its SHA-256 differs)", f"rm {path}; chatdev model pull")
    version = importlib.metadata.version("xllamacpp")
    return success(f"{path.name} is complete (SHA-256), llama.cpp by xllamacpp {version}{_how_to_choose_it()}")


def _how_to_choose_it() -> str:
    """What must be said for a run with the local model, where that is not what a run takes anyway."""
    name = _model_of(choose_default(find_default_model(user=user_settings())), open_models())
    return "" if name == LOCAL else "; use it with --model local"


def _check_python_of_programs() -> ProbeResult:
    """The interpreter that programs get."""
    found = interpreter()
    return success(f"{'.'.join(map(str, found.version))}, {found.executable}")


def _check_package_index() -> ProbeResult:
    """Whether packages come from where pip is set to get them, asked as a run asks."""
    with contextlib.closing(Fetcher(found := sources())) as fetcher:
        index = Index(found, fetcher)
        if index.wheels(_SMALL_PACKAGE):
            return success("the index that pip is configured for answers")
    reason = index.problems[0] if index.problems else f"pip is configured for no index that has {_SMALL_PACKAGE}"
    return absence(f"{reason}: software must do without further packages", "pip config debug")
