"""What a request as a whole says of its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chatdev.departments.software.cases.passage import Passage, commands_of
from chatdev.departments.software.cases.sentences import command_in_prose
from chatdev.departments.software.cases.wording import FILE_NAME, is_all_of, is_word_of_speech, new_files, says


@dataclass(frozen=True, slots=True)
class Facts:
    """What a request as a whole says of the way a program is started, and of the files that it names and makes anew."""

    takes_arguments: bool = False
    reads_typed: bool = False
    remembers: bool = False
    files: frozenset[str] = frozenset()
    new_files: frozenset[str] = frozenset()

    @classmethod
    def of(cls, request: str, passages: Sequence[Passage], command: str) -> Facts:
        """The facts of a request and its passages. `command` is what stands before a program's arguments."""
        commands = commands_of(passages)
        called = any(commands) or any(
            request[found.end():found.end() + 1] == " " and not is_word_of_speech(request[found.end():][:40])
            for found in command_in_prose(command).finditer(request))
        named = not says("no_arguments", request) and says("arguments", request)
        remembers = says("remembers", request) or any(map(_keeps, commands))
        return cls(called or named, says("reads_typed", request), remembers,
                   frozenset(FILE_NAME.findall(request)), new_files(request))


def _keeps(words: Sequence[str]) -> bool:
    """Whether a command by its name adds or removes a thing, which is known at the next start; `add 2 3` reckons."""
    is_told = any(is_all_of(row, word) for row in ("adds", "removes") for word in words[:1])
    return is_told and any(map(str.isalpha, "".join(words[1:])))
