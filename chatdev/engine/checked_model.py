"""Models may be objects of the caller's own: what they give is looked at before it is counted, journaled and read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from chatdev.engine.activity import Replied, result_from_json, result_to_json
from chatdev.errors import ChatDevError, JournalError, ModelCrashed, UnusableReply
from chatdev.llm.base import Model, Reply, Request, model_name
from chatdev.plain_values import encodable_text

_SHOWN = 300  # characters of an exception's message


@dataclass(frozen=True, slots=True)
class CheckedModel:
    """A model whose replies can be journaled: the journal would give the same back."""

    model: Model

    async def complete(self, request: Request) -> Reply:
        """The reply. Raises UnusableReply for what is none, the model's ChatDevErrors as they are, and ModelCrashed for
        all else that it raises; a cancelled run and what ends a program pass through."""
        try:
            reply = await self.model.complete(request)
        except ChatDevError:
            raise
        except Exception as error:
            raise self._crash(error) from error
        except asyncio.CancelledError as error:
            if (task := asyncio.current_task()) and task.cancelling():
                raise
            raise self._crash(error) from error  # of something else that the model awaits
        try:
            result_from_json(result_to_json(Replied(reply, 0.0)))
        except (AttributeError, TypeError, JournalError):
            raise UnusableReply(f"the model {model_name(self.model)!r} gave {reply!r:.200}, which is no reply; it must "
                                "be a `chatdev.llm.base.Reply` with texts, and with counts in its usage") from None
        return reply

    def _crash(self, error: BaseException) -> ModelCrashed:
        try:
            message = " ".join(str(error).split())[:_SHOWN]
        except Exception:  # noqa: BLE001 - an exception of the model's own may break on that, too
            message = ""
        return ModelCrashed(f"the model {model_name(self.model)!r} ended with an unexpected {type(error).__name__}"
                            f"{': ' if message else ''}{encodable_text(message)}")

    async def close(self) -> None:
        """Close the model."""
        await self.model.close()
