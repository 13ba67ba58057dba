"""Size of a request, checked before it is sent: one that exceeds its model's context window is not paid for."""

from __future__ import annotations

from chatdev.config.profiles import ModelProfile
from chatdev.llm.base import Request
from chatdev.llm.tokens import counts_exactly
from chatdev.llm.usage import MESSAGE_TOKENS, prompt_tokens

LEAST_REPLY = 256  # tokens: with less room for it, no reply is worth anything
_UNLIKE = 0.8  # of our count: models with another vocabulary may count so few


def reason_too_large(request: Request, profile: ModelProfile) -> str:
    """Reason, with figures, why the request exceeds the model's context window; empty if it may fit or the window is
    unknown. Counts by another model's vocabulary are rounded in its favour."""
    if profile.context is None:
        return ""
    reply = min(request.sampling.max_tokens or LEAST_REPLY, LEAST_REPLY)
    if _most_tokens(request) + reply <= profile.context:
        return ""
    tokens = prompt_tokens(request)
    model = request.sampling.model
    if tokens * (1.0 if counts_exactly(model) else _UNLIKE) + reply <= profile.context:
        return ""
    return describe_excess(model, tokens, profile.context)


def describe_excess(model: str, tokens: int, context: int) -> str:
    """Message for a request of `tokens` tokens to a model that takes `context`."""
    return (f"the request has about {tokens:,} tokens, and {model} takes {context:,} with its reply, so nothing was "
            "sent; give it less (a part of the software, a shorter task), or take a model with a larger window")


def _most_tokens(request: Request) -> int:
    """More than the tokens can be: no token is shorter than a byte. Pictures and tools are left to the count."""
    if request.tools or any(message.images or message.tool_calls for message in request.messages):
        return 1 << 62
    return sum(len(message.content.encode("utf-8", "replace")) + MESSAGE_TOKENS for message in request.messages)
