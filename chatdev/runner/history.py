"""The software on disk: every version written and committed as the engine delivers it."""

from __future__ import annotations

import asyncio
from collections import Counter

from chatdev.engine.state import Files
from chatdev.workspace.software_folder import SoftwareFolder

_FOUND = "what was in the folder when the run was gone on with"


class FolderHistory:
    """Writes versions into a software folder; the git commit of a version carries its message.

    In a run that is gone on with, the versions whose commits are there are not written again until `go_live`.
    """

    def __init__(self, folder: SoftwareFolder) -> None:
        self._folder = folder
        self._made = Counter[str]()
        self._on_disk: Files | None = None  # unknown
        self.found: str | None = None
        """The commit of what somebody changed in the folder while the run did not work on it."""

    def start(self) -> None:
        """Make the folder a git repository, or see what is in it."""
        self._folder.start_history()
        self._made.update(self._folder.versions())

    async def commit(self, software: Files, message: str) -> None:
        """Write what differs and commit; a version without differences is an empty commit that marks a phase's end."""
        if self._made[message]:
            self._made[message] -= 1
        else:
            await asyncio.to_thread(self._commit, software, message)

    def go_live(self) -> None:
        """From here on every version is a new one."""
        self._made.clear()

    async def settle(self, software: Files, message: str) -> None:
        """See to it that the folder holds `software`, whatever happened to it between two sessions of the run."""
        if self._on_disk is None:
            await asyncio.to_thread(self._commit, software, message, allow_empty=False)

    def _commit(self, software: Files, message: str, *, allow_empty: bool = True) -> None:
        if self._on_disk is None:
            if not self._folder.is_half_written(software):  # by the session that was killed
                self.found = self._folder.commit(_FOUND)
            self._on_disk = self._folder.read()
        self._folder.write(self._on_disk, software)
        self._on_disk = software
        self._folder.commit(message, allow_empty=allow_empty)
