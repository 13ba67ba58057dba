"""The values that must not leave this process: keys, tokens, passwords in addresses.

Whoever reads one says so with `keep_secret`; whatever texts come from outside (replies, tool results, inputs) and
whatever leaves us (journal, report, errors, terminal) passes `scrub`. The record is one of the process, because a key
of one run must not show in another.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, AnyStr, TypeVar
from urllib.parse import quote, unquote

from chatdev.secret_signs import NameSign, generated_parts, is_secret, name_sign, secret_parts

PLACEHOLDER = "[secret]"
"""What stands in the place of a secret."""

T = TypeVar("T")

_SHORTEST_PART = 4  # of a secret that was cut: less tells nothing
_LINE = re.compile(r"[\w+/=.-]{24,}")  # of a secret with several lines
_LEAST_VARIETY = 8  # different characters of such a line: a rule of dashes is none
_USER = re.compile(r"://([^/?#\s]*)@")
_QUERY = re.compile(r"[?&]([\w.-]+)=([^&#\s]+)")
_EVERYBODYS = ("password", "postgres", "root", "admin", "guest", "test", "secret", "example", "pass", "changeme")
_SIGNATURES = ("sig", "signature")

_known: tuple[str, ...] = ()  # longest first: one may be the beginning of another
_lock = threading.Lock()


def keep_secret(value: str, sign: NameSign = NameSign.PASSWORD) -> None:
    """Remember `value` as a secret, unless it is too short or too ordinary to be one (`secret_signs`). `sign`: what the
    name says that it goes by; without one it is in use as a secret. Of several lines (a private key) each is one,
    because they may be shown one by one; lines of words are none."""
    value = value.strip()
    if is_secret(value, sign):
        _remember_parts(value)
    elif sign <= NameSign.DOUBTFUL:
        return
    lines = value.splitlines()
    for line in lines if len(lines) > 1 else ():
        if _LINE.fullmatch(line) and len({*line}) >= _LEAST_VARIETY:
            _remember(line)
    for part in secret_parts(value) if " " in value else ():
        _remember(part)
    if value.startswith("{"):
        _keep_fields(value)


def _remember_parts(value: str) -> None:
    """Keep a secret; of an address also what in it was generated, by which programs put it together."""
    for part in (value, *generated_parts(value)):
        _remember(part)


def _keep_fields(text: str) -> None:
    """Remember the secrets in a JSON object (the key file of a cloud), each by the name of its field."""
    with suppress(ValueError, RecursionError):
        json.loads(text, object_hook=lambda fields: keep_variables(
            {name: value for name, value in fields.items() if isinstance(value, str)}))


def keep_address(address: str) -> None:
    """Remember the user, the password and the keys in the query of an address (`https://user:password@host?key=…`)."""
    for user in _USER.findall(address):
        name, _, password = user.partition(":")
        keep_secret(password or name, NameSign.PASSWORD if password else NameSign.KEY)
        if password and password not in (name, *_EVERYBODYS):
            _remember(f"{user}@")  # a password too short to be looked for alone
            pair = f"{unquote(name)}:{unquote(password)}".encode("utf-8", "surrogateescape")
            _remember(base64.b64encode(pair).decode())  # as the header has it
    for field, value in _QUERY.findall(address):
        keep_secret(value, NameSign.KEY if field.lower() in _SIGNATURES else name_sign(field))


def keep_variables(variables: Mapping[str, str]) -> None:
    """Remember the secrets in environment variables: those that look like one, and those within addresses."""
    for name, value in variables.items():
        keep_secret(value, name_sign(name))
        if "://" in value:
            keep_address(value)


def holds_secret(text: str) -> bool:
    """Whether a secret is in `text`."""
    return any(secret in text for secret in _known)


def scrub(text: str) -> str:
    """`text` with the placeholder for every secret."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, PLACEHOLDER)
    return text


def scrub_bytes(data: bytes) -> bytes:
    """`data` with the placeholder for every secret."""
    for secret in _known:
        data = data.replace(secret.encode("utf-8", "surrogateescape"), PLACEHOLDER.encode())
    return data


def scrub_ends(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """The beginning and the end of a text whose middle is missing, without the secrets in them, and without what may be
    the part of one that was cut in two."""
    head, tail = scrub_bytes(head), scrub_bytes(tail)
    known = [secret.encode("utf-8", "surrogateescape") for secret in _known]
    begun = max((_overlap(head, secret) for secret in known), default=0)
    ended = max((_overlap(tail[::-1], secret[::-1]) for secret in known), default=0)
    return (head[:len(head) - begun] if begun >= _SHORTEST_PART else head,
            tail[ended:] if ended >= _SHORTEST_PART else tail)


def scrub_values(value: T) -> T:
    """Plain JSON values with every text scrubbed, keys of mappings too."""
    return _scrub(value) if _known else value


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, Mapping):
        return {_scrub(key): _scrub(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_scrub(child) for child in value)
    return value


class StreamScrubber:
    """Passes on a text that comes in pieces, without the secrets in it; what may be the beginning of one waits for
    the next piece or for `end`."""

    def __init__(self, listener: Callable[[str], None]) -> None:
        self._listener = listener
        self._waiting = ""

    def add(self, piece: str) -> None:
        """Take the next piece."""
        text = scrub(self._waiting + piece)
        held = max((_overlap(text, secret) for secret in _known), default=0)
        self._waiting = text[len(text) - held:]
        self._pass_on(text[:len(text) - held])

    def end(self) -> None:
        """Pass on what still waits."""
        text, self._waiting = self._waiting, ""
        self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        if text:
            self._listener(text)


def _overlap(text: AnyStr, secret: AnyStr) -> int:
    """Length of the longest end of `text` that begins `secret`."""
    return next((n for n in range(min(len(secret) - 1, len(text)), 0, -1) if text.endswith(secret[:n])), 0)


def _remember(value: str) -> None:
    """Keep a secret in every form that it is written in: as it is, within JSON, within an address."""
    global _known
    if value in _known:
        return
    forms = {value, unquote(value), quote(value, safe="", errors="surrogateescape")}
    forms |= {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}
    with _lock:
        _known = tuple(sorted({*_known, *forms}, key=lambda form: (-len(form), form)))
