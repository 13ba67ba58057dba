"""How a request is laid out: paragraphs, list items, and blocks whose lines are meant letter by letter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from chatdev.departments.software.cases.wording import begins_with

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
