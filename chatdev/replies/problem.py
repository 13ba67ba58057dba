"""What is raised when a response does not parse."""

from __future__ import annotations

from chatdev.errors import ChatDevError

_SHOWN = 12  # more problems than this are counted, not listed


class Unreadable(ChatDevError):
    """A response is not in the form its phase asks for; `problems` are facts for whoever wrote it.

    The turn layer sends them back to the assistant; the prompt around them is a template.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        shown = list(problems[:_SHOWN])
        if len(problems) > _SHOWN:
            shown.append(f"and {len(problems) - _SHOWN} more problems")
        super().__init__(shown[0] if len(shown) == 1 else "\n".join(f"- {problem}" for problem in shown))
