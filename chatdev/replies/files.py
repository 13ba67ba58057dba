"""The files form: a reply's blocks applied to the software (design §3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from chatdev.errors import UnsafePath
from chatdev.replies.blocks import Claim, read_claims
from chatdev.replies.languages import fits
from chatdev.replies.problem import Unreadable
from chatdev.replies.search_replace import is_search_replace
from chatdev.replies.targets import file_of_nameless, language_by_content
from chatdev.replies.update import effort, is_partial, updated
from chatdev.workspace.safe_paths import collisions, safe_path

MAX_FILE = 1 << 20  # bytes
MAX_FILES = 400
_MOST_EFFORT = 16 << 20  # characters to look at for one reply: many blocks for a long file would hold everybody up
_EACH_EFFORT = 48  # times that each character of the software may be looked at in any case
_REVISED = 0.5  # a file given twice: the second is taken for a revision when it has this share of the first's length


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
    def unchanged(self) -> bool:
        """Whether the software is as it was before."""
        return not self.written and not self.deleted


def parse_files(text: str, software: Mapping[str, bytes], *, only: Sequence[str] = ()) -> FilesDelivery:
    """The software after the files in `text` are written; files not named stay.

    `only` are glob patterns of the paths that may be written (`*` also matches `/`). Contents are kept byte for byte
    as UTF-8, with a final newline. Raises Unreadable with everything that is wrong; nothing is applied then.
    """
    draft = _Draft(software, tuple(only))
    for claim in read_claims(text, software.keys()):
        try:
            draft.take(claim)
        except (Unreadable, UnsafePath) as problem:
            draft.problems += problem.problems if isinstance(problem, Unreadable) else (str(problem),)
    draft.check()
    return draft.delivery()


@dataclass(slots=True)
class _Draft:
    """The software while the blocks of one reply are applied to it."""

    before: Mapping[str, bytes]
    only: tuple[str, ...]
    files: dict[str, bytes] = field(default_factory=dict)
    named: dict[str, bool] = field(default_factory=dict)
    """Files touched by this reply, and whether the newest block named them."""
    whole: set[str] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    effort: int = 0
    """Characters looked at so far."""

    def __post_init__(self) -> None:
        self.files = dict(self.before)

    def look(self, claim: Claim, texts: Mapping[str, str]) -> None:
        """Count the work of bringing a block into one of the texts. Raises Unreadable when it becomes too much."""
        self.effort += sum(effort(path, text, claim.content) for path, text in texts.items())
        if self.effort > _MOST_EFFORT + _EACH_EFFORT * sum(map(len, self.before.values())):
            raise Unreadable(f"{claim.shown}: too many blocks for files of this length; give fewer changes at a time, "
                             "or whole files, marked `whole` behind the fence")

    def take(self, claim: Claim) -> None:
        """Apply one block."""
        if len(claim.content) > MAX_FILE:
            raise Unreadable(f"{claim.shown}: larger than {MAX_FILE >> 10} KiB")
        path = self.path_of(claim)
        if path is None:
            return
        if claim.info.delete:
            self.delete(path, claim)
        else:
            self.write(path, claim)
        self.named[path] = claim.name is not None

    def path_of(self, claim: Claim) -> str | None:
        """Where a block belongs; None for a block that is no file."""
        name = claim.name or self.only_file(claim) or self.guessed(claim)
        if name is None:
            return None
        path = safe_path(name)
        if path not in self.files and is_search_replace(claim.content):
            path = _only_namesake(path, self.files) or path
        if self.only and not any(fnmatchcase(path, pattern) for pattern in self.only):
            raise Unreadable(f"{path}: may not be written here; allowed: {', '.join(self.only)}")
        return path

    def only_file(self, claim: Claim) -> str | None:
        """The one file that may be written, for a block that can be it."""
        if len(self.only) != 1 or set("*?[") & set(self.only[0]):
            return None
        path, language = self.only[0], claim.info.language
        return path if fits(path, language) or language == "text" or not claim.info.word else None

    def guessed(self, claim: Claim) -> str | None:
        """The file of a block without a name."""
        language = claim.info.language
        if not claim.info.word:
            language = language_by_content(claim.content)
        texts = {path: text for path, content in self.files.items() if (text := _text(content)) is not None}
        self.look(claim, texts)
        return file_of_nameless(language, claim.content, texts)

    def delete(self, path: str, claim: Claim) -> None:
        """Delete a file."""
        if claim.content.strip():
            raise Unreadable(f"{path}: a block marked `delete` must be empty")
        if path not in self.files:
            raise Unreadable(f"{path}: there is no such file to delete; there are: {_listed(self.files)}")
        del self.files[path]

    def write(self, path: str, claim: Claim) -> None:
        """Write a file or merge a part into it."""
        old = self.files.get(path)
        content = claim.content if claim.content.endswith("\n") or not claim.content else claim.content + "\n"
        if old and not content.strip():
            raise Unreadable(f"{path}: the block is empty; to delete the file mark the block `delete`")
        text = _text(old) if old is not None else None
        if text and not claim.info.whole:
            self.look(claim, {path: text})
        if path in self.named and text is not None:
            self.check_second(path, text, content, claim)
        new = content if old is not None and text is None else updated(path, text, content, whole=claim.info.whole)
        self.files[path] = new.encode("utf-8", "replace")
        if claim.info.whole:
            self.whole.add(path)

    def check_second(self, path: str, first: str, second: str, claim: Claim) -> None:
        """A file given twice must be meant so: the same again, a part of the first, or clearly a revision of it."""
        if first == second or claim.info.whole or is_partial(path, first, second):
            return
        if claim.name is None or not self.named[path]:
            raise Unreadable(f"two code blocks without a file name could both be {path}: put the path above each block")
        if len(second) < _REVISED * len(first):
            raise Unreadable(f"{path}: given twice with different content: give it once")

    def check(self) -> None:
        """Raise Unreadable when anything is wrong with the reply as a whole."""
        if not self.named and not self.problems:
            self.problems.append("no fenced code block with a file name was found")
        for one, other in collisions(self.files):
            if one in self.named or other in self.named:
                self.problems.append(f"{one} and {other} cannot exist side by side: use one spelling for a path")
        if len(self.files) > MAX_FILES:
            self.problems.append(f"{len(self.files)} files; at most {MAX_FILES} are allowed")
        if self.problems:
            raise Unreadable(*dict.fromkeys(self.problems))

    def delivery(self) -> FilesDelivery:
        """What the reply made of the software."""
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


def _only_namesake(path: str, files: Collection[str]) -> str | None:
    """The only file with the same last component."""
    found = [other for other in files if PurePosixPath(other).name == PurePosixPath(path).name]
    return found[0] if len(found) == 1 else None


def _listed(files: Collection[str]) -> str:
    return ", ".join(sorted(files)[:20]) or "none"
