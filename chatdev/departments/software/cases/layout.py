"""How a request is laid out: paragraphs, list items, and blocks of lines that are meant letter by letter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from chatdev.departments.software.cases.case import TypedCommand
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

Kind = Literal["prose", "item", "code", "table"]
_PieceKind = Literal["prose", "code", "fence"]
_FENCE = re.compile(r"(?P<before> {0,12}(?:> ?)?)(?P<marks>```++|~~~++|\"{3}(?=[ \t]*$))[ \t]*+(?P<tag>[\w+-]*+)[^`]*$")
_QUOTE = re.compile(r"\s*> ?")
_MARGIN = "    "
"""What makes of a line one of an indented block."""
_ITEM = re.compile(r"[ \t]{0,6}(?:[-*•+]|\d{1,2}[.)]|[a-z]\)|（?[一二三四五六七八九十]{1,2}[、)）])[ \t]+(?=\S)")
_STEP = re.compile(r" {0,3}(?=[^\W\d_a-z])")
_SHORT = 40  # characters of a line that may be printed, and is no item of a list
_RULE = set("|:-+ \t")
_WIDE_GAP = re.compile(r"[ \t]{3,}|\t+")


@dataclass(frozen=True, slots=True)
class Block:
    """Some lines of a request that belong together. `group` is the same for all items of a list; `tag` is what stands
    behind the marks of a code block, or what an item begins with; a table has its rows in `cells`. Of the lines of a
    `shifted` block nobody knows where the left margin is."""

    kind: Kind
    lines: tuple[str, ...]
    group: int
    tag: str = ""
    cells: tuple[tuple[str, ...], ...] = ()
    shifted: bool = False

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)


def blocks_of(request: str) -> list[Block]:
    """The blocks of a request, in its order."""
    found: list[Block] = []
    for kind, lines, tag in _pieces([_untab(line) for line in request.splitlines()]):
        group = len(found)
        if kind == "fence":
            found.append(Block("code", tuple(line.rstrip() for line in lines), group, tag))
        elif kind == "code":
            shifted = _is_shifted(lines, 0 if tag == ">" else len(_MARGIN))
            found.append(Block("code", tuple(without_margin(lines)), group, tag, shifted=shifted))
        elif table := _table(lines):
            found.append(Block("table", tuple(lines), group, cells=table))
        else:
            found += _paragraph(lines, _group_of_list(found, lines, group))
    return found


def _pieces(lines: Sequence[str]) -> Iterator[tuple[_PieceKind, list[str], str]]:
    """Fences, indented and quoted blocks as code, and the paragraphs between them."""
    held: list[str] = []
    place, has_steps = 0, _has_steps(lines)
    while place < len(lines):
        if fence := _fence_at(lines, place):
            yield from _open_pieces(held, has_steps=has_steps)
            held, end = [], _end_of_fence(lines, place, fence["marks"])
            yield "fence", _lines_in_fence(lines[place + 1:end], fence["before"]), fence["tag"].lower()
            place = end + 1
        else:
            held.append(lines[place])
            place += 1
    yield from _open_pieces(held, has_steps=has_steps)


def _has_steps(lines: Sequence[str]) -> bool:
    """Whether there is a scenario: `When` a command is run, `Then` something comes of it."""
    steps = list(filter(_STEP.match, lines))
    started = any(begins_with("when_step", line) and ("`" in line or ".py" in line) for line in steps)
    return started and any(begins_with("then_step", line) for line in steps)


def _is_step(line: str) -> bool:
    return _STEP.match(line) is not None and any(begins_with(f"{row}_step", line) for row in ("given", "when", "then"))


def _untab(line: str) -> str:
    """The line, with blanks for the tabs it begins with."""
    rest = line.lstrip("\t")
    return _MARGIN * (len(line) - len(rest)) + rest


def _fence_at(lines: Sequence[str], place: int) -> re.Match[str] | None:
    """The line that opens a fence; three quotes may also close what a line opened, and need an end of their own."""
    fence = _FENCE.match(lines[place])
    is_open = fence and (fence["marks"][0] != '"' or _end_of_fence(lines, place, fence["marks"]) < len(lines))
    return fence if is_open else None


def _end_of_fence(lines: Sequence[str], start: int, mark: str) -> int:
    ends = (n for n in range(start + 1, len(lines)) if lines[n].strip(" \t>").startswith(mark))
    return next(ends, len(lines))


def _lines_in_fence(lines: Sequence[str], before: str) -> list[str]:
    """The lines of a fence without what stands before its marks, too; all other blanks are meant."""
    if ">" in before:
        return [_QUOTE.sub("", line, count=1) for line in lines]
    margin = min(len(before), _margin_of(lines))
    return [line[margin:] for line in lines]


def _open_pieces(lines: Sequence[str], *, has_steps: bool) -> Iterator[tuple[_PieceKind, list[str], str]]:
    """Paragraphs, and blocks that are indented or quoted; an indented block goes on over empty lines. A step of a
    scenario is a paragraph."""
    held: list[str] = []
    for _, group in groupby(_number_runs(lines, has_steps=has_steps), key=lambda row: row[0]):
        part = [line for _, line in group]
        if not part[0].strip():
            held += part if held else []
        elif _is_indented(part, held):
            held += part
        else:
            yield from _held_piece(held)
            held = []
            yield _piece(part)
    yield from _held_piece(held)


def _is_indented(part: Sequence[str], held: Sequence[str]) -> bool:
    """Whether lines are those of an indented block, and no list that is indented."""
    listed = _ITEM.match(part[0]) and any("`" in line or len(line) > _SHORT for line in part)
    return all(line.startswith(_MARGIN) for line in part) and bool(held or not listed)


def _held_piece(held: Sequence[str]) -> Iterator[tuple[_PieceKind, list[str], str]]:
    if held:
        yield "code", "\n".join(held).rstrip().split("\n"), ""


def _piece(part: list[str]) -> tuple[_PieceKind, list[str], str]:
    if all(line.lstrip().startswith(">") for line in part):
        return "code", [_QUOTE.sub("", line, count=1) for line in part], ">"
    return "prose", part, ""


def _number_runs(lines: Sequence[str], *, has_steps: bool) -> Iterator[tuple[int, str]]:
    """Each line with the number of its run of full or empty lines."""
    number, full = 0, False
    for line in lines:
        if bool(line.strip()) != full or (has_steps and _is_step(line)):
            number, full = number + 1, bool(line.strip())
        yield number, line


def without_margin(lines: Sequence[str]) -> list[str]:
    """The lines, without the blanks that all of them begin with."""
    margin = _margin_of(lines)
    return [line[margin:].rstrip() for line in lines]


def _margin_of(lines: Sequence[str]) -> int:
    return min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)


def _is_shifted(lines: Sequence[str], usual: int) -> bool:
    """Whether lines of which some are further in than others may begin with blanks that belong to all of them: they
    have more than is usual."""
    return _margin_of(lines) > usual and any(line.startswith(" ") for line in without_margin(lines))


def _paragraph(lines: Sequence[str], group: int) -> Iterator[Block]:
    """A paragraph, or what stands before a list and the items of it, each with the lines that continue it."""
    starts = [n for n, line in enumerate(lines) if _ITEM.match(line)]
    if not starts or (starts[0] and len(starts) < 2):
        yield Block("prose", tuple(without_margin(lines)), group, shifted=_is_shifted(lines, 0))
        return
    if starts[0]:
        yield Block("prose", tuple(without_margin(lines[:starts[0]])), group)
    for start, end in pairwise([*starts, len(lines)]):
        sign = _ITEM.match(lines[start])
        assert sign
        rest = without_margin(lines[start + 1:end])
        first = lines[start][sign.end():].strip()
        yield Block("item", (first, *rest), group + 1 if starts[0] else group, sign[0].strip())


def _group_of_list(found: Sequence[Block], lines: Sequence[str], group: int) -> int:
    """The group of the list that these lines continue, if they do."""
    continues = found and found[-1].kind == "item" and _ITEM.match(lines[0])
    return found[-1].group if continues else group


def _table(lines: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The rows of a table with `|` between its cells, or with wide gaps under a heading; none for other lines."""
    if len(lines) < 2:
        return ()
    ruled = "|" in lines[0] and "--" in lines[1] and _RULE.issuperset(lines[1])
    rows = list(map(_cells, (lines[0], *lines[2:]))) if ruled else [_columns(line) for line in lines]
    widths = set(map(len, rows))
    return tuple(rows) if len(rows) > 1 and (len(widths) == 1 if ruled else widths == {2}) else ()


def _columns(line: str) -> tuple[str, ...]:
    return tuple(_WIDE_GAP.split(line.strip()))


def _cells(line: str) -> tuple[str, ...]:
    line = line.strip().removeprefix("|").removesuffix("|")
    return tuple(cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line))


# Lines that are meant letter by letter, and the role that the words before them give them.

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
