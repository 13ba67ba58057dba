"""What each fenced block of a reply claims to be: the content of which file, a deletion, or nothing of the software."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from chatdev.replies.fences import Block, each_block, fence_of, lines_of
from chatdev.replies.file_names import Info, name_inside, name_on, names_within, read_info
from chatdev.replies.languages import fits, is_program, is_shell, only_commands
from chatdev.replies.problem import Unreadable

MAX_BLOCKS = 1000
_LOOKED_AT = 12  # lines above a block in which its name may stand


@dataclass(frozen=True, slots=True)
class Claim:
    """A block and the file it names (None: it names none)."""

    info: Info
    content: str
    name: str | None

    @property
    def shown(self) -> str:
        """How a problem calls the block."""
        return self.name or f"a block without a file name{f' ({self.info.word})' if self.info.word else ''}"


def read_claims(text: str, known: Collection[str]) -> list[Claim]:
    """The claims of all blocks of `text` that may concern the software, in order.

    `known` are the paths of the software. Command lines are never taken for a program. Raises Unreadable when the
    text ends inside a block, holds a diff, or holds nothing but command lines in the place of a program.
    """
    claims, problems, typed = [], [], []
    for number, block in enumerate(each_block(text, lambda above, info: _is_markdown(above, info, known))):
        if number == MAX_BLOCKS:
            raise Unreadable(f"the reply has more than {MAX_BLOCKS} code blocks")
        claim = _claim(block, known)
        if problem := _problem(block, claim):
            problems.append(problem)
        elif not _is_no_file(claim):
            claims.append(claim)
        elif claim.name:
            typed.append(f"{claim.name}: the block holds shell commands, not a program")
    if problems or not claims:
        raise Unreadable(*problems or typed or ["no fenced code block with a file name was found"])
    return claims


def _claim(block: Block, known: Collection[str]) -> Claim:
    info = read_info(block.info)
    name = info.name or _name_above(block.above, info, known)
    if name is None:
        if inside := name_inside(block.content, info.language):
            return Claim(info, inside.content, inside.name)
        name = _mentioned_above(block.above, info)
    return Claim(info, block.content, name)


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


def _mentioned_above(above: str, info: Info) -> str | None:
    """The only path that the sentence above a block mentions and that fits its language."""
    lines = _lines_above(above)
    names = names_within(lines[0], info.language) if lines and not is_shell(info.language) else []
    return names[0] if len(names) == 1 else None


def _is_markdown(above: str, info: str, known: Collection[str]) -> bool:
    words = read_info(info)
    lines = _lines_above(above)
    name = words.name or (name_on(lines[0], known) if lines else None)
    return words.language == "markdown" if name is None else name.casefold().endswith((".md", ".markdown"))


def _is_no_file(claim: Claim) -> bool:
    """Whether a block is nothing, or something to type at a prompt; scripts and the like have to be named."""
    if claim.name is None and not claim.content.strip():
        return True
    typed = is_shell(claim.info.language) or only_commands(claim.content)
    return typed and (claim.name is None or is_program(claim.name))


def _problem(block: Block, claim: Claim) -> str | None:
    """Why a block can't be used, or None."""
    if not block.closed and (claim.name or not is_shell(claim.info.language) or _hides_blocks(block.content)):
        return f"the reply ends inside {f'the block of {claim.name}' if claim.name else 'a code block'}"
    if claim.info.language == "diff" and claim.name and not claim.name.endswith((".diff", ".patch")):
        return f"{claim.name}: a diff cannot be applied: give complete functions or SEARCH/REPLACE blocks"
    return None


def _hides_blocks(content: str) -> bool:
    return any(fence_of(line) for line in lines_of(content))
