"""The files form: a reply's blocks applied to the software (design §3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from chatdev.errors import UnsafePath
from chatdev.isolation.reading import look_up
from chatdev.replies.apply import Update, effort, guess_path, only_path, safe_target
from chatdev.replies.blocks import MAX_FILE, Block, read_blocks
from chatdev.replies.fences import NEWEST
from chatdev.replies.hunks import apply_hunks
from chatdev.replies.patch import FilePatch
from chatdev.replies.problem import ReplyProblem, Unreadable, different, unreadable
from chatdev.workspace.acting import bare_repositories, reason_to_withhold
from chatdev.workspace.snapshot import collisions, safe_path

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
                semantics: int = NEWEST) -> FilesDelivery:
    """The software after the files in `text` are written; files not named stay. `semantics` as in `read_blocks`.

    `only` are glob patterns of the paths that may be written (`*` also matches `/`). Contents are kept byte for byte
    as UTF-8, with a final newline. Raises Unreadable with everything that is wrong; nothing is applied then.
    """
    blocks = read_blocks(text, software.keys(), semantics=semantics)
    if semantics > 4:
        blocks = _unwrap(blocks, software.keys(), only, semantics)
    draft = _Draft(software, tuple(only), dict(software))
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
        if self.only and not any(fnmatchcase(path, pattern) for pattern in self.only):
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
