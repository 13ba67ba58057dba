"""From a model's name to the model: one client for each endpoint of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

from chatdev.errors import ConfigError, MissingModel
from chatdev.llm.base import Model, model_name
from chatdev.llm.endpoint import LONGEST_REPLY, Endpoint
from chatdev.llm.failures import LONGEST_WAIT, Sleep
from chatdev.llm.openai_model import OpenAIModel
from chatdev.llm.rate import RateLimit
from chatdev.secrets import keep_secret

LOCAL = "local"
RETRY_VARIABLE = "CHATDEV_RETRY_SECONDS"
REPLY_VARIABLE = "CHATDEV_REPLY_SECONDS"
DEFAULT_NAME = "gpt-4o-mini"

NO_MODEL = """no model can be reached. Do one of these:
  - set OPENAI_API_KEY (and --model NAME), for OpenAI;
  - set OPENAI_BASE_URL or --base-url, for any OpenAI-compatible server;
  - run `chatdev model pull` once, for the small local model (1.1 GB, needs no key)."""


class Models:
    """Hands out models by name, and closes those that it made. `environment` holds keys and addresses; `rate` limits
    all models that are asked over a network.

    `given` is a model of the caller's own: it is the default, it answers wherever its name is asked for, and it stays
    open. `api_key` goes before the keys in the environment, but not before a model's own (`key_env`); it is a secret
    from now on. Raises ConfigError when `given` is no model.
    """

    def __init__(self, environment: Mapping[str, str], rate: RateLimit | None = None, *, given: Model | None = None,
                 api_key: str | None = None) -> None:
        self._environment = environment
        self._rate = rate
        self._given = given
        self._given_name = None if given is None else model_name(given)
        self._api_key = (api_key or "").strip()
        keep_secret(self._api_key)
        self._models: dict[tuple[str | None, ...], Model] = {}

    def get(self, name: str | None, base_url: str | None = None, key_env: str | None = None) -> tuple[Model, str]:
        """A model and the name it goes by: `local`, `local:PATH.gguf`, or a name of an OpenAI-compatible endpoint.

        Without a name it is the given model, else the endpoint's default when a key or an address is set, else the
        local model. Raises MissingModel when none is there.
        """
        name = name or self.default_name(base_url, key_env)
        if self._given is not None and name == self._given_name:
            return self._given, name
        if name == LOCAL or name.startswith(f"{LOCAL}:"):
            path = name.removeprefix(LOCAL).removeprefix(":")
            return self._share((LOCAL, path), lambda: self._local(path)), LOCAL
        endpoint = self.endpoint(base_url, key_env)
        return self._share((endpoint.url, key_env), lambda: OpenAIModel(endpoint, self._sleep(), self._rate)), name

    async def close(self) -> None:
        """Close every model."""
        models, self._models = list(self._models.values()), {}
        for model in models:
            await model.close()

    def _share(self, key: tuple[str | None, ...], make: Callable[[], Model]) -> Model:
        if key not in self._models:
            self._models[key] = make()
        return self._models[key]

    def default_name(self, base_url: str | None, key_env: str | None = None) -> str:
        """The model that is taken where none is named."""
        if self._given_name is not None:
            return self._given_name
        variables = (key_env or "OPENAI_API_KEY", "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT")
        if base_url or self._api_key or any(self._environment.get(name) for name in variables):
            return DEFAULT_NAME
        return LOCAL

    def endpoint(self, base_url: str | None, key_env: str | None = None) -> Endpoint:
        """Where every model but the local one is asked. Raises MissingModel when nothing says where."""
        azure = self._environment.get("AZURE_OPENAI_ENDPOINT")
        if azure and not (base_url or key_env):
            return self._azure(azure)
        url, key = base_url or self._environment.get("OPENAI_BASE_URL"), self._key_for(key_env)
        if not key and not url:
            raise MissingModel(NO_MODEL)
        return Endpoint(url, key, longest=self._longest_reply())

    def _key_for(self, key_env: str | None) -> str:
        """The key of a model; empty where none is set."""
        if not key_env:
            return self._api_key or self._key("OPENAI_API_KEY")
        if not (key := self._key(key_env)):
            raise MissingModel(f"the environment variable {key_env} that holds the key of this model is not set")
        return key

    def _azure(self, url: str) -> Endpoint:
        key = self._api_key or self._key("AZURE_OPENAI_API_KEY") or self._key("OPENAI_API_KEY")
        if not key:
            raise MissingModel("AZURE_OPENAI_ENDPOINT is set, but no key for it; set AZURE_OPENAI_API_KEY")
        return Endpoint(url, key, api_version=self._environment.get("OPENAI_API_VERSION", "2024-10-21"),
                        longest=self._longest_reply())

    def _key(self, variable: str) -> str:
        """The key in a variable, without the line end that comes with copying it."""
        return self._environment.get(variable, "").strip()

    def _sleep(self) -> Sleep:
        """How to wait before a request is repeated: at most as long as CHATDEV_RETRY_SECONDS says."""
        longest = self._seconds(RETRY_VARIABLE, LONGEST_WAIT, "the longest wait before a request is repeated")
        return lambda seconds: asyncio.sleep(min(seconds, longest))

    def _longest_reply(self) -> float:
        """Seconds for a whole reply."""
        return self._seconds(REPLY_VARIABLE, LONGEST_REPLY, "the longest time that a reply may take")

    def _seconds(self, variable: str, default: float, meaning: str) -> float:
        given = self._environment.get(variable, default)
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
            return LocalModel(Path(path).expanduser())
        if installed_file() is None:
            raise MissingModel(NO_MODEL)
        return LocalModel()
