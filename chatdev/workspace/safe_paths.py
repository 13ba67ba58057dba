"""Which paths a model may name: relative, inside the software, harmless on every common file system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from chatdev.errors import UnsafePath

MAX_COMPONENT = 255  # bytes of UTF-8, the limit of ext4, APFS and NTFS
MAX_PATH = 1024  # bytes of UTF-8
MAX_LEVELS = 16

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, invisible marks, lone surrogates, line separators
_REFUSED = '<>:"|?*'  # not allowed on Windows; a colon also names drives and alternate data streams
_LIKE_SLASHES = set("/\\\u2044\u2215\u29f5\u29f8\u29f9\u2571\u2572")  # after NFKC, which turns others into real ones
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])", re.IGNORECASE)
_ELSEWHERE = (
    (re.compile(r"^/|^[A-Za-z]:"), "is absolute"),
    (re.compile(r"^(?:\./+)*~"), "points to a home folder"),
    (re.compile(r"/$"), "names a folder"),
)
_GIT = re.compile(r"\.git|git~[0-9]+")


def safe_path(name: str) -> str:
    r"""`name` as a relative POSIX path (`a\b.py` and `./a//b.py` become `a/b.py`).

    Raises UnsafePath when it could leave the software folder, touch git metadata or exist on no common file system.
    """
    _check_characters(name)
    path = name.replace("\\", "/")
    for pattern, why in _ELSEWHERE:
        if pattern.search(path):
            raise _unsafe(name, why)
    components = [component for component in path.split("/") if component not in ("", ".")]
    if not components:
        raise _unsafe(name, "is empty")
    for component in components:
        _check_component(name, component)
    path = "/".join(components)
    if len(components) > MAX_LEVELS:
        raise _unsafe(name, f"has {len(components)} levels, allowed are {MAX_LEVELS}")
    if len(path.encode()) > MAX_PATH:
        raise _unsafe(name, f"is longer than {MAX_PATH} bytes")
    return path


def _check_characters(name: str) -> None:
    hidden = next((char for char in name if unicodedata.category(char) in _HIDDEN), None)
    if hidden is not None:
        raise _unsafe(name, f"contains the invisible character U+{ord(hidden):04X}")


def _check_component(name: str, component: str) -> None:
    """Raise UnsafePath when one component of `name` is refused."""
    plain = unicodedata.normalize("NFKC", component).casefold().rstrip(". ")
    refused = " ".join(sorted(set(component) & set(_REFUSED)))
    faults = (
        (component == "..", "leaves the software folder by '..'"),
        (_GIT.fullmatch(plain), "touches git metadata"),
        (component != component.strip() or component.endswith("."),
         "has a part that begins or ends with a blank or ends with a dot"),
        (component.startswith("-"), "has a part that begins like an option, with '-'"),
        (not plain or set(plain) & _LIKE_SLASHES, "has a part that looks like several"),
        (refused, f"contains {refused}"),
        (_DEVICE.fullmatch(component.split(".")[0].rstrip()), "is a device name on Windows"),
        (len(component.encode()) > MAX_COMPONENT, f"has a part longer than {MAX_COMPONENT} bytes"),
    )
    if why := next((why for found, why in faults if found), None):
        raise _unsafe(name, why)


def _unsafe(name: str, why: str) -> UnsafePath:
    shown = ascii(name if len(name) <= 80 else name[:60] + "…" + name[-19:])
    return UnsafePath(f"the path {shown} {why}; use a short relative path such as src/main.py")


def collisions(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of different paths that cannot exist together everywhere.

    Either both are the same name where case (or the Unicode form) does not count, or the first is a file where the
    second needs a folder.
    """
    files: dict[str, str] = {}
    found = []
    for path in sorted(set(paths)):
        twin = files.setdefault(_fold(path), path)
        if twin != path:
            found.append((twin, path))
    for folded, path in files.items():
        parts = folded.split("/")
        parents = ("/".join(parts[:level]) for level in range(1, len(parts)))
        found += [(files[parent], path) for parent in parents if parent in files]
    return found


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
