"""Some lines of a request that are meant letter by letter, and the role that the words before them give them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from chatdev.departments.software.cases.command_line import TypedCommand
from chatdev.departments.software.cases.wording import (
    COLONS,
    FILE_NAME,
    begins_with,
    is_all_of,
    last_clause,
    last_sentence,
    number_of_lines,
    rows_of,
    says,
    without,
    without_asides,
)

Role = Literal["command", "printed", "more", "typed", "file", "writes", "left", "given", "result", "lost",
               "unknown"]
"""`writes` is what a file holds after the start that is told of, `left` after the last one. `given` is what the program
gets in whatever way, and `result` what becomes of it; with `lost` nobody knows any more what is there."""
_LABELS: dict[str, Role] = {
    "label_typed": "typed", "label_printed": "printed", "label_before": "given", "label_after": "result"}
_NUMBERING = re.compile(r"[\d#*_]|\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines, and their role. `group` tells what belongs together (a paragraph, a list, a block); `name` is that of
    a file; `cue` and `after` are the words around it, `inline` says that those go on in the same line. `form` says that
    a command has names for what has to be typed."""

    role: Role
    lines: tuple[str, ...]
    group: int
    command: TypedCommand | None = None
    name: str = ""
    cue: str = ""
    after: str = ""
    inline: bool = False
    form: bool = False


def commands_of(passages: Iterable[Passage]) -> tuple[tuple[str, ...], ...]:
    """The arguments of all commands among the passages, also of those in which something has to be filled in."""
    return tuple(passage.command.arguments for passage in passages if passage.command)


def make_passage(cue: str, lines: tuple[str, ...], group: int, *, block: bool) -> Passage:
    """The passage of lines behind a cue; `block`: they stand below it."""
    labelled = _role_of_label(last_sentence(cue).rstrip(":：")) if block else None
    role = labelled or role_of(cue, block=block) or "unknown"
    names = FILE_NAME.findall(last_sentence(cue))
    if role in ("file", "writes") and len(set(names)) != 1:
        role = "unknown"
    return Passage(role, lines, group, name=names[-1] if names else "", cue=cue, inline=not block)


def label_role(label: str) -> Role | None:
    """What a label at the beginning of a line says of what stands behind or below it."""
    plain = label if FILE_NAME.search(label) else _NUMBERING.sub(" ", label)
    said = _role_of_label(plain) or role_of(plain, block=True)
    return said if said in ("printed", "typed", "file", "writes", "given", "result") else None


def _role_of_label(label: str) -> Role | None:
    """The role of a label that says so only because it is one: `me`, `before`, or `FILE after`."""
    if FILE_NAME.search(label):
        return "writes" if is_all_of("label_after", FILE_NAME.sub(" ", label)) else None
    return next((role for row, role in _LABELS.items() if is_all_of(row, label.strip(" #*"))), None)


def role_of(cue: str, *, block: bool) -> Role | None:
    """What a cue says of what stands behind it, or of a block below it; None where that is not certain."""
    sentence = last_sentence(cue if block else without_asides(cue))
    clause = last_clause(sentence)
    rows = rows_of(FILE_NAME.sub(" ", clause))
    if not block and _ends_with_print(clause):
        return "printed"
    if FILE_NAME.search(sentence if block and rows is None else clause):
        return _role_with_name(FILE_NAME.sub(" ", sentence), rows, block=block)
    if rows is None:
        return _role_of_sentence(sentence, clause, block=block)
    return _role_of_known(sentence, clause, rows, block=block)


def _role_of_sentence(sentence: str, clause: str, *, block: bool) -> Role | None:
    """The role by a sentence with words of its own."""
    if not block:
        return _role_of_counted(sentence)
    return "given" if _is_given(clause) else _role_of_block(sentence)


def _role_of_known(sentence: str, clause: str, rows: set[str], *, block: bool) -> Role | None:
    """The role by a clause whose words are all known; one that says nothing goes on with the clause before it."""
    said = _role_of_clause_before(sentence, clause) if rows == {"filler"} else _role_of_rows(rows, clause)
    return said or ("given" if block and _is_given(clause) else None)


def _ends_with_print(clause: str) -> bool:
    """Whether a clause goes on to say what is printed: `… and prints`."""
    _, joined, ending = clause.rpartition(" and ")
    rows = rows_of(ending) if joined else None
    return rows is not None and _role_of_rows(rows, ending) == "printed"


def _role_of_clause_before(sentence: str, clause: str) -> Role | None:
    """The role by what stands before a clause that says nothing: `I get three lines: first`."""
    before = last_clause(sentence.rstrip(" ,;:，；：")[:-len(clause)])
    rows = rows_of(before)
    return _role_of_rows(rows, f"{before} {clause}") if rows else None


def _role_with_name(sentence: str, rows: set[str] | None, *, block: bool) -> Role | None:
    """The role of what stands behind the name of a file."""
    sentence = _without_order(sentence)
    if says("printed", sentence) or says("typed", sentence):
        return None
    if says("afterwards", sentence):
        return "writes"
    if block:
        return None if says("stop", without("holds", sentence)) else "file"
    return "file" if rows is not None and "holds" in rows else None


def _without_order(sentence: str) -> str:
    """The sentence without the order before a colon that it begins with: `Write a program in Python: …`."""
    place = sentence.rstrip("".join(COLONS)).rfind(": ") + 1
    return sentence[place:] if place and begins_with("order", sentence) else sentence


def _role_of_block(sentence: str) -> Role | None:
    """The role of a block below a sentence with words of its own."""
    return "printed" if ":" in sentence[-2:] and _speaks_of_output(sentence) else None


def _role_of_counted(sentence: str) -> Role | None:
    """The role of what stands in a sentence with words of its own that speaks of so many lines of output."""
    counted = (number_of_lines(sentence) or 0) > 1
    return "printed" if counted and _speaks_of_output(sentence) else None


def _speaks_of_output(sentence: str) -> bool:
    """Whether a sentence says that something is printed, without a condition, and nothing of input or of a file."""
    return says("printed", sentence) and not any(says(row, sentence) for row in ("stop", "typed", "holds"))


def _role_of_rows(rows: set[str], clause: str) -> Role | None:
    if "printed" in rows and "typed" not in rows:
        return None if says("stop", without("wish", clause)) else "printed"
    if "typed" in rows and "printed" not in rows:
        return "typed"
    if rows and rows <= {"below", "together", "filler", "subject"} and rows & {"below", "together"}:
        return "more"
    return None


def _is_given(clause: str) -> bool:
    """Whether a clause only says that there are lines to work with: `For these lines`."""
    rows = rows_of(without("given", clause))
    return rows is not None and rows <= {"filler", "subject"} and says("given", clause) and says("given_by", clause)
