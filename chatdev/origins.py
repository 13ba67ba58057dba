"""Where an address, a key or a name comes from, and which keys may go to which addresses.

An `Origin` lives beside its value from the moment it is read: `config.settings` says it of addresses
and names, `llm.connection` of keys, `runner.recorded` of what a journal holds. Nobody drops it on the way to the place
where key and address meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Origin(Enum):
    """Who said something; the value is how people call it."""

    FLAG = "the command line"
    """Also an argument of a function of the library."""
    SET = "--set"
    ENVIRONMENT = "the environment"
    SETTINGS = "the settings file"
    DEFAULT = "the default"
    """The default address: OpenAI's own."""
    DOTENV = ".env"
    """The `.env` of the working folder, which may be somebody else's."""
    COMPANY = "the company"
    RECORD = "the journal"
    """The record of an earlier run, which may be somebody else's."""

    @property
    def is_users(self) -> bool:
        """Whether it is this user's own word. What is not needs the user's consent, or is not followed."""
        return self not in (Origin.DOTENV, Origin.COMPANY, Origin.RECORD)


@dataclass(frozen=True, slots=True)
class Sourced:
    """A value (an address, the name of a model or of a variable) and where it comes from."""

    value: str
    origin: Origin


_OF_THIS_USER = frozenset(origin for origin in Origin if origin.is_users)
_GOES_TO = {
    Origin.FLAG: _OF_THIS_USER,
    Origin.ENVIRONMENT: _OF_THIS_USER,
    Origin.DOTENV: frozenset({Origin.DOTENV, Origin.DEFAULT, Origin.FLAG, Origin.SET}),
}


def may_send(key: Origin, address: Origin, *, named: bool = False) -> bool:
    """Whether a key goes to an address. `named`: by `key_env`, which is the word of a company that the user trusts, or
    of the user.

    A key goes to the address that it belongs to: one that the user has set to addresses that the user has set, one in
    `.env` to the address in the same file, to OpenAI, and to what the user says on the spot. A company gets only the
    key that it names. No key goes where only a journal says.
    """
    if address is Origin.RECORD:
        return False
    if named:
        return address is not Origin.DOTENV or key is Origin.DOTENV
    return address in _GOES_TO.get(key, ())


def is_loopback(address: str) -> bool:
    """Whether the server at `address` is on this machine."""
    return _hostname(address) in LOOPBACK


def without_user(address: str) -> str:
    """The address without what may be secret in it: the user, the password and the query. Letters of its host that look
    like others are written as codes."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that cannot be read"
    host = parts.netloc.rpartition("@")[2].encode("ascii", "backslashreplace").decode("ascii")
    return f"{parts.scheme}://{host}{parts.path}"


def has_user(address: str) -> bool:
    """Whether the address says as whom to ask (`https://user:password@host`)."""
    try:
        return bool(urlsplit(address).username)
    except ValueError:
        return False


def _hostname(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
