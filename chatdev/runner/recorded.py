"""A journal read for its run to be gone on with or played again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from chatdev.engine.record import Finished
from chatdev.engine.results import ContextOverflowed, ToolFailed, result_from_json, result_to_json
from chatdev.errors import ConfigError, JournalError
from chatdev.journal import Journal, read_journal
from chatdev.place import Place
from chatdev.runner.order import Order

JOURNAL = "journal.jsonl"
"""The journal's name in the `run` folder."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a journal holds: the newest order, the texts that requests name by hash, the finished activities by place
    in the order they ended, and all records."""

    path: Path
    order: Order
    messages: Mapping[str, Mapping[str, Any]]
    finished: Mapping[str, Finished]
    records: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, path: Path) -> Recorded:
        """The journal at `path`, or of the run folder `path`. Raises JournalError when it is none, or damaged."""
        file = path / "run" / JOURNAL if path.is_dir() else path
        records = tuple(read_journal(file))
        kinds: dict[str, list[Mapping[str, Any]]] = {"Order": [], "Message": [], "Activity": []}
        for record in records:
            kinds.get(record["kind"], []).append(record)
        if not kinds["Order"]:
            raise JournalError(f"{file} does not say what the run was to do (it has no `Order`): it was stopped before "
                               "it began, or is no journal of a run; start the run anew")
        try:
            return cls(file, Order.from_record(kinds["Order"][-1]),
                       {record["hash"]: record["message"] for record in kinds["Message"]},
                       _finished(kinds["Activity"]), records)
        except (KeyError, TypeError, ValueError) as error:
            raise JournalError(f"{file}: a record lacks what belongs to it ({error!r}); the journal is "
                               "damaged") from error

    @property
    def status(self) -> str:
        """How the newest session ended; `interrupted` when it could not say so."""
        ends = [record for record in self.records if record["kind"] in ("RunStarted", "RunFinished")]
        return str(ends[-1].get("status", "interrupted")) if ends else "interrupted"

    @property
    def is_over(self) -> bool:
        """Whether the run came to its end."""
        return self.status in ("success", "failure", "unjudged")

    @property
    def settled(self) -> dict[str, Finished]:
        """The finished activities without the failed ones that ended a session: those are tried again."""
        ends = {record["place"] for record in self.records if record["kind"] == "RunFinished"}
        return {place: done for place, done in self.finished.items()
                if place not in ends or not isinstance(done.result, ToolFailed | ContextOverflowed)}

    @property
    def models_vary(self) -> bool:
        """Whether the run was gone on with by another model than it began with."""
        return len({record["options"].get("model") for record in self.records if record["kind"] == "Order"}) > 1

    def before(self, place: str) -> dict[str, Finished]:
        """The activities that had finished when the one at `place` (or the first below it) did. Raises ConfigError
        when there is none."""
        names = list(self.finished)
        inside = [name for name in names if Place(place).holds(name)]
        if not inside:
            near = get_close_matches(place, names, n=3, cutoff=0.3)
            raise ConfigError(f"there is no activity {place!r} in {self.path}; near it are: {', '.join(near or names)}")
        return {name: self.finished[name] for name in names[:names.index(inside[0])]}

    def copy(self, journal: Journal, finished: Mapping[str, Finished]) -> None:
        """Write the order, the messages and the activities `finished` into a new journal."""
        journal.append("Order", "", self.order.to_record())
        for digest, message in self.messages.items():
            journal.message(digest, message)
        for place, done in finished.items():
            journal.append("Activity", place, {"digest": done.digest, "request": done.request,
                                               "result": result_to_json(done.result), "copied": True})


def _finished(records: list[Mapping[str, Any]]) -> dict[str, Finished]:
    """By place, in the order of the journal; of two at one place (the run was gone on with differently) the newer."""
    found: dict[str, Finished] = {}
    for record in records:
        found.pop(record["place"], None)
        found[record["place"]] = Finished(record["digest"], record["request"],
                                           result_from_json(record["result"]))
    return found
