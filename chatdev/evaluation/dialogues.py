"""What the dialogues of runs consist of, read from their journals (ChatDev, ACL 2024, figures 3 to 5): natural language
and code by phase, the issues that reviewers named, the errors that tests showed, and what followed what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from chatdev.config.yaml_nodes import plain, read
from chatdev.events import Place
from chatdev.runner.recorded import find_journal, run_records

Records = Sequence[Mapping[str, Any]]
OTHER, PASSED = "other", "passed"
_SAID = ("instruction", "response", "question", "answer", "reflection")
_FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})[^\n]*\n(?P<code>.*?)(?:^(?P=fence)\s*$|\Z)", re.MULTILINE | re.DOTALL)
_EXCEPTION = re.compile(r"^\s*(?P<kind>[A-Z]\w*(?:Error|Exception|Interrupt|Exit))\b", re.MULTILINE)


@dataclass(slots=True)
class ObservedKinds:
    """What was observed in the executions of one phase, in order."""

    sequences: list[list[str]] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        """How often each kind was observed."""
        return Counter(kind for sequence in self.sequences for kind in sequence)

    @property
    def transitions(self) -> Counter[tuple[str, str]]:
        """How often one kind was followed by another."""
        return transitions(self.sequences)

    def plain(self) -> dict[str, Any]:
        """The tables as JSON values, the most frequent first."""
        return {"executions": len(self.sequences), "observations": self.counts.total(),
                "kinds": dict(self.counts.most_common()),
                "transitions": [{"from": one, "to": other, "count": count}
                                for (one, other), count in self.transitions.most_common()]}


@dataclass(slots=True)
class Dialogues:
    """The dialogues of so many `runs`: what was said by phase, in the order in which phases were met first (figure 3),
    the issues that reviewers named (figure 4), and the errors that tests showed (figure 5)."""

    runs: int = 0
    speech: dict[str, Speech] = field(default_factory=dict)
    reviews: ObservedKinds = field(default_factory=ObservedKinds)
    tests: ObservedKinds = field(default_factory=ObservedKinds)

    def plain(self) -> dict[str, Any]:
        """All tables as JSON values; characters, and the share of natural language between 0 and 1."""
        said = {phase: {"language": found.language, "code": found.code, "share_of_language": found.share_of_language}
                for phase, found in self.speech.items()}
        return {"runs": self.runs, "speech": said, "reviews": self.reviews.plain(), "tests": self.tests.plain()}


def dialogues(folders: Iterable[Path], reviews: Sequence[str] = ("code_review",),
              tests: Sequence[str] = ("system_test",)) -> Dialogues:
    """The dialogues of the newest sessions in run folders (or journals), read one after the other; `reviews` and
    `tests` are the phases in which issues are named and errors shown. Raises JournalError for what is no journal."""
    found = Dialogues()
    for folder in folders:
        records = newest_session(run_records(find_journal(folder)))
        found.runs += 1
        for phase, said in speech(records).items():
            total = found.speech.setdefault(phase, Speech())
            total.language += said.language
            total.code += said.code
        found.reviews.sequences += [each for phase in reviews for each in issues_in_reviews(records, phase)]
        found.tests.sequences += [each for phase in tests for each in errors_in_tests(records, phase)]
    return found


@dataclass(slots=True)
class Speech:
    """Characters that were said in a phase: natural language, and code (what stands in fences)."""

    language: int = 0
    code: int = 0

    @property
    def share_of_language(self) -> float | None:
        """Between 0 and 1; None without utterances."""
        said = self.language + self.code
        return self.language / said if said else None


def newest_session(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The events of a journal's newest session; what earlier sessions of a resumed run said is part of it."""
    session: list[Mapping[str, Any]] = []
    for record in records:
        if record["kind"] == "RunStarted":
            session = []
        session.append(record)
    return session


def speech(records: Records) -> dict[str, Speech]:
    """How much of what was said in each phase is natural language and how much is code (figure 3). Openings and reports
    are left out: nobody says them."""
    found: dict[str, Speech] = {}
    for record in records:
        if record["kind"] == "Uttered" and record["utterance"] in _SAID:
            phase = found.setdefault(Place(record["place"]).step_name, Speech())
            code = sum(len(match["code"]) for match in _FENCE.finditer(record["text"]))
            phase.code += code
            phase.language += len(record["text"]) - code
    return found


def issues_in_reviews(records: Records, phase: str = "code_review") -> list[list[str]]:
    """The kind of issue that the instructor named in each round, for each execution of the phase (figure 4)."""
    return _sequences((record["place"], kind_of_issue(record["text"])) for record in records
                      if record["kind"] == "Uttered" and record["utterance"] == "instruction"
                      and Place(record["place"]).step_name == phase)


def errors_in_tests(records: Records, phase: str = "system_test") -> list[list[str]]:
    """The kind of error that each verdict of the phase showed, for each execution of it (figure 5): the exception,
    the rule where there was none, or `passed`."""
    return _sequences((record["place"], _kind_of_error(record)) for record in records
                      if record["kind"] == "Activity" and "tool" in record["request"]
                      and Place(record["place"]).step_name == phase and "value" in record["result"])


def transitions(sequences: Iterable[Sequence[str]]) -> Counter[tuple[str, str]]:
    """How often one kind was followed by another."""
    return Counter(pair for sequence in sequences for pair in pairwise(sequence))


def kind_of_issue(text: str) -> str:
    """The kind of an instruction, by the patterns of `issue_kinds.yaml`; a rough sorting, not an understanding."""
    return next((kind for kind, pattern in _kinds() if pattern.search(text)), OTHER)


def _sequences(observed: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Observations in order, apart for each execution of a phase."""
    found: dict[str, list[str]] = {}
    for place, kind in observed:
        found.setdefault(Place(place).nearest_step, []).append(kind)
    return list(found.values())


def _kind_of_error(record: Mapping[str, Any]) -> str:
    verdict = record["result"]["value"]
    if not isinstance(verdict, Mapping) or verdict.get("passed"):
        return PASSED
    exceptions = _EXCEPTION.findall(str(verdict.get("report", "")))
    return exceptions[-1] if exceptions else str(verdict.get("rule", OTHER))


@cache
def _kinds() -> tuple[tuple[str, re.Pattern[str]], ...]:
    entries = plain(read(Path(__file__).with_name("issue_kinds.yaml")))
    return tuple((kind, re.compile("|".join(patterns), re.IGNORECASE)) for kind, patterns in entries.items())
