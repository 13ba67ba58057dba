"""The files form: a reply's blocks brought into the software (design §3)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import PurePosixPath

from chatdev.errors import UnsafePath
from chatdev.isolation.parent import look_up
from chatdev.replies.blocks import MAX_FILE, Block, read_blocks
from chatdev.replies.fences import NEWEST, indentation
from chatdev.replies.hunks import SearchReplace, apply_changes, apply_hunks, quote, stands_in
from chatdev.replies.languages import elided_line, fits, is_python, usual_name
from chatdev.replies.patch import FilePatch
from chatdev.replies.problem import ReplyProblem, Unreadable, different, unreadable
from chatdev.replies.python.merge import merge
from chatdev.replies.python.reader import LINE, NotPython, Outline, fault, is_part, read, read_lines, read_part
from chatdev.workspace.change import bare_repositories, reason_to_withhold
from chatdev.workspace.file_tree import collisions, safe_path

# One block: the file it is for, and the new text of that file.

_READING = 16  # how often a text can be looked through while Python source of its length is read and merged into
_FRAGMENT = 0.5  # of the lines before: what a file that does not parse may shrink to without being marked `whole`
_PROGRAMMING = ("import", "function", "class", "call")
_JAVA_CLASS = re.compile(r"^[^\S\n]*public\s+(?:final\s+|abstract\s+)*(?:class|interface|enum|record)\s+(\w+)",
                         re.MULTILINE)


def safe_target(name: str, block: Block, files: Collection[str]) -> str:
    """The path of the software that `name` means for a block: changes are for a file that is there, so they find it in
    its folder when no other has its name. Raises UnsafePath."""
    path = safe_path(name)
    is_change = block.changes or (block.patch and block.patch.kind != "add")
    if not is_change or path in files:
        return path
    namesakes = [other for other in files if PurePosixPath(other).name == PurePosixPath(path).name]
    return namesakes[0] if len(namesakes) == 1 else path


def only_path(block: Block, only: Sequence[str]) -> str | None:
    """The one file that may be written, for a nameless block that can be it; `only` are patterns."""
    if len(only) != 1 or set("*?[") & set(only[0]):
        return None
    fitting = fits(only[0], block.language) or block.language == "text" or not block.word or block.patch
    return only[0] if fitting else None


def guess_path(block: Block, software: Mapping[str, str]) -> str | None:
    """The file meant by a nameless block; None when it is no program.

    The only file of its language, else the only one that has what the block changes, else the class it defines,
    else `main`. `software` maps paths to texts. Raises Unreadable when several files are possible.
    """
    if block.changes:
        return _searched_file(block.changes, software)
    if block.patch:
        return _patched_file(block.patch, software)
    language = block.language if block.word else _language_by_content(block.text)
    if language is None or usual_name(language) is None:
        return None
    existing = {path: text for path, text in software.items() if fits(path, language)}
    if len(existing) == 1:
        return next(iter(existing))
    defining = _defining_file(block.text, existing) if language == "python" else None
    return defining or _file_by_content(block.text, language, existing)


def _language_by_content(content: str) -> str | None:
    """`python` when a block without a language word is a Python program, else None."""
    try:
        outline = read(content)
    except NotPython:
        return None
    return "python" if any(statement.kind in _PROGRAMMING for statement in outline.statements) else None


def _searched_file(changes: SearchReplace, software: Mapping[str, str]) -> str:
    """The only file that holds all the lines searched for."""
    changes.require_complete(None)
    parts = ["".join(change.search).strip() for change in changes.found]
    found = [path for path, text in software.items() if all(part and part in text for part in parts)]
    if len(found) != 1:
        raise unreadable("which_file_searched", count=len(found))
    return found[0]


def _patched_file(patch: FilePatch, software: Mapping[str, str]) -> str:
    """The only file that holds the lines of all hunks."""
    patch.require_clear()
    found = [path for path, text in software.items() if stands_in(text, patch)]
    if len(found) != 1:
        raise unreadable("which_file_patched", count=len(found))
    return found[0]


def _defining_file(content: str, software: Mapping[str, str]) -> str | None:
    """The only file that defines something of what the block defines."""
    given = _definitions(content)
    found = [path for path, text in software.items() if given & _definitions(text)]
    return found[0] if len(found) == 1 else None


def _file_by_content(content: str, language: str, existing: Collection[str]) -> str | None:
    """The class that the block defines, else `main`; of files that are there only a main program is replaced so."""
    name = usual_name(language, _stem(language, content))
    if name in existing and not (language == "python" and _has_main_guard(content)):
        raise unreadable("which_file", files=sorted(existing))
    return name


def _definitions(text: str) -> set[str]:
    """Names of the functions and classes a Python text defines, methods given without their class included."""
    try:
        return read_part(text).definitions
    except NotPython:
        return set()


def _stem(language: str, content: str) -> str:
    """Name of a file by its content: its public class, else `main`."""
    if language == "java":
        found = _JAVA_CLASS.search(content)
        return found[1] if found else "Main"
    if language != "python":
        return "main"
    try:
        outline = read_part(content)
    except NotPython:
        return "main"
    public = [statement.name for statement in outline.statements
              if statement.kind == "class" and not statement.name.startswith("_")]
    return public[0].lower() if len(public) == 1 and not outline.acts else "main"


def _has_main_guard(content: str) -> bool:
    try:
        return any(statement.kind == "guard" for statement in read(content).statements)
    except NotPython:
        return False


def effort(block: Block, texts: Mapping[str, str]) -> int:
    """Number of characters that must be compared to place a block in one of these files."""
    changes = block.changes.found if block.changes else block.patch.hunks if block.patch else ()
    looks = max(len(changes), 1)
    return sum(len(text) * (looks + (_READING if is_python(path) else 0)) for path, text in texts.items())


@dataclass(frozen=True)
class Update:
    """A block for the file `path`, whose text is `old` so far (None: it is new)."""

    path: str
    old: str | None
    block: Block

    @cached_property
    def existing(self) -> Outline | NotPython:
        """The Python file so far, or why it cannot be read."""
        try:
            return read(self.old or "")
        except NotPython as error:
            return error

    @cached_property
    def part(self) -> Outline | NotPython:
        """The block as part of a Python file, or why it cannot be read."""
        try:
            return read_part(self.block.text)
        except NotPython as error:
            return error

    @cached_property
    def is_part(self) -> bool:
        """Whether the block is part of the file, not a new version of it."""
        if self.block.kind in ("changes", "patch"):
            return True
        if not is_python(self.path):
            return elided_line(self.path, self.block.text) is not None
        if isinstance(self.existing, NotPython) or isinstance(self.part, NotPython):
            return False
        return is_part(self.existing, self.part)

    def text(self) -> str:
        """The new text of the file.

        Raises Unreadable when it is not clear what is meant, when code is left out that cannot be filled in, or when
        the result no longer parses although the file did.
        """
        if self.block.changes:
            return self._changed_text(self.block.changes)
        if self.block.patch:
            return self._patched_text(self.block.patch)
        if self.block.whole or not (self.old or "").strip():
            return self._whole_text()
        if is_python(self.path):
            return self._python_text()
        line = elided_line(self.path, self.block.text)
        if line is not None:
            raise unreadable("change_elided", path=self.path, line=line)
        return self.block.text

    def _changed_text(self, changes: SearchReplace) -> str:
        """The file after its search/replace changes."""
        changes.require_complete(self.path)
        if self.old is None and any(line.strip() for change in changes.found for line in change.search):
            raise unreadable("nothing_to_change", path=self.path)
        text = apply_changes(self.old or "", changes, self.path)
        if is_python(self.path):
            self._require_parsing(text)
        return text

    def _patched_text(self, patch: FilePatch) -> str:
        """The file after a patch."""
        if self.old is None and any(hunk.old for hunk in patch.hunks):
            raise unreadable("nothing_to_change", path=self.path)
        for number, hunk in enumerate(patch.hunks, 1):
            line = elided_line(self.path, "\n".join(hunk.added))
            if line and not (is_python(self.path) and hunk.added[line - 1].strip() == "..."):
                raise unreadable("hunk_elided", path=self.path, hunk=number, line=quote(hunk.added[line - 1]))
        text = apply_hunks(self.old or "", patch, self.path)
        if is_python(self.path):
            self._require_parsing(text)
        return text

    def _whole_text(self) -> str:
        """The block as the whole file, if nothing is left out in it."""
        line = _line_left_out(self.path, self.block.text)
        if line is not None:
            raise unreadable("file_elided", path=self.path, line=line)
        return self.block.text

    def _python_text(self) -> str:
        """The new text of an existing Python file."""
        if isinstance(self.existing, NotPython):
            return self._text_for_broken(str(self.existing))
        if isinstance(self.part, NotPython):
            raise unreadable("block_broken", path=self.path, why=str(self.part))
        if not self.is_part:
            return self.block.text
        text = merge(self.path, self.existing, self.part)
        self._require_parsing(text)
        return text

    def _text_for_broken(self, why: str) -> str:
        """A file that does not parse gets whole functions in the place of its own; else it can only be replaced."""
        existing, part = read_around(self.old or ""), self.part
        if existing and isinstance(part, Outline) and part.definitions and is_part(existing, part):
            return merge(self.path, existing, part)
        if _filled_lines(self.block.text) < _FRAGMENT * _filled_lines(self.old or ""):
            raise unreadable("file_broken", path=self.path, why=why)
        return self._whole_text()

    def _require_parsing(self, new: str) -> None:
        """A file that parsed must still parse; a new one may be written in several blocks."""
        if self.old is not None and (why := fault(new)) and not fault(self.old):
            raise unreadable("change_breaks_file", path=self.path, why=why)


def _line_left_out(path: str, content: str) -> int | None:
    """Number of the first line of a whole file that stands for code left out."""
    if not is_python(path):
        return elided_line(path, content)
    try:
        outline = read(content)
    except NotPython:
        return None
    return next((line + 1 for line in outline.elided if outline.lines[line].lstrip().startswith("#")), None)


def _filled_lines(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())


# All blocks of a reply.

MAX_FILES = 400
_MOST_ADDED = 100
_MOST_EFFORT = 16 << 20  # characters to look at for one reply: many blocks for a long file would hold everybody up
_EACH_EFFORT = 48  # times that each character of the software may be looked at in any case
_REVISED = 0.5  # a file given twice: the second is taken for a revision when it has this share of the first's length
_LISTED = 20  # files


@dataclass(frozen=True, slots=True)
class FilesDelivery:
    """Files a reply wrote. `software` is the new whole snapshot; `written` and `deleted` are what really changed.

    `whole` are the files whose block was marked `whole`: the reply says that it means to replace them.
    """

    software: dict[str, bytes]
    written: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

    @property
    def is_unchanged(self) -> bool:
        """Whether the software is as it was before."""
        return not self.written and not self.deleted


def parse_files(text: str, software: Mapping[str, bytes], *, only: Sequence[str] = (),
                beside: Sequence[str] = (), semantics: int = NEWEST) -> FilesDelivery:
    """The software after the files in `text` are written; files not named stay. `semantics` as in `read_blocks`.

    `only` are glob patterns of the paths that may be written (`*` also matches `/`), `beside` of others that may be,
    too. Contents are kept byte for byte as UTF-8, with a final newline. Raises Unreadable with everything that is
    wrong; nothing is applied then.
    """
    blocks = read_blocks(text, software.keys(), semantics=semantics)
    if semantics > 4:
        blocks = _unwrap(blocks, software.keys(), only, semantics)
    draft = _Draft(software, tuple(only), tuple(beside), dict(software))
    for block in blocks:
        look_up()
        try:
            draft.apply(block)
        except Unreadable as error:
            draft.problems += error.problems
        except UnsafePath as error:
            draft.problems.append(ReplyProblem("unsafe_path", {"why": str(error)}))
    draft.check()
    return draft.delivery()


def _unwrap(blocks: list[Block], known: Collection[str], only: Sequence[str], semantics: int) -> list[Block]:
    """The blocks with names within a single block that has none and is no program, but a text around them; else the
    blocks as they are."""
    outer = blocks[0]
    if len(blocks) > 1 or outer.path or outer.patch or outer.language not in (None, "markdown", "text") or only_path(
            outer, only):
        return blocks
    try:
        inner = read_blocks(outer.text, known, semantics=semantics)
    except Unreadable:
        return blocks
    return inner if any(block.path for block in inner) else blocks


@dataclass(slots=True)
class _Draft:
    """The software while the blocks of one reply are applied to it."""

    before: Mapping[str, bytes]
    only: tuple[str, ...]
    beside: tuple[str, ...]
    files: dict[str, bytes]
    named: dict[str, bool] = field(default_factory=dict)
    """Files touched by this reply, and whether the newest block named them."""
    whole: set[str] = field(default_factory=set)
    problems: list[ReplyProblem] = field(default_factory=list)
    effort: int = 0
    """Characters looked at so far."""

    def apply(self, block: Block) -> None:
        """Apply one block. Raises Unreadable and UnsafePath."""
        if len(block.text) > MAX_FILE:
            raise unreadable("block_too_large", path=block.path, word=block.word, most=MAX_FILE >> 10)
        path = self.target(block)
        if path is None:
            return
        if block.patch:
            self.patch(path, block, block.patch)
        elif block.kind == "deletion":
            self.delete(path, block)
        else:
            self.write(path, block)
        self.named[path] = block.path is not None

    def target(self, block: Block) -> str | None:
        """Where a block belongs; None for a block that is no file."""
        name = block.path or only_path(block, self.only) or self.guess(block)
        if name is None:
            return None
        return self.admit(safe_target(name, block, self.files))

    def admit(self, path: str) -> str:
        """The path, if it may be written here."""
        if self.only and not any(fnmatchcase(path, pattern) for pattern in (*self.only, *self.beside)):
            raise unreadable("not_allowed", path=path, only=list(self.only))
        return path

    def guess(self, block: Block) -> str | None:
        """The file of a block without a name."""
        texts = {path: text for path, content in self.files.items() if (text := _text(content)) is not None}
        self.look(block, texts)
        return guess_path(block, texts)

    def look(self, block: Block, texts: Mapping[str, str]) -> None:
        """Count the work of bringing a block into one of the texts. Raises Unreadable when it becomes too much."""
        self.effort += effort(block, texts)
        if self.effort > _MOST_EFFORT + _EACH_EFFORT * sum(map(len, self.before.values())):
            raise unreadable("too_much_work", path=block.path, word=block.word)

    def patch(self, path: str, block: Block, patch: FilePatch) -> None:
        """Add, change, move or delete a file as a patch says."""
        patch.require_clear()
        if patch.kind == "delete":
            self.check_deletion(path, patch)
            self.remove(path)
            return
        goal = self.admit(safe_path(patch.move_to)) if patch.move_to else path
        if goal != path and path not in self.files:
            raise unreadable("nothing_to_change", path=path)
        if (patch.kind == "add" or goal != path) and self.files.get(goal, b"").strip():
            raise unreadable("patch_target_exists", path=goal)
        if patch.hunks or patch.kind == "add":
            self.write(path, block)
        if goal != path:
            if why := reason_to_withhold(goal):
                raise unreadable("acts_alone", path=goal, why=why)
            self.files[goal] = self.files.pop(path)
            self.named[goal] = True

    def check_deletion(self, path: str, patch: FilePatch) -> None:
        """A patch that deletes a file and shows its lines must show all of them."""
        text = _text(self.files.get(path, b""))
        if text and patch.hunks and apply_hunks(text, patch, path).strip():
            raise unreadable("patch_keeps_lines", path=path)

    def delete(self, path: str, block: Block) -> None:
        """Delete a file."""
        if block.text.strip():
            raise unreadable("deletion_not_empty", path=path)
        self.remove(path)

    def remove(self, path: str) -> None:
        """Take a file away."""
        if path not in self.files:
            raise unreadable("nothing_to_delete", path=path, files=sorted(self.files)[:_LISTED])
        del self.files[path]

    def write(self, path: str, block: Block) -> None:
        """Write a file or merge a part into it."""
        if why := reason_to_withhold(path):
            raise unreadable("acts_alone", path=path, why=why)
        old = self.files.get(path)
        if old and not block.text.strip():
            raise unreadable("empty_block", path=path)
        text = None if old is None else _text(old)
        binary = old is not None and text is None
        if binary and block.patch:
            raise unreadable("patch_of_binary", path=path)
        new = block.text if binary else self.new_text(Update(path, text, block))
        self.files[path] = new.encode("utf-8", "replace")
        if block.whole:
            self.whole.add(path)

    def new_text(self, update: Update) -> str:
        """Result of an update of a file."""
        if update.old and not update.block.whole:
            self.look(update.block, {update.path: update.old})
        if update.path in self.named and update.old is not None:
            self.check_second(update.path, update.old, update)
        return update.text()

    def check_second(self, path: str, first: str, second: Update) -> None:
        """A file given twice must be meant so: the same again, a part of the first, or clearly a revision of it."""
        block = second.block
        if first == block.text or block.whole or second.is_part:
            return
        if block.path is None or not self.named[path]:
            raise unreadable("two_nameless", path=path)
        if len(block.text) < _REVISED * len(first):
            raise unreadable("given_twice", path=path)

    def check(self) -> None:
        """Raise Unreadable when anything is wrong with the reply as a whole."""
        if not self.named and not self.problems:
            self.problems.append(ReplyProblem("no_block"))
        for one, other in collisions(self.files):
            if one in self.named or other in self.named:
                self.problems.append(ReplyProblem("same_spelling", {"one": one, "other": other}))
        known = bare_repositories(self.before)
        for folder, makers in bare_repositories(self.files).items():
            if folder not in known:
                self.problems.append(ReplyProblem("makes_repository", {"folder": folder, "files": makers}))
        most = max(MAX_FILES, len(self.before) + _MOST_ADDED)  # a user's repository may have more than any reply
        if len(self.files) > most:
            self.problems.append(ReplyProblem("too_many_files", {"count": len(self.files), "most": most}))
        if self.problems:
            raise Unreadable(*different(self.problems))

    def delivery(self) -> FilesDelivery:
        """The software after the reply."""
        changed = [path for path in self.named if self.files.get(path) != self.before.get(path)]
        return FilesDelivery(
            software=self.files,
            written=tuple(path for path in changed if path in self.files),
            deleted=tuple(path for path in changed if path not in self.files),
            whole=tuple(sorted(self.whole)),
        )


def _text(content: bytes) -> str | None:
    """`content` as text, or None when it is not UTF-8."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


# A Python file that does not parse, read around its broken functions, so that others can take their place.

_MOST_BROKEN = 8  # functions; each costs another look at the file
_FUNCTION = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]+(?P<name>\w+)")
_GOES_ON = re.compile(r"\s*(?:#|[)\]}]|$)")  # how a line begins that says nothing of where a function ends


def read_around(text: str) -> Outline | None:
    """`text` as a module in which each function that does not parse is a statement without content; None when something
    else does not parse."""
    lines = LINE.findall(text)
    shown = list(lines)
    for _ in range(_MOST_BROKEN + 1):
        try:
            return replace(read_lines(shown), lines=lines)
        except NotPython as error:
            if not _hide_function(shown, error.line - 1):
                return None
    return None


def _hide_function(lines: list[str], broken: int) -> bool:
    """Empty the function around a line, in place; False when there is none, or it is empty already."""
    for start in range(min(broken, len(lines) - 1), -1, -1):
        found = _FUNCTION.match(lines[start])
        end = _function_end(lines, start) if found else 0
        if found and end > broken:
            indent, gap = indentation(lines[start]), end - start - 2
            head = f"{indent}def {found['name']}("
            hidden = [f"{head}): ...\n"] if gap < 0 else [f"{head}\n", *["\n"] * gap, f"{indent}): ...\n"]
            if lines[start:end] == hidden:
                return False
            lines[start:end] = hidden
            return True
    return False


def _function_end(lines: Sequence[str], start: int) -> int:
    """The line after a function; a comment above what follows belongs to that."""
    own = len(indentation(lines[start]))
    end = filled = start + 1
    for end in range(start + 1, len(lines)):
        if not _GOES_ON.match(lines[end]) and len(indentation(lines[end])) <= own:
            break
        if lines[end].strip() and (len(indentation(lines[end])) > own or not lines[end].lstrip().startswith("#")):
            filled = end + 1
    return filled
