"""From a model's name to the model: one client for each endpoint of a run, and the list of models that a server has."""

from __future__ import annotations

import asyncio
import http
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from chatdev.connection import (
    AZURE_URL_VARIABLE,
    HUMAN,
    KEY_VARIABLE,
    LOCAL,
    LONGEST_REPLY,
    NO_MODEL,
    OPENAI,
    URL_VARIABLE,
    Connection,
    Endpoint,
    KeyRing,
    NamedProvider,
    Origin,
    Sourced,
    key_header,
    open_endpoint,
    refuse_strangers,
)
from chatdev.errors import ConfigError, MissingModel
from chatdev.llm.base import Model, RateLimit, model_name
from chatdev.llm.failures import LONGEST_WAIT, Sleep
from chatdev.llm.openai_model import OpenAIModel
from chatdev.paths import expand_home
from chatdev.safe_text import check_depth, keep_secret, scrub

if TYPE_CHECKING:
    import httpx2


RETRY_VARIABLE = "CHATDEV_RETRY_SECONDS"
REPLY_VARIABLE = "CHATDEV_REPLY_SECONDS"
DEFAULT_NAME = "gpt-4o-mini"


class Models:
    """Hands out models by name, and closes those that it made. `environment` are the variables of the process, `folder`
    those of the working folder's `.env`: keys and addresses; `rate` limits all models that are asked over a network.

    `given` is a model of the caller's own: it is the default, it answers wherever its name is asked for, and it stays
    open. `person` is who answers as `human`. `api_key` goes before the keys in the environment, but not before a
    model's own (`key_env`); it is a secret from now on. What a stranger names is refused until `allow` says that the
    user consents. Raises ConfigError when `given` is no model.
    """

    def __init__(self, environment: Mapping[str, str], rate: RateLimit | None = None, *, given: Model | None = None,
                 api_key: str | None = None, folder: Mapping[str, str] = MappingProxyType({}),
                 person: Model | None = None) -> None:
        self.environment, self.folder = environment, folder
        self._rate = rate
        self._given = given
        self._person = person
        self._given_name = None if given is None else model_name(given)
        key = (api_key or "").strip()
        keep_secret(key)
        self._keys = KeyRing(environment, folder, key)
        self._allowed: frozenset[Origin] = frozenset()
        self._models: dict[tuple[str | None, ...], Model] = {}
        self._served: dict[tuple[str | None, str], list[str]] = {}

    def allow(self, strangers: Iterable[Origin]) -> None:
        """Take from now on what these name: the user consents."""
        self._allowed |= frozenset(strangers)

    def get(self, name: Sourced | str | None, base_url: Sourced | str | None = None,
            key_env: Sourced | str | None = None, provider: NamedProvider | None = None) -> tuple[Model, str]:
        """A model and the name it goes by: `local`, `local:PATH.gguf`, or a name of an OpenAI-compatible endpoint. A
        plain text is the caller's own word.

        Without a name it is the given model, else the endpoint's default when a key, an address or a provider is set,
        else the local model. Raises MissingModel when none is there, ConsentMissing for what a stranger names.
        """
        wanted = _with_origin(name) or Sourced(self.default_name(base_url, key_env, provider), Origin.DEFAULT)
        if (connection := self.connect(wanted, base_url, key_env, provider)) is None:
            return self._own_model(wanted.value), wanted.value
        refuse_strangers(connection, self._allowed)
        if connection.is_local_model:
            path = connection.address.value.removeprefix(LOCAL).removeprefix(":")
            return self._share((LOCAL, path), lambda: self._local(path)), LOCAL
        endpoint = self._open(connection)
        made = self._share((endpoint.url, endpoint.key, str(endpoint.foreign)),
                           lambda: OpenAIModel(endpoint, self._sleep(), self._rate))
        return made, wanted.value

    def connect(self, name: Sourced | str | None, base_url: Sourced | str | None = None,
                key_env: Sourced | str | None = None, provider: NamedProvider | None = None) -> Connection | None:
        """Connection that `get` would use, without checking or using it; None for the given model and a
        person."""
        wanted = _with_origin(name) or Sourced(self.default_name(base_url, key_env, provider), Origin.DEFAULT)
        if wanted.value == HUMAN or (self._given is not None and wanted.value == self._given_name):
            return None
        if wanted.value == LOCAL or wanted.value.startswith(f"{LOCAL}:"):
            return Connection(wanted)
        return self._keys.connect(_with_origin(base_url), _with_origin(key_env), provider)

    def served(self, base_url: Sourced | None, key_env: Sourced | None, provider: NamedProvider | None) -> list[str]:
        """The models that a server has which is asked without the name of one; empty where that is decided already (the
        given or the local model, OpenAI's own server, Azure's deployments), and where it does not say."""
        connection = self.connect(None, base_url, key_env, provider)
        if connection is None or not connection.may_lack_default:
            return []
        refuse_strangers(connection, self._allowed)
        endpoint = self._open(connection)
        key = (endpoint.url, endpoint.key)
        if key not in self._served:
            self._served[key] = served_models(endpoint)
        return self._served[key]

    async def close(self) -> None:
        """Close every model."""
        models, self._models = list(self._models.values()), {}
        for model in models:
            await model.close()

    def _share(self, key: tuple[str | None, ...], make: Callable[[], Model]) -> Model:
        if key not in self._models:
            self._models[key] = make()
        return self._models[key]

    def default_name(self, base_url: Sourced | str | None, key_env: Sourced | str | None = None,
                     provider: NamedProvider | None = None) -> str:
        """The model that is taken where none is named."""
        if self._given_name is not None:
            return self._given_name
        key = _with_origin(key_env)
        variables = (key.value if key else KEY_VARIABLE, URL_VARIABLE, AZURE_URL_VARIABLE)
        if base_url or provider or self._keys.is_set(*variables):
            return DEFAULT_NAME
        return LOCAL

    def endpoint(self, base_url: Sourced | str | None, key_env: Sourced | str | None = None,
                 provider: NamedProvider | None = None) -> Endpoint:
        """Endpoint of every model but the local one. Raises MissingModel without an address, ConsentMissing for one
        that a stranger names."""
        connection = self._keys.connect(_with_origin(base_url), _with_origin(key_env), provider)
        refuse_strangers(connection, self._allowed)
        return self._open(connection)

    def _open(self, connection: Connection) -> Endpoint:
        return open_endpoint(connection, self._variable("OPENAI_API_VERSION"), self._longest_reply())

    def _own_model(self, name: str) -> Model:
        found = self._person if name == HUMAN and self._given_name != HUMAN else self._given
        assert found is not None
        return found

    def _sleep(self) -> Sleep:
        """Wait before a repeated request, at most CHATDEV_RETRY_SECONDS."""
        longest = self._seconds(RETRY_VARIABLE, LONGEST_WAIT, "the longest wait before a request is repeated")
        return lambda seconds: asyncio.sleep(min(seconds, longest))

    def _longest_reply(self) -> float:
        """Seconds for a whole reply."""
        return self._seconds(REPLY_VARIABLE, LONGEST_REPLY, "the longest time that a reply may take")

    def _variable(self, name: str) -> str | None:
        """The value of a variable, the process's before that of `.env`."""
        return self.environment.get(name, self.folder.get(name))

    def _seconds(self, variable: str, default: float, meaning: str) -> float:
        given = self._variable(variable) or default
        try:
            seconds = float(given)
        except ValueError:
            seconds = -1.0
        if not seconds >= 0:
            raise ConfigError(f"{variable}={given}: give {meaning}, in seconds, e.g. 10")
        return seconds

    def _local(self, path: str) -> Model:
        from chatdev.llm.local.local_model import LocalModel
        from chatdev.llm.local.weights import installed_file

        if path:
            return LocalModel(expand_home(path))
        if installed_file() is None:
            raise MissingModel(NO_MODEL)
        return LocalModel()


def _with_origin(given: Sourced | str | None) -> Sourced | None:
    """The value with its origin; a plain text is the caller's own. Empty is none."""
    if isinstance(given, str):
        given = Sourced(given, Origin.FLAG)
    return given if given and given.value else None


# The list of models of a server: whether it answers at all, and which models it has. Asking costs nothing.

PROBE_SECONDS = 3.0
_REFUSED = (http.HTTPStatus.UNAUTHORIZED, http.HTTPStatus.FORBIDDEN)
_LARGEST_LIST = 8 << 20  # bytes; a gateway's list of a thousand models has one million
_LONGEST_NAME = 200  # characters


def why_unreachable(endpoint: Endpoint, seconds: float = PROBE_SECONDS) -> str | None:
    """None when the endpoint answers, else why it is of no use. What it answers is not read: a server that has no list
    of models, and says so, is there."""
    import httpx2

    from chatdev.llm.failures import leads_to

    try:
        with _ask(endpoint, seconds) as response:
            status, location = response.status_code, response.headers.get("location")
            elsewhere = leads_to(str(response.url), location) if response.has_redirect_location and location else None
    except httpx2.TimeoutException:
        return f"does not answer within {seconds:g} seconds"
    except (httpx2.RequestError, httpx2.InvalidURL) as error:
        return scrub(f"cannot be reached ({error or type(error).__name__})")
    if elsewhere:
        return f"sends its callers on to {elsewhere} ({status})"
    if status in _REFUSED:
        return f"refuses {'the key' if endpoint.key else 'to answer without a key'} ({status})"
    if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return f"is in trouble ({status})"
    return None


def served_models(endpoint: Endpoint, seconds: float = PROBE_SECONDS) -> list[str]:
    """The names of the models that the endpoint lists, in its order; empty where it does not say so in time."""
    import httpx2

    try:
        with _ask(endpoint, seconds) as response:
            if response.status_code != http.HTTPStatus.OK:
                return []
            content, ends = bytearray(), time.monotonic() + seconds
            for piece in response.iter_raw():
                content += piece
                if len(content) > _LARGEST_LIST or time.monotonic() > ends:
                    return []
        data = json.loads(content)
        check_depth(data)
    except (httpx2.RequestError, httpx2.InvalidURL, ValueError, RecursionError):
        return []
    return list(dict.fromkeys(_names(data)))


@contextmanager
def _ask(endpoint: Endpoint, seconds: float) -> Iterator[httpx2.Response]:
    import httpx2

    from chatdev.llm.failures import PLAIN

    headers = {**PLAIN, **{name: value.replace("{key}", endpoint.key) for name, value in endpoint.list_headers.items()},
               **key_header(endpoint)}
    with (httpx2.Client(timeout=seconds, trust_env=not endpoint.is_local, auth=endpoint.user) as client,
          client.stream("GET", _address(endpoint), headers=headers) as response):
        yield response


def _names(data: Any) -> Iterator[str]:
    """The names in a list of models: OpenAI's form, and those of servers that send a bare list or `models`."""
    entries = data.get("data") or data.get("models") if isinstance(data, Mapping) else data
    for entry in entries if isinstance(entries, list) else []:
        name = entry.get("id") or entry.get("name") if isinstance(entry, Mapping) else entry
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and name.isprintable() and scrub(name) == name:
            yield name


def _address(endpoint: Endpoint) -> str:
    base = (endpoint.address or OPENAI).rstrip("/")
    return f"{base}/openai/models?api-version={endpoint.api_version}" if endpoint.api_version else f"{base}/models"
