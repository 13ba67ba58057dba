"""What may stand where a file is wanted."""

from __future__ import annotations

import os
from pathlib import Path


def make(folder: Path, kind: str) -> Path:
    """Something that is no file."""
    place = folder / "given"
    match kind:
        case "pipe":
            os.mkfifo(place)
        case "link to a pipe":
            os.mkfifo(folder / "pipe")
            place.symlink_to(folder / "pipe")
        case "folder":
            place.mkdir()
        case "loop":
            place.symlink_to(place)
        case "long":
            return folder / ("a" * 5000)
        case "nothing":
            pass
        case _:
            return Path(kind)
    return place
