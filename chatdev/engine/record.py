"""What a journal has of a run's activities, and what to do where the run goes another way now (design §5)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from chatdev.engine.results import ActivityResult
from chatdev.errors import RecordEnds, RunChanged
from chatdev.place import Place

Differing = Literal["refuse", "perform", "ignore"]
"""What a request that differs from the recorded one means: an error, a new call, or nothing (the place decides)."""

_OF_THE_MODEL = ("sampling", "constraint")
"""What of a request depends on the model that is asked."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished activity: the digest of its request, the request, and the result."""

    digest: str
    request: Mapping[str, Any]
    result: ActivityResult


class Record:
    """Finished activities by place.

    `complete`: nothing may be performed that is not on record (replays). `changed`: the company is another one now, so
    that a new activity before the record's end is a difference too. `any_model`: the user chose another model, so that
    what depends on it may differ. `speed`: give results after the time that they took, divided by this; None: at once.
    """

    def __init__(self, finished: Mapping[str, Finished], differing: Differing = "refuse", *, complete: bool = False,
                 changed: bool = False, any_model: bool = False, speed: float | None = None) -> None:
        self._finished = finished
        self._left = dict.fromkeys(finished)
        self._differing = differing
        self._complete = complete
        self._changed = changed
        self._any_model = any_model
        self._speed = speed
        self.found = 0
        """Activities whose results were given."""
        self.differences = 0
        """Those among them that were not as recorded."""

    async def find(self, place: str, digest: str, request: Mapping[str, Any]) -> ActivityResult | None:
        """The result on record, or None when the activity must be performed. Raises RunChanged when it differs and
        that is refused, RecordEnds when there is none in a replay."""
        known = self._finished.get(place)
        self._left.pop(place, None)
        if known is None:
            self._refuse_unknown(place, request)
            return None
        if known.digest != digest and not self._accepted(known.request, request):
            if self._differing == "refuse":
                raise RunChanged(place, known.request, request)
            if self._differing == "perform":
                return None
            self.differences += 1
        self.found += 1
        if self._speed:
            await asyncio.sleep(getattr(known.result, "seconds", 0.0) / self._speed)
        return known.result

    def end(self) -> None:
        """The chain is done. Raises RunChanged when the company is another one now and does not come to an activity
        that is on record, where that is refused."""
        if self._changed and self._left and self._differing == "refuse":
            place = next(iter(self._left))
            raise RunChanged(place, self._finished[place].request, {},
                             f"{place} was in the run, and the company does not come to it any more")

    def _accepted(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
        return self._any_model and _without_model(before) == _without_model(now)

    def _refuse_unknown(self, place: str, request: Mapping[str, Any]) -> None:
        later = next((left for left in self._left if not Place(place).in_other_branch(left)), None)
        if self._changed and later and self._differing == "refuse":
            raise RunChanged(place, {}, request, f"{place} was not in the run before, and {later} was: the company has "
                                                 "changed")
        if self._complete:
            raise RecordEnds(f"the record ends here: nothing is written of {place}")


def _without_model(request: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in _OF_THE_MODEL}
