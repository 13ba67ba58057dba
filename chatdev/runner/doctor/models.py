"""Checks of the ways to a model: an endpoint with its key, and the local model. No key is ever in what they say."""

from __future__ import annotations

import importlib.metadata
import importlib.util

from chatdev.config.environ import dotenv, environ, process_environ
from chatdev.config.settings import default_model, user_settings
from chatdev.errors import MissingModel
from chatdev.llm.local import weights
from chatdev.llm.reach import unreachable
from chatdev.llm.registry import LOCAL, Models
from chatdev.runner.doctor.finding import Found, absent, broken, works

_KEYS = ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY")


def key() -> Found:
    """Whether a key is set, and where."""
    places = {"the environment": process_environ(), ".env": dotenv()}
    for name in _KEYS:
        if place := next((place for place, variables in places.items() if variables.get(name)), None):
            return works(f"{name} is set in {place}")
    return absent("OPENAI_API_KEY is not set; a server of your own may want none", "export OPENAI_API_KEY=…")


def endpoint() -> Found:
    """Whether the endpoint that a run would ask answers within three seconds, and takes the key."""
    user, variables = user_settings(), environ()
    default, models = default_model(user=user), Models(variables)
    try:
        place = models.endpoint(default.base_url)
    except MissingModel:
        return absent("neither a key nor an address is set", "export OPENAI_BASE_URL=http://…/v1")
    if reason := unreachable(place):
        return broken(f"{place.shown} {reason}", "check OPENAI_BASE_URL and OPENAI_API_KEY")
    return works(f"{place.shown} answers; model {default.name or models.default_name(default.base_url)}")


def local() -> Found:
    """Whether the local model can be started: its file, whole and as pinned, and llama.cpp."""
    path = weights.installed()
    if path is None:
        return absent(f"not fetched ({weights.QWEN.size / 1e9:.1f} GB, needs no key)", "chatdev model pull")
    if importlib.util.find_spec("xllamacpp") is None:
        return absent("its file is here, llama.cpp is not installed", 'pip install "chatdev-chain[local]"')
    if not weights.is_pinned(path):
        return broken(f"{path} is not the pinned file (its SHA-256 differs)", f"rm {path}; chatdev model pull")
    version = importlib.metadata.version("xllamacpp")
    return works(f"{path.name} is whole (SHA-256), llama.cpp by xllamacpp {version}{_how_to_take_it()}")


def _how_to_take_it() -> str:
    """What must be said for a run with the local model, where that is not what a run takes anyway."""
    default = default_model(user=user_settings())
    name = default.name or Models(environ()).default_name(default.base_url)
    return "" if name == LOCAL else "; it is taken with --model local"
