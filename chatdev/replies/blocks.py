"""The blocks of a reply that concern the software: the file that each names and where, and what each is for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from string import whitespace
from typing import Literal

from chatdev.isolation.parent import look_up
from chatdev.replies.fences import NEWEST, FencedBlock, each_block, fence_of, lines_of, open_span
from chatdev.replies.hunks import SearchReplace, extent_at, read_changes
from chatdev.replies.languages import (
    fits,
    holds_only_commands,
    is_known,
    is_program,
    is_shell,
    language_of,
    language_of_file,
)
from chatdev.replies.patch import FilePatch, is_patch, read_patch
from chatdev.replies.problem import ReplyProblem, Unreadable, unreadable

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


# Which file a fenced block is meant for: what its fence, the line above it or its first line say.

_LONGEST = 2000  # characters; a longer line names no file
_LAYERS = 6  # of emphasis, quotes and remarks around a name
_DECORATION = re.compile(r"^(?:#{1,6}\s+|[-*+•>]\s+|\(?\d{1,3}[.)]\s+)*")
_LABEL = re.compile(
    r"[*_`]*(?:(?:new|updated|modified|changed|complete|full|the)\s+)?"
    r"(?:file\s?name|file_name|file\s?path|file|path|name|title|module)[*_`]*\s*[:=：][*_]*\s*", re.IGNORECASE)
_REMARK = re.compile(r"[(（][^()（）]*[)）]$")
_QUOTED = re.compile(r"[*_]*([`\"'])(?P<name>[^`\"']+)\1[*_]*")
_NAME_THEN_TEXT = re.compile(r"(?P<name>\S++)(?:(?<=[:：])\s|\s+(?:[-–—|]++|[:：])\s)\s*\S")
_ATTRIBUTE = re.compile(
    r"(?:file_?name|title|file|path|name)\s*[=:]\s*(?:\"(?P<a>[^\"]+)\"|'(?P<b>[^']+)'|(?P<c>[^\s}\"',]+))",
    re.IGNORECASE)
_COMMENT = re.compile(
    r"\s*(?:(?:#++|//++|--++|;++|%++|'|REM\s)(?P<line>.*)|/\*(?P<c>.*)\*/|\(\*(?P<st>.*)\*\)|<!--(?P<html>.*)-->)\s*",
    re.IGNORECASE)
_FRAMES = {"line": "", "c": "*", "st": "*", "html": "-"}
"""What may stand around the text of each kind of comment, beside blanks."""
_PLACEHOLDER = re.compile(
    r"(?:.*/)?(?:(?i:file_?name)(?:\.\w+)?|LANGUAGE(?:\.\w+)?|(?i:your_?file(?:_?name)?)(?:\.\w+)?)|(?i:/?path/to/.*)")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_FLAGS = ("whole", "delete")
_NOT_IN_NAMES = set('<>|?*"=;`{}')
_EXTENSION = re.compile(r"[^/\\]\.[A-Za-z][\w+#-]{0,15}$")
_DOTFILE = re.compile(r"(?:^|[/\\])\.[A-Za-z][\w.-]*$")
_BARE_NAMES = {
    "dockerfile", "makefile", "license", "licence", "readme", "procfile", "gemfile", "rakefile", "jenkinsfile",
    "vagrantfile", "changelog", "notice", "authors", "copying", "contributing", "justfile", "brewfile", "pipfile",
}
_OUTSIDE = ("/", "~", "../", "..\\", ".git/", ".git\\")
_COMMAND_WORDS = {"python", "python3", "pip", "pip3", "node", "npm", "run", "open", "edit", "java", "go", "bash", "sh"}


@dataclass(frozen=True, slots=True)
class Info:
    """What the words behind an opening fence say. `word` is the language as written, `name` a file if there is one."""

    word: str = ""
    name: str | None = None
    whole: bool = False
    delete: bool = False

    @property
    def language(self) -> str | None:
        """The language meant by `word`, or None."""
        return language_of(self.word)


def read_info(info: str) -> Info:
    """Words behind a fence: `python`, `python main.py`, `python:main.py`, `py title="main.py"`, `delete`, `whole`."""
    info = info[:_LONGEST]
    attribute = _ATTRIBUTE.search(info)
    name = attribute[attribute.lastgroup or 0] if attribute else None
    rest = info[:attribute.start()] + info[attribute.end():] if attribute else info
    word, tokens = _language_word(_tokens(rest, braces=info.startswith("{")))
    flags = {token.casefold() for token in (word, *tokens)}
    name = name or next((token for token in tokens if looks_like_path(token)), None)
    word = "" if word.casefold() in _FLAGS else word
    return Info(word, _real_name(name), "whole" in flags, "delete" in flags)


def _tokens(info: str, *, braces: bool) -> list[str]:
    tokens = [token.strip(",") for token in re.split(r"[\s{}()]+", info) if token.strip(",#")]
    if braces and tokens:  # {.python .numberLines}
        tokens[0] = tokens[0].lstrip(".")
    return tokens


def _language_word(tokens: list[str]) -> tuple[str, list[str]]:
    """The word for the language, and what else stands there."""
    word, others = (tokens[0], tokens[1:]) if tokens else ("", [])
    if ":" in word and not _DRIVE.match(word):
        word, _, name = word.partition(":")
        return word, [name, *others]
    if looks_like_path(word) and (is_known(word) or word.startswith(".")) and not language_of(word):
        return "", tokens
    return word, others


def looks_like_path(text: str, *, blanks: bool = False) -> bool:
    """Whether `text` has the shape of a file's path, safe or not: `main.py`, `a/b.c`, `Dockerfile`, `.gitignore`."""
    if not text or not _can_be_path(text) or (not blanks and len(text.split()) != 1):
        return False
    basename = re.split(r"[/\\]", text)[-1]
    if basename.casefold() in _BARE_NAMES or _EXTENSION.search(text) or _DOTFILE.search(text):
        return True
    return text.startswith(_OUTSIDE) and bool(basename.strip(".~"))


def _can_be_path(text: str) -> bool:
    if len(text) > _LONGEST or _NOT_IN_NAMES & set(text) or "://" in text:
        return False
    return ":" not in text or _DRIVE.match(text) is not None


def _real_name(name: str | None) -> str | None:
    """`name`, unless it is a placeholder copied from the prompt."""
    return None if name is None or _PLACEHOLDER.fullmatch(name) else name


def name_on(line: str, known: Collection[str] = ()) -> str | None:
    """The path that `line` names and does little else: plain, bold, quoted, heading, `File: x`, with a remark.

    `known` are paths that exist; they are recognised in any shape.
    """
    if len(line) > _LONGEST:
        return None
    text = _strip_label(_DECORATION.sub("", line.strip(), count=1).strip())
    bare, quoted = _strip_decoration(text)
    if bare in known or looks_like_path(bare):
        return _real_name(bare)
    if quoted and looks_like_path(bare, blanks=True) and bare.split()[0].casefold() not in _COMMAND_WORDS:
        return _real_name(bare)
    if first := _NAME_THEN_TEXT.match(text):
        name = re.sub(r"[:：]$", "", first["name"]).rstrip("`*_\"'").strip("*`\"'[]")
        return _real_name(name) if looks_like_path(name) else None
    return None


def _strip_label(text: str) -> str:
    """`text` without `File:`, `Path:`, `FILENAME:` before the name."""
    label = _LABEL.match(text)
    return text[label.end():] if label else text


def _strip_decoration(text: str) -> tuple[str, bool]:
    """`text` without remarks, colons, emphasis and quotes; and whether it was quoted."""
    quoted = False
    for _ in range(_LAYERS):
        text = _REMARK.sub("", text.strip()).strip()
        text = text.rstrip(":：,").strip()
        if found := _QUOTED.fullmatch(text):
            text, quoted = found["name"], True
        text = text.strip("*`").strip()
        for left, right in (("__", "__"), ("_", "_"), ("[", "]"), ("<", ">")):
            inner = text[len(left):-len(right)]
            if text.startswith(left) and text.endswith(right) and looks_like_path(inner):
                text = inner
    return text, quoted


def names_within(line: str, language: str | None) -> list[str]:
    """Paths mentioned in a line of prose whose extension fits `language` (`Here is the new main.py:`)."""
    if language is None or len(line) > _LONGEST:
        return []
    tokens = (token.strip("*`\"'()[],:;!").rstrip(".") for token in re.split(r"[\s`*]+", line))
    return list(dict.fromkeys(token for token in tokens
                              if looks_like_path(token) and fits(token, language) and _real_name(token)))


@dataclass(frozen=True, slots=True)
class FirstLine:
    """A file named on the first line of a block, and the content without that line if it says nothing else."""

    name: str
    content: str


def name_inside(content: str, language: str | None) -> FirstLine | None:
    """The file that a block's first line names: a comment (after `#!`), or the bare path.

    A comment that says more than the name stays in the content.
    """
    head, line, rest = _first_line(content)
    if len(line) > _LONGEST:
        return None
    comment = _COMMENT.fullmatch(line.rstrip("\r\n"))
    text = _comment_text(comment) if comment else line.strip()
    name = name_on(text)
    if name is None or not _may_hold(name, language):
        return None
    alone = _strip_decoration(_strip_label(text))[0] == name
    if comment:
        return FirstLine(name, head + rest if alone else content)
    return FirstLine(name, head + rest) if alone and (language or not _is_listing(rest)) else None


def _may_hold(name: str, language: str | None) -> bool:
    return fits(name, language) if language else is_known(name)


def _comment_text(comment: re.Match[str]) -> str:
    return next((comment[kind].strip(whitespace + frame) for kind, frame in _FRAMES.items() if comment[kind]), "")


def _is_listing(text: str) -> bool:
    """Whether a text goes on with nothing but paths, as a list of files does."""
    lines = [line.strip() for line in text.split("\n", 5)[:5] if line.strip()]
    return all(map(looks_like_path, lines))


def _first_line(content: str) -> tuple[str, str, str]:
    """What stands before the line that may name the file (an interpreter line), that line, and the rest."""
    first, newline, rest = content.partition("\n")
    if not first.startswith("#!"):
        return "", first + newline, rest
    second, second_newline, tail = rest.partition("\n")
    return first + newline, second + second_newline, tail
