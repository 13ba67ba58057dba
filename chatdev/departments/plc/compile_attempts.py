"""How many programs a run wrote until the first one that compiles (Agents4PLC, table I), read from its journal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chatdev.config.phases import Phase
from chatdev.place import Place
from chatdev.replies import FilesDelivery, Unreadable, parse_solution, read_marker, tidy_body
from chatdev.runner.recorded import RecordedRun, recorded_company
from chatdev.runner.toolbox import KnownTools

Files = Mapping[str, bytes]


def count_attempts(run: RecordedRun, compiles: Callable[[Files], bool], suffix: str) -> int | None:
    """The number of the first reply whose files compile, among those that write a file with this suffix; None where
    none does. Each draft is an attempt, and so is a reply that was refused afterwards. `compiles` is asked about the
    software as that reply would have it, mended where its phase mends it."""
    company = recorded_company(run.order, KnownTools())
    writing = {name: phase for name, phase in company.phases.items() if phase.solution.form == "files"}
    records = list(run.records)
    for number, delivery in enumerate(_deliveries(records, writing, run.order.software, suffix), start=1):
        if compiles(delivery.software):
            return number
    return None


def _deliveries(records: Sequence[Mapping[str, Any]], phases: Mapping[str, Phase], software: Files,
                suffix: str) -> Iterator[FilesDelivery]:
    """What the assistants' replies write, each upon what stood then."""
    read: dict[str, FilesDelivery] = {}
    mended = dict(_find_mended(records))
    for record in records:
        place = Place(record.get("place", ""))
        if record["kind"] == "Activity" and _is_answer(record["result"], place):
            found = _read(record["result"]["text"], phases.get(place.step_name), software)
            if found:
                found = replace(found, software={**found.software, **mended.get(place.turn, {})})
                read[place.turn] = found
            if found and any(path.lower().endswith(suffix) for path in found.written):
                yield found
        elif record["kind"] == "DeliveryApplied" and place in read:
            software = read[place].software


def _find_mended(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Files]]:
    """The files that a tool mended, with the turn that delivered them."""
    for record in records:
        turn, _, part = record.get("place", "").rpartition("/")
        if record["kind"] == "Activity" and part == "mend" and isinstance(value := record["result"].get("value"), dict):
            yield turn, {path: text.encode() for path, text in value.get("files", {}).items()}


def _is_answer(result: Mapping[str, Any], place: Place) -> bool:
    """Whether an assistant says something here, and calls no tool."""
    return "text" in result and not result.get("tool_calls") and place.speaker == "assistant"


def _read(text: str, phase: Phase | None, software: Files) -> FilesDelivery | None:
    """The files that a reply of this phase writes; None where it writes none, or cannot be read."""
    if phase is None:
        return None
    try:
        body = tidy_body(phase.solution, read_marker(text).body)
        found: FilesDelivery = parse_solution(phase.solution, body, software)
    except Unreadable:
        return None
    return found
