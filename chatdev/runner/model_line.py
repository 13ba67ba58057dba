"""The line that says, before a run, which models are asked where, and which keys go there."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace

from chatdev.config.settings import user_settings
from chatdev.errors import ConsentMissing
from chatdev.llm.connection import LOCAL, Connection
from chatdev.llm.local.weights import installed_file
from chatdev.runner.consent import CompanyWord, allow_strangers, open_models
from chatdev.runner.options import RunOptions
from chatdev.runner.resources import find_role_models


def describe_models(word: CompanyWord, options: RunOptions) -> str:
    """Model, address and the name of the key's variable, for every role; the places that somebody else than the user
    has tools open; and what still needs the user's consent. Nothing is sent, and nothing refused. Raises
    ConfigError."""
    word = replace(word, inputs=replace(word.inputs, given=options.inputs))
    models = open_models(given=options.own_model, api_key=options.api_key)
    role_models = find_role_models(word, options, user_settings(), models)
    connections = role_models.connections()
    roles: dict[str, dict[str, None]] = {}
    for (phase, role), connection in connections.items():
        roles.setdefault(_describe(role_models.model_name(phase, role), connection), {})[role] = None
    if len(roles) == 1:
        said = f"model {next(iter(roles))}"
    else:
        said = "models " + "; ".join(f"{model} ({', '.join(found)})" for model, found in roles.items())
    said = "; ".join((said, *(f"{place.origin.value} names {place.describe()}" for place in word.places
                              if place.is_strangers)))
    try:
        allow_strangers(models, connections.values(), options.trust, word)
    except ConsentMissing as missing:
        return "; ".join((said, *_open_questions(missing)))
    return said


def _describe(name: str, connection: Connection | None) -> str:
    if connection is None:
        return f"{name}, an object of the caller's"
    if connection.address.value == LOCAL and installed_file() is None:
        return "none that can be reached yet (`chatdev doctor` says more)"
    return str(connection) if connection.is_local_model else f"{name} at {connection}"


def _open_questions(missing: ConsentMissing) -> Iterator[str]:
    for stranger in missing.subjects:
        yield f"needs your consent: chatdev trust {shlex.quote(stranger.place)}"
