"""The workshop: a company with every kind of step, and what its model answers - the same at the same place, always."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.support.chat_server import Scripted

COMPANY = Path(__file__).with_name("workshop.yaml")
TASK = "A program that says three things"
PARTS = ("alpha", "beta", "gamma")
BRANCHES = 3
"""Branches of its parallel step: so many calls may be under way at once."""

_DONE = "<SOLUTION>"


def answer(place: str) -> Scripted:
    """The model's reply to the call at `place`. Raises ValueError for a place the chain has not."""
    for pattern, reply in _REPLIES:
        if re.search(pattern, place):
            made = reply(place)
            return made if isinstance(made, Scripted) else Scripted(made)
    raise ValueError(f"the workshop makes no call at {place}")


def _block(path: str, content: str, mark: str = "") -> str:
    return f"{path}\n```{mark}\n{content}```\n"


def _part_of(place: str) -> str:
    found = re.search(r"item-(\d)", place)
    return PARTS[int(found[1]) - 1] if found else PARTS[0]


def _part(place: str, *, first: bool, second: bool) -> str:
    """The file of a part, with or without the bodies of its two functions."""
    name = _part_of(place)
    bodies = [f"return '{name} {n}'" if written else "pass" for n, written in ((1, first), (2, second))]
    functions = "\n\n".join(f'def say_{n}():\n    """Say it."""\n    {body}\n' for n, body in enumerate(bodies, 1))
    return _block(f"parts/{name}.py", functions)


def _main(body: str) -> str:
    imports = "".join(f"from parts import {part}\n" for part in PARTS)
    return f'{imports}\n\ndef main():\n    """Say all."""\n    {body}\n\n\nif __name__ == "__main__":\n    main()\n'


def _says(how: str) -> str:
    return _main("for part in (" + ", ".join(PARTS) + f"):\n        print({how})")


_JOINED = _block("main.py", _says("part.say_1()"))
_CUT = len(_JOINED) // 2
_CALL = '```json\n{"tool": "software.complete", "arguments": {}}\n```'

_REPLIES: list[tuple[str, Callable[[str], str | Scripted]]] = [
    (r"^plan#1/round-1/assistant/ask-1$", lambda _: "<QUESTION> How many parts?"),
    (r"^plan#1/round-1/instructor/answer-1$", lambda _: "Three."),
    (r"^plan#1/round-1/assistant$", lambda _: "\n".join(f"- {part}" for part in reversed(PARTS))),
    (r"^plan#1/round-2/instructor$", lambda _: "Sort them."),
    (r"^plan#1/round-2/assistant/ask-1$", lambda _: "\n".join(f"- {part}" for part in PARTS)),
    (r"^plan#1/round-3/instructor$", lambda _: _DONE),
    (r"write#1/round-1/assistant$", lambda _: "I shall write it."),
    (r"write#1/round-1/assistant/retry-1$", lambda place: _part(place, first=False, second=False)),
    (r"pass-1/mend#1/round-1/assistant$", lambda place: _part(place, first=True, second=False)),
    (r"pass-2/mend#1/round-1/assistant$", lambda place: _part(place, first=True, second=True)),
    (r"look#1/round-1/assistant$", lambda _: _CALL),
    (r"look#1/round-1/assistant/act-\d$", lambda place: f"It says {_part_of(place)}."),
    (r"look#1/round-2/instructor$", lambda _: _DONE),
    (r"^join#1/round-1/assistant$", lambda _: _block("main.py", _main("pass"))),
    (r"^join#1/round-2/instructor$", lambda _: "Write the body of main."),
    (r"^join#1/round-2/assistant$", lambda _: Scripted(_JOINED[:_CUT], finish_reason="length")),
    (r"^join#1/round-2/assistant/more-1$", lambda _: _JOINED[_CUT:]),
    (r"manual#1/round-1/assistant$", lambda _: "# Manual\n\nStart it.\n"),
    (r"manual#1/round-2/instructor$", lambda _: "Say how."),
    (r"manual#1/round-2/assistant$", lambda _: "# Manual\n\nStart it with `python main.py`.\n"),
    (r"example#1/round-1/assistant$",
     lambda place: _block(f"examples/{_part_of(place)}.md", f"# {_part_of(place)}\n\nIt speaks for itself.\n")),
    (r"pass-(\d)/notice#1/round-1/assistant$",
     lambda place: f"# Notice\n\nDraft {re.findall(r'pass-(.)', place)[-1]}: free.\n"),
    (r"pass-1/polish#1/round-1/assistant$", lambda _: _block("main.py", _main("print("))),
    (r"pass-1/polish#1/round-1/assistant/retry-\d$", lambda _: _block("main.py", _says("part.say_2()"))),
    (r"pass-1/polish#1/round-2/instructor$", lambda _: "Say both."),
    (r"pass-1/polish#1/round-2/assistant$", lambda _: _block("main.py", _says("part.say_1(), part.say_2()"))),
    (r"pass-2/polish#1/round-1/assistant$", lambda _: _block("examples/beta.md", "", "delete")),
    (r"pass-2/polish#1/round-2/instructor$", lambda _: _DONE),
    (r"pass-1/choose#1/round-1/assistant$", lambda _: "Perhaps."),
    (r"pass-1/choose#1/round-1/assistant/retry-1$", lambda _: "more"),
    (r"pass-2/choose#1/round-1/assistant$", lambda _: "enough"),
]
"""Patterns of places with what is said there; the first that fits counts."""
