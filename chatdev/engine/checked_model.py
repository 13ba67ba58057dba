"""Models may be objects of the caller's own: what they give is looked at before it is counted, journaled and read."""

from __future__ import annotations

from dataclasses import dataclass

from chatdev.engine.activity import Replied, result_from_json, result_to_json
from chatdev.errors import JournalError, UnusableReply
from chatdev.llm.base import Model, Reply, Request, model_name


@dataclass(frozen=True, slots=True)
class CheckedModel:
    """A model whose replies can be journaled: the journal would give the same back."""

    model: Model

    async def complete(self, request: Request) -> Reply:
        """The reply. Raises UnusableReply for what is none, and the model's own errors."""
        reply = await self.model.complete(request)
        try:
            result_from_json(result_to_json(Replied(reply, 0.0)))
        except (AttributeError, TypeError, JournalError):
            raise UnusableReply(f"the model {model_name(self.model)!r} gave {reply!r:.200}, which is no reply; it must "
                                "be a `chatdev.llm.base.Reply` with texts, and with counts in its usage") from None
        return reply

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()
