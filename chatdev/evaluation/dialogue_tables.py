"""What the dialogues of many runs come to: tables of phases, kinds, and what followed what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chatdev.evaluation.dialogues import Speech, errors_in_tests, issues_in_reviews, newest_session, speech, transitions
from chatdev.journal import read_journal
from chatdev.runner.recorded import JOURNAL


@dataclass(slots=True)
class Kinds:
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
    reviews: Kinds = field(default_factory=Kinds)
    tests: Kinds = field(default_factory=Kinds)

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
        records = newest_session(read_journal(folder / "run" / JOURNAL if folder.is_dir() else folder))
        found.runs += 1
        for phase, said in speech(records).items():
            total = found.speech.setdefault(phase, Speech())
            total.language += said.language
            total.code += said.code
        found.reviews.sequences += [each for phase in reviews for each in issues_in_reviews(records, phase)]
        found.tests.sequences += [each for phase in tests for each in errors_in_tests(records, phase)]
    return found
