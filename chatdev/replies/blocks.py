"""The blocks of a reply that concern the software: the file that each names, and what each is for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Literal

from chatdev.isolation.reading import look_up
from chatdev.replies.fences import NEWEST, FencedBlock, each_block, fence_of, lines_of
from chatdev.replies.file_names import Info, name_inside, name_on, names_within, read_info
from chatdev.replies.languages import fits, holds_only_commands, is_program, is_shell, language_of_file
from chatdev.replies.patch import FilePatch, is_patch, read_patch
from chatdev.replies.patch_extent import extent_at
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable
from chatdev.replies.search_replace import SearchReplace, read_changes
from chatdev.replies.spans import open_span

MAX_BLOCKS = 1000
MAX_FILE = 1 << 20
"""Characters of a block."""
_PATCH = re.compile(r"^(?:\*\*\* (?:Begin Patch|(?:Update|Add|Delete) File: )|diff --git |@@ -\d+(?:,\d+)? \+\d"
                    r"|--- [^\n]+\n\+\+\+ )", re.MULTILINE)
"""How diffs and patches begin, or their parts, before semantics 6."""
_SIGNED = r"[+-](?:\S|[ \t]{2})|@@"
_TORN = re.compile(rf"(?:(?!{_SIGNED}|\s*(?:```|~~~))[^\n]+\n)*+(?:{_SIGNED})")
"""Lines of a patch directly behind its block, which a fence without the sign of a line that stays has ended."""
_DIFFS = (".diff", ".patch")
_TEXTS = (None, "markdown", "text")  # what may stand around blocks of a reply
_LOOKED_AT = 12  # lines above a block in which its name may stand


@dataclass(frozen=True, slots=True)
class Block:
    """A block and the file that it names (None: it names none), as the reply writes it.

    A `text` is the content of the file, or part of it; `changes` are search/replace blocks, a `patch` is what a diff
    does to the file; a `deletion` deletes it.
    """

    path: str | None
    kind: Literal["text", "changes", "patch", "deletion"]
    text: str
    word: str = ""
    """The language as the fence names it; empty when it does not."""
    language: str | None = None
    whole: bool = False
    """Whether the reply says that the text is all of the file."""
    changes: SearchReplace | None = None
    """Of a text that consists of search/replace blocks; in a deletion, which must be empty, they are refused."""
    patch: FilePatch | None = None


def block_of(text: str, path: str | None = None, info: Info | None = None) -> Block:
    """The block with this content, which names the file `path`; `info` are the words behind its fence."""
    info = info or Info()
    changes = read_changes(text)
    kind: Literal["text", "changes", "deletion"] = "deletion" if info.delete else "changes" if changes else "text"
    return Block(path, kind, text, info.word, info.language, info.whole, changes)


def read_blocks(text: str, known: Collection[str], *, semantics: int = NEWEST) -> list[Block]:
    """All blocks of `text` that may concern the software, in order; of a patch one for each of its files.

    `known` are the paths of the software; `semantics` as in `scan`, and before 6 a patch is refused. Command lines are
    never taken for a program. Raises Unreadable when the text ends inside a block, or holds nothing but command lines
    in the place of a program.
    """
    blocks: list[Block] = []
    problems: list[ReplyProblem] = []
    commands: list[ReplyProblem] = []
    end, reads_patches = 0, semantics > 5
    for number, fenced in enumerate(each_block(text, lambda above, info: _language_at(above, info, known),
                                               semantics=semantics, unfenced=extent_at if reads_patches else None)):
        look_up()
        if max(number, len(blocks)) >= MAX_BLOCKS:
            raise unreadable("too_many_blocks", most=MAX_BLOCKS)
        block, end = _read_block(fenced, known, patches=reads_patches), fenced.end
        if problem := _problem(fenced, block, semantics):
            problems.append(problem)
        elif reads_patches and _is_patch(block):
            problems += _tears(text, fenced, block)
            blocks += _patches(block, known)
        elif not _is_no_file(block):
            blocks.append(block)
        elif block.path:
            commands.append(ReplyProblem("shell_commands", {"path": block.path}))
    problems += _patches_in(text[end:], semantics)
    if problems or not blocks:
        raise Unreadable(*problems or commands or [ReplyProblem("no_block")])
    return blocks


def _is_patch(block: Block) -> bool:
    """Whether a block holds a diff or a patch in the place of what it changes."""
    is_itself = (block.path or "").endswith(_DIFFS) or block.whole or block.changes
    return not is_itself and (block.language == "diff" or is_patch(block.text))


def _tears(text: str, fenced: FencedBlock, block: Block) -> list[ReplyProblem]:
    """The problem of a patch that goes on behind the fence that ends its block."""
    is_fenced = text[fenced.start:fenced.end] != fenced.content
    return [ReplyProblem("patch_torn", {"path": block.path})] if is_fenced and _TORN.match(text, fenced.end) else []


def _patches(block: Block, known: Collection[str]) -> list[Block]:
    """The patch in a block, as one block for each of its files."""
    if len(block.text) > MAX_FILE:
        raise unreadable("block_too_large", path=block.path, word=block.word, most=MAX_FILE >> 10)
    patches = read_patch(block.text, known)
    if block.path and len(patches) == 1 and not (patches[0].path in known or patches[0].kind == "add"):
        patches = [replace(patches[0], path=block.path)]
    if not patches:
        raise unreadable("patch_empty", path=block.path)
    if len(patches) > MAX_BLOCKS:
        raise unreadable("too_many_blocks", most=MAX_BLOCKS)
    return [replace(block, path=patch.path or block.path, kind="patch", patch=patch) for patch in patches]


def _read_block(fenced: FencedBlock, known: Collection[str], *, patches: bool) -> Block:
    info = read_info(fenced.info)
    path = info.name or _name_above(fenced.above, info, known)
    names_itself = path is None and not (patches and is_patch(fenced.content))
    language = None if patches and info.language == "diff" else info.language
    inside = name_inside(fenced.content, language) if names_itself else None
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


def _problem(fenced: FencedBlock, block: Block, semantics: int) -> ReplyProblem | None:
    """Why a block can't be used, or None."""
    if not fenced.closed and (block.path or not is_shell(block.language) or _hides_blocks(block.text)):
        return _reason_open(block) if semantics > 4 else ReplyProblem("cut_off", {"path": block.path})
    if _is_diff(block, semantics):
        return ReplyProblem("diff", {"path": block.path}) if block.path else ReplyProblem("patch")
    return next(iter(_patches_in(fenced.above, semantics)), None)


def _is_diff(block: Block, semantics: int) -> bool:
    """Whether a block holds a diff or a patch that is refused."""
    if semantics > 5:
        return False
    if semantics < 5:
        return block.language == "diff" and bool(block.path) and not (block.path or "").endswith(_DIFFS)
    is_diff = block.language == "diff" or _PATCH.match(block.text.lstrip()) is not None
    return is_diff and not (block.path or "").endswith(_DIFFS)


def _patches_in(prose: str, semantics: int) -> list[ReplyProblem]:
    """The problem of a diff or a patch that stands outside of blocks and is refused."""
    return [ReplyProblem("patch")] if semantics == 5 and _PATCH.search(prose) else []


def _reason_open(block: Block) -> ReplyProblem:
    """Reason why a block is unclosed: an open string or comment, or a cut reply."""
    if is_patch(block.text):
        return ReplyProblem("patch_cut")
    language = (language_of_file(block.path) if block.path else None) or block.language
    line, mark = open_span(language, lines_of(block.text))
    if mark:
        return ReplyProblem("span_open", {"path": block.path, "line": line, "mark": mark})
    return ReplyProblem("cut_off", {"path": block.path})


def _hides_blocks(content: str) -> bool:
    return any(fence_of(line) for line in lines_of(content))
