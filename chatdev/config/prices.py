"""Prices of models: as somebody wrote them down, or as the package genai-prices lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from chatdev.config.yaml_nodes import StrictModel
from chatdev.origins import spellings

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice

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
