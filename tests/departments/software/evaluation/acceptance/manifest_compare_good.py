"""The differences between two listings of files."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path


def main(arguments: list[str]) -> None:
    """Print the differences."""
    old, new = (listing(Path(name)) for name in arguments)
    print("\n".join(sorted(differences(old, new))) or "same")


def listing(file: Path) -> dict[str, str]:
    """The checksum of every path."""
    parts = (line.partition(" ") for line in file.read_text(encoding="utf-8").splitlines() if line)
    return {path: checksum for checksum, _, path in parts}


def differences(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    """The lines that are printed, in no order."""
    removed = {path: checksum for path, checksum in old.items() if path not in new}
    added = {path: checksum for path, checksum in new.items() if path not in old}
    yield from (f"changed {path}" for path, checksum in old.items() if new.get(path, checksum) != checksum)
    for checksum in {*removed.values(), *added.values()}:
        gone = [path for path in removed if removed[path] == checksum]
        come = [path for path in added if added[path] == checksum]
        if len(gone) == 1 and len(come) == 1:
            yield f"moved {gone[0]} -> {come[0]}"
        else:
            yield from (f"removed {path}" for path in gone)
            yield from (f"added {path}" for path in come)


if __name__ == "__main__":
    main(sys.argv[1:])
