"""Models: which one and how to draw from it, what is known of it, and the limits that suit it (`models.yaml`)."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from chatdev.config.yaml_nodes import StrictModel, read, validate_node
from chatdev.paths import bundled_folder

_SHARE_OF_MAP, _LEAST_MAP, _LARGEST_MAP = 6, 300, 24_000  # of a context window; tokens


def number_or_size(choice: Any) -> str:
    """The tag of a field that is a number, or the name of a size."""
    return "size" if isinstance(choice, str) else "number"


MostTokens = Annotated[
    Annotated[Annotated[int, Field(gt=0)] | None, Tag("number")] | Annotated[Literal["example_tokens"], Tag("size")],
    Discriminator(number_or_size),
]


class ModelSettings(StrictModel):
    """A model and how to draw from it: each value from the first of phase, role, the user's default and company that
    sets it."""

    name: str | None = None
    """A model name of the endpoint, `local`, or `local:PATH.gguf`."""
    base_url: str | None = None
    """An OpenAI-compatible endpoint of its own."""
    key_env: str | None = None
    """Name of the environment variable that holds this endpoint's key."""
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: MostTokens = None
    """Limit of one reply, tokens: a number, or the name of a size of the model."""
    seed: int | None = None


class Price(StrictModel):
    """US dollars per million tokens."""

    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """US dollars for these tokens."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


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
    sizes: Sizes = Sizes()
    """Amount the model is asked for at a time."""
    price: Price | None = None
    """None: unknown, which is never counted as zero."""
    tokenizer: str = "cl100k_base"
    """tiktoken encoding to estimate with where the server does not count."""

    def longest(self, limit: int | str | None) -> int | None:
        """The limit of one reply, in tokens, where a company says this: a number, the name of a size, or nothing."""
        return self.sizes.number(limit) if isinstance(limit, str) else limit or self.max_tokens

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars for these tokens; None when the price is unknown."""
        return None if self.price is None else self.price.cost(prompt_tokens, completion_tokens)


class Profiles(StrictModel):
    """The file `models.yaml`."""

    models: list[ModelProfile]


def profile_for(model: str, own: Sequence[ModelProfile] = ()) -> ModelProfile:
    """The profile of a model name: for every field the first entry that matches and sets it, the user's `own`
    entries before the bundled ones. Raises ConfigError when `models.yaml` is broken."""
    name = model.lower()
    merged: dict[str, Any] = {}
    for entry in (*own, *_bundled_profiles()):
        if any(fnmatchcase(name, pattern.lower()) for pattern in entry.match):
            merged = {**{field: getattr(entry, field) for field in entry.model_fields_set}, **merged}
    found = ModelProfile(**{**merged, "match": [model]})
    if found.context is None or "map_tokens" in found.sizes.model_fields_set:
        return found
    tokens = max(_LEAST_MAP, min(found.context // _SHARE_OF_MAP, _LARGEST_MAP))
    return found.model_copy(update={"sizes": found.sizes.model_copy(update={"map_tokens": tokens})})


@cache
def _bundled_profiles() -> tuple[ModelProfile, ...]:
    return tuple(validate_node(Profiles, read(bundled_folder("company_config") / "models.yaml")).models)
