"""Models: which one and how to draw from it, what is known of it, the limits that suit it (`models.yaml`), and its
price, as somebody wrote it down or as the package genai-prices lists it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from chatdev.config.yaml_nodes import StrictModel, name_hint, read, validate_node
from chatdev.connection import HUMAN, Provider, is_loopback, spellings
from chatdev.errors import ConfigError
from chatdev.paths import bundled_folder
from chatdev.safe_text import NameSign, name_sign

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice


# Prices of models: as somebody wrote them down, or as the package genai-prices lists them.

_VARIANTS = (":free", ":online")  # of a model at a gateway, whose price is not that of the model


class Rate(StrictModel):
    """US dollars per million tokens."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    cached: float | None = Field(None, ge=0)
    """Of prompt tokens that come from the server's cache; None: as the others."""

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """US dollars for these tokens; the cached ones are among those of the prompt."""
        cached = self.prompt if self.cached is None else self.cached
        return ((prompt_tokens - cached_tokens) * self.prompt + cached_tokens * cached
                + completion_tokens * self.completion) / 1_000_000


class LongRate(Rate):
    """The rate of all tokens of a call with a longer prompt."""

    above: int = Field(gt=0)
    """Prompt tokens."""


class Price(Rate):
    """A rate, and those that stand in its place for long prompts."""

    long: list[LongRate] = Field([])

    def at(self, prompt_tokens: int) -> Rate:
        """The rate of a call with a prompt so long."""
        beyond = [rate for rate in self.long if prompt_tokens > rate.above]
        return max(beyond, key=lambda rate: rate.above, default=self)

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """US dollars for a call."""
        return Rate.cost(self.at(prompt_tokens), prompt_tokens, completion_tokens, cached_tokens)


FREE = Price(prompt=0, completion=0)


@dataclass(frozen=True, slots=True)
class Listed:
    """What is listed of a model; None: nothing."""

    price: Price | None = None
    context: int | None = None
    is_known: bool = False
    """Whether there is such a model at all."""


def find_listed(model: str, address: str | None = None, *, by_name: bool = True) -> Listed:
    """What genai-prices, as it is installed, lists of a model at an address (None: of its vendor). `by_name`: at an
    address that is not listed, and at OpenRouter for a model that is not listed there, what the vendor asks for a
    model of this name. Nothing is fetched."""
    from genai_prices.data_snapshot import get_snapshot

    listed = get_snapshot()

    def find(name: str, provider: str | None = None, url: str | None = None) -> ModelInfo | None:
        try:
            return listed.find_provider_model(name, None, provider, url)[1]
        except LookupError:
            return None

    names = spellings(model)
    here = _provider_at(address)
    found = next((info for name in names if here and (info := find(name, here))), None)
    if found is None and here in (None, "openrouter") and by_name and not model.endswith(_VARIANTS):
        found = next((info for name in names if (info := find(name))), None)
    return _read(found) if found else Listed()


def listed_names() -> Iterator[str]:
    """The names of the models of those who make them."""
    from genai_prices.data_snapshot import get_snapshot

    return (info.id for provider in get_snapshot().providers if provider.model_match for info in provider.models)


def _provider_at(address: str | None) -> str | None:
    """Its name in genai-prices."""
    from genai_prices.data_snapshot import get_snapshot

    try:
        return get_snapshot().find_provider(None, None, address).id if address else None
    except LookupError:
        return None


def _read(info: ModelInfo) -> Listed:
    """What is listed; of prices that depend on the time of the day the dearest."""
    hours = (datetime.now(UTC) + timedelta(hours=hour) for hour in range(24 if isinstance(info.prices, list) else 1))
    listed = max(map(info.get_prices, hours), key=lambda one: (_rate(one, 0) or {"prompt": 0.0})["prompt"])
    starts = sorted({tier.start for part in _parts(listed) for tier in getattr(part, "tiers", ())})
    price = _rate(listed, 0)
    if price is None:
        return Listed(None, info.context_window, is_known=True)
    long = [LongRate(above=start, **rate) for start in starts if (rate := _rate(listed, start))]
    return Listed(Price(**price, long=long), info.context_window, is_known=True)


def _parts(listed: ModelPrice) -> tuple[Any, Any, Any]:
    return listed.input_mtok, listed.output_mtok, listed.cache_read_mtok


def _rate(listed: ModelPrice, prompt_tokens: int) -> dict[str, Any] | None:
    """The rate of a call with a prompt of so many tokens; None where it is not listed."""
    prompt, completion, cached = (_amount(part, prompt_tokens) for part in _parts(listed))
    if prompt is None or completion is None:
        return None
    return {"prompt": prompt, "completion": completion, "cached": cached}


def _amount(part: Any, prompt_tokens: int) -> float | None:
    if part is None:
        return None
    tiers = [tier.price for tier in getattr(part, "tiers", ()) if prompt_tokens >= tier.start]
    return float(tiers[-1] if tiers else getattr(part, "base", part))


# Models: which one and how to draw from it, what is known of it, and the limits that suit it (`models.yaml`).

_MOST_SHOWN = 20  # models of a server
_SHARE_OF_MAP, _LEAST_MAP, _LARGEST_MAP = 6, 300, 24_000  # of a context window; tokens


def number_or_size(choice: Any) -> str:
    """The tag of a field that is a number, or the name of a size."""
    return "size" if isinstance(choice, str) else "number"


MostTokens = Annotated[
    Annotated[Annotated[int, Field(gt=0)] | None, Tag("number")] | Annotated[Literal["example_tokens"], Tag("size")],
    Discriminator(number_or_size),
]


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How long a model thinks before it answers; which words it takes is the model's affair."""

_OWN_FIELDS = {
    "messages": "the dialogue", "model": "`name`", "stream": "`stream` of a profile, or --stream",
    "stream_options": "`stream` of a profile", "max_tokens": "`max_tokens`", "max_completion_tokens": "`max_tokens`",
    "temperature": "`temperature`", "top_p": "`top_p`", "seed": "`seed`", "reasoning_effort": "`reasoning_effort`",
    "tools": "`tools` of a role", "tool_choice": "`tools` of a role", "functions": "`tools` of a role",
    "function_call": "`tools` of a role", "response_format": "`solution`", "grammar": "`solution`", "n": "`drafts`"}
"""Fields of a request that are chatdev's own, and what decides them."""
_NAME_OF_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE_OF_HEADER = re.compile(r"[ -~]{0,1000}")
_OWN_HEADERS = re.compile(r"accept.*|connection|content-.*|expect|host|keep-alive|proxy-.*|te|trailer|"
                          r"transfer-encoding|upgrade|x-chatdev-.*", re.IGNORECASE)
_SECRET_HEADERS = re.compile(r"auth|cookie|secret|token|password|api-?key", re.IGNORECASE)


def _check_extra(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raise ValueError for what is not for a user to say, or no JSON."""
    if own := next((name for name in body if name in _OWN_FIELDS), None):
        raise ValueError(f"{own!r} cannot stand in extra_body; it is decided by {_OWN_FIELDS[own]}")
    try:
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError):
        raise ValueError("extra_body holds what JSON has not: a date, inf or nan; write a text or a number") from None
    return body


def _check_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Raise ValueError, without the value, for a header that may not stand in a file."""
    for name, value in headers.items():
        if not (_NAME_OF_HEADER.fullmatch(name) and _VALUE_OF_HEADER.fullmatch(value)):
            raise ValueError(f"{name[:100]!r} is no header: a name has letters, digits and -, a value at most 1000 "
                             "plain characters of one line")
        if _OWN_HEADERS.fullmatch(name):
            raise ValueError(f"the header {name!r} is set by chatdev or its HTTP client; leave it out")
        if _SECRET_HEADERS.search(name) or name_sign(name) is not NameSign.NONE:
            raise ValueError(f"the header {name!r} may hold a key, which no file may: name the key's variable "
                             f"(`key_env`), or set OPENAI_CUSTOM_HEADERS='{name}: …' in the environment")
    return headers


ExtraBody = Annotated[dict[str, Any], AfterValidator(_check_extra)]
Headers = Annotated[dict[str, str], AfterValidator(_check_headers)]


class ModelSettings(StrictModel):
    """A model and how to draw from it: each value from the first of phase, role, the user's default and company that
    sets it."""

    name: str | None = None
    """A model name of the endpoint, PROVIDER/NAME where no endpoint is given, `local`, `local:PATH.gguf`, or `human`: a
    person."""
    profile: str | None = None
    """The known model that it is, where its own name does not say so (a deployment of Azure, an alias of a gateway)."""
    provider: str | None = None
    """Who is asked, by name: it gives the address and the variable of the key."""
    base_url: str | None = None
    """An OpenAI-compatible endpoint of its own."""
    key_env: str | None = None
    """Name of the environment variable that holds this endpoint's key."""
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: MostTokens = None
    """Limit of one reply, tokens: a number, or the name of a size of the model."""
    seed: int | None = None
    reasoning_effort: Effort | None = None
    extra_body: ExtraBody | None = None
    """Further fields of the request, as the server wants them, e.g. `{top_k: 20}`."""
    headers: Headers | None = None
    """Further headers of the request; they are in no record of a call."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, given: Any) -> Any:
        """`model: NAME` is short for `model: {name: NAME}`."""
        return {"name": given} if isinstance(given, str) else given


class Sizes(StrictModel):
    """Amounts that a model is asked for at a time. Templates name these as `sizes.commands` and so on; the numbers may
    also stand in `solution.most` and `model.max_tokens`, by their names."""

    program: Literal["small", "any"] = "any"
    """`small`: openings say more of how a program is laid out, and ask for no more than it needs."""
    design_lines: int = Field(30, ge=1)
    """Lines of a description of what is to be programmed."""
    commands: int = Field(20, ge=1)
    """Lines that a tester types."""
    examples: int = Field(10, ge=1)
    """Examples that are found in a request."""
    example_tokens: int = Field(4000, ge=1)
    """Tokens of a reply that has them."""
    manual_lines: int = Field(120, ge=1)
    """Lines of a manual."""
    map_tokens: int = Field(6000, ge=100)
    """Tokens of the map of a repository. Where no profile says so, a share of the model's context window."""

    def number(self, name: str) -> int:
        """The number of this name."""
        return int(getattr(self, name))


class ModelProfile(StrictModel):
    """Properties of the models that `match`; unset fields come from the next matching entry."""

    match: list[str] = Field(min_length=1)
    """Patterns of model names (`*`, `?`, `[…]`), without regard to case."""
    context: int | None = Field(None, gt=0)
    """Context window, tokens; None: unknown, the server is asked to complain."""
    longest_reply: int | None = Field(None, gt=0)
    """Tokens of the longest reply that the model can give; None: as far as its context window reaches. Budgets reserve
    it; no request names it."""
    max_tokens: int | None = Field(None, gt=0)
    """Limit of one reply, tokens, where the company sets none."""
    instruction_tokens: int | None = Field(None, gt=0)
    """Limit of one instruction or answer of an instructor, tokens; a longer one is taken as far as it goes. (A small
    model may repeat a sentence for ever.)"""
    rounds: int | None = Field(None, ge=1)
    """Most rounds of a phase."""
    questions: int | None = Field(None, ge=1)
    """Most questions of dehallucination in one round."""
    window: int | None = Field(None, ge=1)
    """How many exchanges short-term memory keeps where the phase does not say."""
    drafts: int = Field(1, ge=1)
    """How many drafts are drawn in a phase that leaves it to the model (`drafts: model`)."""
    drafts_at_once: int = Field(4, ge=1)
    """How many drafts are asked for at the same time."""
    native_tools: bool = False
    """Whether the model is given tools through the API; otherwise by the JSON-block protocol."""
    pictures: bool = True
    """Whether it looks at pictures; false: it is known not to, and a run that would show it one does not begin."""
    constrained: bool = False
    """Whether lists of bounded length, attempts after the first and reflections are held to the form of the solution by
    a grammar or schema."""
    stream: bool = False
    """Whether replies are streamed without a listener, too, so that a repeating one is cut early. Their tokens are then
    counted here, and each piece takes processor time."""
    open_weights: bool | None = None
    """Whether anybody can run it, so that a server on this machine that has it takes no money; false: none can."""
    reasoning_effort: Effort | None = None
    """Where the company sets none; so are the next two."""
    extra_body: ExtraBody | None = None
    headers: Headers | None = Field(None, exclude=True)
    sizes: Sizes = Sizes()
    """Amount the model is asked for at a time."""
    price: Price | None = None
    """None: unknown, which is never counted as zero."""
    tokenizer: str = "cl100k_base"
    """tiktoken encoding to estimate with where the server does not count."""

    @property
    def is_person(self) -> bool:
        """Whether it is a person who answers."""
        return self.match == [HUMAN]

    def longest(self, limit: int | str | None) -> int | None:
        """The limit of one reply, in tokens, where a company says this: a number, the name of a size, or nothing."""
        return self.sizes.number(limit) if isinstance(limit, str) else limit or self.max_tokens

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float | None:
        """US dollars for these tokens; None when the price is unknown."""
        return None if self.price is None else self.price.cost(prompt_tokens, completion_tokens, cached_tokens)


class Profiles(StrictModel):
    """The file `models.yaml`."""

    models: list[ModelProfile]
    providers: dict[str, Provider]
    no_dialogue: list[str]
    """Patterns of names of models that hold no dialogue."""


def profile_for(model: str, own: Sequence[ModelProfile] = (), address: str | None = None,
                provider: Provider | None = None) -> ModelProfile:
    """The profile of a model name: for every field the first entry that matches it, or the name without a gateway's
    prefixes, and sets it, the user's `own` entries before the bundled ones; price and context window else as they are
    listed at the `address` and the `provider`. Raises ConfigError when `models.yaml` is broken."""
    names = spellings(model)
    merged: dict[str, Any] = {}
    for entry in (*own, *_bundle().models):
        if any(fnmatchcase(name, pattern.lower()) for pattern in entry.match for name in names):
            merged = {**{field: getattr(entry, field) for field in entry.model_fields_set}, **merged}
    if not {"price", "context"} <= merged.keys():
        merged = {**_list_entry(model, merged.get("open_weights"), address, provider), **merged}
    found = ModelProfile(**{**merged, "match": [model]})
    if found.context is None or "map_tokens" in found.sizes.model_fields_set:
        return found
    tokens = max(_LEAST_MAP, min(found.context // _SHARE_OF_MAP, _LARGEST_MAP))
    return found.model_copy(update={"sizes": found.sizes.model_copy(update={"map_tokens": tokens})})


def _list_entry(model: str, open_weights: bool | None, address: str | None,
                provider: Provider | None) -> dict[str, Any]:
    """Price and context window of a model that no entry gives. A server on this machine takes nothing for what it runs
    itself, and how large its windows are is its owner's choice."""
    at_home = address is not None and is_loopback(address)
    passes_on = find_provider(model.partition("/")[0])
    if at_home and (provider.local if provider else open_weights and not (passes_on and passes_on.is_hosted_gateway)) \
            and open_weights is not False:
        return {"price": FREE}
    found = find_listed(model, address, by_name=not open_weights)
    return {"price": found.price, "context": None if at_home else found.context}


def find_provider(name: str) -> Provider | None:
    """The provider of this name or alias; None: there is none."""
    return _providers().get(name.lower())


def provider_of(name: str) -> Provider:
    """The same. Raises ConfigError with the nearest name."""
    if found := find_provider(name):
        return found
    raise ConfigError(unknown_provider_text(name))


def unknown_provider_text(name: str) -> str:
    """Message, with the nearest name, for a provider that nobody knows."""
    return (f"there is no provider {name!r}; {name_hint(name, _bundle().providers)}. For another server give its "
            "address (`base_url`, --base-url)")


def known_providers() -> Sequence[Provider]:
    """All providers, by name."""
    return [found for name, found in _providers().items() if name == found.name]


def holds_dialogue(model: str) -> bool:
    """Whether a model of this name may be one that is asked for replies, and not for vectors, pictures or speech."""
    return not any(fnmatchcase(model.lower(), pattern) for pattern in _bundle().no_dialogue)


def choose_served(served: Sequence[str], usual: str) -> str:
    """The model to ask a server for that has these: the usual one, or the only one that holds dialogues. Raises
    ConfigError where it has several."""
    able = [name for name in served if holds_dialogue(name)] or list(served)
    if usual in able or len(able) == 1:
        return usual if usual in able else able[0]
    more = f" and {len(able) - _MOST_SHOWN} more" if len(able) > _MOST_SHOWN else ""
    raise ConfigError(f"no model is named, and the server has {len(able)}: {', '.join(able[:_MOST_SHOWN])}{more}; "
                      f"choose one, e.g. --model {shlex.quote(able[0])}")


def refuse_unknown_profile(name: str, own: Sequence[ModelProfile] = ()) -> None:
    """Raise ConfigError with the nearest name where nothing is known of such a model."""
    names, written = spellings(name), [pattern.lower() for entry in own for pattern in entry.match]
    exact = [pattern for entry in _bundle().models for pattern in entry.match if not set(pattern) & set("*?[")]
    if any(fnmatchcase(one, pattern) for one in names for pattern in (*written, *exact)) or find_listed(name).is_known:
        return
    known = (*written, *exact, *listed_names())
    raise ConfigError(f"nothing is known of a model {name!r}, so that it cannot be a profile; "
                      f"{name_hint(name, known).partition('known:')[0]}give a known model, or describe this one under "
                      "`models:` in the settings file")


@cache
def _providers() -> dict[str, Provider]:
    """The providers by name and by alias."""
    found = {name: entry.model_copy(update={"name": name}) for name, entry in _bundle().providers.items()}
    return found | {alias: provider for provider in found.values() for alias in provider.aliases}


@cache
def _bundle() -> Profiles:
    return validate_node(Profiles, read(bundled_folder("company_config") / "models.yaml"))
