"""Software as a value: which files it consists of, at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from chatdev.workspace.entry import find_entry
from chatdev.workspace.software import SoftwareFolder


class Software(Mapping[str, bytes]):
    """Files by relative POSIX path, sorted, never changing; equal when the contents are.

    >>> software = Software({"main.py": b"print(1)\\n"})
    >>> software.files, software.lines, software.main
    (('main.py',), 1, 'main.py')
    """

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self._files = MappingProxyType(dict(sorted((files or {}).items())))

    @classmethod
    def load(cls, folder: Path | str) -> Software:
        """The software in `folder` (without git metadata, links and caches); raises WorkspaceError."""
        return cls(SoftwareFolder(Path(folder)).read())

    def __getitem__(self, path: str) -> bytes:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __hash__(self) -> int:
        return hash(tuple(self._files.items()))

    def __repr__(self) -> str:
        return f"Software({', '.join(self._files) or 'empty'})"

    @property
    def files(self) -> tuple[str, ...]:
        """The paths, sorted."""
        return tuple(self._files)

    @property
    def lines(self) -> int:
        """Lines of all text files together."""
        return sum(len(content.splitlines()) for content in self._files.values() if b"\0" not in content)

    @property
    def main(self) -> str | None:
        """The file that starts it, as far as one can tell (see `entry.find_entry`)."""
        return find_entry(self).path

    def text(self, path: str) -> str:
        """One file as text; bytes that are no UTF-8 are replaced."""
        return self._files[path].decode("utf-8", errors="replace")
