"""Problems of a reply: codes and facts. Their words are in the protocol's `problems`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from chatdev.errors import ChatDevError

_SHOWN = 12  # more problems than this are counted, not listed


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """Reason why a reply, or a part of it, cannot be used. `code` is an entry of the protocol's `problems`, `facts` are
    its variables."""

    code: str
    facts: Mapping[str, object] = field(default_factory=dict, hash=False)

    def with_path(self, path: str | None) -> ReplyProblem:
        """The same problem of the file `path`; None stands for a block without a file name."""
        return replace(self, facts={**self.facts, "path": path})

    def words(self, templates: Mapping[str, str]) -> str:
        """The problem in the words of a protocol's `problems`. Raises ConfigError when they cannot be rendered."""
        from chatdev.config.templates import render  # the child that reads has no use for templates

        return render(templates[self.code], self.facts, f"protocol.problems.{self.code}")


class Unreadable(ChatDevError):
    """A response is not in the form its phase asks for; `problems` are facts for whoever wrote it.

    The engine sends them back to the assistant, in the words of the company's protocol; as a string it is in the
    bundled words.
    """

    def __init__(self, *problems: ReplyProblem) -> None:
        super().__init__()
        self.problems = problems

    def __str__(self) -> str:
        from chatdev.config.schema import bundled_problems

        return describe_problems(self.problems, bundled_problems())


def unreadable(code: str, **facts: object) -> Unreadable:
    """The error of a single problem."""
    return Unreadable(ReplyProblem(code, facts))


def different(problems: Iterable[ReplyProblem]) -> Iterable[ReplyProblem]:
    """The problems without repetitions; by their texts, for facts have no hash and thousands may have one code."""
    return {(problem.code, repr(problem.facts)): problem for problem in problems}.values()


def describe_problems(problems: Sequence[ReplyProblem], templates: Mapping[str, str]) -> str:
    """The text for the assistant: the one problem, or a list of them, the first twelve."""
    lines = [problem.words(templates) for problem in problems[:_SHOWN]]
    more = len(problems) - len(lines)
    return lines[0] if len(lines) == 1 else ReplyProblem("several", {"problems": lines, "more": more}).words(templates)
