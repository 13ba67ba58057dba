"""What a tool for coding agents is given: the folders whose files it may read, a sandbox, and room of its own.

Such a tool is made like every other one (`@tool(name="plc_check")`), with a `Served` in the place of the ToolContext; a
department names it in its `mcp` table.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chatdev.cli.shared_options import read_text_file
from chatdev.config.settings import user_settings
from chatdev.errors import ConfigError
from chatdev.sandbox.base import Sandbox
from chatdev.sandbox.kinds import find_sandbox


@dataclass(frozen=True, slots=True)
class Served:
    """The folders that are served, resolved, and the name of the sandbox that the user chose."""

    folders: Sequence[Path]
    sandbox_name: str | None = None

    @classmethod
    def of(cls, folders: Sequence[Path], sandbox: str | None = None) -> Served:
        """Those that the user names. Raises ConfigError for one that is not there."""
        for folder in folders:
            if not folder.is_dir():
                raise ConfigError(f"--folder {folder}: there is no such folder; give one that holds what agents may "
                                  "read")
        return cls([folder.resolve() for folder in folders], sandbox)

    def find(self, path: str) -> Path:
        """The file or folder that a client means: below one of the folders, also where it is a link. Raises
        ConfigError."""
        places = ", ".join(map(str, self.folders))
        try:
            found = [(folder / path).resolve() for folder in self.folders]
            inside = [one for one in found if any(one.is_relative_to(folder) for folder in self.folders)]
            there = [one for one in inside if one.exists()]
        except (OSError, RuntimeError, ValueError) as error:
            raise ConfigError(f"{path[:200]!r} is no path ({error}); name a file below {places}") from None
        if not inside:
            raise ConfigError(f"{path[:200]!r} lies outside of {places}; only what is below may be read "
                              "(chatdev mcp --folder names more)")
        if not there:
            raise ConfigError(f"there is no {path[:200]!r} below {places}")
        return there[0]

    def read(self, path: str, what: str) -> str:
        """The text of a file. Raises ConfigError, which calls it `what`."""
        return read_text_file(self.find(path), what)

    @contextmanager
    def open_sandbox(self) -> Iterator[tuple[Sandbox, Path]]:
        """A sandbox, and an empty folder that is there as long. Raises SandboxError."""
        sandbox = find_sandbox(self.sandbox_name or user_settings().sandbox or "bubblewrap")
        try:
            with tempfile.TemporaryDirectory(prefix="chatdev-", ignore_cleanup_errors=True) as folder:
                yield sandbox, Path(folder)
        finally:
            sandbox.stop_all()
