"""Which companies and `.env` files the user trusts: a file beside the settings, by digest of what they say."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from chatdev.errors import ConfigError
from chatdev.paths import trust_file

_MOST_BYTES = 4 << 20
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Trust:
    """One consent: to whom (`.env` or `company`, its name and the place where it was seen), by digest, when, and to
    what, in words."""

    kind: str
    name: str
    place: str
    digest: str
    names: tuple[str, ...]
    given: str


def read_trust(file: Path | None = None) -> list[Trust]:
    """Consents on record, oldest first. Raises ConfigError, which means no trust at all, where the file is broken
    or somebody else may write it."""
    path = file or trust_file()
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:  # no FIFO keeps us waiting
            _refuse_others(path, os.fstat(opened.fileno()))
            data = opened.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ConfigError(f"{path} cannot be read ({error.strerror or error}), so nobody is trusted; check its "
                          "permissions") from error
    try:
        if len(data) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES >> 20} MB")
        return [_trust(entry) for entry in json.loads(data)["trusted"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigError(f"{path} is broken ({error}), so nobody is trusted; remove it, and trust again: "
                          "chatdev trust …") from None


def trusted_digests() -> frozenset[str]:
    """The digests of all that the user trusts. Raises ConfigError where the file is broken."""
    return frozenset(trust.digest for trust in read_trust())


def add_trust(trust: Trust) -> None:
    """Put a consent on record, in the place of an earlier one to the same digest. Raises ConfigError."""
    _write([*(one for one in read_trust() if one.digest != trust.digest), trust])


def remove_trust(word: str) -> list[Trust]:
    """Take back the consents to what has this name, this place or a digest that begins so; those it took back. Raises
    ConfigError when there are none."""
    known = read_trust()
    place = str(Path(word).resolve())
    gone = [one for one in known if word in (one.name, one.place) or place == one.place
            or (len(word) >= 8 and one.digest.startswith(word))]
    if not gone:
        raise ConfigError(f"nothing is trusted under {word!r}; `chatdev trust --list` shows what is")
    _write([one for one in known if one not in gone])
    return gone


def _trust(entry: Any) -> Trust:
    found = Trust(**{**entry, "names": tuple(entry["names"])})
    if not all(isinstance(text, str) for text in (*found.names, found.kind, found.name, found.place, found.digest,
                                                  found.given)):
        raise TypeError("an entry holds something else than texts")
    return found


def _refuse_others(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise ConfigError(f"{path} is no plain file, so nobody is trusted; remove it")
    if status.st_mode & _OTHERS_MAY_WRITE or status.st_uid not in (0, os.geteuid()):
        raise ConfigError(f"{path} can be written by others, so nobody is trusted; look at what is in it, then: "
                          f"chmod 600 {path}")


def _write(trusts: Sequence[Trust]) -> None:
    """Replace the file, as a whole or not at all; only the user may read it."""
    path = trust_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".trust-", dir=path.parent)  # readable for this user alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"trusted": [asdict(trust) for trust in trusts]}, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise
    except OSError as error:
        raise ConfigError(f"your consent cannot be kept in {path}: {error.strerror or error}; give it for one run: "
                          "--trust") from error
