"""The software on disk: every version written and committed as the engine delivers it."""

from __future__ import annotations

import asyncio

from chatdev.engine.state import Files
from chatdev.workspace.software import SoftwareFolder


class FolderHistory:
    """Writes versions into a software folder; the git commit of a version carries its message."""

    def __init__(self, folder: SoftwareFolder, software: Files) -> None:
        self._folder = folder
        self._software = software

    async def commit(self, software: Files, message: str) -> None:
        """Write what differs and commit; a version without differences is an empty commit that marks a phase's end."""
        await asyncio.to_thread(self._commit, software, message)

    def _commit(self, software: Files, message: str) -> None:
        self._folder.write(self._software, software)
        self._software = software
        self._folder.commit(message, allow_empty=True)
