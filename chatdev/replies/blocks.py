"""The blocks of a reply that concern the software: the file that each names, and what each is for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from chatdev.isolation.reading import look_up
from chatdev.replies.fences import FencedBlock, each_block, fence_of, lines_of
from chatdev.replies.file_names import Info, name_inside, name_on, names_within, read_info
from chatdev.replies.languages import fits, holds_only_commands, is_program, is_shell, language_of_file
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable
from chatdev.replies.search_replace import SearchReplace, read_changes
from chatdev.replies.spans import open_span

MAX_BLOCKS = 1000
_PATCH = re.compile(r"^(?:\*\*\* (?:Begin Patch|(?:Update|Add|Delete) File: )|diff --git |@@ -\d+(?:,\d+)? \+\d"
                    r"|--- [^\n]+\n\+\+\+ )", re.MULTILINE)
"""How diffs and patches begin, or their parts."""
_DIFFS = (".diff", ".patch")
_TEXTS = (None, "markdown", "text")  # what may stand around blocks of a reply
_LOOKED_AT = 12  # lines above a block in which its name may stand


@dataclass(frozen=True, slots=True)
class Block:
    """A block and the file that it names (None: it names none), as the reply writes it.

    A `text` is the content of the file, or part of it; `changes` are search/replace blocks; a `deletion` deletes it.
    """

    path: str | None
    kind: Literal["text", "changes", "deletion"]
    text: str
    word: str = ""
    """The language as the fence names it; empty when it does not."""
    language: str | None = None
    whole: bool = False
    """Whether the reply says that the text is all of the file."""
    changes: SearchReplace | None = None
    """Of a text that consists of search/replace blocks; in a deletion, which must be empty, they are refused."""


def block_of(text: str, path: str | None = None, info: Info | None = None) -> Block:
    """The block with this content, which names the file `path`; `info` are the words behind its fence."""
    info = info or Info()
    changes = read_changes(text)
    kind: Literal["text", "changes", "deletion"] = "deletion" if info.delete else "changes" if changes else "text"
    return Block(path, kind, text, info.word, info.language, info.whole, changes)


def read_blocks(text: str, known: Collection[str], *, nested: bool = True) -> list[Block]:
    """All blocks of `text` that may concern the software, in order; `nested` as in `scan`.

    `known` are the paths of the software. Command lines are never taken for a program. Raises Unreadable when the
    text ends inside a block, holds a diff or a patch, or holds nothing but command lines in the place of a program.
    """
    blocks: list[Block] = []
    problems: list[ReplyProblem] = []
    commands: list[ReplyProblem] = []
    end = 0
    for number, fenced in enumerate(each_block(text, lambda above, info: _language_at(above, info, known),
                                                nested=nested)):
        look_up()
        if number == MAX_BLOCKS:
            raise unreadable("too_many_blocks", most=MAX_BLOCKS)
        block, end = _read_block(fenced, known), fenced.end
        if problem := _problem(fenced, block, nested=nested):
            problems.append(problem)
        elif not _is_no_file(block):
            blocks.append(block)
        elif block.path:
            commands.append(ReplyProblem("shell_commands", {"path": block.path}))
    problems += _patches_in(text[end:], nested=nested)
    if problems or not blocks:
        raise Unreadable(*problems or commands or [ReplyProblem("no_block")])
    return blocks


def _read_block(fenced: FencedBlock, known: Collection[str]) -> Block:
    info = read_info(fenced.info)
    path = info.name or _name_above(fenced.above, info, known)
    inside = name_inside(fenced.content, info.language) if path is None else None
    around = info.language in _TEXTS and inside and fence_of(inside.content.lstrip().partition("\n")[0])
    if inside and not around:  # else the name is that of a block within
        return block_of(inside.content, inside.name, info)
    return block_of(fenced.content, path or _mentioned_name(fenced.above, info), info)


def _lines_above(above: str) -> list[str]:
    """The last filled lines above a block, nearest first."""
    return [line for line in reversed(above[-4000:].split("\n")) if line.strip()][:_LOOKED_AT]


def _name_above(above: str, info: Info, known: Collection[str]) -> str | None:
    """The path on the line directly above; or, for a program, on the only such line further up."""
    lines = _lines_above(above)
    if not lines or (name := name_on(lines[0], known)):
        return name if lines else None
    names = {name for line in lines if (name := name_on(line, known)) and fits(name, info.language)}
    return names.pop() if len(names) == 1 else None


def _mentioned_name(above: str, info: Info) -> str | None:
    """The only path that the sentence above a block mentions and that fits its language."""
    lines = _lines_above(above)
    names = names_within(lines[0], info.language) if lines and not is_shell(info.language) else []
    return names[0] if len(names) == 1 else None


def _language_at(above: str, words: str, known: Collection[str]) -> str | None:
    """The language of the block below `above`: that of its file, else the one that its fence names."""
    info = read_info(words)
    lines = _lines_above(above)
    name = info.name or (name_on(lines[0], known) if lines else None)
    return (language_of_file(name) if name else None) or info.language


def _is_no_file(block: Block) -> bool:
    """Whether a block is nothing, or something to type at a prompt; scripts and the like have to be named."""
    if block.path is None and not block.text.strip():
        return True
    commands = is_shell(block.language) or holds_only_commands(block.text)
    return commands and (block.path is None or is_program(block.path))


def _problem(fenced: FencedBlock, block: Block, *, nested: bool) -> ReplyProblem | None:
    """Why a block can't be used, or None."""
    if not fenced.closed and (block.path or not is_shell(block.language) or _hides_blocks(block.text)):
        return _reason_open(block) if nested else ReplyProblem("cut_off", {"path": block.path})
    if _is_diff(block, nested=nested):
        return ReplyProblem("diff", {"path": block.path}) if block.path else ReplyProblem("patch")
    return next(iter(_patches_in(fenced.above, nested=nested)), None)


def _is_diff(block: Block, *, nested: bool) -> bool:
    """Whether a block holds a diff or a patch in the place of what it changes."""
    if not nested:
        return block.language == "diff" and bool(block.path) and not (block.path or "").endswith(_DIFFS)
    is_diff = block.language == "diff" or _PATCH.match(block.text.lstrip()) is not None
    return is_diff and not (block.path or "").endswith(_DIFFS)


def _patches_in(prose: str, *, nested: bool) -> list[ReplyProblem]:
    """The problem of a diff or a patch that stands outside of blocks."""
    return [ReplyProblem("patch")] if nested and _PATCH.search(prose) else []


def _reason_open(block: Block) -> ReplyProblem:
    """Why nothing closes a block: something in it goes on, or the reply was cut."""
    language = (language_of_file(block.path) if block.path else None) or block.language
    line, mark = open_span(language, lines_of(block.text))
    if mark:
        return ReplyProblem("span_open", {"path": block.path, "line": line, "mark": mark})
    return ReplyProblem("cut_off", {"path": block.path})


def _hides_blocks(content: str) -> bool:
    return any(fence_of(line) for line in lines_of(content))
